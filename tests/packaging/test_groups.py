"""Do tests of one group run in one process, as those that share fixtures and caches need?"""

import os

import pytest


def test_a_file_is_one_group(request):
    """pytest-xdist groups by a suffix of the test's name, which pytest 9.2 no longer takes."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("this session has one process")
    assert request.node.nodeid.endswith(f"@{os.path.relpath(__file__, request.config.rootpath)}")
