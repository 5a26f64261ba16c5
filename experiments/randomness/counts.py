"""Do integers below n and binomials come as often as they should? Chi-square on every outcome.

Probabilities are exact: of integers by counting, of binomials from scipy.stats.binom with the
threshold that is used. Pairs and triples do not overlap, so that their counts are multinomial.
"""

import itertools
from functools import partial

import draws
import numpy as np
from scipy import stats

BELOW = (2, 3, 6, 48, 1000, 2**31 + 1)
TRIALS = (1, 2, 5, 8, 9, 32, 33, 100, 1000, 10_000, 100_000)
PROBABILITIES = (0.001, 0.2, 0.5, 0.999)
CELLS = 1000  # of the values of one draw, at most
CLASSES = 8  # of binomials, when draws are compared with their neighbours
REPEAT = 4
"""What is weak is drawn again, from other words, this many times as long."""
WEAK, FAILED = 0.005, 1e-6  # on either side, as dieharder has them


def assessment(p_value):
    """Return dieharder's word for a p-value."""
    beyond = min(p_value, 1 - p_value)
    return "FAILED" if beyond < FAILED else "WEAK" if beyond < WEAK else "PASSED"


def grouped(expected, at_least=10.0):
    """Return the group of each outcome: neighbours together until they are expected often."""
    group = np.empty(len(expected), np.int64)
    number, total = 0, 0.0
    for i, count in enumerate(expected):
        group[i] = number
        total += count
        if total >= at_least:
            number, total = number + 1, 0.0
    if total < at_least and number > 0:
        group[group == number] = number - 1
    return group


def chi_square(observed, expected):
    """Return the p-value of counts, rare outcomes grouped; of less than two groups: nan."""
    group = grouped(expected)
    observed, expected = np.bincount(group, observed), np.bincount(group, expected)
    if len(expected) < 2:
        return float("nan")
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, len(expected) - 1))


def tuples(values, size, base):
    """Return each row's values taken `size` at a time, as one number in that base."""
    count = values.shape[1] // size * size
    parts = values[:, :count].reshape(-1, size)
    result = parts[:, 0].copy()
    for k in range(1, size):
        result *= base
        result += parts[:, k]
    return result


def neighbours(values, base):
    """Return pairs of the same draw in streams 0 and 1, 2 and 3, ... as one number in that base."""
    streams = len(values) // 2 * 2
    return (values[0:streams:2] * base + values[1:streams:2]).ravel()


class Tally:
    """Counts of the values 0 .. len(probability) - 1, alone and together.

    Parameters
    ----------
    probability : (value,) float64
    """

    def __init__(self, probability):
        self.probability = np.asarray(probability, float)
        self.base = len(self.probability)
        self.orders = {"values": 1, "pairs in a stream": 2, "pairs of streams": 2}
        if self.base**3 <= CELLS**2:
            self.orders["triples in a stream"] = 3
        self.counts = dict.fromkeys(self.orders, 0)

    def add(self, values):
        """Count (stream, draw) integers."""
        values = values.astype(np.int32)
        for name, order in self.orders.items():
            if name == "pairs of streams":
                found = neighbours(values, self.base)
            else:
                found = tuples(values, order, self.base)
            self.counts[name] += np.bincount(found, minlength=self.base**order)

    def rows(self):
        """Return a row for each kind of count; none where everything is one group."""
        result = []
        for name, order in self.orders.items():
            probability = self.probability
            for _ in range(order - 1):
                probability = np.outer(probability, self.probability).ravel()
            total = int(self.counts[name].sum())
            p_value = chi_square(self.counts[name], probability * total)
            if not np.isnan(p_value):
                result.append(_row(name, total, p_value, order))
        return result


def _row(test, samples, p_value, order=1):
    """Return the columns that dieharder's rows have, and the same meaning."""
    return {
        "test": test,
        "ntuple": order,
        "tsamples": samples,
        "psamples": 1,
        "p_value": f"{p_value:.8f}",
        "assessment": assessment(p_value),
    }


# -- integers below n ------------------------------------------------------------------------------


