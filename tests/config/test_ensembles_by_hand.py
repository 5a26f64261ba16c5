"""Do keys that every ensemble has say what they promise? Defaults, bounds and messages by hand."""

from types import SimpleNamespace

import pytest
import tallies
from pydantic import ValidationError

from societies import config_from_dict
from societies.config.model import Section, key, shape, value
from societies.errors import ConfigError
from societies.workload.declare.config import detailed, first_copy, replicates
from societies.workload.running import ensembles
from societies.workload.running.points import with_table
from societies.workload.running.varying import NotVarying
from societies.workload.values.keys import table_row, table_rows, values


class Range(Section):
    low: float = key(1.0, "least")
    high: float = key(2.0, "most")


class Inner(Section):
    plain: int = key(7, "no value")
    rate: float = value(0.25, "a value")


class Outer(Section):
    first: float = value(0.5, "a value")
    range: Range = value(Range(), "a row of values")
    words: int = key(9, "no value")
    form: Inner = shape(Inner(), "chooses code, whatever is in it")
    inner: Inner = key(Inner(), "a section with a value")
    last: int = value(3, "a value")


@pytest.mark.parametrize("table", [None, {"pace": [1.0, 2.0]}])
def test_values_that_interventions_make_impossible_are_named_with_their_table(monkeypatch, table):
    def in_time(*_):
        raise ValueError("pace: too much\ncells: too few")

    monkeypatch.setattr(ensembles, "in_time", in_time)
    tallies.install(monkeypatch)
    config = tallies.config()
    where = "table, with interventions" if table else "interventions"
    with pytest.raises(ConfigError) as found:
        config = config if table is None else with_table(config, table)
        ensembles._points(tallies.WORKLOAD, config)
    assert str(found.value) == f"{where}: pace: too much\n{where}: cells: too few"


def test_a_missing_group_is_named_with_those_that_exist():
    for names, available in (
        (["able", "poor"], "; there are able, poor"),
        (["able", "thirds"], "; did you mean 'thirds'?"),
        ([], "; the configuration has no groups"),
    ):
        config = SimpleNamespace(groups=[SimpleNamespace(name=name) for name in names])
        with pytest.raises(NotVarying) as found:
            ensembles.keys_changed(config, SimpleNamespace(group="third"), "trade_power")
        assert str(found.value) == f"there is no group 'third'{available}"


def test_rows_of_a_table_are_the_values_of_each_configuration_in_the_order_of_declaration():
    one = Outer()
    other = Outer(first=4, range=Range(low=5, high=6), words=1, inner=Inner(rate=8), last=9)
    assert table_row(values(one)) == [0.5, 1, 2, 0.25, 3]
    assert table_rows([one]) == [(0.5, 1, 2, 0.25, 3)]
    assert table_rows([one, other]) == [(0.5, 1, 2, 0.25, 3), (4, 5, 6, 8, 9)]


def test_there_is_one_copy_with_number_0_and_no_detail_unless_said():
    class Counted(Section):
        count: int = replicates("cats")
        first: int = first_copy("cat")
        every: int = detailed("century", "prices")

    found = Counted()
    assert (found.count, found.first, found.every) == (1, 0, 0)
    assert Counted(count=1, first=0, every=0) == found
    for name, least in (("count", 1), ("first", 0), ("every", 0)):
        with pytest.raises(ValidationError, match=f"greater than or equal to {least}"):
            Counted(**{name: least - 1})
    fields = Counted.model_fields
    assert fields["count"].description.startswith("Number of cats that are simulated at once")
    assert fields["first"].description.startswith("Number of the first cat; cat k of an ensemble")
    assert "prices every this many centuries; 0: never" in fields["every"].description


def money(*interventions):
    asked = {"workload": "boltzmann", "agents": 16, "days": 8, "interventions": interventions}
    return config_from_dict(asked)


def test_a_series_from_a_file_begins_on_the_tick_after_its_intervention(tmp_path):
    file = tmp_path / "paid.csv"
    file.write_text("day,paid\n4,2\n5,3\n")
    series = {"amount": {"file": str(file), "column": "paid"}}
    (one,) = money({"day": 3, "until": 5, "set": series}).interventions
    assert one.set == {"amount": {"values": [2, 3]}}
    for day in (2, 4):
        with pytest.raises(ConfigError, match=rf"paid\.csv.* {day + 1}"):
            money({"day": day, "until": day + 2, "set": series})


def test_days_of_retained_states_are_listed_once_and_before_the_end(monkeypatch):
    tallies.install(monkeypatch)
    with pytest.raises(ConfigError, match=r"record\.keep\.1: day 3 is listed twice"):
        tallies.config(record={"keep": [3, 3]})

    def warned(**settings):
        return [(one.path, one.message) for one in tallies.config(days=8, **settings).warnings()]

    assert warned(record={"keep": [7, 8]}) == []
    said = "day 9 is after the last day, 8: its state is not stored"
    assert warned(record={"keep": [8, 9]}) == [(("record", "keep", 1), said)]
    (late,) = money({"day": 3, "until": 12, "set": {"amount": 2}}).warnings()
    assert late.path == ("interventions", 0, "until")
    assert late.message == "12 is after the last day, 8: it holds to the end of the run"
