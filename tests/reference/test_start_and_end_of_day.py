"""What begins again in the morning, what remains overnight, and for whom?

Source: docs/model.md, "The day" and "End of day". Every phase of the day serves all living agents,
from the first to the last, and leaves the removed alone.
"""

import copy

import numpy as np
import pytest
from states import recipe, started, tools

from reference_py.economy.consumption import consumption
from reference_py.economy.end_day import end_day, refresh_values
from reference_py.economy.extraction import extraction
from reference_py.economy.invention import invention
from reference_py.economy.own_use import own_use
from reference_py.economy.production import production
from reference_py.economy.society import new_society
from reference_py.economy.start_day import start_day
from reference_py.economy.state import DEVICE_STATE, STATE
from reference_py.economy.statistics import agent_statistics
from reference_py.economy.streams import seed_streams

# -- before the first day --------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "number"), [({}, 0), ({"index": 3}, 3)])
def test_a_new_society_has_a_number_and_nothing_else(index, number):
    """Agents are alive and resources available; the streams of societies differ."""
    p, _ = started()
    s = new_society(p, **index)
    assert s.index == number and s.series == {} and s.inventions == []
    assert s.alive == [1] * 4 and s.available == [1] * 5
    assert s.held == [[0] * 5] * 4 and s.minutes == [0.0] * 4
    other = new_society(p, index=number + 1)
    for one in (s, other):
        seed_streams(p, one)
    assert s.stream != other.stream


# -- the morning -----------------------------------------------------------------------------------


def test_gains_of_making_are_forgotten_unless_making_fills_the_day():
    """They remain with 600 minutes of overtime or more, and say what a minute is worth."""
    p, s = started()
    s.overtime = [0.0, 599.0, 600.0, 1300.0]
    s.device_gain = [70.0, 80.0, 90.0, 100.0]
    start_day(p, s)
    assert s.device_gain == [0.0, 0.0, 90.0, 100.0]


def test_counts_of_the_day_begin_at_nothing():
    p, s = started(agents=3)
    counts = ("units_paid", "devices_sold", "made_with_device", "making_minutes", "devices_made")
    nothing = {name: copy.deepcopy(getattr(s, name)) for name in counts}
    for name in counts:
        setattr(s, name, np.full_like(nothing[name], 3).tolist())
    start_day(p, s)
    for name in counts:
        assert getattr(s, name) == nothing[name], name
        assert np.shape(getattr(s, name)) == np.shape(nothing[name]), name


# -- the evening -----------------------------------------------------------------------------------


def test_overtime_is_reserved_for_the_next_day():
    """Also what was promised and not made is forgotten: promises are fulfilled the same day."""
    p, s = started()
    s.overtime = [0.0, 123.5, 700.0, 50.0]
    s.reserved_minutes = [40.0, 400.0, -1e-12, 60.0]
    s.alive[3] = 0
    end_day(p, s)
    assert s.reserved_minutes == [0.0, 123.5, 700.0, 60.0]


def test_every_living_agent_remembers_and_forgets_in_the_evening():
    p, s = started()
    recipe(s, 0, 4, 0, 1)
    recipe(s, 1, 4, 2, 3)
    s.held = [list(range(5)) for _ in range(4)]
    s.value = [[-1.0] * 5 for _ in range(4)]
    for agent in range(4):
        s.device_experience[agent][1][4] = 3.5
    s.alive[2] = 0
    end_day(p, s)
    marginal = p.utility_curves[0].marginal
    for agent in (0, 1, 3):
        assert s.value[agent] == list(marginal[:5])
        assert s.device_experience[agent][1][4] == 2.5
        assert s.device_experience[agent][0][2:4] == [1.0, 1.0]  # knows its components
    assert s.value[2] == [-1.0] * 5
    assert s.device_experience[2][1][4] == 3.5
    assert s.device_experience[2][0] == [0.0] * 5


def test_values_alone_can_be_refreshed_without_devices():
    p, s = started(devices="none", agents=3)
    s.held = [[7] * 5 for _ in range(3)]
    s.alive[1] = 0
    for phase in (refresh_values, end_day):
        s.value = [[0.0] * 5 for _ in range(3)]
        phase(p, s)
        assert s.value[0] == s.value[2] == [p.utility_curves[0].marginal[7]] * 5
        assert s.value[1] == [0.0] * 5


