"""How is the full state kept so that one good copy always exists?

Slots take turns. The slot to be overwritten loses its tick first, and gets one again only when its
arrays are on the disk; meanwhile the others are complete. A checksum over the tick and all bytes
shows a slot that is torn for any other reason.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.background import in_background
from societies.output import crc32
from societies.output.disk import Disk
from societies.output.layout import NO_TICK
from societies.output.seal import Damage, stretch

State = dict[str, NDArray[Any]]

Sums = Callable[[], Mapping[str, int]]
"""Returns the CRC-32 of the bytes of each array of a state."""

SHORTEST, BYTES_A_TICK = 50, 1 << 21
"""Checkpoints by default: every so many ticks, or so rarely that this many bytes go to the disk
for each tick. A checkpoint of 1 GB takes seconds to write."""


def interval(asked: int | str, nbytes: int) -> int:
    """Return how many ticks lie between two checkpoints of so many bytes; 0: there are none.

    ``asked`` is a number, ``never``, or ``auto``, whose answer follows from the size alone.
    """
    if asked == "never":
        return 0
    if asked == "auto":
        return max(SHORTEST, -(-nbytes // BYTES_A_TICK))
    return int(asked)


BEGINS = 1 << 28
"""Bytes of a checkpoint after which the disk is asked to begin."""

ROTATING = 2
"""Slots that take turns; those after them hold a checkpoint each for good."""


def slots(asked: int | str, kept: int = 0) -> int:
    """Return for how many checkpoints a file needs room, so many of which are kept for good."""
    return 0 if asked in (0, "never") else ROTATING + kept


def latest(
    disk: Disk, slots: int, committed: int, last: int | None = None
) -> tuple[int, int, State] | None:
    """Return slot, tick and arrays of the newest intact checkpoint, or None if there is none.

    A checkpoint counts only up to the tick committed: the order is commit(tick), checkpoint(tick).
    With ``last`` those of later ticks do not count either.
    """
    committed = committed if last is None else min(committed, last)
    ticks = {slot: _tick(disk, slot) for slot in range(slots)}
    for slot in sorted(ticks, key=lambda slot: (-ticks[slot], slot)):
        if not 0 <= ticks[slot] <= committed:
            continue
        state = _intact(disk, slot, ticks[slot])
        if state is not None:
            return slot, ticks[slot], state
    return None


def of_tick(disk: Disk, slots: int, tick: int) -> State | None:
    """Return the arrays of an intact checkpoint of exactly that tick, or None if there is none."""
    there = (_intact(disk, slot, tick) for slot in range(slots) if _tick(disk, slot) == tick)
    return next((state for state in there if state is not None), None)


def _intact(disk: Disk, slot: int, tick: int) -> State | None:
    """Return the arrays of a slot, None unless its checksum is that of these and of the tick."""
    state = load(disk, slot)
    stored = int(disk.read(f"checkpoint/{slot}/checksum"))
    return state if checksum(tick, state) == stored else None


def ticks(disk: Disk, slots: int, committed: int) -> dict[int, int]:
    """Return slot and tick of all checkpoints that say they are one, the oldest first."""
    found = {slot: _tick(disk, slot) for slot in range(slots)}
    return {
        slot: tick
        for slot, tick in sorted(found.items(), key=lambda one: one[1])
        if 0 <= tick <= committed
    }


def damages(
    disk: Disk, slot: int, clock: str, committed: int, *, live: bool = False
) -> Iterator[Damage]:
    """Yield what is wrong with a slot; a run goes on without it, if another one is intact."""
    tick, check = _tick(disk, slot), int(disk.read(f"checkpoint/{slot}/checksum"))
    if tick == NO_TICK:
        return
    if 0 <= tick <= committed and checksum(tick, load(disk, slot)) == check:
        return
    if live and _tick(disk, slot) != tick:
        return
    inside = [one for name, one in disk.extents.items() if name.startswith(f"checkpoint/{slot}/")]
    first, end = min(one.offset for one in inside if one.nbytes), max(one.end for one in inside)
    yield Damage(f"checkpoint {slot}", stretch(first, end), f"of {clock} {tick}", harmless=True)


def load(disk: Disk, slot: int) -> State:
    """Return the arrays of a slot."""
    place = f"checkpoint/{slot}/state/"
    names = sorted(name for name in disk.extents if name.startswith(place))
    return {name.removeprefix(place): disk.read(name) for name in names}


def store(
    disk: Disk,
    slot: int,
    tick: int,
    state: Mapping[str, NDArray[Any]],
    sums: Sums | None = None,
) -> None:
    """Overwrite a slot with the state at the end of ``tick``.

    ``sums`` is as for `checksum`.
    """
    if not empty(disk, slot):  # else it has had no tick since the last sync, or is torn
        disk.write(f"checkpoint/{slot}/tick", NO_TICK)
        disk.sync()
    fill(disk, slot, tick, state, sums)
    mark(disk, slot, tick)


def empty(disk: Disk, slot: int) -> bool:
    """Return whether a slot holds no checkpoint."""
    return _tick(disk, slot) == NO_TICK


def mark(disk: Disk, slot: int, tick: int) -> None:
    """Give a slot that is filled its tick."""
    disk.write(f"checkpoint/{slot}/tick", tick)
    disk.sync()


def fill(
    disk: Disk,
    slot: int,
    tick: int,
    state: Mapping[str, NDArray[Any]],
    sums: Sums | None = None,
) -> None:
    """Write the state at the end of ``tick`` into an empty slot, which stays empty by its tick."""
    place = f"checkpoint/{slot}"
    value = in_background(checksum, tick, state, sums)
    begun: list[Future[None]] = []
    written = 0
    try:
        for name, array in state.items():
            disk.write(f"{place}/state/{name}", array)
            written += array.nbytes
            # The disk begins with a large state while the rest of it is on its way.
            if written >= BEGINS and all(one.done() for one in begun):
                written = 0
                begun.append(in_background(disk.sync))
        disk.write(f"{place}/checksum", value.result())
    finally:
        wait(begun)
    disk.sync()  # which fails, too, if one of those failed


def checksum(tick: int, state: Mapping[str, NDArray[Any]], sums: Sums | None = None) -> int:
    """Return the CRC-32 of the tick and of every array's name and bytes, in the names' order.

    ``sums`` returns those of the arrays' bytes (`array_sum`), if somebody else finds them.
    """
    known = sums() if sums else None
    value = zlib.crc32(tick.to_bytes(8, "little"))
    for name in sorted(state):
        value = zlib.crc32(name.encode(), value)
        if known is None:
            value = array_sum(state[name], value)
        else:
            value = crc32.joined(value, known[name], state[name].nbytes)
    return value


def array_sum(array: NDArray[Any], before: int = 0) -> int:
    """Return the CRC-32 of an array's bytes, after others."""
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, before)


def _tick(disk: Disk, slot: int) -> int:
    return int(disk.read(f"checkpoint/{slot}/tick"))
