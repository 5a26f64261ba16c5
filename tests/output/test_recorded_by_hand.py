"""Is what a file holds, at any interval, what the reference had on those evenings?

The reference's own arrays and series are taken by their names, one evening after the other; the
names, dimensions and units of variables are written down here. On the reference: no device.
"""

from itertools import product

import numpy as np
import pytest
from engines import ReferenceEngine
from marks import thorough_but
from numpy.testing import assert_array_equal

import societies
from reference_py.economy.devices import DEVICE_TYPES, SOURCES
from reference_py.economy.measures import measure_names
from societies import config_from_dict
from societies.economy.parameters import parameters

DAYS, REMOVED_ON = 7, 4
SETTINGS = {
    "workload": "economy",
    "agents": 5,
    "resources": 6,
    "days": DAYS,
    "day_length": 150.0,
    "seed": 4,
    "replicates": 2,
    "first_society": 3,
    "utility": {"min_marginal": 2.5},
    "extraction": {"max_experience": 150.0},
    "trading": {"rounds": 2, "menu_size": 3},
    "interventions": [{"day": REMOVED_ON, "remove": "agent", "index": 1}],
}
DEVICES = {
    "devices": "all",
    "devices_market": {"rounds": 4},
    "device": {"resources_in_tool": 3, "components": 2},
    "invention": {
        "tool_probability": 0.02,
        "device_probability": 0.1,
        "min_made_for_device_maker": 1,
    },
    "groups": [{"name": "few", "count": 2}, {"name": "rest", "count": 3}],
}
KINDS = {"plain": {}, "devices": DEVICES}

MAKING = [f"making_{name}" for name in DEVICE_TYPES]
LABELS = {
    "quantile": [0.0, 0.25, 0.5, 0.75, 1.0],
    "activity": [*SOURCES, *MAKING],
    "source": list(SOURCES),
    "device_type": list(DEVICE_TYPES),
    "made_type": ["tools", "machines"],
    "group": ["few", "rest"],
    "top": [0.01, 0.1, 0.5],
    "component": [0, 1, 2],
}
FAMILIES = {
    "hhi": ("quantile",),
    "minutes": ("activity",),
    "extraction_share": ("source",),
    "devices_made": ("device_type",),
    "devices_traded": ("device_type",),
    "devices_held": ("device_type",),
    "devices_known": ("device_type",),
    "inventions": ("device_type",),
    "device_maker_share": ("made_type",),
    "group_agents_alive": ("group",),
    "group_units_extracted": ("group",),
    "group_units_held": ("group",),
    "group_units_traded": ("group",),
    "group_units_traded_outside": ("group",),
    "group_utility": ("group",),
    "group_units_paid_for_devices": ("group",),
    "group_units_paid_outside": ("group",),
    "group_devices_made": ("group", "device_type"),
}
NUMBERED = ("quantile", "group")
"""Dimensions that the reference's names of series count; others are named."""

SINGLE = (
    *("units_extracted", "units_held", "units_traded", "deals", "resources_extracted"),
    *("units_held_max", "agents_alive", "utility", "utility_median", "gini", "gini_cumulative"),
    *("gini_extracted", "gini_3day", "gini_paper"),
)
OF_DEVICES = ("units_paid_for_devices", "overtime", "interdependence")
A_DAY_LATER = ("gini_3day", "gini_paper")

AGENT = {
    "agent_units_extracted": ("units_extracted",),
    "agent_units_held": ("units_held",),
    "agent_units_traded": ("units_traded",),
    "agent_utility": ("utility",),
}
AGENT_DEVICES = {
    "agent_minutes": ("minutes_with", "making_minutes"),
    "agent_extracted_with": ("extracted_with",),
    "agent_devices_made": ("made_today",),
    "agent_devices_sold": ("devices_sold",),
    "agent_device_minutes": ("device_stock",),
    "agent_units_paid": ("units_paid",),
    "agent_overtime": ("overtime",),
}
AGENT_MEASURES = {
    "agent_income": ("income",),
    "agent_consumption": ("utility_consumed",),
    "agent_wealth": ("wealth",),
}
AGENT_DEVICE_MEASURES = {
    "agent_income_sales": ("income_sales",),
    "agent_spending_devices": ("spending_devices",),
    "agent_wealth_devices": ("wealth_devices",),
}
RESOURCE = {name: (name,) for name in ("held", "experience", "value", "extracted")}
RESOURCE_DEVICES = {
    "device_minutes": ("device_minutes",),
    "device_experience": ("device_experience",),
    "made": ("devices_made",),
}
RESOURCE_MEASURES = ("resource_price", "resource_price_dispersion", "resource_units_priced")
RECIPES = {"recipe": -1, "invented_on": 0, "inventor": -1}
"""What the state has before an invention; the file has nothing."""


