"""What does BAM declare: a macroeconomy with money (Delli Gatti and others 2011, chapter 3)?

Firms, households and banks meet in markets for labour, credit and goods. This module declares its
state, the phases of a quarter and the recorded series; docs/bam.md explains the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from societies.model import Field, Model, Policy, Scene, Series
from societies.models.bam.accounts import ACCOUNTS
from societies.models.bam.config import BamConfig
from societies.models.bam.credit import credit  # noqa: F401
from societies.models.bam.firms import begin, enter, leave, make, plan, produce, settle, target  # noqa: F401
from societies.models.bam.flows import FLOWS, SECTORS, TALLIES
from societies.models.bam.goods import budget, goods, look, save, shopping  # noqa: F401
from societies.models.bam.labour import draw_lot, labour, offer, pay, revise, search  # noqa: F401
from societies.models.bam.statistics import measure, statistics  # noqa: F401
from societies.words import counted
from societies.workload.declare.naming import Imported
from societies.workload.declare.protocol import Setup
from societies.workload.running.forms import in_form, require_form

FIRM, HOUSEHOLD, BANK, SLOT = ("firm",), ("household",), ("bank",), ("firm", "loan_slot")
APPLICATION, VISIT = ("household", "application"), ("household", "shop_slot")
OF_FIRMS = ("worth", "price", "offer", "staff", "made")
OF_PEOPLE = ("savings", "wage")
RECORDED = (*OF_FIRMS, *OF_PEOPLE, "skill", "employer", "paid", "mpc", "equity")
LAST = "last quarter of an economy that ended early, -1: it did not"
CAUSES = (
    "all firms, or all banks, failed in one quarter",
    "there was more money than can be counted, 2**60 grains",
)
WHY = (
    "why the economy ended early: 0 it did not, 1 all firms or all banks failed, 2 more money than "
    "can be counted"
)


def _money(dims: tuple[str, ...], meaning: str, **more: Any) -> Field:
    return Field(dims, "int64", "grains", meaning, **more)


def _goods(meaning: str, **more: Any) -> Field:
    return Field(FIRM, "int64", "2**-20 goods", meaning, **more)


def _count(dims: tuple[str, ...], meaning: str, unit: str = "1", **more: Any) -> Field:
    return Field(dims, "int32", unit, meaning, **more)


def _real(dims: tuple[str, ...], meaning: str, unit: str = "1", **more: Any) -> Field:
    return Field(dims, "float64", unit, meaning, **more)


def _index(dims: tuple[str, ...], meaning: str, of: str, last: int) -> Field:
    """Return a field of indices; -1 stands for none."""
    return Field(dims, "int32", of, meaning, within=(-1, last), initial=-1, none=-1)


POLICIES = {
    "tax": Policy("Tax profits by 20 %", {"tax": 0.2}),
    "rate": Policy("Set the policy rate to 0", {"policy_rate": 0.0}),
}
"""Buttons of the page."""


class Bam(Model[BamConfig, Any]):
    """Declarations of the model."""

    name, summary, version = "bam", "a macroeconomy with money: firms, households, banks", "1"
    config = BamConfig
    clock, copies, work = "quarter", "economy", "agent-quarter"
    accounts = ACCOUNTS
    figure = Imported("societies.models.bam.figure:figure")
    start = ("begin",)
    day = (
        *("draw_lot", "target", "plan"),
        *("revise", "offer", "search", "labour"),
        *("draw_lot", "credit", "make", "pay", "produce"),
        *("budget", "look", "shopping", "save", "goods", "measure"),
        *("settle", "leave", "enter", "statistics"),
    )

    def sizes(self, p: Any) -> dict[str, int]:
        """Return the length of every dimension."""
        agents = {"firm": p.firms, "household": p.households, "bank": p.banks, "agent": p.agents}
        found = {"loan_slot": p.max_h, "application": p.max_m, "shop_slot": p.max_z, "lag": 5}
        sums = {"payment": len(FLOWS), "sector": len(SECTORS), "tally_entry": len(TALLIES)}
        return {**agents, **found, **sums}

    def entries(self, p: Any) -> Mapping[str, Any]:
        """Return the names of the entries of dimensions that have names: payments and sectors."""
        return {**super().entries(p), "payment": FLOWS, "sector": SECTORS, "tally_entry": TALLIES}

    def fields(self, p: Any) -> dict[str, Field]:
        """Return the state; names and meanings are those of the specification."""
        firm, bank, people = p.firms - 1, p.banks - 1, p.households
        saved = {
            "price": _real(FIRM, "price asked", "currency/good"),
            "offer": _money(FIRM, "wage offered to new workers"),
            "worth": _money(FIRM, "net worth"),
            "cash": _money(FIRM, "money of a firm"),
            "skill": _goods("goods that a worker makes", within=(1, None)),
            "made": _goods("last output"),
            "value": _money(FIRM, "last output at the price asked"),
            "stock": _money(FIRM, "value of goods not sold"),
            "staff": _count(FIRM, "workers employed", "households", within=(0, people)),
            "payroll": _money(FIRM, "wages of a firm"),
            "interest": _money(FIRM, "interest of the last loans"),
            "loan_bank": _index(SLOT, "bank that granted a loan", "bank", bank),
            "loan": _money(SLOT, "loan"),
            "loan_interest": _money(SLOT, "interest of a loan"),
            "loan_rate": _real(SLOT, "interest rate of a loan", "per quarter"),
            "employer": _index(HOUSEHOLD, "firm that employs", "firm", firm),
            "former": _index(HOUSEHOLD, "last employer", "firm", firm),
            "wage": _money(HOUSEHOLD, "wage of the contract"),
            "left": _count(
                HOUSEHOLD, "quarters left of the contract", "quarters", within=(0, None)
            ),
            "returning": _count(HOUSEHOLD, "whether the contract has run out", within=(0, 1)),
            "savings": _money(HOUSEHOLD, "savings", within=(0, None)),
            "income": _money(HOUSEHOLD, "income not yet spent or saved"),
            "shop": _index(HOUSEHOLD, "largest of the firms seen last", "firm", firm),
            "last_income": _money(HOUSEHOLD, "income of the quarter before"),
            "equity": _money(BANK, "equity"),
            "prices": _real(("lag",), "average prices, the newest first", "currency/good"),
            "min_pay": _money((), "minimum wage"),
            "outside": _money((), "money that left the economy"),
            "stream": Field(("agent",), "uint64", "1", "random streams", within=(1, "last state")),
            "cause": _count((), WHY, final=True),
            "ended": Field((), "int32", "quarter", LAST, initial=-1, none=-1, final=True),
        }
        handed_on = {
            "plan": _goods("planned output"),
            "want": _count(FIRM, "workers wanted", "households"),
            "vacancies": _count(FIRM, "places open", "households"),
            "demand": _money(FIRM, "credit still wanted"),
            "fragility": _real(FIRM, "credit wanted over net worth"),
            "profit": _money(FIRM, "profit after interest, tax and research"),
            "retained": _money(FIRM, "profit that is not paid out"),
            "failed": _count(FIRM, "whether the firm leaves in this quarter"),
            "budget": _money(HOUSEHOLD, "money for shopping"),
            "apply": _index(APPLICATION, "firms applied to, in order", "firm", firm),
            "visit": _index(VISIT, "firms visited, in order", "firm", firm),
            "lot": Field(HOUSEHOLD, "uint32", "1", "word that was drawn for an order"),
            "keys": Field(APPLICATION, "uint32", "1", "words of the order in each round"),
            "paid": _money(HOUSEHOLD, "wage of this quarter"),
            "mpc": _real(HOUSEHOLD, "propensity to consume"),
            "supply": _money(BANK, "credit left to grant"),
            "cost": _real(BANK, "markup on the policy rate"),
            "rate": _real(BANK, "interest rate shown", "per quarter"),
            "infl": _real((), "inflation that the minimum wage follows", "1/year"),
            "flow": _money(("payment",), "payments of the quarter", logged=True),
            "balance": _money(("sector",), "money at the end of the quarter", logged=True),
            "mean_savings": _real((), "mean savings of households", "grains"),
            "rate_paid": _real((), "sum of loans times their rates", "grains per quarter"),
            "rate_first": _real((), "interest rate of loans of the first round", "per quarter"),
            "mean_skill": _real(
                (), "goods that a worker makes, weighted by output", "2**-20 goods"
            ),
            "price_cv": _real((), "dispersion of prices"),
            "worth_cv": _real((), "dispersion of net worth"),
            "sales_cv": _real((), "dispersion of sales"),
            "hhi": _real((), "concentration of output"),
            "tally": Field(("tally_entry",), "int64", "1", "what is counted for series"),
        }
        fields = saved | {name: replace(one, checkpointed=False) for name, one in handed_on.items()}
        return fields | {name: replace(fields[name], recorded=True) for name in RECORDED}

    def trace(
        self,
        config: BamConfig,
        *,
        firm: int,
        quarter: int | None = None,
        economy: int | None = None,
        start: Path | None = None,
        form: str = "text",
        device: Any = "auto",
        progress: Any = None,
    ) -> str:
        """Return a text on why a firm failed: its last eight quarters, lenders and workers.

        Parameters
        ----------
        firm : int
            The firm, from 0.
        quarter : int, optional
            Last quarter of the report; default: the first in which the firm fails.
        economy : int, optional
            The economy; default: the first.
        start : path, optional
            Result file with a checkpoint to begin from.
        form : str
            text or json.
        """
        from societies.models.bam.explain import explain
        from societies.models.bam.report import text

        require_form(form)
        found = explain(
            Setup(self, config),
            firm=firm,
            quarter=quarter,
            economy=economy,
            start=start,
            device=device,
            progress=progress,
        )
        return in_form(form, found, text)

    def why_ended(self, config: BamConfig, state: Mapping[str, Any]) -> str:
        """Return why all economies ended before the last quarter."""
        counts = [int((state["cause"] == cause).sum()) for cause in range(1, len(CAUSES) + 1)]
        return "; ".join(
            f"{why} ({counted(count, self.copies)})"
            for why, count in zip(CAUSES, counts, strict=True)
            if count
        )

    def work_done(self, config: BamConfig, ticks: int) -> float:
        """Return the number of agent-quarters."""
        return float(ticks * config.replicates * config.agents)

    def headlines(self) -> tuple[str, ...]:
        """Return the variables that tables and figures show by default."""
        return "unemployment", "inflation", "gdp", "real_wage", "failed_firms", "gini_savings"

    def scene(self, p: Any) -> Scene:
        """Return what the page of a run draws."""
        spread = (*OF_FIRMS, *OF_PEOPLE, "equity")
        return Scene(series=self.headlines(), spread=spread, policies=POLICIES)

    def series(self, p: Any) -> dict[str, Series]:
        """Return the series recorded for every economy and quarter."""
        return SERIES


SERIES = {
    "unemployment": Series("1", "share of households without work while firms produce"),
    "inflation": Series(
        "1/year",
        "price of last quarter over that of a year before, less 1; 0 in the first four quarters",
    ),
    "price": Series("currency/good", "sum of price times output over sum of output: P"),
    "gdp": Series("goods", "output of all firms: Y"),
    "productivity": Series(
        "goods", "mean of goods that a worker makes, weighted by output, after research"
    ),
    "wage": Series("currency", "wages paid over the number of workers: w"),
    "real_wage": Series("goods", "w over P"),
    "vacancies": Series("households", "places open after planning"),
    "vacancy_rate": Series("1", "places open over households: v"),
    "failed_firms": Series("firms", "firms that left in this quarter"),
    "failed_banks": Series("banks", "banks that failed and were replaced"),
    "loans": Series("currency", "credit granted in all rounds"),
    "rate": Series(
        "per quarter", "mean interest rate of loans, weighted by amount; policy_rate without loans"
    ),
    "rate_first": Series("per quarter", "the same, of loans of the first round"),
    "borrowers": Series("firms", "firms with a loan"),
    "demand": Series("currency", "credit wanted: sum of max(payroll - cash, 0)"),
    "worth": Series("grains", "net worth of all firms before the profit of the quarter"),
    "wages": Series("grains", "wages paid; over worth they are the financial fragility"),
    "budget": Series("grains", "sum of budgets before shopping; P Y over it is the price ratio"),
    "price_cv": Series(
        "1", "standard deviation over mean of prices, weighted by output, while goods are sold"
    ),
    "price_cv_end": Series("1", "the same at the end of the quarter, entrants included"),
    "worth_cv": Series("1", "standard deviation over mean of net worth before the profit"),
    "sales_cv": Series("1", "standard deviation over mean of sales, in money"),
    "hedge": Series("1", "share of firms whose cash after sales covers loans and interest"),
    "ponzi": Series("1", "share of firms whose cash after sales does not cover interest"),
    "hedge_first": Series("1", "as hedge, with the loan of the first round alone"),
    "ponzi_first": Series("1", "as ponzi, with the loan of the first round alone"),
    "hedge_flow": Series("1", "share of firms whose sales cover wages and interest"),
    "soldout": Series("1", "share of firms with nothing left to sell"),
    "hhi": Series("1", "Herfindahl index: sum of squared shares of output"),
    "gini_savings": Series("1", "Gini coefficient of savings at the end of the quarter"),
    "hired": Series("households", "households hired"),
    "fired_excess": Series("households", "workers dismissed since their firm wants fewer"),
    "fired_money": Series("households", "workers dismissed since their firm lacks money"),
    "expired": Series("households", "contracts that ran out"),
    "deposits": Series("currency", "cash, savings and income at the end of the quarter"),
    "equity": Series("currency", "equity of all banks at the end of the quarter"),
    "outside": Series("currency", "money that left the economy since the start, less what came in"),
    "dividends": Series("currency", "dividends of firms"),
    "default_gap": Series("currency", "cash of defaulting firms that lenders did not get"),
    "entry_money": Series("currency", "money of entrants, wherever it came from"),
    "exit_money": Series("currency", "cash that failed firms took away"),
    "rescue": Series("currency", "equity that new banks brought"),
    "rnd": Series("currency", "money spent on research"),
    "tax": Series("currency", "taxes on profit"),
    "discrepancy": Series("grains", "money of all and outside, less that of the start: always 0"),
}

WORKLOAD = Bam()
