"""Texts to plan, and the device to run them on."""

import pytest

from societies.kerneltext.source import AmalgamatedText
from societies.localmem import plan
from societies.opencl import choose_device


@pytest.fixture(scope="session")
def device():
    return choose_device("auto")


@pytest.fixture(autouse=True)
def portable_profile(device):
    """No test leaves the shared device with other limits."""
    yield
    device.own_limits = False


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Plans are made again in every test."""
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(tmp_path / "plans"))


@pytest.fixture
def planned():
    """Plan and check a text that is called a.cl."""

    def make(text, **options):
        source = AmalgamatedText()
        source.append("a.cl", text)
        return plan(source, {"cl_khr_fp64": "1"}, **{"checks": True, **options})

    return make
