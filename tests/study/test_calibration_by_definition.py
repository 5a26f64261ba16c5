"""What do a calibration's file, its distances, its notes and its recovery consist of, by hand?"""

import dataclasses
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from test_calibrate import PRIORS, ROWS, TARGETS, Made, calibration

from societies.errors import ConfigError, OutputError, SocietiesError
from societies.study.calibration import calibrate, conduct, recover
from societies.study.calibration.conduct import CalibrationReport, Trials
from societies.study.calibration.document import Calibration, _extremes, answer_of
from societies.study.calibration.methods import NO_DRAWS, Found
from societies.study.calibration.recover import Recovery, recovered
from societies.study.simulate import Simulator, mean_over_replicates, sweep_of
from societies.study.targets import load_targets
from societies.sweep.ranges import range_of

HOW = sys.modules[recover.__module__]
LEAST = {"least_squares": {"starts": 2, "iterations": 1}}
MATMUL = {"workload": "matmul"}
NOTHING = Found(NO_DRAWS, [], NO_DRAWS, np.empty(0, np.int64), [])


def put(monkeypatch, model):
    monkeypatch.setattr(Calibration, "simulator", lambda self, *_: model)
    return model


# --------------------------------------------------------------------------------------- distances


def test_residuals_have_the_roots_of_their_weights():
    """The sum of their squares is the distance's, so a statistic without weight has no part."""
    given = {
        "a": {"of": "gini", "target": 1, "scale": 0.5, "weight": 4},
        "b": {"of": "gini", "target": 1, "scale": 2},
        "c": {"of": "gini", "target": 1, "scale": 1, "weight": 0},
    }
    aim = load_targets({"statistics": given})[0]
    found = answer_of(np.array([[2.0, 5, 9], [1, -1, np.nan], [np.nan, 1, 1]]), aim)
    np.testing.assert_allclose(found.residuals, [[4, 2, 0], [0, -1, 0], [np.nan, 0, 0]])
    np.testing.assert_allclose(found.distance, [2, np.sqrt(1 / 5), np.inf])
    assert found.cells[0].tolist() == [4, 2, 9] and found.cells[1, :2].tolist() == [2, -1]
    assert np.isnan(found.cells[1, 2]) and np.isnan(found.cells[2, 0])
    far = answer_of(np.array([[1e100, 0, 0], [2e100, 0, 0]]), aim)  # beyond int64
    assert far.cells[0, 0] != far.cells[1, 0]


def test_other_targets_than_its_own():
    own = calibration()
    aim = load_targets({"statistics": {**TARGETS, "units": {**TARGETS["units"], "target": 10}}})[0]
    runs = np.array([[[9, 2.25], [10, 2.25]]])
    assert own.answer(runs).distance == pytest.approx(0.5**0.5)
    assert own.answer(runs, aim).distance == pytest.approx(0.5**0.5)
    assert own.answer(runs[:, 1:], aim).distance == 0 != own.answer(runs[:, 1:]).distance


# ---------------------------------------------------------------------------------------- document


def test_ends_of_priors_are_allowed():
    """Every value of a choice; both ends; of a normal distribution a thousandth on each side."""

    def with_(key, **prior):
        return calibration(parameters={key: prior})

    normal = {"distribution": "normal"}
    with_("extraction.max_effort", values=[8, 9])
    with pytest.raises(ConfigError, match="must be at least 1e-12"):
        with_("extraction.max_effort", values=[8, -1, 9])
    with_("extraction.min_effort", **normal, mean=4, sd=1, high=6)  # a thousandth is above 0.9
    with pytest.raises(ConfigError, match=r"min_effort': must be at least 1e-12"):
        with_("extraction.min_effort", **normal, mean=2, sd=1, high=6)
    for prior in ({"low": 0, "high": 5, "whole": True}, {"values": [0, 5]}):
        with pytest.raises(ConfigError, match="agents: must be at least 1, got 0"):
            with_("agents", **prior)
    with pytest.raises(ConfigError, match=r"agents: expected a whole number, got 5\.5"):
        with_("agents", values=[5, 5.5])
    for said, places in (
        ({"low": 2, "high": 5}, [0, 1 - 1e-12]),
        ({**normal, "mean": 4, "sd": 1, "low": 2, "high": 5}, [0, 1 - 1e-12]),
        ({**normal, "mean": 4, "sd": 1, "low": 2}, [0.001, 0.999]),
        ({**normal, "mean": 4, "sd": 1, "high": 5}, [0.001, 0.999]),
        ({**normal, "mean": 4, "sd": 1}, [0.001, 0.999]),
    ):
        assert _extremes(range_of(said)) == range_of(said).values(np.array(places))