@pytest.mark.parametrize(
    ("experience", "practised", "minutes", "expected"),
    [
        (5.0, 0, 0.0, 4.0),
        (5.0, 1, 0.0, 5.0),
        (2.0, 0, 0.0, 0.0),  # the last one goes altogether
        (2.25, 0, 0.0, 1.25),
        (1.0, 1, 0.0, 0.0),
        (1.5, 1, 0.0, 1.5),
        (45.0, 1, 0.0, 40.0),
        (40.5, 0, 0.0, 39.5),
        (0.0, 0, 0.5, 2.0),  # an owner does not forget all about it
        (1.5, 0, 0.25, 2.0),
        (9.0, 0, 100.0, 8.0),
    ],
)
def test_experience_overnight(experience, practised, minutes, expected):
    """For the first and the last type and resource alike."""
    p, s = started(agents=1)
    for device in (0, 5):
        for r in (0, 4):
            s.device_experience[0][device][r] = experience
            s.practised[0][device][r] = practised
            s.device_minutes[0][device][r] = minutes
    end_day(p, s)
    for device in (0, 5):
        for r in (0, 4):
            assert s.device_experience[0][device][r] == expected
            assert s.practised[0][device][r] == 0
    assert s.device_experience[0][1][2] == 0.0


# -- for whom --------------------------------------------------------------------------------------

PHASES = {
    "own_use": lambda p, s: own_use(p, s, 0),
    "production": production,
    "extraction": extraction,
    "invention": lambda p, s: invention(p, s, 3),
    "end_day": end_day,
    "agent_statistics": agent_statistics,
    "consumption": consumption,
}


def busy_society():
    """Return a society in which every phase of `PHASES` changes something of every agent."""
    p, s = started(consumption={"resource_lifetime": 1.5}, invention={"tool_probability": 1.0})
    tools(s, {1: (2, 3), 4: (0, 2)})
    for agent in range(p.agents):
        s.held[agent] = [30, 31, 32, 33, 34]
        s.experience[agent] = [0.0, 300.0, 1.0, 2.0, 3.0]
        s.gain_per_minute[agent] = 1.0
        s.to_make[agent][0][1] = 1
        s.set_aside[agent] = [1, 0, 1, 1, 0]
        s.device_minutes[agent][1] = [100.0] * 5
    return p, s


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_serves_all_the_living_and_no_others(phase):
    of_agent = [n for n, field in (STATE | DEVICE_STATE).items() if field.of_agent]
    of_agent.remove("stream") if "stream" in of_agent else None
    p, s = busy_society()
    s.alive[1] = 0
    # Inventing makes the experience of all agents with the device begin at nothing, the removed
    # too.
    left_out = {"device_experience", "practised"} if phase == "invention" else set()
    left_out |= {"units_sold", "deals"}  # no agent sold anything
    before = {name: copy.deepcopy(getattr(s, name)) for name in of_agent}
    PHASES[phase](p, s)
    changed = [
        any(getattr(s, n)[agent] != before[n][agent] for n in set(of_agent) - left_out)
        for agent in range(p.agents)
    ]
    if phase == "invention":
        drew = [s.stream[agent] != started()[1].stream[agent] for agent in range(p.agents)]
        assert drew == [True, False, True, True]
        assert not changed[1]
    else:
        assert changed == [True, False, True, True]


def test_counts_of_trade_begin_again_for_all_agents():
    p, s = started(agents=3)
    s.units_sold, s.deals, s.alive[1] = [4, 5, 6], [1, 2, 3], 0
    consumption(p, s)
    assert s.units_sold == s.deals == [0, 0, 0]


def test_without_devices_goods_alone_are_consumed():
    p, s = started(devices="none", device={}, consumption={"resource_lifetime": 1.0})
    s.held = [[9] * 5 for _ in range(4)]
    s.alive[2] = 0
    consumption(p, s)
    assert s.held == [[0] * 5, [0] * 5, [9] * 5, [0] * 5]


# -- decay -----------------------------------------------------------------------------------------


def test_devices_decay_in_proportion_and_what_is_left_of_a_day_is_gone():
    p, s = started(agents=1)
    for device, lifetime in enumerate((150.0, 300.0, 600.0, 1200.0, 600.0, 600.0)):
        s.device_minutes[0][device] = [lifetime, lifetime / 2, 3.0, 3.5, 2 * lifetime]
        consumption(p, s)
        expected = [lifetime - 3.0, lifetime / 2 - 1.5, 0.0, 3.5 - 3.0 * (3.5 / lifetime)]
        assert s.device_minutes[0][device] == [*expected, 2 * lifetime - 6.0]
        s.device_minutes[0][device] = [0.0] * 5


def test_a_decay_longer_than_a_life_leaves_nothing():
    p, s = started(agents=1, device={"daily_decay": 200.0, "resources_in_tool": 2, "components": 2})
    s.device_minutes[0][0] = [150.0, 250.0, 900.0, 0.0, 200.0]
    consumption(p, s)
    assert s.device_minutes[0][0] == [0.0] * 5
