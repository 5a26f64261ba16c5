"""What must not matter? Numbers of resources, names of groups, the absent, and other societies.

Bits are compared. Where chance comes in, renumbering cannot give the same bits: a tie is broken by
the k-th of the best in order of number, so other numbers mean another resource. Then resources are
only alike on average, which tests/statistics/test_draws.py holds. Without ties the bits are held
here.
"""

import numpy as np
import pytest
from engines import ReferenceEngine

from reference_py.economy import trading
from reference_py.economy.state import STATE
from societies import config_from_dict
from societies.economy.parameters import parameters

DAYS = 10


def started(days=DAYS, **settings):
    """Return the reference before day 1."""
    config = config_from_dict(
        {
            "workload": "economy",
            "agents": 6,
            "resources": 8,
            "days": days,
            "seed": 11,
            "utility": {"min_marginal": 20.0},
            **settings,
        }
    )
    engine = ReferenceEngine(parameters(config))
    engine.start()
    return engine


def final(days=DAYS, **settings):
    """Return the state of the reference after a number of days."""
    engine = started(days, **settings)
    engine.run_days(1, days)
    return engine.state()


def assert_same(found, expected, names=None, *, agents=slice(None)):
    for name in names or [one for one, field in STATE.items() if field.checkpointed]:
        field = STATE[name]
        of_agents = field.dims[:1] == ("agent",)
        a, b = (x[name][:, agents] if of_agents else x[name] for x in (found, expected))
        assert a.tobytes() == b.tobytes(), name


OF_AGENT = [name for name, field in STATE.items() if field.dims[:1] == ("agent",)]


def test_renumbering_resources_renumbers_the_results(endow):
    """Nothing is a tie here: all curves differ, none ends, and values are fresh.

    Consumption draws from places that depend on the number; with an endless lifetime it does not.
    """
    rng = np.random.default_rng(4)
    scale, other = rng.uniform(400, 800, (2, 8))
    most = rng.uniform(8, 10, 8)

    def run(places, **settings):
        engine = started(
            utility={"scale": scale[places].tolist(), "min_marginal": 2.0},
            extraction={"max_effort": most[places].tolist()},
            consumption={"resource_lifetime": 1e12},
            groups=[
                {"name": "we", "count": 3, "utility": {"scale": other[places].tolist()}},
                {"name": "they", "count": 3},
            ],
            **settings,
        )
        state = endow(engine)
        for name in ("held", "experience", "value"):
            state[name] = state[name][..., places]
        engine.load(state)
        engine.run_days(1, 6)
        return engine.state()

    market = {"fresh_values": True, "menu_size": 3}
    order = rng.permutation(8)
    plain, renumbered = run(np.arange(8), trading=market), run(order, trading=market)
    for name in ("held", "experience", "value", "extracted"):
        assert np.array_equal(plain[name][..., order], renumbered[name]), name
    for name in ("minutes", "gain_per_minute", "units_extracted", "units_held", "stream"):
        assert np.array_equal(plain[name], renumbered[name]), name
    alone = run(np.arange(8), trade=False)  # it means little unless they traded
    assert not np.array_equal(alone["held"], plain["held"])


@pytest.mark.parametrize("sizes", [(6,), (1, 5), (2, 2, 2), (1,) * 6])
def test_groups_of_equals_change_nothing(sizes):
    """Not a bit, whether their values are left out or written out."""
    groups = [{"name": f"group {i}", "count": n} for i, n in enumerate(sizes)]
    groups[-1] |= {
        "utility": {"scale": 600.0, "exponent": [2.5] * 8},
        "extraction": {"max_effort": 9.0, "min_effort": 3.0, "max_experience": 600.0},
        "consumption": {"resource_lifetime": 5.0},
        "trade_power": 1.0,
    }
    assert_same(final(groups=groups), final())


def test_an_agent_removed_at_once_is_one_that_never_meets_any_agent(monkeypatch):
    """To the others it makes no difference, not a bit, whether it is gone or a hermit."""
    gone = final(shocks=[{"day": 0, "remove": "agent", "index": 2}])
    meet = trading.meet

    def shunning(p, s, a, b):
        if 2 not in (a, b):
            meet(p, s, a, b)

    monkeypatch.setattr(trading, "meet", shunning)
    hermit = final()
    others = [0, 1, 3, 4, 5]
    assert_same(gone, hermit, OF_AGENT, agents=others)
    assert hermit["utility"][0, 2] > 0 == gone["utility"][0, 2]
    for name, field in STATE.items():
        if field.of_agent and name != "alive":
            assert np.all(gone[name][0, 2] == field.initial), name


def test_without_trade_the_others_do_not_exist():
    """Streams belong to agents: five are the first five of six, and each is itself alone."""
    six = final(trade=False)
    assert_same(final(trade=False, agents=5), six, OF_AGENT, agents=slice(0, 5))
    gone = final(trade=False, shocks=[{"day": 0, "remove": "agent", "index": 5}])
    assert_same(gone, six, OF_AGENT, agents=slice(0, 5))
    assert_same(final(trade=False, agents=1), six, OF_AGENT, agents=slice(0, 1))


def test_the_order_of_shocks_of_a_day_does_not_matter_unless_they_are_drawn():
    shocks = [
        {"day": 3, "remove": "agent", "index": 2},
        {"day": 3, "remove": "resource", "index": 1, "holdings": "lose"},
        {"day": 3, "remove": "resource", "index": 5, "holdings": "keep"},
    ]
    names = [name for name, field in STATE.items() if field.checkpointed and name != "shock_target"]
    assert_same(final(shocks=shocks[::-1]), final(shocks=shocks), names)


def test_what_is_scheduled_for_later_does_not_matter_yet():
    """A random shock draws from a stream of its own."""

    def day_before_last(shocks):
        engine = started(shocks=shocks)
        engine.run_days(1, DAYS - 1)
        return engine.state()

    later = [{"day": DAYS, "remove": what, "index": "random"} for what in ("agent", "resource")]
    names = [
        name
        for name, field in STATE.items()
        if field.checkpointed and name not in ("shock_target", "stream")
    ]
    assert_same(day_before_last(later), day_before_last([]), names)


def test_societies_and_agents_live_unlike_lives():
    """Equal chances, not equal luck: no agent is a copy of another."""
    state = final(replicates=3)
    lives = state["experience"].reshape(18, 8)
    assert len({life.tobytes() for life in lives}) == 18
    other = final(seed=12)
    assert not np.array_equal(other["held"], state["held"][:1])
