"""Is the share of light that is left the exact power rounded to a single, however it is found?"""

import numpy as np
import pytest

from societies.opencl import Program

TEXT = """
#include "physics/raytracer/vectors.cl"

__kernel void fade(__global const num *apart, __global num *quick, __global num *exact,
                   const real falloff)
{
    const size_t i = get_global_id(0);
    quick[i] = faded(apart[i], falloff);
    exact[i] = (num)soft_pow((real)apart[i], -falloff);
}
"""


@pytest.fixture
def fade(tmp_path, device):
    path = tmp_path / "fade.cl"
    path.write_text(TEXT)
    kernel = Program(device, path, macros={"NUM_IS_DOUBLE": False}).fade

    def both(apart, falloff):
        given = device.array(apart)
        quick, exact = (device.zeros(len(apart), np.float32) for _ in range(2))
        arrays = {"apart": given, "quick": quick, "exact": exact}
        kernel(global_size=len(apart), local_size=64, falloff=falloff, **arrays)
        return quick.get(), exact.get()

    return both


@pytest.mark.parametrize("falloff", [1.2, 0.5, 1.0, 2.0, 0.0, 3.7, 60.0])
def test_the_short_way_gives_the_single_of_the_exact_power(fade, falloff):
    generator = np.random.default_rng(int(10 * falloff))
    # A few of a million distances are so near to the middle between two singles that the exact
    # power has to decide.
    apart = np.exp2(generator.uniform(-20.0, 20.0, 1 << 20)).astype(np.float32)
    special = [0.0, 1.0, 2.0, 4.0, 1e-45, 1e-38, 3e38, np.inf, np.nan]
    near_one = np.float32(1.0) + np.arange(-64, 64, dtype=np.float32) * np.float32(2.0**-24)
    apart[: len(special)], apart[-len(near_one) :] = special, near_one
    quick, exact = fade(apart, falloff)
    assert np.array_equal(quick.view(np.uint32), exact.view(np.uint32))
