"""Who paid whom in some ticks of a result, and do the rows and columns of payments add up to 0?

The workload defines its payments, payers and payees (`Accounts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from societies.analysis.selecting import with_ticks, workload_of
from societies.errors import ConfigError, OutputError, option
from societies.inputs import shown
from societies.output import open_results
from societies.words import plural
from societies.workload.declare.accounts import Accounts
from societies.workload.drawing.figure import clock_and_copies, configuration_of
from societies.workload.running.engines import ENDED, ReferenceEngine
from societies.workload.running.provenance import VARIED
from societies.workload.running.registry import config_from_dict, workloads

if TYPE_CHECKING:
    import xarray as xr

    from societies.workload.declare.protocol import Workload

__all__ = ["Flows", "flows", "flows_table"]


OTHERS = ("interventions", "replicates")
"""Keys that do not matter for the state of one copy before the first tick."""


@dataclass(frozen=True, eq=False)
class Flows:
    """The table of payments in some ticks of one copy.

    Attributes
    ----------
    copies, copy : name of the dimension of copies, and the number of the copy
    clock, ticks : what a tick is called, and the first and last one
    unit : unit of the amounts, which are whole numbers
    sectors : names of the columns
    rows : by name of the row, the amount that each sector gets; negative if it pays
    """

    copies: str
    copy: int
    clock: str
    ticks: tuple[int, int]
    unit: str
    sectors: Sequence[str]
    rows: dict[str, Sequence[int]]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        when = {self.copies: self.copy, plural(self.clock): list(self.ticks), "unit": self.unit}
        return {**when, "sectors": self.sectors, "rows": self.rows}


def flows(
    source: str | PathLike[str] | xr.Dataset,
    *,
    ticks: str | int | None = None,
    copy: int | None = None,
) -> Flows:
    """Return the table of payments in some ticks of a result; its rows and columns add up to 0.

    Parameters
    ----------
    source : result file of a workload with accounts, or the dataset of `societies.open_results`
    ticks : a tick, or a range such as ``"97:100"``; default: the last one of the copy
    copy : number of the copy; default: the first one of the file

    Raises
    ------
    ConfigError
        If the workload has no accounts, or the file lacks the copy or some of the ticks.
    OutputError
        If the file has no payments, or is damaged, or its payments do not add up.
    """
    if isinstance(source, str | PathLike):
        with open_results(source) as results:
            try:
                return flows(results, ticks=ticks, copy=copy)
            except OutputError as error:
                raise OutputError(f"{shown(source)}: {error}") from None
    workload = workload_of(source)
    accounts: Accounts | None = getattr(workload, "accounts", None)
    if workload is None or accounts is None:
        able = [name for name, one in workloads().items() if hasattr(one, "accounts")]
        raise ConfigError(
            f"{option('accounts')}: the workload of the file declares no payments between sectors; "
            f"these do: {', '.join(able)}"
        )
    for name in (accounts.flow, accounts.balance):
        if not {workload.copies, workload.clock} <= set(source.get(name, source[[]]).dims):
            raise OutputError(
                f"has no variable '{name}' for each {workload.clock}, which the table of flows "
                "needs; results of societies run have it, studies do not: run a point of it alone"
            )
    clock, copies = clock_and_copies(source)
    numbers = source[copies].values.tolist()
    number = numbers[0] if copy is None else copy
    if number not in numbers:
        known = f"{numbers[0]} to {numbers[-1]}"
        raise ConfigError(f"{option('copy', number)}: the {plural(copies)} of the file are {known}")
    one = source.sel({copies: number})
    first, last = _ticks(one, number, ticks)
    paid = one[accounts.flow].sel({clock: slice(first, last)})
    balance = one[accounts.balance]
    payments, sectors = (
        [str(name) for name in one[array.dims[-1]].values] for array in (paid, balance)
    )

    def money(tick: int) -> dict[str, int]:
        if tick == 0:
            found = _at_start(workload, one, number, accounts)
        else:
            found = balance.sel({clock: tick}).values
        return dict(zip(sectors, map(int, found), strict=True))

    sums = [sum(map(int, column)) for column in paid.values.T]
    named = dict(zip(payments, sums, strict=True))
    rows = rows_of(accounts, named, money(first - 1), money(last))
    if any(map(sum, [*rows.values(), *zip(*rows.values(), strict=True)])):
        raise OutputError(
            f"payments and balances of {clock} {first} to {last} do not add up; societies info "
            "--check FILE says whether the file is damaged"
        )
    return Flows(copies, number, clock, (first, last), accounts.unit, sectors, rows)


def rows_of(
    accounts: Accounts, paid: Mapping[str, int], before: Mapping[str, int], after: Mapping[str, int]
) -> dict[str, Sequence[int]]:
    """Return the rows of the table of flows: payments, then changes of what is owed.

    Every row adds up to 0; every column does if the payments explain the changes of balances.

    Parameters
    ----------
    paid : payments by name
    before, after : money of every sector at the beginning and at the end
    """

    def moved(**amounts: int) -> list[int]:
        return [amounts.get(sector, 0) for sector in after]

    found: dict[str, Sequence[int]] = {}
    for name, parts, payer, payee in accounts.payments:
        amount = sum(paid[part] for part in parts)
        found[name] = moved(**{payer: -amount, payee: amount})
    change = {sector: after[sector] - before[sector] for sector in after}
    deposits = {sector: -change[sector] for sector in accounts.deposits}
    deposits[accounts.bank] = -sum(deposits.values())
    owed = change[accounts.outside]
    found["change of deposits"] = moved(**deposits)
    found["change of reserves"] = moved(**{accounts.bank: owed, accounts.outside: -owed})
    return found


def _ticks(one: xr.Dataset, number: int, ticks: str | int | None) -> tuple[int, int]:
    """Return the first and the last of the wanted ticks of a copy.

    Raises ConfigError if the file lacks any of them, or the tick before them.
    """
    clock, copies = str(one.attrs["clock"]), str(one.attrs["copies"])
    known = one[clock].values
    if not known.size:
        raise ConfigError(f"the file has no {clock} yet")
    end = int(one[ENDED]) if ENDED in one and one[ENDED] >= 0 else int(known[-1])
    asked = with_ticks(one, end if ticks is None else ticks)[clock].values
    first, last = int(asked[0]), int(asked[-1])
    if last > end:
        raise ConfigError(f"{option('ticks', ticks)}: {copies} {number} ended in {clock} {end}")
    if len(asked) != last - first + 1 or first - 1 not in (0, *known):
        raise ConfigError(
            f"{option('ticks', first if ticks is None else ticks)}: the table of flows needs every "
            f"{clock} of a range, and the one before it; record.series: 1 records all of them"
        )
    return first, last


def _at_start(
    workload: Workload[Any, Any], one: xr.Dataset, number: int, accounts: Accounts
) -> Any:
    """Compute the balances of a copy before the first tick; result files do not hold them."""
    own = []
    for key in str(one.attrs.get(VARIED, "")).split(", "):
        if key:
            values = one[f"vary.{key}" if key in one.data_vars else key].values
            own.append(f"{key}={values.tolist()}")
    data = {name: value for name, value in configuration_of(one).items() if name not in OTHERS}
    p = workload.parameters(config_from_dict(data, own))
    engine = ReferenceEngine(workload, p, first=number)
    engine.start()
    return engine.state()[accounts.balance][0]


def flows_table(found: Flows) -> Any:
    """Return a table of rich with totals; payments that were not made are left out."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    first, last = found.ticks
    when = f"{found.clock} {first}" if first == last else f"{plural(found.clock)} {first} to {last}"
    title = f"{when} of {found.copies} {found.copy}, {found.unit}"
    made = Table(
        title=escape(title), title_justify="left", box=box.SIMPLE, title_style="bold",
        show_footer=True,
    )  # fmt: skip
    columns = list(zip(*found.rows.values(), strict=True))
    made.add_column("", "total", no_wrap=True)
    for sector, column in zip(found.sectors, columns, strict=True):
        made.add_column(escape(sector), f"{sum(column):,}", justify="right", no_wrap=True)
    made.add_column("total", f"{sum(map(sum, columns)):,}", justify="right")
    for name, row in found.rows.items():
        if any(row):
            amounts = [f"{amount:+,}" if amount else "" for amount in row]
            made.add_row(escape(name), *amounts, f"{sum(row):,}")
    return made
