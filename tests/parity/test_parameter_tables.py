"""Do societies that differ in their parameters live in one launch as each does alone?"""

import json
from operator import attrgetter

import numpy as np
import pytest
import xarray as xr
from small import GROUPS, keys_of, small

import societies
from reference_py.economy.parameters import Parameters
from societies import SocietiesError, config_from_dict, open_results, verify
from societies import sweep as studies
from societies.config.model import INITIAL, TABULATED, VALUE
from societies.economy import source
from societies.economy.ensemble import Ensemble
from societies.economy.parameters import parameters
from societies.economy.workload import WORKLOAD
from societies.sweep.document import load_sweep
from societies.sweep.points import checked_points, sweep_points
from societies.workload import Setup
from societies.workload.running.batches import engine_of
from societies.workload.running.points import points_of, with_table
from societies.workload.running.state import state_hash
from societies.workload.running.varying import ONLY_AT_FIRST

VALUES = {
    "day_length": [600.0, 500.0, 650.0],
    "utility.scale": [600.0, 700.0, 600.0],
    "utility.exponent": [2.5, 2.2, 3.0],
    "utility.min_marginal": [1.0, 2.0, 1.5],
    "extraction.max_effort": [9.0, 8.5, 10.0],
    "extraction.min_effort": [3.0, 2.5, 3.5],
    "extraction.max_experience": [600.0, 60.0, 20.5],
    "extraction.daily_experience_penalty": [3.0, 1.0, 0.0],
    "extraction.near_best_band": [0.0, 1.0, 0.0],
    "consumption.resource_lifetime": [5.0, 3.0, 4.0],
    "trading.min_surplus": [0.1, 1.0, 0.0],
    "devices_market.days_to_hold": [2.0, 1.0, 3.0],
    "device.max_effort": [27.0, 20.0, 30.0],
    "device.min_effort": [9.0, 8.0, 7.0],
    "device.max_experience": [40.0, 12.5, 20.0],
    "device.inventor_experience": [6.0, 5.0, 7.0],
    "device.min_held_experience": [2.0, 1.0, 3.0],
    "device.daily_decay": [3.0, 1.0, 5.0],
    "device.factor.tool": [3.0, 4.0, 2.5],
    "device.factor.device_machine": [9.0, 5.0, 7.0],
    "device.lifetime.machine": [300.0, 200.0, 350.0],
    "device.experience_for_making.tool": [1.0, 2.0, 1.5],
    "invention.tool_probability": [0.01, 0.02, 0.03],
    "invention.device_probability": [0.05, 0.1, 0.04],
    "invention.banned_of": [-1, 0, 3],
    "invention.min_held": [3, 2, 4],
    "invention.min_made_for_device_maker": [1, 0, 2],
    "groups.0.trade_power": [1.0, 3.0, 1.0],
    "groups.1.device_trade_power": [1.0, 1.0, 2.0],
    "groups.1.inventiveness": [2.0, 1.0, 3.0],
}
"""Every value and every key of which tables are made, or a sister of it."""


def ensemble(**more):
    """An ensemble in which every phase acts; all tests have the same kernels."""
    return small("economy", groups=GROUPS, **more)


def finals(config, device):
    """Series and state of every society of a run, by its number."""
    engine, _, _ = engine_of(Setup(WORKLOAD, config), device)
    engine.start()
    engine.run_ticks(1, config.days)
    state, series, first = engine.state(), engine.logs()["series"], config.first_society
    assert state_hash(engine.fields, state) == engine.hash()
    return {
        first + place: {"series": series[place], **{k: a[place] for k, a in state.items()}}
        for place in range(config.replicates)
    }


def same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


def alone(config, row, number):
    """The society of a row as a run of its own, its parameters in the kernels' text."""
    columns = {key: float(column[row]) for key, column in config.table.columns.items()}
    texts = {key: int(one) if one.is_integer() else one for key, one in columns.items()}
    settings = {**config.model_dump(), "first_society": number, "replicates": 1}
    return config_from_dict(settings, [f"{key}={one}" for key, one in texts.items()])


@pytest.mark.parametrize("days", [9, pytest.param(None, marks=pytest.mark.thorough)])
def test_device_and_reference_agree(days):
    report = verify(ensemble(), table=VALUES, days=days)
    assert report.identical, str(report)


