"""How are the tables of thousands of curves computed in seconds and yet correctly rounded?

The definition is `reference_py.economy.tables`, which computes every entry with 60 decimal digits
and rounds it once. Here all entries of a table are computed at once, with twice the digits of a
double and with a bound of the error. Almost always the interval of an entry contains no number
halfway between two doubles, and the rounding is certain. The few other entries are computed by the
definition. So both give the same bits. The tables of several curves are concatenated in one array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reference_py.economy import tables
from societies.background import cores, for_each
from societies.economy.double_double import (
    LEAST,
    DoubleDouble,
    Doubles,
    decided,
    divide,
    exp,
    logarithms,
    multiply,
    sqrt,
    subtract,
    times,
    two_sum,
)
from societies.economy.exact_sums import running_sums

if TYPE_CHECKING:
    from societies.opencl import Device

UtilityKey = tuple[float, float, float]
"""Scale, exponent and the floor of marginal utility."""

EffortKey = tuple[float, float, float]
"""Largest and least effort, largest experience."""

_AT_ONCE = 16384
"""Entries computed in one step, so few that the arrays stay in the level-2 cache of a core."""

TINY = 1e-290
"""Bound of the error made by replacing arguments below `LEAST` by `LEAST`."""


@dataclass(frozen=True, eq=False)
class UtilityTables:
    """Tables of utility curves, one after the other; see `reference_py.economy.tables`.

    Attributes
    ----------
    start, length : (curve,) uint32, first index and number of entries in ``marginal``; the part
        in ``total`` begins at ``start + curve`` and has one entry more
    floor : (curve,) float64, util
    marginal, total : (entry,) float64, util
    """

    start: NDArray[np.uint32]
    length: NDArray[np.uint32]
    floor: Doubles
    marginal: Doubles
    total: Doubles

    def curve(self, number: int) -> tables.UtilityCurve:
        """Return one of the curves as the reference has it."""
        start, length = int(self.start[number]), int(self.length[number])
        return tables.UtilityCurve(
            tuple(self.marginal[start : start + length].tolist()),
            tuple(self.total[start + number : start + number + length + 1].tolist()),
            float(self.floor[number]),
        )


@dataclass(frozen=True, eq=False)
class EffortTables:
    """Tables of effort curves, one after the other.

    Attributes
    ----------
    start, length : (curve,) uint32, first index and number of entries in ``minutes`` and ``total``
    minutes, total : (entry,) float64, min
    max_experience : (curve,) float64
    """

    start: NDArray[np.uint32]
    length: NDArray[np.uint32]
    minutes: Doubles
    total: Doubles
    max_experience: Doubles

    def curve(self, number: int) -> tables.EffortCurve:
        """Return one of the curves as the reference has it."""
        part = slice(int(self.start[number]), int(self.start[number] + self.length[number]))
        return tables.EffortCurve(
            tuple(self.minutes[part].tolist()),
            tuple(self.total[part].tolist()),
            float(self.max_experience[number]),
        )


# ---------------------------------------------------------------- utility


MOST_MADE = 1 << 24
"""Most entries of utility tables that a process caches, of 16 bytes each. Batches of a study have
the same points again, one replicate after the other; tables can take longer than the batch. Those
that were not used for the longest time leave first."""
_MADE: dict[tuple[float, ...], tuple[Doubles, Doubles]] = {}
"""Marginal and total utility by the key of the curve and the space for its table."""


def utility_tables(
    keys: Sequence[UtilityKey], largest_holding: int, device: Device | None = None
) -> UtilityTables:
    """Return the tables of `reference_py.economy.tables.utility_curve` for each of the keys.

    Many large ones are made on the device if it is a GPU, with the same bits.

    Raises
    ------
    ValueError
        If a table would be longer than ``LONGEST_TABLE`` entries.
    """
    for key in keys:
        if tables.table_is_too_long(*key, largest_holding):
            tables.utility_curve(*key, largest_holding)  # raises the error
    room = [_longest(*key, largest_holding) for key in keys]
    start = starts(room)
    lengths = np.zeros(len(keys), np.uint32)
    marginal, total = np.zeros(sum(room)), np.zeros(sum(room) + len(keys))

    names = [(*key, size) for key, size in zip(keys, room, strict=True)]
    made = [_MADE.get(name) for name in names]
    if device is not None and device.kind == "gpu":  # on a CPU kernels take as long as NumPy
        from societies.economy.curves_on_device import made_on

        new = [number for number, table in enumerate(made) if table is None]
        found = made_on(device, [keys[number] for number in new], [room[number] for number in new])
        for number, table in zip(new, found, strict=False):
            made[number] = table

    def make(number: int) -> None:
        first = int(start[number])
        own = marginal[first : first + room[number]]
        table = made[number]
        if table is None:
            length = _fill_marginal(own, *keys[number])
            table = made[number] = own[:length].copy(), running_sums(own[:length])
        marginals, totals = table
        length = lengths[number] = len(marginals)
        own[:length] = marginals
        total[first + number + 1 : first + number + length + 1] = totals

    _in_parallel(make, len(keys))
    for name, table in zip(names, made, strict=True) if sum(room) <= MOST_MADE else ():
        assert table is not None
        _MADE.pop(name, None)  # those used last are the last to leave
        _MADE[name] = table
    entries = sum(len(marginals) for marginals, _ in _MADE.values())
    while entries > MOST_MADE:
        marginals, _ = _MADE.pop(next(iter(_MADE)))
        entries -= len(marginals)
    floor = np.array([floor for _, _, floor in keys])
    return UtilityTables(start, lengths, floor, marginal, total)


def _longest(scale: float, exponent: float, floor: float, largest_holding: int) -> int:
    """Return an upper bound of the table's length, hardly larger than the length.

    U is concave, so unit x is worth at most the slope at x - 1. The bound is the last unit for
    which this slope is above the floor.
    """
    power = math.log(exponent * floor / scale) / (1.0 / exponent - 1.0)
    ends = math.exp(power * (1.0 + 1e-12)) if power < 60.0 else math.inf
    return int(min(largest_holding + 1, ends * (1.0 + 1e-9) + 3.0))


def _fill_marginal(values: Doubles, scale: float, exponent: float, floor: float) -> int:
    """Write the table of marginal utility into `values` and return its length."""
    for first in range(0, len(values), _AT_ONCE):
        part = values[first : first + _AT_ONCE]
        ends = _fill_part(part, first + 1, scale, exponent, floor)
        if ends < len(part):
            return first + ends
    return len(values)


def _fill_part(part: Doubles, unit: int, scale: float, exponent: float, floor: float) -> int:
    """Write the marginal utility of `unit` and later units; return how many are above the floor."""
    last = unit + len(part) - 1
    logs = logarithms(last)
    before = max(unit - 2, 0)  # the first logarithm is that of the unit before
    logs = DoubleDouble(logs.high[before:], logs.low[before:])
    root = divide(DoubleDouble(np.ones(1), np.zeros(1)), np.array([exponent]))
    power = multiply(logs, root)
    above = times(exp(power), np.array([scale]))
    # The products and the root add less than abs(power) x 2**-102 to the relative error of exp.
    error = above.high * ((np.abs(power.high) + 4.0) * 2.0**-100)
    if unit == 1:
        nothing = np.zeros(1)
        above = DoubleDouble(np.append(nothing, above.high), np.append(nothing, above.low))
        error = np.append(nothing, error)
    step = subtract(
        DoubleDouble(above.high[1:], above.low[1:]), DoubleDouble(above.high[:-1], above.low[:-1])
    )
    bound = error[1:] + error[:-1] + step.high * 2.0**-100
    part[:] = step.high
    for place in np.flatnonzero(~decided(step, bound)):
        part[place] = float(tables.utility_of_unit(scale, exponent, unit + int(place)))
    over = (step.high - floor) + step.low
    ended = over <= 0.0
    for place in np.flatnonzero(np.abs(over) <= 2.0 * bound):
        ended[place] = tables.utility_of_unit(scale, exponent, unit + int(place)) <= Decimal(floor)
    return int(ended.argmax()) if ended.any() else len(part)


# ---------------------------------------------------------------- effort


def resource_effort_tables(keys: Sequence[EffortKey]) -> EffortTables:
    """Return the tables of `reference_py.economy.tables.resource_effort` for each of the keys."""
    return _effort_tables(
        keys, lambda high: times(sqrt(high), _TWO), 1.0, tables.resource_effort_at
    )


def device_effort_tables(keys: Sequence[EffortKey]) -> EffortTables:
    """Return the tables of `reference_py.economy.tables.device_effort` for each of the keys."""
    return _effort_tables(
        keys, lambda high: DoubleDouble(2.0 * high, 0.0 * high), 2.0, tables.device_effort_at
    )


_TWO = np.array([2.0])


def _effort_tables(
    keys: Sequence[EffortKey],
    steepness: Callable[[Doubles], DoubleDouble],
    slowness: float,
    exact: Callable[[float, float, float, int], Decimal],
) -> EffortTables:
    room = [math.ceil(most) + 1 for _, _, most in keys]
    start, length = starts(room), np.array(room, np.uint32)
    minutes, total = np.zeros(sum(room)), np.zeros(sum(room))
    pieces = list(_pieces(room))

    def make(number: int) -> None:
        """Make the tables of some curves; several short ones are computed as one array."""
        first, last = pieces[number]
        counts = np.array(room[first:last])
        numbers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        high, low, most = (np.repeat(one, counts) for one in np.array(keys[first:last]).T)
        begin = int(start[first])
        own = minutes[begin : begin + len(numbers)]
        own[:] = _efforts(numbers.astype(float), high, low, most, steepness, slowness)
        for place in np.flatnonzero(np.isnan(own)):
            curve = first + int(np.searchsorted(np.cumsum(counts), place, side="right"))
            own[place] = float(exact(*keys[curve], int(numbers[place])))
        own[np.cumsum(counts) - 1] = [low for _, low, _ in keys[first:last]]
        for curve in range(first, last):
            part = slice(int(start[curve]), int(start[curve]) + room[curve])
            total[part][1:] = running_sums(minutes[part][:-1])

    _in_parallel(make, len(pieces))
    return EffortTables(start, length, minutes, total, np.array([most for *_, most in keys]))


def _pieces(room: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pieces (first curve, last curve + 1) that have about `_AT_ONCE` entries each."""
    first = entries = 0
    for curve, count in enumerate(room):
        entries += count
        if entries >= _AT_ONCE or curve == len(room) - 1:
            yield first, curve + 1
            first, entries = curve + 1, 0


