"""Does each figure say of what it can be drawn, and why not of the rest? Every answer by hand."""

import json

import numpy as np
import pytest
import xarray as xr

from societies.analysis import fitting
from societies.analysis.drawing import MOST_CASES
from societies.analysis.fitting import AFTERWARDS, unfit
from societies.errors import ConfigError, SocietiesError
from tests.analysis.test_figures import DAYS, SHOCK, run, study

ECONOMY = "workload: economy\n"
BARE = {"clock": "day", "copies": "society", "configuration": ECONOMY}
FULL = ("series", "gini", "distribution", "sources", "time", "devices", "hhi", "interdependence")


def bare(count=3, dims=("society", "day"), **attrs):
    """Return a result with one variable of the given dimensions, of 3 societies."""
    sizes = {"society": 3, "run": 3, "day": count, "agent": 2}
    values = np.ones([sizes[dim] for dim in dims])
    return xr.Dataset({"x": (dims, values)}, {"day": np.arange(count)}, {**BARE, **attrs})


def test_of_a_whole_result_all_figures_of_a_run_can_be_drawn():
    data = run(configuration=SHOCK)
    assert set(fitting.fitting({"a": data})) == {*FULL, "shock"}
    assert fitting.fitting({"a": bare()}) == ["series"]
    assert fitting.fitting({"a": bare(dims=("society", "day", "agent"))}) == []


def test_of_a_study_a_sweep_can_be_drawn_and_what_its_design_is_for():
    keys = {"trading.rounds": [3, 6, 12]}
    assert unfit("sweep", {"a": study(keys, [1.0, 2.0, 3.0])}) == ""
    design = json.dumps([{"morris": {"levels": 4}}])
    assert unfit("sensitivity", {"a": study(keys, [1.0, 2, 3], design=design)}) == ""
    assert "no design of" in unfit("sensitivity", {"a": study(keys, [1.0, 2.0, 3.0])})
    assert unfit("sweep", {"a": study({"day_length": [5]}, [1.0])}) == "'a' varies no key"
    without = study(keys, [1.0, 2, 3]).drop_vars(["utility", "gini"])
    assert unfit("sweep", {"a": without}) == "'a' has no variable with one number per run"
    for figure in ("sweep", "sensitivity"):
        assert unfit(figure, {"a": run(design=design)}) == (
            "'a' is not a study: this figure takes the file of a sweep"
        )


@pytest.mark.parametrize("figure", ["trade_network", "fan", "sweep", "sensitivity"])
def test_some_figures_show_a_single_result(figure):
    assert unfit(figure, {"a": run(), "b": run()}) == "shows one result, not 2"
    assert "shows one result" not in unfit(figure, {"a": run()})


def test_runs_and_studies_are_only_mixed_where_they_are_compared():
    both = {"a": run(), "b": study({"day_length": [5, 6]}, [1.0, 2.0])}
    said = "runs and studies are compared by the figures effect and irf alone"
    assert unfit("series", both) == said
    assert unfit("effect", both) != said
    assert unfit("series", {"a": both["b"], "b": both["b"]}) == ""


def test_at_most_n_results_are_in_a_figure():
    many = {str(i): bare() for i in range(MOST_CASES + 1)}
    assert unfit("series", many) == f"shows at most {MOST_CASES} results, not {MOST_CASES + 1}"
    del many["0"]
    assert unfit("series", many) == ""


@pytest.mark.parametrize("figure", ["effect", "irf"])
def test_with_a_base_at_most_as_many_are_compared(figure, monkeypatch):
    compared = {}
    monkeypatch.setitem(fitting._PAIRS, figure, lambda cases: compared)
    compared |= {str(i): bare() for i in range(MOST_CASES + 1)}
    assert unfit(figure, {"a": bare()}) == ""
    compared["one more"] = bare()
    assert unfit(figure, {"a": bare()}) == (
        f"compares at most {MOST_CASES} with a base, not {MOST_CASES + 1}"
    )


