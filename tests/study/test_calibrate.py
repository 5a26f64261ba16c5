"""Does every method of calibration find what is known, and is every trial in the file, once?

The model is a function here, made up so that the posterior, the minimum and the profile are known.
"""

import json

import numpy as np
import pytest
import xarray as xr
import yaml

from societies.errors import (
    ConfigError,
    Interrupted,
    OriginWarning,
    OutputError,
    SocietiesError,
)
from societies.output import inspect
from societies.output.inspection import configuration
from societies.study.calibration import calibrate, conduct, load_calibration, recover
from societies.study.calibration.document import Calibration
from societies.study.calibration.figures import draw_calibration, draw_pairs
from societies.study.calibration.recover import recovered

pytestmark = pytest.mark.ci

ROWS = 2  # statistics
PRIORS = {
    "extraction.max_effort": {"low": 6, "high": 12},
    "utility.exponent": {"low": 2, "high": 3},
}
TARGETS = {
    "units": {"of": "units_extracted", "target": 9, "scale": 0.5},
    "gini": {"of": "gini", "target": 2.25, "scale": 0.1},
}


class Made:
    """A model whose statistics are its parameters with noise."""

    def __init__(self, noise=0.0, fail=lambda x: False, stop_after=10**9):
        self.noise, self.fail, self.stop_after = noise, fail, stop_after
        self.failures, self.asked = {}, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def runs(self, points, numbers):
        self.asked += len(points)
        if self.asked > self.stop_after:
            raise KeyboardInterrupt
        found = np.empty((*numbers.shape, ROWS))
        for i, point in enumerate(points):
            for r, number in enumerate(numbers[i]):
                noise = np.random.default_rng(int(number)).normal(size=ROWS)
                found[i, r] = np.array(point[:ROWS]) + self.noise * noise * [1, 0.2]
                if self.fail(point):
                    found[i, r, 1] = np.nan
        return found


def calibration(**more):
    given = {"base": "economy/quickstart", "parameters": PRIORS, "targets": TARGETS, **more}
    return load_calibration(given)


@pytest.fixture
def made(monkeypatch):
    """Return a function that puts a made-up model in the place of the economy."""

    def put(**options):
        model = Made(**options)
        monkeypatch.setattr(Calibration, "simulator", lambda self, *_: model)
        return model

    return put


def values(found, name):
    return found.data[f"draw_{name}"].values


def test_abc_has_the_posterior_of_the_data(made, tmp_path):
    """With noise of sd 0.3 and 0.06 the posterior is normal around the data, nearly."""
    made(noise=0.3)
    method = {"abc_smc": {"population": 150, "generations": 6}}
    found = calibrate(calibration(method=method), out=tmp_path / "a.nc")
    effort, exponent = (values(found, name) for name in PRIORS)
    assert abs(effort.mean() - 9) < 0.15 and 0.2 < effort.std() < 0.45
    assert abs(exponent.mean() - 2.25) < 0.03 and 0.04 < exponent.std() < 0.1
    trace = found.data["trace"].values
    assert len(trace) == 6 and (np.diff(trace) < 0).all()


def test_parameters_with_logarithmic_priors_are_drawn_on_logarithmic_axes(made, tmp_path):
    made(noise=0.3)
    wide = {**PRIORS, "utility.exponent": {"distribution": "log_uniform", "low": 1.5, "high": 3}}
    method = {"abc_smc": {"population": 20, "generations": 2}}
    found = calibrate(calibration(method=method, parameters=wide), out=tmp_path / "a.nc")
    axes = draw_calibration(found.data).axes
    assert [one.get_xscale() for one in axes[:2]] == ["linear", "log"]
    for one in axes[:2]:  # all draws are in the bins, which are equally wide on the axis
        bars = one.patches
        assert sum(bar.get_height() for bar in bars) == pytest.approx(1)
    edges = np.log([bar.get_x() for bar in axes[1].patches])
    assert np.ptp(np.diff(edges)) < 1e-9
    (pair,) = draw_pairs(found.data).axes[:1]
    assert (pair.get_xscale(), pair.get_yscale()) == ("linear", "log")