def _efforts(
    experience: Doubles,
    high: Doubles,
    low: Doubles,
    most: Doubles,
    steepness: Callable[[Doubles], DoubleDouble],
    slowness: float,
) -> Doubles:
    """Return correctly rounded efforts, NaN for entries that need more digits."""
    with np.errstate(all="ignore"):  # `decided` is False for values that are not finite
        span = two_sum(high, -low)
        slope = DoubleDouble(span.high / slowness, span.low / slowness)
        inner = divide(times(slope, experience), most)
        decline = multiply(steepness(high), exp(_above_least(inner)))
        gap = multiply(span, exp(_above_least(decline)))
        effort = subtract(DoubleDouble(high, np.zeros_like(high)), gap)
        # A relative error of 2**-100 of the argument x gives the power one of abs(x) 2**-100.
        inner_error = (inner.high + 4.0) * 2.0**-100
        decline_error = decline.high * (inner_error + 2.0**-100) + TINY * decline.high
        gap_error = gap.high * (decline_error + (decline.high + 4.0) * 2.0**-100) + TINY
        safe = decided(effort, 1.01 * gap_error + effort.high * 2.0**-100)
    return np.where(safe & np.isfinite(gap_error), effort.high, np.nan)


def _above_least(number: DoubleDouble) -> DoubleDouble:
    """Return the number with the opposite sign, at least `LEAST`, as an argument for `exp`."""
    small = number.high > -LEAST
    return DoubleDouble(np.where(small, LEAST, -number.high), np.where(small, 0.0, -number.low))