def test_what_a_figure_lacks_is_said_with_the_setting_that_records_it():
    assert unfit("income", {"a": bare()}) == (
        "'a' has no income, consumption or wealth (set record.measures=true)"
    )
    assert unfit("time", {"a": bare()}) == "'a' has no variable 'minutes'"
    assert unfit("distribution", {"a": bare()}) == (
        "'a' has no variables of agents (record them with record.agent=10)"
    )
    assert unfit("gini", {"a": bare()}) == "'a' has no Gini coefficients"
    unknown = bare()
    del unknown.attrs["configuration"]
    assert "set record.measures=true" in unfit("income", {"a": unknown})
    other = bare(configuration="workload: laplace\n")
    assert unfit("income", {"a": other}) == (
        "'a' has no income, consumption or wealth, which results of the workload economy have"
    )
    of_a_study = bare(dims=("run", "day"))
    assert unfit("income", {"a": of_a_study}) == (
        "'a' has no income, consumption or wealth: a sweep records the variables in its section "
        "record.variables"
    )
    for_agents = bare(dims=("society", "day", "agent"))
    assert unfit("series", {"a": for_agents}) == (
        "'a' has no variable with one number for each day and society"
    )
    wide = bare().assign(income=for_agents["x"])  # of agents, and no series
    assert unfit("income", {"a": wide}).startswith("'a' has no income")
    assert unfit("income", {"a": bare().rename(x="wealth")}) == ""


def test_devices_that_make_devices_are_only_where_there_are_some():
    tools = bare(configuration="workload: economy\ndevices: tools\n")
    all_of_them = bare(configuration="workload: economy\ndevices: all\n")
    said = "has no devices that make devices: it was run with 'devices: tools'"
    assert unfit("devices", {"a": tools}) == said
    assert unfit("devices", {"a": tools, "b": all_of_them}) != said
    assert unfit("series", {"a": tools}) == ""


def test_a_result_without_a_tick_is_named():
    cases = {"a": bare(), "b": bare(0)}
    assert unfit("series", cases) == "'b' has no recorded day"
    assert unfit("time", {"b": bare(dims=("society",)).drop_vars("day")}) == (
        "'b' has no variable 'minutes'"
    )


def test_a_recovery_needs_ticks_after_the_first_event():
    data = run(configuration=SHOCK.replace("30", str(DAYS - AFTERWARDS)))
    assert unfit("shock", {"a": data}) == ""
    late = run(configuration=SHOCK.replace("30", str(DAYS - AFTERWARDS + 1)))
    assert unfit("shock", {"a": late}) == (
        f"'a' has {AFTERWARDS - 1} days after its first event, on day 51; a recovery needs 10"
    )
    two = SHOCK.replace("[", "[{day: 59, remove: resource, index: 1}, ")
    assert unfit("shock", {"a": run(configuration=two)}) == ""
    assert "has neither shock nor intervention" in unfit("shock", {"a": bare()})


def test_trades_are_read_from_the_file_of_a_result(tmp_path, monkeypatch):
    data, file = bare(), tmp_path / "r.h5"
    elsewhere = "'a' is not in a file, in which the trades are"
    assert unfit("trade_network", {"a": data}) == elsewhere
    data.encoding["source"] = str(file)
    assert unfit("trade_network", {"a": data}) == elsewhere
    file.touch()
    tables = []
    monkeypatch.setattr(fitting, "event_tables", lambda source: tables)
    assert unfit("trade_network", {"a": data}) == (
        "'a' has no trades between agents (record them with record.network=[DAY])"
    )
    tables += ["inventions", fitting.SWAPS]
    assert unfit("trade_network", {"a": data}) == ""
    tables.remove(fitting.SWAPS)
    assert unfit("trade_network", {"a": data}) != ""


def test_a_refusal_is_its_message_and_other_errors_are_no_refusal():
    def wrong(error):
        raise error

    assert fitting._refused(lambda: wrong(ConfigError("so it is"))) == "so it is"
    assert fitting._refused(lambda: wrong(SocietiesError("as well"))) == "as well"
    assert fitting._refused(lambda: None) == ""
    with pytest.raises(KeyError):
        fitting._refused(lambda: wrong(KeyError()))
