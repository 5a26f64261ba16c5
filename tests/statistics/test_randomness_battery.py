"""Are the words that the kernels draw random? A small battery, of every kind of sequence.

In full, with dieharder on gigabytes: experiments/randomness. Seeds are fixed, so that a test gives
the same answer every time; a p-value is refused below 1e-6 and, where the statistic can be too
good, above 1 - 1e-6. Every check is shown to refuse something planted.
"""

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from societies.opencl import choose_device

pytestmark = pytest.mark.ci

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "randomness"))
try:
    counts, draws = importlib.import_module("counts"), importlib.import_module("draws")
finally:
    sys.path.pop(0)

WORDS = 1 << 20
UNLIKELY = 1e-6
SEQUENCES = ("single", "agents", "streams", "purposes", "nights", "nights by day", "seeds")
PACKED = ("below 2", "below 48", "below 1000", "below 2147483649")


@pytest.fixture(scope="module")
def program():
    return draws.load_program(choose_device("auto"))


@pytest.fixture(scope="module")
def streams(program):
    """Return streams that the economy seeds: (society, owner, purpose)."""
    return draws.economy_streams(program.device, 8)


@pytest.fixture(scope="module")
def sequences(program):
    """Return the first words of every sequence, and of a bad generator and bad streams."""
    makers = draws.sequences(program, quick=True) | draws.controls(program)
    result = {}
    for name, make in makers.items():
        source = make()
        result[name] = next(source.blocks()).ravel()[:WORDS]
        assert len(result[name]) == WORDS
        assert source.compared > 0 or name == "control: congruential"
    return result


# -- checks: each returns a p-value ----------------------------------------------------------------


def bits_of(words):
    """Return the bits of the words, the highest first."""
    return np.unpackbits(words.astype(">u4").view(np.uint8))


def monobit(words):
    """Ones at each of the 32 places."""
    ones = bits_of(words).reshape(-1, 32).sum(axis=0, dtype=np.int64)
    z = (ones - len(words) / 2) / math.sqrt(len(words) / 4)
    return stats.chi2.sf((z**2).sum(), 32)


def runs(words):
    """Changes from a bit to the next: half of the time."""
    bits = bits_of(words)
    changes = np.count_nonzero(bits[1:] != bits[:-1])
    z = (changes - (len(bits) - 1) / 2) / math.sqrt((len(bits) - 1) / 4)
    return 2 * stats.norm.sf(abs(z))


