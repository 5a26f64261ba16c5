"""Planned programs on a device: the documented example, functions from Python, every rewrite."""

import numpy as np
import pytest

from societies.errors import DeviceError
from societies.kerneltext.source import AmalgamatedText
from societies.localmem import plan
from societies.opencl import Program

pytestmark = pytest.mark.ci

# The example of docs/local-memory.md: a sum over the workgroup with scratch in the function.
TOTAL = """
#include "primitives/real.cl"

// Sum of `mine` over the workgroup of at most 256 work-items.
COLLECTIVE int group_total(const int mine)
{
    __local int *total = local_malloc(sizeof(int));
    __local int *values = local_malloc(256 * sizeof(int));
    values[get_local_id(0)] = mine;
    if (get_local_id(0) == 0) *total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // values and zero, before they are added up
    atomic_add(total, values[get_local_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);  // the total, before it is read
    const int result = *total;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before the memory is used again
    local_free(256 * sizeof(int));
    local_free(sizeof(int));
    return result;
}
"""
# The repaired example of the specification (C.7): 256 values in the kernel, 256 in the function.
REPAIRED = """
#include "primitives/real.cl"
COLLECTIVE void add_twice(__local int *total, const int value)
{
    __local int *twice = local_malloc(256 * sizeof(int));
    twice[get_local_id(0)] = 2 * value;
    atomic_add(total, twice[get_local_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);  // the total, before it is read
    local_free(256 * sizeof(int));
}
__kernel void example(__global int *result)
{
    __local int *values = local_malloc(256 * sizeof(int));
    if (get_local_id(0) == 0) values[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is added to
    add_twice(values, 20 + (int)get_local_id(0));
    if (get_local_id(0) == 0) *result = values[0];
    local_free(256 * sizeof(int));
}
"""


def test_the_repaired_example(device, kernel_file):
    program = Program(device, kernel_file(REPAIRED))
    result = device.zeros(1, np.int32)
    program.example(global_size=256, local_size=256, result=result)
    assert result.get()[0] == 75520 == sum(2 * (20 + i) for i in range(256))
    kernel = program.local_memory["example"]
    assert (kernel.requested, kernel.reserved) == (2048, 2048)


def test_functions_that_allocate_are_called_from_python(device, kernel_file):
    program = Program(device, kernel_file(TOTAL))
    total = program.function("group_total")
    assert total(np.arange(31), local_size=31, uniform=True) == 31 * 30 // 2
    sums = total(np.arange(150).reshape(3, 50), local_size=50, groups=3, uniform=True)
    assert sums.tolist() == [1225, 3725, 6225]
    assert total(7).tolist() == [7]  # a workgroup of one
    assert str(total.signature) == "int group_total(int mine)"


def test_functions_and_kernels_in_included_files(device, kernel_file):
    kernel_file(TOTAL, "parts/total.cl")
    kernel_file(
        '#include "total.cl"\n'
        "__kernel void totals(__global int *x) {\n"
        "    __local float4 *before = local_malloc(sizeof(float4));\n"
        "    const size_t i = get_global_id(0);\n"
        "    x[i] = group_total(x[i]) + group_total(1);\n"
        "    local_free(sizeof(float4));\n}\n",
        "parts/totals.cl",
    )
    program = Program(device, kernel_file('#include "parts/totals.cl"\n'))
    x = device.array(np.arange(8, dtype=np.int32))
    program.totals(global_size=8, local_size=4, x=x)
    assert x.get().tolist() == [10] * 4 + [26] * 4
    assert program.local_memory["totals"].requested == 16 + 4 + 1024
    assert program.kernel("totals").static_local_memory >= 1044


def test_local_arguments_count_with_the_plan(device, kernel_file):
    from societies.opencl import Local

    text = "kernel void k(__local int *more) { local_malloc(20000); more[0] = 1; }"
    program = Program(device, kernel_file(text))
    with pytest.raises(DeviceError, match=r"34000 bytes of local memory \(2\d{4} in the kernel"):
        program.k(global_size=1, local_size=1, more=Local(np.int32, 3500))


def test_extensions_and_options_are_known_to_the_preprocessor(device, kernel_file):
    text = """
#ifdef cl_khr_byte_addressable_store
#define BYTES (COUNT)
#else
#define BYTES n
#endif
#if __OPENCL_VERSION__ >= 120 && defined(__ENDIAN_LITTLE__) && INT_MAX == 0x7fffffff
kernel void k(int n) { local_malloc(BYTES); }
#endif
"""
    program = Program(device, kernel_file(text), options=["-D COUNT=48"])
    assert program.local_memory["k"].requested == 48
    assert Program(device, kernel_file(text), {"COUNT": 32}).local_memory["k"].requested == 32


