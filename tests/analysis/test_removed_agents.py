"""Do removed agents count in nothing: neither in files nor in what is made of them?

The numbers of living agents are in the file twice: as series, which kernels and reference took over
the living, and as what analysis makes of the agents.
"""

import csv
import json
from dataclasses import replace

import h5py
import numpy as np
import pytest
import xarray as xr
import yaml
from matplotlib.text import Text

import societies
from societies import analysis, config_from_dict, sweep
from societies.economy import state

AGENTS, RESOURCES, DAYS, SOCIETIES = 6, 4, 9, 2


def settings(seed, **more):
    """Return a society from which two or three agents and a resource are removed at random."""
    draw = np.random.default_rng(seed)
    days = draw.choice(np.arange(0, DAYS - 2), 3, replace=False)
    shocks = [{"day": int(day), "remove": "agent", "index": "random"} for day in days]
    shocks.append({"day": 4, "remove": "resource", "index": "random", "holdings": "lose"})
    shocks[0]["index"] = int(draw.integers(AGENTS))
    groups = [{"name": "one", "count": 2}, {"name": "other", "count": AGENTS - 2}]
    return {
        "workload": "economy",
        "agents": AGENTS,
        "resources": RESOURCES,
        "days": DAYS,
        "replicates": SOCIETIES,
        "seed": seed,
        "devices": ["none", "tools", "all"][seed % 3],
        "utility": {"min_marginal": 2.5},
        "extraction": {"max_experience": 150.0},
        "devices_market": {"rounds": 1},
        "device": {"resources_in_tool": 2, "components": 2},
        "invention": {"tool_probability": 0.2, "device_probability": 0.2},
        "trading": {"rounds": 1, "menu_size": 2},
        "day_length": 60.0,
        "groups": groups if seed % 2 else [],
        "shocks": shocks,
        "record": {"agent": 1, "agent_resource": 1, "measures": True},
        **more,
    }


def run(path, seed, **more):
    societies.run(config_from_dict(settings(seed, **more)), out=path, device="reference")
    return path


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.thorough)])
def recorded(request, tmp_path_factory):
    return run(tmp_path_factory.mktemp("removed") / "run.h5", request.param)


def gone(path):
    """Return which agents were removed by the end of each day, (society, day, agent)."""
    with h5py.File(path) as file:
        said = yaml.safe_load(file.attrs["configuration"])["shocks"]
        (slot,) = (one for one in file["checkpoint"].values() if one["tick"][()] == DAYS)
        targets = slot["state/shock_target"][...]
    found = np.zeros((SOCIETIES, DAYS, AGENTS), bool)
    for number, shock in enumerate(said):
        for society in range(SOCIETIES if shock["remove"] == "agent" else 0):
            found[society, max(0, shock["day"] - 1) :, targets[society, number]] = True
    return found


def test_what_is_missing_are_the_removed_agents_for_every_reader(recorded):
    expected = gone(recorded)
    assert expected.any() and not expected.all(-1).any()
    with societies.open_results(recorded) as ours, xr.open_dataset(recorded) as plain:
        names = [name for name, one in ours.data_vars.items() if "agent" in one.dims]
        names.remove("agent_group") if "agent_group" in names else None
        assert len(names) >= 11 + 11 * ("source" in ours.dims)
        for name in names:
            for data in (ours, plain):
                missing = data[name].isnull().transpose("society", "day", "agent", ...).values
                every = missing.reshape(*missing.shape[:3], -1)
                assert (every.all(-1) == expected).all() and (every.any(-1) == expected).all()
        left = (~expected).sum(-1)
        np.testing.assert_array_equal(ours.agents_alive[:, 1:], left[:, :-1])
    with h5py.File(recorded) as raw:
        assert all(np.isnan(raw[name][...]).any() for name in names)


