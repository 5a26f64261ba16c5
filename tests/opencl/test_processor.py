"""Processors whose model PoCL's compiler does not know: a known model is compiled for."""

import re
import subprocess
import sys

import pytest

from societies.opencl import processor

LARGE = processor.LEVEL_3 | processor._WIDE

BUILDS = """
import sys
import pyopencl as cl
from societies.opencl import processor

(device,) = (d for p in cl.get_platforms() for d in p.get_devices() if d.version == sys.argv[1])
context = cl.Context([device])


def build(number):
    text = "kernel void fill(global int *a) { a[get_global_id(0)] = %d; }" % number
    return cl.Program(context, text).build(cache_dir=False)


assert processor.rename(device, "generic")
try:
    build(6)
except cl.RuntimeError as error:
    print("unknown target CPU" in str(error))
prefix, _, model = device.version.partition("gnu-")
print(processor.known_model(device, prefix + "gnu-generic"))
array = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4)
queue = cl.CommandQueue(context)
build(7).fill(queue, (1,), None, array)
found = bytearray(4)
cl.enqueue_copy(queue, found, array)
print(found[0])
"""


TEXT = "kernel void fill(global int *a) { a[get_global_id(0)] = 6; }"
UNKNOWN = """
import sys
from societies.errors import BuildError
from societies.opencl import Program, processor, select

(device,) = (d for d in select.list_all_devices() if d.reported_version == sys.argv[1])
assert processor.rename(device.cl_device, "generic")
try:
    Program(device, sys.argv[2])
except BuildError as error:
    first, second = str(error).split("\\n")
    assert "unknown target CPU 'generic'" in first, first
    assert second == "another OpenCL for CPUs: pip install 'societies[intel]'", second
else:
    sys.exit("it was built")
"""


@pytest.fixture
def version(device):
    text = device.cl_device.version if device.kind == "cpu" else ""
    if not re.search(r"PoCL HSTR: \w+-x86_64-unknown-linux-gnu-", text):
        pytest.skip("pip's PoCL 3.0 on x86-64 alone asks for the model")
    return text


def test_an_unknown_model_is_compiled_for_as_a_known_one(version):
    model = processor.nearest_model(processor.instructions())
    if model is None:
        pytest.skip("no model has only instructions of this processor")
    done = subprocess.run(
        [sys.executable, "-c", BUILDS, version], capture_output=True, text=True, check=True
    )
    prefix = version.partition("gnu-")[0]
    assert done.stdout.split("\n") == ["True", f"{prefix}gnu-{model}", "7", ""], done.stderr


def test_a_device_tells_the_model_that_is_compiled_for(device, version):
    assert not device.version.endswith("-generic")


def test_an_error_about_an_unknown_model_names_another_runtime(device, version, kernel_file):
    """The name cannot be written where the system keeps a process from its own memory."""
    subprocess.run([sys.executable, "-c", UNKNOWN, version, kernel_file(TEXT)], check=True)


@pytest.mark.parametrize(
    ("instructions", "model"),
    [
        (LARGE | {"avx512_fp16"}, "skylake-avx512"),
        (LARGE - {"avx512bw"}, None),
        (processor.LEVEL_3 | {"avx512f"}, None),
        (processor.LEVEL_3, "haswell"),
        (processor.LEVEL_3 - {"fma"}, None),
        (LARGE - {"movbe"}, None),
        (set(), None),
    ],
)
def test_no_model_has_instructions_that_the_processor_lacks(instructions, model):
    assert processor.nearest_model(instructions) == model


@pytest.mark.parametrize(
    "version",
    [
        "OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-znver3",
        "OpenCL 3.0 PoCL HSTR: cpu-aarch64-unknown-linux-gnu-generic",
        "OpenCL 1.2 CUDA",
    ],
)
def test_other_devices_are_left_as_they_are(version):
    assert processor.known_model(None, version) == version
