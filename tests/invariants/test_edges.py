"""Does the economy hold at its edges: the smallest, the shortest, the most, and the first day?

On the reference, which the device equals in each of these cases (tests/parity).
"""

import math

import numpy as np
import pytest
from engines import ReferenceEngine

from reference_py.economy.extraction import extract
from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.schedule import DayStep, day_schedule
from societies.economy.series import columns

SERIES = columns(devices=False, groups=1)


def engine(agents, resources, days, **settings):
    config = config_from_dict(
        {
            "workload": "economy",
            "agents": agents,
            "resources": resources,
            "days": days,
            "seed": 2,
            "utility": {"min_marginal": 20.0},
            **settings,
        }
    )
    result = ReferenceEngine(parameters(config))
    result.start()
    return result


def series(run, days):
    """Return the series by name, (day,) each, of one society."""
    return dict(zip(SERIES, run.run_days(1, days)[0].T, strict=True))


@pytest.mark.parametrize("trade", [True, False])
def test_on_the_first_day_every_agent_extracts_67_units(trade):
    """The paper's number, at the paper's size; nothing can be traded before."""
    run = engine(48, 48, 1, trade=trade, utility={"min_marginal": 1.0})
    for step in day_schedule(run.parameters, 1):
        before = run.state()
        run.step(step, 1)
        state = run.state()
        if step.phase == "extraction":
            assert not before["held"].any()
            assert not before["deals"].any()
            assert np.all(state["extracted"].sum(axis=2) == 67)
            # 48 first units, and then 19 second ones
            assert np.array_equal(np.unique(state["held"]), [1, 2])
        if step.phase == "society_statistics":
            row = dict(zip(SERIES, state["series"][0], strict=True))
            assert row["units_extracted"] == row["units_held"] == 67
            assert row["gini_extracted"] == 0
            assert row["units_traded"] == 0  # menus of all are the same: no agent remembers values


def test_a_lone_agent_does_not_barter():
    run = engine(1, 2, 12)
    row = series(run, 12)
    assert not row["units_traded"].any()
    assert not row["gini"].any()
    assert np.all(row["utility"] == row["utility_median"])
    assert np.all(row["hhi_4"] == 1.0)  # it is all there is
    assert row["units_extracted"][-1] > row["units_extracted"][0] >= 66


def test_two_agents_and_two_resources_live():
    row = series(engine(2, 2, 12), 12)
    assert np.all(row["units_extracted"] >= 66)
    assert np.all(row["utility"] > 0)


def test_a_menu_of_everything_ends_trade_once_every_agent_holds_everything(endow):
    """Menus that coincide cancel (societies-model.md, Q10). A shorter menu continues trading."""
    for menu_size in (5, 2):
        run = engine(6, 5, 4, trading={"menu_size": menu_size})
        state = endow(run)
        state["held"] += 1
        run.load(state)
        for step in [DayStep("matching"), *(DayStep("trading", i) for i in range(12))]:
            run.step(step, 1)
        traded = run.state()["units_sold"].any()
        assert traded == (menu_size < 5)


def test_holdings_beyond_the_table_add_up():
    """With a floor of 200 util only the first unit lies on the curve."""
    run = engine(4, 3, 10, utility={"min_marginal": 200.0})
    row = series(run, 10)
    assert len(run.parameters.utility_curves[0].marginal) == 1
    held = row["units_held"]
    # 600 for the first of a kind, 200 for every other; few agents lack a kind before consumption
    assert np.all(row["utility"] <= 3 * 600 + 200 * (held - 3) + 1e-6)
    assert np.all(row["utility"] > 200 * held)
    assert held[-1] > 60 > len(run.parameters.utility_curves[0].marginal)


def test_experience_is_capped_at_night_but_not_by_day():
    run = engine(4, 3, 10, extraction={"max_experience": 5})
    p = run.parameters
    seen = []
    for day in range(1, 11):
        for step in day_schedule(p, day):
            before = run.state()
            run.step(step, day)
            state = run.state()
            if step.phase == "extraction":
                assert np.all(state["experience"] <= 5.0)
                seen.append(before["experience"] + state["extracted"])
                # An agent that begins the day with full practice works at the least effort all day.
                full = np.all((before["experience"] == 5.0) | (state["extracted"] == 0), axis=2)
                assert np.all(state["extracted"].sum(axis=2)[full] == 200)
                assert day < 3 or full.any()
    assert np.max(seen) > 5


def test_a_lifetime_of_one_day_means_living_from_hand_to_mouth():
    run = engine(5, 6, 10, consumption={"resource_lifetime": 1.0})
    for day in range(1, 11):
        row = run.run_days(day, day)[0, 0]
        named = dict(zip(SERIES, row, strict=True))
        assert named["units_held"] == named["units_extracted"]
        assert not run.state()["held"].any()


