"""Does `verify` find mistakes that show late, and say of what its answer says nothing?"""

import re
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from societies.config import config_from_dict
from societies.device import choose_device
from societies.economy.coverage import counts
from societies.economy.engine import DeviceEngine, ReferenceEngine
from societies.economy.parameters import parameters
from societies.economy.run import verify as verify_economy
from societies.economy.state import series_of
from societies.paths import data_directory
from societies.verifying import (
    ALL_DAYS,
    DAYS_AT_A_TIME,
    FIRST_DAYS,
    MOST_SINGLE_DAYS,
    Count,
    Subject,
    chosen_windows,
    falls,
    rises,
    verify,
)

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
            "societies.device.source.data_directory",
            lambda name: kernels if name == "kernels" else data_directory(name),
        )

    return plant


PRICE = ("economy/trading.cl", "mean = sqrt(most_a * least_b);", "mean = most_a;")


def test_the_readmes_command_finds_a_wrong_price(shell, planted):
    """Prices decide nothing before day 4 or so, as long as one unit goes for one unit."""
    planted(*PRICE)
    code, out, _ = shell(*readme_command())
    assert code == 1, out
    assert re.match(r"different: day \d+, phase trading \(round \d+\), array held", out), out


def test_few_days_say_that_they_do_not_tell(shell, planted):
    """The same mistake is not found in two days; that is what the warning is about."""
    planted(*PRICE)
    code, out, _ = shell("verify", "economy/quickstart", "--days", "2")
    assert code == 0, out
    assert out.startswith("identical: 2 days, ")
    assert "warning: did not happen on the days compared: swaps of unequal amounts\n" in out


def test_the_readmes_command_finds_what_only_industries_do(shell, planted):
    """The first industries of that society are made after day 70."""
    planted(
        "economy/invention.cl",
        "invented_on(type, resource) = day;",
        "invented_on(type, resource) = day + (type == 3);",
    )
    code, out, _ = shell(*readme_command())
    assert code == 1, out
    assert re.match(r"different: day \d+, phase invention, array invented_on, index \[0, 3,", out)


# -- of the economy -------------------------------------------------------------------------------


def economy(**settings):
    return config_from_dict({"workload": "economy", "agents": 6, "resources": 9, **settings})


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


def test_days_of_a_long_run_are_those_of_the_straight_run():
    """The states that the device hands over are its own: nothing begins anew."""
    report = verify_economy(economy(days=40))
    assert report.identical
    assert report.windows == ((1, 2), (12, 13), (25, 26), (39, 40))
    whole = verify_economy(economy(days=40), days=40)
    assert whole.identical
    assert whole.days == 40
    for name, often in whole.coverage.counts.items():
        assert often >= report.coverage.counts[name] > 0, name


def test_a_short_run_is_compared_as_a_whole():
    report = verify_economy(economy(days=ALL_DAYS))
    assert (report.days, report.windows) == (ALL_DAYS, ((1, ALL_DAYS),))
    assert str(report).startswith(f"identical: {ALL_DAYS} days, ")


def test_what_a_checkpoint_leaves_out_is_the_same_after_loading():
    """Both sides begin alike wherever the state comes from; else the first phases would differ."""
    config = economy(days=9)
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
def test_everything_counted_is_told_by_series_and_arrays_that_exist(settings):
    p = parameters(economy(**settings))
    state = ReferenceEngine(p).state()
    for name, count in counts(p).items():
        assert set(count.series) <= set(series_of(p)), name
        assert count.of(state, state) == 0, name


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
    series = dict(zip(series_of(p), engine.run_days(1, 12)[0].sum(axis=0), strict=True))
    coverage = verify_economy(config, device="reference").coverage
    for prefix, what in (("inventions", "inventing"), ("devices_made", "making")):
        told = {"tool": "a tool", "machine": "a machine", "device_machine": "a tool-making machine"}
        for name, a_device in told.items():
            scale = 1 if prefix == "inventions" else config.agents
            found = coverage.counts[f"{what} {a_device}"]
            assert found == pytest.approx(scale * series[f"{prefix}_{name}"]), name
            assert name != "tool" or found > 0
    assert coverage.counts["swaps"] == pytest.approx(config.agents * series["deals"])
    assert coverage.counts["selling a tool"] == pytest.approx(
        config.agents * series["devices_traded_tool"]
    )


# -- of any workload ------------------------------------------------------------------------------


class Side:
    """A model of four phases: `grow` adds 1, `rest` does nothing, `sell` sells on some days."""

    def __init__(self, sales=(), wrong_from=10**9):
        self.sales, self.wrong_from = sales, wrong_from
        self.arrays = {"size": np.zeros((1, 2), np.uint32), "scratch": np.zeros((1, 2))}
        self.ran = []

    def step(self, step, day):
        self.ran.append((day, step))
        if step == "grow":
            self.arrays["size"] += 1 + (day >= self.wrong_from)
        if step == "sell" and day in self.sales:
            self.arrays["size"][0, 1] -= 1
        if step == "late":
            self.arrays["scratch"] += 1

    def run_days(self, first, last):
        assert 1 <= last - first + 1 <= 64
        for day in range(first, last + 1):
            for step in steps(day):
                self.step(step, day)
            self.ran.append((day, "alone"))
        return np.array([[[float(d in self.sales)] for d in range(first, last + 1)]])

    def state(self):
        return {name: array.copy() for name, array in self.arrays.items()}

    def load(self, state):
        self.arrays = {"size": state["size"].copy(), "scratch": np.zeros((1, 2))}


