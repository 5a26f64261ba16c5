"""MWC64X: recorded vectors, the algebra of skipping, and device equal to twin draw for draw."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reference_py.primitives.rng import BASE, ORBIT, A, M, Rng, binomial_reserve, stream_base
from societies.opencl import Program

words64 = st.integers(0, 2**64 - 1)
ORIGIN = (0, 1)  # x, c

# seed(base, gap, id): the first outputs in hexadecimal (device-layer.md, B.5)
STREAMS = {
    (0, 2**40, 0): "20a2560d d146afe4 60019cef 1fcba09b 6325cd10 274e1545 9dec5f04 3fa8c4d9"
    " 3a904911 198d6a66 643d576c 3c7d7edc 3078b4b7 bb14ec4b 01856ebc 2dba4253",
    (0, 2**40, 1): "457f1f00 4bee49c2 6baaa2e5 4351b2d3 96ec57bd 712debaa a596e738 4d2a0e0b"
    " 997d3b2f d3cb46b7 8d4e0432 4ffe4935 911cc221 300e4d0e 72ae0daa e1c78b8a",
    (0, 2**40, 2): "33493da8 f3004eb8 4179544f 39a0e0ed d5a80b9d d4256122 fa4d5738 ad53f90f"
    " 17c55f2d 6e969aef ef5ffae4 beee799a 494a0a9b f872fad7 67bc08f1 0548d617",
    (0, 2**40, 255): "b8962808 10abda3b 6628bd2a 3c206516 98d65d9f 844e3eda 4c8df2de e91b5f0d"
    " 365809b9 8b7e9ffe cad1cea6 6726f855 5709512c 539770eb 1704ee05 18358fcf",
    (12345, 128, 0): "24545a84 cb5b1224 6d947f1b 045be368 f5a0f5f6 e3074b49 6b860ad0 706e9639"
    " 534602b5 a201b205 698be65d 3ed0ca70 e0344d13 fa670609 cdd763e9 e493dac3",
    (12345, 128, 1): "3725181b 1e021e4c 28901873 1ffea254 94975e53 0cadf4ab 5614679b 2ac63475"
    " e912f8e1 d66d445b e7a7e4c9 21cf8521 a2f0e204 64ddf1c9 6b33aa7a b8e1a06b",
    (2**63, 2**20, 7): "26143587 42283c9a 57ba6030 61a94af5 9a11eb0e 83726cb6 a2f186ea b3e5ff03"
    " 1a10bfc1 8ac13018 b43a4ea5 1ddc77bc b5da65fd fd3b105e f419a5fc a260bcf6",
}
FROM_ORIGIN = (
    "00000001 00000001 fffeb81b 5c07a2ee 4eb1a5cb 52216fa5 5ce52f5d 99d264cf"
    " 175940cf 431deb8e ed7c5729 39097453 eb53c1bc 43e9a2ef be7f6454 d20182f9"
)
STATES = {0: (949352540, 406302289), 1: (10436854, 1172332534)}  # of the first two streams
SKIPS = {  # from x = 0, c = 1
    1: (1, 0, "00000001 fffeb81b 5c07a2ee 4eb1a5cb"),
    2: (4294883355, 0, "fffeb81b 5c07a2ee 4eb1a5cb 52216fa5"),
    3: (2751124185, 4294799415, "5c07a2ee 4eb1a5cb 52216fa5 5ce52f5d"),
    16: (1550798425, 1051531049, "62c25970 3e668578 6b8bf844 c308ec19"),
    1000: (2995422583, 2741494496, "11ed6797 4f8adea5 1aee741c 4948a6e1"),
    65536: (3840199754, 3760407993, "04c789f3 3a65a69a 75943cd9 ff179b3e"),
    2**32: (2563046449, 1118294348, "da632d7d 648b9af3 d14fbc5d 7d92237b"),
    2**40: (2191702115, 3277497863, "41f81e64 8ce75169 47133388 3d10f77e"),
    2**63 - 1: (514290515, 3724551269, "c0a75736 9341ba36 a744d277 eb46c33d"),
    2**64 - 1: (3596682146, 733460054, "fdd6b5f4 ad147960 6bc61ef1 b075ed6c"),
}


UNIFORMS = [0.12747705591831238, 0.3750246101930801, 0.38729554529141785]  # of seed(0, 2**40, 0)
BELOW = {
    6: [0, 4, 2, 0, 2, 0, 3, 1, 1, 0, 2, 1, 1, 4, 0, 1],
    48: [6, 39, 18, 5, 18, 7, 29, 11, 10, 4, 18, 11, 9, 35, 0, 8],
    3000000000: [382431158, 2452454547, 1161886643, 460605609, 1850663962, 746006878],
}
MILLION = (2146360717415282, 1139572108, 194321394)  # sum of the first 10**6 words; x, c after


@pytest.fixture(scope="module")
def program(device):
    return Program(device, Path(__file__).parent / "rng_cases.cl")


def run(device, program, name, **arguments):
    """Launch a kernel over all cases and return its arrays as NumPy arrays."""
    arrays = {
        key: device.array(value)
        for key, value in arguments.items()
        if isinstance(value, np.ndarray)
    }
    program.kernel(name)(global_size=arguments["cases"], local_size=64, **{**arguments, **arrays})
    return {key: array.get() for key, array in arrays.items()}


def uint64(values):
    return np.array(values, dtype=np.uint64)


def outputs(device, program, states, count):
    result = run(
        device,
        program,
        "outputs",
        states=uint64(states),
        cases=len(states),
        count=count,
        words=np.zeros(len(states) * count, np.uint32),
    )
    return result["words"].reshape(len(states), count).tolist(), result["states"].tolist()


def parsed(text):
    return [int(word, 16) for word in text.split()]


# ------------------------------------------------------------------------------ recorded vectors


def test_twin_gives_the_recorded_words():
    rng = Rng(*ORIGIN)
    assert [rng.next() for _ in range(16)] == parsed(FROM_ORIGIN)
    for place, text in STREAMS.items():
        rng = Rng.seed(*place)
        if place[:2] == (0, 2**40) and place[2] in STATES:
            assert (rng.x, rng.c) == STATES[place[2]]
        assert [rng.next() for _ in range(16)] == parsed(text)


def test_twin_skips_to_the_recorded_states():
    for distance, (x, c, text) in SKIPS.items():
        rng = Rng(*ORIGIN)
        rng.skip(distance)
        assert (rng.x, rng.c) == (x, c)
        assert [rng.next() for _ in range(4)] == parsed(text)


def test_twin_gives_the_recorded_derived_draws():
    rng = Rng.seed(0, 2**40, 0)
    assert [rng.uniform() for _ in UNIFORMS] == UNIFORMS
    for n, expected in BELOW.items():
        rng = Rng.seed(0, 2**40, 0)
        assert [rng.below(n) for _ in expected] == expected
    # the large n rejects: 16 values take 24 words
    rng = Rng.seed(0, 2**40, 0)
    for _ in range(16):
        rng.below(3000000000)
    after = Rng.seed(0, 2**40, 0)
    after.skip(24)
    assert rng.pack() == after.pack()


def test_streams_of_a_seed_begin_where_they_do_for_the_twin(device, program):
    seeds = uint64([0, 1, 2, 12345, 2**63, 2**64 - 1])
    found = run(device, program, "bases", seeds=seeds, cases=len(seeds))["seeds"]
    assert found.tolist() == [stream_base(int(seed)) for seed in seeds]
    assert max(found.tolist()) < ORBIT


def test_device_gives_the_recorded_words_and_states(device, program):
    places = list(STREAMS)
    base, gap, ident = (uint64(column) for column in zip(*places, strict=True))
    seeded = run(
        device,
        program,
        "seeds",
        base=base,
        gap=gap,
        id=ident,
        cases=len(places),
        states=np.zeros(len(places), np.uint64),
    )["states"].tolist()
    words, _ = outputs(device, program, [*seeded, Rng(*ORIGIN).pack()], 16)
    assert words == [parsed(text) for text in [*STREAMS.values(), FROM_ORIGIN]]

    states = uint64([Rng(*ORIGIN).pack()] * len(SKIPS))
    skipped = run(
        device, program, "skips", states=states, steps=uint64(list(SKIPS)),
        cases=len(SKIPS),
    )["states"].tolist()  # fmt: skip
    assert skipped == [x | c << 32 for x, c, _ in SKIPS.values()]
    assert outputs(device, program, skipped, 4)[0] == [parsed(t) for _, _, t in SKIPS.values()]


def test_device_sums_a_million_words(device, program):
    states = device.array(uint64([Rng.seed(0, 2**40, 0).pack()]))
    total = device.zeros(1, np.uint64)
    program.sum_of_words(state=states, count=10**6, sum=total, global_size=1, local_size=1)
    total_expected, x, c = MILLION
    assert int(total.get()[0]) == total_expected
    assert int(states.get()[0]) == x | c << 32


def test_twin_sums_a_million_words():
    rng, skipped = Rng.seed(0, 2**40, 0), Rng.seed(0, 2**40, 0)
    assert (sum(rng.next() for _ in range(10**6)), rng.x, rng.c) == MILLION
    skipped.skip(10**6)
    assert skipped.pack() == rng.pack()


def test_device_gives_the_recorded_derived_draws(device, program):
    for n, expected in BELOW.items():
        below, uniform = device.zeros(len(expected), np.uint32), device.zeros(len(expected))
        program.successive(
            state=Rng.seed(0, 2**40, 0).pack(), n=n, count=len(expected), below=below,
            uniform=uniform, global_size=1, local_size=1,
        )  # fmt: skip
        assert below.get().tolist() == expected
        assert uniform.get()[: len(UNIFORMS)].tolist() == UNIFORMS


# ------------------------------------------------------------------------------ states and skips


@given(seed=words64, distance=st.integers(0, 4095))
@settings(max_examples=30)
def test_skip_equals_as_many_draws(seed, distance):
    drawn, skipped = Rng.seed(seed, 0, 0), Rng.seed(seed, 0, 0)
    for _ in range(distance):
        drawn.next()
    skipped.skip(distance)
    assert drawn.pack() == skipped.pack()


@given(a=st.integers(0, 2**63 - 1), b=st.integers(0, 2**63 - 1), base=st.integers(0, 2**32))
def test_skips_add_up(a, b, base):
    twice, once, seeded = Rng.seed(base, 3, 5), Rng.seed(base, 3, 5), Rng.seed(base + b, 3, 5)
    twice.skip(a)
    twice.skip(b)
    once.skip(a + b)
    assert twice.pack() == once.pack()
    seeded.skip(a)
    assert seeded.pack() == once.pack()


def test_every_orbit_has_half_of_all_states():
    """(M - 1) / 2 passes Fermat's test of a prime p, and the step A has order p."""
    p = (M - 1) // 2
    assert p == 9223191774929879039
    assert all(pow(base, p - 1, p) == 1 for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))
    assert A != 1
    assert pow(A, p, M) == 1