def cells_of(n):
    """Return the probability of each cell of 0 .. n-1: the values, or `CELLS` ranges of them."""
    cells = min(n, CELLS)
    ends = [-(-cell * n // cells) for cell in range(cells + 1)]
    return np.diff(np.array(ends, float)) / n


def cell(values, n):
    """Return the cell of each value."""
    return values if n <= CELLS else values.astype(np.uint64) * np.uint64(CELLS) // np.uint64(n)


def integers(blocks, n, total):
    """Count at least `total` integers below n in (stream, draw) blocks; return rows."""
    tally, counted = Tally(cells_of(n)), 0
    while counted < total:
        block = next(blocks)
        if block.max() >= n:
            raise AssertionError(f"{block.max()} is not below {n}")
        tally.add(cell(block, n))
        counted += block.size
    return tally.rows()


# -- binomials -------------------------------------------------------------------------------------


def classes_of(n, p):
    """Return about `CLASSES` ranges of the outcomes of alike probability: (outcome,) int.

    Where one outcome is nearly certain: that one, and all others.
    """
    mass = stats.binom.pmf(np.arange(n + 1), n, p)
    classes = grouped(mass, 1 / CLASSES)
    return classes if classes.any() else (np.arange(n + 1) != mass.argmax()).astype(np.int64)


def binomials(blocks, n, p, total):
    """Count at least `total` binomials in (stream, draw) blocks; return rows."""
    mass = stats.binom.pmf(np.arange(n + 1), n, p)
    class_of = classes_of(n, p)
    outcomes, tally, counted = 0, Tally(np.bincount(class_of, mass)), 0
    while counted < total:
        block = next(blocks)
        outcomes += np.bincount(block.ravel(), minlength=n + 1)
        tally.add(class_of[block])
        counted += block.size
    if len(outcomes) > n + 1:
        raise AssertionError(f"{len(outcomes) - 1} successes of {n} trials")
    rows = [_row("outcomes", counted, chi_square(outcomes, mass * counted))]
    return rows + [row for row in tally.rows() if row["test"] != "values"]


# -- everything ------------------------------------------------------------------------------------


def countings(program, quick):
    """Return what is counted by name, as functions that draw and return rows.

    Their argument counts the repetitions: each has streams of its own, and `REPEAT` times as many
    draws as the first.
    """

    def source(kernel, seed, repeat, **arguments):
        streams = draws.economy_streams(program.device, 8, seed ^ repeat << 63)
        return draws.Derived(program, kernel, streams, **arguments)

    def of_integers(repeat, n):
        blocks = source("draw_below", n, repeat, n=n).blocks()
        total = 10**6 if quick else 10**8
        return integers(blocks, n, total * (REPEAT if repeat else 1))

    def of_binomials(repeat, n, p):
        threshold = int(p * 2**32)
        drawn = source("draw_binomials", threshold * 2**32 + n, repeat, n=n, threshold=threshold)
        total = min(10**5, 10**8 // n) if quick else min(10**7, 4 * 10**10 // n)
        total *= REPEAT if repeat else 1
        return binomials(drawn.blocks(min(total, 10**6)), n, threshold / 2**32, total)

    result = {f"integers below {n}": partial(of_integers, n=n) for n in BELOW}
    for n, p in itertools.product(TRIALS, PROBABILITIES):
        result[f"binomial {n} {p}"] = partial(of_binomials, n=n, p=p)
    return result | controls(program, 10**6 if quick else 10**7)


def controls(program, total):
    """Return wrong ways to draw, which counting must find."""

    def remainder(_repeat=0):
        """Words modulo n: a third of the values come twice as often as the others."""
        n = 3 << 30
        words = draws.sequences(program)["streams"]().blocks()
        return integers((block.reshape(64, -1) % np.uint32(n) for block in words), n, total)

    def congruential(_repeat=0):
        words = draws.Congruential().blocks()
        return integers((block.reshape(64, -1) % np.uint32(6) for block in words), 6, total)

    def normal(_repeat=0):
        """A rounded normal number in place of a binomial."""
        n, p, generator = 1000, 0.2, np.random.default_rng(1)

        def blocks():
            while True:
                drawn = generator.normal(n * p, np.sqrt(n * p * (1 - p)), (1000, 1000))
                yield np.rint(drawn).astype(np.uint32)

        return binomials(blocks(), n, p, total)

    return {
        "control: remainder": remainder,
        "control: congruential remainder": congruential,
        "control: rounded normal": normal,
    }
