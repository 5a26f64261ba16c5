"""What is in the file of an economy, and does it say what the economy did? As a user opens it."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from engines import ReferenceEngine
from numpy.testing import assert_array_equal

import societies
from societies import config_from_dict, load_config
from societies.economy.config.bounds import largest_holding
from societies.economy.parameters import parameters
from societies.economy.series import columns
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload import Block

SERIES = columns(devices=False, groups=1)

DAYS, AGENTS, RESOURCES, SOCIETIES, FIRST = 12, 6, 8, 2, 3
BASE = {
    "workload": "economy",
    "agents": AGENTS,
    "resources": RESOURCES,
    "days": DAYS,
    "seed": 2**64 - 1,
    "replicates": SOCIETIES,
    "first_society": FIRST,
    "shocks": [{"day": 8, "remove": "resource", "index": "random", "holdings": "lose"}],
}
PER_SOCIETY = [
    *["units_extracted", "units_held", "units_traded", "utility", "gini", "gini_3day"],
    *["gini_paper", "agents_alive"],
]
AGENT_FIELDS = {
    "agent_units_extracted": "units_extracted",
    "agent_units_held": "units_held",
    "agent_units_traded": "units_traded",
    "agent_utility": "utility",
}
RESOURCE_FIELDS = ["held", "experience", "value", "extracted"]
RECORDS = [
    {},
    {"agent": 1, "agent_resource": 1},
    {"agent": 3, "agent_resource": 3},
    {"agent": 2, "agent_resource": 5},
    {"society": 3, "agent": 3, "agent_resource": 2},
    {"society": 5, "agent_resource": 7, "checkpoint": 1},
    {"society": DAYS, "agent": DAYS, "agent_resource": DAYS},
]


def configuration(**changes):
    return config_from_dict({**BASE, **changes})


@pytest.fixture(scope="module")
def truth():
    """Return the reference's state and series after every day."""
    engine = ReferenceEngine(parameters(configuration()))
    engine.start()
    days = []
    for day in range(1, DAYS + 1):
        row = engine.run_days(day, day)[:, 0]
        days.append((engine.state(), dict(zip(SERIES, row.T, strict=True))))
    return days


@pytest.fixture(scope="module")
def detailed(tmp_path_factory):
    """Return a finished file with every detail on every day."""
    path = tmp_path_factory.mktemp("detailed") / "run.h5"
    societies.run(configuration(record={"agent": 1, "agent_resource": 1}), out=path)
    return path


def days_every(every):
    return list(range(every, DAYS + 1, every)) if every else []


# -- what it declares ----------------------------------------------------------------------------


def test_dimensions_and_named_coordinates(detailed):
    with xr.open_dataset(detailed) as data:
        assert dict(data.sizes) == {
            "society": SOCIETIES,
            "day": DAYS,
            "agent": AGENTS,
            "resource": RESOURCES,
            "quantile": 5,
            "activity": 1,
        }
        assert set(data.coords) == set(data.dims)
        assert data.society.values.tolist() == [FIRST, FIRST + 1]
        assert data.day.values.tolist() == list(range(1, DAYS + 1))
        assert data["quantile"].values.tolist() == [0, 0.25, 0.5, 0.75, 1]
        assert data.activity.values.tolist() == ["hand"]
        assert data.agent.values.tolist() == list(range(AGENTS))
        assert data.resource.values.tolist() == list(range(RESOURCES))


def test_variables_that_others_rely_on(detailed):
    with xr.open_dataset(detailed) as data:
        for name in PER_SOCIETY:
            assert data[name].dims == ("society", "day"), name
        assert data.hhi.dims == ("society", "day", "quantile")
        assert data.minutes.dims == ("society", "day", "activity")
        for name in AGENT_FIELDS:
            assert data[name].dims == ("society", "day", "agent"), name
        for name in RESOURCE_FIELDS:
            assert data[name].dims == ("society", "day", "agent", "resource"), name
        assert data.hhi.sel(society=FIRST, day=DAYS, quantile=0.5).shape == ()
        assert data.minutes.sel(activity="hand", day=1).shape == (SOCIETIES,)