def test_mistakes_have_the_place_of_their_key(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "base: economy/quickstart\ntargets: {a: {of: gini, band: [0, 1]}}\nparameters:\n"
        "  extraction.max_effort:\n    low: 6\n    high: here\n  utility.exponent:\n    low: 2\n"
    )
    with pytest.raises(ConfigError) as error:
        calibration_of(path)
    lines = str(error.value).splitlines()
    assert [line.split(":")[1] for line in lines] == ["6", "8"]
    assert "  parameters.'extraction.max_effort'.high: expected a number" in lines[0]
    assert lines[1].endswith("  parameters.'utility.exponent': needs high")


def calibration_of(path):
    from societies.study.calibration import load_calibration

    return load_calibration(path)


CASES = {
    "one": {
        "base": "own.yaml",
        "set": {"days": 3},
        "statistics": {"a": {"of": "gini", "band": [0, 1]}},
    },
    "two": {"base": "own.yaml", "statistics": {"b": {"of": "gini", "band": [0, 1]}}},
}


def test_the_base_is_that_of_the_file_or_else_of_the_targets(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "own.yaml").write_text("workload: economy\nagents: 5\n")
    (tmp_path / "own.yaml").write_text("workload: economy\nagents: 6\n")
    (tmp_path / "far" / "t.yaml").write_text(json.dumps({"cases": CASES}))
    path = tmp_path / "c.yaml"

    def of(**more):
        path.write_text(json.dumps({"targets": "far/t.yaml", "parameters": PRIORS, **more}))
        return calibration_of(path)

    with pytest.raises(ConfigError, match="have the cases one, two; choose one"):
        of()
    first = of(case="one", set={"agents": 7})
    assert (first.changes, first.sweep.base.agents) == ({"days": 3, "agents": 7}, 7)
    second = of(case="two")
    assert (list(second.targets.statistics), second.sweep.base.agents) == (["b"], 5)
    third = of(case="one", base="own.yaml")
    assert (third.changes, third.sweep.base.agents) == ({}, 6)
    with pytest.raises(ConfigError, match="is missing: neither the file nor its targets name one"):
        calibration(base=None)


def test_seeds_of_trials():
    """Methods that compare trials use the same draws, unless the file says otherwise."""
    own = calibration(method="least_squares", replicates=2)
    assert own.common and own.numbers(3, 2).tolist() == [[0, 1], [0, 1]]
    own = calibration(method="least_squares", replicates=2, common_random_numbers=False)
    assert not own.common and own.numbers(3, 2).tolist() == [[6, 7], [8, 9]]
    assert calibration(common_random_numbers=True).common and not calibration().common


@pytest.mark.parametrize(
    "method",
    [{"abc_smc": {"population": 3}}, {"surrogate": {"points": 3}}, {"profiles": {"batch": 3}}],
    ids=str,
)
def test_a_method_begins_with_more_trials_than_parameters(method):
    calibration(method=method)
    ((name, given),) = method.items()
    fewer = {name: {**given, next(iter(given)): 2}}
    with pytest.raises(ConfigError, match=f"{name} begins with 2 trials, fewer than needed for 2"):
        calibration(method=fewer)
    calibration(method=LEAST)  # which begins with as many as the file says


def test_replicates_need_random_draws():
    more = {"base": MATMUL, "parameters": {"inner": {"values": [16, 32]}}}
    with pytest.raises(ConfigError, match="replicates: matmul has no random draws"):
        calibration(**more, replicates=2)
    calibration(**more, replicates=1)
    with pytest.raises(ConfigError, match="replicates: must be at least 1"):
        calibration(replicates=0)


def test_the_model_of_a_calibration():
    found = calibration(replicates=2).simulator("cpu", 3, "threads")
    assert isinstance(found, Simulator)
    assert (found.keys, found.replicates) == (tuple(PRIORS), 2)
    assert (found.device, found.workers, found.scheduler) == ("cpu", 3, "threads")
    never = calibration(targets={"a": {"of": "gini", "ticks": "9000:9001", "target": 0}})
    with pytest.raises(ConfigError, match="ticks 9000:9001"):
        never.simulator("cpu", 0, "")
    with pytest.raises(ConfigError, match="unknown method 'zzz'; there are abc_smc, surrogate, "):
        calibration(method="zzz")


