"""Are the recorded data as they were written?

Every row along the clock has a CRC-32 over the values of all copies on that tick, every event one
over its columns, and a variable that is not along the clock one over all its values. Checksums are
written next to the data and become valid with the same commit. CRC-32 detects every change within
32 neighbouring bits, and misses any other with a probability of 2**-32. A checksum also covers the
position of its data (`societies.output.positions`), so data that are moved together with their
checksum are detected as well. Every committed row has a checksum, even a row that the run has never
written. The record of the commit says which rows are committed, so a row is reported even if both
its values and its checksum are lost.

A variable that is not along the clock, such as the known recipes, may be written at any time. First
its checksum on the disk is withdrawn (replaced by a mark); a new one is stored after the data are
flushed. It is stored together with its complement, so that a flipped bit cannot make it look
withdrawn.

In files of layout 2 the mark is zero, checksums do not cover the position, and rows that
the run has not written have none.

The record of a commit holds the tick and the number of events, with a checksum. There are two
records, which take turns, so the counter of ticks always agrees with one of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.output import checkpoints, sessions
from societies.output.disk import Disk, Extent
from societies.output.layout import CHECKSUMS, COMMITS, COUNTER, ENDED, SESSIONS, nothing
from societies.output.positions import beginning, beginnings
from societies.output.seal import Damage, stretch
from societies.output.stored_seal import Seal, VariableCheck
from societies.output.tables import EVENTS
from societies.words import plural, ranges

LOOKS = 10
"""How often apparent damage is checked again while the file is being written."""
_AT_ONCE = 1 << 26
_ALL = 0xFFFFFFFF


def row_sums(
    values: NDArray[Any], axis: int, before: Sequence[int] | NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Return the CRC-32 of every position of an axis, continued from the checksums ``before``."""
    count = values.shape[axis]
    if not values.size:
        return np.array(before, np.uint32)
    rows = np.ascontiguousarray(np.moveaxis(values, axis, 0)).reshape(count, -1).view(np.uint8)
    start = before.tolist() if isinstance(before, np.ndarray) else before
    sums = (zlib.crc32(row.data, one) for row, one in zip(rows, start, strict=True))
    return np.fromiter(sums, np.uint32, count)


def pair(checksum: int) -> tuple[int, int]:
    """Return a checksum and its complement, as a variable that is not along the clock has them."""
    return int(checksum), int(checksum) ^ _ALL


def whole_sum(disk: Disk, name: str) -> tuple[int, int]:
    """Return the checksum of a variable that is not along the clock, as it is stored."""
    values = np.ascontiguousarray(disk.read(name)).reshape(-1)
    return pair(zlib.crc32(values.view(np.uint8).data, beginning(disk, name)))


def withdrawn(disk: Disk, name: str) -> tuple[int, int]:
    """Return what stands for the checksum of such a variable while it is being written."""
    return (0, 0) if disk.salt is None else pair(beginning(disk, f"{name} withdrawn"))


def event_sums(
    disk: Disk, place: str, first: int, columns: Iterable[NDArray[Any]]
) -> NDArray[np.uint32]:
    """Return the CRC-32 of consecutive events of the table at ``place``.

    ``first`` is the row of the first event; the columns are in the order of their names.
    """
    parts = [np.ascontiguousarray(one).reshape(len(one), -1).view(np.uint8) for one in columns]
    block = np.concatenate(parts, axis=1)
    rows = range(first, first + len(block))
    return nonzero(row_sums(block, 0, beginnings(disk, place, rows)))


def record(disk: Disk, tick: int, ended: bool, rows: Iterable[int]) -> NDArray[np.int64]:
    """Return the record of a commit."""
    content = np.array([tick, ended, *rows], np.int64)
    start = 1 if disk.salt is None else beginning(disk, COMMITS)
    return np.append(content, zlib.crc32(content.astype("<i8").tobytes(), start))


@dataclass
class Commits:
    """The state of a file according to its counter and the two records of commits.

    Attributes
    ----------
    tick : last complete tick
    ended : whether no tick will follow
    rows : number of events by table; None if both records are damaged
    newest : which of the two records is that of ``tick``
    damages : damage of the counter and the records
    """

    tick: int
    ended: bool
    rows: dict[str, int] | None
    newest: int
    damages: list[Damage] = field(default_factory=list)