def test_everything_has_a_unit_and_a_long_name(detailed):
    with xr.open_dataset(detailed) as data:
        for name, variable in data.variables.items():
            assert variable.attrs["units"], name
            assert len(variable.attrs["long_name"]) > 3, name
        assert data.day.attrs["units"] == "day"
        assert data.utility.attrs["units"] == "util"
        assert data.minutes.attrs["units"] == "min"
        assert data.held.attrs["units"] == "units"
        assert data.gini.attrs["units"] == "1"


def test_counts_are_integers_and_measures_are_floats(detailed):
    with societies.open_results(detailed) as data:
        for name in ("agent_units_extracted", "agent_units_held", "agent_units_traded"):
            assert data[name].dtype == np.int32, name
        for name in ("held", "extracted"):
            assert data[name].dtype == np.int32, name
            assert (data[name] >= 0).all(), name
        for name in (*PER_SOCIETY, "hhi", "minutes", "agent_utility", "experience", "value"):
            assert data[name].dtype == np.float64, name
        for name in ("society", "day", "agent", "resource"):
            assert data[name].dtype.kind == "i", name
        assert int(data.ticks_committed) == DAYS


def test_attributes_tell_where_the_numbers_come_from(detailed, tmp_path):
    device = societies.choose_device("auto")
    with xr.open_dataset(detailed) as data:
        attributes = dict(data.attrs)
    assert attributes["workload"] == "economy"
    assert attributes["seed"] == str(2**64 - 1)
    assert attributes["model_version"]
    assert attributes["societies_version"]
    assert "git_commit" in attributes
    assert device.name in attributes["device"]
    assert device.driver in attributes["driver"]
    for option in device.build_options:
        assert option in attributes["build_options"]
    assert attributes["created"].startswith("20")
    (tmp_path / "again.yaml").write_text(attributes["configuration"])
    expected = configuration(record={"agent": 1, "agent_resource": 1})
    assert load_config(tmp_path / "again.yaml") == expected


def test_the_reference_names_itself(tmp_path):
    report = societies.run(configuration(days=8), device="reference", out=tmp_path / "run.h5")
    with xr.open_dataset(tmp_path / "run.h5") as data:
        assert data.attrs["device"] == report.device == "reference"
        assert data.attrs["driver"].startswith("Python 3.")
        assert data.attrs["build_options"] == ""


# -- what it holds -------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_what_is_recorded_is_what_the_reference_did(record, truth, tmp_path):
    path = tmp_path / "run.h5"
    societies.run(configuration(record=record), out=path)
    every = {"society": 1, "agent": 0, "agent_resource": 0, **record}
    dims = {
        what: "day" if every[what] == every["society"] else own
        for what, own in (("agent", "agent_day"), ("agent_resource", "resource_day"))
        if every[what]
    }
    with societies.open_results(path) as data:
        assert data.day.values.tolist() == days_every(every["society"])
        for what, dim in dims.items():
            assert data[dim].values.tolist() == days_every(every[what])
        expected_dims = {"society", "day", "quantile", "activity", *dims.values()}
        expected_dims |= {"agent"} if dims else set()
        expected_dims |= {"resource"} if every["agent_resource"] else set()
        assert set(data.dims) == expected_dims
        assert ("agent_utility" in data) == bool(every["agent"])
        assert ("held" in data) == bool(every["agent_resource"])

        for day in days_every(every["society"]):
            assert_series(data.sel(day=day), truth, day)
        for what, fields in (
            ("agent", AGENT_FIELDS),
            ("agent_resource", {name: name for name in RESOURCE_FIELDS}),
        ):
            for day in days_every(every[what]):
                state, _ = truth[day - 1]
                for name, field in fields.items():
                    recorded = data[name].sel({dims[what]: day}).values
                    assert recorded.dtype == state[field].dtype
                    assert_array_equal(recorded, state[field], f"{name}, day {day}")


