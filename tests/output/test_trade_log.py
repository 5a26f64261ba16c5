"""Does the trade log add up to the series, the matrix to the totals, and survive interruptions?"""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import xarray as xr
import yaml
from small import WITH_DEVICES

import societies
from reference_py.economy.devices import DEVICE_TYPES
from societies import config_from_dict
from societies.economy.explain import replay as replaying
from societies.economy.results import DayRecorder
from societies.economy.workload import WORKLOAD
from societies.errors import DeviceError, Interrupted
from societies.workload import Setup
from societies.workload.running.engines import ReferenceEngine

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("trade log")]  # its runs are shared

DAYS, LOGGED, AGENTS, RESOURCES = 8, (5, 8), 6, 6
SETTINGS = {
    **WITH_DEVICES,
    "days": DAYS,
    "replicates": 2,
    "record": {
        "trade_log": {"days": list(LOGGED), "societies": 2},
        "input_output": True,
        "checkpoint": 3,
    },
}
TABLES = ("resource_trades", "device_trades")


def run(path, **more):
    settings = config_from_dict({**SETTINGS, **more.pop("settings", {})})
    return societies.run(settings, device="reference", out=path, **more)


def tables(path):
    """Return the tables of trades in a file as data frames."""
    result = {}
    for name in TABLES:
        with societies.open_results(path, events=name) as data:
            result[name] = data.load()
    return result


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the file of a complete run."""
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    run(path)
    return path


@pytest.fixture(scope="module")
def data(whole):
    with societies.open_results(whole) as results:
        return results.load()


def on(table, society, day):
    return table.isel(event=(table.society == society) & (table.day == day))


# -- the log -------------------------------------------------------------------------------------


def test_resource_trades_add_up_to_the_series(whole, data):
    table = tables(whole)["resource_trades"]
    assert table.sizes["event"] > 10
    assert sorted(set(table.day.values.tolist())) == list(LOGGED)
    for society in (0, 1):
        for day in LOGGED:
            trades, series = on(table, society, day), data.sel(society=society, day=day)
            alive = float(series.agents_alive)
            assert trades.sizes["event"] / alive == float(series.deals)
            units = int(trades.units_given.sum() + trades.units_taken.sum())
            assert units / alive == float(series.units_traded)


def test_device_trades_add_up_to_the_series(whole, data):
    table = tables(whole)["device_trades"]
    assert table.sizes["event"] > 10
    assert (table.paid_units.sum("payment") == table.units_paid).all()
    assert ((table.paid_units > 0) == (table.paid_resource >= 0)).all()
    for society in (0, 1):
        for day in LOGGED:
            trades, series = on(table, society, day), data.sel(society=society, day=day)
            alive = float(series.agents_alive)
            assert int(trades.units_paid.sum()) / alive == float(series.units_paid_for_devices)
            sold = [int((trades.device_type == t).sum()) / alive for t in range(len(DEVICE_TYPES))]
            assert sold == series.devices_traded.values.tolist()


def test_both_sides_of_every_trade_gain(whole):
    swaps, deals = (tables(whole)[name] for name in TABLES)
    assert (swaps.surplus_a > 0.1).all()
    assert (swaps.surplus_b > 0.1).all()
    assert (swaps.a != swaps.b).all()
    assert ((swaps.proposer == swaps.a) | (swaps.proposer == swaps.b)).all()
    assert (deals.surplus_buyer > 0).all()
    assert (deals.surplus_seller > 0).all()


def test_marginal_utilities_move_with_the_units(whole):
    swaps, deals = (tables(whole)[name] for name in TABLES)
    assert (swaps.value_a_given_after >= swaps.value_a_given_before).all()
    assert (swaps.value_a_taken_after <= swaps.value_a_taken_before).all()
    assert (swaps.value_b_given_after <= swaps.value_b_given_before).all()
    assert (swaps.value_b_taken_after >= swaps.value_b_taken_before).all()
    paid = deals.paid_resource >= 0
    for side in ("buyer", "seller"):
        for when in ("before", "after"):
            assert (deals[f"value_{side}_{when}"].notnull() == paid).all()


def test_plain_xarray_and_pandas_read_the_tables(whole):
    with xr.open_dataset(whole, group="events/resource_trades") as plain:
        frame = plain.to_dataframe()
    frame = frame[frame.day > 0]
    assert len(frame) == tables(whole)["resource_trades"].sizes["event"]
    by_day = frame.groupby(["society", "day"]).units_given.sum()
    assert set(by_day.index.get_level_values("day")) == set(LOGGED)


@pytest.mark.thorough
def test_only_the_societies_asked_for_are_logged(tmp_path, whole):
    log = {"trade_log": {"days": [5], "societies": 1}}
    run(tmp_path / "one.h5", settings={"record": log, "days": 5})
    few, many = tables(tmp_path / "one.h5"), tables(whole)
    for name in TABLES:
        xr.testing.assert_equal(
            few[name].drop_vars("event"), on(many[name], 0, 5).drop_vars("event")
        )


def test_without_devices_only_resources_are_traded(tmp_path):
    path = tmp_path / "none.h5"
    run(path, settings={"devices": "none"})
    with societies.open_results(path, events="resource_trades") as trades:
        assert trades.sizes["event"] > 0
    with societies.open_results(path) as results:
        names = [f"resource {r}" for r in range(RESOURCES)]
        assert results.output.values.tolist() == names
        assert results.input.values.tolist() == [*names, "labour"]
        labour = results.input_output.sel(input="labour")
        minutes = results.minutes.sel(day=DAYS, activity="hand") * AGENTS
        np.testing.assert_allclose(labour.sum("output"), minutes, rtol=1e-12)


def test_without_a_log_nothing_is_recorded_or_replayed(tmp_path, monkeypatch):
    monkeypatch.setattr(replaying, "replay", None)  # a caller fails
    run(tmp_path / "bare.h5", settings={"record": {}, "days": 4})
    with societies.open_results(tmp_path / "bare.h5") as results:
        assert "input_output" not in results
        assert "payment" not in results.sizes


# -- the matrix ----------------------------------------------------------------------------------


def named(kind):
    return [f"{kind} {r}" for r in range(RESOURCES)]


def test_the_rows_of_the_matrix_add_up_to_the_series(data):
    matrix, last = data.input_output, data.sel(day=DAYS)
    alive = last.agents_alive
    xr.testing.assert_allclose(matrix.sum("output"), data.input_total)
    labour = matrix.sel(input="labour")
    extraction = ["hand", "tool", "machine", "factory", "industry"]
    spent = last.minutes.sel(activity=extraction).sum("activity") * alive
    np.testing.assert_allclose(
        labour.sel(output=named("resource")).sum("output"), spent, rtol=1e-12
    )
    for device in DEVICE_TYPES:
        making = last.minutes.sel(activity=f"making_{device}") * alive
        made = labour.sel(output=named(device)).sum("output")
        np.testing.assert_allclose(made, making, rtol=1e-12)
    for device in extraction[1:]:
        use = matrix.sel(input=named(device), output=named("resource")).sum(["input", "output"])
        np.testing.assert_allclose(use, last.minutes.sel(activity=device) * alive, rtol=1e-12)
    np.testing.assert_allclose(
        data.input_total.sel(input="labour"), last.minutes.sum("activity") * alive, rtol=1e-12
    )


def test_what_is_made_adds_up_to_the_series(data):
    last = data.sel(day=DAYS)
    total = data.output_total
    units = last.units_extracted * last.agents_alive
    assert (total.sel(output=named("resource")).sum("output") == units).all()
    for device in DEVICE_TYPES:
        made = total.sel(output=named(device)).sum("output")
        expected = last.devices_made.sel(device_type=device) * last.agents_alive
        np.testing.assert_allclose(made, expected, rtol=1e-12)


def test_devices_contain_what_their_recipes_say(data):
    lifetimes = config_from_dict(SETTINGS).device.lifetime
    below = {"machine": "tool", "factory": "machine", "device_machine": "tool"}
    made = 0
    for society in (0, 1):
        matrix = data.input_output.sel(society=society)
        total = data.output_total.sel(society=society)
        tools = float(total.sel(output=named("tool")).sum())
        assert float(matrix.sel(input=named("resource")).sum()) == 3 * tools
        for device, part in below.items():
            count = float(total.sel(output=named(device)).sum())
            used = matrix.sel(input=named(part), output=named(device)).sum()
            assert float(used) == 3 * count * getattr(lifetimes, part)
            made += count
    assert made > 0


# -- when something happens ----------------------------------------------------------------------


def same(path, whole):
    ours, theirs = tables(path), tables(whole)
    for name in TABLES:
        xr.testing.assert_identical(ours[name], theirs[name])
    with societies.open_results(path) as a, societies.open_results(whole) as b:
        xr.testing.assert_identical(a.drop_attrs(), b.drop_attrs())


@pytest.mark.thorough
@pytest.mark.parametrize("call", [2, 3])
def test_ctrl_c_while_a_day_is_replayed(call, tmp_path, whole, monkeypatch):
    calls = []

    def interrupting(*arguments):
        calls.append(arguments)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGINT)
        return replay(*arguments)

    replay = replaying.replay
    monkeypatch.setattr(replaying, "replay", interrupting)
    with pytest.raises(Interrupted):
        run(tmp_path / "run.h5")
    monkeypatch.setattr(replaying, "replay", replay)
    report = run(tmp_path / "run.h5", resume=True)
    day = LOGGED[(call - 1) // 2]
    assert report.first_day == (day if call % 2 else day + 1)  # of the first of two societies
    same(tmp_path / "run.h5", whole)


def test_a_second_ctrl_c_ends_the_replay(tmp_path, whole, monkeypatch):
    def twice(*arguments):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        return replay(*arguments)

    replay = replaying.replay
    monkeypatch.setattr(replaying, "replay", twice)
    with pytest.raises(Interrupted, match="after day 4 of 8"):
        run(tmp_path / "run.h5")
    monkeypatch.setattr(replaying, "replay", replay)
    run(tmp_path / "run.h5", resume=True)
    same(tmp_path / "run.h5", whole)


def test_a_device_that_does_otherwise_is_an_error(tmp_path, monkeypatch):
    class Wrong(ReferenceEngine):
        def run_ticks(self, first, last):
            super().run_ticks(first, last)
            if last == 5:
                self.copies_now[1].held[2][5] += 1

    monkeypatch.setattr("societies.workload.running.batches.ReferenceEngine", Wrong)
    expected = r"society 1: .* day 5, .* array held, index \[0, 2, 5\]"
    with pytest.raises(DeviceError, match=expected):
        run(tmp_path / "run.h5")
    with societies.open_results(tmp_path / "run.h5") as results:
        assert results.day.values[-1] == 4


def test_the_file_says_beforehand_how_large_it_is(tmp_path):
    layout = DayRecorder(Setup(WORKLOAD, config_from_dict(SETTINGS)))
    assert [table.name for table in layout.tables()] == ["inventions", *TABLES]
    rows = dict(societies.plan(config_from_dict(SETTINGS), device="reference").rows)
    assert "results in the file" in rows


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ({"days": [3, 3]}, "day 3 is listed twice"),
        ({"days": [0]}, "record.trade_log.days.0"),
        ({"days": [3], "societies": 3}, "3 are more than the 2 that are run"),
    ],
)
def test_a_log_of_what_does_not_exist_is_refused(shell, tmp_path, log, message):
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump({**SETTINGS, "record": {"trade_log": log}}))
    code, out, err = shell("check", str(path))
    assert (code, out) == (2, "")
    assert message in err
