"""The device under test."""

import pytest

from societies.opencl import choose_device


@pytest.fixture(scope="session")
def device():
    return choose_device("auto")
