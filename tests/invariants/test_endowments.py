"""Do agents begin with their endowments, which are then traded and consumed like other units?"""

import numpy as np
import pytest

from reference_py.economy.schedule import live
from reference_py.economy.society import new_society
from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload.running.points import with_table

UNITS = [40, 0, 3, 12, 1]
GROUPS = [{"name": "rich", "count": 2, "endowment": {"units": UNITS}}, {"name": "poor", "count": 3}]
KEYS = {
    "workload": "economy",
    "agents": 5,
    "resources": 5,
    "days": 3,
    "endowment": {"units": 2},
    "groups": GROUPS,
}


def before_the_first_day(**keys):
    p = parameters(config_from_dict({**KEYS, **keys}))
    s = new_society(p)
    live(p, s, 0, 0)
    return p, s


def test_all_hold_theirs_and_know_what_one_more_is_worth():
    p, s = before_the_first_day()
    assert s.held == [UNITS, UNITS, [2] * 5, [2] * 5, [2] * 5]
    marginal = p.utility_curves[0].marginal
    assert s.value[0] == [marginal[units] for units in UNITS]
    p, _ = before_the_first_day(endowment={"units": 0}, groups=[])
    assert not p.endowed and "endow" not in WORKLOAD.phases(p, 1)


def test_what_is_removed_before_the_first_day_takes_its_endowment_along():
    shocks = [
        {"day": 0, "remove": "agent", "index": 0},
        {"day": 0, "remove": "resource", "index": 3, "holdings": "lose"},
    ]
    _, s = before_the_first_day(shocks=shocks)
    assert s.held[:3] == [[0] * 5, [40, 0, 3, 0, 1], [2, 2, 2, 0, 2]]


def test_no_unit_comes_from_elsewhere():
    """With lives so long that hardly any unit is consumed, all units are endowed or extracted."""
    keys = {"consumption": {"resource_lifetime": 1e9}, "extraction": {"max_effort": 400.0}}
    p, s = before_the_first_day(**keys)
    total = np.array([2 * own + 3 * 2 for own in UNITS])
    for day in (1, 2, 3):
        live(p, s, day, day)
        total += np.array(s.extracted).sum(0)
        assert np.array(s.held).sum(0).tolist() == total.tolist()


def test_those_who_have_trade_before_they_work():
    """On the first morning only endowments can be swapped. The one unit extracted ends the day."""
    groups = [
        {"name": name, "count": 2, "endowment": {"units": [30 * (r == k) for r in range(5)]}}
        for k, name in enumerate(("growers", "fishers"))
    ]
    keys = {"agents": 4, "groups": groups, "trading": {"menu_size": 2}, "day_length": 1e-6}
    for scale, trade in ((1, True), (0, False)):
        for group in groups:
            group["endowment"]["units"] = [scale * one for one in group["endowment"]["units"]]
        p, s = before_the_first_day(**keys)
        live(p, s, 1, 1)
        assert s.units_extracted == [1] * 4 and (sum(s.units_traded) > 0) == trade


def test_an_endowment_differs_between_societies_but_not_on_the_way():
    table = {"groups.1.endowment.units": [0, 7]}
    p = WORKLOAD.parameters(with_table(config_from_dict(KEYS), table))
    assert [p.of(row, 0).endowment for row in (0, 1)] == [
        (tuple(UNITS), (0,) * 5),
        (tuple(UNITS), (7,) * 5),
    ]
    refused = {"interventions": [{"day": 1, "set": {"endowment.units": 5}}]}, "first tick only"
    short = {"endowment": {"units": [1, 2]}}, "has 2 numbers for 5 resources"
    negative = {"endowment": {"units": -1}}, "endowment.units: must be at least 0"
    for keys, said in (refused, short, negative):
        with pytest.raises(ConfigError, match=said):
            config_from_dict({**KEYS, **keys})