@pytest.mark.ci
def test_what_analysis_makes_of_the_agents_is_what_the_file_says_of_the_living(recorded):
    """But on a day at whose end one is removed, when the file's series still counts it."""
    run, expected = societies.open_results(recorded), gone(recorded)
    removals = yaml.safe_load(run.attrs["configuration"])["shocks"]
    same = ~run.day.isin([one["day"] for one in removals if one["remove"] == "agent"])
    assert DAYS / 2 < int(same.sum()) < DAYS

    def agree(name, found):
        own = run[name].where(same).transpose(*found.dims)
        np.testing.assert_allclose(
            found.where(same).transpose(*found.dims), own, rtol=1e-9, atol=1e-12, err_msg=name
        )

    for name in ("income", "consumption", "wealth"):
        values = run[f"agent_{name}"]
        agree(name, values.mean("agent"))
        agree(f"{name}_median", values.median("agent"))
        agree(f"gini_{name}", analysis.gini(values))
        for top in run.top.values:
            share = analysis.top_share(values, top=float(top)).where(values.sum("agent") > 0, 0)
            one = run[f"top_share_{name}"].sel(top=top).where(same).transpose("society", "day")
            np.testing.assert_allclose(share.where(same), one, rtol=1e-9)
    for name in ("units_extracted", "units_held", "units_traded", "utility"):
        agree(name, run[f"agent_{name}"].mean("agent"))
    agree("utility_median", run.agent_utility.median("agent"))
    agree("gini", analysis.gini(run.agent_utility))
    agree("gini_extracted", analysis.gini(run.agent_units_extracted))
    total = run.agent_utility.fillna(0).cumsum("day").where(~expected)
    agree("gini_cumulative", analysis.gini(total))
    agree("resources_extracted", (run.extracted > 0).where(run.extracted.notnull())
          .sum("resource", min_count=1).mean("agent"))  # fmt: skip
    of_resources = analysis.hhi(run.extracted).quantile(run["quantile"].values, "resource")
    agree("hhi", of_resources.transpose("society", "day", "quantile"))
    if "group" in run.dims:
        for number, name in enumerate(run.group.values):
            members = run.agent_utility.isel(agent=run.agent_group.values == number)
            one = run.group_utility.sel(group=name)
            found = members.mean("agent").where(same)
            np.testing.assert_allclose(found, one.where(same).transpose("society", "day"))
    if "source" in run.dims:
        units = run.agent_extracted_with
        agree("interdependence", analysis.interdependence(
            units.sum("agent"), analysis.resources_contained(run)))  # fmt: skip
        assert (analysis.interdependence(units, range(5)).isnull().values == expected).all()
        agree("minutes", run.agent_minutes.mean("agent"))
        agree("devices_made", run.agent_devices_made.mean("agent"))
        agree("units_paid_for_devices", run.agent_units_paid.mean("agent"))
        agree("overtime", run.agent_overtime.mean("agent"))


@pytest.mark.ci
def test_mobility_and_shares_are_those_of_the_living(recorded):
    run, expected = societies.open_results(recorded), gone(recorded)
    ranks, curve = analysis.mobility(run.agent_utility), analysis.lorenz(run.agent_utility)
    last = run.agent_utility[:, -1]
    for society in range(SOCIETIES):
        for day, removed in enumerate(expected[society]):
            both = run.agent_utility[society, :, ~removed]
            found, alone = ranks[society, day], analysis.mobility(both)[day]
            np.testing.assert_allclose(found, alone, rtol=1e-9)
        living = last[society, ~removed]
        np.testing.assert_allclose(curve[society, -1], analysis.lorenz(living))
    assert bool(analysis.hhi(last.where(False)).isnull().all())  # no agents, so no shares


@pytest.mark.ci
def test_exports_and_figures_have_no_removed_agents(tmp_path):
    recorded = run(tmp_path / "run.h5", 3)
    gini = float(analysis.gini(societies.open_results(recorded).agent_wealth)[:, -1].mean())
    (table,) = analysis.export(recorded, "csv", tmp_path, variables="agent_units_held")
    with table.open(newline="") as text:
        rows = list(csv.DictReader(text))
    empty = [row["agent_units_held"] == "" for row in rows]
    assert np.array_equal(np.reshape(empty, (SOCIETIES, DAYS, AGENTS)), gone(recorded))
    figure = analysis.make_figure(recorded, "distribution", variables="agent_wealth")
    shown = {one.get_text() for one in figure.findobj(Text)}
    assert f"Gini {gini:.3f}" in shown


@pytest.mark.ci
def test_without_removals_whole_numbers_stay_whole(tmp_path):
    with societies.open_results(run(tmp_path / "run.h5", 1, shocks=[])) as data:
        assert data.agent_units_held.dtype == data.held.dtype == np.int32


@pytest.mark.ci
def test_what_was_never_invented_has_no_day(tmp_path):
    path = run(tmp_path / "run.h5", 1, shocks=[])
    events = societies.open_results(path, events="inventions")
    for data in (societies.open_results(path), xr.open_dataset(path)):
        known = data.invented_on.notnull()
        assert 0 < int(known.sum()) < known.size
        assert float(data.invented_on.min()) == float(events.day.min()) > 0
        for name in ("inventor", "recipe"):
            assert float(data[name].min()) >= 0
        assert (data.inventor.notnull() == known).all()


def as_earlier(patch):
    """Write files as earlier versions did."""
    fields = state.state_fields
    found = lambda p: {name: replace(one, present="") for name, one in fields(p).items()}  # noqa: E731
    patch.setattr(state, "state_fields", found)


def earlier(monkeypatch, path, **more):
    """Write a file as earlier versions did."""
    with monkeypatch.context() as patch:
        as_earlier(patch)
        return run(path, 1, **more)