def configuration(kind, record):
    return config_from_dict({**SETTINGS, **KINDS[kind], "record": record})


def evenings_of(kind):
    """Return the reference's state, series, measures and inventions after each day."""
    p = parameters(configuration(kind, {"measures": True, "device": 1}))
    engine = ReferenceEngine(p)
    engine.start()
    found = []
    for day in range(1, DAYS + 1):
        engine.run_ticks(day, day)
        series = [dict(copy.series) for copy in engine.copies_now]
        measures = [
            dict(zip(measure_names(p), copy.measures, strict=True)) for copy in engine.copies_now
        ]
        state = engine.state()
        events = [list(copy.inventions.rows) for copy in engine.copies_now] if p.devices else []
        found.append({"state": state, "series": series, "measures": measures, "events": events})
    return found


RECORDS = [
    {"agent": 1, "agent_resource": 1, "device": 1, "measures": True},
    {"society": 2, "agent": 3, "agent_resource": 2, "device": 3, "measures": True},
    {"society": 3, "agent": 0, "agent_resource": 4, "device": 0},
    {"society": 7, "agent": 7, "agent_resource": 0, "device": 7},
]


@pytest.fixture(scope="module")
def plain():
    return evenings_of("plain")


@pytest.fixture(scope="module")
def devices():
    return evenings_of("devices")


@pytest.mark.parametrize("record", thorough_but(RECORDS[2:3], RECORDS[1:3]))
def test_without_devices_what_is_recorded_is_what_the_reference_had(plain, record, tmp_path):
    as_said("plain", plain, record, tmp_path)


@pytest.mark.parametrize("record", thorough_but(RECORDS[1:2], RECORDS))
def test_what_is_recorded_is_what_the_reference_had(devices, record, tmp_path):
    as_said("devices", devices, record, tmp_path)


def as_said(kind, evenings, record, tmp_path):
    """Run with this record and compare all that the file has."""
    config = configuration(kind, record)
    societies.run(config, device="reference", out=tmp_path / "run.h5")
    with societies.open_results(tmp_path / "run.h5") as data:
        data.load()
    every = {"society": 1, **record}
    if kind == "plain":
        every["device"] = 0
    of_day = {"society": "day"}
    for what, own in (
        ("agent", "agent_day"),
        ("agent_resource", "resource_day"),
        ("device", "device_day"),
    ):
        of_day[what] = "day" if every[what] == every["society"] else own
    for what, dim in of_day.items():
        if every[what]:
            days = list(range(every[what], DAYS + 1, every[what]))
            assert data[dim].values.tolist() == days, what
    dims = {dim for what, dim in of_day.items() if every[what]}
    assert {d for d in map(str, data.dims) if d == "day" or d.endswith("_day")} == dims
    expected = set(series_as_said(data, kind, evenings, every["society"]))
    if record.get("measures"):
        expected |= set(measures_as_said(data, evenings, every["society"]))
    details = {"agent": [AGENT], "agent_resource": [RESOURCE]}
    if kind == "devices":
        details["agent"].append(AGENT_DEVICES)
        details["agent_resource"].append(RESOURCE_DEVICES)
    if record.get("measures"):
        details["agent"].append(AGENT_MEASURES)
        if kind == "devices":
            details["agent"].append(AGENT_DEVICE_MEASURES)
    for what, tables in details.items():
        for name, fields in [pair for table in tables for pair in table.items() if every[what]]:
            detail_as_said(data, name, fields, of_day[what], evenings)
            expected.add(name)
    if kind == "devices":
        expected |= set(devices_as_said(data, evenings, of_day["device"], every["device"]))
        if every["agent"] or every["agent_resource"]:
            expected.add("agent_group")
            assert data.agent_group.values.tolist() == [0, 0, 1, 1, 1]
    assert set(map(str, data.data_vars)) == {*expected, "ticks_committed"}
    labels_as_said(data, kind, record)


def labels_as_said(data, kind, record):
    """Check the coordinates, which only those variables bring that have them."""
    assert data.society.values.tolist() == [3, 4]
    expected = {"society", "quantile", "activity"}
    expected |= {d for d in map(str, data.dims) if d == "day" or d.endswith("_day")}
    if record["agent"] or record["agent_resource"]:
        expected.add("agent")
        assert data.agent.values.tolist() == list(range(5))
    if record["agent_resource"] or record.get("measures") or kind == "devices":
        expected.add("resource")
        assert data.resource.values.tolist() == list(range(6))
    if record.get("measures"):
        expected.add("top")
    if kind == "devices":
        expected |= {"source", "device_type", "made_type", "component", "group"}
    assert set(map(str, data.coords)) == expected
    for name in expected & set(LABELS):
        labels = LABELS[name] if kind == "devices" or name != "activity" else ["hand"]
        assert data[name].values.tolist() == labels, name


