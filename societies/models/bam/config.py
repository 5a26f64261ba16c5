"""Which keys does a configuration of BAM have? Those of the book, and one for each open choice.

Defaults are those of bam-engine 0.10.2 where the book (Delli Gatti and others 2011, chapter 3) is
silent. Money is counted in whole units of 2**-20 of the model's currency, called grains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import ConfigDict

from societies.config.model import Conflict, initial, shape, value
from societies.words import counted
from societies.workload.declare.config import MOST_TICKS, QuarterlyConfig

GRAINS = 1048576.0
"""Smallest amounts of money in a unit of currency, and of goods in a good."""

MOST_MONEY = 2**60
"""Largest sum of all money of an economy, in grains; beyond it a run ends."""
MOST_AGENTS = 2**20

PER_QUARTER = "per quarter"
OF_GROWTH = (
    *("sigma_min", "sigma_max", "sigma_decay"),
    *("rnd_money", "rnd_fragility", "entry_productivity"),
)
OF_MINIMUM = ("min_wage_every", "raise_contracts")
OF_MONEY = ("savings0",), ("equity0",), ("banks",)
OF_FIRMS = ("firms",), ("households",), ("productivity",), ("price0",)
"""Keys from which the money before the first quarter, and what firms have then, follow."""


def _share(default: float, meaning: str, unit: str = "1") -> Any:
    """Return the key of a share, from 0 to 1."""
    return value(default, meaning, unit, ge=0.0, le=1.0)


def _positive(default: float, meaning: str, most: float) -> Any:
    """Return the key of a positive number without a unit."""
    return value(default, meaning, "1", gt=0.0, le=most)


def _at_start(default: float, meaning: str, unit: str = "1") -> Any:
    """Return the key of a positive number that holds before the first quarter."""
    return initial(default, meaning, unit, gt=0.0, le=1e6)


class BamConfig(QuarterlyConfig):
    """Keys of the YAML file; the text below a choice explains it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    DRAWN_BY = ("households", "firms", "banks"), "four of every agent"

    workload: Literal["bam"]
    firms: int = shape(100, "Number of firms", "firms", ge=2, le=MOST_AGENTS)
    households: int = shape(500, "Number of households", "households", ge=2, le=MOST_AGENTS)
    banks: int = shape(10, "Number of banks", "banks", ge=1, le=MOST_AGENTS)

    # Markets.
    h_rho: float = _share(0.10, "Largest change of planned output")
    h_eta: float = _share(0.10, "Largest change of a price")
    h_xi: float = _share(0.05, "Largest rise of a wage offer")
    h_phi: float = _share(0.10, "Largest markup of a bank on the policy rate")
    max_m: int = shape(4, "Applications of a household for work", "firms", ge=1, le=8)
    max_h: int = shape(2, "Banks that a firm asks for credit", "banks", ge=1, le=8)
    max_z: int = shape(2, "Firms that a household sees when it shops", "firms", ge=1, le=8)
    contract: int = value(8, "Length of a labour contract", "quarters", ge=1, le=1_000_000)
    capital: float = _positive(0.10, "Equity of a bank over the most credit that it grants", 1.0)
    policy_rate: float = _share(0.02, "Interest rate set by the central bank", PER_QUARTER)
    beta: float = _positive(2.5, "How fast the propensity to consume falls with wealth", 100.0)
    dividends: float = _share(0.10, "Share of profit that firms pay out")
    loan_cap: float = value(2.0, "Largest loan over net worth; 0: no cap", "1", ge=0.0, le=1e6)
    leverage_cap: float = _positive(10.0, "Largest leverage that raises an interest rate", 1e6)
    min_wage_every: int = value(
        4, "Time between revisions of the minimum wage", "quarters", ge=1, le=MOST_TICKS
    )

    # Before the first quarter.
    productivity: float = _at_start(0.5, "Goods that a worker makes in a quarter", "goods")
    price0: float = _at_start(0.5, "Price of all firms", "currency/good")
    wage0_ratio: float = _at_start(1 / 3, "Wage offered, over the price")
    min_wage_ratio: float = _at_start(0.5, "Minimum wage over the wage offered")
    net_worth_ratio: float = _at_start(6.0, "Net worth of a firm over the value of its output")
    equity0: float = _at_start(5.0, "Equity of a bank", "currency")
    savings0: float = _at_start(1.0, "Savings of a household", "currency")

    # Entry, tax, extensions.
    entry_size: float = _positive(0.5, "Net worth of an entrant over the mean of others", 1e3)
    entry_production: float = _positive(0.5, "Output an entrant plans from, over the mean", 1e3)
    entry_wage: float = _positive(0.5, "Wage offered by an entrant over the mean wage", 1e3)
    entry_markup: float = _positive(1.20, "Price of an entrant over the average price", 1e3)
    tax: float = _share(0.0, "Share of profit taken away")
    growth: bool = shape(False, "Whether firms invest in research and become more productive")
    sigma_min: float = _share(0.0, "Least share of profit spent on research")
    sigma_max: float = _share(0.1, "Largest share of profit spent on research")
    sigma_decay: float = value(
        -1.0, "Change of the share with fragility: exp(sigma_decay fragility)", "1", ge=-1e3, le=0.0
    )
    buffer: bool = shape(False, "Whether households save for a target, a buffer stock")
    buffer_h: float = _positive(2.0, "Savings aimed at, over income", 1e3)
    bank_dividends: float = _share(0.0, "Share of interest that banks pay to households")

    # Choices that the book leaves open; the first word is the default.
    price_floor: Literal["cost", "cost_capped", "none"] = shape("cost")
    """Least price: unit cost, even where it lifts a cut price (cost) or not (cost_capped); none"""
    mean_price: Literal["output", "plain", "sales"] = shape("output")
    """Average price: weighted by output, by nothing, or by what was sold"""
    search_pool: Literal["all", "vacancies"] = shape("all")
    """Firms among which a household looks for work: all, or those with vacancies"""
    hiring: Literal["rounds", "one_by_one"] = shape("rounds")
    """Whether the first applications of all households come before any second one"""
    min_wage: Literal["both", "up", "fixed"] = shape("both")
    """How the minimum wage follows prices: in both directions, up only, not at all"""
    inflation: Literal["year", "quarter"] = shape("year")
    """Inflation: of the last year, or of the last quarter as a yearly rate"""
    raise_contracts: Literal["yes", "no"] = shape("yes")
    """Whether wages below a new minimum are raised to it"""
    credit_order: Literal["fragility", "worth", "drawn"] = shape("fragility")
    """Whom a bank serves first: the least fragile, the richest, at random"""
    layoff: Literal["drawn", "dearest"] = shape("drawn")
    """Who is laid off by a firm that cannot pay all wages: at random, the dearest"""
    recovery: Literal["worth", "none", "cash"] = shape("worth")
    """What lenders get back of a defaulter: shares of net worth, nothing, of cash"""
    dividend_to: Literal["savings", "income"] = shape("savings")
    """Where dividends go"""
    exit_rule: Literal["worth_or_output", "worth"] = shape("worth_or_output")
    """A firm fails without net worth or output, or without net worth alone"""
    entry_productivity: Literal["slot", "mean"] = shape("slot")
    """Productivity of an entrant: of the firm that it replaces, or the mean"""
    loyalty: Literal["largest", "none"] = shape("largest")
    """Whether households return to the largest firm that they saw last"""
    shopping: Literal["one_by_one", "rounds"] = shape("one_by_one")
    """Whether a household finishes before the next begins, or all visit in rounds"""
    labour_rounding: Literal["up", "down", "nearest", "reals"] = shape("up")
    """Rounding of the workers wanted; reals: up, with the error of a real division"""
    entry_money: Literal["outside", "households"] = shape("outside")
    """Who pays the net worth of entrants"""
    rnd_money: Literal["lost", "households"] = shape("lost")
    """Where money for research goes: out of the economy, or to households"""
    rnd_fragility: Literal["wages", "loans"] = shape("wages")
    """Fragility that lowers research: wages, or loans, over net worth"""

    @property
    def agents(self) -> int:
        """Number of agents; each has a random stream."""
        return self.firms + self.households + self.banks

    @property
    def top(self) -> float:
        """Largest amount of one agent, in grains: sums over all agents stay below 2**62."""
        return float(2**62 // max(self.firms, self.households))

    def streams(self) -> int:
        """Return the number of random streams of an economy; three of four are spare."""
        return 4 * self.agents

    def conflicts(self) -> Iterator[Conflict]:
        """Yield conflicts of interventions, checkpoints, streams, interest and initial money."""
        yield from super().conflicts()
        dearest = self.policy_rate * (1.0 + self.h_phi * self.leverage_cap)
        if dearest > 1.0:
            yield Conflict(
                ("policy_rate",),
                f"interest could be {dearest:g} times the loan, and at most 1 is possible: "
                "policy_rate (1 + h_phi leverage_cap)",
                (("h_phi",), ("leverage_cap",)),
            )
        wrong = list(self._first_amounts())
        yield from wrong
        made = self.productivity * self.households / self.firms
        money = self.firms * self.net_worth_ratio * self.price0 * made
        money += self.households * self.savings0 + self.banks * self.equity0
        if not wrong and money * GRAINS > MOST_MONEY:
            yield Conflict(
                ("net_worth_ratio",),
                f"{money:g} units of currency at the start are more than can be counted "
                f"({MOST_MONEY / GRAINS:g})",
                (*OF_FIRMS, *OF_MONEY),
            )

    def _first_amounts(self) -> Iterator[Conflict]:
        """Yield conflicts of amounts that are too small or too large to be counted in grains."""
        skill = int(self.productivity * GRAINS)
        made = self.households * skill // self.firms
        offer = self.price0 * self.wage0_ratio * GRAINS
        worth = self.net_worth_ratio * self.price0 * made
        for name, what, amount in (
            ("productivity", "what a worker makes", skill),
            ("productivity", "the output of a firm", made),
            ("net_worth_ratio", "the net worth of a firm", worth),
            ("wage0_ratio", "the wage offered", offer),
            ("min_wage_ratio", "the minimum wage", offer * self.min_wage_ratio),
            ("equity0", "the equity of a bank", self.equity0 * GRAINS),
        ):
            most = self.top if "wage" in what else float(MOST_MONEY)
            if amount < 1.0:
                wrong = " is less than the smallest amount, 2**-20"
            elif amount > most:
                wrong = f", {amount / GRAINS:g}, is more than can be counted ({most / GRAINS:g})"
            else:
                continue
            needs = (*OF_FIRMS, ("wage0_ratio",)) if "wage" in what else OF_FIRMS
            yield Conflict((name,), f"{what} at the start{wrong}", needs)
            return  # the others follow from it

    def warnings(self) -> Iterator[Conflict]:
        """Yield keys without effect: searches of more agents than exist, keys of unused rules."""
        yield from super().warnings()
        for name, most in (("max_m", "firms"), ("max_z", "firms"), ("max_h", "banks")):
            if getattr(self, name) > getattr(self, most):
                available = counted(getattr(self, most), most[:-1])
                yield Conflict((name,), f"is more than the {available}: each is seen once")
        for name, why in self.idle():
            if getattr(self, name) != type(self).model_fields[name].default:
                yield Conflict((name,), f"has no effect {why}")

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield keys of rules that are not chosen."""
        for why, names in {
            "without growth: true": () if self.growth else OF_GROWTH,
            "without buffer: true": () if self.buffer else ("buffer_h",),
            "with buffer: true": ("beta",) if self.buffer else (),
            "with min_wage: fixed": OF_MINIMUM if self.min_wage == "fixed" else (),
        }.items():
            yield from ((name, why) for name in names)