# ------------------------------------------------------------------------------------------- trials


def test_a_batch_is_written_in_parts():
    assert [len(one) for one in conduct._parts(np.zeros((10, 1)), 1000)] == [4, 4, 2]
    assert [len(one) for one in conduct._parts(np.zeros((2, 1)), 5000)] == [1, 1]
    assert [len(one) for one in conduct._parts(np.zeros((7, 1)), 1)] == [7]


def test_trials_of_a_file_are_not_computed_again():
    own, asked = calibration(replicates=2), []

    class Recorded(Made):
        def runs(self, points, numbers):
            asked.append(numbers.tolist())
            return super().runs(points, numbers)

    known = Trials(np.random.default_rng(1).random((3, 2)), np.full((3, 2, 2), 7.0))
    new = np.concatenate([known.unit[1:], [[0.2, 0.4]]])
    found = conduct._runs(own, Recorded(), known, 1, new)
    assert (found[:2] == 7).all() and asked == [[[6, 7]]]
    np.testing.assert_allclose(found[2], [own.values(new[2:])[0]] * 2)
    assert (conduct._runs(own, Recorded(), known, 0, known.unit) == 7).all() and len(asked) == 1
    assert len(conduct._runs(own, Recorded(), known, 4, new)) == 3
    assert asked[1:] == [[[8, 9], [10, 11], [12, 13]]]
    with pytest.raises(OutputError, match="has other trials than this calibration asks for"):
        conduct._runs(own, Recorded(), known, 0, new)


def test_the_file_is_written_after_each_part_once_the_time_has_come(monkeypatch, tmp_path):
    put(monkeypatch, Made())
    now, step, wrote, write = [0.0], [2.5], [], conduct._write

    def written(path, data):
        wrote.append((now[0], data.sizes["trial"], data.attrs["complete"]))
        write(path, data)

    def clock():
        now[0] += step[0]
        return now[0]

    monkeypatch.setattr(conduct, "_write", written)
    monkeypatch.setattr(conduct.time, "monotonic", clock)
    monkeypatch.setattr(conduct, "MOST_OF_BATCH", 1)
    reported = []
    more = {"progress": lambda *one: reported.append(one)}
    found = calibrate(calibration(method=LEAST), out=tmp_path / "a.nc", **more)
    # Eight trials, a call of the clock each: after 7.5 s, 3 parts, all is saved (another call).
    assert [(count, whole) for _, count, whole in wrote] == [(3, 0), (6, 0), (8, 1)]
    assert [count for count, _ in reported] == [2, 6, 8]
    distance = found.data["distance"].values
    assert [least for _, least in reported] == [distance[:n].min() for n in (2, 6, 8)]
    assert found.computed == 8
    wrote.clear()
    step[0] = 9.0
    again = calibrate(calibration(method=LEAST), out=tmp_path / "a.nc", resume=True)
    assert again.computed == 0 and [one[1:] for one in wrote] == [(8, 1)]


