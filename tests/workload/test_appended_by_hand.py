"""What may be appended to a list of events, by hand?"""

import numpy as np
import pytest

from societies.errors import SocietiesError
from societies.workload import Events
from societies.workload.running.appended import EventRows, require_events

LARGEST = 2**31 - 1


def test_rows_of_a_tick_stay_in_order():
    rows = EventRows("deals", Events(3, 2), "day", 1)
    for tick in (1, 2, 7):
        rows.tick = tick
        rows.append((tick, -LARGEST, True))
        rows.append((np.int64(tick), LARGEST, np.uint8(3)))
    assert rows.rows == [
        row for tick in (1, 2, 7) for row in ((tick, -LARGEST, 1), (tick, LARGEST, 3))
    ]
    assert {type(number) for row in rows.rows for number in row} == {int}


@pytest.mark.parametrize(
    ("row", "error", "said"),
    [
        ((1, 2), TypeError, "a row of 'deals' has 3 numbers: write .append((day, ...))"),
        ([1, 2, 3], TypeError, "a row of 'deals' has 3 numbers: write .append((day, ...))"),
        (7, TypeError, "a row of 'deals' has 3 numbers: write .append((day, ...))"),
        ((1, 2, 3.0), TypeError, "a row of 'deals' has whole numbers, and gets 3.0"),
        ((1, None, 3), TypeError, "a row of 'deals' has whole numbers, and gets None"),
        ((1, 2**31, 3), OverflowError, "2147483648 does not fit a row of 'deals'"),
        ((1, 2, -(2**31)), OverflowError, "-2147483648 does not fit a row of 'deals'"),
        ((2, 2, 3), ValueError, "a row of 'deals' begins with the day, 1: not 2"),
    ],
)
def test_what_no_row_may_have_is_an_error(row, error, said):
    rows = EventRows("deals", Events(3, 9), "day", 1)
    with pytest.raises(error) as found:
        rows.append(row)
    assert said in str(found.value) and rows.rows == []


@pytest.mark.parametrize("most", [1, 5])
def test_a_tick_has_room_for_as_many_rows_as_declared(most):
    rows = EventRows("deals", Events(2, most), "week", 0)
    for tick in (0, -1):  # before the first tick, and after the last
        rows.tick = tick
        with pytest.raises(ValueError, match="rows are appended to 'deals' from week 1 on"):
            rows.append((tick, 3))
    for tick in (1, 2):
        rows.tick = tick
        for _ in range(most):
            rows.append((tick, tick + 1))  # which is no tick
        with pytest.raises(OverflowError, match=f"more than {most} rows of 'deals' in a week"):
            rows.append((tick, 3))
    for read in (len, bool, list, lambda rows: rows[-1]):
        with pytest.raises(TypeError, match="rows are appended to 'deals', and read from the file"):
            read(rows)  # they are those of a block, whose length depends on the device


def require(*rows, most=2, ticks=(5, 8)):
    found = {"none": np.empty((0, 3), np.int32), "deals": np.array(rows, np.int32)}
    kinds = {"none": Events(2, 1), "deals": Events(2, most)}
    require_events(kinds, found, range(*ticks), "day", "society", 40)


def test_what_kernels_append_is_right_for_each_tick_and_copy():
    require((0, 5, LARGEST), (0, 5, 1), (1, 5, 1), (1, 6, -LARGEST), (0, 7, 0), (0, 7, 1))
    require((0, 5, 1), most=1, ticks=(5, 6))
    require((0, 6, 1), (1, 6, 1), (0, 6, 2), (1, 6, 2))  # of two copies in turn, as of futures
    require((0, 5, 6), (1, 5, 6), (0, 6, 6), (1, 6, 6), (0, 7, 6), (1, 7, 6), most=1)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0, 5, 1), (1, 6, -(2**31))], "day 6, society 41: a number does not fit 'deals'"),
        (
            [(0, -8, 1), (1, -7, 3), (0, -8, 1)],
            "day 6, society 41: a row of 'deals' begins with another number",
        ),
        ([(0, 6, 1), (2, 8, 3)], "day 8, society 42: a row of 'deals' begins with another number"),
        (
            [(1, 4, 3)],
            "day 4, society 41: a row of 'deals' begins with another number than the day",
        ),
        (
            [(0, 5, 1), (0, 6, 1), (1, 6, 1), (2, 6, 1), (1, 6, 4), (0, 6, 1), (1, 6, 5)],
            "day 6, society 41: more than 2 rows of 'deals': Events(2, 2)",
        ),
        (
            [*[(1, 5, 1)] * 2, *[(1, 6, 1)] * 3, *[(0, 7, 1)] * 3],
            "day 6, society 41: more than 2 rows of 'deals': Events(2, 2)",
        ),
        ([(0, 5, -(2**31)), (0, -7, 1)], "day 6, society 40: a row of 'deals' begins"),
    ],
)
def test_what_kernels_append_wrongly_is_an_error(rows, said):
    with pytest.raises(SocietiesError) as found:
        require(*rows)
    assert str(found.value).startswith(said)
    assert "SOCIETIES_DEBUG=checked" in str(found.value)
