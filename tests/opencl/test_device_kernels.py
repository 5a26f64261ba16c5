"""Kernels as callables: arguments by name, checked for type and range; sizes checked; bind()."""

import numpy as np
import pytest

from societies.errors import DeviceError
from societies.opencl import Local, Program, choose_device
from societies.opencl.debug import device_error, opencl

SCALARS = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4",
    "uint": "u4", "long": "i8", "ulong": "u8", "float": "f4", "double": "f8",
}  # fmt: skip
WIDTHS = [1, 2, 3, 4, 8, 16]


def vector(name, width):
    return name if width == 1 else f"{name}{width}"


@pytest.fixture(scope="module")
def echo(device, tmp_path_factory):
    """One kernel per vector width, with a by-value parameter and an array of every type."""
    text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    for width in WIDTHS:
        types = [vector(name, width) for name in SCALARS]
        declared = ", ".join(f"{t} in_{i}, __global {t} *out_{i}" for i, t in enumerate(types))
        body = " ".join(f"out_{i}[0] = in_{i};" for i in range(len(types)))
        text += f"__kernel void echo{width}({declared}) {{ {body} }}\n"
    path = tmp_path_factory.mktemp("kernels") / "echo.cl"
    path.write_text(text)
    return Program(device, path)


def extremes(dtype, width, seed):
    """Random values of a dtype with its two extremes among them."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        values = rng.normal(size=width).astype(dtype)
        special = [info.max, info.smallest_subnormal, -np.inf, np.nan]
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, width, dtype=dtype, endpoint=True)
        special = [info.max, info.min]
    values[seed % width] = special[seed % len(special)]
    return values


@pytest.mark.parametrize("width", WIDTHS)
def test_every_type_by_value_comes_back_bit_for_bit(device, echo, width):
    kernel = echo.kernel(f"echo{width}")
    slots = 4 if width == 3 else width
    outputs = [device.zeros((1, slots) if width > 1 else 1, d) for d in SCALARS.values()]
    for seed in range(3):
        values = [extremes(d, width, seed) for d in SCALARS.values()]
        args = {f"out_{i}": out for i, out in enumerate(outputs)}
        for i, value in enumerate(values):
            args[f"in_{i}"] = value if width > 1 else value[0]
        kernel(global_size=1, local_size=1, **args)
        for value, out in zip(values, outputs, strict=True):
            assert out.get().ravel()[:width].tobytes() == value.tobytes()


def test_python_numbers_sequences_and_cltypes(device, echo):
    import pyopencl.cltypes as cltypes

    def run(width, **changed):
        slots = 4 if width == 3 else width
        outs = [device.zeros((1, slots) if width > 1 else 1, d) for d in SCALARS.values()]
        args = {f"out_{i}": out for i, out in enumerate(outs)}
        args |= {f"in_{i}": (0 if width == 1 else (0,) * width) for i in range(len(outs))}
        args |= changed
        echo.kernel(f"echo{width}")(global_size=1, local_size=1, **args)
        return [out.get().ravel()[:width].tolist() for out in outs]

    assert run(1, in_4=True, in_7=2**64 - 1, in_8=1, in_9=np.int8(3))[4::3] == [[1], [2**64 - 1]]
    assert run(3, in_9=(1, 2.5, np.float32(4)))[9] == [1, 2.5, 4]
    assert run(4, in_8=cltypes.make_float4(1, 2, 3, 4))[8] == [1, 2, 3, 4]


SUM = """
__kernel void add(__global double *out, const uint n, const double by, uchar small, float single,
                  __local int *scratch, float4 v)
{
    size_t i = get_global_id(0);
    if (i < n) out[i] += by;
}
"""


@pytest.fixture(scope="module")
def add(device, tmp_path_factory):
    path = tmp_path_factory.mktemp("kernels") / "add.cl"
    path.write_text("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + SUM)
    return Program(device, path).add


@pytest.fixture
def arguments(device):
    return {
        "out": device.zeros(10, np.float64), "n": 10, "by": 1.5, "small": 7, "single": 1,
        "scratch": Local(np.int32, 4), "v": (1, 2, 3, 4),
    }  # fmt: skip


SIZES = {"global_size": 10, "local_size": 4}


def test_the_launch_is_padded_and_timed(device, add, arguments):
    launch = add(**SIZES, **arguments)
    launch.wait()
    assert launch.seconds > 0
    assert (arguments["out"].get() == 1.5).all()


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("small", 300, "300 does not fit uchar (0 .. 255)"),
        ("small", -1, "-1 does not fit uchar (0 .. 255)"),
        ("small", 1.5, "1.5 is not an integer"),
        ("small", "7", "'7' is not an integer"),
        ("n", 2**32, "4294967296 does not fit uint"),
        ("n", None, "None is not an integer"),
        ("by", "1", "'1' is not a number"),
        ("by", [1.0], "[1.0] is not a number"),
        ("single", 1e39, "1e+39 does not fit float"),
        ("v", (1, 2, 3), "is not a float4 (4 numbers)"),
        ("v", 1.0, "is not a float4 (4 numbers)"),
        ("v", (1, 2, 3, 1e39), "1e+39 does not fit float"),
        ("out", np.zeros(10), "takes a device array"),
        ("out", 3, "takes a device array"),
        ("scratch", 16, "pass Local(dtype, n)"),
        ("scratch", Local(np.float64, 4), "Local of float64"),
    ],
)
def test_a_wrong_value_names_kernel_argument_and_value(add, arguments, name, value, said):
    with pytest.raises(DeviceError) as caught:
        add(**SIZES, **(arguments | {name: value}))
    message = str(caught.value)
    assert "kernel add" in message and f"argument {name}" in message and said in message
    assert "\n" not in message


def test_an_array_of_the_wrong_dtype(device, add, arguments):
    with pytest.raises(DeviceError, match=r"argument out.*int32.*double"):
        add(**SIZES, **(arguments | {"out": device.zeros(10, np.int32)}))


def test_missing_and_unknown_arguments_list_the_signature(add, arguments):
    del arguments["by"]
    with pytest.raises(DeviceError) as caught:
        add(**SIZES, **arguments, bye=2)
    message = str(caught.value)
    assert "unknown argument bye" in message and "missing argument by" in message
    assert "add(__global double* out, uint n, double by, uchar small" in message


@pytest.mark.parametrize(
    "sizes, said",
    [
        ({"global_size": 10, "local_size": 512}, "512 work-items is larger than the 256"),
        ({"global_size": 10, "local_size": 0}, "local sizes at least 1"),
        ({"global_size": (10, 2), "local_size": 4}, "same 1 to 3 dimensions"),
        ({"global_size": -1, "local_size": 4}, "whole numbers"),
        ({"global_size": 10}, "give local_size"),
    ],
)
def test_sizes_are_checked(add, arguments, sizes, said):
    with pytest.raises(DeviceError, match=said):
        add(**sizes, **arguments)


def test_local_memory_is_checked_against_the_profile_and_the_device(device, add, arguments):
    too_much = arguments | {"scratch": Local(np.int32, 8193)}
    with pytest.raises(DeviceError, match=r"32772 in arguments.*32768 of the portable profile"):
        add(**SIZES, **too_much)
    device.own_limits = True
    if device.local_memory > 32772:
        add(**SIZES, **too_much)
    beyond = arguments | {"scratch": Local(np.int32, device.local_memory // 4 + 1)}
    with pytest.raises(DeviceError, match="of the device"):
        add(**SIZES, **beyond)


def test_the_devices_own_workgroup_limit(device, add, arguments):
    device.own_limits = True
    add(global_size=10, local_size=add.max_workgroup, **arguments)
    assert (arguments["out"].get() == 1.5).all()
    with pytest.raises(DeviceError, match=r"is larger than the \d+ of the device"):
        add(global_size=10, local_size=2 * device.max_workgroup, **arguments)


def test_static_local_memory_and_a_required_local_size(device, kernel_file):
    program = Program(
        device,
        kernel_file("""
            __kernel __attribute__((reqd_work_group_size(8, 1, 1)))
            void reversed(__global int *a) {
                __local int copy[8];
                copy[get_local_id(0)] = a[get_global_id(0)];
                barrier(CLK_LOCAL_MEM_FENCE);
                a[get_global_id(0)] = copy[7 - get_local_id(0)];
            }
            __kernel void much(__global int *a) {
                __local int copy[9000];
                copy[get_local_id(0)] = a[0];
                barrier(CLK_LOCAL_MEM_FENCE);
                a[0] = copy[0];
            }
        """),
    )
    a = device.array(np.arange(16, dtype=np.int32))
    program.reversed(global_size=16, a=a)
    assert a.get().tolist() == [*range(7, -1, -1), *range(15, 7, -1)]
    with pytest.raises(DeviceError, match="requires"):
        program.reversed(global_size=16, local_size=4, a=a)
    much = program.much
    # PoCL 5 does not report it before the first launch (0); what is reported is checked
    assert much.static_local_memory == 0 or much.static_local_memory >= 36000
    much.static_local_memory = 36000
    with pytest.raises(DeviceError, match=r"36000 bytes of local memory \(36000 in the kernel"):
        much(global_size=1, local_size=1, a=a)


def test_bind_changes_one_scalar_and_keeps_the_others(device, add, arguments):
    out = arguments["out"]
    bound = add.bind(**SIZES, **arguments)
    bound()
    bound(by=10)
    bound()
    assert (out.get() == 21.5).all()
    bound(n=np.int64(1))
    assert out.get().tolist() == [31.5] + [21.5] * 9
    bound.launch(global_size=0)
    bound.launch(global_size=4, n=10, by=1)
    assert out.get().tolist() == [32.5] + [22.5] * 3 + [21.5] * 6


def test_bound_kernels_of_one_kernel_do_not_disturb_each_other(device, add, arguments):
    one = add.bind(**SIZES, **(arguments | {"by": 1}))
    two = add.bind(**SIZES, **(arguments | {"by": 100}))
    one(), two(), one()
    assert (arguments["out"].get() == 102).all()


def test_bound_kernels_check_what_changes(add, arguments):
    bound = add.bind(**SIZES, **arguments)
    with pytest.raises(DeviceError, match=r"kernel add: argument small: 300 does not fit"):
        bound(by=50, small=300)
    with pytest.raises(DeviceError, match=r"out is not a by-value argument"):
        bound(out=arguments["out"])
    bound()
    assert (arguments["out"].get() == 1.5).all(), "a refused change changes nothing"


def test_a_two_dimensional_launch(device, kernel_file):
    program = Program(
        device,
        kernel_file("""
            kernel void where(global int *a) {
                a[get_global_id(1) * get_global_size(0) + get_global_id(0)] =
                    100 * get_group_id(1) + get_group_id(0);
            }
        """),
    )
    a = device.zeros((4, 6), np.int32)
    program.where(global_size=(6, 4), local_size=(3, 2), a=a)
    assert a.get()[::2, ::3].tolist() == [[0, 1], [100, 101]]


def test_typedefs_and_macros_name_types(device, kernel_file):
    path = kernel_file("""
        #pragma OPENCL EXTENSION cl_khr_fp64 : enable
        typedef double real;
        typedef real money;
        #define count_t unsigned int
        kernel void pay(global money *a, money x, count_t n) { a[0] = x * n; }
    """)
    program = Program(device, path)
    a = device.zeros(1, np.float64)
    program.pay(global_size=1, local_size=1, a=a, x=0.1, n=3)
    assert a.get()[0] == 0.1 * 3
    with pytest.raises(DeviceError, match="float32"):
        program.pay(global_size=1, local_size=1, a=device.zeros(1, np.float32), x=0.1, n=3)


def test_a_parameter_called_like_a_builtin_function(device, kernel_file):
    text = "float twice(float distance) { return 2 * distance; }\n"
    text += "kernel void f(global float *step, float distance) { step[0] = twice(distance); }"
    program = Program(device, kernel_file(text))
    step = device.zeros(1, np.float32)
    program.f(global_size=1, local_size=1, step=step, distance=1.5)
    assert step.get()[0] == 3.0
    assert program.function("twice")(distance=0.5) == 1.0


def test_structs_by_value_and_behind_pointers(device, kernel_file):
    program = Program(
        device,
        kernel_file("""
            struct pair { uchar a; double b; };
            kernel void take(global struct pair *out, struct pair p, local struct pair *scratch) {
                scratch[0] = p;
                barrier(CLK_LOCAL_MEM_FENCE);
                out[0].b += scratch[0].b;
            }
        """),
    )
    pair = program.struct("pair")
    out, scratch = device.array(np.array([(1, 2.5)], pair)), Local(pair, 1)
    program.take(global_size=1, local_size=1, out=out, p=(1, 2.0), scratch=scratch)
    assert out.get().tolist() == [(1, 4.5)]
    packed = np.dtype([("a", "u1"), ("b", "f8")])
    for wrong in (
        {"out": device.zeros(1, packed)},
        {"scratch": Local(packed, 1)},
        {"p": (300, 0.0)},
        {"p": 1},
    ):
        (name,) = wrong
        with pytest.raises(DeviceError, match=f"kernel take: argument {name}.*struct pair|uchar"):
            program.take(
                **{"global_size": 1, "local_size": 1, "out": out, "p": (1, 2.0)}
                | {"scratch": scratch}
                | wrong
            )


def test_an_unknown_kernel_is_refused_with_a_list_of_the_others(device, kernel_file):
    program = Program(device, kernel_file("kernel void first(global int *a) { a[0] = 1; }"))
    assert program.kernel_names == ["first"]
    with pytest.raises(DeviceError, match="no kernel second in this program; it has: first"):
        program.kernel("second")
    with pytest.raises(AttributeError):
        program.second  # noqa: B018


@pytest.mark.parametrize(
    "status, hint",
    [
        ("MEM_OBJECT_ALLOCATION_FAILURE", "the device is out of memory"),
        ("OUT_OF_HOST_MEMORY", "memory of this computer is full, not that of the device"),
        ("OUT_OF_RESOURCES", "ran out"),
        ("DEVICE_NOT_AVAILABLE", "device is lost"),
        ("INVALID_VALUE", "INVALID_VALUE"),
    ],
)
def test_failures_of_opencl_become_one_line(status, hint):
    class Failure(Exception):
        code = getattr(opencl().status_code, status)
        routine = "clEnqueueNDRangeKernel"

    message = str(device_error(Failure(), "launching f"))
    assert message.startswith("launching f: clEnqueueNDRangeKernel says")
    assert status in message and hint in message and "\n" not in message


def test_a_status_that_only_the_vendor_knows():
    class Failure(Exception):
        code = -9999
        routine = "clWaitForEvents"

    assert "status -9999: the device is lost" in str(device_error(Failure(), "waiting"))


def test_a_queue_without_timing(device, kernel_file):
    untimed = choose_device(device.index, profiling=False)
    path = kernel_file("kernel void one(global int *a) { a[0] = 1; }")
    a = untimed.zeros(1, np.int32)
    launch = Program(untimed, path).one(global_size=1, local_size=1, a=a)
    launch.wait()
    assert a.get()[0] == 1
    with pytest.raises(DeviceError, match="profiling=False"):
        launch.seconds  # noqa: B018
