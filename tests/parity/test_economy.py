"""Do device and reference agree on every bit of the state, after every phase of every day?"""

import gc
import weakref
from functools import cache
from types import SimpleNamespace

import pytest
from engines import DeviceEngine, ReferenceEngine
from gpu_form import form
from marks import thorough_but

from societies import config_from_dict, verify
from societies.economy import memory, source
from societies.economy.parameters import parameters
from societies.economy.phases import phases
from societies.economy.schedule import cached_schedule, day_schedule
from societies.economy.workload import WORKLOAD
from societies.opencl import choose_device
from societies.workload.declare import phases as declared
from societies.workload.running import engines
from societies.workload.running import launches as core

GROUPS = [
    {"name": "able", "share": 0.5, "extraction": {"max_effort": 7.0, "min_effort": 2.5}},
    {
        "name": "strong",
        "share": 0.3,
        "trade_power": 2.5,
        "utility": {"scale": 700.0, "exponent": 2.2},
        "consumption": {"resource_lifetime": 4.0},
    },
    {"name": "slow learners", "share": 0.2, "extraction": {"max_experience": 450.5}},
]
SHOCKS = [
    {"day": 0, "remove": "agent", "index": 1},
    {"day": 5, "remove": "resource", "index": 2, "holdings": "lose"},
    {"day": 9, "remove": "resource", "index": "random", "holdings": "keep"},
    {"day": 9, "remove": "agent", "index": "random"},
    {"day": 12, "remove": "resource", "index": "random", "holdings": "lose"},
]
INVENTIVE = {
    "device": {"resources_in_tool": 4, "components": 3},
    "invention": {"tool_probability": 0.0005, "device_probability": 0.01},
}

# Other tests have societies of these sizes and days where theirs do not matter: kernels, and what
# is planned of them, depend on both, and are built once.
CASES = {
    "6x9": {"agents": 6, "resources": 9},
    "13x7, odd agent rests": {"agents": 13, "resources": 7},
    "5x70, more resources than leaves of a small tree": {"agents": 5, "resources": 70},
    "1x2, no other agent": {"agents": 1, "resources": 2},
    "2x2": {"agents": 2, "resources": 2},
    "no trade": {"agents": 7, "resources": 10, "trade": False},
    "groups": {"agents": 10, "resources": 9, "groups": GROUPS},
    "shocks": {"agents": 8, "resources": 11, "shocks": SHOCKS},
    "groups and shocks": {"agents": 10, "resources": 9, "groups": GROUPS, "shocks": SHOCKS},
    "price inverse_geometric": {
        "agents": 8,
        "resources": 9,
        "trading": {"price": "inverse_geometric"},
    },
    "price unit": {"agents": 8, "resources": 9, "trading": {"price": "unit"}},
    "inverse price with powers": {
        "agents": 10,
        "resources": 9,
        "groups": GROUPS,
        "trading": {"price": "inverse_geometric"},
    },
    "fresh values": {"agents": 6, "resources": 8, "trading": {"fresh_values": True}},
    "near-best band, no rounds": {
        "agents": 6,
        "resources": 8,
        "extraction": {"near_best_band": 2.0},
        "trading": {"rounds": 0},
    },
    "everything is near best and on the menu": {
        "agents": 4,
        "resources": 8,
        "extraction": {"near_best_band": 1e9},
        "trading": {"menu_size": 8},
    },
    "tiny menu, many attempts": {
        "agents": 6,
        "resources": 12,
        "trading": {"menu_size": 1, "attempts": 20},
    },
    "one attempt, lifetime 1": {
        "agents": 6,
        "resources": 9,
        "trading": {"attempts": 1},
        "consumption": {"resource_lifetime": 1.0},
    },
    "per-resource curves": {
        "agents": 6,
        "resources": 4,
        "utility": {"scale": [600, 500, 400, 300], "exponent": [2.5, 2.0, 3.0, 2.5]},
        "extraction": {"max_effort": [9, 8, 7, 6], "max_experience": [600, 60, 6, 1]},
        "consumption": {"resource_lifetime": [5, 4, 3, 2.5]},
    },
}