@given(base=words64, gap=st.integers(1, 300), streams=st.integers(2, 6))
@settings(max_examples=30)
def test_streams_meet_after_a_gap_and_not_before(base, gap, streams):
    base %= 2**62  # the orbit ends before 2**63
    rngs = [Rng.seed(base, gap, i) for i in range(streams)]
    following = [Rng.seed(base, gap, i + 1).pack() for i in range(streams)]
    seen = set()
    for _ in range(gap):
        seen |= {rng.pack() for rng in rngs}
        for rng in rngs:
            rng.next()
    assert len(seen) == gap * streams
    assert [rng.pack() for rng in rngs] == following


def test_states_that_never_move_are_refused():
    for x, c in [(0, 0), (2**32 - 1, A - 1)]:
        with pytest.raises(ValueError, match="never moves"):
            Rng(x, c)
    for x, c in [(-1, 0), (2**32, 1), (1, 2**32)]:
        with pytest.raises(ValueError, match="32-bit"):
            Rng(x, c)
    assert Rng.load(Rng(5, 6).pack()).pack() == 5 | 6 << 32


@given(st.lists(st.tuples(words64, words64, words64, words64), min_size=1, max_size=40))
@settings(max_examples=25)
def test_device_seeds_and_skips_like_the_twin(device, program, places):
    base, gap, ident, distance = (uint64(column) for column in zip(*places, strict=True))
    cases = len(places)
    states = run(
        device, program, "seeds", base=base, gap=gap, id=ident, cases=cases,
        states=np.zeros(cases, np.uint64),
    )["states"]  # fmt: skip
    moved = run(device, program, "skips", states=states, steps=distance, cases=cases)
    twins = [Rng.seed(b, g, i) for b, g, i, _ in places]
    assert states.tolist() == [rng.pack() for rng in twins]
    for rng, (_, _, _, d) in zip(twins, places, strict=True):
        rng.skip(d)
    assert moved["states"].tolist() == [rng.pack() for rng in twins]