def steps(day):
    late = ["late"] if day == 150 else []
    return ["grow", "rest", "sell", *late] if day else ["grow"]


def subject(sales=(), wrong_from=10**9, days=300):
    engine, reference = Side(sales, wrong_from), Side(sales)
    return Subject(
        engine=engine,
        reference=reference,
        device="a side",
        days=days,
        schedule=steps,
        kept=lambda state: {"size": state["size"]},
        series=("sales",),
        counts={
            "sales": Count(("sell",), falls("size"), "sold", ("sales",)),
            "growth": Count(("grow",), rises("size"), "grown"),
        },
    )


def test_days_on_which_something_happens_are_compared():
    report = verify(subject(sales={30, 77}))
    assert report.identical
    assert report.windows == ((1, 2), (30, 30), (99, 100), (150, 150), (199, 200), (299, 300))
    assert report.days == 10
    assert report.coverage.acted == {"grow": 11, "rest": 0, "sell": 1, "late": 1}
    assert report.coverage.counts == {"sales": 1, "growth": 22}
    assert str(report) == (
        "identical: 10 days (1 to 2, 30, 99 to 100, 150, 199 to 200, 299 to 300), 2 arrays\n"
        "3 of 4 phases acted: 1 sold, 22 grown\n"
        "warning: did not happen on the days compared: rest"
    )


def test_what_never_happens_is_told_as_such():
    coverage = verify(subject()).coverage
    assert coverage.nowhere == {"sales"}
    assert "warning: happens on no day of this run: sales" in str(coverage)


def test_nothing_is_said_of_the_days_before_a_checkpoint():
    """What happened on them may be what did not happen since."""
    state = {"size": np.full((1, 2), 131, np.uint32)}
    report = verify(subject(sales={30}), begin=(130, state))
    assert (report.after, report.windows, report.days) == (130, ((131, 300),), 170)
    assert report.coverage.nowhere == frozenset()
    assert report.coverage.missing == ["rest", "sell", "sales"]
    assert report.coverage.acted["late"] == 1
    assert verify(subject(), begin=(150, state)).coverage.acted.keys() == {"grow", "rest", "sell"}


def test_with_days_the_others_are_only_named():
    compared = subject(sales={30, 77})
    report = verify(compared, days=3)
    assert (report.days, report.windows) == (3, ((1, 3),))
    assert {day for day, _ in compared.reference.ran} == {0, 1, 2, 3}
    assert report.coverage.shown_by == {"sales": 30, "late": 150}
    assert str(report).splitlines() == [
        "identical: 3 days, 2 arrays",
        "1 of 4 phases acted: 8 grown",
        "warning: did not happen on the days compared: "
        "rest, sell, late (day 150 has it), sales (day 30 has it)",
    ]


@pytest.mark.parametrize("wrong_from", [1, 2, 77, 120, 300])
def test_the_first_difference_in_the_days_compared_is_found(wrong_from):
    """A device alone makes the same mistakes; they show where it is watched."""
    report = verify(subject(sales={30}, wrong_from=wrong_from))
    compared = [day for first, last in report.windows for day in range(first, last + 1)]
    assert not report.identical
    assert report.difference.day == min(day for day in compared if day >= wrong_from)
    assert report.difference.phase == "grow"
    assert report.coverage is None


def test_no_day_is_compared_twice_and_all_is_equal_to_a_straight_run():
    compared = subject(sales=set(range(1, 300, 7)))
    verify(compared)
    watched = compared.reference.ran
    assert len(watched) == len(set(watched))
    straight = Side(compared.engine.sales)
    straight.step("grow", 0)
    for first in range(1, 301, 60):
        straight.run_days(first, first + 59)
    for side in (compared.engine, compared.reference):
        assert side.arrays["size"].tolist() == straight.arrays["size"].tolist()


def test_progress_tells_day_phase_and_who():
    told = []
    verify(subject(), days=2, progress=lambda *said: told.append(said))
    assert told[:2] == [(0, 2, "day 0, grow, device"), (0, 2, "day 0, grow, reference")]
    assert (1, 2, "day 2, sell, reference") in told
    assert all(0 <= done <= days == 2 for done, days, _ in told)
    told.clear()
    verify(subject(), progress=lambda *said: told.append(said))
    assert any("device alone" in doing for _, _, doing in told)
    assert all(done <= days for done, days, _ in told)
    assert told[-1][0] == told[-1][1]


@pytest.mark.parametrize("days", [ALL_DAYS + 1, 20, 100, 365, 1300])
def test_windows_are_bounded_in_order_and_show_what_they_can(days):
    happens = {f"thing {i}": [5 + (7 * i) % (days - 5), days - 3] for i in range(40)}
    happens |= {"on one day": [11], "never": []}
    windows = chosen_windows(days, happens)
    chosen = [day for first, last in windows for day in range(first, last + 1)]
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= ALL_DAYS
    assert chosen[:FIRST_DAYS] == [1, 2]
    assert chosen[-DAYS_AT_A_TIME:] == [days - 1, days]
    assert {11, days - 3} <= set(chosen)
    assert all(later[0] > earlier[1] + 1 for earlier, later in pairwise(windows))


def test_more_single_days_than_are_allowed_are_not_chosen():
    alone = {f"thing {day}": [day] for day in range(10, 90, 3)}
    chosen = chosen_windows(1000, alone)
    assert sum(last - first + 1 for first, last in chosen) == 8 + MOST_SINGLE_DAYS