def test_figures_of_a_calibration_count_what_they_leave_out(made, tmp_path):
    made(noise=0.3)
    method = {"abc_smc": {"population": 20, "generations": 2}}
    data = calibrate(calibration(method=method), out=tmp_path / "a.nc").data
    assert "Left out" not in draw_calibration(data)._supxlabel.get_text()
    assert draw_pairs(data)._supxlabel.get_text() == f"{data.sizes['draw']} draws of the posterior."
    data["statistics"][[3, 5], 0] = np.nan
    said = draw_calibration(data)._supxlabel.get_text()
    assert said.endswith("Left out: missing or infinite statistics of 2 trials.")
    definition = json.loads(data.attrs["definition"])
    many = [f"p{i}" for i in range(7)]
    definition["parameters"] = {name: {"low": 0, "high": 1} for name in many}
    draws = {f"draw_{name}": data[f"draw_{next(iter(PRIORS))}"] for name in many}
    other = data.drop_vars("parameter").assign(draws).drop_dims("parameter")
    other = other.assign_coords(parameter=many)
    other.attrs["definition"] = json.dumps(definition)
    figure = draw_pairs(other)
    assert len(figure.axes) == 15
    assert figure._supxlabel.get_text().endswith("Left out: 6 of 21 pairs.")


def test_intervals_of_abc_contain_the_truth_as_often_as_they_say(made):
    made(noise=0.3)
    method = {"abc_smc": {"population": 60, "generations": 5}}
    found = recover(calibration(method=method), 40)
    assert found.right, found.rows
    assert (found.p > 0.01).all() and found.trials > 40 * 200


def test_recovery_notices_intervals_that_are_too_narrow():
    random = np.random.default_rng(3)
    truth = random.random((60, 2))
    right = truth[:, None] + random.normal(size=(60, 1, 2)) + random.normal(size=(60, 200, 2))
    narrow = truth[:, None] + random.normal(size=(60, 1, 2)) + random.normal(size=(60, 200, 2)) / 4
    assert recovered(["a", "b"], truth, right, 0).right
    assert not recovered(["a", "b"], truth, narrow, 0).right


@pytest.mark.parametrize(
    ("method", "within"),
    [
        ({"least_squares": {"starts": 3, "iterations": 4}}, 1e-3),
        ({"surrogate": {"points": 20, "batch": 5, "rounds": 4}}, 0.15),
        ({"profiles": {"batch": 60, "rounds": 12}}, 0.3),
    ],
)
def test_the_nearest_trial_is_near_the_minimum(method, within, made, tmp_path):
    made()
    found = calibrate(calibration(method=method), out=tmp_path / "a.nc")
    best = int(np.argmin(found.data["distance"].values))
    assert found.data["distance"].values[best] < within
    name = "extraction.max_effort"
    assert abs(found.data[f"value_{name}"].values[best] - 9) < 0.6 * within


def test_a_profile_has_the_least_distance_at_each_value(made, tmp_path):
    """If the other parameter is at its best, the distance is that of this one alone."""
    made()
    method = {"profiles": {"bins": 8, "batch": 100, "rounds": 25}}
    found = calibrate(calibration(method=method), out=tmp_path / "a.nc")
    edges = np.linspace(6, 12, 9)
    nearest = np.clip(9, edges[:-1], edges[1:])
    exact = np.abs(nearest - 9) / 0.5 / np.sqrt(2)
    assert found.data["profile"].values[0] == pytest.approx(exact, abs=0.25)


def test_a_profile_is_drawn_over_its_intervals_wherever_its_trials_are(made, tmp_path):
    made()
    method = {"profiles": {"bins": 6, "batch": 60, "rounds": 6}}
    data = calibrate(calibration(method=method), out=tmp_path / "a.nc").data
    figure = draw_calibration(data)
    effort, exponent = (axes.patches[0].get_data().edges for axes in figure.axes[:2])
    assert effort == pytest.approx(np.linspace(6, 12, 7), abs=0.1)
    assert exponent == pytest.approx(np.linspace(2, 3, 7), abs=0.02)
    assert figure.axes[-1].get_title() == "mean of the profiles"


def test_patterns_are_found_that_a_sample_misses(made, tmp_path):
    """A statistic that nearly all points share leaves most cells to a search for the rare."""
    own = calibration(method={"pattern_space": {"batch": 50, "rounds": 8}})
    made()
    found = calibrate(own, out=tmp_path / "a.nc")
    cells = {tuple(row) for row in np.floor(found.data["statistics"].values / [0.5, 0.1])}
    assert int(found.data["trace"].values[-1]) == len(cells) == found.data.sizes["choice"]
    assert len(cells) > 100  # of 12 times 10


