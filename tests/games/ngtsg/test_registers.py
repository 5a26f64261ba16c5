"""Does the script on registers read machine code rightly?"""

import runpy
import sys
from pathlib import Path

import pytest
from cuda_on_paper import nvrtc_or_skip

FOLDER = Path(__file__).parents[3] / "experiments/games/ngtsg"

KERNELS = """
extern "C" __global__ void few(int* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void stacked(int* out) {
    volatile int held[400];
    for (int i = 0; i < 400; i++) held[i] = out[i];
    out[threadIdx.x] = held[out[0]];
}
"""


@pytest.fixture
def script(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    return runpy.run_path(str(FOLDER / "registers.py"))


def test_warps_that_fit_are_those_that_a_profiler_counts(script):
    """118 registers: 16 warps, says Nsight Compute of a kernel of trade (benchmarks/README.md)."""
    assert [script["resident_warps"](n) for n in (16, 32, 118, 255)] == [64, 64, 16, 8]


@pytest.mark.thorough
def test_registers_and_stack_are_read_from_machine_code(script):
    nvrtc_or_skip()
    from societies.opencl.cuda.cupy import nvrtc

    library = nvrtc()
    program = library.createProgram(KERNELS, "kernels.cu", (), ())
    library.compileProgram(program, ("--gpu-architecture=sm_90",))
    facts = script["kernel_facts"](bytes(library.getCUBIN(program)))
    few, stacked = facts["few"], facts["stacked"]
    assert few[script["FRAME_SIZE"]] == 0 and stacked[script["FRAME_SIZE"]] == 1600
    assert 0 < few[script["REGCOUNT"]] < stacked[script["REGCOUNT"]] < 256