def recorded(data, name, *dims):
    """Return a variable as (day, society, ...); its dimensions are those."""
    assert data[name].dims == dims, name
    values = data[name].values
    return values if "day" not in dims[1] else np.moveaxis(values, 1, 0)


def series_as_said(data, kind, evenings, every):
    """Compare every series with the reference's, which has its name; yield the names."""
    days = range(every, DAYS + 1, every)
    nothing = dict.fromkeys(A_DAY_LATER, np.nan)
    by_day = [one["series"] for one in evenings] + [[nothing, nothing]]
    for name in [*SINGLE, *(OF_DEVICES if kind == "devices" else ())]:
        at = [day if name in A_DAY_LATER else day - 1 for day in days]
        right = [[society[name] for society in by_day[i]] for i in at]
        assert_array_equal(recorded(data, name, "society", "day"), right, name)
        yield name
    plain = {"hhi": FAMILIES["hhi"], "minutes": FAMILIES["minutes"]}
    for name, dims in (FAMILIES if kind == "devices" else plain).items():
        labels = [range(len(data[d])) if d in NUMBERED else data[d].values.tolist() for d in dims]
        words = ["_".join((name, *map(str, word))) for word in product(*labels)]
        found = recorded(data, name, "society", "day", *dims).reshape(len(days), 2, -1)
        right = [[[society[w] for w in words] for society in by_day[day - 1]] for day in days]
        assert_array_equal(found, right, name)
        yield name


def measures_as_said(data, evenings, every):
    """Compare every measure with the reference's; yield the names."""
    days = range(every, DAYS + 1, every)
    for name in evenings[0]["measures"][0]:
        kinds = {"top_share": ("top",), "group": ("group",)}
        dims = next((of for start, of in kinds.items() if name.startswith(start)), ())
        variable, _, place = name.rpartition("_") if dims else (name, "", "0")
        found = recorded(data, variable, "society", "day", *dims).reshape(len(days), 2, -1)
        right = [[society[name] for society in evenings[day - 1]["measures"]] for day in days]
        assert_array_equal(found[..., int(place)], right, name)
        yield variable
    for name in RESOURCE_MEASURES:
        found = recorded(data, name, "society", "day", "resource")
        assert_array_equal(found, [evenings[day - 1]["state"][name] for day in days], name)
        yield name


def detail_as_said(data, name, fields, dim, evenings):
    """Compare a detail with the state; what a removed agent had is missing."""
    assert data[name].dims[:3] == ("society", dim, "agent")
    for day, found in zip(data[dim].values.tolist(), data[name].values.swapaxes(0, 1), strict=True):
        state = evenings[day - 1]["state"]
        right = np.concatenate([state[field] for field in fields], axis=-1)
        gone = state["alive"] == 0
        assert gone.sum() == (2 if day >= REMOVED_ON else 0)
        assert np.isnan(found[gone]).all()
        assert_array_equal(found[~gone], right[~gone], f"{name}, day {day}")


def devices_as_said(data, evenings, dim, every):
    """Compare recipes and knowledge; yield the names."""
    last = evenings[-1]["state"]
    for name, nothing in RECIPES.items():
        found = data[name].values
        assert data[name].dims[:3] == ("society", "device_type", "resource")
        none = last[name] == nothing
        assert np.isnan(found[none]).all() and none.any() and not none.all()
        assert_array_equal(found[~none], last[name][~none], name)
        yield name
    if every:
        found = recorded(data, "agents_knowing", "society", dim, "device_type", "resource")
        days = data[dim].values.tolist()
        right = [evenings[day - 1]["state"]["agents_knowing"] for day in days]
        assert_array_equal(found, right)
        yield "agents_knowing"


def test_the_table_of_inventions_has_each_of_them(devices, tmp_path):
    path = tmp_path / "run.h5"
    societies.run(configuration("devices", {"society": 7}), device="reference", out=path)
    with societies.open_results(path, events="inventions") as table:
        found = [
            (
                int(s),
                int(d),
                int(i),
                int(t),
                int(r),
                *np.nan_to_num(recipe, nan=-1).astype(int).tolist(),
            )
            for s, d, i, t, r, recipe in zip(
                *(table[n].values for n in ("society", "day", "inventor", "device_type")),
                *(table[n].values for n in ("resource", "recipe")),
                strict=True,
            )
        ]
    right = [
        (3 + place, *row)
        for evening in devices
        for place, rows in enumerate(evening["events"])
        for row in rows
    ]
    assert len(right) > 5
    assert sorted(found) == sorted(right)
