"""Which parameters of a test does every run of the tests try, and which only the thorough tests?"""

import pytest


def thorough_but(quick, values):
    """Return all values as parameters of a test; those that are not quick are marked thorough."""
    return [
        pytest.param(value, marks=[] if value in quick else [pytest.mark.thorough])
        for value in values
    ]