def poker(words):
    """Different digits among the eight of a word in base 16."""
    digits = np.sort(words[:, None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15, axis=1)
    different = 1 + np.count_nonzero(digits[:, 1:] != digits[:, :-1], axis=1)
    ways = np.zeros(9)  # of k different digits, adding one digit after the other
    ways[0] = 1
    for _ in range(8):
        k = np.arange(9)
        ways = ways * k / 16 + np.concatenate([[0], ways[:-1] * (16 - k[:-1]) / 16])
    return counts.chi_square(np.bincount(different, minlength=9), ways * len(words))


def serial(words):
    """Pairs of words in a row, by their highest bits and by their lowest."""
    p_values = []
    for digit in (words >> 24, words & 255):
        pairs = digit[0::2].astype(np.int64) * 256 + digit[1::2]
        found = np.bincount(pairs, minlength=65536)
        expected = len(pairs) / 65536
        p_values.append(stats.chi2.sf(((found - expected) ** 2 / expected).sum(), 65535))
    return extreme(p_values)


def gap(words):
    """Words between two of the lowest sixteenth, and between two of the highest."""
    p_values = []
    for hit in (words < 1 << 28, words >= 15 << 28):
        gaps = np.minimum(np.diff(np.flatnonzero(hit)) - 1, 150)
        probability = stats.geom.pmf(np.arange(1, 152), 1 / 16)
        probability[-1] = stats.geom.sf(150, 1 / 16)
        found = np.bincount(gaps, minlength=151)
        p_values.append(counts.chi_square(found, probability * len(gaps)))
    return extreme(p_values)


def birthday_spacings(words):
    """Equal distances between 512 birthdays in 2^24 days: Poisson, on average 2."""
    birthdays = np.sort((words >> 8).reshape(-1, 512), axis=1)
    distances = np.sort(np.diff(birthdays, axis=1), axis=1)
    equal = np.count_nonzero(distances[:, 1:] == distances[:, :-1], axis=1)
    found = np.bincount(np.minimum(equal, 10), minlength=11)
    probability = stats.poisson.pmf(np.arange(11), 512**3 / 2**26)
    probability[-1] += 1 - probability.sum()
    return counts.chi_square(found, probability * len(birthdays))


def rank(words):
    """Ranks of 32 x 32 matrices of bits."""
    rows = words.reshape(-1, 32).copy()
    many = np.arange(len(rows))
    ranks = np.zeros(len(rows), np.int64)
    for bit in range(32):
        has = (rows >> np.uint32(bit) & 1).astype(bool)
        has &= np.arange(32) >= ranks[:, None]  # rows above are pivots
        pivot = has.argmax(axis=1)
        found = has[many, pivot]
        at, row = many[found], pivot[found]
        top = ranks[found]
        value = rows[at, row]
        rows[at, row] = rows[at, top]
        has[at, row] = has[at, top]
        rows[at, top] = value
        has[at, top] = False
        rows[at] ^= np.where(has[at], value[:, None], np.uint32(0))
        ranks[found] += 1
    probability = {32: 0.2887880952, 31: 0.5775761902, 30: 0.1283502644}  # Marsaglia 1985
    probability = np.array([1 - sum(probability.values()), *(probability[k] for k in (30, 31, 32))])
    found = np.bincount(np.maximum(ranks, 29) - 29, minlength=4)
    return counts.chi_square(found, probability * len(rows))


def collisions(words):
    """Words that came before: Poisson, on average 128 of 2^20."""
    ordered = np.sort(words)
    seen = np.count_nonzero(ordered[1:] == ordered[:-1])
    mean = len(words) ** 2 / 2**33
    return extreme([stats.poisson.cdf(seen, mean), stats.poisson.sf(seen - 1, mean)])


def weights(words):
    """Bits in which a word differs from the one 1, 2, 48 or 49 places on."""
    ones = np.array([i.bit_count() for i in range(1 << 16)])
    probability = stats.binom.pmf(np.arange(33), 32, 0.5)
    p_values = []
    for distance in (1, 2, 48, 49):
        unlike = words[:-distance] ^ words[distance:]
        different = ones[unlike >> 16] + ones[unlike & 0xFFFF]
        found = np.bincount(different, minlength=33)
        p_values.append(counts.chi_square(found, probability * len(different)))
    return extreme(p_values)


def extreme(p_values):
    """Return the p-value that is nearest to 0 or 1."""
    return min(p_values, key=lambda p: min(p, 1 - p))


CHECKS = [monobit, runs, poker, serial, gap, birthday_spacings, rank, collisions, weights]


def refused(p_value):
    return not UNLIKELY < p_value < 1 - UNLIKELY


# -- what the kernels draw -------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", [*SEQUENCES, *PACKED])
def test_words_look_random(sequences, name, check):
    assert not refused(check(sequences[name]))


@pytest.mark.parametrize("n", counts.BELOW)
def test_integers_below_come_equally_often(program, streams, n):
    """Alone, in pairs and triples of a stream, and in pairs of neighbouring streams."""
    source = draws.Derived(program, "draw_below", streams, n=n)
    for row in counts.integers(source.blocks(), n, 10**6):
        assert row["assessment"] != "FAILED", row
    assert source.compared > 0


@pytest.mark.parametrize("p", counts.PROBABILITIES)
@pytest.mark.parametrize("n", [1, 8, 9, 33, 1000, 100_000])
def test_binomials_are_exact_and_do_not_know_each_other(program, streams, n, p):
    threshold = int(p * 2**32)
    source = draws.Derived(program, "draw_binomials", streams[0], n=n, threshold=threshold)
    total = min(200_000, 10**9 // n)
    rows = counts.binomials(source.blocks(total), n, threshold / 2**32, total)
    assert len(rows) >= 3
    for row in rows:
        assert row["assessment"] != "FAILED", row


# -- what the checks refuse ------------------------------------------------------------------------


def every(step, words, change):
    """Return the words with every step-th changed."""
    result = words.copy()
    result[::step] = change(result[::step])
    return result


PLANTED = {
    monobit: lambda w: every(60, w, lambda x: x | 1),
    runs: lambda w: every(300, w, lambda x: x * 0 + 0x55555555),
    poker: lambda w: every(100, w, lambda x: x & 0xFFFFFFF | x << 4 & 0xF0000000),
    serial: lambda w: np.where(np.arange(len(w)) % 50 == 1, np.roll(w, 1), w),
    gap: lambda w: every(16, w, lambda x: x >> 4),
    birthday_spacings: lambda w: w & 0xFFFFF0FF,
    rank: lambda w: every(320, w, lambda x: x & 0),
    collisions: lambda w: every(5000, w, lambda x: x & 0xFF),
    weights: lambda w: np.where(np.arange(len(w)) % 98 == 49, np.roll(w, 49), w),
}


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_refuses_what_it_is_for(sequences, check):
    assert refused(check(PLANTED[check](sequences["single"])))


@pytest.mark.parametrize("name", ["control: congruential", "control: streams 128 apart"])
def test_bad_generators_are_refused(sequences, name):
    refusing = [check.__name__ for check in CHECKS if refused(check(sequences[name]))]
    assert len(refusing) >= 2, refusing


def test_counting_refuses_wrong_draws(program):
    for make in counts.controls(program, 10**6).values():
        assert any(row["assessment"] == "FAILED" for row in make())
