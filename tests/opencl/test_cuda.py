"""Does CUDA get the kernels, their arguments and their memory as OpenCL does? Without a GPU.

NVRTC compiles for the H100 by name; memory and launches are those of `cuda_on_paper`. That the
bits are the same is seen on a GPU alone: `python tests/golden/golden.py --device cuda`.
"""

import re
import sys

import numpy as np
import pytest
from cuda_on_paper import FUSED, LOOSE, Paper, argument, device, nvrtc_or_skip

from societies import config_from_dict
from societies.errors import BuildError, DeviceError
from societies.opencl import Local, Program, choose_device
from societies.opencl.cuda import cupy
from societies.opencl.cuda.compiler import compile_text
from societies.opencl.program import predefined


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A GPU on paper, with an empty cache of builds."""
    nvrtc_or_skip()
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(tmp_path / "cache"))
    return Paper()


def built(paper, folder, text, name="kernels.cl"):
    (folder / name).write_text(text)
    return Program(device(paper), folder / name)


def ptx_of(program):
    macros = predefined(program.device, ())
    return compile_text(program._planned.source, macros, "sm_90")[0]


ARGUMENTS = """
typedef struct { uchar a; double b; float3 c; } row;
__constant uint table[2] = {5, 7};
__kernel void take(const char c, const ulong u, const float3 v, const row r, const double d,
                   __global double *restrict out, __local float4 *first, __local uint *second,
                   __constant int *given)
{
    first[get_local_id(0)] = (float4)(v, d);
    second[get_local_id(0)] = c;
    barrier(CLK_LOCAL_MEM_FENCE);  // both are written
    out[get_global_id(0)] = first[0].w + r.b + u + table[0] + second[1] + given[0];
}
"""


def test_arguments_lie_where_the_compiled_kernel_reads_them(paper, tmp_path):
    program = built(paper, tmp_path, ARGUMENTS)
    gpu = program.device
    out, given = gpu.zeros(64), gpu.array(np.arange(3, dtype=np.int32))
    scratch = {"first": Local(program.kernel("take").parameters[6].kind.dtype, 4 * 33)}
    program.take(
        global_size=70, local_size=32, c=-3, u=2**63 + 5, v=(1.5, 2.5, -3.0), d=0.1,
        r={"a": 7, "b": 2.5, "c": (1.0, 2.0, 3.0)}, out=out, given=given,
        second=Local(np.uint32, 32), **scratch,
    )  # fmt: skip
    launch = paper.launches[-1]
    assert launch[:4] == ("take", (3, 1, 1), (32, 1, 1), 640 + 128)
    assert argument(launch, 0, np.int8) == -3
    assert argument(launch, 1, np.uint64) == 2**63 + 5
    assert argument(launch, 2, "3f4").tolist() == [1.5, 2.5, -3.0]
    assert argument(launch, 4, np.float64) == 0.1
    assert argument(launch, 5, np.uint64) == out.buffer.address
    assert [argument(launch, n, np.uint32) for n in (6, 7)] == [0, 640]
    assert argument(launch, 8, np.uint64) == given.buffer.address
    sizes = [1, 8, 16, 32, 8, 8, 4, 4, 8]
    assert list(program._cl_program.entries["take"].sizes) == sizes


LAYOUTS = """
typedef struct { uchar4 a; int b; float3 c; float d; } mixed;
typedef struct { char a; mixed b[2]; double16 c; ushort3 d; } outer;
"""


def test_structs_lie_in_memory_as_opencl_lays_them_out(paper, tmp_path):
    (tmp_path / "layouts.cl").write_text(LAYOUTS)
    program = Program(choose_device("auto"), tmp_path / "layouts.cl")
    layouts = {name: program.struct(name) for name in ("mixed", "outer")}
    asked = []
    for name, dtype in layouts.items():
        asked.append(f"sizeof({name}) == {dtype.itemsize}")
        for member, (_, offset, *_) in dtype.fields.items():
            asked.append(f"__INTADDR__(&((({name} *)0)->{member})) == {offset}")  # offsetof
    assert len(asked) == 10
    rows = [f"typedef char check_{i}[({one}) ? 1 : -1];" for i, one in enumerate(asked)]
    text = "\n".join([LAYOUTS, *rows, "__kernel void none(void) {}\n"])
    built(paper, tmp_path, text).kernel("none")
    wrong = text.replace("sizeof(mixed) == 48", "sizeof(mixed) == 28")
    assert wrong != text
    with pytest.raises(BuildError, match="size of an array must be greater than zero"):
        built(paper, tmp_path, wrong)


def test_an_error_of_nvrtc_names_file_and_line_of_the_opencl_text(paper, tmp_path):
    text = "#define TWICE(x) \\\n    (2 * x)\n\n__kernel void f(__global int *a)\n{\n"
    with pytest.raises(BuildError) as caught:
        built(paper, tmp_path, f"{text}    a[0] = TWICE(unknown);\n}}\n", "user.cl")
    message = str(caught.value)
    place = f"{tmp_path / 'user.cl'}:6: "
    assert message.startswith(place) and 'identifier "unknown" is undefined' in message
    assert message.endswith("\n    a[0] = TWICE(unknown);")


def test_memory_is_copied_filled_and_freed(paper):
    gpu = device(paper)
    values = np.arange(1000, dtype=np.float64).reshape(10, 100)
    array = gpu.array(values)
    assert array.get().tobytes() == values.tobytes()
    array.fill(-2.5)
    assert (array.get() == -2.5).all()
    array.fill(0)
    assert not array.get().any()
    odd = gpu.empty(7, np.dtype([("a", "u1"), ("b", "<u4")]))
    odd.fill(np.array((3, 9), odd.dtype))
    assert odd.get().tolist() == [(3, 9)] * 7
    assert gpu.counters.uploads == 1


def test_a_launch_is_timed_only_if_asked_for(paper, tmp_path):
    program = built(paper, tmp_path, "__kernel void f(const uint n) {}\n")
    assert program.f(global_size=8, local_size=8, n=1).seconds == 0.25e-3
    program.device.profiling = False
    launch = program.f(global_size=8, local_size=8, n=1)
    before = paper.waits
    launch.wait()
    assert paper.waits == before + 1
    with pytest.raises(DeviceError, match="profiling=False"):
        _ = launch.seconds


def test_more_workgroups_than_cuda_can_number_are_refused(paper, tmp_path):
    program = built(paper, tmp_path, "__kernel void f(const uint n) {}\n")
    program.f(global_size=(1, 65535), local_size=(1, 1), n=1)
    with pytest.raises(DeviceError, match="65536 workgroups in dimension 1"):
        program.f(global_size=(1, 65536), local_size=(1, 1), n=1)


def test_a_program_is_compiled_once(paper, tmp_path, monkeypatch):
    text = "__kernel void f(__global uint *a) { a[0] = 1u; }\n"
    program = built(paper, tmp_path, text)
    monkeypatch.setattr("societies.opencl.cuda.compiler.compile_text", None)
    again = built(paper, tmp_path, text)
    assert again._cl_program.entries == program._cl_program.entries


@pytest.mark.parametrize("size", ["8, 4, 1", "0x8u,4,1", "WIDE * 2, (WIDE), 1"])
def test_a_required_workgroup_is_known(paper, tmp_path, size):
    attribute = f"__attribute__((reqd_work_group_size({size})))"
    text = f"#define WIDE 4\n__kernel {attribute} void f(const uint n) {{}}\n"
    kernel = built(paper, tmp_path, text).kernel("f")
    assert kernel.required_local_size == (8, 4, 1)


def test_registers_can_be_limited(paper, tmp_path):
    (tmp_path / "kernels.cl").write_text("__kernel void f(const uint n) {}\n")
    limited = device(paper).options_for(registers=32)
    assert limited == ("--maxrregcount=32",)
    assert Program(device(paper), tmp_path / "kernels.cl", options=limited).kernel_names == ["f"]


def test_names_that_mean_something_else_in_cpp_are_allowed(paper, tmp_path):
    text = """