def checked(settings, days, replicates=1, device="auto"):
    config = config_from_dict(
        {"workload": "economy", "days": days, "seed": 7, "replicates": replicates, **settings}
    )
    report = verify(config, device=device, days=days)
    assert report.identical, str(report)
    assert report.ticks == days


QUICK = {"1x2, no other agent", "shocks", "per-resource curves"}
"""Cases that every run of the tests compares; the others are left to the thorough tests."""


LONG = (
    "6x9",
    "13x7, odd agent rests",
    "5x70, more resources than leaves of a small tree",
    "1x2, no other agent",
    "groups",
    "shocks",
    "price inverse_geometric",
    "price unit",
)


@pytest.mark.ci
@pytest.mark.parametrize("name", thorough_but({"shocks"}, [n for n in LONG if n in QUICK]))
def test_many_societies(name):
    checked(CASES[name], days=15, replicates=5)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in LONG if name not in QUICK])
def test_many_days(name):
    checked(CASES[name], days=60)


@pytest.mark.ci
@pytest.mark.parametrize("name", thorough_but(QUICK, [name for name in CASES if name not in LONG]))
def test_small_societies(name):
    checked(CASES[name], days=20, replicates=3)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "settings",
    [
        {"agents": 3, "resources": 300},
        pytest.param({"agents": 2, "resources": 600}, marks=pytest.mark.thorough),
        pytest.param({"agents": 2, "resources": 1024}, marks=pytest.mark.thorough),
        {"agents": 4, "resources": 40, "trading": {"menu_size": 24}},
    ],
    ids=["more than a workgroup", "rows in global memory", "largest", "scores in global memory"],
)
def test_more_than_fits(settings):
    checked(settings, days=3)


@pytest.mark.thorough
@pytest.mark.parametrize("trade", [False, True])
def test_the_papers_size(trade):
    checked({"trade": trade}, days=3)


def four_days(engine):
    """Return the hash after four days."""
    engine.start()
    engine.run_days(1, 4)
    return engine.hash()


@cache
def nine_agents(resources):
    """Return parameters, and what the reference makes of them.

    In each round one of the agents, later the removed one's partner, meets no other.
    """
    shape = {"agents": 9, "resources": resources, "days": 4, "replicates": 2}
    shocks = [{"day": 2, "remove": "agent", "index": 3}]
    config = config_from_dict({"workload": "economy", **shape, "shocks": shocks})
    p = parameters(config)
    return p, four_days(ReferenceEngine(p))


@pytest.mark.ci
@pytest.mark.parametrize("workgroup", thorough_but({31}, [1, 31, 48, 256]))
def test_the_workgroup_changes_nothing(monkeypatch, workgroup):
    original = source.macros  # in the form for CPUs a workgroup always has one work-item
    monkeypatch.setattr(source, "macros", lambda p: {**original(p), "DEVICE_IS_CPU": 0})
    if workgroup > 64:
        # PoCL 3.0 compiles a market of one launch wrongly for more than 64 work-items, which it
        # never has on a CPU. `on_device.py golden` runs it on GPUs with more (wide societies).
        monkeypatch.setattr(declared, "GROUPS_A_UNIT", 0)
    p, expected = nine_agents(37)
    assert four_days(DeviceEngine(choose_device("auto"), p, workgroup)) == expected


