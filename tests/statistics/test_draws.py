"""Are the draws of the economy what they should be in distribution? As the device makes them.

The model has four: the pairings of a round, one among equally good resources, consumption, and what
a random shock removes. Seeds are fixed, so that a test gives the same answer every time; a
threshold of 1e-4 on the p-value is one that a right program passes with 9999 of 10000 seeds.
"""

from itertools import combinations

import numpy as np
import pytest
from engines import DeviceEngine, ReferenceEngine
from scipy import stats

from reference_py.economy.streams import PURPOSES
from reference_py.primitives.rng import STREAM_GAP, Rng
from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.schedule import DayStep
from societies.opencl import choose_device

AGENTS, RESOURCES, SOCIETIES, ROUNDS = 20, 7, 400, 12
LIFETIMES = ([5.0, 2.0, 1.25, 5.0, 10.0, 1.5, 40.0], [3.0, 5.0, 5.0, 1.0, 20.0, 7.0, 2.5])
UNITS = [2, 3, 8, 9, 40, 100, 600]  # by resource; 8 and 9 lie on both sides of a change of method
UNLIKELY = 1e-4


@pytest.fixture(scope="module")
def engine():
    config = config_from_dict(
        {
            "workload": "economy",
            "agents": AGENTS,
            "resources": RESOURCES,
            "days": 3,
            "seed": 11,
            "replicates": SOCIETIES,
            "day_length": 20.0,  # three units of 9 minutes
            "trading": {"rounds": ROUNDS},
            "groups": [
                {"name": f"group {i}", "count": 10, "consumption": {"resource_lifetime": life}}
                for i, life in enumerate(LIFETIMES)
            ],
            "shocks": [
                {"day": 3, "remove": "agent", "index": 4},
                {"day": 3, "remove": "agent", "index": "random"},
                {"day": 3, "remove": "agent", "index": "random"},
                {"day": 3, "remove": "resource", "index": "random"},
                {"day": 3, "remove": "resource", "index": 2},
                {"day": 3, "remove": "resource", "index": "random"},
            ],
        }
    )
    result = DeviceEngine(choose_device("auto"), parameters(config))
    result.start()
    return result


def uniform(counts):
    """Return the p-value of counts that should be alike."""
    return stats.chisquare(counts).pvalue


# -- pairings --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rounds(engine):
    """Return the orders of 2 market calls, (society, call, round, position)."""
    orders = []
    for _ in range(2):
        engine.step(DayStep("matching"), 1)
        orders.append(engine.state()["partners"])
    return np.stack(orders, axis=1)


def test_a_round_is_a_permutation(rounds):
    assert np.array_equal(
        np.sort(rounds, axis=-1), np.broadcast_to(np.arange(AGENTS), rounds.shape)
    )


def test_every_agent_is_in_every_place_equally_often(rounds):
    flat = rounds.reshape(-1, AGENTS)
    counts = np.zeros((AGENTS, AGENTS))
    for place in range(AGENTS):
        counts[place] = np.bincount(flat[:, place], minlength=AGENTS)
    # Rows and columns have fixed sums, which makes the sum of squares (n - 1) / n of chi-square's
    # with (n - 1) ** 2 degrees of freedom.
    expected = len(flat) / AGENTS
    statistic = (AGENTS - 1) / AGENTS * ((counts - expected) ** 2 / expected).sum()
    assert UNLIKELY < stats.chi2.sf(statistic, (AGENTS - 1) ** 2) < 1 - UNLIKELY


def pairs_of(rounds):
    """Return one number per pair of a round, (round, pair), the same for both proposers."""
    flat = rounds.reshape(-1, AGENTS)
    a, b = flat[:, 0::2], flat[:, 1::2]
    return np.minimum(a, b) * AGENTS + np.maximum(a, b)


def test_every_pair_meets_equally_often(rounds):
    pairs = pairs_of(rounds)
    counts = np.bincount(pairs.ravel(), minlength=AGENTS**2).reshape(AGENTS, AGENTS)
    counts = counts[np.triu_indices(AGENTS, 1)]
    # Each agent is in one pair of a round, which ties the counts: of the n (n - 1) / 2 - 1 degrees
    # of freedom n (n - 3) / 2 remain, each stretched by (n - 2) / (n - 3).
    expected = len(pairs) / (AGENTS - 1)
    statistic = (AGENTS - 3) / (AGENTS - 2) * ((counts - expected) ** 2 / expected).sum()
    degrees = AGENTS * (AGENTS - 3) // 2
    assert UNLIKELY < stats.chi2.sf(statistic, degrees) < 1 - UNLIKELY