typedef struct { int new; int this; } pair;
int class(const pair operator) { return operator.new + operator.this; }
__kernel void f(__global int *template, __global const float4 *v)
{
    const pair p = (pair){.new = 1, .this = 2};
    const float4 x = (float4)(v[0].xyz, 1.0f) * 2.0f;
    const int4 mask = x > (float4)(0.0f);
    template[0] = class(p) + (all(mask) ? convert_int4(x).s2 : popcount(mask.x));
}
"""
    parameters = built(paper, tmp_path, text).kernel("f").parameters
    assert [p.name for p in parameters] == ["template", "v"]


def test_nothing_is_fused_unless_the_kernel_asks_for_it(paper, tmp_path):
    text = "__kernel void f(__global {t} *a) {{ a[0] = {e}; }}\n"
    for number in ("float", "double"):
        apart = ptx_of(built(paper, tmp_path, text.format(t=number, e="a[1] * a[2] + a[3]")))
        assert not FUSED.search(apart) and not LOOSE.search(apart)
        assert "mul.rn" in apart and "add.rn" in apart
        fused = ptx_of(built(paper, tmp_path, text.format(t=number, e="fma(a[1], a[2], a[3])")))
        assert len(FUSED.findall(fused)) == 1
        divided = ptx_of(built(paper, tmp_path, text.format(t=number, e="sqrt(a[1] / a[2])")))
        assert re.search(r"div\.rn\.f\d\d", divided) and re.search(r"sqrt\.rn\.f\d\d", divided)


def test_cupy_is_asked_for_where_it_is_missing(monkeypatch):
    cupy._module.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", None)
    try:
        with pytest.raises(DeviceError) as caught:
            choose_device("cuda")
    finally:
        cupy._module.cache_clear()
    assert str(caught.value) == cupy.NOT_INSTALLED and "\n" not in str(caught.value)


def without_gpu():
    raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device\n is detected")


def test_a_missing_gpu_is_said_in_a_line(monkeypatch):
    paper = Paper()
    paper.runtime.getDeviceCount = without_gpu
    monkeypatch.setattr("societies.opencl.cuda.cupy.cupy", lambda: paper)
    with pytest.raises(DeviceError) as caught:
        choose_device("cuda")
    message = "CuPy finds no NVIDIA GPU here: cudaErrorNoDevice: no CUDA-capable device is detected"
    assert str(caught.value) == f"device cuda: {message}"


@pytest.mark.parametrize("spec", ["cuda:1", "cuda:x", "cuda:-1"])
def test_a_missing_gpu_is_refused(spec, monkeypatch):
    monkeypatch.setattr("societies.opencl.cuda.cupy.cupy", Paper)
    with pytest.raises(DeviceError, match=f"device {spec}: no such device; available: cuda:0"):
        choose_device(spec)


def test_races_are_looked_for_elsewhere(monkeypatch):
    monkeypatch.setenv("SOCIETIES_DEBUG", "race")
    with pytest.raises(DeviceError, match=r"cuda.*: SOCIETIES_DEBUG=race runs on Oclgrind"):
        choose_device("cuda")


def test_a_capture_needs_opencl(paper, tmp_path):
    from societies.errors import ConfigError
    from societies.workload.checking.capture_folder import prepare

    with pytest.raises(ConfigError, match="replayed by OpenCL"):
        prepare("sweep", device(paper), tmp_path / "captured", overwrite=False)


def test_auto_and_gpu_do_not_take_cuda(monkeypatch):
    monkeypatch.setattr("societies.opencl.cuda.cupy.cupy", without_gpu)
    assert choose_device("cpu").compiler is None
    assert config_from_dict({"workload": "matmul"}).workload == "matmul"