def test_a_calibration_needs_scipy_and_a_target(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    put(monkeypatch, Made())
    given = {"base": "economy/quickstart", "parameters": PRIORS, "targets": TARGETS}
    found = calibrate({**given, "method": LEAST})
    assert (found.path.parent, found.path.suffix) == (found.path.parent, ".nc")
    assert found.path.exists() and list(tmp_path.iterdir()) == [tmp_path / found.path.name]
    with pytest.raises(ConfigError, match="begins again, so it cannot also continue"):
        calibrate(calibration(method=LEAST), out="b.nc", resume=True, overwrite=True)
    with pytest.raises(OutputError, match=r"b\.nc: does not exist, so there is nothing to"):
        calibrate(calibration(method=LEAST), out="b.nc", resume=True)
    calibrate(calibration(method=LEAST), out=found.path, overwrite=True)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(SocietiesError, match=r"needs SciPy, .* 'societies\[study\]'"):
        calibrate({**given, "method": LEAST})


def test_contents_of_a_file_before_the_end():
    own = calibration()
    unit = np.array([[0.5, 0.25], [0.0, 0.75]])
    runs = np.array([[[9.0, 2.25]], [[6, np.nan]]])
    data = conduct._dataset(Path("run.h5"), own, Trials(unit, runs), None)
    empty = ("draw", "batch", "bin", "choice")
    assert {name: data.sizes[name] for name in empty} == dict.fromkeys(empty, 0)
    assert data["profile"].shape == (2, 0) and data["chosen"].dtype == np.int64
    assert data["draw_utility.exponent"].dtype.kind == "f"
    assert data["value_extraction.max_effort"].values.tolist() == [9, 6]
    np.testing.assert_allclose(data["low"], [8.5, 2.15])
    np.testing.assert_allclose(data["high"], [9.5, 2.35])
    assert data["distance"].values.tolist() == [0, np.inf] and data.attrs["complete"] == 0
    profile = np.array([[1.0, 2, 3], [4, 5, 6]])
    found = Found(unit, [3.0], profile, np.array([1]), ["a note"])
    data = conduct._dataset(Path("run.h5"), own, Trials(unit, runs), found)
    np.testing.assert_array_equal(data["profile"], profile)
    assert data["draw_extraction.max_effort"].values.tolist() == [9, 6]
    assert json.loads(data.attrs["notes"])[0] == "a note"


def test_numbers_and_words_have_columns_of_their_own():
    """NetCDF keeps whole numbers, decimals and texts; what is neither is written as text."""
    own = calibration(parameters={**PRIORS, "devices": {"values": ["none", "tools"]}})
    unit = np.array([[0.5, 0.25, 0.9], [0.0, 0.75, 0.1]])
    data = conduct._dataset(Path("run.h5"), own, Trials(unit, np.full((2, 1, 2), 9.0)), None)
    assert data["value_devices"].values.tolist() == ["tools", "none"]
    assert data["value_devices"].dtype == object
    assert data["value_utility.exponent"].dtype.kind == "f"


@pytest.mark.parametrize(
    ("failures", "runs", "said"),
    [
        ({"point 3: no": 2, "other": 1}, [[[np.nan] * 2]], "point 3: no"),
        ({}, [[[1, np.nan]], [[np.nan, np.nan]]], "none has a number for share"),
        ({}, [[[np.nan, np.nan]]], "none has a number for units, share"),
        ({}, [[[1, np.nan]], [[np.nan, 1]]], "each lacks a statistic"),
        ({}, [[[1, np.nan], [np.nan, 1]]], "each lacks a statistic"),
    ],
)
def test_why_no_trial_can_be_compared(failures, runs, said):
    own, runs = calibration(), np.array(runs)
    own.targets.statistics.update(
        zip(("units", "share"), [*own.targets.statistics.values()], strict=True)
    )
    for name in [name for name in own.targets.statistics if name not in ("units", "share")]:
        del own.targets.statistics[name]
    done = Trials(np.zeros((len(runs), 2)), runs)
    assert conduct._why(own, done, SimpleNamespace(failures=failures)) == said


@pytest.mark.parametrize("holds", [None, False, True])
@pytest.mark.parametrize("ours", [False, True])
def test_what_is_no_calibration_is_distinguished_from_one_that_is_damaged(
    monkeypatch, tmp_path, holds, ours
):
    """A checksum alone, or the mark of a calibration alone, says that it is one."""
    path = tmp_path / "a.nc"
    path.write_bytes(b"some")
    seen = []

    def require(path, again):
        seen.append(again)
        raise OutputError("looked at")

    monkeypatch.setattr(conduct, "hash_holds", lambda path: holds)
    monkeypatch.setattr(conduct, "is_calibration", lambda path: ours)
    monkeypatch.setattr(conduct, "require_hash", require)
    other = holds is None and not ours
    with pytest.raises(OutputError, match="not the file of a" if other else "looked at"):
        conduct._read(path, calibration())
    assert ["overwrite=True" in again for again in seen] == [True] * (not other)


def test_the_command_of_the_nearest_trial():
    own = calibration(replicates=2, set={"days": 4})
    unit = np.array([[0.5, 0.25], [0.0, 0.75]])
    runs = np.array([[[np.nan, 2]] * 2, [[6, 2.75]] * 2])
    said = conduct.command_of_nearest(own, Trials(unit, runs), own.answer(runs))
    words = said.split(" --set ")
    assert words[0] == "societies run economy/quickstart"
    assert {"days=4", "replicates=2", "first_society=2"} <= {*words}
    runs[1] = np.nan
    assert conduct.command_of_nearest(own, Trials(unit, runs), own.answer(runs)) == ""
    plain = dataclasses.replace(own, sweep=sweep_of(MATMUL, {}), base=MATMUL)
    runs[1] = [6, 2.75]
    said = conduct.command_of_nearest(plain, Trials(unit, runs), own.answer(runs))
    assert said.startswith("societies run CONFIG --set days=4") and "replicates" not in said


def notes(own, unit, statistics, found=NOTHING):
    runs = np.array(statistics, float)[:, None]
    return conduct.notes(own, Trials(np.array(unit), runs), own.answer(runs), found)


def test_notes():
    own = calibration()
    assert notes(own, [[0.5, 0.5]], [[9, 2.25]]) == []
    assert notes(own, [[0.5, 0.5]], [[9.499, 2.25]]) == []
    (near,) = notes(own, [[0.05, 0.95]], [[9.5, 2.25]])  # one scale away, 0.05 from the ends
    assert near == (
        "units: no trial came near 8.5 to 9.5; the nearest has 9.5 (trial 0); "
        "calibrate other parameters too"
    )
    far = notes(own, [[0.5, 0.5], [0.04, 0.97]], [[np.nan, 2.25], [7, 2.25]])
    assert far[0] == "1 of 2 trials failed: a statistic had no number in any seed"
    assert far[1].endswith(
        "the nearest has 7 (trial 1); widen the prior of extraction.max_effort, utility.exponent"
    )
    assert notes(own, [[0.5, 0.5]], [[np.nan, 2.25]])[1:] == []  # which no trial has
    assert conduct.notes(own, Trials(np.empty((0, 2)), np.empty((0, 1, 2))), *none(own)) == []
    shapes = calibration(parameters={**PRIORS, "agents": {"low": 4, "high": 8, "whole": True}})
    (said,) = notes(shapes, [[0.5] * 3], [[9, 2.25]])
    assert said == "agents: each value is a program to compile, and a launch of its own"
    # A uniform posterior has the standard deviation sqrt(1 / 12): the first is a little narrower.
    spread = np.sqrt(1 / 12) * np.array([0.895, 0.905])
    draws = 0.5 + np.array([[1], [-1]]) * spread
    said = notes(own, [[0.5, 0.5]], [[9, 2.25]], dataclasses.replace(NOTHING, draws=draws))
    assert [one.partition(":")[0] for one in said] == ["utility.exponent"]


def none(own):
    return own.answer(np.empty((0, 1, 2))), NOTHING


def test_rows_of_a_report():
    data = xr.Dataset(
        {
            "distance": ("trial", [np.inf, 0.5, 2.0]),
            "value_a": ("trial", [1.0, 1 / 3, 3.0]),
            "value_b": ("trial", np.array(["x", "y", "z"], object)),
            "value_c": ("trial", [1, 12345678, 3]),
            "draw_a": ("draw", np.arange(101.0)),
            "draw_b": ("draw", np.array(["x"] * 101, object)),
            "draw_c": ("draw", np.arange(101) + 1000),
        },
        {"parameter": ["a", "b", "c"]},
        {"method": "abc_smc", "command": "societies run", "notes": "[]"},
    )
    rows = CalibrationReport("a.nc", data, 0).rows
    assert rows == [
        ("method", "abc_smc"),
        ("trials", "3, 1 failed"),
        ("least distance", "0.5 at trial 1"),
        ("a", "0.333333; posterior 50, 90 % in 5 to 95"),
        ("b", "y"),
        ("c", "12345678; posterior 1050, 90 % in 1005 to 1095"),
        ("run it", "societies run"),
        ("file", "a.nc"),
    ]
    fewer = data.isel(draw=slice(0), trial=slice(1, 3))
    rows = dict(CalibrationReport("a.nc", fewer, 0).rows)
    assert (rows["trials"], rows["a"]) == ("2", "0.333333")


# ---------------------------------------------------------------------------------------- recovery


def test_a_recovery_calibrates_on_data_of_its_own(monkeypatch):
    """Three true points, whose methods ask for 1, 2 and 3 trials, in two rounds."""
    own = calibration(replicates=2)
    asked, reported, answers, seeds = [], [], {}, []

    class Recorded(Made):
        def runs(self, points, numbers):
            asked.append((np.array(points), np.array(numbers)))
            return super().runs(points, numbers)

    def abc_smc(dims, **options):
        seeds.append(options["seed"])
        k = len(seeds)
        answers[k] = [(yield np.full((k, dims), k / 8)), (yield np.full((k, dims), k / 4))]
        return dataclasses.replace(NOTHING, draws=np.full((5, dims), k / 4))

    put(monkeypatch, Recorded(noise=0.3))
    monkeypatch.setattr(HOW, "METHODS", {"abc_smc": abc_smc})
    found = recover(own, 3, seed=9, progress=lambda *one: reported.append(one))
    truth = np.random.default_rng(9).random((3, 2))
    np.testing.assert_array_equal(found.truth, truth)
    assert seeds == [10, 11, 12] and found.trials == 12 and reported == [(6, 0), (12, 3)]
    assert asked[0][1].tolist() == (2**24 + np.arange(6).reshape(3, 2)).tolist()
    assert [one[1].ravel().tolist() for one in asked[1:]] == [[*range(12)], [*range(12, 24)]]
    data = mean_over_replicates(Made(noise=0.3).runs(own.values(truth), asked[0][1]))
    for turn, (points, numbers) in enumerate(asked[1:]):
        statistics = mean_over_replicates(Made(noise=0.3).runs(points, numbers))
        for k, rows in ((1, slice(0, 1)), (2, slice(1, 3)), (3, slice(3, 6))):
            away = (statistics[rows] - data[k - 1]) / data.std(0)
            distance = np.sqrt((away**2).mean(1))
            np.testing.assert_allclose(answers[k][turn].distance, distance)
    assert (found.ranks == (truth > np.arange(1, 4)[:, None] / 4)).all()


def test_true_points_without_statistics_are_counted(monkeypatch):
    put(monkeypatch, Made(fail=lambda point: point[0] > 9))
    truth = np.random.default_rng(1).random((6, 2))
    bad = (truth[:, 0] > 0.5).sum()
    assert 0 < bad < 6
    with pytest.raises(ConfigError, match=f"recover.*: {bad} true points have no statistics"):
        recover(calibration(), 6)


def test_targets_of_a_recovery_are_the_data_in_units_of_their_spread():
    aim = HOW._aimed(calibration().targets, np.array([3.0, 4.0]), np.array([0.0, 2.5]))
    found = [(one.target, one.band, one.scale) for one in aim.statistics.values()]
    assert found == [(3, None, 1), (4, None, 2.5)]


def test_ranks_at_their_ends():
    """A draw that equals the truth is not below it; both ends of an interval are in it."""
    draws = np.tile([0.2, 0.4, 0.6, 0.8], (4, 1))[:, :, None]
    found = recovered(["a"], np.array([[0.4], [0.5], [0.7], [0.9]]), draws, 8)
    assert found.ranks[:, 0].tolist() == [0.25, 0.5, 0.75, 1]
    assert found.coverage[:, 0].tolist() == [0.75, 0.75]
    assert found.p.shape == (1,) and ROWS == 2


def test_a_recovery_is_right_if_every_coverage_is_within_its_bounds():
    bounds = np.array([[0.25, 0.75], [0.5, 1.0]])
    one = Recovery(["a", "b"], np.ones((4, 2)), np.zeros((4, 2)), bounds, bounds, bounds[0], 12)

    def right(*coverage):
        return dataclasses.replace(one, coverage=np.array(coverage)).right

    assert right([0.25, 0.75], [0.5, 1.0]) is True
    assert not right([0.24, 0.75], [0.5, 1.0]) and not right([0.25, 0.76], [0.5, 1.0])
    assert not right([0.25, 0.75], [0.49, 1.0])
    assert one.rows == [
        ("points", "4"),
        ("trials", "12"),
        ("50 % intervals", "right if 0.25 to 0.75"),
        ("90 % intervals", "right if 0.50 to 1.00"),
        ("a", "contain the truth 50 %: 0.25, 90 %: 0.50; uniform ranks p 0.250"),
        ("b", "contain the truth 50 %: 0.75, 90 %: 1.00; uniform ranks p 0.750"),
    ]
    said = one.as_dict()
    assert (said["parameters"], said["levels"], said["trials"]) == (["a", "b"], (0.5, 0.9), 12)
    for name in ("truth", "ranks", "coverage", "bounds", "p"):
        assert said[name] == getattr(one, name).tolist()