def commits(disk: Disk, seal: Seal) -> Commits:
    """Read the last complete tick of a file, and its numbers of events."""
    counter, records = int(disk.read(COUNTER)), disk.read(COMMITS)
    intact = {
        which: one
        for which, one in enumerate(records)
        if np.array_equal(one, record(disk, one[0], one[1], one[2:-1]))
    }
    place = disk.extents[COMMITS]
    spare = [
        Damage(
            "one of two records of commits",
            stretch(place.row(which).offset, place.row(which).end),
            harmless=True,
        )
        for which in (0, 1)
        if which not in intact
    ]
    fitting = [which for which, one in intact.items() if one[0] == counter]
    if fitting:
        # If both records have this tick, the one that says `ended` is newer.
        which, found = max(fitting, key=lambda one: intact[one][1]), spare
    elif intact:
        where = disk.extents[COUNTER]
        which = max(intact, key=lambda one: intact[one][0])
        complete = f"counter of complete {plural(seal.clock)}"
        what = "record of the last commit" if spare else complete
        found = [Damage(what, stretch(where.offset, where.end), f"which says {counter}")]
    else:
        found = [Damage("both records of commits", stretch(place.offset, place.end))]
        return Commits(counter if 0 <= counter <= seal.ticks else 0, False, None, 0, found)
    tick, ended, *rows = intact[which][:-1].tolist()
    return Commits(tick, bool(ended), dict(zip(seal.tables, rows, strict=True)), which, found)


def damages(disk: Disk, seal: Seal, state: Commits, *, live: bool = False) -> Iterator[Damage]:
    """Yield all damage of committed data; ``live``: whether a run is writing the file."""
    yield from state.damages
    complete = not live and (state.ended or state.tick == seal.ticks)
    for name, series in seal.series.items():
        if series.axis is None:
            yield from _whole(disk, name, live)
        else:
            yield from _rows(disk, seal, name, state.tick, complete=complete, live=live)
    for name in seal.tables:
        yield from of_events(disk, seal, name, state, complete=complete, live=live)
    for slot in range(seal.slots):
        yield from checkpoints.damages(disk, slot, seal.clock, state.tick, live=live)
    if not live:
        for name, least in ((SESSIONS, 0), (ENDED, int(state.ended))):
            place = disk.extents[name]
            if which := list(sessions.damaged(disk, name, least)):
                where = stretch(place.row(which[0]).offset, place.row(which[-1]).end)
                yield Damage(f"{ranges('record', which)} of {name}", where, harmless=True)


def of_variable(
    disk: Disk, seal: Seal, name: str, committed: int, *, live: bool = False
) -> Iterator[Damage]:
    """Yield the damage of one variable; if it has a row per tick, of its committed ticks only."""
    if seal.series[name].axis is None:
        yield from _whole(disk, name, live)
    else:
        yield from _rows(disk, seal, name, committed, complete=False, live=True)


def rows_until(disk: Disk, seal: Seal, name: str, committed: int) -> int:
    """Return how many rows a variable along the clock has when the tick ``committed`` is the last.

    A variable with a lag has fewer rows than the clock has ticks.
    """
    series = seal.series[name]
    return int((_load(disk, seal.coordinate(series.dim)) <= committed - series.lag).sum())


def _whole(disk: Disk, name: str, live: bool) -> Iterator[Damage]:
    extent = disk.extents[name]
    given = tuple(disk.read(f"{CHECKSUMS}/{name}").tolist())
    if given == whole_sum(disk, name):
        return
    if given == withdrawn(disk, name):  # it is being written, or was when the run was killed
        where = stretch(extent.offset, extent.end)
        yield Damage(f"'{name}'", where, harmless=True, unfinished=True)
        return
    if live and given != tuple(disk.read(f"{CHECKSUMS}/{name}").tolist()):
        return
    yield Damage(f"'{name}'", stretch(extent.offset, extent.end))


def _rows(
    disk: Disk, seal: Seal, name: str, committed: int, *, complete: bool, live: bool
) -> Iterator[Damage]:
    """Check a variable along the clock; rows that are not committed must be empty."""
    series, extent = seal.series[name], disk.extents[name]
    ticks, count = _load(disk, seal.coordinate(series.dim)), rows_until(disk, seal, name, committed)
    stop = count if live else len(ticks)
    found, empty = _scan(disk, name, series, stop)
    given = disk.read(f"{CHECKSUMS}/{name}", slice(0, stop))
    unwritten = given == 0
    if disk.salt is not None:
        unwritten[:count] = False
    wrong = np.where(unwritten, ~empty, given != found)
    for part, unfinished in ((slice(0, count), False), (slice(count, stop), not complete)):
        if wrong[part].any():
            which = ranges(seal.clock, ticks[:stop][part][wrong[part]].tolist())
            where = stretch(extent.offset, extent.end)
            yield Damage(f"'{name}'", where, which, unfinished, unfinished)