@pytest.mark.ci
@pytest.mark.parametrize(
    ("pairs", "lanes", "resources"),  # whole groups of keys are read otherwise than parts of one
    thorough_but(
        {(3, 4, 37), (3, 2, 16)},
        [(1, 2, 37), (3, 4, 37), (3, 2, 16), (5, 2, 37), (16, 2, 37), (4, 8, 37), (4, 8, 16)],
        names=3,
    ),
)
def test_meetings_in_step_change_nothing(monkeypatch, pairs, lanes, resources):
    monkeypatch.setattr(declared, "GROUPS_A_UNIT", 0)  # no market is one launch
    monkeypatch.setattr(memory, "MEETINGS_IN_STEP", pairs)
    monkeypatch.setattr(memory, "MEETING_LANES", lanes)
    monkeypatch.setattr(memory, "PAIRS_BEFORE_STEP", 0)
    p, expected = nine_agents(resources)  # 4 pairs in each of two societies
    alone, found = phases(p, 2)["trading"].launches
    assert alone.on_cpu and found.kernel == "meetings" and found.groups == -(-8 // pairs)
    original = source.macros
    monkeypatch.setattr(source, "macros", lambda p: {**original(p), "DEVICE_IS_CPU": 0})
    assert four_days(DeviceEngine(choose_device("auto"), p, 5)) == expected


DAYS_ALONE = 20
ALONE = {
    "shocks": {"agents": 7, "resources": 9, "replicates": 2, "trade": False, "shocks": SHOCKS},
    "groups": {"agents": 8, "resources": 5, "trade": False, "groups": GROUPS},
    "all bits": {"agents": 1, "resources": 64, "trade": False},
    "trade": {"agents": 6, "resources": 11},
}


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "items"),
    thorough_but(
        {("shocks", 5)},
        [(name, items) for name in ALONE for items in (1, 5, 31)],
        names=2,
    ),
)
def test_what_a_gpu_does_at_once_changes_nothing(monkeypatch, name, items):
    """Units are put in order, statistics are one launch, and phases of an agent are joined."""
    p = parameters(config_from_dict({"workload": "economy", "days": DAYS_ALONE, **ALONE[name]}))
    expected = ReferenceEngine(p)
    original = source.macros
    monkeypatch.setattr(memory, "ITEMS_AT_ONCE", items)
    monkeypatch.setattr(source, "macros", lambda p: {**original(p), **form(0)})
    engine = DeviceEngine(choose_device("auto"), p, items)
    for one in (engine, expected):
        one.start()
        one.run_days(1, DAYS_ALONE)
    assert engine.hash() == expected.hash()
    table = phases(p, p.societies)
    assert source.macros(p)["STATISTICS_AT_ONCE"] and source.macros(p)["EXTRACTION_AHEAD"]
    quiet = len(day_schedule(p, DAYS_ALONE)) + (p.groups > 1)
    for orders in (False, True):
        gpu = SimpleNamespace(kind="gpu", compute_units=1, orders_workgroups=orders)
        saved = 2 if name != "trade" else 2 * p.rounds if orders else 0  # two markets
        launches = core.launches_of(table, day_schedule(p, DAYS_ALONE), DAYS_ALONE, gpu)
        assert launches == quiet - saved


WORN = {"agents": 3, "resources": 8, "devices": "all", **INVENTIVE}
EXTRACTED = ("held", "experience", "stream", "minutes", "gain_per_minute", "extracted")
EXTRACTED_WITH = ("device_minutes", "minutes_with", "extracted_with", "overtime")


def compare_extraction(monkeypatch, settings, kernel, items, few):
    """Compare a form of extraction for GPUs with that for CPUs, on 25 days; return the last one."""
    base = {"workload": "economy", "days": 25, "replicates": 2}
    p = parameters(config_from_dict({**base, "extraction": {"max_experience": 10}, **settings}))
    monkeypatch.setattr(declared, "GROUPS_A_UNIT", 8 if few else 0)
    (found,) = [one for one in phases(p, 2)["extraction"].on(False, 1).launches if not one.on_cpu]
    assert found.kernel == kernel
    usual = DeviceEngine(choose_device("auto"), p)
    original = source.macros
    monkeypatch.setattr(source, "macros", lambda p: {**original(p), **form(0)})
    other = DeviceEngine(choose_device("auto"), p, items, only={"extraction"})
    usual.start()
    for day in range(1, 26):
        for step in day_schedule(p, day):
            if step.phase == "extraction":
                other.load(usual.state())
                other.step(step, day)
                usual.step(step, day)
                found, expected = other.state(), usual.state()
                for name in EXTRACTED + (EXTRACTED_WITH if p.devices else ()):
                    assert found[name].tobytes() == expected[name].tobytes(), (name, day)
            else:
                usual.step(step, day)
    return expected


