"""The device under test."""

import pytest

from societies.opencl import choose_device


@pytest.fixture(scope="session")
def device():
    return choose_device("auto")


@pytest.fixture(autouse=True)
def portable_profile(device):
    """No test leaves the shared device with other limits."""
    yield
    device.own_limits = False
