import pytest
from marks import thorough_but

from societies.opencl import choose_device

# powers of two and not, below, at and above a warp, up to the portable limit
WORKGROUP_SIZES = [1, 2, 31, 32, 48, 64, 100, 256]


@pytest.fixture(scope="session")
def device():
    return choose_device("auto")


QUICK = {1, 48}
"""Sizes that every run of the tests tries: alone, and neither a power of two nor a warp."""


@pytest.fixture(
    params=thorough_but(QUICK, WORKGROUP_SIZES),
    ids=lambda size: f"workgroup{size}",
)
def workgroup(request):
    return request.param
