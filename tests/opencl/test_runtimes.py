"""Does a runtime keep the order of operations, and is pip's Intel runtime found by itself?"""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from societies.opencl import Program, runtimes

SUMS = """
#include "primitives/real.cl"
__kernel void sums(__global const real *x, __global real *out, const uint n)
{
    const uint r = get_global_id(0);
    real sum = 0.0;
    for (uint i = 0; i < n; ++i) sum += x[(size_t)i * STRIDE + r * OWN];
    out[r] = sum;
}
"""


@pytest.mark.sample
@pytest.mark.parametrize("own, stride", [(1, 7), (13, 1), (1, 16), (0, 3)])
@pytest.mark.parametrize("workgroup", [1, 7, 16, 31])
def test_a_loop_adds_in_the_order_written(device, kernel_file, own, stride, workgroup):
    """Intel's compiler made vectors of such loops: other bits in a third of the sums."""
    n = 13
    program = Program(device, [str(kernel_file(SUMS))], macros={"STRIDE": stride, "OWN": own})
    x = np.random.default_rng(1).random(n * max(stride, own, workgroup) + workgroup * (own + 1))
    out = device.zeros(workgroup, np.float64)
    program.kernel("sums")(
        x=device.array(x), out=out, n=n, global_size=workgroup, local_size=workgroup
    )
    for r, found in enumerate(out.get()):
        expected = 0.0
        for i in range(n):
            expected += x[i * stride + r * own]
        assert found == expected


LEAST = """
__kernel void least(__global const int *x, __global long *out)
{
    const uint r = get_global_id(0);
    long least = x[r * 7];
    for (uint i = 1; i < 7; ++i) {
        const long found = x[r * 7 + i];
        if (found < least) least = found;
    }
    out[r] = ~least;
}
"""


@pytest.mark.sample
def test_the_least_of_some_numbers_with_its_bits_inverted(device, kernel_file):
    """Intel's compiler made 0 of it, which a random program of rules showed."""
    program = Program(device, [str(kernel_file(LEAST))])
    x = np.arange(-14, 14, dtype=np.int32)
    out = device.zeros(4, np.int64)
    program.kernel("least")(x=device.array(x), out=out, global_size=4, local_size=1)
    assert np.array_equal(out.get(), ~x.reshape(4, 7).min(axis=1))


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Pretend that pip installed Intel's runtime; return its library."""
    path = tmp_path / "lib" / "libintelocl.so"
    path.parent.mkdir()
    path.touch()
    file = SimpleNamespace(name=path.name, locate=lambda: path)
    monkeypatch.setattr(runtimes.metadata, "files", lambda package: [file])
    return path


class Loader:
    """Stands for pyopencl: remembers what was registered when it was asked for platforms."""

    class Error(Exception):
        pass

    def __init__(self, fails=False):
        self.registered = None
        self.fails = fails

    def get_platforms(self):
        folder = Path(os.environ["OCL_ICD_VENDORS"])
        self.registered = sorted(path.read_text().strip() for path in folder.glob("*.icd"))
        if self.fails:
            raise self.Error("no platform")


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("as_file", [False, True])
def test_intels_runtime_of_pip_joins_those_installed(
    library, tmp_path, monkeypatch, as_file, fails
):
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    (vendors / "nvidia.icd").write_text("libnvidia-opencl.so.1\n")
    before = str(vendors / "nvidia.icd" if as_file else vendors)
    monkeypatch.setenv("OCL_ICD_VENDORS", before)
    loader = Loader(fails)
    runtimes.load_platforms(loader)
    assert loader.registered == sorted([str(library), "libnvidia-opencl.so.1"])
    assert os.environ["OCL_ICD_VENDORS"] == before


def test_a_place_that_does_not_exist_registers_nothing(library, tmp_path, monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "nowhere"))
    loader = Loader()
    runtimes.load_platforms(loader)
    assert loader.registered == [str(library)]


def test_intels_runtime_is_not_registered_twice(library, tmp_path, monkeypatch):
    (tmp_path / "intel.icd").write_text("/opt/intel/lib/libintelocl.so\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    loader = Loader()
    runtimes.load_platforms(loader)
    assert loader.registered is None


def test_without_the_package_nothing_changes(monkeypatch):
    def missing(package):
        raise runtimes.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(runtimes.metadata, "files", missing)
    loader = Loader()
    runtimes.load_platforms(loader)
    assert runtimes.intel_library() is None and loader.registered is None