@pytest.mark.ci
def test_files_of_earlier_versions_are_read_without_removed_agents(tmp_path, monkeypatch):
    old, new = earlier(monkeypatch, tmp_path / "old.h5"), run(tmp_path / "new.h5", 1)
    with h5py.File(old) as raw:
        assert raw["agent_units_held"].dtype == np.int32 and (raw["agent_wealth"][...] == 0).any()
    with societies.open_results(old) as one, societies.open_results(new) as other:
        xr.testing.assert_identical(one.drop_attrs(deep=False), other.drop_attrs(deep=False))


@pytest.mark.ci
def test_where_an_earlier_file_does_not_say_who_was_removed_agents_are_left_out(
    tmp_path, monkeypatch
):
    record = {"agent": 1, "agent_resource": 4, "checkpoint": "never"}
    old = earlier(monkeypatch, tmp_path / "old.h5", record=record)
    with pytest.warns(UserWarning, match="left out .*agent_utility.* zeros for removed agents"):
        data = societies.open_results(old)
    assert "utility" in data and not any("agent" in one.dims for one in data.data_vars.values()
                                         if one.name != "agent_group")  # fmt: skip
    numbered = [{"day": 3, "remove": "agent", "index": 2}]
    old = earlier(monkeypatch, tmp_path / "numbered.h5", record=record, shocks=numbered)
    with societies.open_results(old) as data:
        assert data.agent_utility.isnull().any(("society", "agent")).sum() == DAYS - 2


STUDY = {
    "base": {**settings(0), "replicates": 1, "record": {"agent": 1}},
    "vary": {
        "grid": {
            "shocks": [
                *([{"day": day, "remove": "resource", "index": 1}] for day in range(1, 7)),
                [{"day": 3, "remove": "agent", "index": 4}],
            ]
        }
    },
    "record": {"variables": ["agent_units_held", "agent_utility"], "final": ["units_held"]},
}


def test_studies_have_no_removed_agents(tmp_path):
    """Only one of the points removes an agent, and not one of the first."""
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(STUDY, sort_keys=False))
    report = sweep.run(path, out=tmp_path / "s.h5", device="reference")
    for data in (societies.open_results(report.path), xr.open_dataset(report.path)):
        for name in ("agent_units_held", "agent_utility", "final_units_held"):
            missing = data[name].isnull().values
            expected = np.zeros_like(missing)
            expected[(6, slice(2, None), 4) if "agent_" in name else (6, 4)] = True
            assert (missing == expected).all()


BRIEF = {
    **{"workload": "economy", "agents": AGENTS, "resources": 2, "days": 3, "seed": 5},
    **{"trading": {"rounds": 1, "menu_size": 2}, "record": {"agent": 1}},
}
REMOVAL = {"day": 1, "remove": "agent", "index": 0}
VARIED = [
    {"shocks": [[], [REMOVAL], [{**REMOVAL, "day": 2, "index": 4}, REMOVAL]]},
    {"shocks.0.index": [3, 5], "day_length": [50.0, 60.0]},
    {"interventions.0.day": [1, 2]},
]


def earlier_study(patch, folder, record, grid):
    """Run a sweep that varies removals; return its file and one as earlier versions wrote it."""
    where = "interventions" if "interventions.0.day" in grid else "shocks"
    base = {**BRIEF, where: [REMOVAL]}
    path = folder / "study.yaml"
    path.write_text(json.dumps({"base": base, "vary": {"grid": grid}, "record": record}))
    sweep.run(path, out=folder / "new.h5", device="reference")
    with patch.context() as patched:
        as_earlier(patched)
        sweep.run(path, out=folder / "old.h5", device="reference")
    return folder / "new.h5", folder / "old.h5"


@pytest.mark.sample
@pytest.mark.parametrize("grid", VARIED, ids=["whole", "key", "interventions"])
def test_earlier_studies_that_vary_removals_have_none_of_the_removed(grid, tmp_path, monkeypatch):
    names = ["agent_units_held", "agent_utility"]
    record = {"variables": names, "final": ["units_held"]}
    new, old = earlier_study(monkeypatch, tmp_path, record, grid)
    with xr.open_dataset(old) as plain:
        assert plain.agent_utility.notnull().all()
    with societies.open_results(old) as one, societies.open_results(new) as other:
        assert other.final_units_held.isnull().any()
        for name in (*names, "final_units_held"):
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_earlier_studies_that_remove_at_random_leave_agents_out(tmp_path, monkeypatch):
    grid = {"shocks": [[], [{**REMOVAL, "index": "random"}]]}
    record = {"variables": ["agent_utility", "utility"]}
    _, old = earlier_study(monkeypatch, tmp_path, record, grid)
    with pytest.warns(UserWarning, match="left out agent_utility"):
        data = societies.open_results(old)
    assert "agent_utility" not in data and data.utility.notnull().all()