def assert_series(data, truth, day):
    """Compare one day of the file with the reference's series, bit for bit."""
    _, series = truth[day - 1]
    for name in SERIES:
        if name.startswith("hhi_"):
            recorded = data.hhi.isel(quantile=int(name[-1])).values
        elif name.startswith("minutes_"):
            recorded = data.minutes.sel(activity=name.removeprefix("minutes_")).values
        else:
            recorded = data[name].values
        expected = series[name]
        if name in (
            "gini_3day",
            "gini_paper",
        ):  # it is known a day later, so on the last day not at all
            expected = truth[day][1][name] if day < DAYS else np.full(SOCIETIES, np.nan)
        assert_array_equal(recorded, expected, f"{name}, day {day}")


def test_what_was_extracted_adds_up(detailed):
    with xr.open_dataset(detailed) as data:
        assert (data.extracted.sum("resource") == data.agent_units_extracted).all()
        for name in ("units_extracted", "units_held", "units_traded", "utility"):
            np.testing.assert_allclose(data[f"agent_{name}"].mean("agent"), data[name], rtol=1e-12)
        assert (data.agents_alive == AGENTS).all()
        assert (data.held.sum("resource") <= data.agent_units_held).all()
        np.testing.assert_allclose(data.minutes.sum("activity").max(), 600, atol=9)


def test_the_gini_of_three_days_is_missing_only_where_a_neighbour_is(detailed):
    with xr.open_dataset(detailed) as data:
        missing = np.isnan(data.gini_3day).all("society").values
        assert missing.tolist() == [True, *[False] * (DAYS - 2), True]
        # Its definition, from the utilities of the agents on the three days.
        sums = sum(data.agent_utility.isel(day=slice(k, DAYS - 2 + k)).values for k in range(3))
        ordered = np.sort(sums, axis=-1)
        weights = 2 * np.arange(1, AGENTS + 1) - AGENTS - 1
        gini = (weights * ordered).sum(-1) / (AGENTS * ordered.sum(-1))
        np.testing.assert_allclose(data.gini_3day[:, 1:-1], gini, rtol=1e-9)


@pytest.mark.ci
def test_a_society_is_the_same_alone_and_in_an_ensemble(detailed, tmp_path):
    for society in (FIRST, FIRST + 1):
        alone = configuration(
            replicates=1, first_society=society, record={"agent": 1, "agent_resource": 1}
        )
        societies.run(alone, out=tmp_path / f"{society}.h5")
        with xr.open_dataset(tmp_path / f"{society}.h5") as one, xr.open_dataset(detailed) as all_:
            xr.testing.assert_identical(one.drop_attrs(), all_.sel(society=[society]).drop_attrs())


def test_the_report_tells_the_last_day_of_the_file(detailed, tmp_path):
    config = configuration(record={"society": 5})
    report = societies.run(config, out=tmp_path / "run.h5")
    with xr.open_dataset(detailed) as data:
        for name in ("units_extracted", "utility", "gini"):
            assert report.final[name] == pytest.approx(float(data[name][:, -1].mean()), rel=1e-14)
    assert "gini_3day" not in report.final  # not known on the last day
    again = societies.run(config, out=tmp_path / "run.h5", resume=True)
    assert again.final == {}  # day 12 is none of those recorded
    assert again.state_sha256 == report.state_sha256


def test_what_would_record_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError) as caught:
        configuration(record={"agent_resource": 12, "society": 99, "checkpoint": 99})
    assert str(caught.value).splitlines() == [
        "record.society: 99 days are more than the run has (12); nothing would be recorded",
    ]


def test_a_run_stops_before_a_table_that_was_cut_off_ends():
    """Found in review: such a run continued with units that were worth nothing."""
    config = config_from_dict({"workload": "economy", "utility": {"exponent": 1.2}})
    p, limit = parameters(config), largest_holding(config)
    series = np.zeros((2, 3, len(SERIES)))
    block = Block(1, 3, {"series": series}, {}, dict, None)
    held = SERIES.index("units_held_max")
    series[1, 2, held] = limit // 2
    WORKLOAD.check(block, p)
    series[1, 2, held] += 1
    with pytest.raises(ConfigError, match=r"utility\.min_marginal: an agent holds \d+ units"):
        WORKLOAD.check(block, p)
    default = config_from_dict({"workload": "economy"})  # whose table ends by itself
    WORKLOAD.check(block, parameters(default))
