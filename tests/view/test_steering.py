"""Do sliders of a page have useful ranges, and the values that are in force?"""

from dataclasses import replace

import pytest

from societies import config_from_dict, load_config
from societies.config.load import find_config
from societies.paths import shipped_configurations
from societies.view.controls import steerable
from societies.view.course import with_changes
from societies.view.run_view import RunView
from societies.view.steering import page_notes
from societies.workload import Setup
from societies.workload.declare.view import Change, Choice, Press, Slider
from societies.workload.running import registry
from societies.workload.running.registry import workload
from societies.workload.running.varying import value_at

SMALL = {"workload": "economy", "agents": 6, "resources": 4, "days": 30}
OWN = [{"name": name, "share": 0.5, "extraction": {"min_effort": 2.0}} for name in "ab"]
UNTIL = {"day": 5, "until": 9, "label": "hot", "set": {"day_length": 500.0}}
STEERED = [name for name in shipped_configurations() if name.split("/")[0] in ("economy", "models")]


def scales(config):
    chosen = workload(config.workload)
    scene = chosen.scene(Setup(chosen, config).p)
    return steerable(config, config.model_dump(mode="json"), scene)


@pytest.mark.parametrize("name", STEERED)
def test_sliders_of_shipped_configurations_have_round_useful_ranges(name):
    config = load_config(find_config(name))
    data = config.model_dump(mode="json")
    for key, scale in scales(config).items():
        value, (lowest, highest) = value_at(data, key), scale.limits
        assert lowest <= scale.least < scale.most <= highest, key
        steps = (scale.most - scale.least) / scale.step
        assert 2 <= steps <= 20_000 and abs(steps - round(steps)) < 1e-6, key
        for end in (scale.least, scale.most):
            assert abs(end / scale.step - round(end / scale.step)) < 1e-6, (key, end)
            assert len(f"{end!r}") <= 8, (key, end)
        if abs(value) < 1e11 and value != 1e-12:  # without a limit
            assert scale.least <= value <= scale.most, key
            assert not value or scale.most <= 2500 * abs(value), key


@pytest.mark.parametrize(
    ("key", "least", "most", "limits"),
    [
        ("policies.quota_of", -1, 3, (-1, 3)),
        ("policies.price_of", -1, 3, (-1, 3)),
        ("invention.banned_of", -1, 3, (-1, 3)),
        ("policies.holdings_tax.middle_from", 0.0, 1000.0, (0.0, 1e12)),
        ("policies.price_cap", 1.0, 5.0, (1e-12, 1e12)),
        ("utility.scale", 10.0, 1800.0, (1e-12, 1e12)),
        ("invention.tool_probability", 0.0, 0.000225, (0.0, 1e12)),
        ("day_length", 10.0, 1440.0, (0.0, 1e6)),
    ],
)
def test_ranges_of_single_keys(key, least, most, limits):
    scale = scales(config_from_dict(SMALL | {"devices": "all"}))[key]
    assert (scale.least, scale.most, scale.limits) == (least, most, limits)
    assert type(scale.least) is type(least)


def test_a_negative_value_has_a_slider():
    config = load_config(find_config("models/bam/growth_plus"))
    scale = scales(config)["sigma_decay"]
    assert (scale.least, scale.most) == (-3.0, 0.0)


def test_a_configured_value_beyond_the_usual_range_has_a_range_of_its_own():
    config = config_from_dict(SMALL | {"trading": {"min_surplus": 500.0}})
    assert scales(config)["trading.min_surplus"].most == 1500.0


def page(**keys):
    config = config_from_dict(SMALL | keys)
    return RunView(Setup(workload("economy"), config), "reference")


def control(view, state, name):
    return next((one for one in view.controls(state) if getattr(one, "name", "") == name), None)


def values(view, state, days):
    """Return what the slider shows on some days."""
    return [control(view, replace(state, asked=day), "value").value for day in days]


def test_keys_that_every_group_sets_have_no_slider():
    assert "extraction.min_effort" not in page(groups=OWN)._keys
    assert "extraction.min_effort" in page(groups=[OWN[0], {"name": "b", "share": 0.5}])._keys


def test_the_slider_shows_the_value_of_the_next_day():
    view = page(interventions=[UNTIL])
    state = view.initial
    assert values(view, state, (0, 4, 5, 8, 9, 30)) == [600, 600, 500, 500, 600, 600]
    state = view.take(replace(state, asked=7), Change("value", 450.0))
    assert values(view, state, (4, 5, 6, 7, 9, 30)) == [600, 500, 500, 450, 450, 450]
    state = view.take(view.take(state, Press("branch")), Change("value", 300.0))
    assert values(view, state, (6, 7)) == [500, 300]
    undone = view.take(view.take(state, Press("undo")), Press("branch"))
    assert values(view, undone, (6, 7)) == [500, 450]


