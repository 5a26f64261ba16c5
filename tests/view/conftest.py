"""Tests marked ``chromium`` need a browser: skipped without it, or failed where it must be."""

import os

import pytest

from tests.view import browser


def pytest_runtest_setup(item):
    """``SOCIETIES_REQUIRE_CHROMIUM=1`` (set by .ci/run) turns the skip into a failure.

    A hook and not a fixture: it comes before fixtures of every scope, which need Chromium too.
    """
    if item.get_closest_marker("chromium") and browser.found() is None:
        if os.environ.get("SOCIETIES_REQUIRE_CHROMIUM"):
            pytest.fail(browser.MISSING, pytrace=False)
        pytest.skip(browser.MISSING)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser; its windows are those of the test that opens them."""
    with browser.Browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened
