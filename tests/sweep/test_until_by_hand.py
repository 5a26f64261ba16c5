"""How wide are the intervals of a study, and how many rounds does it have? Without a run."""

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from societies.errors import ConfigError
from societies.sweep import until as module
from societies.sweep.document import load_sweep
from societies.sweep.report import SweepReport
from societies.sweep.until import (
    FIRST,
    UntilConfig,
    Widths,
    next_count,
    problems,
    run_until,
    widths,
    with_number,
)

ASKED = UntilConfig(until={"x": 1.0})
VARY = {"grid": {"amount": [1, 2]}}


def width_of(*values):
    values = np.array(values)
    low, high = scipy.stats.t.interval(
        0.95, len(values) - 1, values.mean(), scipy.stats.sem(values)
    )
    return high - low


@pytest.fixture
def study(monkeypatch):
    """Return a function that makes the study of which widths are asked."""

    def make(rows, x, keys=(), **attrs):
        point, replicate, status = zip(*rows, strict=True)
        data = {"x": (("run", "day")[: np.ndim(x)], x), "status": ("run", [*status])}
        numbers = {"point": ("run", [*point]), "replicate": ("run", [*replicate])}

        @contextmanager
        def opened(path):
            along = {name: ("run", values) for name, values in dict(keys).items()}
            yield xr.Dataset({**data, **numbers}, along, {"vary": ", ".join(along), **attrs})

        monkeypatch.setattr(module, "open_study", opened)

    return make


ROWS = [(p, r, "done") for p in (0, 1) for r in (0, 1, 2)]


def test_the_widest_interval_is_that_of_a_point(study):
    study(ROWS, [1.0, 2, 3, 5, 8, 7])
    assert widths(Path("s"), ASKED).of["x"] == pytest.approx(width_of(5, 8, 7))
    assert widths(Path("s"), ASKED).point == {"x": 1}
    study(ROWS[::-1], [1.0, 2, 3, 5, 8, 7])
    assert widths(Path("s"), ASKED).point == {"x": 0}


def test_the_point_of_the_widest_interval_has_its_label(study):
    policies = ["[]"] * 3 + ['[{"day": 5, "set": {"pace": 3.0}}]'] * 3
    study(ROWS, [1.0, 2, 3, 5, 8, 7], {"amount": [1, 1, 1, 2, 2, 2], "interventions": policies})
    label = widths(Path("s"), ASKED).label["x"]
    assert label.startswith("amount 2, ") and "pace 3" in label and "{" not in label
    study([(0, 0, "done")], [1.0], {"amount": [4]})
    assert widths(Path("s"), ASKED).label == {"x": "amount 4"}
    study([(0, 0, "failed")], [1.0], {"amount": [4]})
    assert widths(Path("s"), ASKED).label == {}


def test_a_run_has_the_mean_of_what_it_records_and_counts_if_it_is_done(study):
    rows = [(0, 0, "done"), (0, 1, "done"), (0, 2, "failed"), (0, 3, "done"), (0, 4, "done")]
    x = [[1.0, 3.0], [np.nan, 4.0], [99.0, 99.0], [6.0, 6.0], [np.nan, np.nan]]
    study(rows, x)
    assert widths(Path("s"), ASKED).of["x"] == pytest.approx(width_of(2, 4, 6))


def test_an_effect_pairs_runs_of_the_same_draws(study):
    """Replicate 1 of the point and 3 of the base have no twin."""
    rows = [(1, 0), (2, 3), (1, 2), (2, 1), (1, 3), (2, 0), (1, 1), (2, 2)]
    rows = [(*row, "done") for row in rows if row not in {(2, 1), (1, 3)}]
    study(rows, [10.0, 7.0, 30.0, 12.0, 99.0, 31.0])
    found = widths(Path("s"), ASKED.model_copy(update={"base": 1}))
    assert found.of["x"] == pytest.approx(width_of(2.0, 1.0)) and found.point == {"x": 2}
    study(ROWS[3:], [5.0, 8, 7])
    found = widths(Path("s"), ASKED.model_copy(update={"base": 1}))
    assert found == Widths({"x": np.inf}, {"x": 0})


def test_one_value_or_none_has_no_interval(study):
    study([(0, 0, "done"), (0, 1, "failed")], [1.0, 2.0])
    assert widths(Path("s"), ASKED) == Widths({"x": np.inf}, {"x": 0})
    study([(0, 0, "done"), (0, 1, "done")], [1.0, 2.0])
    assert widths(Path("s"), ASKED).of["x"] == pytest.approx(width_of(1.0, 2.0))
    study([(0, 0, "failed"), (1, 0, "failed")], [1.0, 2.0])
    assert widths(Path("s"), ASKED) == Widths({"x": np.inf}, {"x": 0})


def test_a_variable_that_is_not_recorded_is_named(study):
    study(ROWS, [1.0] * 6)
    with pytest.raises(ConfigError, match=r"no variable 'xx'; did you mean 'x'\?"):
        widths(Path("s"), UntilConfig(until={"xx": 1.0}))
    other = UntilConfig(until={"xx": 1.0, "x": 1.0})
    assert [*problems(other, ["x", "y"], 2)] == [
        (("replicates", "until", "xx"), "the study records no variable 'xx'; did you mean 'x'?")
    ]
    assert [*problems(other, None, 2)] == []


