"""Programs that the package brings built: used if text, PoCL and processor fit, else built."""

import zlib

import numpy as np
import pytest

import societies
from societies.kerneltext import cache
from societies.opencl import Program, build, processor, shipped

TEXT = """
kernel void climb(global int *a, int n) {
    size_t i = get_global_id(0);
    if (i < n) a[i] += STEP;
}
"""


@pytest.fixture
def model(device):
    found = shipped.model_of(device)
    if found is None or not processor.instructions() >= processor.LEVEL_3:
        pytest.skip("programs are shipped for PoCL on a processor with AVX2")
    return found


@pytest.fixture
def entry(device, model, kernel_file, tmp_path, monkeypatch):
    """A program as the package has it: its key, signatures and binary for the shipped model."""
    monkeypatch.setattr(cache, "shipped_path", lambda key: tmp_path / f"{key}.z")
    program = Program(device, kernel_file(TEXT), {"STEP": 3})
    binary = bytes(program._cl_program.get_info(device.api.program_info.BINARIES)[0])
    key = shipped.key(device, program.source, program.options)
    entry = (key, program._signatures, shipped.for_model(binary, shipped.MODEL, model))
    write(*entry)
    return entry


def write(key, signatures, binary):
    data = cache.packed(signatures, binary)
    cache.shipped_path(key).write_bytes(zlib.compress(data))


@pytest.fixture
def built(monkeypatch):
    """How often a program was built."""
    times, really = [], build._build
    monkeypatch.setattr(build, "_build", lambda *args: times.append(1) or really(*args))
    return times


def climbed(device, path, step=3):
    a = device.zeros(10, np.int32)
    Program(device, path, {"STEP": step}).climb(global_size=10, local_size=5, a=a, n=10)
    return int(a.get().sum())


def test_a_shipped_program_is_not_built(device, kernel_file, entry, built):
    assert climbed(device, kernel_file(TEXT)) == 30
    assert not built


def test_the_first_run_of_the_quickstart_builds_nothing(device, model, built, tmp_path):
    """The binaries were made for another model of processor, with its number."""
    config = societies.load_config("economy/quickstart", ["days=1"])
    societies.run(config, device=device, out=tmp_path / "run.h5")
    assert not built


def test_pocl_takes_a_binary_for_this_model_of_processor_alone(device, model, entry):
    binary = shipped.for_model(entry[2], model)
    assert shipped.for_model(binary, shipped.MODEL, model) == entry[2]
    cl = device.api
    cl.Program(device.context, [device.cl_device], [binary])
    with pytest.raises(cl.Error):
        cl.Program(device.context, [device.cl_device], [shipped.for_model(entry[2], "i386")])


def test_a_shipped_program_serves_the_same_code_on_other_lines(device, kernel_file, entry, built):
    assert climbed(device, kernel_file(TEXT.replace("{\n", "{\n\n  \n"))) == 30
    assert not built


@pytest.mark.parametrize("code", ["int line = __LINE__;", "char *file = __FILE__;", "// on \\"])
def test_lines_count_where_the_code_depends_on_them(device, code):
    assert shipped.key(device, f"{code}\nint a;\n", ()) != shipped.key(
        device, f"{code}\n\nint a;\n", ()
    )
    assert shipped.key(device, "int b;\nint a;\n", ()) == shipped.key(
        device, "int b;\n\nint a;\n", ()
    )


def test_another_text_or_option_is_built(device, kernel_file, entry, built):
    assert climbed(device, kernel_file(TEXT), step=4) == 40
    assert len(built) == 1
    Program(device, kernel_file(TEXT), {"STEP": 3}, options=["-DSTEPS"])
    assert len(built) == 2


@pytest.mark.parametrize(
    "how", ["instructions", "no processor", "other version", "other kernels", "damaged", "refused"]
)
def test_what_does_not_fit_is_built(device, kernel_file, entry, built, monkeypatch, how):
    key, signatures, _ = entry
    if how == "instructions":
        monkeypatch.setattr(shipped, "instructions", lambda: processor.LEVEL_3 - {"avx2"})
    elif how == "no processor":
        monkeypatch.setattr(shipped, "instructions", set)
    elif how == "other version":
        monkeypatch.setattr(device, "driver", "3.1")
    elif how == "other kernels":
        monkeypatch.setenv("POCL_WORK_GROUP_METHOD", "loopvec")
    elif how == "damaged":
        path = cache.shipped_path(key)
        path.write_bytes(path.read_bytes()[:-20])
    else:
        write(key, signatures, b"not a program")
    assert climbed(device, kernel_file(TEXT)) == 30
    assert len(built) == 1


def test_no_shipped_program_needs_a_version_of_the_c_library():
    """So each runs with any glibc for which there is PoCL."""
    programs = [cache.shipped(path.stem) for path in cache.shipped_path("").parent.glob("*.z")]
    binaries = [binary for _, binary in programs if binary.startswith(b"poclbin")]
    assert binaries
    for binary in binaries:
        assert b"\x7fELF" in binary
        assert b"GLIBC_" not in binary
