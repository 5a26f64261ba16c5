"""How are measurements of speed shown and saved: as a table for users, as CSV for programs?"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

from societies.errors import OutputError, option
from societies.output import lock
from societies.output.files import being_written_elsewhere
from societies.terminal import table_of
from societies.words import plural
from societies.workload.checking.bench import Timing
from societies.workload.checking.waits import Wait
from societies.workload.running.profile import Profile

if TYPE_CHECKING:
    from rich.table import Table

Row = TypeVar("Row", Timing, Wait)

PLAIN: dict[str, Any] = {
    "box": None,
    "pad_edge": False,
    "header_style": "bold",
    "show_edge": False,
}
"""Style of a table without lines."""


def measure_all(measured: Iterable[Row], out: Path | None, *, overwrite: bool) -> list[Row]:
    """Make the measurements; each is written to the table as soon as it is complete.

    Raises OutputError if the table exists already, or cannot be written.
    """
    found: list[Row] = []
    with ExitStack() as stack:
        if out is not None:
            try:
                file = stack.enter_context(
                    out.open("a" if overwrite else "x", newline="", encoding="utf-8")
                )
                if not lock.acquire(file.fileno()):
                    raise being_written_elsewhere(out)
                file.truncate(0)
            except FileExistsError:
                raise OutputError(
                    f"{out}: exists already. Replace it with {option('overwrite', True)}, or "
                    f"choose another place with {option('out')}."
                ) from None
            except OSError as error:
                raise OutputError(
                    f"{out}: cannot be written: {error.strerror}. "
                    f"Choose another place with {option('out')}."
                ) from error
            writer = csv.writer(file)
        for one in measured:
            if out is not None:
                row = asdict(one)
                writer.writerows([row.values()] if found else [row, row.values()])
                file.flush()
            found.append(one)
    return found


def timings_table(timings: Sequence[Timing], copies: str, ticks: str) -> Table:
    """Return a table with a row for each number of copies; both words are plural."""
    work, rows = f"{plural(timings[0].work)} per second", []
    for count in dict.fromkeys(timing.copies for timing in timings):
        same = [timing for timing in timings if timing.copies == count]
        rates = [timing.work_per_second for timing in same]
        seconds, build = median(timing.seconds for timing in same), same[0].build_seconds
        of_rates = [f"{rate:,.0f}" for rate in (median(rates), min(rates), max(rates))]
        rows.append([str(count), str(same[0].ticks), f"{seconds:.4g}", *of_rates, f"{build:.2f} s"])
    columns = (copies, ticks, "seconds", work, "least", "most", "start")
    return table_of(columns, rows, **PLAIN)


def waits_table(waits: Sequence[Wait], copies: str) -> Table:
    """Return a table with a row for each wait; `copies` is plural."""
    rows: dict[tuple[str, str, str], list[Wait]] = {}
    for one in waits:
        rows.setdefault((one.wait, str(one.copies or ""), one.device), []).append(one)
    cells = []
    for key, same in rows.items():
        seconds, used = [one.seconds for one in same], [one.processor_seconds for one in same]
        shown = (median(seconds), min(seconds), max(seconds), median(used))
        cells.append([*key, *(f"{number:.3g}" for number in shown)])
    columns = ("wait", copies, "device", "seconds", "least", "most", "processor seconds")
    return table_of(columns, cells, left=["wait", "device"], **PLAIN)


def of_phases(profile: Profile) -> Table:
    """Return a table with a row for each phase, the longest first, and a row for the sum.

    The share in the last row is the part of the time in which kernels ran.
    """
    total, rows = profile.kernel_seconds, []
    for one in sorted(profile.phases, key=lambda one: -one.seconds):
        rate = one.bytes_per_second
        share = f"{one.seconds / total:.1%}" if total else ""
        size = "" if one.bytes_moved is None else f"{one.bytes_moved / 2**20:,.1f}"
        speed = "" if rate is None else f"{rate / 2**30:.3g}"
        row = [one.phase, str(one.launches), f"{one.seconds:.4f}", share, size, speed]
        rows.append([*row, f"{one.host_seconds:.4f}"])
    launches = sum(one.launches for one in profile.phases)
    moved = sum(one.bytes_moved or 0 for one in profile.phases)
    host = sum(one.host_seconds for one in profile.phases)
    columns = ("phase", "launches", "seconds", "share", "MiB", "GiB/s", "host s")
    result = table_of(columns, rows, left=["phase"], **PLAIN)
    result.add_section()
    result.add_row(
        f"all, in {profile.seconds:.4f} s",
        *(str(launches), f"{total:.4f}", f"{total / profile.seconds:.1%}" if total else ""),
        *((f"{moved / 2**20:,.1f}", f"{moved / 2**30 / total:.3g}") if moved else ("", "")),
        f"{host:.4f}",
    )
    return result