@pytest.mark.parametrize(
    ("base", "points", "said"),
    [
        (0, 1, "an effect needs another point, and the study has one"),
        (2, 2, "the study has 2 points, numbers 0 to 1"),
        (1, 2, None),
        (0, 2, None),
        (None, 1, None),
    ],
)
def test_the_base_is_one_of_the_points(base, points, said):
    asked = ASKED.model_copy(update={"base": base})
    assert [*problems(asked, None, points)] == [(("replicates", "base"), said)] * bool(said)


@pytest.mark.parametrize(
    ("count", "width", "expected"),
    [(20, 1.0, 20), (20, 1.0001, 22), (1, 1.0001, 2), (120, 9.0, 120), (100, 9.0, 100)],
)
def test_a_round_has_a_twentieth_more_at_least_and_never_fewer(count, width, expected):
    asked = UntilConfig(until={"x": 1.0}, at_most=100)
    assert next_count(count, Widths({"x": width}, {}), asked) == expected


class Rounds:
    """Takes the place of a study that runs; its widths are given."""

    def __init__(self, monkeypatch, *found):
        self.calls, self.found = [], [*found]
        monkeypatch.setattr(module, "widths", lambda path, asked: self.found.pop(0))

    def __call__(self, **options):
        self.calls.append(options)
        done = options["replicates"] * (not options.get("broken"))
        sizes = {"points": 2, "runs": 2 * done, "done": done, "pending": 0, "computed": 7}
        more = {"failures": [], "devices": [], "seconds": 3.0, "launch_seconds": 2.0}
        return SweepReport(path=Path("s"), **sizes, **more, notes=["before"])


def test_rounds_are_counted_together(monkeypatch, tmp_path):
    once = Rounds(monkeypatch, Widths({"x": 9.0}, {"x": 1}), Widths({"x": 0.5}, {"x": 3}))
    found = run_until(once, ASKED, tmp_path / "s.h5", False, overwrite=True, part=None)
    assert once.calls == [
        {"replicates": 20, "resume": False, "overwrite": True, "part": None},
        {"replicates": 80, "resume": True, "overwrite": False, "part": None},
    ]
    assert (found.computed, found.seconds, found.launch_seconds) == (14, 6.0, 4.0)
    assert found.notes == [
        "before",
        "x: the widest interval is 0.5, at point 3, with 80 replicates",
    ]


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (1.0, "the widest interval is 1, at point 3, with 20 replicates"),
        (1.5, "the widest interval is 1.5, at point 3, with 20 replicates; 1 were asked for"),
        (np.inf, "no interval at point 3, of whose 20 replicates fewer than two have a number"),
    ],
)
def test_a_note_says_what_was_asked_for_if_it_was_not_reached(width, said, monkeypatch, tmp_path):
    once = Rounds(monkeypatch, Widths({"x": width}, {"x": 3}))
    asked = UntilConfig(until={"x": 1.0}, at_most=20)
    assert run_until(once, asked, tmp_path / "s", False).notes[1:] == [f"x: {said}"]


def test_a_study_whose_runs_all_fail_does_not_grow(monkeypatch, tmp_path):
    once = Rounds(monkeypatch, Widths({"x": np.inf}, {"x": 0}))
    found = run_until(once, ASKED, tmp_path / "s", False, broken=True)
    assert len(once.calls) == 1 and found.notes[-1].startswith("x: no interval at point 0")


@pytest.mark.parametrize(
    ("existing", "resume", "count"),
    [(33, True, 33), (5, True, 20), (33, False, 20), (None, True, 20)],
)
def test_a_study_continues_with_the_replicates_that_it_has(
    existing, resume, count, study, monkeypatch, tmp_path
):
    study(ROWS, [1.0] * 6, replicates=existing)
    if existing is not None:
        (tmp_path / "s.h5").touch()
    once = Rounds(monkeypatch, Widths({"x": 0.5}, {"x": 0}))
    run_until(once, ASKED, tmp_path / "s.h5", resume)
    assert once.calls == [{"replicates": count, "resume": resume}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"add_points": True}, "adds runs by itself; leave out .*add.points"),
        ({"retry_failed": True}, "adds runs by itself; leave out .*retry.failed"),
        ({"part": (0, 2)}, "a part of a study cannot grow"),
    ],
)
def test_what_a_growing_study_cannot_be(options, said, monkeypatch, tmp_path):
    once = Rounds(monkeypatch)
    with pytest.raises(ConfigError, match=said):
        run_until(once, ASKED, tmp_path / "s", False, **options)
    assert once.calls == []


def test_at_most_is_1000_by_default():
    for at_most, first in ((2, 2), (3, 3), (100, FIRST)):
        until = {"until": {"richest": 1.0}, "at_most": at_most}
        made = load_sweep({"base": {"workload": "boltzmann"}, "vary": VARY, "replicates": until})
        assert made.replicates == first
    few = {"until": {"x": 1.0}, "base": "q"}
    for count, more in ((8, ""), (9, " and 1 more")):
        points = [{"label": f"n{number}"} for number in range(count)]
        listed = ", ".join(f"'n{number}'" for number in range(8))
        with pytest.raises(
            ValueError, match=rf"no point has the label 'q'; there are {listed}{more}$"
        ):
            with_number(UntilConfig(**few), lambda points=points: points)
    assert ASKED.at_most == 1000 and UntilConfig(until={"x": 1.0}, at_most=2).at_most == 2