def test_a_killed_calibration_continues_with_the_same_trials(made, tmp_path):
    own = calibration(method={"abc_smc": {"population": 20, "generations": 4}}, replicates=2)
    whole = tmp_path / "whole.nc"
    model = made(noise=0.3)
    first = calibrate(own, out=whole)
    total = model.asked
    killed = tmp_path / "killed.nc"
    made(noise=0.3, stop_after=total // 2)
    with pytest.raises(Interrupted, match=r"trials are in .*; resume=True continues"):
        calibrate(own, out=killed)
    with xr.open_dataset(killed, engine="h5netcdf") as data:
        done = data.sizes["trial"]
        assert 0 < done < total and not data.attrs["complete"]
    model = made(noise=0.3)
    second = calibrate(own, out=killed, resume=True)
    assert model.asked == total - done == second.computed
    assert first.data.equals(second.data)
    model = made(noise=0.3)
    assert calibrate(own, out=killed, resume=True).computed == model.asked == 0


def test_no_changed_bit_of_a_calibration_is_continued_or_called_whole(made, tmp_path):
    made()
    own = calibration(method={"least_squares": {"starts": 2, "iterations": 1}})
    path = calibrate(own, out=tmp_path / "a.nc").path
    rows = dict(inspect(path, check=True).rows)
    assert (rows["state"], rows["checksums"]) == ("complete", "as written, all of it")
    assert yaml.safe_load(configuration(path))["workload"] == "economy"
    whole, random = path.read_bytes(), np.random.default_rng(1)
    places = random.integers(0, len(whole), 60).tolist()
    places += [len(whole) - 1, whole.index(own.sha256.encode()), whole.index(b"definition_sha256")]
    for place in places:
        path.write_bytes(changed_bit(whole, place, int(random.integers(8))))
        with pytest.raises(OutputError, match=r"damaged|no HDF5"):
            calibrate(own, out=path, resume=True)
        with pytest.raises(OutputError, match=r"damaged|no HDF5|not the result"):
            inspect(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OutputError, match="damaged"):
        calibrate(own, out=path, resume=True)


def changed_bit(content, place, bit):
    """Return bytes with another bit at a place."""
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def test_other_rules_than_those_of_the_file_are_named(made, tmp_path, monkeypatch):
    made()
    own = calibration(method={"least_squares": {"starts": 2, "iterations": 1}})
    path = calibrate(own, out=tmp_path / "a.nc").path
    monkeypatch.setattr(conduct, "_sources", lambda _: {"kernels/economy/trading.cl": "0" * 12})
    with pytest.warns(OriginWarning, match=r"trading\.cl .*the calibration mixes both"):
        calibrate(own, out=path, resume=True)


def test_a_file_of_another_calibration_is_left_alone(made, tmp_path):
    path = tmp_path / "a.nc"
    made()
    method = {"least_squares": {"starts": 3, "iterations": 1}}
    calibrate(calibration(method=method), out=path)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="exists"):
        calibrate(calibration(method=method), out=path)
    with pytest.raises(OutputError, match="another calibration"):
        calibrate(calibration(), out=path, resume=True)
    assert path.read_bytes() == before
    path.write_bytes(before[:100])
    with pytest.raises(OutputError, match="not the file of a calibration, or damaged"):
        calibrate(calibration(method=method), out=path, resume=True)


def test_the_command_runs_the_nearest_trial_with_its_seeds(made, tmp_path):
    made(noise=0.3)
    own = calibration(
        method={"abc_smc": {"population": 10, "generations": 2}}, replicates=3, set={"days": 7}
    )
    found = calibrate(own, out=tmp_path / "a.nc")
    best = int(np.argmin(found.data["distance"].values))
    words = found.data.attrs["command"].split(" ")
    assert words[:3] == ["societies", "run", "economy/quickstart"]
    effort = float(found.data["value_extraction.max_effort"].values[best])
    expected = {f"first_society={3 * best}", "replicates=3", "days=7"}
    assert {*expected, f"extraction.max_effort={json.dumps(effort)}"} <= set(words)