def test_undo_brings_back_what_the_last_change_replaced():
    """In a branch it took away the change that both courses had, and compared two changes."""
    view = page()
    common = view.take(replace(view.initial, asked=20), Change("value", 500.0))
    branch = view.take(common, Press("branch"))
    for day, value in ((20, 450.0), (10, 400.0)):
        state = view.take(replace(branch, asked=day), Change("value", value))
        assert values(view, state, (20, 30)) == [value, value]
        state = view.take(state, Press("undo"))
        assert state.other == state.changes == common.changes
        assert view.take(state, Press("undo")) == state  # what both have is undone in neither
    state = view.take(replace(state, asked=20), Press("branch"))
    moved = view.take(view.take(state, Change("value", 480.0)), Change("value", 490.0))
    assert view.take(moved, Press("undo")).changes == ()  # one slider that was moved three times


def test_many_changes_are_checked_together(monkeypatch):
    """Each was checked after the ones before it, so that 200 changes stopped the page."""
    checks = []
    check = registry.config_from_dict
    monkeypatch.setattr(registry, "config_from_dict", lambda *a: checks.append(a) or check(*a))
    view = page()
    changes = [(day, "day_length", 500.0 + day) for day in range(1, 25)]
    changes += [(3, "remove.agent", 1), (4, "remove.agent", 2)]
    found = view.configuration(replace(view.initial, changes=tuple(changes)))
    assert len(found.interventions) == 26 and len(checks) == 2


def test_it_shows_that_of_the_society_that_is_shown():
    one = {"day": 5, "until": 7, "societies": [1], "set": {"day_length": [500.0, 510.0]}}
    view = page(interventions=[one], replicates=2)
    assert values(view, view.initial, (4, 5, 6, 30)) == [600, 600, 600, 600]
    assert values(view, replace(view.initial, copy=1), (4, 5, 6, 30)) == [600, 500, 510, 600]


def test_a_change_before_the_first_day_holds_though_an_intervention_begins_then():
    """It was made in the configuration, where the intervention replaced it at once."""
    view = page(interventions=[{"day": 0, "set": {"day_length": 500.0}}])
    state = view.take(view.initial, Change("value", 300.0))
    assert values(view, state, (0, 9)) == [300, 300]
    setup = Setup(workload("economy"), config_from_dict(SMALL))
    assert with_changes(setup, [(0, "day_length", 300.0)]).interventions == ()


def test_a_list_in_force_has_no_slider_and_a_key_that_waits_reports_it():
    view = page(interventions=[{"day": 5, "set": {"utility.scale": [600, 500, 400, 300]}}])
    state = replace(view.initial, key="utility.scale")
    assert isinstance(control(view, state, "value"), Slider)
    state = replace(state, asked=5)
    assert control(view, state, "value") is None
    assert isinstance(key := control(view, state, "key"), Choice) and "list" in key.label
    state = replace(state, key="policies.quota")
    assert control(view, state, "value").label.endswith("no effect while policies.quota_of is -1")
    state = view.take(replace(state, key="policies.quota_of"), Change("value", 2))
    assert "no effect" not in control(view, replace(state, key="policies.quota"), "value").label


def test_what_happens_on_the_way_is_listed_once_with_its_day():
    shock = {"day": 8, "remove": "resource", "index": 1}
    gone = {"day": 12, "remove": "agent", "index": 0, "label": "leaves"}
    some = {"day": 5, "group": "a", "societies": [0, 1], "set": {"trade_power": 2.0}}
    keys = {"groups": OWN, "shocks": [shock], "interventions": [gone, UNTIL, some]}
    config = config_from_dict(SMALL | keys | {"replicates": 2})
    changes = [(7, "day_length", 450.0), (9, "remove.resource", 2)]
    found = page_notes(config, config, workload("economy"), changes)
    assert found["happenings"] == [
        (5, "day_length = 500, until day 9, “hot”", False),
        (5, "trade_power = 2, of a, societies 0, 1", False),
        (7, "day_length = 450", True),
        (8, "resource 1 removed", False),
        (9, "resource 2 removed", True),
        (12, "agent 0 removed, “leaves”", False),
    ]