# ---------------------------------------------------------------- single curves


@lru_cache(maxsize=64)
def utility_curve(
    scale: float, exponent: float, min_marginal: float, largest_holding: int
) -> tables.UtilityCurve:
    """Return the same as `reference_py.economy.tables.utility_curve`."""
    return utility_tables([(scale, exponent, min_marginal)], largest_holding).curve(0)


@lru_cache(maxsize=256)
def resource_effort(
    max_effort: float, min_effort: float, max_experience: float
) -> tables.EffortCurve:
    """Return the same as `reference_py.economy.tables.resource_effort`."""
    return resource_effort_tables([(max_effort, min_effort, max_experience)]).curve(0)


@lru_cache(maxsize=256)
def device_effort(
    max_effort: float, min_effort: float, max_experience: float
) -> tables.EffortCurve:
    """Return the same as `reference_py.economy.tables.device_effort`."""
    return device_effort_tables([(max_effort, min_effort, max_experience)]).curve(0)


def starts(lengths: Sequence[int]) -> NDArray[np.uint32]:
    """Return the first index of each of several concatenated parts.

    Raises
    ------
    ValueError
        If there are 2**32 entries or more: kernels count entries in 32 bits.
    """
    if sum(lengths) >= 2**32:
        raise ValueError(f"the curves need tables of {sum(lengths)} entries, more than {2**32}")
    return (np.cumsum([0, *lengths])[:-1]).astype(np.uint32)


def _in_parallel(make: Callable[[int], Any], count: int) -> None:
    """Call ``make(0)``, ..., ``make(count - 1)`` in at most two threads.

    NumPy releases the GIL for arrays of this length, but so briefly that more threads wait for each
    other: on a host with 64 cores, 600 tables took 2.35 s with 1, 1.67 with 2, 1.94 with 4, 2.46
    with 8 and 3.80 s with 64 threads.
    """
    for_each(make, range(count), threads=min(count, cores(), 2))
