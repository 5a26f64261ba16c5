"""Does the table at the end of a run print what it should?"""

import pytest

from societies.workload.running.report import _number


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (401_599_982.0, "401,599,982"),  # boards of a search are counted, not estimated
        (-1e6, "-1,000,000"),
        (12.0, "12"),
        (0.25, "0.25"),
        (1234567.5, "1.23457e+06"),
    ],
)
def test_what_counts_something_has_all_its_digits(value, printed):
    assert _number(value) == printed