def test_failed_trials_are_counted_and_never_the_best(made, tmp_path):
    made(fail=lambda point: point[0] > 8.9)
    own = calibration(method={"surrogate": {"points": 20, "batch": 5, "rounds": 2}})
    found = calibrate(own, out=tmp_path / "a.nc")
    assert any("trials failed" in note for note in found.notes)
    best = int(np.argmin(found.data["distance"].values))
    assert found.data["value_extraction.max_effort"].values[best] <= 8.9
    made(fail=lambda point: True)
    with pytest.raises(SocietiesError, match="all 30 trials failed"):
        calibrate(own, out=tmp_path / "b.nc")


def test_targets_that_no_trial_came_near_are_named_with_what_would_help(made, tmp_path):
    made()
    far = {**TARGETS, "units": {"of": "units_extracted", "target": 20, "scale": 0.5}}
    method = {"least_squares": {"starts": 3, "iterations": 5}}
    found = calibrate(calibration(targets=far, method=method), out=tmp_path / "a.nc")
    (note,) = [one for one in found.notes if one.startswith("units: no trial came near")]
    assert note.endswith("widen the prior of extraction.max_effort")


def test_a_parameter_that_the_targets_do_not_identify_is_named(made, tmp_path):
    made()
    own = calibration(
        parameters={**PRIORS, "extraction.min_effort": {"low": 2, "high": 4}},
        method={"abc_smc": {"population": 60, "generations": 4}},
    )
    notes = calibrate(own, out=tmp_path / "a.nc").notes
    wide = [note for note in notes if "as wide as its prior" in note]
    assert [note.partition(":")[0] for note in wide] == ["extraction.min_effort"]


@pytest.mark.parametrize(
    ("more", "match"),
    [
        (
            {"parameters": {"extraction.max_effort": {"low": -1, "high": 3}}},
            "max_effort.*must be at least 1e-12",
        ),
        ({"parameters": {"extraction.max_efort": {"low": 1, "high": 3}}}, "did you mean"),
        ({"parameters": {"utility.exponent": {"low": 3, "high": 2}}}, "low must be less than high"),
        ({"parameters": {"agents": {"low": 3, "high": 9}}}, "numbers: add 'whole: true' to its"),
        ({"parameters": {"agents": {"values": [3, 4.5]}}}, "expected a whole number, got 4.5"),
        ({"parameters": {}}, "needs a key with a prior"),
        ({"method": "abc"}, "unknown method 'abc'; did you mean 'abc_smc'"),
        ({"method": {"abc_smc": {"populaton": 3}}}, "did you mean 'population'"),
        ({"method": {"abc_smc": {"population": -3}}}, "option 'population' must be more than 0"),
        ({"method": {"abc_smc": {"quantile": 1}}}, "option 'quantile' must be less than 1"),
        ({"method": {"abc_smc": {"seed": -1}}}, "option 'seed' must be at least 0"),
        ({"method": {"profiles": {"bins": 2.5}}}, "option 'bins' expected a whole number"),
        ({"method": {"abc_smc": {}, "profiles": {}}}, "expected NAME or"),
        ({"method": {"abc_smc": {"population": 2}}}, "begins with 2 trials, fewer than needed"),
        ({"targets": {"x": {"of": "gini"}}}, "needs a band or a target"),
        ({"targets": "economy"}, "has the cases|have the cases"),
        ({"parameters": {"replicates": {"low": 1, "high": 3, "whole": True}}}, "its own key"),
        ({"parameters": {"record.agent": {"low": 1, "high": 3, "whole": True}}}, "is the same at"),
        ({"parameters": {"first_society": {"low": 0, "high": 3, "whole": True}}}, "is not varied"),
        ({"targets": {"x": {"of": "gini", "band": [0, 1], "weight": 0}}}, "have no weight"),
    ],
)
def test_mistakes_are_reported_before_anything_runs(more, match):
    with pytest.raises(ConfigError, match=match):
        calibration(**more)


def test_a_shape_among_the_priors_is_named():
    own = calibration(parameters={**PRIORS, "agents": {"low": 4, "high": 8, "whole": True}})
    assert own.shapes == ["agents"]


def test_a_method_without_a_posterior_recovers_nothing(made):
    made()
    with pytest.raises(ConfigError, match="surrogate has no posterior"):
        recover(calibration(method="surrogate"), 5)


@pytest.mark.parametrize("targets", [None, True, 3, [1], [None]])
def test_targets_of_another_type_are_named(targets):
    with pytest.raises(ConfigError, match="targets: expected the name of a file of targets"):
        calibration(targets=targets)