def test_nothing_spoils_with_an_endless_lifetime():
    run = engine(5, 6, 10, consumption={"resource_lifetime": 1e12})
    row = series(run, 10)
    assert np.allclose(row["units_held"], np.cumsum(row["units_extracted"]), rtol=1e-12)


def test_with_a_huge_band_every_resource_is_a_candidate():
    run = engine(
        3,
        7,
        5,
        extraction={"near_best_band": 1e9},
        shocks=[{"day": 0, "remove": "resource", "index": 4}],
    )
    p, s = run.parameters, run.copies_now[0]
    offered = []

    def choose(best):
        offered.append(best)
        return best[len(offered) % len(best)]

    extract(p, s, 0, choose)
    assert len(offered) > 60
    assert all(best == [0, 1, 2, 3, 5, 6] for best in offered)
    narrow = engine(3, 7, 5)
    offered.clear()
    extract(narrow.parameters, narrow.copies_now[0], 0, choose)
    assert min(map(len, offered)) == 1


def test_a_band_takes_in_what_is_near_and_nothing_else():
    run = engine(
        1,
        4,
        1,
        extraction={"near_best_band": 10.0},
        utility={"scale": [600.0, 595.0, 400.0, 599.0], "min_marginal": 20.0},
    )
    seen = []

    def choose(best):
        seen.append(best)
        return best[0]

    extract(run.parameters, run.copies_now[0], 0, choose)
    # Gains per minute at first: 66.8, 66.2, 44.5, 66.7.
    assert seen[0] == [0, 1, 3]


def test_no_rounds_are_no_trade():
    """Bit for bit, streams included."""
    none = engine(6, 7, 8, trading={"rounds": 0})
    never = engine(6, 7, 8, trade=False)
    for run in (none, never):
        run.run_days(1, 8)
    expected = never.checkpointed_state()
    for name, array in none.checkpointed_state().items():
        assert array.tobytes() == expected[name].tobytes(), name


def test_a_day_shorter_than_a_unit_yields_one_unit():
    run = engine(4, 5, 3, day_length=0.001)
    row = series(run, 3)
    assert np.all(row["units_extracted"] == 1)
    assert np.all((row["minutes_hand"] > 8) & (row["minutes_hand"] < 9))


def test_the_last_resource_is_all_there_is():
    run = engine(
        3,
        3,
        6,
        shocks=[
            {"day": 2, "remove": "resource", "index": 0, "holdings": "lose"},
            {"day": 2, "remove": "resource", "index": 2, "holdings": "keep"},
        ],
    )
    run.run_days(1, 6)
    state = run.state()
    assert np.all(state["extracted"][0, :, [0, 2]] == 0)
    assert np.all(state["extracted"][0, :, 1] > 66)
    assert not state["held"][0, :, 0].any()


def test_a_removed_resource_that_is_held_can_still_be_traded(endow):
    """It cannot be extracted, but who has it may part with it."""
    shocks = [{"day": 0, "remove": "resource", "index": 2}]
    run = engine(6, 6, 3, shocks=shocks, consumption={"resource_lifetime": 1e12})
    endow(run)
    moved = 0
    for day in (1, 2, 3):
        for step in day_schedule(run.parameters, day):
            before = run.state()["held"][0, :, 2]
            run.step(step, day)
            after = run.state()["held"][0, :, 2]
            assert step.phase == "trading" or np.array_equal(before, after)
            assert before.sum() == after.sum() > 0
            moved += np.abs(after - before).sum()
    assert moved > 0


def test_the_last_agent_lives_on():
    run = engine(3, 4, 6, shocks=[{"day": 2, "remove": "agent", "index": i} for i in (0, 2)])
    row = series(run, 6)
    assert row["agents_alive"].tolist() == [3, 3, 1, 1, 1, 1]
    assert not row["gini"][2:].any()
    assert not row["units_traded"][2:].any()
    assert np.all(row["utility"][2:] == row["utility_median"][2:])
    assert math.isnan(row["gini_3day"][1])
    assert np.all(row["hhi_4"][2:] == 1.0)


def test_shocks_of_day_0_come_before_the_first_day():
    run = engine(
        3,
        4,
        2,
        shocks=[
            {"day": 0, "remove": "agent", "index": 1},
            {"day": 0, "remove": "resource", "index": 3},
        ],
    )
    state = run.state()
    assert state["alive"].tolist() == [[1, 0, 1]]
    assert state["available"].tolist() == [[1, 1, 1, 0]]
    run.step(DayStep("extraction"), 1)
    assert run.state()["extracted"][0, 1].sum() == run.state()["extracted"][0, :, 3].sum() == 0
