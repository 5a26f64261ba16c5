import pytest

from societies.opencl import choose_device

# powers of two and not, below, at and above a warp, up to the portable limit
WORKGROUP_SIZES = [1, 2, 31, 32, 48, 64, 100, 256]


@pytest.fixture(scope="session")
def device():
    return choose_device("auto")


@pytest.fixture(params=WORKGROUP_SIZES, ids=lambda size: f"workgroup{size}")
def workgroup(request):
    return request.param
