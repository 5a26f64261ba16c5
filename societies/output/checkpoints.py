"""How are checkpoints stored so that an intact one always exists?

A file has several slots for checkpoints, which take turns. The slot to be overwritten first loses
its tick, and gets a new one only when its arrays are on the disk; meanwhile the other slots are
complete. A checksum over the slot's number, the tick and all bytes detects a slot that is torn for
another reason, or is that of another run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from functools import partial
from threading import Condition, get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.background import in_background
from societies.output import crc32
from societies.output.disk import Disk
from societies.output.layout import NO_TICK
from societies.output.positions import beginning
from societies.output.seal import Damage, stretch

State = dict[str, NDArray[Any]]

Sums = Callable[[], Mapping[str, int]]
"""A function that returns the CRC-32 of the bytes of each array of a state."""

SHORTEST, BYTES_A_TICK = 50, 1 << 21
"""Default interval of checkpoints: at least `SHORTEST` ticks, and long enough that on average at
most `BYTES_A_TICK` bytes are written per tick. A checkpoint of 1 GB takes seconds to write."""


def interval(asked: int | str, nbytes: int) -> int:
    """Return the number of ticks between two checkpoints of ``nbytes`` bytes; 0: no checkpoints.

    ``asked`` is a number, ``never``, or ``auto``: an interval that depends only on the size.
    """
    if asked == "never":
        return 0
    if asked == "auto":
        return max(SHORTEST, -(-nbytes // BYTES_A_TICK))
    return int(asked)


BEGINS = 1 << 28
"""Bytes of a checkpoint after which a flush to the disk begins while the rest is written."""

ROTATING = 2
"""Number of slots that take turns; each slot after them holds one permanent checkpoint."""


def slots(asked: int | str, permanent: int = 0) -> int:
    """Return the number of slots that a file needs, ``permanent`` of them never overwritten."""
    return 0 if asked in (0, "never") else ROTATING + permanent


def latest(
    disk: Disk, slots: int, committed: int, last: int | None = None
) -> tuple[int, int, State] | None:
    """Return slot, tick and arrays of the newest intact checkpoint, or None if there is none.

    Checkpoints after the committed tick are ignored: the order is commit(tick), checkpoint(tick).
    Those after ``last`` are ignored as well.
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
    states = (_intact(disk, slot, tick) for slot in range(slots) if _tick(disk, slot) == tick)
    return next((state for state in states if state is not None), None)


def _intact(disk: Disk, slot: int, tick: int) -> State | None:
    """Return the arrays of a slot if its checksum fits them and the tick, else None."""
    state = load(disk, slot)
    stored = int(disk.read(f"checkpoint/{slot}/checksum"))
    return state if checksum(tick, state, before=_before(disk, slot)) == stored else None


def ticks(disk: Disk, slots: int, committed: int) -> dict[int, int]:
    """Return slot and tick of all checkpoints up to a tick, oldest first, without checking them."""
    found = {slot: _tick(disk, slot) for slot in range(slots)}
    return {
        slot: tick
        for slot, tick in sorted(found.items(), key=lambda one: one[1])
        if 0 <= tick <= committed
    }


class Arriving(dict[str, NDArray[Any]]):
    """Arrays of a state that is still being copied; `items` waits for those that follow."""

    def __init__(self) -> None:
        super().__init__()
        self._change = Condition()
        self._complete: bool | None = None  # False: no more will arrive, since copying failed
        self.copied_by = get_ident()
        """Thread that copies them, which must not wait for itself."""

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Add an array that has arrived."""
        with self._change:
            self[name] = array
            self._change.notify_all()

    def end(self, complete: bool) -> None:
        """Say that no more arrays will arrive, and whether these are all."""
        with self._change:
            self._complete = complete
            self._change.notify_all()

    def items(self) -> Iterator[tuple[str, NDArray[Any]]]:  # type: ignore[override]
        """Yield names and arrays as they arrive.

        Raises NotArrived if some will never arrive.
        """
        at = 0
        while True:
            with self._change:
                self._change.wait_for(partial(self._has_more, at))
                arrived = list(super().items())[at:]
                if not arrived and not self._complete:
                    raise NotArrived
            if not arrived:
                return
            yield from arrived
            at += len(arrived)

    def _has_more(self, at: int) -> bool:
        return self._complete is not None or len(self) > at


class NotArrived(Exception):
    """Raised if a state was not copied to its end: the slot that it was written to stays empty."""


def damages(
    disk: Disk, slot: int, clock: str, committed: int, *, live: bool = False
) -> Iterator[Damage]:
    """Yield the damage of a slot; a run can continue without it if another slot is intact."""
    tick, check = _tick(disk, slot), int(disk.read(f"checkpoint/{slot}/checksum"))
    if tick == NO_TICK:
        return
    state = load(disk, slot)
    if 0 <= tick <= committed and checksum(tick, state, before=_before(disk, slot)) == check:
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
    if not empty(disk, slot):  # an empty slot has had no tick since the last sync, or is torn
        disk.write(f"checkpoint/{slot}/tick", NO_TICK)
        disk.sync()
    fill(disk, slot, tick, state, sums)
    mark(disk, slot, tick)


def empty(disk: Disk, slot: int) -> bool:
    """Return whether a slot holds no checkpoint."""
    return _tick(disk, slot) == NO_TICK


def mark(disk: Disk, slot: int, tick: int) -> None:
    """Write the tick of a slot whose arrays are written; the checkpoint is valid then."""
    disk.write(f"checkpoint/{slot}/tick", tick)
    disk.sync()


def fill(
    disk: Disk,
    slot: int,
    tick: int,
    state: Mapping[str, NDArray[Any]],
    sums: Sums | None = None,
) -> None:
    """Write the state at the end of ``tick`` into an empty slot, without its tick (see `mark`)."""
    if isinstance(state, Arriving) and state.copied_by == get_ident():
        raise NotArrived  # the system had no thread left for this function
    place = f"checkpoint/{slot}"
    value = in_background(checksum, tick, state, sums, _before(disk, slot))
    begun: list[Future[None]] = []
    written = 0
    try:
        for name, array in state.items():
            disk.write(f"{place}/state/{name}", array)
            written += array.nbytes
            # Flush the first part of a large state while the rest is being written.
            if written >= BEGINS and all(one.done() for one in begun):
                written = 0
                begun.append(in_background(disk.sync))
        disk.write(f"{place}/checksum", value.result())
    finally:
        wait(begun)
    disk.sync()  # fails as well if one of the syncs in other threads failed


def checksum(
    tick: int, state: Mapping[str, NDArray[Any]], sums: Sums | None = None, before: int = 0
) -> int:
    """Return the CRC-32 of the tick and of every array's name and bytes, in the names' order.

    ``sums``, if given, returns the CRC-32 of each array's bytes (`array_sum`), computed elsewhere.
    ``before`` is that of the slot (`societies.output.positions`).
    """
    known = sums() if sums else None
    value = zlib.crc32(tick.to_bytes(8, "little"), before)
    for name in sorted(state):
        value = zlib.crc32(name.encode(), value)
        if known is None:
            value = array_sum(state[name], value)
        else:
            value = crc32.crc_joined(value, known[name], state[name].nbytes)
    return value


def array_sum(array: NDArray[Any], before: int = 0) -> int:
    """Return the CRC-32 of an array's bytes, continued from ``before``."""
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, before)


def _before(disk: Disk, slot: int) -> int:
    return beginning(disk, f"checkpoint/{slot}")


def _tick(disk: Disk, slot: int) -> int:
    return int(disk.read(f"checkpoint/{slot}/tick"))
