"""What does the file of an economy have, and where is each day of a block written? By hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from societies import config_from_dict
from societies.economy import network
from societies.economy.config import bounds
from societies.economy.config.groups import GroupConfig
from societies.economy.config.rules import with_words
from societies.economy.parameters import group_of_agent, numeraire, shocks
from societies.economy.results import DayRecorder
from societies.economy.rules import RULES
from societies.economy.series import ACTIVITIES, QUANTILES, TOPS, entries, series_table
from societies.economy.state import ALIVE, state_fields
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload.declare.protocol import Setup
from societies.workload.running.faults import FAULT
from societies.workload.running.points import with_table
from societies.workload.running.varying import NotVarying

SIZES = {"workload": "economy", "agents": 6, "resources": 5, "days": 12}
GROUPS = [{"name": "x", "count": 2}, {"name": "y", "count": 4}]


def economy(**settings):
    return config_from_dict({**SIZES, **settings})


def recorder(table=None, **settings):
    config = economy(**settings)
    return DayRecorder(Setup(WORKLOAD, with_table(config, table) if table else config))


class Store:
    """A file that notes what is written."""

    def __init__(self, *variables):
        self.variables, self.written = variables, []

    def write(self, name, values, **where):
        self.written.append((name, np.asarray(values).tolist(), where))

    def write_each(self, parts):
        for name, values, where in parts:
            self.write(name, values, **where)

    def append(self, name, columns):
        rows = {key: np.asarray(one).tolist() for key, one in columns.items()}
        self.written.append((name, rows))


ALWAYS = {"society", "day", "quantile", "activity"}
OF_DEVICES = {"resource", "component", "source", "device_type", "made_type"}


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({}, set()),
        ({"record": {"agent": 3}}, {"agent", "agent_day"}),
        ({"record": {"agent": 1}}, {"agent"}),
        ({"record": {"agent_resource": 4}}, {"agent", "resource", "resource_day"}),
        ({"record": {"agent_resource": 1}}, {"agent", "resource"}),
        ({"record": {"society": 2, "agent_resource": 2}}, {"agent", "resource"}),
        ({"record": {"measures": True}}, {"resource", "top"}),
        ({"groups": GROUPS}, {"group"}),
        ({"groups": [{"name": "all", "count": 6}]}, set()),
        ({"devices": "all", "record": {"device": 1}}, OF_DEVICES),
        ({"devices": "tools", "record": {"device": 5}}, OF_DEVICES | {"device_day"}),
        ({"devices": "tools", "record": {"device": 0}}, OF_DEVICES),
        ({"record": {"device": 5}}, set()),  # of no effect without devices
    ],
)
def test_a_file_has_the_dimensions_of_what_is_recorded(settings, more):
    made = recorder(**settings)
    found = {one.name: one.values for one in made.coordinates()}
    assert {*found} == ALWAYS | more
    every = settings.get("record", {}).get("society", 1)
    assert found["day"].tolist() == list(range(every, 13, every))
    assert found["quantile"].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0] == list(QUANTILES)
    assert len(found["activity"]) == len(ACTIVITIES) + (10 if "component" in more else 0)
    assert len(set(found["activity"])) == len(found["activity"])
    for name, length in (("agent", 6), ("resource", 5), ("group", 2), ("device_type", 6)):
        assert name not in found or len(found[name]) == length
    if "component" in found:
        device = made.config.device
        assert len(found["component"]) == max(device.resources_in_tool, device.components)
    dims = {dim for one in made.variables() for dim in one.dims}
    assert dims <= {*found}
    agents = {"agent", "resource_day", "agent_day"} & {*found}
    assert ("agent_group" in [one.name for one in made.variables()]) == (
        "groups" in more and agents
    )


def test_groups_of_agents_are_recorded_with_details_of_agents():
    for record, recorded in (
        ({}, False),
        ({"agent": 3}, True),
        ({"agent_resource": 3}, True),
        ({"agent": 3, "agent_resource": 2}, True),
    ):
        for groups, some in ((GROUPS, True), ([], False), ([{"name": "a", "count": 6}], False)):
            made = recorder(record=record, groups=groups)
            names = [one.name for one in made.variables()]
            assert ("agent_group" in names) == (recorded and some)
            file = Store(*names)
            made.begin(file, 0, dict)
            expected = [("agent_group", [0, 0, 1, 1, 1, 1], {})] if recorded and some else []
            assert file.written == expected
    assert group_of_agent(economy(groups=GROUPS)) == (0, 0, 1, 1, 1, 1)


def test_a_row_for_each_resource_of_a_table_needs_the_resources():
    table = {"utility.scale": [[100.0, 200.0, 300.0, 400.0, 500.0]] * 2}
    names = [one.name for one in recorder(table).coordinates()]
    assert "resource" in names and names.index("utility.scale") == 1
    names = [one.name for one in recorder({"day_length": [500.0, 600.0]}).coordinates()]
    assert "resource" not in names and "day_length" in names


def test_only_what_is_recorded_on_a_day_is_read_on_it():
    made = recorder(record={"agent": 3, "agent_resource": 4, "network": [5]}, devices="tools")
    state = {name: name for name in made.fields}
    agents = {"units_extracted", "utility", "minutes_with", "making_minutes"}
    resources = {"held", "extracted"}
    links = {name for name in state if name.startswith("link_")}
    for day, present, absent in (
        (6, agents, resources | links),
        (8, resources, agents | links),
        (12, agents | resources, links),
        (5, links, agents | resources),
        (7, set(), agents | resources | links),
    ):
        found = made.detail(day, state)
        assert present <= found.keys() and not absent & found.keys()
        assert found == {name: name for name in found}
    assert made.detail(5, state).keys() == links and made.detail(7, state) == {}


def test_parts_of_a_detail_are_next_to_each_other():
    config = economy(record={"agent": 3}, devices="all")
    made, sizes = DayRecorder(Setup(WORKLOAD, config)), Setup(WORKLOAD, config).sizes
    shapes = {name: (1, *(sizes[dim] for dim in one.dims)) for name, one in made.fields.items()}
    state = {name: np.zeros(shape) for name, shape in shapes.items()}
    state["minutes_with"] += 1
    state["making_minutes"] += 2
    file = Store()
    made._write_detail(file, 3, state)
    (values,) = (np.array(one) for name, one, _ in file.written if name == "agent_minutes")
    assert values.shape == (1, 6, 11)
    parts = [[1] * sizes["source"] + [2] * sizes["device_type"]] * 6
    assert values.tolist() == [parts]


def test_detail_is_written_on_its_days_at_its_place():
    made = recorder(record={"agent": 3, "agent_resource": 4, "network": [5, 99]})
    assert made.stops() == {3, 6, 9, 12, 4, 8, 5}
    assert recorder(record={"agent": 5}).stops() == {5, 10}
    assert recorder(record={"agent_resource": 5}).stops() == {5, 10}
    assert recorder().stops() == set()
    state = {name: np.zeros((1, 6, 5)) for name in made.fields}
    for day, dim, place in ((6, "agent_day", 1), (8, "resource_day", 1)):
        file = Store()
        made._write_detail(file, day, state)
        assert file.written and all(where == {dim: place} for _, _, where in file.written)
    file = Store()
    made._write_detail(file, 12, state)
    assert {str(where) for _, _, where in file.written} == {
        "{'agent_day': 3}",
        "{'resource_day': 2}",
    }
    file = Store()
    made._write_detail(file, 7, state)
    assert file.written == []
    detail = SimpleNamespace(fields=("a", "b")), SimpleNamespace(fields=("b",))
    made._details = [(2, "agent_day", {"both": detail[0], "one": detail[1]})]
    made.fields = {name: SimpleNamespace(present="") for name in "ab"}
    made._write_detail(file, 4, {"a": np.array([[1, 2]]), "b": np.array([[3]])})
    assert file.written == [
        ("both", [[1, 2, 3]], {"agent_day": 1}),
        ("one", [[3]], {"agent_day": 1}),
    ]


@pytest.mark.parametrize("every", [0, 1, 2, 5])
@pytest.mark.parametrize(("first", "last"), [(1, 4), (5, 5), (6, 9), (3, 12)])
def test_who_knows_a_device_is_counted_on_its_days(every, first, last):
    made = recorder(devices="tools", record={"device": every})
    days = np.arange(first, last + 1)
    knowing = np.arange(6)[None, None, :, None] + days[None, :, None, None]
    file = Store()
    made._write_knowledge(file, first, knowing)
    due = [day for day in days.tolist() if every and day % every == 0]
    if not due:
        assert file.written == []
        return
    ((name, values, where),) = file.written
    (dim,) = where
    assert name == "agents_knowing" and dim == ("day" if every == 1 else "device_day")
    assert [day for day in range(1, 13) if day % every == 0][where[dim]] == due
    assert values == [[[[kind + day] for kind in range(6)] for day in due]]


@pytest.mark.parametrize(
    ("agents", "kind"), [(254, "uint8"), (255, "uint16"), (65534, "uint16"), (65535, "uint32")]
)
def test_counts_have_room_for_all_agents_and_for_nothing_written(agents, kind):
    made = recorder(devices="tools")
    made.config = made.config.model_copy(update={"agents": agents})
    assert made._counts == kind


def test_inventions_are_rows_with_the_number_of_their_society():
    made = recorder(devices="all", first_society=3, replicates=2)
    file = Store()
    made._write_inventions(file, np.array([[0, 5, 1, 2, 4, 7, 8], [1, 6, 2, 0, 3, 9, -1]]))
    assert file.written == [
        (
            "inventions",
            {
                "society": [3, 4],
                "day": [5, 6],
                "inventor": [1, 2],
                "device_type": [2, 0],
                "resource": [4, 3],
                "recipe": [[7, 8], [9, -1]],
            },
        )
    ]
    for settings, rows in (
        ({"devices": "tools", "days": 2}, 12),  # one an agent and day
        ({"devices": "tools"}, 20),  # 4 of each of 5
        ({"devices": "all", "days": 500}, 120),
        ({"devices": "tools", "replicates": 3}, 60),
    ):
        (table,) = recorder(**settings).tables()
        assert (table.name, table.rows) == ("inventions", rows)
    assert recorder().tables() == []


def test_a_block_is_passed_on_to_what_records_it():
    made = recorder(devices="tools", record={"network": [4], "agent": 4})
    calls = []
    made.series = SimpleNamespace(write=lambda file, block: calls.append("series"))
    for name in ("_write_inventions", "_write_knowledge", "_write_detail"):
        setattr(made, name, lambda file, *more, name=name: calls.append((name, more[0])))
    made.trade_log = SimpleNamespace(
        stops=lambda: {4},
        write=lambda file, p, day, state, stop: calls.append(("log", day, state)),
        begin=lambda day, state: calls.append(("begin", day, state)),
        societies=lambda day: day == 4,
    )
    state = {"link_taker": np.full((1, 6, 2), -1)}
    state |= {name: np.zeros((1, 6, 2), int) for name in ("link_units", "link_swaps")}
    file, events = Store(), {"inventions": "rows"}
    logs = {"agents_knowing": "knowing"}
    for last, later in ((3, []), (4, ["_write_detail", "log", "begin"])):
        calls.clear()
        block = SimpleNamespace(
            first=2, last=last, events=events, logs=logs, state=lambda: state, interruption=None
        )
        block.detail = {4: state} if last == 4 else {}
        made.write(file, block)
        assert calls[:3] == ["series", ("_write_inventions", "rows"), ("_write_knowledge", 2)]
        assert [one[0] for one in calls[3:]] == later
    assert file.written[0][0] == "trade_network" and len(file.written) == 1
    for day, begun in ((3, True), (4, False), (2, False)):
        calls.clear()
        made.begin(Store(), day, lambda: state)
        assert calls == ([("begin", day, state)] if begun else [])
    plain = recorder()
    plain.series = made.series
    calls.clear()
    plain.write(file, SimpleNamespace(first=1, last=4, events={}, logs={}, detail={}))
    assert calls == ["series"]
    recipes = {name: np.zeros(3) for name in ("recipe", "recipe_day", "recipe_inventor")}
    for one, count in ((made, True), (plain, False)):
        file = Store()
        one.write_checkpoint(file, dict.fromkeys([*made.fields, *recipes], np.zeros(2)))
        assert bool(file.written) is count


def test_links_come_by_society_giver_and_taker():
    taker = np.full((2, 3, 2), -1)
    taker[0, 2], taker[1, 0] = [1, 0], [-1, 2]
    units = np.arange(12).reshape(2, 3, 2)
    state = {"link_taker": taker, "link_units": units, "link_swaps": units + 100}
    found = network.links(state, 7)
    assert {name: one.tolist() for name, one in found.items()} == {
        "society": [7, 7, 8],
        "giver": [2, 2, 0],
        "taker": [0, 1, 2],
        "units": [5, 4, 7],
        "swaps": [105, 104, 107],
    }
    assert all(one.dtype == np.int32 for one in found.values())
    devices = np.arange(2 * 3 * 6 * 2).reshape(2, 3, 6, 2)
    paid = network.links({**state, "link_paid": units * 2, "link_devices": devices}, 0)
    assert paid["units_paid"].tolist() == [10, 8, 14]
    assert paid["devices"].tolist() == [
        devices[0, 2, :, 1].tolist(),
        devices[0, 2, :, 0].tolist(),
        devices[1, 0, :, 1].tolist(),
    ]
    config = economy(record={"network": [4]})
    for day, count in ((4, 1), (5, 0)):
        file = Store()
        network.write_network(file, config, day, state)
        assert len(file.written) == count
    file = Store()
    network.write_network(file, config, 4, state)
    assert file.written[0][1]["day"] == [4, 4, 4]


# -- parameters -----------------------------------------------------------------------------------


def test_removals_are_shocks_and_interventions():
    config = economy(
        shocks=[
            {"day": 2, "remove": "resource", "index": 1},
            {"day": 3, "remove": "agent", "index": "random"},
            {"day": 4, "remove": "resource", "index": "random", "holdings": "lose"},
        ],
        interventions=[{"day": 5, "remove": "agent", "index": 4}],
    )
    rows = [(one.day, one.remove, one.index, one.holdings) for one in shocks(config)]
    resource, agent = rows[0][1], rows[1][1]
    keep, lose = rows[0][3], rows[2][3]
    assert resource != agent and keep != lose
    assert rows == [
        (2, resource, 1, keep),
        (3, agent, -1, keep),
        (4, resource, -1, lose),
        (5, agent, 4, keep),
    ]
    measured = {"measures": True}
    assert numeraire(economy(record={**measured, "numeraire": 3})) == 3
    assert numeraire(economy(record=measured)) is None
    assert WORKLOAD.replaceable() is RULES


def test_what_tells_of_a_wrong_rule_is_no_result():
    p = WORKLOAD.parameters(economy())
    assert FAULT not in state_fields(p)
    found = state_fields(replace(p, rule_sites=("here",)))[FAULT]
    assert not found.compared and not found.checkpointed


def test_only_curves_are_made_of_a_rule_before_the_first_day():
    assert {name for name, rule in RULES.items() if rule.table} == {
        *("utility.marginal", "extraction.effort", "device.effort"),
    }


def test_without_shocks_their_drawing_settles_nothing():
    assert WORKLOAD.settled(WORKLOAD.parameters(economy())) == {}
    shocks = {"shocks": [{"day": 2, "remove": "agent", "index": "random"}]}
    assert WORKLOAD.settled(WORKLOAD.parameters(economy(**shocks))).keys() == {
        *("shock_target", "stream"),
    }


def test_entries_of_removed_agents_are_missing_in_files():
    agent, resource = {"day": 3, "remove": "agent"}, {"day": 3, "remove": "resource"}
    for some, removed in (([], False), ([resource], False), ([resource, agent], True)):
        both = [{**one, "index": 0} for one in some]
        fields = state_fields(WORKLOAD.parameters(economy(shocks=both)))
        assert fields["held"].present == (ALIVE if removed else "")
        present = {name for name, one in fields.items() if one.present}
        assert ALIVE not in present and bool(present) is removed
        assert not {"series", "shock_target", "agent_order"} & present


def test_series_are_those_of_devices_groups_and_measures():
    plain = {*series_table(False, 1)}
    devices, groups = {*series_table(True, 1)}, {*series_table(False, 2)}
    assert plain < devices and plain < groups
    of_groups = groups - plain
    assert {*series_table(True, 2)} > devices | groups
    measured = {*series_table(False, 1, measures=True)} - plain
    with_devices = {*series_table(True, 1, measures=True)} - devices
    assert measured < with_devices and of_groups and plain == {*series_table(False, 1)}
    table = series_table(False, 1)
    late = {name for name, one in table.items() if one.lag}
    assert late == {"gini_3day", "gini_paper"} and {table[name].lag for name in late} == {1}
    names = {dim for one in series_table(True, 2, measures=True).values() for dim in one.dims}
    for with_them in (False, True):
        lengths = {name: len(of) for name, of in entries(with_them, 2).items()}
        assert names <= {*lengths} and (lengths["group"], lengths["top"]) == (2, len(TOPS))
        assert (lengths["quantile"], lengths["device_type"]) == (5, 6)
        assert lengths["activity"] == (11 if with_them else 1)


# -- keys that depend on each other ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("resources", "device", "tool", "components", "menu"),
    [
        (3, {}, 2, 3, 3),
        (5, {}, 4, 5, 5),
        (6, {}, 5, 6, 6),
        (9, {}, 5, 6, 6),
        (3, {"components": 2}, 2, 2, 3),
        (9, {"resources_in_tool": 8, "components": 9}, 8, 9, 6),
        (3, {"resources_in_tool": 1}, 1, 3, 3),
    ],
)
def test_few_resources_have_small_recipes_and_menus(resources, device, tool, components, menu):
    config = economy(resources=resources, devices="all", device=device)
    found = (config.device.resources_in_tool, config.device.components, config.trading.menu_size)
    assert found == (tool, components, menu)
    if resources > 2:
        own = economy(resources=resources, trading={"menu_size": 2})
        assert own.trading.menu_size == 2


@pytest.mark.parametrize(
    ("agents", "name"),
    [([0, 1], "x"), ([1, 0], "x"), ([2, 3, 4, 5], "y"), ([0, 1, 2, 3, 4, 5], "xy")],
)
def test_agents_that_are_groups_have_their_names(agents, name):
    assert economy(groups=GROUPS).groups_with(agents) == [*name]


BIG: list = []
"""The groups of 200 agents, which are none."""


@pytest.mark.parametrize(
    ("groups", "agents", "counts"),
    [
        (GROUPS, [0], "1, 1, 4"),
        (GROUPS, [1, 2], "1, 1, 1, 3"),
        (GROUPS, [2, 3, 4], "2, 3, 1"),
        ([], [4, 1], "1, 1, 2, 1, 1"),
        (BIG, [16, 9], "9, 1, 6, 1, 183"),
        ([], [0, 1, 2, 3, 4, 5], "6"),
    ],
)
def test_of_agents_that_are_no_groups_the_groups_to_write_are_said(groups, agents, counts):
    said, numbers = "agents" if len(agents) > 1 else "agent", ", ".join(map(str, sorted(agents)))
    count = 200 if groups is BIG else 6
    config = economy(groups=groups, agents=count)
    with pytest.raises(NotVarying, match=rf"^{said} {numbers}: no groups .* in order: {counts}$"):
        config.groups_with(agents)
    for agent in (count, count + 1):
        message = rf"^there is no agent {agent}; they are numbered 0 to {count - 1}$"
        with pytest.raises(NotVarying, match=message):
            config.groups_with([0, agent])


@pytest.mark.parametrize(
    ("shares", "sizes"),
    [((0.5, 0.5), [3, 3]), ((0.25, 0.75), [2, 4]), ((0.2, 0.3, 0.5), [1, 2, 3]), ((1.0,), [6])],
)
def test_groups_have_their_shares_of_the_agents(shares, sizes):
    """By largest remainders: what is left goes to those that lack most."""
    groups = [{"name": f"g{i}", "share": share} for i, share in enumerate(shares)]
    assert economy(groups=groups).group_sizes() == sizes
    assert economy(groups=GROUPS).group_sizes() == [2, 4] and economy().group_sizes() == [6]


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "a\x00"])
def test_a_name_of_a_group_is_printable(name):
    with pytest.raises(ValueError, match="name"):
        GroupConfig(name=name, count=1)
    assert GroupConfig(name="a b", count=1).name == "a b"


@pytest.mark.parametrize(
    "data",
    [
        None,
        3,
        {},
        {"rules": None},
        {"rules": 3},
        {"rules": {"trading": 3}},
        {"rules": {"trading": {}}},
        {"rules": {"trading": {"price": "a.py:f"}}},
        {"rules": {"trading": {"price": "unit"}}, "trading": 3},
        {"rules": {"utility": {"marginal": "a.py:f"}}},
    ],
)
def test_what_is_no_word_of_a_rule_is_left_alone(data):
    assert with_words(data) is data


def test_a_word_for_a_rule_is_given_by_its_key():
    rules = {"trading": {"price": "unit", "score": "a.py:f"}, "utility": 1}
    found = with_words({"days": 3, "trading": {"rounds": 2}, "rules": rules})
    assert found == {
        "days": 3,
        "trading": {"rounds": 2, "price": "unit"},
        "rules": {"trading": {"score": "a.py:f"}, "utility": 1},
    }
    assert with_words({"rules": {"trading": {"price": "geometric"}}}) == {
        "trading": {"price": "geometric"},
        "rules": {"trading": {}},
    }
    assert economy(rules={"trading": {"price": "unit"}}).trading.price == "unit"


def test_bounds_of_several_are_those_of_the_most_extreme():
    usual = {"devices": "all"}
    settings = [
        {
            "day_length": 500.0,
            "extraction": {"min_effort": 2.0},
            "consumption": {"resource_lifetime": 9.0},
            "device": {"min_effort": 8.0, "factor": {"tool": 5.0}, "lifetime": {"tool": 90.0}},
        },
        {
            "day_length": 700.0,
            "extraction": {"min_effort": [1.0, 2.0, 3.0, 4.0, 5.0], "max_effort": 6.0},
            "consumption": {"resource_lifetime": 3.0},
            "device": {"min_effort": 9.0, "factor": {"tool": 4.0}, "lifetime": {"tool": 99.0}},
        },
    ]
    for order in (settings, settings[::-1]):
        found = bounds.envelope([economy(**usual, **one) for one in order])
        assert (found.day_length, found.extraction.min_effort) == (700.0, 1.0)
        assert (found.consumption.resource_lifetime, found.device.min_effort) == (9.0, 8.0)
        assert (found.device.factor.tool, found.device.lifetime.tool) == (5.0, 99.0)
        assert found.groups == () and found.device.factor.machine == 9.0
        assert bounds.units_a_day(found) == int(700.0 * 81.0 / 1.0) + 2
    empty = economy().model_copy(
        update={
            "extraction": SimpleNamespace(min_effort=()),
            "consumption": SimpleNamespace(resource_lifetime=()),
        }
    )
    assert bounds.units_a_day(empty) == 602 and bounds._stock(empty) == 602


def test_warnings_are_those_of_keys_and_of_overlaps():
    changes = [
        {"day": 2, "until": 9, "set": {"day_length": 500.0}},
        {"day": 4, "until": 11, "set": {"day_length": 400.0}},
    ]
    found = [one.path for one in economy(interventions=changes).warnings()]
    assert ("interventions", 1, "set") in found
    assert not [*economy().warnings()]
    few = {"day": 4, "until": 6, "set": {"day_length": [500.0, 400.0, 300.0]}}
    (found,) = economy(interventions=[few]).warnings()
    assert found.path == ("interventions", 0, "set", "day_length")
    assert found.message == "the series has 3 values; the first 2 are used, until day 6"
    assert not [*economy(interventions=[few | {"until": 7}]).warnings()]


def test_an_intervention_that_would_end_after_the_run_is_a_warning():
    ends = {"day": 4, "set": {"day_length": 500.0}}
    last = economy().days
    assert not [*economy(interventions=[ends, ends | {"until": last}]).warnings()][1:]
    found = [*economy(interventions=[ends | {"until": last + 1}]).warnings()]
    said = f"{last + 1} is after the last day, {last}: it holds to the end of the run"
    assert [(one.path, one.message) for one in found] == [(("interventions", 0, "until"), said)]


def test_taxes_that_no_transfer_pays_out_are_a_warning():
    tax = {"sales_tax": {"middle_from": 9, "middle_rate": 0.1}}
    (found,) = economy(policies=tax).warnings()
    assert found.path == ("policies",) and "not paid out, their units stay" in found.message
    later = {"day": 2, "set": {"policies.income_tax.rate": 0.1}}
    (found,) = economy(interventions=[later]).warnings()
    assert found.path == ("policies",)
    pays = {"day": 5, "set": {"policies.transfer.poorest": 0.5}}
    whom = [{"name": "x", "share": 1.0, "transfer_share": 0.5}]
    for paid in (
        {"policies": tax | {"transfer": {"equal": 0.5}}},
        {"policies": tax, "interventions": [pays]},
        {"policies": tax, "groups": whom},
        {"policies": {"transfer": {"equal": 0.5}, "quota_of": 0}},
    ):
        assert not [*economy(**paid).warnings()]
    assert [*economy(record={"agent": 99}).warnings()]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"agents": [0, 1], "group": "x"}, "names agents as well as a group; give one of them"),
        ({"group": "x", "until": 9, "remove": "agent", "index": 1, "set": {}}, "a removal is perm"),
        ({"societies": [0], "remove": "agent", "index": 1, "set": {}}, "a removal is in all"),
    ],
)
def test_interventions_that_say_two_things_are_refused(change, said):
    with pytest.raises(ConfigError, match=said):
        economy(groups=GROUPS, interventions=[{"day": 3, "set": {"trade_power": 2.0}, **change}])
    for right in ({"agents": [0, 1]}, {"group": "x"}):
        one = {"day": 3, "set": {"trade_power": 2.0}, **right}
        economy(groups=GROUPS, interventions=[one])


def test_permanent_checkpoints_of_an_economy_need_checkpoints():
    with pytest.raises(ConfigError, match=r"record.keep: needs checkpoints"):
        economy(record={"keep": [3], "checkpoint": 0})
