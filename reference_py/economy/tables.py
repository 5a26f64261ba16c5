"""How are an economy's curves tabulated? The worth of one more unit, and the minutes it takes.

The curves contain powers and exponentials, whose last bits differ between machines and libraries.
They are therefore computed once, before the first day, in decimal arithmetic with far more digits
than a double holds, and rounded once: every machine gets the same correctly rounded table, and no
kernel ever calls ``exp`` or ``pow`` (`kernels/economy/curve_tables.cl` makes tables by + - * and /,
for the host to complete). Source: docs/model.md, sections "Utility" and "Effort" (Haney,
Haarsma and Ditta 2016).
"""

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import lru_cache

_DIGITS = 60  # ten more than the 50 that must be right: products of roots lose a few
LONGEST_TABLE = 2_000_000


def _context() -> Context:
    return Context(prec=_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True, eq=False)
class UtilityCurve:
    """Marginal utility by units held, and its prefix sums.

    Attributes
    ----------
    marginal : (length,) float, util
        ``marginal[k]`` is the utility of unit k + 1; beyond the table it is ``floor``.
    total : (length + 1,) float, util
        ``total[k]`` is the utility of k units, the exact sum of ``marginal[:k]`` rounded once.
    floor : float, util
        Marginal utility of every unit beyond the table.
    """

    marginal: tuple[float, ...]
    total: tuple[float, ...]
    floor: float


@dataclass(frozen=True, eq=False)
class EffortCurve:
    """Minutes by whole experience, and the experience an agent keeps overnight.

    Attributes
    ----------
    minutes : (length + 1,) float, minutes per unit or device; the last entry holds ever after
    total : (length + 1,) float, minutes
        ``total[e]`` is the exact sum of ``minutes[:e]``, rounded once: what it takes to gain e
        experience, one at a time, from none.
    max_experience : float, units extracted, or 1
    """

    minutes: tuple[float, ...]
    total: tuple[float, ...]
    max_experience: float


@lru_cache(maxsize=64)
def utility_curve(
    scale: float, exponent: float, min_marginal: float, largest_holding: int
) -> UtilityCurve:
    """Return the table of U(x) = scale * x ** (1 / exponent).

    The table ends with the first unit whose marginal utility is not above ``min_marginal``, or
    after ``largest_holding`` units, which no agent can exceed, whichever comes first.

    Raises
    ------
    ValueError
        If the table would be longer than ``LONGEST_TABLE`` entries.
    """
    context = _context()
    factor, floor = Decimal(scale), Decimal(min_marginal)
    root = context.divide(Decimal(1), Decimal(exponent))
    if table_is_too_long(scale, exponent, min_marginal, largest_holding):
        raise ValueError(
            f"exponent {exponent:g} with min_marginal {min_marginal:g} needs a table of more than "
            f"{LONGEST_TABLE} units; raise min_marginal"
        )
    marginal = []
    below = Decimal(0)
    for value in _roots(root, context, largest_holding + 1):
        above = context.multiply(factor, value)
        step = context.subtract(above, below)
        if step <= floor:
            break
        marginal.append(float(step))
        below = above
    return UtilityCurve(tuple(marginal), prefix_sums(marginal), float(min_marginal))


def utility_of_unit(scale: float, exponent: float, unit: int) -> Decimal:
    """Return U(unit) - U(unit - 1) of `utility_curve`, to 50 digits: what its table rounds."""
    context = _context()
    root = context.divide(Decimal(1), Decimal(exponent))
    above, below = (
        context.power(Decimal(unit - i), root) if unit > i else Decimal(0) for i in (0, 1)
    )
    return context.multiply(Decimal(scale), context.subtract(above, below))


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


def _roots(root, context, count):
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


def _smallest_factors(size):
    factor = list(range(size + 1))
    for p in range(math.isqrt(size), 1, -1):  # the smallest is written last
        if factor[p] == p:
            factor[p * p :: p] = [p] * len(range(p * p, size + 1, p))
    return factor


def prefix_sums(values) -> tuple[float, ...]:
    """Return the (n + 1,) sums of the first k values, each summed exactly and rounded once."""
    shift = 1074  # every double is a whole number of 2 ** -1074
    total, sums = 0, [0.0]
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        total += (numerator << shift) // denominator
        sums.append(total / (1 << shift))  # Python divides integers with correct rounding
    return tuple(sums)


@lru_cache(maxsize=256)
def resource_effort(max_effort: float, min_effort: float, max_experience: float) -> EffortCurve:
    """Return minutes for the next unit by whole experience; the last entry holds ever after.

    ``E(e) = max - (max - min) exp(-2 sqrt(max) exp(-(max - min) e / max_experience))`` for whole
    e below ``max_experience``, else ``min``.

    The table has ceil(max_experience) + 1 entries, in minutes per unit.
    """
    return _effort_curve(max_effort, min_effort, max_experience, resource_effort_at)


@lru_cache(maxsize=256)
def device_effort(max_effort: float, min_effort: float, max_experience: float) -> EffortCurve:
    """Return minutes for making the next device by whole experience; the last entry holds after.

    ``E(e) = max - (max - min) exp(-2 max exp(-((max - min) / 2) e / max_experience))`` for whole
    e below ``max_experience``, else ``min``. The same for all device types.

    The table has ceil(max_experience) + 1 entries, in minutes per device.
    """
    return _effort_curve(max_effort, min_effort, max_experience, device_effort_at)


def resource_effort_at(
    max_effort: float, min_effort: float, max_experience: float, experience: int
) -> Decimal:
    """Return the minutes of `resource_effort` at some experience below the most, to 50 digits."""
    context = _context()
    steepness = context.multiply(Decimal(2), context.sqrt(Decimal(max_effort)))
    return _effort_at(max_effort, min_effort, max_experience, experience, steepness, 1)


def device_effort_at(
    max_effort: float, min_effort: float, max_experience: float, experience: float
) -> Decimal:
    """Return the minutes of `device_effort` at some experience below the most, to 50 digits."""
    steepness = _context().multiply(Decimal(2), Decimal(max_effort))
    return _effort_at(max_effort, min_effort, max_experience, experience, steepness, 2)


def _effort_at(max_effort, min_effort, max_experience, experience, steepness, slowness) -> Decimal:
    """Return the effort of the curve whose two shape numbers are given."""
    context = _context()
    high = Decimal(max_effort)
    span = context.subtract(high, Decimal(min_effort))
    slope = context.divide(span, Decimal(slowness))
    inner = context.divide(context.multiply(slope, Decimal(experience)), Decimal(max_experience))
    decline = context.multiply(steepness, context.exp(context.minus(inner)))
    return context.subtract(high, context.multiply(span, context.exp(context.minus(decline))))


def _effort_curve(max_effort, min_effort, max_experience, effort_at) -> EffortCurve:
    """Return the curve whose efforts below the largest experience are given."""
    key = max_effort, min_effort, max_experience
    efforts = [float(effort_at(*key, e)) for e in range(math.ceil(max_experience))]
    return EffortCurve((*efforts, float(min_effort)), prefix_sums(efforts), float(max_experience))


def consumption_threshold(lifetime: float) -> int:
    """Return 2**32 / lifetime: a held unit disappears if its 32-bit draw is smaller."""
    return math.floor(1.0 / lifetime * 2.0**32)