def test_modular_product_at_its_bounds(device, program):
    """Montgomery product a b / 2^64 modulo M, with the factors at which its bounds are tight."""
    inverse = pow(2**64, -1, M)
    edge = [0, 1, 2, A, A - 1, BASE, 2**32 - 1, 2**32, 2**63, M - 2**32, M - 2, M - 1]
    pairs = [(a, b) for a in [*edge, M, M + 1, 2**64 - 1] for b in edge]
    generator = np.random.default_rng(7)
    pairs += [(int(a), int(b) % M) for a, b in generator.integers(0, 2**64, (2000, 2), np.uint64)]
    a, b = (uint64(column) for column in zip(*pairs, strict=True))
    cases = len(pairs)
    result = run(
        device, program, "products", a=a, b=b, cases=cases,
        result=np.zeros(cases, np.uint64),
    )["result"].tolist()  # fmt: skip
    assert result == [x * y * inverse % M for x, y in pairs]


# ------------------------------------------------------------------------------ derived draws

counts = st.one_of(
    st.integers(0, 70), st.integers(0, 2**16), st.integers(0, 2**32 - 1), st.just(2**31 + 1)
)
thresholds = st.one_of(
    st.integers(0, 2**32),
    st.sampled_from([0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**32 // 5, 3 * 2**30]),
)


@given(st.lists(st.tuples(words64, counts, thresholds), min_size=1, max_size=20))
@settings(max_examples=40)
def test_device_draws_like_the_twin(device, program, cases):
    twins = [Rng.seed(seed, 0, 0) for seed, _, _ in cases]
    result = run(
        device,
        program,
        "draws",
        states=uint64([rng.pack() for rng in twins]),
        n=np.array([n for _, n, _ in cases], np.uint32),
        threshold=uint64([t for _, _, t in cases]),
        cases=len(cases),
        below=np.zeros(len(cases), np.uint32),
        uniform=np.zeros(len(cases), np.float64),
        success=np.zeros(len(cases), np.int32),
        successes=np.zeros(len(cases), np.uint32),
        reserve=np.zeros(len(cases), np.uint32),
        spaced=np.zeros(len(cases), np.uint32),
    )
    for i, (rng, (_, n, threshold)) in enumerate(zip(twins, cases, strict=True)):
        assert result["below"][i] == rng.below(n)
        assert result["uniform"][i] == rng.uniform()
        assert result["success"][i] == rng.bernoulli(threshold % 2**32)
        assert result["successes"][i] == rng.binomial(n % 2**16, threshold)
        assert result["reserve"][i] == binomial_reserve(n % 2**31)
        assert result["spaced"][i] == rng.binomial_spaced(n % 2**16, threshold)
        assert result["states"][i] == rng.pack()


def test_nothing_to_choose_draws_nothing():
    rng = Rng.seed(3, 0, 0)
    before = rng.pack()
    assert rng.below(0) == rng.below(1) == 0
    with pytest.raises(ValueError, match=r"more than 2\*\*32 - 1"):
        rng.below(2**32)
    for n in (0, 3, 8, 9, 1000):
        assert rng.binomial(n, 0) == 0
        assert rng.binomial(n, 2**32) == n
    assert rng.pack() == before


@pytest.mark.parametrize("n", [2, 3, 6, 48, 1000, 3 * 2**30])
def test_integers_below_are_uniform(device, program, n):
    values = run(
        device, program, "integers_below", base=11, n=n, cases=60000,
        values=np.zeros(60000, np.uint32),
    )["values"]  # fmt: skip
    assert values.max() < n
    bins = min(n, 100)
    observed = np.bincount((values.astype(np.uint64) * bins // n).astype(int), minlength=bins)
    expected = np.array([-(-(k + 1) * n // bins) - -(-k * n // bins) for k in range(bins)]) / n
    assert stats.chisquare(observed, expected * 60000).pvalue > 1e-3


# ------------------------------------------------------------------------------ binomial


class Tape:
    """A stream that remembers the words it gave."""

    def __init__(self, seed):
        self.rng = Rng.seed(seed, 0, 0)
        self.words = []

    def next(self):
        self.words.append(self.rng.next())
        return self.words[-1]

    binomial = Rng.binomial
    _ones = Rng._ones


@given(words64, st.integers(9, 300), thresholds.filter(lambda t: t < 2**32))
def test_bit_planes_compare_every_trial_with_the_threshold(seed, n, threshold):
    """Deal the same bits to named trials: successes are the trials below the threshold.

    Bits that no word decided may be anything: whatever they are, the outcome is the same.
    """
    tape = Tape(seed)
    successes = tape.binomial(n, threshold)
    words = iter(tape.words)
    bits = [0] * n  # of each trial, the high ones that were dealt
    undecided = list(range(n))
    left = threshold
    depth = 0
    while undecided and left % 2**32:
        dealt = []
        for start in range(0, len(undecided), 32):
            word = next(words)
            dealt += [word >> i & 1 for i in range(min(32, len(undecided) - start))]
        depth += 1
        for trial, bit in zip(undecided, dealt, strict=True):
            bits[trial] |= bit << (32 - depth)
        undecided = [t for t in undecided if bits[t] >> (32 - depth) == threshold >> (32 - depth)]
        left = left * 2
    assert next(words, None) is None
    assert successes == sum(b < threshold for b in bits)
    for t in undecided:  # equal so far: no low bits could bring them below
        assert bits[t] >= threshold


@given(words64, st.integers(0, 2000), thresholds)
def test_binomial_stays_within_its_reserve(seed, n, threshold):
    tape = Tape(seed)
    assert 0 <= tape.binomial(n, threshold) <= n
    assert len(tape.words) <= binomial_reserve(n)


@given(words64, st.integers(0, 2000), thresholds)
def test_spaced_binomials_begin_where_the_reserve_of_those_before_ends(seed, n, threshold):
    spaced, plain = Rng.seed(seed, 0, 0), Rng.seed(seed, 0, 0)
    at = Rng.load(plain.pack())
    assert spaced.binomial_spaced(n, threshold) == plain.binomial(n, threshold)
    at.skip(binomial_reserve(n))
    assert spaced.pack() == at.pack()


@pytest.mark.parametrize("p", [0.2, 0.5, 1 / 3, 0.97, 0.001])
@pytest.mark.parametrize("n", [1, 5, 8, 9, 31, 32, 33, 100, 1000])
def test_binomial_has_the_exact_distribution(device, program, n, p):
    samples = 20000
    threshold = int(p * 2**32)
    drawn = run(
        device, program, "binomials", base=2**50 + n, n=n, threshold=threshold,
        cases=samples, successes=np.zeros(samples, np.uint32),
    )["successes"]  # fmt: skip
    probability = stats.binom.pmf(np.arange(n + 1), n, threshold / 2**32)
    observed = np.bincount(drawn, minlength=n + 1)
    assert len(observed) == n + 1
    # merge neighbouring outcomes until each bin expects at least 10
    bins = np.minimum((np.cumsum(probability) - probability / 2) * samples // 25, samples)
    _, bins = np.unique(bins, return_inverse=True)
    f_obs, f_exp = np.bincount(bins, observed), np.bincount(bins, probability * samples)
    while len(f_exp) > 1 and f_exp.min() < 10:
        i = int(f_exp.argmin())
        j = i - 1 if i > 0 else 1
        f_obs[j] += f_obs[i]
        f_exp[j] += f_exp[i]
        f_obs, f_exp = np.delete(f_obs, i), np.delete(f_exp, i)
    if len(f_exp) > 1:
        p_value = stats.chisquare(f_obs, f_exp * f_obs.sum() / f_exp.sum()).pvalue
    else:  # all in one bin: nearly certain outcome; count the rare one
        p_value = stats.binomtest(int(drawn.sum()), n * samples, threshold / 2**32).pvalue
    assert p_value > 1e-4


@pytest.mark.parametrize("p", [0.2, 0.5, 0.999, 1e-5])
def test_large_binomial_has_mean_and_variance(device, program, p):
    n, samples = 100_000, 2000
    threshold = round(p * 2**32)
    exact = threshold / 2**32
    drawn = run(
        device, program, "binomials", base=99, n=n, threshold=threshold, cases=samples,
        successes=np.zeros(samples, np.uint32),
    )["successes"].astype(float)  # fmt: skip
    mean, variance = n * exact, n * exact * (1 - exact)
    kurtosis = (1 - 6 * exact * (1 - exact)) / variance
    assert abs(drawn.mean() - mean) < 4 * np.sqrt(variance / samples)
    assert abs(drawn.var() - variance) < 4 * variance * np.sqrt((2 + kurtosis) / samples)