@pytest.mark.ci
def test_each_society_is_what_it_is_alone():
    config = with_table(ensemble(), VALUES)
    together = finals(config, "auto")
    assert together[0]["held"].tobytes() != together[2]["held"].tobytes()
    for row in range(3):
        one = alone(config, row, row)
        assert not isinstance(WORKLOAD.parameters(one), Ensemble)
        same(together[row], finals(one, "reference")[row])


def test_each_society_has_the_parameters_that_it_has_alone():
    config = with_table(ensemble(), VALUES)
    p = WORKLOAD.parameters(config)
    for row in range(3):
        one, expected = p.of(row, 1), parameters(alone(config, row, row))
        assert one.values == expected.values
        assert one.shapes == expected.shapes
        assert one.consumption_threshold == expected.consumption_threshold
        assert one.trade_power == expected.trade_power
        assert one.devices.trade_power == expected.devices.trade_power
        assert one.devices.inventiveness == expected.devices.inventiveness
        for agent_group in range(2):
            for r in range(config.resources):
                ours, alone_ = (
                    (
                        q.utility_curves[q.utility_curve_of[agent_group][r]].marginal,
                        q.effort_curves[q.effort_curve_of[agent_group][r]].minutes,
                        q.devices.effort_curves[q.devices.effort_curve_of[agent_group][r]].minutes,
                    )
                    for q in (one, expected)
                )
                assert ours == alone_


BRACKETS = {"middle_from": 5.0, "top_from": 20.0}
POLICIES = {"holdings_tax": BRACKETS, "income_tax": BRACKETS, "sales_tax": BRACKETS}
SHARES = ("equal", "poorest", "least_extracting", "making")
OTHERS = {
    **{key: column[1] for key, column in VALUES.items()},
    "endowment.units": 3,
    "policies.quota_of": 1,
    "policies.quota": 2,
    "policies.price_of": 2,
    "policies.price_cap": 2.0,
    **{f"policies.{tax}.rate": 0.1 for tax in POLICIES},
    **{f"policies.{tax}.middle_rate": 0.2 for tax in POLICIES},
    **{f"policies.{tax}.top_rate": 0.3 for tax in POLICIES},
    **{f"policies.transfer.{share}": 0.2 for share in SHARES},
    "draws.synchronized": True,
}
"""Another value of each key of which twice its value is none, or the same."""


def with_policies(**more):
    """An ensemble of which every key of a value has an effect."""
    return ensemble(policies=POLICIES, **more)


def every_value():
    """Yield each value key of the economy, its kind, its value and another one."""
    config = with_policies()
    for key, kind in keys_of(type(config)):
        if kind in (VALUE, TABULATED, INITIAL):
            now = attrgetter(key)(config)
            yield key, kind, now, OTHERS.get(key, 2 * now)


def differ(config, tick):
    """Return whether the parameters of societies 0 and 1 differ in the tick."""
    p = WORKLOAD.parameters(config)
    first, second = (WORKLOAD.parameters_of_copy(p, place, tick) for place in (0, 1))
    return vars(first) != vars(second)


def test_every_value_can_be_in_a_table_an_intervention_and_a_sweep_of_one_launch():
    base = with_policies().model_dump(mode="json", exclude_unset=True)
    for key, kind, now, other in every_value():
        assert differ(with_table(with_policies(), {key: [now, other]}), 1), key
        sweep = load_sweep({"base": base, "vary": {"grid": {key: [now, other]}}})
        points, places = sweep_points(sweep)
        (launch,) = checked_points(sweep, points, places, copies=2)
        assert launch.points == [0, 1] and launch.columns == (key,)
        change = {"day": 2, "set": {key: other}, "societies": [1]}
        if kind == INITIAL:
            with pytest.raises(SocietiesError, match=ONLY_AT_FIRST):
                points_of(with_policies(replicates=2, interventions=[change]))
            continue
        changed = with_policies(replicates=2, interventions=[change])
        assert [differ(changed, tick) for tick in (1, 2, 3)] == [False, False, True], key


