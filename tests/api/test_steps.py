"""Does a run that is looked at after every tick have the bits of one that is not looked at?"""

from __future__ import annotations

from itertools import pairwise
from statistics import median

import numpy as np
import pytest
import xarray as xr

import societies
from societies import config_from_dict
from societies.errors import ConfigError, DeviceError
from societies.workload.checking.bench import PAYS
from societies.workload.running.batches import Room

SMALL = {"workload": "economy", "agents": 5, "resources": 4, "days": 4, "replicates": 2}
PLATE = {"workload": "laplace", "side": 8, "steps": 40, "tolerance": 0.02, "check_every": 4}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("settings", [SMALL, PLATE], ids=["economy", "laplace"])
def test_looking_changes_no_bit(settings, device):
    config = config_from_dict(settings)
    report = societies.run(config, device=device, out="run.h5")
    numbers, last = [], None
    for tick in societies.steps(config, device=device):
        numbers.append(int(tick))
        arrays = tick.state
        for array in arrays.values():
            array.fill(0)  # a copy: the run continues from its own
        last = tick.sha256
    assert last == report.state_sha256
    assert numbers == list(range(1, report.last_tick + 1))


def test_each_tick_is_that_of_a_run_of_n_ticks():
    seen = [tick.sha256 for tick in societies.steps(config_from_dict(SMALL), device="cpu")]
    assert len(set(seen)) == 4
    for days in (1, 3):
        config = config_from_dict({**SMALL, "days": days})
        assert (
            societies.run(config, device="reference", overwrite=True).state_sha256
            == (seen[days - 1])
        )


def test_the_dataset_names_dimensions_units_and_copies():
    config = config_from_dict({**SMALL, "first_society": 3})
    tick = next(iter(societies.steps(config, device="reference")))
    data = tick.dataset
    assert isinstance(data, xr.Dataset)
    assert data.held.dims == ("society", "agent", "resource")
    assert data.society.values.tolist() == [3, 4]
    assert data.held.attrs["units"] == "units" and data.held.attrs["long_name"]
    assert data.attrs == {"workload": "economy", "day": 1}
    np.testing.assert_array_equal(data.held.values, tick.state["held"])


def test_nothing_is_written(tmp_path):
    for _ in societies.steps(config_from_dict(SMALL), device="reference"):
        pass
    assert not list(tmp_path.iterdir())


def test_what_is_no_configuration_is_refused_at_once():
    with pytest.raises(ConfigError, match=r"steps: .* got int"):
        societies.steps(3)


def test_measurements_have_copies_ticks_and_rates():
    config = config_from_dict(PLATE)
    found = list(societies.bench(config, device="cpu", copies=(1, 3), steps=6, repeats=2))
    assert [(one.copies, one.ticks) for one in found] == [(1, 6), (1, 6), (3, 6), (3, 6)]
    for one in found:
        assert one.work == "cell-step" and one.workload == "laplace"
        assert one.work_per_second * one.seconds == pytest.approx(64 * 6 * one.copies)
    with pytest.raises(TypeError, match="'days'; ticks are steps here"):
        societies.bench(config, days=3)
    with pytest.raises(ConfigError, match="41 steps are requested; the configuration has 1 to 40"):
        list(societies.bench(config, ticks=41))


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_copies_are_four_times_as_many_as_long_as_they_pay(device):
    config = config_from_dict(PLATE)
    rates = {}
    for one in societies.bench(config, device=device, steps=2):
        rates.setdefault(one.copies, []).append(one.work_per_second)
    assert list(rates) == [4**power for power in range(len(rates))]
    medians = [median(found) for found in rates.values()]
    pays = [later >= PAYS * earlier for earlier, later in pairwise(medians)]
    assert all(pays[:-1]) and not pays[-1]


def test_where_no_work_is_counted_no_more_copies_are_tried():
    players = [{"kind": "random"}, {"kind": "bonzo"}]
    config = config_from_dict({"workload": "kalah_match", "games": 2, "players": players})
    found = list(societies.bench(config, device="reference", ticks=2, repeats=1))
    assert [(one.copies, one.work_per_second) for one in found] == [(1, 0.0), (4, 0.0)]


def test_frames_of_a_picture_are_as_many_as_there_are():
    config = config_from_dict({"workload": "blur", "width": 8, "height": 6})
    assert [one.copies for one in societies.bench(config, device="cpu", repeats=2)] == [1, 1]


def test_copies_that_do_not_fit_are_not_tried(monkeypatch):
    monkeypatch.setattr(Room, "copies", 3)
    config = config_from_dict(PLATE)
    found = list(societies.bench(config, device="cpu", steps=2))
    assert [one.copies for one in found] == [1, 1, 1]
    monkeypatch.setattr(Room, "copies", 0)
    with pytest.raises(DeviceError, match=r"^memory: one plate needs"):
        list(societies.bench(config, device="cpu", steps=2))


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_ticks_after_the_end_of_a_run_are_no_work(device):
    config = config_from_dict(PLATE)
    ended = societies.run(config, device=device, out="run.h5").last_tick
    assert ended < config.steps
    timings = societies.bench(config, device=device, copies=(1,), steps=config.steps, repeats=2)
    for one in timings:
        assert one.ticks == ended
        assert one.work_per_second * one.seconds == pytest.approx(64 * ended)


@pytest.mark.parametrize(
    ("wrong", "reported"),
    [
        ({"copies": (2, 0)}, "bench: 0 plates are requested; at least 1 is needed"),
        ({"copies": 3}, r"bench: copies must be a list of numbers: \[1, 8\]"),
        ({"copies": (1.5,)}, r"bench: copies must be a list of numbers: \[1, 8\]"),
        ({"repeats": 0}, "bench: 0 measurements are requested; at least 1 is needed"),
    ],
)
def test_measurements_of_nothing_are_refused(wrong, reported):
    with pytest.raises(ConfigError, match=f"^{reported}$"):
        list(societies.bench(config_from_dict(PLATE), device="reference", **wrong))


def test_the_series_of_a_tick_have_their_names():
    config = config_from_dict({**SMALL, "days": 1})
    report = societies.run(config, device="reference", out="run.h5")
    data = next(iter(societies.steps(config, device="reference"))).dataset
    assert data.series.dims == ("society", "quantity")
    for name in ("units_extracted", "gini", "utility_median"):
        assert data.series.sel(quantity=name).mean().item() == report.final[name]
    assert "gini_3day" not in data.quantity  # that of the day before
