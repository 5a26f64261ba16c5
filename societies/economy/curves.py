"""What is one more unit worth, and how many minutes does it take: the economy's curves as tables.

The curves contain powers and exponentials, whose last bits differ between machines and libraries.
They are therefore computed once, on the host, in decimal arithmetic with far more digits than a
double holds, and rounded once: every machine gets the same correctly rounded table, and no kernel
ever calls ``exp`` or ``pow``. Source: docs/model.md, sections "Utility" and "Effort" (Haney,
Haarsma and Ditta 2016).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError

_DIGITS = 60  # ten more than the 50 that must be right: products of roots lose a few
LONGEST_TABLE = 2_000_000


def _context() -> Context:
    return Context(prec=_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True, eq=False)
class UtilityCurve:
    """Marginal utility by units held, and its prefix sums.

    Attributes
    ----------
    marginal : (length,) float64, util
        ``marginal[k]`` is the utility of unit k + 1; beyond the table it is ``floor``.
    total : (length + 1,) float64, util
        ``total[k]`` is the utility of k units, the exact sum of ``marginal[:k]`` rounded once.
    floor : float, util
        Marginal utility of every unit beyond the table.
    """

    marginal: NDArray[np.float64]
    total: NDArray[np.float64]
    floor: float


@lru_cache(maxsize=64)
def utility_curve(
    scale: float, exponent: float, min_marginal: float, largest_holding: int
) -> UtilityCurve:
    """Return the table of U(x) = scale * x ** (1 / exponent).

    The table ends with the first unit whose marginal utility is not above ``min_marginal``, or
    after ``largest_holding`` units, which nobody can exceed, whichever comes first.

    Raises
    ------
    ConfigError
        If the table would be longer than ``LONGEST_TABLE`` entries.
    """
    context = _context()
    factor, floor = Decimal(scale), Decimal(min_marginal)
    root = context.divide(Decimal(1), Decimal(exponent))
    if table_is_too_long(scale, exponent, min_marginal, largest_holding):
        raise ConfigError(
            f"utility.exponent: {exponent:g} with min_marginal {min_marginal:g} needs a table "
            f"of more than {LONGEST_TABLE} units; raise utility.min_marginal"
        )
    marginal: list[float] = []
    below = Decimal(0)
    for value in _roots(root, context, largest_holding + 1):
        above = context.multiply(factor, value)
        step = context.subtract(above, below)
        if step <= floor:
            break
        marginal.append(float(step))
        below = above
    table = np.array(marginal, dtype=np.float64)
    return UtilityCurve(_frozen(table), _frozen(_prefix_sums(marginal)), float(min_marginal))


@lru_cache(maxsize=1024)
def table_is_too_long(
    scale: float, exponent: float, min_marginal: float, largest_holding: int
) -> bool:
    """Return whether `utility_curve` would refuse; found without making the table."""
    if largest_holding < LONGEST_TABLE:
        return False
    context = _context()
    root = context.divide(Decimal(1), Decimal(exponent))
    above, below = (context.power(Decimal(LONGEST_TABLE + i), root) for i in (1, 0))
    step = context.multiply(Decimal(scale), context.subtract(above, below))
    return step > Decimal(min_marginal)


def _roots(root: Decimal, context: Context, count: int) -> Iterator[Decimal]:
    """Yield 1, 2 ** root, 3 ** root, ... ; a root of a product is the product of the roots.

    Only primes need a power (slow); the sieve grows by doubling because the length is not known.
    """
    values = [Decimal(0), Decimal(1)]
    yield values[1]
    size = 1
    while size < count:
        start, size = size + 1, min(count, max(4096, 2 * size))
        factor = _smallest_factors(size)
        for x in range(start, size + 1):
            p = factor[x]
            if p == x:
                values.append(context.power(Decimal(x), root))
            else:
                values.append(context.multiply(values[p], values[x // p]))
            yield values[x]


def _smallest_factors(size: int) -> list[int]:
    factor = np.arange(size + 1)
    for p in range(2, int(size**0.5) + 1):
        if factor[p] == p:
            multiples = factor[p * p :: p]
            multiples[multiples > p] = np.minimum(multiples[multiples > p], p)
    result: list[int] = factor.tolist()
    return result


def _prefix_sums(values: list[float]) -> NDArray[np.float64]:
    """Return the (n + 1,) sums of the first k values, each summed exactly and rounded once."""
    shift = 1074  # every double is a whole number of 2 ** -1074
    total, sums = 0, [0.0]
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        total += (numerator << shift) // denominator
        sums.append(total / (1 << shift))  # Python divides integers with correct rounding
    return np.array(sums, dtype=np.float64)


@lru_cache(maxsize=256)
def resource_effort(
    max_effort: float, min_effort: float, max_experience: float
) -> NDArray[np.float64]:
    """Return minutes for the next unit by whole experience; the last entry holds ever after.

    ``E(e) = max - (max - min) exp(-2 sqrt(max) exp(-(max - min) e / max_experience))`` for whole
    e below ``max_experience``, else ``min``.

    Returns
    -------
    (ceil(max_experience) + 1,) float64, minutes per unit
    """
    context = _context()
    steepness = context.multiply(Decimal(2), context.sqrt(Decimal(max_effort)))
    return _efforts(max_effort, min_effort, max_experience, steepness, Decimal(1))


@lru_cache(maxsize=256)
def device_effort(
    max_effort: float, min_effort: float, max_experience: float
) -> NDArray[np.float64]:
    """Return minutes for making the next device by whole experience; the last entry holds after.

    ``E(e) = max - (max - min) exp(-2 max exp(-((max - min) / 2) e / max_experience))`` for whole
    e below ``max_experience``, else ``min``. The same for all device types.

    Returns
    -------
    (ceil(max_experience) + 1,) float64, minutes per device
    """
    context = _context()
    steepness = context.multiply(Decimal(2), Decimal(max_effort))
    return _efforts(max_effort, min_effort, max_experience, steepness, Decimal(2))


def _efforts(
    max_effort: float,
    min_effort: float,
    max_experience: float,
    steepness: Decimal,
    slowness: Decimal,
) -> NDArray[np.float64]:
    """Return the table of the effort curve whose two shape numbers are given."""
    context = _context()
    high, low = Decimal(max_effort), Decimal(min_effort)
    span = context.subtract(high, low)
    slope = context.divide(span, slowness)
    efforts = []
    experience = 0
    while experience < max_experience:
        inner = context.divide(
            context.multiply(slope, Decimal(experience)), Decimal(max_experience)
        )
        decline = context.multiply(steepness, context.exp(context.minus(inner)))
        gap = context.multiply(span, context.exp(context.minus(decline)))
        efforts.append(float(context.subtract(high, gap)))
        experience += 1
    efforts.append(float(low))
    return _frozen(np.array(efforts, dtype=np.float64))


def prefix_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (n + 1,) sums of the first k values, each summed exactly and rounded once."""
    return _frozen(_prefix_sums(values.tolist()))


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array