@pytest.mark.ci
def test_all_values_together_agree_in_a_table_and_in_interventions():
    every = [*every_value()]
    change = {"day": 2, "set": {key: new for key, kind, _, new in every if kind != INITIAL}}
    config = with_table(
        with_policies(interventions=[{**change, "societies": [0]}], days=5),
        {key: [now, other, now] for key, _, now, other in every},
    )
    report = verify(config)
    assert report.identical, str(report)
    together, settings = finals(config, "auto"), {**config.model_dump(), "replicates": 1}
    for number in range(3):
        row = [f"{key}={other if number == 1 else now}" for key, _, now, other in every]
        own = {"first_society": number, **({"interventions": []} if number else {})}
        one = config_from_dict({**settings, **own}, row)
        same(together[number], finals(one, "reference")[number])


@pytest.mark.ci
def test_a_key_that_is_true_or_false_varies_in_a_study_and_a_file(tmp_path):
    csv = tmp_path / "twins.csv"
    csv.write_text("draws.synchronized\ntrue\nfalse\n")
    few = {"workload": "economy", "agents": 4, "resources": 3, "devices": "none", "days": 3}
    report = societies.run(config_from_dict(few), table=csv, out=tmp_path / "run.h5")
    sweep = {"base": few, "vary": {"grid": {"draws.synchronized": [True, False]}}}
    studies.run(sweep, out=tmp_path / "study.h5", overwrite=True)
    assert report.copies == 2
    with open_results(tmp_path / "run.h5") as run, open_results(tmp_path / "study.h5") as study:
        for one in (run, study):
            assert one.coords["draws.synchronized"].values.tolist() == ["true", "false"]
    csv.write_text("draws.synchronized\ntrue\n0\n")
    with pytest.raises(SocietiesError, match=r":3  draws.synchronized: is 0, above it True"):
        with_table(config_from_dict(few), csv)
    csv.write_text("day_length\ntrue\ntrue\n")
    with pytest.raises(SocietiesError, match=r":2: day_length: expected a number, got true"):
        with_table(config_from_dict(few), csv)


@pytest.mark.sample
@pytest.mark.parametrize("device", ["auto", "reference"])
def test_a_table_of_equal_rows_changes_nothing(device):
    """What kernels read from a table has the bits of what the compiler sees."""
    config = ensemble(replicates=3, days=6)
    table = {key: [numbers[0]] * 3 for key, numbers in VALUES.items()}
    table |= {"invention.device_probability": [0.05] * 3}
    on, off = finals(with_table(config, table), device), finals(config, device)
    for number in range(3):
        same(on[number], off[number])


@pytest.mark.sample
@pytest.mark.parametrize("count", [1, 3, 64])
def test_the_number_of_societies_in_a_launch_changes_none(count):
    """Society 65 is the last of launches of 1, 3 and 64, each with other neighbours."""
    rng = np.random.default_rng(count)
    surplus = np.append(rng.uniform(0, 3, count - 1), 0.5)
    exponent = np.append(rng.uniform(2, 4, count - 1), 2.25)
    table = {"trading.min_surplus": surplus, "utility.exponent": exponent}
    config = with_table(ensemble(first_society=66 - count, days=8), table)
    last = finals(config, "auto")[65]
    same(last, finals(alone(config, count - 1, 65), "reference")[65])


def test_one_text_serves_any_table():
    """Neither numbers nor the number of societies or of curves are in the kernels' text."""
    config = ensemble()
    texts = set()
    for table in (
        VALUES,
        {"day_length": [700.0]},
        {"utility.exponent": np.linspace(2, 3, 9), "extraction.near_best_band": np.arange(9.0)},
    ):
        p = WORKLOAD.parameters(with_table(config, table))
        texts.add((str(source.macros(p)), source.header(p)))
    assert len(texts) == 1


def test_equal_curves_are_stored_once():
    table = {"utility.exponent": [2.0, 3.0] * 50, "trading.min_surplus": np.arange(100.0)}
    p = WORKLOAD.parameters(with_table(ensemble(), table))
    tables = source.constant_tables(p)
    assert len(p.points.configs) == 100
    assert len(tables["utility_start_table"]) == 2
    assert len(tables["effort_start_table"]) == 2  # one for each group
    assert tables["utility_curve_table"].shape == (100, 2, 7)


