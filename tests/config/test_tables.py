"""What may a table of parameters say, and in which words is refused what it may not?"""

import gc
import pickle

import numpy as np
import pytest
import xarray as xr

import societies
from societies import SocietiesError, config_from_dict
from societies.config import columns
from societies.economy.config import EconomyConfig
from societies.errors import ConfigError
from societies.workload.running.ensembles import _MADE
from societies.workload.running.points import points_of, with_table
from societies.workload.running.tables import table_of
from societies.workload.running.varying import NotVarying, varying

GROUPS = [{"name": "one", "share": 0.5}, {"name": "other", "share": 0.5}]


def economy(**settings):
    return config_from_dict({"workload": "economy", "agents": 4, "resources": 6, **settings})


def test_societies_of_the_same_parameters_share_a_point():
    table = {"trading.min_surplus": [0.1, 0.5, 0.1, 0.5, 0.1], "utility.exponent": [2, 3, 2, 3, 2]}
    points = points_of(with_table(economy(), table))
    assert len(points.configs) == 2
    assert points.of.tolist() == [[0, 1, 0, 1, 0]]
    assert [one.trading.min_surplus for one in points.configs] == [0.1, 0.5]
    assert [one.utility.exponent for one in points.configs] == [2.0, 3.0]


def test_a_table_of_more_lines_than_are_read_is_refused_at_once(tmp_path, monkeypatch):
    """Three million rows took 24 s before they were refused for their number."""
    monkeypatch.setattr(columns, "MOST_ROWS", 3)
    monkeypatch.setattr(columns, "plain_scalar", lambda cell: pytest.fail("a cell was read"))
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "t.csv").write_text("a" + end + f"1{end}" * 4, newline="")
        with pytest.raises(SocietiesError, match=r"t\.csv: has more than 3 lines, the most"):
            table_of(tmp_path / "t.csv")
    monkeypatch.undo()
    (tmp_path / "t.csv").write_text("a\n1\n2\n3\n")
    assert table_of(tmp_path / "t.csv").rows == 3


def test_there_are_as_many_societies_as_rows():
    assert with_table(economy(), {"day_length": [500, 600, 700]}).replicates == 3
    assert with_table(economy(replicates=2), {"day_length": [500, 600]}).replicates == 2