def _scan(
    disk: Disk, name: str, series: VariableCheck, stop: int
) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Return the checksums of rows up to ``stop`` along the clock, and which rows are empty."""
    extent, axis = disk.extents[name], series.axis or 0
    bits = f"u{extent.dtype.itemsize}"
    fill = np.frombuffer(bytes.fromhex(series.fill), bits)
    sums, empty = np.array(beginnings(disk, name, range(stop)), np.uint32), np.ones(stop, bool)
    count = stop if axis == 0 else extent.shape[0]
    step = max(1, _AT_ONCE * extent.shape[0] // max(1, extent.nbytes))
    for low in range(0, count if stop else 0, step):
        part = slice(low, min(low + step, count))
        inner = [slice(None)] * (axis - 1) + [slice(0, stop)] * (axis > 0)
        values = disk.read(name, part, *inner)
        same = np.moveaxis(values.view(bits) == fill, axis, 0)
        same = same.all(axis=tuple(range(1, same.ndim)))
        if axis == 0:
            sums[part], empty[part] = row_sums(values, 0, sums[part]), same
        else:
            sums, empty = row_sums(values, axis, sums), empty & same
    return nonzero(sums), empty


def of_events(
    disk: Disk, seal: Seal, name: str, state: Commits, *, complete: bool, live: bool
) -> Iterator[Damage]:
    """Check a table; a row behind the committed ones must not have a committed tick."""
    place, columns = f"{EVENTS}/{name}", sorted(seal.tables[name])
    extents = [disk.extents[f"{place}/{one}"] for one in columns]
    known = dict(zip(seal.tables[name], seal.fills.get(name, ()), strict=False))
    fills = [bytes.fromhex(known.get(one, "")) for one in columns]
    ticks = disk.read(f"{place}/{seal.clock}")
    claimed = (ticks >= 0) & (ticks <= state.tick)
    rows = min(state.rows[name], len(ticks)) if state.rows else int(claimed.sum())
    stop = rows if live else len(ticks)
    given = disk.read(f"{CHECKSUMS}/{place}", slice(0, stop))
    wrong = np.zeros(len(ticks), bool)
    step = max(1, _AT_ONCE // sum(extent.rows(0, 1).nbytes for extent in extents))
    for low in range(0, stop, step):
        part = slice(low, min(low + step, stop))
        values = [disk.read(f"{place}/{one}", part) for one in columns]
        unwritten = given[part] == 0
        if disk.salt is not None:
            unwritten[: max(0, rows - low)] = False
        found = event_sums(disk, place, low, values)
        wrong[part] = np.where(unwritten, ~_empty(values, fills), given[part] != found)
    wrong[rows:] |= claimed[rows:]
    where = stretch(min(one.offset for one in extents), max(one.end for one in extents))
    passing = np.arange(len(ticks)) < rows
    passing |= claimed | complete
    for kind, unfinished in ((wrong & passing, False), (wrong & ~passing, True)):
        if kind.any():
            which = ranges("row", np.flatnonzero(kind).tolist())
            yield Damage(f"events '{name}'", where, which, unfinished, unfinished)


def _empty(columns: Iterable[NDArray[Any]], fills: Iterable[bytes]) -> NDArray[np.bool_]:
    """Return which rows of a table have the fill value in all columns.

    Older files do not say what it is (``b""``). Then the usual value of the type counts as empty;
    in integer columns with several values per row also -1 (no component) and 0 (no units).
    """
    found = []
    for one, fill in zip(columns, fills, strict=True):
        bits = f"u{one.dtype.itemsize}"
        several = one.ndim > 1 and one.dtype.kind == "i"
        usual = np.array([nothing(one.dtype), *((-1, 0) if several else ())], one.dtype)
        same = [
            (one.view(bits) == empty).all(axis=tuple(range(1, one.ndim)))
            for empty in (np.frombuffer(fill, bits) if fill else usual.view(bits))
        ]
        found.append(np.logical_or.reduce(same))
    return np.array(np.logical_and.reduce(found))


def nonzero(sums: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return checksums with 1 in place of 0, because a stored 0 means "not written"."""
    return np.maximum(sums, np.uint32(1))


def _load(disk: Disk, extent: Extent) -> NDArray[Any]:
    if not extent.nbytes:
        return np.empty(extent.shape, extent.dtype)
    return np.frombuffer(disk.read_bytes(extent.offset, extent.nbytes), extent.dtype)
