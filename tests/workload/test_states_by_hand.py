"""Which numbers does an array of the state hold, and which NaN is in a hash? By hand."""

import numpy as np
import pytest

from societies.errors import SocietiesError
from societies.workload.running.state import array_of, fitted, one_nan

ROUND = ": write int(...), which cuts, or round(...)"


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([-128, 127], "int8"),
        ([0, 255], "uint8"),
        ([-(2**31), 2**31 - 1], "int32"),
        ([2**63, 2**64 - 1], "uint64"),
        ([-(2**63), 2**63 - 1], "int64"),
        (np.array([2**63], object), "uint64"),
        (np.array([-(2**63), 2**63 - 1], object), "int64"),
        ([True, np.False_], "int32"),
        (np.array([True, np.False_], object), "int32"),
        ([], "int32"),
        (7, "int16"),
        ([[1, 2], [3, 4]], "uint16"),
        ([1, 2.5, True], "float64"),
        ([2**70, -np.inf], "float64"),
        ([1.5], "float32"),
    ],
)
def test_numbers_that_fit_are_what_they_were(values, dtype):
    found = fitted(values, dtype)
    assert found.dtype == dtype and found.tolist() == np.array(values, object).tolist()


def test_what_is_no_number_is_one_in_a_field_of_reals():
    found = fitted([np.nan, 2**70], "float64").tolist()
    assert np.isnan(found[0]) and found[1] == 2.0**70


@pytest.mark.parametrize(
    ("values", "dtype", "said"),
    [
        ([0, -129], "int8", "-129 at [1]"),
        ([128, 0], "int8", "128 at [0]"),
        ([0, -1], "uint64", "-1 at [1]"),
        ([[0, 1], [2**63, 0]], "int64", "9223372036854775808 at [1, 0]"),
        (2**31, "int32", "2147483648"),
        ([1, 2.0], "int32", f"2.0 at [1]{ROUND}"),
        (np.array([1, 2.0], object), "int32", f"2.0 at [1]{ROUND}"),
        (np.float64(0.5), "int32", f"0.5{ROUND}"),
        ([None, 1], "int32", "None at [0]"),
        ([1.5, None], "float64", "None at [1]"),
        (["many"], "float64", "'many' at [0]"),
        ([1, {}], "int32", "dict at [1]"),
        ([[1, 2], [3]], "int32", "rows of different lengths"),
        ([10**400, None], "float64", "None at [1]"),
        (10**400, "float64", "int too large to convert to float"),
    ],
)
def test_what_does_not_fit_is_named_with_its_index(values, dtype, said):
    with pytest.raises(ValueError) as found:
        fitted(values, dtype)
    assert str(found.value) == said


def test_an_array_has_the_shape_of_its_field():
    assert array_of([1, 2, 3, 4], "tools", "int32", (2, 2), "here").tolist() == [[1, 2], [3, 4]]
    assert array_of([1, 2, 3], "tools", "int32", None, "here").shape == (3,)
    for values, shape, said in (
        ([1, 2, 3], (2,), "cannot reshape array of size 3 into shape (2,)"),
        ([1, -200], None, "-200 at [1]"),
    ):
        with pytest.raises(SocietiesError) as found:
            array_of(values, "tools", "int8", shape, "day 3, phase work")
        assert str(found.value) == (
            f"day 3, phase work: the field 'tools' (int8) cannot hold what was written: {said}"
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_nan_has_the_same_bits_and_all_else_its_own(dtype):
    word = np.dtype(dtype.replace("float", "uint"))
    own = np.array([1.5, np.nan, -0.0, np.nan], dtype)
    own.view(word)[1] += 5
    found = one_nan(own)
    assert found.dtype == dtype
    expected = np.array([1.5, np.nan, -0.0, np.nan], dtype)
    assert found.view(word).tolist() == expected.view(word).tolist()
    without, empty = np.array([1.0, -0.0], dtype), np.empty((0, 3), dtype)
    assert one_nan(without).view(word).tolist() == without.view(word).tolist()
    assert one_nan(empty).shape == (0, 3)
    whole = np.array([2**63 - 1, -1])
    assert one_nan(whole).tolist() == [2**63 - 1, -1] and one_nan(whole).dtype == np.int64