def test_nothing_of_an_ensemble_can_depend_on_values():
    p = WORKLOAD.parameters(with_table(ensemble(), VALUES))
    assert p.agents == 5
    for name in (*parameters(ensemble()).values, "utility_curves", "trade_power"):
        with pytest.raises(AttributeError):
            getattr(p, name)
    assert isinstance(p.of(1, 1), Parameters)


def test_tables_and_bounds_cover_all_points():
    table = {"day_length": [100.0, 900.0, 100.0], "extraction.min_effort": [3.0, 3.0, 0.5]}
    config = with_table(ensemble(), table)
    p = WORKLOAD.parameters(config)
    for row in range(3):
        assert p.largest_holding >= parameters(alone(config, row, row)).largest_holding
    whole = WORKLOAD.limits(p, 5)
    for row in range(3):
        one = WORKLOAD.limits(parameters(alone(config, row, row)), 5)
        assert whole["most units"] >= one["most units"]


# -- files ---------------------------------------------------------------------------------------


@pytest.mark.ci
def test_the_file_has_what_varies_as_coordinates(tmp_path):
    out = tmp_path / "run.h5"
    scales = np.linspace(500, 700, 21).reshape(3, 7)
    table = {"trading.min_surplus": [0.1, 0.2, 0.3], "utility.scale": scales}
    societies.run(ensemble(), table=table, out=out)
    with xr.open_dataset(out) as plain, open_results(out) as ours:
        for found in (plain, ours):
            surplus = found.gini.coords["trading.min_surplus"]
            assert surplus.dims == ("society",)
            assert surplus.values.tolist() == [0.1, 0.2, 0.3]
            assert surplus.attrs["units"] == "util"
            assert found.coords["utility.scale"].dims == ("society", "resource")
            assert (found.coords["utility.scale"].values == scales).all()
        assert plain.attrs["varied"] == "trading.min_surplus, utility.scale"


@pytest.mark.ci
def test_a_run_with_a_table_is_resumed_with_it_alone(tmp_path):
    config, table = ensemble(), {"trading.min_surplus": [0.1, 0.6]}
    straight = societies.run(config, table=table, out=tmp_path / "straight.h5").state_sha256
    out = tmp_path / "run.h5"

    def stop(day, days):
        if day >= 11:
            raise KeyboardInterrupt

    with pytest.raises(SocietiesError):
        societies.run(config, table=table, out=out, progress=stop)
    for other, why in (
        (None, "was made with a table of parameters, this is without one"),
        ({"trading.min_surplus": [0.1, 0.7]}, "was made with another table of parameters"),
    ):
        with pytest.raises(SocietiesError, match=why):
            societies.run(ensemble(replicates=2), table=other, out=out, resume=True)
    resumed = societies.run(config, table=table, out=out, resume=True, device="reference")
    assert resumed.state_sha256 == straight
    with xr.open_dataset(out) as one, xr.open_dataset(tmp_path / "straight.h5") as other:
        xr.testing.assert_identical(one.drop_attrs(deep=False), other.drop_attrs(deep=False))


@pytest.mark.ci
def test_traces_and_trade_logs_know_the_table(tmp_path):
    """Both replay a day in the reference and compare it with the device's."""
    record = {"trade_log": {"days": [8], "societies": 2}}
    config = ensemble(record=record, replicates=2)
    table = {key: numbers[:2] for key, numbers in VALUES.items()}
    societies.run(config, table=table, out=tmp_path / "run.h5")
    tabled = with_table(config, table)
    text = WORKLOAD.trace(tabled, day=7, agent=1, society=1, form="json")
    assert json.loads(text)["society"] == 1


@pytest.mark.ci
def test_what_runs_a_table_takes_it():
    config, table = ensemble(), {"day_length": [600.0, 500.0]}
    assert ("societies", "2 (numbers 0 to 1)") in societies.plan(config, table=table).rows
    days = list(societies.steps(config, table=table, device="reference"))
    assert len(days[-1].state["held"]) == 2
    assert points_of(config) is None
    with pytest.raises(SocietiesError, match="the table has 2 rows"):
        list(societies.bench(with_table(config, table), copies=[3]))