def test_more_trials_than_anything_computes_are_refused():
    with pytest.raises(ConfigError, match=r"population.*at most 1000000"):
        calibration(method={"abc_smc": {"population": 10**40}})


def test_a_calibration_that_is_stopped_at_once_names_no_file(made, tmp_path):
    made(stop_after=0)
    with pytest.raises(Interrupted, match="before any trial was complete") as stopped:
        calibrate(calibration(method="least_squares"), out=tmp_path / "a.nc")
    assert stopped.value.path is None and not list(tmp_path.iterdir())


def test_units_of_statistics_are_those_of_the_file_when_nothing_is_computed_again(made, tmp_path):
    """Units become known when a result is looked at, which a complete calibration is not."""
    made()
    own = calibration(method={"surrogate": {"points": 4, "batch": 2, "rounds": 1}})
    own.targets.units.update(units="units", gini="1")
    path = tmp_path / "c.nc"
    whole = calibrate(own, out=path)
    again = calibrate(
        calibration(method={"surrogate": {"points": 4, "batch": 2, "rounds": 1}}),
        out=path,
        resume=True,
    )
    assert again.computed == 0
    assert whole.data["unit_of"].values.tolist() == ["units", "1"]
    xr.testing.assert_identical(again.data, whole.data)


def test_a_signal_while_the_result_is_written_loses_no_trial(made, tmp_path, monkeypatch):
    made()
    wrote, calls = conduct._write, []

    def write(path, data):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        wrote(path, data)

    monkeypatch.setattr(conduct, "_write", write)
    own = calibration(method={"surrogate": {"points": 4, "batch": 2, "rounds": 1}})
    path = tmp_path / "c.nc"
    with pytest.raises(Interrupted, match=r"6 trials are in .*; resume=True continues"):
        calibrate(own, out=path)
    assert calibrate(own, out=path, resume=True).computed == 0


def test_targets_in_the_file_have_its_lines_and_its_folder(tmp_path, monkeypatch):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "seen.csv").write_text("rate\n1\n2\n")
    file = tmp_path / "far" / "c.yaml"
    text = (
        "base: economy/quickstart\nparameters:\n  utility.exponent: {low: 2, high: 3}\ntargets:\n"
        "  a: {of: gini, statistic: rmse, data: {file: seen.csv}, target: 0}\n"
    )
    file.write_text(text)
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(load_calibration(file).targets.observed["a"], [1, 2])
    file.write_text(text + "  b: {of: gini, band: [1, 0]}\n")
    with pytest.raises(ConfigError, match=r"c\.yaml:6:\d+  statistics\.b\.band: is upside down"):
        load_calibration(file)
    file.write_text(text.replace("targets:\n", "targets:\n  statistics:\n").replace("  a", "    a"))
    np.testing.assert_array_equal(load_calibration(file).targets.observed["a"], [1, 2])


def test_a_statistic_without_weight_fails_no_trial(made, tmp_path):
    made(fail=lambda point: True)
    own = calibration(
        targets={**TARGETS, "gini": {**TARGETS["gini"], "weight": 0}},
        method={"least_squares": {"starts": 3, "iterations": 2}},
    )
    assert float(calibrate(own, out=tmp_path / "a.nc").data["distance"].min()) < 0.1


def test_a_posterior_has_no_failed_trials(made, tmp_path):
    """Three quarters of the prior fail, more than the first population can leave out."""
    made(fail=lambda point: point[0] < 10.5)
    method = {"abc_smc": {"population": 40, "generations": 3}}
    found = calibrate(calibration(method=method), out=tmp_path / "a.nc")
    assert values(found, "extraction.max_effort").min() >= 10.5
    assert len(found.data["trace"]) == 3 and np.isfinite(found.data["trace"]).all()
    made(fail=lambda point: point[0] < 11.9)
    found = calibrate(calibration(method=method), out=tmp_path / "b.nc")
    assert any("of the first 80 trials did not fail" in note for note in found.notes)


def test_statistics_that_no_trial_has_are_named(made, tmp_path):
    made(fail=lambda point: True)
    with pytest.raises(SocietiesError, match=r"trials failed: none has a number for gini$"):
        calibrate(calibration(method="least_squares"), out=tmp_path / "a.nc")