@pytest.mark.parametrize("apart", ["rounds", "calls", "societies"])
def test_who_met_before_is_forgotten(rounds, apart):
    """Pairs common to two rounds: n / 2 / (n - 1) on average, as chance alone has it."""
    if apart == "rounds":
        first, second = rounds[:, :, :-1], rounds[:, :, 1:]
    elif apart == "calls":
        first, second = rounds[:, 0], rounds[:, 1]
    else:
        first, second = rounds[:-1], rounds[1:]
    one, two = pairs_of(first), pairs_of(second)
    common = (one[:, :, None] == two[:, None, :]).sum(axis=(1, 2))
    half = AGENTS / 2
    mean = half / (AGENTS - 1)
    variance = half * (half - 1) / ((AGENTS - 1) * (AGENTS - 3)) + mean - mean**2
    z = (common.mean() - mean) / np.sqrt(variance / len(common))
    assert abs(z) < 3.9  # p = 1e-4


# -- ties ------------------------------------------------------------------------------------------


def test_ties_are_broken_uniformly_on_the_first_day(engine):
    """Three units of 7 equally good resources: every 3 of 7 for a third of 1/35 of the agents."""
    engine.start()
    engine.step(DayStep("extraction"), 1)
    extracted = engine.state()["extracted"].reshape(-1, RESOURCES)
    assert np.all(extracted.sum(axis=1) == 3)
    assert extracted.max() == 1
    chosen = extracted @ (1 << np.arange(RESOURCES))
    subsets = [sum(1 << r for r in triple) for triple in combinations(range(RESOURCES), 3)]
    counts = [(chosen == subset).sum() for subset in subsets]
    assert uniform(counts) > UNLIKELY

    # Neighbours, in a society and between societies, choose alike as often as chance has it.
    choice = chosen.reshape(SOCIETIES, AGENTS)
    for same in (choice[:, 1:] == choice[:, :-1], choice[1:] == choice[:-1]):
        assert stats.binomtest(int(same.sum()), same.size, 1 / 35).pvalue > UNLIKELY


# -- consumption -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def consumed(engine):
    """Return units consumed in two nights, each from UNITS: (night, society, agent, resource)."""
    engine.start()
    nights = []
    for _ in range(2):
        state = engine.state()
        state["held"] = np.broadcast_to(np.array(UNITS, np.int32), state["held"].shape).copy()
        engine.load(state)
        engine.step(DayStep("consumption"), 1)
        nights.append(UNITS - engine.state()["held"])
    return np.array(nights)


