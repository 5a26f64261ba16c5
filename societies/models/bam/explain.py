"""Why did a firm fail? Its last quarters, with its lenders and its workers.

Earlier quarters run on any OpenCL device. Those of the report run in plain Python, with the same
bits, and the firm is inspected before and after every phase. `report` writes the text.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from societies.errors import ConfigError, DeviceError, option, override
from societies.models.bam.config import BamConfig
from societies.models.bam.firms import recovered
from societies.opencl import Device
from societies.workload.checking.coverage import first_difference
from societies.workload.checking.verify import REPORT_IT
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, Engine, ReferenceEngine
from societies.workload.running.file import checkpoint_of
from societies.workload.running.progress import Advance
from societies.workload.running.state import checkpointed

SHOWN = 8
"""Quarters of a report."""


@dataclass(frozen=True)
class BankLoan:
    """A loan: amounts in grains, rate per quarter; ``back``: the part that the bank got back."""

    bank: int
    amount: int
    rate: float
    interest: int
    back: int


@dataclass
class Quarter:
    """What a firm did in a quarter, and what became of it; money in grains, goods in 2**-20.

    Attributes
    ----------
    average : average price with which the firm compared its own, ``price_before``
    sold_out : whether it had sold all goods of the quarter before
    made_before, planned, wanted : output of the quarter before, planned output, workers wanted
    missing : money for wages that no bank granted
    work : wage of each household at work
    hired, fired_excess, fired_money, expired, lost : households hired; those that left since the
        firm had too many workers, lacked money, their contract ended, or the firm failed
    worth_before, worth : net worth at the beginning, and at the end before any entry
    entrant : net worth of the entrant that took the firm's place
    """

    quarter: int
    average: float = 0.0
    price_before: float = 0.0
    price: float = 0.0
    sold_out: bool = False
    made_before: int = 0
    planned: int = 0
    wanted: int = 0
    offer: int = 0
    missing: int = 0
    made: int = 0
    value: int = 0
    sales: int = 0
    wages: int = 0
    defaulted: bool = False
    profit: int = 0
    dividends: int = 0
    worth_before: int = 0
    worth: int = 0
    failed: bool = False
    entrant: int = 0
    work: dict[int, int] = field(default_factory=dict)
    hired: list[int] = field(default_factory=list)
    fired_excess: list[int] = field(default_factory=list)
    fired_money: list[int] = field(default_factory=list)
    expired: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    loans: list[BankLoan] = field(default_factory=list)


LEFT = {"plan": "fired_excess", "credit": "fired_money", "produce": "expired", "leave": "lost"}
"""Phases in which workers leave, and where it is noted."""


@dataclass(frozen=True)
class Explained:
    """The last quarters of a firm, and how they were computed."""

    firm: int
    economy: int
    quarters: list[Quarter]
    reached: str

    def data(self) -> dict[str, Any]:
        """Return everything as data."""
        return dataclasses.asdict(self)


def explain(
    setup: Setup[BamConfig, Any],
    *,
    firm: int,
    quarter: int | None = None,
    economy: int | None = None,
    start: Path | None = None,
    device: str | Device = "auto",
    progress: Advance | None = None,
) -> Explained:
    """Return the quarters of a firm up to its first failure, or up to ``quarter``.

    Raises
    ------
    ConfigError
        If there is no such firm, economy or quarter, or the firm does not fail.
    DeviceError
        If the quarters end in another state than on the device.
    OutputError
        If ``start`` has no checkpoint to begin with.
    """
    workload, config = setup.workload, setup.config
    number = config.first_economy if economy is None else economy
    _require_firm(config, firm, quarter, number)
    chosen, _, facts = chosen_device(device)
    first = config.first_economy
    engine: Engine = ReferenceEngine(workload, setup.p, first=first, ensemble=config.replicates)
    if chosen:
        engine = DeviceEngine(workload, setup.p, chosen, first=first)
    place = number - first
    engine.at(place)
    begin = 0
    if start is None:
        engine.start()
    elif quarter is None:
        raise ConfigError(f"{option('start', start)}: needs the last quarter, {option('quarter')}")
    else:
        before = quarter - (SHOWN if quarter > SHOWN else 1)
        begin, whole = checkpoint_of(setup, start, before)
        engine.load({name: array[place : place + 1] for name, array in whole.items()})
    until = quarter or config.quarters
    states = _last_states(engine, firm, begin, until, search=quarter is None, progress=progress)
    shown = len(states) - 1
    last = int(states[-1][0])
    again = ReferenceEngine(workload, setup.p, first=first, ensemble=config.replicates)
    again.at(place)
    again.load(states[0][1])
    quarters = [_seen(again, config, firm, one) for one in range(last - shown + 1, last + 1)]
    fields = workload.arrays(setup.p)
    difference = first_difference(
        "quarter",
        last,
        "enter",
        checkpointed(fields, states[-1][1]),
        checkpointed(fields, again.state()),
    )
    if difference is not None:
        raise DeviceError(
            f"economy {number}: the device's quarters are not those of the reference: "
            f"{difference}\n{REPORT_IT}"
        )
    if quarter is None and not quarters[-1].failed:
        raise ConfigError(_never(firm, number, begin, last, config.quarters))
    if quarter is not None and last != quarter:
        raise ConfigError(f"{option('quarter', quarter)}: economy {number} ended in quarter {last}")
    reached = f"quarters {begin + 1} to {last} on {facts['device']}"
    if begin:
        reached = f"from the checkpoint of quarter {begin} in {start}, {reached}"
    return Explained(firm, number, quarters, reached)


def _require_firm(config: BamConfig, firm: int, quarter: int | None, economy: int) -> None:
    """Raise ConfigError unless the firm, quarter and economy exist."""
    if not 0 <= firm < config.firms:
        raise ConfigError(f"{option('firm', firm)}: the firms are 0 to {config.firms - 1}")
    if quarter is not None and not 1 <= quarter <= config.quarters:
        raise ConfigError(
            f"{option('quarter', quarter)}: the configuration has quarters 1 to {config.quarters}"
            + (f"; raise it with {override(f'quarters={quarter}')}" if quarter > 0 else "")
        )
    first, count = config.first_economy, config.replicates
    if not first <= economy < first + count:
        last = first + count - 1
        available = f"economies are {first} to {last}" if count > 1 else f"only economy is {first}"
        raise ConfigError(f"{option('economy', economy)}: the configuration's {available}")


def _never(firm: int, economy: int, begin: int, last: int, quarters: int) -> str:
    """Return the message about a firm that does not fail."""
    ends = "" if last == quarters else ", in which the economy ended"
    return (
        f"{option('firm', firm)}: does not fail in quarters {begin + 1} to {last} of economy "
        f"{economy}{ends}\nchoose another firm, or the last quarter of the report by "
        f"{option('quarter', last)}"
    )


def _last_states(
    engine: Engine,
    firm: int,
    begin: int,
    until: int,
    *,
    search: bool,
    progress: Advance | None,
) -> deque[tuple[int, State]]:
    """Run quarters, and return the last `SHOWN` + 1 of them with their states at the end.

    With ``search`` they end with the first quarter in which the firm fails.
    """
    states: deque[tuple[int, State]] = deque(maxlen=SHOWN + 1)
    quarter = begin
    while True:
        over = engine.ended() is not None
        if search or quarter >= until - SHOWN or over:
            states.append((quarter, engine.state()))
        state = states[-1][1] if states else {}
        if quarter == until or over or (search and quarter > begin and state["failed"][0, firm]):
            break
        last = quarter + 1
        if not search:
            last = min(max(last, until - SHOWN), quarter + LOG_TICKS)
        engine.run_ticks(quarter + 1, last)
        quarter = last
        if progress:
            progress(quarter, until)
    return states


def _seen(engine: ReferenceEngine, config: BamConfig, firm: int, quarter: int) -> Quarter:
    """Run a quarter phase by phase and return what the firm did."""
    found, economy = Quarter(quarter), engine.copies_now[0]
    for step in engine.steps(quarter):
        phase, before = step.phase, _workers(economy, firm)
        _note_before(found, config, economy, firm, phase)
        engine.step(step, quarter)
        after = _workers(economy, firm)
        _note_after(found, economy, firm, phase)
        if phase in LEFT:
            getattr(found, LEFT[phase]).extend(j for j in before if j not in after)
        if phase == "labour":
            found.hired = [j for j in after if j not in before]
        if phase == "produce":
            found.work = before
    return found


def _workers(economy: Any, firm: int) -> dict[int, int]:
    """Return the wage of each household that the firm employs."""
    return {j: economy.wage[j] for j, i in enumerate(economy.employer) if i == firm}


def _note_before(found: Quarter, config: BamConfig, economy: Any, firm: int, phase: str) -> None:
    """Note what the firm has before a phase."""
    if phase == "target":
        found.average, found.price_before = economy.prices[0], economy.price[firm]
        found.sold_out = economy.stock[firm] == 0
        found.made_before, found.worth_before = economy.made[firm], economy.worth[firm]
    elif phase == "settle":
        found.sales = economy.value[firm] - economy.stock[firm]
        loans = list(zip(economy.loan_bank[firm], economy.loan[firm], economy.loan_rate[firm],
                         economy.loan_interest[firm], strict=True))  # fmt: skip
        owed = sum(loan for _, loan, _, _ in loans)
        due = sum(interest for _, _, _, interest in loans)
        found.defaulted = economy.cash[firm] < owed + due
        for bank, loan, rate, interest in loans:
            if loan:
                back = recovered(config, economy, firm, loan, owed) if found.defaulted else loan
                found.loans.append(BankLoan(bank, loan, rate, interest, back))


def _note_after(found: Quarter, economy: Any, firm: int, phase: str) -> None:
    """Note what the firm has after a phase."""
    if phase == "plan":
        found.price, found.planned = economy.price[firm], economy.plan[firm]
        found.wanted = economy.want[firm]
    elif phase == "labour":
        found.offer = economy.offer[firm]
    elif phase == "credit":
        found.missing = economy.demand[firm]
    elif phase == "produce":
        found.made, found.value = economy.made[firm], economy.value[firm]
        found.wages = economy.payroll[firm]
    elif phase == "settle":
        found.profit = economy.profit[firm]
        found.dividends = economy.profit[firm] - economy.retained[firm]
    elif phase == "leave":
        found.worth, found.failed = economy.worth[firm], economy.failed[firm] == 1
    elif phase == "enter":
        found.entrant = economy.worth[firm] if found.failed else 0