def test_units_that_a_gpu_looks_ahead_change_nothing(monkeypatch):
    """With full experience after some days, by hand and with devices that wear out."""
    last = compare_extraction(monkeypatch, WORN, "extraction_by_front", 16, few=True)
    assert (last["device_minutes"] > 0.0).any()
    assert last["experience"].max() == 10.0


@pytest.mark.ci
@pytest.mark.parametrize(
    ("settings", "items", "in_step"),
    [
        (WORN, 16, 4),
        (WORN, 3, 32),
        ({"agents": 2, "resources": 64, "trade": False}, 5, 3),
        ({"agents": 7, "resources": 11, "groups": GROUPS, "shocks": SHOCKS}, 4, 5),
        ({"agents": 5, "resources": 2, "trade": False}, 2, 3),
    ],
    ids=["devices", "few work-items", "all bits", "groups and shocks", "two resources"],
)
def test_extraction_in_step_changes_nothing(monkeypatch, settings, items, in_step):
    monkeypatch.setattr(memory, "IN_STEP", in_step)
    monkeypatch.setattr(memory, "GROUPS_BEFORE_TOGETHER", 1)
    monkeypatch.setattr(memory, "AGENTS_AT_ONCE", 0)
    last = compare_extraction(monkeypatch, settings, "extraction_in_step", items, few=False)
    assert last["extracted"].any()


