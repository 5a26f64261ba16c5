"""Which keys does a configuration of BAM have? Those of the book, and one for each open choice.

Defaults are those of bam-engine 0.10.2 where the book (Delli Gatti and others 2011, chapter 3) is
silent. Money is counted in whole units of 2**-20 of the model's currency, called grains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from societies.config.model import Conflict, initial, shape, value
from societies.workload.declare.config import MOST_TICKS, QuarterlyConfig

GRAINS = 1048576.0
"""Smallest amounts of money in a unit of currency, and of goods in a good."""

MOST_MONEY = 2**60
"""Largest sum of all money of an economy, in grains; beyond it a run ends."""
MOST_AGENTS = 2**20

PER_QUARTER = "per quarter"
OF_GROWTH = (
    "sigma_min", "sigma_max", "sigma_decay", "rnd_money", "rnd_fragility", "entry_productivity",
)  # fmt: skip
OF_MINIMUM = ("min_wage_every", "raise_contracts")


def _share(default: float, meaning: str, unit: str = "1") -> float:
    """Return the key of a share, from 0 to 1."""
    found: float = value(default, meaning, unit, ge=0.0, le=1.0)
    return found


def _positive(default: float, meaning: str, most: float) -> float:
    """Return the key of a positive number without a unit."""
    found: float = value(default, meaning, "1", gt=0.0, le=most)
    return found


def _at_start(default: float, meaning: str, unit: str = "1") -> float:
    """Return the key of a positive number that holds before the first quarter."""
    found: float = initial(default, meaning, unit, gt=0.0, le=1e6)
    return found


class BamConfig(QuarterlyConfig):
    """Keys of the YAML file."""

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
    beta: float = _positive(
        2.5, "Exponent of the propensity to consume: how fast it falls with wealth", 100.0
    )
    dividends: float = _share(0.10, "Share of profit that firms pay out")
    loan_cap: float = value(2.0, "Largest loan over the net worth of the firm; 0: no cap", "1",
                            ge=0.0, le=1e6)  # fmt: skip
    leverage_cap: float = _positive(10.0, "Largest leverage that raises an interest rate", 1e6)
    min_wage_every: int = value(4, "Quarters from one revision of the minimum wage to the next",
                                "quarters", ge=1, le=MOST_TICKS)  # fmt: skip

    # Before the first quarter.
    productivity: float = _at_start(0.5, "Goods that a worker makes in a quarter", "goods")
    price0: float = _at_start(0.5, "Price of all firms", "currency/good")
    wage0_ratio: float = _at_start(1 / 3, "Wage offered, over the price")
    min_wage_ratio: float = _at_start(0.5, "Minimum wage over the wage offered")
    net_worth_ratio: float = _at_start(6.0, "Net worth of a firm over the value of its output")
    equity0: float = _at_start(5.0, "Equity of a bank", "currency")
    savings0: float = _at_start(1.0, "Savings of a household", "currency")

    # Entry, tax, extensions.
    entry_size: float = _positive(
        0.5, "Net worth of an entrant over the mean of firms that stay", 1e3
    )
    entry_production: float = _positive(
        0.5, "Output of an entrant, on which its plan is based, over that mean", 1e3
    )
    entry_wage: float = _positive(0.5, "Wage offered by an entrant over the mean wage", 1e3)
    entry_markup: float = _positive(1.20, "Price of an entrant over the average price", 1e3)
    tax: float = _share(0.0, "Share of profit taken away")
    growth: bool = shape(False, "Whether firms invest in research and become more productive")
    sigma_min: float = _share(0.0, "Least share of profit spent on research")
    sigma_max: float = _share(0.1, "Largest share of profit spent on research")
    sigma_decay: float = value(-1.0, "How the share changes with financial fragility: sigma ~ "
                               "exp(sigma_decay fragility)", "1", ge=-1e3, le=0.0)  # fmt: skip
    buffer: bool = shape(False, "Whether households save for a target, a buffer stock")
    buffer_h: float = _positive(2.0, "Savings aimed at, over income", 1e3)
    bank_dividends: float = _share(0.0, "Share of interest that banks pay to households")

    # Choices that the book leaves open; the first word is the default.
    price_floor: Literal["cost", "cost_capped", "none"] = shape("cost", "Least price: unit cost, "
        "also if that lifts a price to be cut (cost) or not (cost_capped); none")  # fmt: skip
    mean_price: Literal["output", "plain", "sales"] = shape("output", "Average price: weighted by "
        "output, by nothing, or by what was sold")  # fmt: skip
    search_pool: Literal["all", "vacancies"] = shape("all", "Firms among which a household looks "
        "for work: all, or those with vacancies")  # fmt: skip
    hiring: Literal["rounds", "one_by_one"] = shape("rounds", "Whether the first applications of "
        "all households come before any second one")  # fmt: skip
    min_wage: Literal["both", "up", "fixed"] = shape("both", "How the minimum wage follows prices: "
        "in both directions, up only, not at all")  # fmt: skip
    inflation: Literal["year", "quarter"] = shape("year", "Inflation: of the last year, or of the "
        "last quarter as a yearly rate")  # fmt: skip
    raise_contracts: Literal["yes", "no"] = shape("yes", "Whether wages below a new minimum are "
        "raised to it")  # fmt: skip
    credit_order: Literal["fragility", "worth", "drawn"] = shape("fragility", "Whom a bank serves "
        "first: the least fragile, the richest, at random")  # fmt: skip
    layoff: Literal["drawn", "dearest"] = shape("drawn", "Who is laid off by a firm that cannot "
        "pay all wages: at random, the dearest")  # fmt: skip
    recovery: Literal["worth", "none", "cash"] = shape("worth", "What lenders get back of a "
        "defaulter: shares of net worth, nothing, of cash")  # fmt: skip
    dividend_to: Literal["savings", "income"] = shape("savings", "Where dividends go")
    exit_rule: Literal["worth_or_output", "worth"] = shape("worth_or_output", "A firm fails "
        "without net worth or output, or without net worth alone")  # fmt: skip
    entry_productivity: Literal["slot", "mean"] = shape("slot", "Productivity of an entrant: of "
        "the firm that it replaces, or the mean")  # fmt: skip
    loyalty: Literal["largest", "none"] = shape("largest", "Whether households return to the "
        "largest firm that they saw last")  # fmt: skip
    shopping: Literal["one_by_one", "rounds"] = shape("one_by_one", "Whether a household finishes "
        "before the next begins, or all visit in rounds")  # fmt: skip
    labour_rounding: Literal["up", "down", "nearest", "reals"] = shape("up", "Rounding of the "
        "workers wanted; reals: up, with the error of a real division")  # fmt: skip
    entry_money: Literal["outside", "households"] = shape("outside", "Who pays the net worth of "
        "entrants")  # fmt: skip
    rnd_money: Literal["lost", "households"] = shape("lost", "Where money for research goes: out "
        "of the economy, or to households")  # fmt: skip
    rnd_fragility: Literal["wages", "loans"] = shape("wages", "Fragility that lowers research: "
        "wages, or loans, over net worth")  # fmt: skip

    @property
    def agents(self) -> int:
        """Number of agents, each of which has a random stream."""
        return self.firms + self.households + self.banks

    @property
    def top(self) -> float:
        """Largest amount of one agent, in grains: sums over all agents stay below 2**62."""
        return float(2**62 // max(self.firms, self.households))

    def streams(self) -> int:
        """Return the number of random streams of an economy; three of each four are spare."""
        return 4 * self.agents

    def conflicts(self) -> Iterator[Conflict]:
        """Yield conflicts of interventions, checkpoints, streams, interest and first money."""
        yield from super().conflicts()
        dearest = self.policy_rate * (1.0 + self.h_phi * self.leverage_cap)
        if dearest > 1.0:
            yield Conflict(
                ("policy_rate",),
                f"interest could be {dearest:g} times the loan, and at most 1 is possible: "
                "policy_rate (1 + h_phi leverage_cap)",
                (("h_phi",), ("leverage_cap",)),
            )
        yield from self._first_amounts()
        made = self.productivity * self.households / self.firms
        money = self.firms * self.net_worth_ratio * self.price0 * made
        money += self.households * self.savings0 + self.banks * self.equity0
        if money * GRAINS > MOST_MONEY or self.productivity * GRAINS > 2.0**40:
            yield Conflict(
                ("net_worth_ratio",),
                f"{money:g} units of currency at the start are more than can be counted "
                f"({MOST_MONEY / GRAINS:g})",
                tuple((n,) for n in ("productivity", "price0", "savings0", "equity0")),
            )

    def _first_amounts(self) -> Iterator[Conflict]:
        """Yield conflicts of amounts that are too small or too large to be counted in grains."""
        skill = int(self.productivity * GRAINS)
        made = self.households * skill // self.firms
        offer = self.price0 * self.wage0_ratio * GRAINS
        start = ("productivity", "price0", "firms", "households")
        for name, what, amount, more in (
            ("productivity", "what a worker makes", skill, ()),
            ("productivity", "the output of a firm", made, ("firms", "households")),
            ("net_worth_ratio", "the net worth of a firm",
             self.net_worth_ratio * self.price0 * made, start),
            ("wage0_ratio", "the wage offered", offer, ("price0",)),
            ("min_wage_ratio", "the minimum wage", offer * self.min_wage_ratio,
             ("price0", "wage0_ratio")),
            ("equity0", "the equity of a bank", self.equity0 * GRAINS, ()),
        ):  # fmt: skip
            needs = tuple((one,) for one in more)
            if amount < 1.0:
                yield Conflict(
                    (name,), f"{what} at the start is less than the smallest amount, 2**-20", needs
                )
                return  # the others follow from it
            if "wage" in what and amount > self.top:
                yield Conflict(
                    (name,),
                    f"{what} at the start, {amount / GRAINS:g}, is more than can be counted "
                    f"({self.top / GRAINS:g})",
                    needs,
                )
                return

    def warnings(self) -> Iterator[Conflict]:
        """Yield keys without effect: searches beyond all there are, keys of rules not chosen."""
        yield from super().warnings()
        for name, most in (("max_m", "firms"), ("max_z", "firms"), ("max_h", "banks")):
            if getattr(self, name) > getattr(self, most):
                yield Conflict(
                    (name,), f"is more than the {getattr(self, most)} {most}: each is seen once"
                )
        for idle, why, names in (
            (not self.growth, "without growth: true", OF_GROWTH),
            (not self.buffer, "without buffer: true", ("buffer_h",)),
            (self.buffer, "with buffer: true", ("beta",)),
            (self.min_wage == "fixed", "with min_wage: fixed", OF_MINIMUM),
        ):
            for name in names if idle else ():
                if name in self.model_fields_set:
                    yield Conflict((name,), f"has no effect {why}")
