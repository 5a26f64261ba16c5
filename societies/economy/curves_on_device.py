"""How does a device make the tables of thousands of utility curves of a study?

With the kernels of `kernels/economy/curve_tables.cl`, which compute as `societies.economy.curves`
does, entry by entry, and leave to it the few curves with an entry that needs more digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.economy.double_double import (
    DoubleDouble,
    Doubles,
    divide,
    ln2_step,
    logarithms,
    powers_of_two,
)
from societies.economy.exact_sums import LARGEST_SHIFT
from societies.opencl import Device, In, Out, Program

LEAST_ENTRIES = 1 << 20
"""Fewer are not worth another program: NumPy takes a fifth of a second for them."""

_AT_ONCE = 1 << 23
"""Entries of one launch, of 16 bytes on the device."""

_BLOCK, _LEAST_PLACE = 64, -900

Table = tuple[Doubles, Doubles]


def made_on(
    device: Device, keys: Sequence[tuple[float, float, float]], room: Sequence[int]
) -> Iterator[Table | None]:
    """Yield marginal and total utility of each curve; None if the host has to make its tables.

    Nothing is yielded if there are too few, or if a recording would include the launches.

    Parameters
    ----------
    keys : scale, exponent and floor of marginal utility of each curve
    room : upper bound of the entries of each
    """
    if sum(room) < LEAST_ENTRIES or device.recording is not None:
        return
    program = Program(device, "economy/curve_tables.cl")
    high, low = logarithms(max(room))
    powers = powers_of_two()
    shared = {
        "step": device.array(np.array([*ln2_step(), 1.0 / sum(ln2_step()[:2])])),
        "logs": device.array(np.concatenate([high, low])),
        "most": len(high),
        "powers": device.array(np.concatenate([powers.high, powers.low])),
    }
    first = 0
    while first < len(keys):
        last = first + 1
        while last < len(keys) and sum(room[first : last + 1]) <= _AT_ONCE:
            last += 1
        yield from _some(program, keys[first:last], room[first:last], shared)
        first = last


def _some(
    program: Program,
    keys: Sequence[tuple[float, float, float]],
    room: Sequence[int],
    shared: dict[str, Any],
) -> Iterator[Table | None]:
    device = program.device
    start = np.cumsum([0, *room])
    blocks = np.concatenate([np.arange(0, size, _BLOCK) for size in room])
    curve_of = np.repeat(np.arange(len(keys)), [-(-size // _BLOCK) for size in room])
    scale, exponent, floor = np.array(keys).T
    root = divide(DoubleDouble(np.ones(len(keys)), np.zeros(len(keys))), exponent)
    starts = device.array(start[:-1].astype(np.uint32))
    marginal = device.zeros(int(start[-1]))
    program.kernel("marginal_utility")(
        global_size=len(blocks) * _BLOCK,
        local_size=_BLOCK,
        blocks=In(np.stack([curve_of, blocks], 1).astype(np.uint32).reshape(-1)),
        curves=In(np.stack([scale, root.high, root.low, floor], 1).reshape(-1)),
        start=starts,
        room=In(np.array(room, np.uint32)),
        marginal=marginal,
        **shared,
    )
    values = marginal.get()
    parts = [values[first : first + size] for first, size in zip(start, room, strict=False)]
    lengths = [_length(part, least) for part, least in zip(parts, floor, strict=True)]
    places = [_last_place(part[:length]) for part, length in zip(parts, lengths, strict=True)]
    lengths = [0 if place is None else n for n, place in zip(lengths, places, strict=True)]
    total: NDArray[np.float64] = np.zeros(len(values) + len(keys))
    program.kernel("total_utility_tables")(
        global_size=len(keys),
        local_size=1,
        marginal=marginal,
        start=starts,
        length=In(np.array(lengths, np.uint32)),
        last_place=In(np.array([place or 0 for place in places], np.int32)),
        total=Out(total),
        curves=len(keys),
    )
    for number, (part, length) in enumerate(zip(parts, lengths, strict=True)):
        first = int(start[number]) + number + 1
        made = part[:length].copy(), total[first : first + length].copy()
        yield None if places[number] is None else made


def _length(part: Doubles, floor: float) -> int:
    """Return the number of entries above the floor; 0 if one of them is not certain."""
    over = ~(part > floor)  # also of entries that are NaN
    ends = int(over.argmax()) if over.any() else len(part)
    return 0 if ends < len(part) and np.isnan(part[ends]) else ends


def _last_place(part: Doubles) -> int | None:
    """Return the exponent of the smallest value's last place; None if the kernel cannot sum."""
    if not len(part):
        return None
    (_, low), (_, high) = np.frexp(part.min()), np.frexp(part.max())
    last = int(low) - 53
    return last if high - low <= LARGEST_SHIFT and last >= _LEAST_PLACE else None
