"""Are the figures of the paper made again from their runs, and their numbers compared rightly?"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure as Drawing

from societies import load_config
from societies.errors import ConfigError, OutputError
from societies.reproduce import (
    COMPANIONS,
    Options,
    carry_out,
    carry_out_part,
    catalogue,
    companions,
    figures,
    figures_named,
    running,
)
from societies.reproduce.claims import COMPARISONS, cells, targets_of, verdicts, write_table
from societies.reproduce.drawing import FIGURES, gain_per_minute
from societies.study import load_targets

pytestmark = pytest.mark.ci

ROOT = Path(__file__).resolve().parents[2]
BASELINE = ROOT / "tests" / "data" / "societies-baseline"


def test_without_numbers_the_figures_are_listed_with_their_cost(shell):
    code, out, err = shell("reproduce")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert [name for name in lines if name.isdecimal()] == [str(n) for n in range(5, 14)]
    assert all("on two cores" in lines[str(n)] and "H100" in lines[str(n)] for n in range(5, 14))
    parts = {f"{name}:{part}" for name, one in COMPANIONS.items() for part in one.parts}
    assert {"paper", *COMPANIONS} | parts <= set(lines)
    judged = {one.figure for one in COMPARISONS} | {n for n in range(20) if targets_of(n)}
    assert set(figures()) == set(FIGURES) == judged
    sources = [t.source for one in load_targets("economy") for t in one.statistics.values()]
    shown = [t.source for n in figures() for one in targets_of(n) for t in one.statistics.values()]
    assert sorted(sources) == sorted(shown)  # each target is the claim of a figure


def test_scripts_of_parts_exist_and_know_their_options(tmp_path):
    for name, one in COMPANIONS.items():
        for part in one.parts.values():
            script, *options = one.words(part, tmp_path, "cpu", small=True)
            text = (ROOT / script).read_text()
            for word in options:
                assert not word.startswith("--") or f'"{word}"' in text, (name, word)


def test_the_page_says_where_each_publication_ran():
    page = (ROOT / "docs" / "reproduce.md").read_text().partition("## What ran where")[2]
    first = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    for name in ("5", *COMPANIONS):
        assert any(f"`{name}`" in cell or f"`{name}:" in cell for cell in first), name


def test_published_tables_and_figures_have_their_numbers():
    assert set(COMPANIONS["havannah"].parts) == {str(number) for number in range(1, 13)}
    assert set(COMPANIONS["kalah"].parts) == {"depths", "splits"}
    expected = {"table_2", "table_3", *(f"figure_{number}" for number in range(5, 15))}
    assert set(COMPANIONS["ngtsg"].parts) == {*expected, "lines", "registers"}
    expected = {f"figure_{number}" for number in range(1, 9)}
    assert set(COMPANIONS["opencl_cuda"].parts) == expected
    expected = {f"figure_{number}" for number in range(4, 8)}
    assert set(COMPANIONS["molecular_dynamics"].parts) == {*expected, "gas", "steps"}


def test_runs_of_one_name_are_the_same_and_can_be_loaded():
    runs = {}
    for figure in figures().values():
        for run in figure.runs:
            assert runs.setdefault(run.name, run) == run
    assert len(runs) == 9
    for run in runs.values():
        config = load_config(run.base, run.overrides(100, False))
        assert config.replicates == 100
        assert load_config(run.base, run.overrides(100, True)).days == 40
        small = load_config(run.base, run.overrides(100, True))
        assert (small.agents, small.replicates) == (12, 2)
    removal = load_config(runs["removal"].base, runs["removal"].overrides(100, False))
    assert (removal.agents, removal.resources, removal.days) == (24, 24, 4500)
    assert [(shock.day, shock.remove) for shock in removal.shocks] == [(3000, "resource")]


def test_what_does_not_exist_is_reported(shell):
    code, _, err = shell("reproduce", "4")
    assert code == 2
    assert err.startswith("there is no figure or experiment '4'\nfigures are 5 to 13")
    with pytest.raises(ConfigError, match="no figure or experiment 'x'"):
        figures_named(["5", "x"])
    for near in ("08", "figure_8", "paper:8"):
        assert shell("reproduce", near)[2].startswith(
            f"there is no figure or experiment '{near}'; did you mean '8'?\n"
        )
    code, _, err = shell("reproduce", "5", "--small", "--societies", "3")
    assert (code, err) == (
        2, "--societies: with --small each run has 2; leave out one of the options\n"
    )  # fmt: skip
    code, _, err = shell("reproduce", "kalah:13")
    assert code == 2
    assert err.startswith("kalah has no part '13'\nits parts are depths, splits;")


def test_a_figure_without_runs(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = shell("reproduce", "5")
    assert (code, err) == (0, "")
    made = ["figure_05.png", "figure_05.svg", "figure_05.csv", "claims.md"]
    assert out.split() == [f"reproduction/{name}" for name in made]
    table = list(csv.reader((tmp_path / "reproduction/figure_05.csv").read_text().splitlines()))
    assert [row[-1] for row in table] == ["verdict", "PASS", "PASS", "PASS"]
    # 600 util in 8.99 minutes; what the second unit adds, 600 (2^(1/2.5) - 1), takes as long
    assert gain_per_minute(2.5, 2) == pytest.approx([66.78, 66.78 * 0.3195], rel=1e-3)


def test_a_run_is_carried_out_once_and_not_mixed_with_others(tmp_path, monkeypatch):
    tiny = {"agents": 4, "resources": 7, "days": 3, "replicates": 2}
    monkeypatch.setattr(catalogue, "SMALL", tiny)
    monkeypatch.setattr(catalogue, "SMALL_SHOCK", 1)
    ((figure,), _) = figures_named(["13"])
    options = Options(device="reference", small=True, quiet=True)
    written = carry_out(figure, tmp_path, options)
    assert [path.name for path in written] == ["figure_13.png", "figure_13.svg"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["removal.nc"]
    with xr.open_dataset(tmp_path / "runs" / "removal.nc") as series:
        assert series.sizes == {"society": 2, "day": 3}
        assert series.attrs["removed"] == 1

    def never(*_, **__):
        raise AssertionError("carried out again")

    monkeypatch.setattr(running, "run_config", never)
    carry_out(figure, tmp_path, options)
    series = tmp_path / "runs" / "removal.nc"
    content = series.read_bytes()
    for place in range(7, len(content), len(content) // 25):
        series.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(OutputError, match=r"removal\.nc: damaged"):
            carry_out(figure, tmp_path, options)
    series.write_bytes(content)
    monkeypatch.setattr(catalogue, "SMALL", {**tiny, "days": 2})
    with pytest.raises(OutputError, match=r"removal\.nc has another configuration"):
        carry_out(figure, tmp_path, options)


def test_an_interrupted_run_is_continued(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "SMALL", {"agents": 4, "resources": 7, "days": 3})
    monkeypatch.setattr(catalogue, "SMALL_SHOCK", 1)
    ((figure,), _), asked = figures_named(["13"]), []
    run_config = running.run_config

    def interrupted(config, *, out, resume, **options):
        asked.append(resume)
        run_config(config, out=out, resume=resume, **options)
        if len(asked) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(running, "run_config", interrupted)
    options = Options(device="reference", societies=2, small=True, quiet=True)
    with pytest.raises(KeyboardInterrupt):
        carry_out(figure, tmp_path, options)
    carry_out(figure, tmp_path, options)
    assert asked == [False, True]


def test_no_part_remains_of_what_a_stopped_command_was_writing(tmp_path, monkeypatch):
    """Tables of all figures are read for the claims, so half of one would shorten them."""
    table = tmp_path / "figure_05.csv"
    write_table(table, [["5", "one"], ["5", "two"]])
    before = table.read_bytes()

    def stopped(*what, **_):
        if what:
            Path(what[-1]).write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table(table, (stopped() for _ in range(2)))
    assert table.read_bytes() == before and list(tmp_path.iterdir()) == [table]
    monkeypatch.setattr(Drawing, "savefig", lambda self, where, **_: stopped(where))
    with pytest.raises(KeyboardInterrupt):
        carry_out(figures()[5], tmp_path, Options(quiet=True))
    monkeypatch.setattr(running, "as_markdown", lambda rows: stopped())
    with pytest.raises(KeyboardInterrupt):
        running._write_claims(tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["figure_05.csv", "runs"]


def test_names_mean_figures_and_parts_each_once():
    some, parts = figures_named(["9", "paper", "kalah", "kalah:splits", "ngtsg:figure_7"])
    assert [one.number for one in some] == [9, 5, 6, 7, 8, 10, 11, 12, 13]
    assert parts == [("kalah", "depths"), ("kalah", "splits"), ("ngtsg", "figure_7")]


@pytest.fixture
def publication(tmp_path, monkeypatch):
    """Return a folder of results, and put a script with two parts in place of all companions."""
    folder = tmp_path / "clone" / "experiments"
    folder.mkdir(parents=True)
    (folder / "run.py").write_text(
        "import signal, sys, time; from pathlib import Path\n"
        "count = Path(sys.argv[-1]) / 'count'\n"
        "count.write_text(count.read_text() + '.' if count.exists() else '.')\n"
        "def ended(*_):\n    count.write_text('ended')\n    sys.exit()\n"
        "signal.signal(signal.SIGTERM, ended)\n"
        "print(*sys.argv[1:-1], flush=True)\n"
        "time.sleep(30 * ('wait' in sys.argv))\n"
        "sys.exit('fail' in sys.argv)\n"
    )
    parts = {
        "one": companions.Exhibit("", "", ("a",), "shared"),
        "two": companions.Exhibit("", "", ("a",), "shared"),
        "bad": companions.Exhibit("", "", ("fail",)),
        "long": companions.Exhibit("", "", ("wait",)),
    }
    made = {"of": companions.Companion("experiments/run.py", "", parts, small=("--tiny",))}
    for module in (companions, running):
        monkeypatch.setattr(module, "COMPANIONS", made)
    monkeypatch.setattr(running, "data_directory", lambda name: folder)
    return tmp_path / "out"


def test_a_part_is_carried_out_once_and_parts_share_measurements(publication, capfd):
    text = carry_out_part("of", "one", publication, Options(device="cpu"))
    assert text == publication / "of" / "shared.txt"
    assert text.read_text() == capfd.readouterr().out == "a --device cpu --out\n"
    assert carry_out_part("of", "two", publication, Options(device="cpu")) == text
    assert (publication / "of" / "shared" / "count").read_text() == "."
    small = carry_out_part("of", "one", publication, Options(device="cpu", small=True))
    assert small == publication / "small" / "of" / "shared.txt"
    assert small.read_text() == "a --tiny --device cpu --out\n"


def test_a_part_that_fails_does_not_count_as_done(publication, shell):
    for _ in range(2):
        code, out, err = shell("reproduce", "of:bad", "of:one", "--out", str(publication))
        assert code == 1
        assert err.startswith("of:bad: ended with an error, which was printed above\n")
        assert out.endswith(f"{publication / 'of' / 'shared.txt'}\n")
    assert (publication / "of" / "count").read_text() == ".."
    assert (publication / "of" / "shared" / "count").read_text() == "."


def test_a_part_that_is_interrupted_is_ended_and_does_not_count(publication, monkeypatch):
    """Its own traceback, one for each process that it had started, stood before our line."""

    def interrupted(*words, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "print", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        carry_out_part("of", "long", publication, Options(device="cpu"))
    assert [one.name for one in (publication / "of").iterdir()] == ["count"]
    assert (publication / "of" / "count").read_text() == "ended"


def test_without_the_scripts_an_experiment_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "data_directory", lambda name: tmp_path / "_data" / name)
    with pytest.raises(ConfigError, match="run it in a clone of the repository"):
        carry_out_part("kalah", "depths", tmp_path, Options())


def series(**values):
    """Return runs of two societies: (society, day) by name, days from 1."""
    return xr.Dataset(
        {name: (("society", "day"), np.array(rows, float)) for name, rows in values.items()},
        coords={"day": np.arange(1, 1 + len(next(iter(values.values()))[0]))},
    )


def test_a_removal_on_another_day_is_judged_as_that_of_the_targets():
    """Figure 13, by hand: 100 before the removal, then 10 and 20, then 90 and 110."""
    days = np.arange(1, 4501)
    low, late = (days > 3000) & (days <= 3100), days > 3400
    rows = [
        np.where(low, least, np.where(late, end, 100.0)) for least, end in ((10, 90), (20, 110))
    ]
    run = series(units_extracted=rows, utility=rows).assign_attrs(removed=3000)
    found = verdicts(13, {"removal": run})
    assert [one.mean for one in found] == pytest.approx([0.15, 0.15, 1.0, 1.0])
    assert [one.verdict for one in found] == ["PASS", "WARN", "PASS", "PASS"]


def test_claims_about_sources_are_those_of_the_targets():
    shares = np.zeros((2, 310, 5))
    shares[:, :16, 0] = shares[:, 16:99, 1] = 1.0  # by hand, then tools
    shares[:, 99:, 2:4] = 0.3, 0.7  # machines and factories
    sources = ["hand", "tool", "machine", "factory", "industry"]
    run = xr.Dataset(
        {"extraction_share": (("society", "day", "source"), shares)},
        coords={"day": np.arange(1, 311), "source": sources},
    )
    tools, machines, factories, industries = verdicts(9, {"long_run": run})
    assert (tools.mean, tools.verdict) == (17, "PASS")
    assert (machines.verdict, machines.failed) == ("FAIL", 2)  # they never carry most
    assert factories.mean == pytest.approx(0.7) and factories.verdict == "FAIL"
    assert (industries.mean, industries.verdict) == (0, "PASS")
    row = cells(9, factories, {"long_run.factories_day_300": 0.51})
    said = "long run: factories nearly everything by day 300 (share)"
    assert row == ["9", said, "0.8 to 1", "0.7", "0.7 to 0.7", "0 %", "0.51", "FAIL"]


def test_several_runs_are_compared_society_by_society():
    runs = {
        f"exponent_{n}": series(units_traded=rows)
        for n, rows in {
            "1.1": [[4, 6], [10, 10]],
            "1.5": [[2, 2], [8, 8]],
            "2.0": [[1, 1], [4, 4]],
        }.items()
    }
    found = verdicts(6, runs)
    assert [one.values.tolist() for one in found] == [[0.4, 0.8], [0.5, 0.5]]
    assert [one.verdict for one in found] == ["PASS", "PASS"]


def test_recorded_numbers_are_those_of_the_recorded_runs():
    def recorded(name, column, first, last):
        with open(BASELINE / f"canon-{name}.csv", newline="") as lines:
            every = [float(row[f"{column}_mean"]) for row in csv.DictReader(lines)]
        return np.mean(every[first - 1 : last])

    expected = {
        **{f"no_trade.units_day_{day}": recorded("s1", "gathered", day, day)
           for day in (1, 201, 251, 301)},
        "no_trade.units_at_the_end": recorded("s1", "gathered", 401, 500),
        "trade.units_day_125": recorded("s2", "gathered", 125, 125),
        "trade.inequality_is_near_0": recorded("s2", "gini_day", 1, 500),
        "tools.units_day_151": recorded("s3", "gathered", 151, 151),
        "tools.units_at_the_end": recorded("s3", "gathered", 401, 500),
        "devices.units_times_187": recorded("s4", "gathered", 451, 500) / 187,
        "devices.inequality_settles": recorded("s4", "gini_day", 401, 500),
        "long_run.factories_day_300": recorded("d24", "pct_factory", 291, 310),
        "long_run.industries_day_300": recorded("d24", "pct_industry", 291, 310),
        "long_run.tools_made_with_machines": recorded("d24", "use_devmachine", 291, 310),
        "long_run.machines_made_with_factories": recorded("d24", "use_devfactory", 291, 310),
        "long_run.median_hhi": recorded("d24", "hhi_med", 501, 1500),
        "long_run.largest_hhi": recorded("d24", "hhi_max", 300, 1500),
        "long_run.interdependence_by_hand": recorded("d24", "complexity", 1, 1),
    }  # fmt: skip
    found = {name: value for one in figures().values() for name, value in one.recorded.items()}
    assert found == pytest.approx(expected, rel=5e-4)
    judged = {f"{one.name}.{name}" for one in load_targets("economy") for name in one.statistics}
    assert set(found) <= judged