def test_a_dataset_and_a_file_are_the_same_table(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("day_length, trading.min_surplus\n\n500,0.5\n600,1e-3\n")
    dataset = xr.Dataset(
        {"trading.min_surplus": ("society", [0.5, 1e-3]), "day_length": ("society", [500, 600])}
    )
    assert table_of(path).sha256 == table_of(dataset).sha256
    one, other = (points_of(with_table(economy(), table)).configs for table in (path, dataset))
    assert one == other


def test_a_column_may_have_a_number_for_each_resource():
    scales = np.arange(12.0).reshape(2, 6) + 10
    points = points_of(with_table(economy(), {"utility.scale": scales}))
    assert points.configs[1].utility.scale == (16, 17, 18, 19, 20, 21)


def test_one_resource_and_one_group_may_vary():
    config = economy(groups=GROUPS, extraction={"max_effort": [9, 8, 7, 6, 5, 4]})
    table = {"extraction.max_effort.2": [20, 30], "groups.1.utility.exponent": [3.0, 4.0]}
    one, other = points_of(with_table(config, table)).configs
    assert one.extraction.max_effort == (9, 8, 20, 6, 5, 4)
    assert other.extraction.max_effort == (9, 8, 30, 6, 5, 4)
    assert [point.groups[1].utility.exponent for point in (one, other)] == [3.0, 4.0]
    assert config.extraction.max_effort[2] == 7  # the configuration itself is as it was


TABLES = {
    "a length that is not the number of societies": (
        {"trading.min_surplus": [1, 2, 3]},
        r"table: has 3 rows for 40 societies \(replicates\); each society needs one",
    ),
    "columns of different lengths": (
        {"trading.min_surplus": [1, 2, 3], "day_length": [600, 600]},
        "table: day_length has 2 rows, trading.min_surplus has 3",
    ),
    "a shape": (
        {"trading.rounds": [1.0] * 40},
        "table: trading.rounds: is a shape, which sizes arrays or chooses code: all copies",
    ),
    "a word": ({"trading.price": ["unit"] * 40}, "trading.price: expected an array of numbers"),
    "the seed": ({"seed": range(40)}, "table: seed: is the same in all copies of a launch"),
    "a section": ({"trading": [1.0] * 40}, "table: trading: is a section; name one of its keys"),
    "an unknown key": (
        {"trading.min_surplu": [1.0] * 40},
        "table: trading.min_surplu: unknown key; did you mean 'min_surplus'?",
    ),
    "out of range in row 17": (
        {"trading.min_surplus": [1.0] * 17 + [-1.0] + [1.0] * 22},
        r"^table, row 17: trading.min_surplus: must be at least 0, got -1$",
    ),
    "a contradiction in row 39": (
        {"utility.scale": [600.0] * 39 + [0.5]},
        r"^table, row 39: utility.scale: must be more than utility.min_marginal \(1\), got 0.5$",
    ),
    "a fraction of a unit": (
        {"invention.min_held": [2.5] * 40},
        "table, row 0: invention.min_held: expected a whole number, got 2.5",
    ),
    "no number": (
        {"day_length": [600.0] * 30 + [float("nan")] * 10},
        "table, row 30: day_length: must be a finite number",
    ),
    "more than resources": (
        {"utility.scale": np.full((40, 5), 600.0)},
        "table, row 0: utility.scale: has 5 numbers for 6 resources",
    ),
    "no columns": ({}, "table: has no columns"),
    "no table": (3, "table: expected a dataset of xarray, a dictionary of arrays or"),
    "a missing group": (
        {"groups.2.trade_power": [1.0] * 40},
        "table: groups.2.trade_power: groups has no entry '2'",
    ),
}


def test_whole_numbers_are_taken_as_far_as_doubles_hold_them():
    for one in (2**53, -(2**53)):
        assert table_of({"pace": np.array([one, 0])}).columns["pace"].tolist() == [one, 0]
        with pytest.raises(ConfigError, match="must be at most 9007199254740992 in size, got"):
            table_of({"pace": np.array([one + (1 if one > 0 else -1), 0])})


@pytest.mark.parametrize("name", TABLES)
def test_a_wrong_table_is_refused_in_a_line(name):
    table, message = TABLES[name]
    with pytest.raises(SocietiesError, match=message):
        societies.plan(economy(replicates=40, groups=GROUPS), table=table)


def test_a_row_is_named_with_its_society_and_its_line(tmp_path):
    with pytest.raises(SocietiesError, match=r"^table, row 1 \(society 8\): day_length: must be"):
        with_table(economy(first_society=7), {"day_length": [600.0, 0.0]})
    path = tmp_path / "points.csv"
    path.write_text("day_length,trading.min_surplus\n600,1\n\n0,1\n")
    with pytest.raises(SocietiesError, match=r"points.csv:4: day_length: must be more than 0"):
        with_table(economy(), path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("day_length\n600\nlong\n", r"points.csv:3  day_length: expected a number, got 'long'"),
        (
            "trading.price\nunit\ngeometric\n",
            r"points.csv:2  trading.price: expected a number, got 'unit'; keys that are words are "
            r"the same in all copies",
        ),
        (
            "day_length\n600\n\n500\n",
            "points.csv:3  day_length: has no value in this row",
        ),
        ("day_length,day_length\n1,2\n", "points.csv:1  day_length: appears twice"),
        ("day_length\n1,2\n", "points.csv:2  has 2 entries for 1 key"),
        ("day_length\n", "needs a line with keys and a line of values for each copy"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "points.csv"
    path.write_text(text)
    with pytest.raises(SocietiesError, match=message):
        table_of(path)


def test_few_of_many_problems_are_reported():
    with pytest.raises(SocietiesError) as error:
        with_table(economy(), {"day_length": -np.arange(1.0, 101.0)})
    lines = str(error.value).split("\n")
    assert len(lines) == 9
    assert lines[-1] == "and 92 more problems of this table"


def test_a_workload_without_such_keys_reports_it():
    product = config_from_dict({"workload": "matmul", "rows": 8})
    with pytest.raises(SocietiesError, match="matmul has no replicates that could differ"):
        with_table(product, {"rows": [1, 2]})


def test_a_copy_of_a_configuration_has_a_table_of_its_own():
    """What is made of a configuration is cached as long as it exists, and no copy has it."""
    config = with_table(economy(), {"day_length": [500.0, 600.0]})
    assert points_of(config) is points_of(config)
    other = with_table(config, {"day_length": [700.0, 600.0]})
    assert [one.day_length for one in points_of(other).configs] == [700.0, 600.0]
    assert [one.day_length for one in points_of(config).configs] == [500.0, 600.0]
    for copy in (other.model_copy(), pickle.loads(pickle.dumps(other))):
        assert points_of(copy) is not points_of(other)
        assert points_of(copy).configs == points_of(other).configs
    before = len(_MADE)
    del config, other, copy
    gc.collect()
    assert len(_MADE) <= before - 3  # nothing is cached longer than the configuration exists


def test_every_value_may_vary_and_no_shape():
    """What a table takes is what the schema says: values and what tables are made of."""
    data = economy(groups=GROUPS, devices="all").model_dump()
    for key in ("device.factor.tool", "groups.0.inventiveness", "consumption.resource_lifetime"):
        assert varying(EconomyConfig, data, key)
    for key in ("agents", "days", "devices", "record.agent", "groups.0.share", "device.components"):
        with pytest.raises(NotVarying):
            varying(EconomyConfig, data, key)


@pytest.fixture
def from_fifth():
    return economy(resources=3, first_society=5)


def scales(config):
    """Return the columns of a configuration's table by key, as lists."""
    return {key: column.tolist() for key, column in config.table.columns.items()}


def test_a_dataset_says_which_axis_is_that_of_the_societies(from_fifth):
    rows = np.arange(9.0).reshape(3, 3) + 600
    dataset = xr.Dataset({"utility.scale": (("society", "resource"), rows)})
    for one in (dataset, dataset.transpose("resource", "society")):
        assert scales(with_table(from_fifth, one)) == {"utility.scale": rows.tolist()}
    values = xr.Dataset({"day_length": ("resource", [600.0, 601.0, 602.0])})
    with pytest.raises(
        SocietiesError, match="day_length: needs a dimension society; it has resource"
    ):
        with_table(from_fifth, values)


def test_a_dataset_says_which_row_is_whose(from_fifth):
    column = ("society", [1.0, 2.0, 3.0])
    for labels, wanted in ([5, 6, 7], [1.0, 2.0, 3.0]), ([7, 5, 6], [2.0, 3.0, 1.0]):
        dataset = xr.Dataset({"trading.min_surplus": column}, coords={"society": labels})
        assert scales(with_table(from_fifth, dataset)) == {"trading.min_surplus": wanted}
    for labels, wrong in ([0, 1, 2], 0), ([5, 6, 6], 6), ([5, 6, 8], 8), (["a", "b", "c"], "a"):
        dataset = xr.Dataset({"trading.min_surplus": column}, coords={"society": labels})
        with pytest.raises(SocietiesError, match=f"coordinate society has {wrong}; it numbers"):
            with_table(from_fifth, dataset)


def test_coordinates_are_no_columns(from_fifth):
    dataset = xr.Dataset(coords={"trading.min_surplus": ("society", [1.0, 2.0])})
    with pytest.raises(SocietiesError, match=r"has no columns; .*reset_coords"):
        with_table(from_fifth, dataset)
    assert with_table(from_fifth, dataset.reset_coords()).replicates == 2
