from pathlib import Path

import pytest

from societies.opencl import choose_device

# powers of two and not, below, at and above a warp, up to the portable limit
WORKGROUP_SIZES = [48, 1, 2, 31, 32, 64, 100, 256]
"""The default runs the first one, which is neither a power of two nor a warp; CI one alone, too."""


@pytest.fixture(scope="session")
def device():
    return choose_device("auto")


WHERE_ONE_WORKS = {48, 1, 256}
"""Sizes for the methods by which one work-item of a group does everything, whatever the size."""


def pytest_collection_modifyitems(items):
    """Leave out the other sizes of these methods."""

    def needless(item):
        params = getattr(getattr(item, "callspec", None), "params", {})
        return (
            item.path.parent == Path(__file__).parent
            and params.get("workgroup", 1) not in WHERE_ONE_WORKS
            and "serial" in item.callspec.id.split("-")
        )

    items[:] = [item for item in items if not needless(item)]


@pytest.fixture(
    params=[
        pytest.param(size, marks={48: [], 1: pytest.mark.ci}.get(size, pytest.mark.thorough))
        for size in WORKGROUP_SIZES
    ],
    ids=lambda size: f"workgroup{size}",
)
def workgroup(request):
    return request.param
