"""The device under test, and a way to write kernel files beside a test."""

import pytest

from societies.device import choose_device


@pytest.fixture(scope="session")
def device():
    return choose_device("auto")


@pytest.fixture(autouse=True)
def portable_profile(device):
    """No test leaves the shared device with other limits."""
    yield
    device.own_limits = False


@pytest.fixture
def kernel_file(tmp_path):
    """Write a kernel file and return its path."""

    def write(text, name="test.cl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write
