"""How far is a value from a band, and which unit does an expression have?"""

import numpy as np
import pytest
import xarray as xr

from societies.errors import ConfigError
from societies.study.bands import distances, ends_of, residuals, scale_of
from societies.study.expressions import quantity
from societies.study.source import near
from societies.study.target_file import Target
from societies.study.targets import load_targets

INF = float("inf")


@pytest.mark.parametrize(
    ("said", "ends", "scale"),
    [
        ({}, (-INF, INF), 1.0),
        ({"scale": 3.0}, (-INF, INF), 3.0),
        ({"target": 5.0}, (5.0, 5.0), 5.0),
        ({"target": -5.0}, (-5.0, -5.0), 5.0),
        ({"target": 0.0}, (0.0, 0.0), 1.0),
        ({"target": 5.0, "scale": 2.0}, (3.0, 7.0), 2.0),
        ({"band": [1.0, 5.0]}, (1.0, 5.0), 2.0),
        ({"band": [1.0, 5.0], "scale": 9.0}, (1.0, 5.0), 9.0),
        ({"band": [1.0, 5.0], "target": 4.5}, (1.0, 5.0), 2.0),
        ({"band": [None, 0.25]}, (-INF, 0.25), 0.25),
        ({"band": [-8.0, None]}, (-8.0, INF), 8.0),
        ({"band": [0.0, None]}, (0.0, INF), 1.0),
        ({"band": [None, None]}, (-INF, INF), 1.0),
        ({"band": [0.25, 0.25]}, (0.25, 0.25), 0.25),
        ({"band": [0.0, 0.0]}, (0.0, 0.0), 1.0),
        ({"band": [1.0, None], "target": 6.0}, (1.0, INF), 6.0),
        ({"band": [-9.0, None], "target": 6.0}, (-9.0, INF), 9.0),
    ],
)
def test_the_scale_is_given_or_half_of_the_band_or_the_size_of_its_end(said, ends, scale):
    target = Target.model_validate({"of": "x", **said})
    assert (ends_of(target), scale_of(target)) == (ends, scale)


def test_a_value_in_the_band_is_no_distance_away_unless_one_is_best():
    said = [{"band": [1.0, 5.0]}, {"band": [1.0, 5.0], "target": 4.0}, {"band": [None, 2.0]}]
    targets = {str(i): Target.model_validate({"of": "x", **one}) for i, one in enumerate(said)}
    values = np.array([[0.0, 0.0, -9.0], [3.0, 3.0, 2.0], [8.0, 8.0, 3.0], [np.nan] * 3])
    expected = [[-0.5, -2.0, 0.0], [0.0, -0.5, 0.0], [1.5, 2.0, 0.5], [np.nan] * 3]
    np.testing.assert_array_equal(residuals(targets, values), expected)
    np.testing.assert_array_equal(distances(targets, values), np.abs(expected))


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("rate", "1"),
        ("-price", "util"),
        *(("price + price", "util"), ("price - units", "util, unit"), ("price + rate", "util, 1")),
        *(("rate - price", "1, util"), ("price + 3", "util"), ("3 - price", "util")),
        *(("3 * price", "util"), ("price / 3", "util"), ("3 / price", "1/util"), ("3 / rate", "1")),
        *(("rate * price", "util"), ("price * rate", "util"), ("price / rate", "util")),
        *(("rate / price", "1/util"), ("rate / rate", "1"), ("rate * rate", "1")),
        *(
            ("price / price", "1"),
            ("price * price", "util * util"),
            ("price * units", "util * unit"),
        ),
        *(
            ("price / units", "util / unit"),
            ("2 * 3 * price", "util"),
            ("2 / 3 + price", "util"),
            ("rate + rate", "1"),
        ),
        *(("rate + 3", "1"), ("3 + rate", "1"), ("-3 * price", "util")),
    ],
)
def test_the_unit_of_an_expression(text, unit):
    one = {"rate": "1", "price": "util", "units": "unit"}
    data = xr.Dataset({name: ("day", [2.0], {"units": unit}) for name, unit in one.items()})
    assert quantity(text, data)[1] == unit


def test_a_variable_without_a_unit_is_a_pure_number():
    data = xr.Dataset({"x": ("day", [2, 4])})
    values, unit = quantity("3 * x - 1", data)
    assert (values.values.tolist(), unit) == ([5.0, 11.0], "1")


def test_a_file_is_near_only_if_it_exists(tmp_path):
    (tmp_path / "observed.csv").write_text("")
    (tmp_path / "folder").mkdir()
    assert near(tmp_path, "observed.csv") == tmp_path / "observed.csv"
    for said in ("economy/quickstart", "folder", {"workload": "economy"}, None):
        assert near(tmp_path, said) is said


def test_a_file_of_targets_need_not_name_its_kind(tmp_path):
    statistics = {"a": {"of": "gini"}}
    for said in ({"statistics": statistics}, {"workload": "targets", "statistics": statistics}):
        assert [*load_targets(said)[0].statistics] == ["a"]
    (tmp_path / "list.yaml").write_text("- 1\n- 2\n")
    for said in (tmp_path / "list.yaml", {"workload": "economy", "statistics": statistics}):
        with pytest.raises(ConfigError):
            load_targets(said)
