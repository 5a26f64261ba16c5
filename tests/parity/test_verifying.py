"""Does `verify` find mistakes that show late, and say of what its answer says nothing?"""

import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from engines import DeviceEngine, ReferenceEngine

from societies import config_from_dict
from societies import verify as verify_economy
from societies.economy.coverage import counted_quantities
from societies.economy.parameters import parameters
from societies.economy.series import columns_of
from societies.errors import ConfigError
from societies.opencl import choose_device
from societies.paths import data_directory
from societies.workload import (
    Count,
    Field,
    Phase,
    Series,
    Setup,
    Source,
    Step,
    Workload,
    falls,
    rises,
)
from societies.workload.checking import verify as core
from societies.workload.checking.windows import (
    ALL_TICKS,
    FIRST_TICKS,
    MOST_SINGLE_TICKS,
    TICKS_AT_A_TIME,
    chosen_windows,
)
from societies.workload.declare.config import DailyConfig
from societies.workload.running.engines import ReferenceEngine as CoreReference
from societies.workload.running.run import run

ROOT = Path(__file__).resolve().parents[2]


# -- a mistake in a kernel ------------------------------------------------------------------------


def readme_command():
    """Return the words of the README's command, without its first."""
    (line,) = re.findall(r"^societies (verify .*)$", (ROOT / "README.md").read_text(), re.M)
    _, path, *options = line.split()
    return ["verify", path.removeprefix("configs/").removesuffix(".yaml"), *options]


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Plant a mistake in a copy of the kernels, which is then built instead of them."""

    def plant(file, right, wrong):
        kernels = tmp_path / "kernels"
        shutil.copytree(data_directory("kernels"), kernels)
        text = (kernels / file).read_text()
        assert text.count(right) == 1
        (kernels / file).write_text(text.replace(right, wrong))
        monkeypatch.setattr(
            "societies.kerneltext.source.data_directory",
            lambda name: kernels if name == "kernels" else data_directory(name),
        )

    return plant


PRICE = ("economy/bargaining.cl", "mean = sqrt(most_a * least_b);", "mean = most_a;")


@pytest.mark.thorough
def test_the_readmes_command_finds_a_wrong_price(shell, planted):
    """Prices decide nothing before day 4 or so, as long as one unit goes for one unit."""
    planted(*PRICE)
    code, out, _ = shell(*readme_command())
    assert code == 1, out
    assert re.match(r"different: day \d+, phase trading \(round \d+\), array held", out), out


@pytest.mark.ci
def test_few_days_say_that_they_do_not_tell(shell, planted):
    """The same mistake is not found in two days; that is what the warning is about."""
    planted(*PRICE)
    code, out, _ = shell("verify", "economy/quickstart", "--days", "2")
    assert code == 0, out
    assert out.startswith("identical: 2 days, ")
    assert "warning: did not happen on the days compared: swaps of unequal amounts\n" in out


@pytest.mark.thorough
def test_the_readmes_command_finds_what_only_industries_do(shell, planted):
    """The first industries of that society are made after day 70."""
    planted(
        "economy/invention.cl",
        "invented_on(device_type, resource) = day;",
        "invented_on(device_type, resource) = day + (device_type == 3);",
    )
    code, out, _ = shell(*readme_command())
    assert code == 1, out
    assert re.match(r"different: day \d+, phase invention, array invented_on, index \[0, 3,", out)


# -- of the economy -------------------------------------------------------------------------------


def economy(**settings):
    return config_from_dict({"workload": "economy", "agents": 6, "resources": 9, **settings})


@pytest.mark.thorough
def test_shocks_to_come_are_named_and_looked_for():
    shocks = [{"day": 23, "remove": "resource", "index": 1, "holdings": "lose"}]
    config = economy(days=40, shocks=shocks)
    few = verify_economy(config, days=2).coverage
    assert few.acted["shocks (day 23)"] == 0
    assert few.shown_by["shocks (day 23)"] == 23
    assert "shocks (day 23) (day 23 has it)" in str(few)
    report = verify_economy(config)
    assert report.identical, str(report)
    assert (23, 23) in report.windows
    assert report.coverage.acted["shocks (day 23)"] == 1
    assert report.coverage.missing == []


@pytest.mark.ci
def test_days_of_a_long_run_are_those_of_the_straight_run():
    """The states that the device hands over are its own: nothing begins again."""
    report = verify_economy(economy(days=40))
    assert report.identical
    assert report.windows == ((1, 2), (12, 13), (25, 26), (39, 40))
    whole = verify_economy(economy(days=40), days=40)
    assert whole.identical
    assert whole.ticks == 40
    for name, often in whole.coverage.counts.items():
        assert often >= report.coverage.counts[name] > 0, name


def test_a_short_run_is_compared_as_a_whole():
    report = verify_economy(economy(days=ALL_TICKS, agents=5, resources=4))
    assert (report.ticks, report.windows) == (ALL_TICKS, ((1, ALL_TICKS),))
    assert str(report).startswith(f"identical: {ALL_TICKS} days, ")


def test_what_a_checkpoint_leaves_out_is_the_same_after_loading():
    """Both sides begin alike wherever the state comes from; else the first phases would differ."""
    config = economy(days=9, agents=5, resources=4)
    p = parameters(config)
    used, unused = (DeviceEngine(choose_device("auto"), p) for _ in range(2))
    used.start()
    used.run_days(1, 5)
    state = used.state()
    reference = ReferenceEngine(p)
    for one in (used, unused, reference):
        one.load(state)
    expected = reference.state()
    for one in (used, unused):
        for name, array in one.state().items():
            assert array.tobytes() == expected[name].tobytes(), name
    assert any(state[name].tobytes() != array.tobytes() for name, array in expected.items())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"trade": False},
        {"devices": "tools"},
        {"devices": "all"},
        {"devices": "all", "trade": False},
        {"groups": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5}]},
    ],
    ids=str,
)
def test_everything_counted_is_reported_by_series_and_arrays_that_exist(settings):
    p = parameters(economy(**settings))
    state = ReferenceEngine(p).state()
    for name, count in counted_quantities(p).items():
        assert set(count.series) <= set(columns_of(p)), name
        assert count.of(state, state) == 0, name


@pytest.mark.thorough
def test_counts_agree_with_the_series():
    """What is counted in the phases of a day is what the statistics of the evening report."""
    soon = {
        "device": {"resources_in_tool": 4, "components": 3},
        "invention": {"tool_probability": 0.005, "device_probability": 0.05},
    }
    config = economy(days=12, devices="all", seed=5, **soon)
    p = parameters(config)
    engine = ReferenceEngine(p)
    engine.start()
    series = dict(zip(columns_of(p), engine.run_days(1, 12)[0].sum(axis=0), strict=True))
    coverage = verify_economy(config, device="reference").coverage
    for prefix, what in (("inventions", "inventing"), ("devices_made", "making")):
        reported = {
            "tool": "a tool",
            "machine": "a machine",
            "device_machine": "a tool-making machine",
        }
        for name, a_device in reported.items():
            scale = 1 if prefix == "inventions" else config.agents
            found = coverage.counts[f"{what} {a_device}"]
            assert found == pytest.approx(scale * series[f"{prefix}_{name}"]), name
            assert name != "tool" or found > 0
    assert coverage.counts["swaps"] == pytest.approx(config.agents * series["deals"])
    assert coverage.counts["selling a tool"] == pytest.approx(
        config.agents * series["devices_traded_tool"]
    )


# -- of any workload ------------------------------------------------------------------------------


class Growing(Workload):
    """`grow` adds 1, `rest` does nothing, `sell` sells on some days, `late` is on day 150 only.

    Parameters
    ----------
    sales : collection of int
        Days of sales.
    end : int
        Day on which the run ends, although its configuration has more.
    reported : bool
        Whether the steps of a day are known before it comes.
    """

    name, summary, config = "growing", "grows and sells", DailyConfig
    clock, copies = "day", "society"

    def __init__(self, sales=(), end=None, reported=True):
        self.sales, self.end, self.reported = sales, end, reported

    def sizes(self, p):
        return {"half": 2}

    def fields(self, p):
        fields = {
            "size": Field(("half",), "uint32", "units", "how large"),
            "scratch": Field(("half",), "float64", "1", "of no importance", checkpointed=False),
        }
        if self.end:
            fields["ended"] = Field((), "int64", "day", "day of the end", initial=-1)
        return fields

    def series(self, p):
        return {"sales": Series("units", "units sold")}

    def phases(self, p, copies):
        return {name: Phase() for name in ("grow", "rest", "sell", "late", "count")}

    def schedule(self, p, tick, seen):
        names = ["grow", "rest", "sell", *(["late"] if tick == 150 else []), "count"]
        for name in names if tick else ["grow"]:
            if not self.reported:
                assert seen["size"].shape == (1, 2)
            yield Step(name)

    def source(self, p):
        return Source()

    def reference(self, p):
        def grow(p, s, day):
            s.size = [n + 1 for n in s.size]

        def sell(p, s, day):
            s.size[1] -= day in self.sales

        def late(p, s, day):
            s.scratch = [x + 1 for x in s.scratch]

        def count(p, s, day):
            s.series = {"sales": float(day in self.sales)}
            if day == self.end:
                s.ended = day

        none = {"rest": lambda p, s, day: None}
        return {"grow": grow, "sell": sell, "late": late, "count": count, **none}

    def counts(self, p):
        return {
            "sales": Count(("sell",), falls("size"), "sold", ("sales",)),
            "growth": Count(("grow",), rises("size"), "grown"),
        }


class Side(CoreReference):
    """Plain Python in the place of a device; it may be wrong, and knows what it ran.

    Attributes
    ----------
    ran : list of (day, step)
    """

    def __init__(self, *arguments, wrong_from=10**9, **more):
        super().__init__(*arguments, **more)
        self.wrong_from, self.ran = wrong_from, []

    def step(self, step, day):
        super().step(step, day)
        self.ran.append((day, str(step)))
        if str(step) == "grow" and day >= self.wrong_from:
            self.copies_now[0].size[0] += 1
            self.copies_now[0].size[1] += 1

    def run_ticks(self, first, last):
        assert 1 <= last - first + 1 <= 64
        super().run_ticks(first, last)
        self.ran += [(day, "alone") for day in range(first, last + 1)]


@pytest.fixture
def verified(monkeypatch):
    """Verify a workload on a side instead of a device; ``sides`` are then it and the reference."""

    def verify(workload, days=300, wrong_from=10**9, shown="a side", **more):
        sides = verify.sides = []

        def engine_of(setup, device):
            sides.append(Side(workload, setup.p, wrong_from=wrong_from))
            return sides[0], shown, {}

        def reference(*arguments, **options):
            sides.append(Side(*arguments, **options))
            return sides[1]

        monkeypatch.setattr(core, "engine_of", engine_of)
        monkeypatch.setattr(core, "ReferenceEngine", reference)
        return core.verify(Setup(workload, DailyConfig(workload="growing", days=days)), **more)

    return verify


def saved(path, workload, days):
    """Return a file of ``days`` days."""
    run(Setup(workload, DailyConfig(workload="growing", days=days)), device="reference", out=path)
    return path


def test_days_on_which_something_happens_are_compared(verified):
    report = verified(Growing(sales={30, 77}))
    assert report.identical
    assert report.windows == ((1, 2), (30, 30), (99, 100), (150, 150), (199, 200), (299, 300))
    assert report.ticks == 10
    acted = {"grow": 11, "rest": 0, "sell": 1, "count": 6, "late": 1}
    assert report.coverage.acted == acted
    assert report.coverage.counts == {"sales": 1, "growth": 22}
    assert str(report) == (
        "identical: 10 days (1 to 2, 30, 99 to 100, 150, 199 to 200, 299 to 300), 3 arrays\n"
        "4 of 5 phases acted: 1 sold, 22 grown\n"
        "warning: did not happen on the days compared: rest"
    )


def test_what_never_happens_is_reported_as_such(verified):
    coverage = verified(Growing()).coverage
    assert coverage.nowhere == {"sales"}
    assert "warning: happens on no day of this run: sales" in str(coverage)


def test_nothing_is_said_of_the_days_before_a_checkpoint(verified, tmp_path):
    """What happened on them may be what did not happen since."""
    workload = Growing(sales={30})
    report = verified(workload, start=saved(tmp_path / "130.h5", workload, 130))
    assert (report.after, report.windows, report.ticks) == (130, ((131, 300),), 170)
    assert report.coverage.nowhere == frozenset()
    assert report.coverage.missing == ["rest", "sell", "sales"]
    assert report.coverage.acted["late"] == 1
    later = verified(Growing(), start=saved(tmp_path / "150.h5", Growing(), 150))
    assert later.coverage.acted.keys() == {"grow", "rest", "sell", "count"}
    for side in verified.sides:
        assert side.state()["size"].tolist() == [[301, 301]]
    some = verified(workload, ticks=5, start=saved(tmp_path / "99.h5", workload, 99))
    assert some.windows == ((100, 104),) and alone(verified)[0] == 105
    assert some.coverage.nowhere == frozenset()


def alone(verified):
    """Return the days that the device ran alone, in order."""
    return [day for day, what in verified.sides[0].ran if what == "alone"]


def test_only_the_rest_of_a_run_is_looked_at_and_may_be_too_long(verified, monkeypatch):
    verified(Growing(sales={77}))
    assert alone(verified)[0] == 3
    monkeypatch.setattr(core.Comparison, "look_ahead", lambda *_: ({}, False))
    assert verified(Growing(), ticks=3).coverage.nowhere == frozenset()
    monkeypatch.setattr(core.Comparison, "look_ahead", lambda *_: ({}, True))
    assert verified(Growing(), ticks=3).coverage.nowhere == {"sales"}


def test_all_days_that_are_asked_for_or_few_are_compared(verified):
    for more in ({"ticks": ALL_TICKS + 7}, {"days": ALL_TICKS}):
        report = verified(Growing(), **more)
        count = ALL_TICKS + 7 * ("ticks" in more)
        assert (report.windows, report.ticks) == (((1, count),), count)
        assert count == ALL_TICKS or alone(verified)[0] > count
    verified(Growing(), days=ALL_TICKS)
    assert alone(verified) == []
    assert len(verified(Growing(), days=ALL_TICKS + 1).windows) > 1


def test_what_is_equal_on_a_device_is_noted(verified, monkeypatch):
    noted = []
    monkeypatch.setattr(core, "note_verified", noted.append)
    verified(Growing(), ticks=2)
    assert len(noted) == 1
    verified(Growing(), ticks=2, shown=core.REFERENCE)
    verified(Growing(), ticks=2, wrong_from=2)
    assert len(noted) == 1


def test_what_cannot_be_repeated_is_not_verified(verified, monkeypatch):
    monkeypatch.setattr(Growing, "not_repeatable", lambda self, config: "it is timed")
    with pytest.raises(ConfigError, match="a run of this cannot be repeated: it is timed"):
        verified(Growing())


def test_with_days_the_others_are_only_named(verified):
    report = verified(Growing(sales={30, 77}), ticks=3)
    assert (report.ticks, report.windows) == (3, ((1, 3),))
    assert {day for day, _ in verified.sides[1].ran} == {0, 1, 2, 3}
    assert report.coverage.shown_by == {"sales": 30, "late": 150}
    assert str(report).splitlines() == [
        "identical: 3 days, 3 arrays",
        "2 of 5 phases acted: 8 grown",
        "warning: did not happen on the days compared: "
        "rest, sell, late (day 150 has it), sales (day 30 has it)",
    ]


@pytest.mark.parametrize("wrong_from", [1, 2, 77, 120, 300])
def test_the_first_difference_in_the_days_compared_is_found(verified, wrong_from):
    """A device alone makes the same mistakes; they show where it is watched."""
    report = verified(Growing(sales={30}), wrong_from=wrong_from)
    compared = (1, 2, 30, 99, 100, 150, 199, 200, 299, 300)
    assert not report.identical
    assert report.difference.tick == min(day for day in compared if day >= wrong_from)
    assert (report.difference.phase, report.difference.array) == ("grow", "size")
    assert report.coverage is None
    chosen = ((1, 2), (30, 30), (99, 100), (150, 150), (199, 200), (299, 300))
    assert report.windows == (chosen[:1] if wrong_from < 3 else chosen)
    assert report.ticks == (2 if wrong_from < 3 else 10)
    assert verified.sides[0].ran[-1] == (report.difference.tick, "grow")


def test_no_day_is_compared_twice_and_all_is_equal_to_a_straight_run(verified):
    workload = Growing(sales=set(range(1, 300, 7)))
    assert verified(workload).identical
    watched = verified.sides[1].ran
    assert len(watched) == len(set(watched))
    straight = CoreReference(workload, DailyConfig(workload="growing", days=300))
    straight.start()
    for first in range(1, 301, 60):
        straight.run_ticks(first, first + 59)
    expected = straight.state()["size"].tolist()
    assert expected == [[301, 301 - 43]]
    for side in verified.sides:
        assert side.state()["size"].tolist() == expected


def test_progress_tells_day_phase_and_who(verified):
    reported = []
    verified(Growing(), ticks=2, progress=lambda *said: reported.append(said))
    assert reported[:2] == [(0, 2, "day 0, grow, reference"), (0, 2, "day 0, grow, device")]
    assert (1, 2, "day 2, sell, device") in reported
    assert all(0 <= done <= days == 2 for done, days, _ in reported)
    reported.clear()
    verified(Growing(), progress=lambda *said: reported.append(said))
    assert any(doing.endswith(", device alone") for _, _, doing in reported)
    assert any(doing.endswith("alone, to see when what happens") for _, _, doing in reported)
    assert all(done <= days for done, days, _ in reported)
    assert reported[-1][0] == reported[-1][1]
    assert reported[0][1] == ALL_TICKS


@pytest.mark.parametrize(("end", "ticks"), [(1, 1), (2, 2), (10, 10), (120, 8), (299, 9)])
def test_of_a_run_that_ends_early_its_end_is_compared(verified, end, ticks):
    """Ticks are spread over those that it has, not over those that it might have had."""
    report = verified(Growing(end=end))
    assert report.identical
    assert report.windows[-1][1] == end
    assert max(day for day, _ in verified.sides[1].ran) == end
    assert report.ticks == ticks
    assert ("late" in report.coverage.acted) == (end > 150)
    wrong = verified(Growing(end=end), wrong_from=end)
    assert (wrong.identical, wrong.difference.tick) == (False, end)


def test_nothing_is_compared_after_the_end(verified, tmp_path):
    report = verified(Growing(end=3), ticks=5)
    assert (report.identical, report.ticks, report.windows) == (True, 3, ((1, 3),))
    ended = saved(tmp_path / "ended.h5", Growing(end=3), 9)
    with pytest.raises(ConfigError, match="ended at day 3: there is no day left to compare"):
        verified(Growing(end=3), start=ended)


def test_steps_that_are_known_when_they_come_are_counted_too(verified):
    coverage = verified(Growing(sales={2}, reported=False), days=5).coverage
    assert coverage.acted == {"grow": 6, "rest": 0, "sell": 1, "count": 3}
    assert str(coverage).startswith("3 of 4 phases acted: 1 sold, 12 grown\n")


@pytest.mark.parametrize("ticks", [ALL_TICKS + 1, 20, 100, 365, 1300])
def test_windows_are_bounded_in_order_and_show_what_they_can(ticks):
    happens = {f"thing {i}": [5 + (7 * i) % (ticks - 5), ticks - 3] for i in range(40)}
    happens |= {"on one day": [11], "never": []}
    windows = chosen_windows(ticks, happens)
    chosen = [tick for first, last in windows for tick in range(first, last + 1)]
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= ALL_TICKS
    assert chosen[:FIRST_TICKS] == [1, 2]
    assert chosen[-TICKS_AT_A_TIME:] == [ticks - 1, ticks]
    assert {11, ticks - 3} <= set(chosen)
    assert all(later[0] > earlier[1] + 1 for earlier, later in pairwise(windows))


def test_more_single_days_than_are_allowed_are_not_chosen():
    alone = {f"thing {day}": [day] for day in range(10, 90, 3)}
    chosen = chosen_windows(1000, alone)
    assert sum(last - first + 1 for first, last in chosen) == 8 + MOST_SINGLE_TICKS