@pytest.mark.ci
@pytest.mark.parametrize(
    "settings",
    [
        {"agents": 8, "resources": 11, "shocks": SHOCKS},
        {"agents": 6, "resources": 9, "devices": "all", **INVENTIVE},
        {"agents": 1, "resources": 2},
        pytest.param(  # scores in global memory
            {"agents": 4, "resources": 40, "trading": {"menu_size": 24}},
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["shocks", "devices", "no other agent", "long menus"],
)
def test_a_market_in_one_launch_changes_nothing(settings):
    base = {"workload": "economy", "days": 15, "replicates": 3}
    p = parameters(config_from_dict({**base, **settings}))
    days = [(day_schedule(p, day), day) for day in range(1, 16)]
    whole, steps = (DeviceEngine(choose_device("auto"), p) for _ in range(2))
    for one in (whole, steps):
        one.start()
    before = whole.device.counters.launches
    whole.run_days(1, 15)
    launches = whole.device.counters.launches - before
    for schedule, day in days:
        for step in schedule:
            steps.step(step, day)
    assert whole.hash() == steps.hash()
    assert launches == sum(core.launches_of(phases(p, 3), *day, whole.device) for day in days)
    if whole.device.kind == "cpu" and p.agents > 1:
        single = {"trading", "device_matching", "device_trading"}
        assert launches <= sum(one.phase not in single for day, _ in days for one in day) + 15 * 7


@pytest.mark.parametrize("societies", [1, 40])
def test_where_agents_are_many_a_gpu_has_forms_for_many(societies):
    """A warp for each agent, few registers, and extraction in step; on a CPU one form for all."""
    settings = {"agents": 6, "resources": 48, "devices": "all", "replicates": societies}
    p = parameters(config_from_dict({"workload": "economy", "days": 1, **settings}))
    gpu, cpu = (
        SimpleNamespace(kind=kind, compute_units=2, warp=32, max_workgroup=1024)
        for kind in ("gpu", "cpu")
    )
    many = societies == 40
    assert WORKLOAD.registers(p, societies, gpu) == (64 if many else 0)
    assert WORKLOAD.registers(p, societies, cpu) == 0
    without = parameters(config_from_dict({"workload": "economy", **settings, "devices": "none"}))
    assert WORKLOAD.registers(without, societies, gpu) == (96 if many else 0)
    extraction = phases(p, societies)["extraction"]
    (found,) = extraction.on(False, 2).launches
    assert found.kernel == ("extraction_in_step" if many else "extraction_by_front")
    (found,) = extraction.on(True, 2).launches
    assert found.kernel == "extraction"


def test_days_with_the_same_steps_have_one_tuple_which_keeps_no_parameters():
    settings = {"workload": "economy", "agents": 8, "resources": 9, "days": 6}
    shock = [{"day": 3, "remove": "agent", "index": 1}]
    p = parameters(config_from_dict({**settings, "shocks": shock}))
    days = [cached_schedule(p, day) for day in range(7)]
    assert [list(steps) for steps in days] == [day_schedule(p, day) for day in range(7)]
    assert len({id(steps) for steps in days}) == 3  # before the first, quiet ones, the shock's
    weak = weakref.ref(p)
    del p
    gc.collect()
    assert weak() is None


def test_every_kernel_is_launched_alone_on_a_cpu():
    """The kernels rely on it: with `ALL_ALONE` a CPU's have no barriers."""
    settings = {"agents": 10, "resources": 9, "devices": "all", "groups": GROUPS}
    more = {"shocks": SHOCKS, "record": {"measures": True, "network": [1]}}
    p = parameters(config_from_dict({"workload": "economy", "days": 3, **settings, **more}))
    table = phases(p, 2)
    assert {"trading", "shocks", "agent_measures", "begin_network"} <= table.keys()
    on_cpu = [one.on(True, 1) for one in table.values()]
    launches = [launch for one in on_cpu for launch in one.launches]
    joined = [one.joined.launch for one in on_cpu if one.joined]
    assert {one.kernel for one in joined} == {"resource_market", "device_market"}
    assert (
        all(launch.alone_on_cpu for launch in launches + joined) and source.macros(p)["ALL_ALONE"]
    )


@pytest.mark.thorough
@pytest.mark.parametrize("on_cpu", [0, 1])
def test_every_method_of_the_primitives(monkeypatch, on_cpu):
    """What a primitive does on a GPU is tested on the CPU too, and the other way round."""
    original = source.macros
    monkeypatch.setattr(source, "macros", lambda p: {**original(p), "DEVICE_IS_CPU": on_cpu})
    checked({"agents": 9, "resources": 37}, days=10)


@pytest.mark.thorough
@pytest.mark.parametrize("shocks", [[], SHOCKS])
def test_a_society_of_an_ensemble_is_itself_alone(shocks):
    base = {"workload": "economy", "agents": 6, "resources": 9, "days": 15, "shocks": shocks}
    device = choose_device("auto")

    def final(**settings):
        engine = DeviceEngine(device, parameters(config_from_dict({**base, **settings})))
        engine.start()
        series = engine.run_days(1, 15)
        return engine.checkpointed_state(), series

    together, series = final(replicates=8)
    for society in (0, 3, 7):
        alone, own = final(replicates=1, first_society=society)
        assert own.tobytes() == series[society].tobytes()
        for name, array in alone.items():
            assert array[0].tobytes() == together[name][society].tobytes(), name


@pytest.mark.ci
def test_a_difference_is_found_and_named(monkeypatch):
    """A device that goes wrong in one phase is caught in that phase, with both values."""
    original = engines.DeviceEngine.step

    def wrong(self, step, day):
        original(self, step, day)
        if step.phase == "consumption" and day == 2:
            held = self._state["held"].get()
            held[0, 3, 4] += 1
            self._state["held"].set(held)

    monkeypatch.setattr(engines.DeviceEngine, "step", wrong)
    config = config_from_dict({"workload": "economy", "agents": 6, "resources": 9, "days": 40})
    report = verify(config, days=4)
    assert not report.identical
    found = report.difference
    assert (found.tick, found.phase, found.array) == (2, "consumption", "held")
    assert found.index == (0, 3, 4)
    assert found.device_value == found.reference_value + 1
    assert "day 2, phase consumption, array held, index [0, 3, 4]" in str(report)


def test_phases_of_a_day_are_those_of_the_model():
    config = config_from_dict(
        {"workload": "economy", "agents": 4, "resources": 5, "days": 3, "trading": {"rounds": 2}}
    )
    p = parameters(config)
    market = ["matching", "trading (round 0)", "trading (round 1)"]
    evening = ["end_day", "agent_statistics", "society_statistics", "consumption"]
    assert [str(s) for s in day_schedule(p, 0)] == ["seed_streams"]
    assert [str(s) for s in day_schedule(p, 1)] == [*market, "extraction", *market, *evening]