@pytest.mark.parametrize("resource", range(RESOURCES))
@pytest.mark.parametrize("group", [0, 1])
def test_consumption_is_binomial(consumed, group, resource):
    """With the lifetime of the agent's group and the resource, by counts of every outcome."""
    sample = consumed[:, :, 10 * group : 10 * group + 10, resource].ravel()
    n, p = UNITS[resource], 1 / LIFETIMES[group][resource]
    if p == 1:
        assert np.all(sample == n)
        return
    expected = stats.binom.pmf(np.arange(n + 1), n, p) * len(sample)
    observed = np.bincount(sample, minlength=n + 1)
    assert len(observed) == n + 1
    # Outcomes too rare for chi-square are counted together with their neighbours.
    groups = np.minimum((np.cumsum(expected) - expected / 2) // 20, (len(sample) - 20) // 20)
    _, group_of = np.unique(groups, return_inverse=True)
    expected, observed = np.bincount(group_of, expected), np.bincount(group_of, observed)
    assert expected.min() > 5
    assert stats.chisquare(observed, expected).pvalue > UNLIKELY / 10  # of 13 tests


def test_consumption_of_one_says_nothing_about_another(consumed):
    """No correlation between resources, agents, societies or nights: none reads another's draws."""
    lives = np.repeat(LIFETIMES, 10, axis=0)  # (agent, resource)
    mean, spread = UNITS / lives, np.sqrt(UNITS / lives * (1 - 1 / lives))
    spread[spread == 0] = np.inf  # a lifetime of one day
    z = (consumed - mean) / spread
    for one, two in [
        (z[..., 1:], z[..., :-1]),
        (z[:, :, 1:], z[:, :, :-1]),
        (z[:, 1:], z[:, :-1]),
        (z[1], z[0]),
    ]:
        product = one * two
        assert abs(product.sum()) < 3.9 * np.sqrt(np.count_nonzero(product))


# -- shocks ----------------------------------------------------------------------------------------


def test_random_shocks_are_uniform_over_what_is_left(engine):
    engine.start()
    target = engine.state()["shock_target"]
    assert np.all(target[:, 0] == 4)
    assert np.all(target[:, 4] == 2)
    agents, resources = target[:, :3], target[:, 3:]
    for drawn, count in ((agents, AGENTS), (resources, RESOURCES)):
        assert np.all((drawn >= 0) & (drawn < count))
        assert np.all(np.diff(np.sort(drawn, axis=1), axis=1) > 0), "the same one twice"
    fixed_and_count = {1: (4, AGENTS), 2: (4, AGENTS), 3: (2, RESOURCES), 5: (2, RESOURCES)}
    for column, (fixed, count) in fixed_and_count.items():
        counts = np.delete(np.bincount(target[:, column], minlength=count), fixed)
        assert uniform(counts) > UNLIKELY
    # All pairs of the two drawn resources: 6 x 5.
    both = np.bincount(target[:, 3] * RESOURCES + target[:, 5], minlength=RESOURCES**2)
    assert uniform(both[both > 0]) > UNLIKELY
    assert np.count_nonzero(both) == 30


# -- streams ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def words():
    """Return the first words of many streams that could be taken for each other.

    Neighbouring seeds, societies, owners and purposes: a dictionary of (word,) arrays.
    """
    result = {}
    for seed in (0, 1, 2, 3, 2**64 - 1):
        config = config_from_dict(
            {
                "workload": "economy",
                "agents": 2,
                "resources": 2,
                "seed": seed,
                "replicates": 2,
                "days": 1,
            }
        )
        engine = ReferenceEngine(parameters(config))
        engine.start()
        stream = engine.state()["stream"]
        for society in range(2):
            for owner in range(3):
                for purpose in ("extraction", "consumption", "resource_matching"):
                    rng = Rng.load(int(stream[society, owner, PURPOSES[purpose]]))
                    drawn = np.array([rng.next() for _ in range(2048)], dtype=np.uint64)
                    result[seed, society, owner, purpose] = drawn
    return result


def test_no_stream_is_a_shifted_copy_of_another(words):
    """Two words in a row that come again elsewhere: 64 bits do not by chance."""
    seen = {}
    for name, drawn in words.items():
        for window in (drawn[:-1] << np.uint64(32) | drawn[1:]).tolist():
            assert window not in seen, (name, seen[window])
            seen[window] = name


def seed_scattered_to(z):
    """Return the seed that SplitMix64's finaliser takes to z: its steps backwards."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        x = z
        for _ in range(2):
            x = z ^ (x >> shift)
        z = (z ^ (x >> shift)) * pow(factor, -1, 2**64) % 2**64
    return (z - 0x9E3779B97F4A7C15) % 2**64


def test_streams_do_not_meet_at_the_end_of_64_bits():
    """The orbit is shorter than 2**64 draws by 83941 streams and 2 draws, nearly twice round.

    From this seed the fifth stream would be the last before 2**64, if distances went that far.
    """
    seed = seed_scattered_to(2**64 - 5 * STREAM_GAP)
    config = config_from_dict({"workload": "economy", "agents": 2, "days": 1, "seed": seed})
    base = parameters(config).stream_base
    rngs = [Rng.seed(base, STREAM_GAP, number) for number in (0, 83941)]
    first, later = ([rng.next() for _ in range(50)] for rng in rngs)
    assert first[:20] != later[2:22]
    assert not set(first) & set(later)
    # and nothing else has moved: the first stream begins where the seed says
    assert rngs[0].pack() == after(Rng.seed(2**64 - 5 * STREAM_GAP, STREAM_GAP, 0), 50).pack()


def after(rng, draws):
    rng.skip(draws)
    return rng


@pytest.mark.ci
def test_streams_are_not_correlated(words):
    """Neither the numbers nor their bits: 4005 pairs of streams, and every step aside up to 3."""
    uniforms = np.array(list(words.values())) / 2.0**32
    z = (uniforms - 0.5) * np.sqrt(12.0)
    n = z.shape[1]
    for lag in range(4):
        correlation = z[:, : n - lag] @ z[:, lag:].T / np.sqrt(n - lag)
        if lag == 0:
            correlation = correlation[np.triu_indices(len(z), 1)]
        assert np.abs(correlation).max() < 5.6  # p = 2e-8, for 4005 or 8100 pairs
    bits = (
        np.array([np.unpackbits(w.astype("<u4").view(np.uint8)) for w in words.values()]) * 2.0 - 1
    )
    correlation = bits @ bits.T / np.sqrt(bits.shape[1])
    assert np.abs(correlation[np.triu_indices(len(bits), 1)]).max() < 5.6


def test_words_of_a_stream_are_uniform(words):
    """All streams together, by their highest and their lowest byte."""
    drawn = np.concatenate(list(words.values()))
    for byte in (drawn >> np.uint64(24), drawn & np.uint64(255)):
        assert uniform(np.bincount(byte.astype(int), minlength=256)) > UNLIKELY
