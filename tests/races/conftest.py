"""Tests marked ``oclgrind`` need the simulator: skipped without it, or failed where it must be."""

import os

import pytest

from societies.opencl import race


def pytest_runtest_setup(item):
    """``SOCIETIES_REQUIRE_OCLGRIND=1`` (set by .ci/run) turns the skip into a failure.

    A hook and not a fixture: it comes before fixtures of every scope, which need Oclgrind too.
    """
    if item.get_closest_marker("oclgrind") and race.runtime() is None:
        if os.environ.get("SOCIETIES_REQUIRE_OCLGRIND"):
            pytest.fail(race.NOT_INSTALLED, pytrace=False)
        pytest.skip(f"needs Oclgrind: {race.INSTALL}")