def test_every_form_of_call_and_declaration_is_rewritten_to_what_compiles(device, kernel_file):
    text = """
#define SCRATCH(T, n) ((__local T *)local_malloc((n) * sizeof(T)))
#define CALL(f, ...) f(__VA_ARGS__)
uint add(
    uint x,
    uint y
);
uint none(void);
static inline uint nothing();
uint add(uint x, uint y)
{
    __local uint *s = SCRATCH(uint, 2);
    s[0] = x;
    s[1] = y;
    const uint r = s[0] + s[1];
    local_free(2 * sizeof(uint));
    return r;
}
uint none(void) { __local uchar *s = local_malloc(1); *s = 1; const uint r = *s;
                  local_free(1); return r; }
static inline uint nothing() { return none() - none(); }
uint wide(double4 v) {
    __local char *odd = local_malloc(3);
    __local double4 *s = local_malloc(sizeof(double4));
    *s = v;
    odd[0] = (char)(((size_t)s & 31) == 0);
    const uint r = (uint)(s->x + s->w) + (uint)odd[0];
    local_free(sizeof(double4));
    local_free(3);
    return r;
}
kernel void k(__global uint *out, uint n) {
    __local uint *a = SCRATCH(uint, 4), *b = local_malloc(4);
    a[0] = add(add(n, 1), add(2, CALL(add, 3, none())));
    b[0] = as_uint(as_float(add(a[0], nothing()))) + (n > 2 ? none() : nothing());
    uint list[] = {none(), add(n, n), wide((double4)(1.0, 2.0, 3.0, 4.0))};
    for (uint i = nothing(); i < add(n, 1) && add(i, 0) < 100u; i += none()) a[0] += add(i, i);
    switch (add(n, 0)) { case 3: b[0] += none(); break; default: b[0] = 0; }
    do { out[add(0, 0)] = a[0]; } while (nothing());
    out[1] = b[0]; out[2] = list[0] + list[1] + list[2] + (uint)sizeof(add(1, 2));
    local_free(
        4
    ); local_free(16);
    out[3] = __LINE__;
}
"""
    program = Program(device, kernel_file(text))
    out = device.zeros(4, np.uint32)
    program.k(global_size=1, local_size=1, out=out, n=3)
    first = 3 + 1 + 2 + 3 + 1
    line = next(i for i, row in enumerate(text.split("\n"), 1) if "__LINE__" in row)
    assert out.get().tolist() == [first + 2 * (0 + 1 + 2 + 3), first + 1 + 1, 1 + 6 + 6 + 4, line]


def test_wide_types_are_aligned_on_the_device(device, kernel_file):
    text = """
ulong deep(void) {
    __local char *c = local_malloc(1);
    __local double16 *w = local_malloc(sizeof(double16));
    const ulong r = (ulong)w;
    local_free(sizeof(double16)); local_free(1);
    return r;
}
kernel void k(__global ulong *out) {
    __local char *c = local_malloc(5);
    __local float3 *v = local_malloc(sizeof(float3));
    out[0] = deep(); out[1] = (ulong)v;
    local_free(sizeof(float3)); local_free(5);
}
"""
    program = Program(device, kernel_file(text))
    out = device.zeros(2, np.uint64)
    program.k(global_size=1, local_size=1, out=out)
    wide, vector = out.get().tolist()
    assert (wide % 128, vector % 16) == (0, 0)


# The economy, whose text has all that a preprocessor may get wrong.


@pytest.fixture(scope="module")
def economy():
    from societies.economy import WORKLOAD, EconomyConfig
    from societies.workload import Setup
    from societies.workload.running.engines import full_kernel_text

    config = EconomyConfig(agents=6, resources=9, days=5, seed=7)
    return full_kernel_text(Setup(WORKLOAD, config), {"DEVICE_IS_CPU": 1})


def test_the_economy_is_understood(economy):
    text = economy.copy()
    text.append("<more>", "__kernel void more(void) { local_malloc(4); local_free(4); }")
    made = plan(text, {"cl_khr_fp64": "1"})
    assert {"trading", "extraction", "matching", "more"} <= set(made.kernels)
    assert made.kernels["more"].reserved == 16
    assert made.source.text.count("\n") == text.text.count("\n")


def test_the_pragmas_of_the_economy_stay_at_file_scope(economy):
    text = economy.copy()
    text.append("<more>", "__kernel void more(void) { local_malloc(4); local_free(4); }")
    rows = plan(text, {"cl_khr_fp64": "1"}).source.text.split("\n")
    contract = rows.index("#pragma OPENCL FP_CONTRACT OFF")
    assert sum(row.count("{") - row.count("}") for row in rows[:contract]) == 0
    # Braces of constant arrays are no scope.
    assert not any("{" in row and not row.startswith("__constant ") for row in rows[:contract])


def test_a_source_is_not_changed_by_planning(economy):
    before = economy.text
    plan(economy)
    assert economy.text == before
    assert isinstance(economy, AmalgamatedText)


# Clang hands the address of a kernel's block to a function that is not inlined as a constant, which
# ends the process with PoCL 3.0.
WHOLE = """
static __attribute__((noinline)) int total(const __global int *x, const int n)
{
    __local int *copy = local_malloc(16 * sizeof(int));
    for (int i = 0; i < n; ++i) copy[i] = x[i] + i;
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += copy[i * 7 % n];
    local_free(16 * sizeof(int));
    return sum;
}
static __attribute__((always_inline)) int between(const __global int *x, const int n)
{
    return total(x, n);
}
__kernel void totals(const __global int *x, const int n, __global int *result)
{
    const size_t i = get_global_id(0);
    result[i] = CALLED(x + i * n, n);
}
"""


@pytest.mark.parametrize("called", ["total", "between"])
def test_a_function_that_stays_one_may_allocate(device, kernel_file, called):
    program = Program(device, kernel_file(WHOLE.replace("CALLED", called)))
    x, result = np.arange(48, dtype=np.int32), device.zeros(4, np.int32)
    program.totals(global_size=4, local_size=1, x=device.array(x), n=12, result=result)
    assert result.get().tolist() == [132, 276, 420, 564]


def test_addresses_are_hidden_only_from_functions_that_stay_ones():
    hidden = "volatile uint societies_local_memory_hidden"
    stays = AmalgamatedText()
    stays.append("whole.cl", WHOLE.replace("CALLED", "between"))
    inlined = AmalgamatedText()
    inlined.append("inlined.cl", stays.text.replace("noinline", "always_inline"))
    assert hidden in plan(stays).source.text
    assert hidden not in plan(inlined).source.text
