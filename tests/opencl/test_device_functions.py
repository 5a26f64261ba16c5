"""Device functions called from Python: every kind of parameter, and every form of call."""

import numpy as np
import pytest

from societies.errors import BuildError, DeviceError
from societies.opencl import Program

pytestmark = pytest.mark.ci

TEXT = """
#include "primitives/real.cl"
#define INLINE static inline
#define count_t uint
typedef uint2 state_t;

/* int parent(float decoy) { } */
int parent(int k, int i) { return (i - 1) / k; }
INLINE real scaled(const real x, count_t k) { return x * k; }
float single(float x) { return x; }
uchar small(uchar x) { return x; }
bool odd(long a) { return a & 1; }
size_t next(size_t a) { return a + 1; }
ulong top(ulong a) { return a; }
float3 rotated(float3 v, float by) { return v.yzx * by; }
int4 sum4(int4 a, const int4 b) { return a + b; }
void nothing(void) { }

real total(__global const real *a, size_t n)
{
    real s = 0;
    for (size_t i = 0; i < n; i++) s += a[i];
    return s;
}
int looked_up(__constant int *table, int i) { return table[i]; }
void doubled(__global int *a, int n) { for (int i = 0; i < n; i++) a[i] *= 2; }
void swap(int a[2]) { int t = a[0]; a[0] = a[1]; a[1] = t; }
uint draw(state_t *s) { s->x += 1; s->y ^= s->x; return s->y; }
int second(const int *a) { return a[1]; }
void all_true(bool *flags, int n) { for (int i = 0; i < n; i++) flags[i] = true; }

// every work-item of the group calls
int group_sum(__local int *a, __local const int *weight, int n)
{
    for (int i = get_local_id(0); i < n; i += get_local_size(0)) a[i] *= weight[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
float4 local_vectors(__local float4 *a) { float4 v = a[get_local_id(0)]; return v + v; }
int item(void) { return get_local_id(0) + 100 * get_group_id(0); }
void fill(__global int *a, int v) { a[get_local_id(0)] = v; }
int shared_by_all(__local int *a, int mine, int *memory)
{
    memory[0] += mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    return a[0] + memory[0];
}

COLLECTIVE int planned(int mine)
{
    __local int *all = local_malloc(256 * sizeof(int));
    all[get_local_id(0)] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);  // all values, before they are added
    int s = 0;
    for (int i = 0; i < get_local_size(0); i++) s += all[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read, before the memory is free
    local_free(256 * sizeof(int));
    return s;
}

typedef struct { char tag; real weight; int2 place[2]; bool known; } item_t;
item_t moved(const item_t item, const int by)
{
    item_t result = item;
    result.place[1].x += by;
    result.known = !item.known;
    return result;
}
real emptied(item_t *item) { real w = item->weight; item->weight = 0; return w; }
real heaviest(__global const item_t *items, const int n)
{
    real most = 0;
    for (int i = 0; i < n; i++) most = items[i].weight > most ? items[i].weight : most;
    return most;
}
item_t turned(__local item_t *items)
{
    const item_t mine = items[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read, before places change
    items[(get_local_id(0) + 1) % get_local_size(0)] = mine;
    return mine;
}
int far(int **a) { return **a; }
union word { int i; float f; };
int either(union word w) { return w.i; }
struct owner { __global int *a; };
struct owner owner(void) { struct owner o; return o; }
#define ARGUMENTS const int first, __global const int *second
int listed(ARGUMENTS) { return first + second[0]; }
typedef enum { HAND, TOOL } activity_t;
activity_t other(activity_t a) { return a == HAND ? TOOL : HAND; }
#define MAKE(name) int name(int a) { return a; }
MAKE(made)
#ifdef NEVER
int one(int a) { return a; }
int two(int a) { return a; }
#else
int one(int a) { return a + 1; }
int two(long a) { return a + 1; }
#endif
kernel void a_kernel(global int *a) { a[0] = one(two(1)) + parent(2, 3); }
"""


@pytest.fixture(scope="module")
def program(device, tmp_path_factory):
    path = tmp_path_factory.mktemp("functions") / "functions.cl"
    path.write_text(TEXT)
    return Program(device, path)


def test_scalars_come_back_as_python_numbers(program):
    result = program.function("parent")(6, 42)
    assert result == 6 and type(result) is int
    assert program.function("scaled")(0.1, k=3) == 0.1 * 3
    assert program.function("odd")(2**40 + 1) is True
    assert program.function("next")(2**40) == 2**40 + 1
    assert program.function("nothing")() is None


def test_vectors_come_back_as_tuples(program):
    assert program.function("rotated")((1, 2, 3), 2) == (4.0, 6.0, 2.0)
    assert program.function("sum4")(np.arange(4), [10, 20, 30, 40]) == (10, 21, 32, 43)


def test_arrays_call_once_per_element(program):
    i = np.arange(1, 200).reshape(-1, 1)
    k = np.array([2, 3, 7])
    assert np.array_equal(program.function("parent")(k, i), (i - 1) // k)
    assert program.function("odd")([1, 2]).tolist() == [True, False]
    assert program.function("top")([1, 2**64 - 1]).tolist() == [1, 2**64 - 1]
    assert program.function("parent")(2, np.zeros((0, 3), int)).shape == (0, 3)
    vectors = np.arange(6.0).reshape(2, 3)
    expected = vectors[:, [1, 2, 0]] * [[2], [3]]
    assert np.array_equal(program.function("rotated")(vectors, np.array([2.0, 3.0])), expected)


def test_global_and_constant_pointers(device, program):
    values = np.arange(10.0)
    assert program.function("total")(values, 10) == 45.0
    assert program.function("total")(device.array(values), n=[1, 5]).tolist() == [0.0, 10.0]
    assert program.function("total")([0.5, 0.25], 2) == 0.75
    assert program.function("looked_up")(np.array([5, 6], np.int32), 1) == 6
    a = np.arange(4, dtype=np.int32)
    program.function("doubled")(a, 3)
    assert a.tolist() == [0, 2, 4, 3]
    on_device = device.array(a)
    program.function("doubled")(on_device, 4)
    assert on_device.get().tolist() == [0, 4, 8, 6]


def test_private_pointers_are_changed_in_place(program):
    a = np.array([1, 2], np.int32)
    program.function("swap")(a)
    assert a.tolist() == [2, 1]
    many = np.arange(6, dtype=np.int32).reshape(3, 2)
    strided = many[::-1]
    program.function("swap")(strided)
    assert many.tolist() == [[1, 0], [3, 2], [5, 4]]
    assert program.function("second")([7, 8]) == 8
    flags = np.zeros(3, np.bool_)
    program.function("all_true")(flags, 2)
    assert flags.tolist() == [True, True, False]


def test_private_vectors_one_state_per_call(program):
    import pyopencl.cltypes as cltypes

    states = np.zeros((5, 1, 2), np.uint32)
    states[:, 0, 1] = np.arange(5) * 10
    expected = [1 ^ (10 * i) for i in range(5)]
    assert program.function("draw")(states).tolist() == expected
    assert states[:, 0, 0].tolist() == [1] * 5 and states[:, 0, 1].tolist() == expected
    state = np.zeros(1, cltypes.uint2)
    assert program.function("draw")(state) == 1
    assert state[0]["x"] == 1


@pytest.mark.parametrize("local_size", [1, 3, 8])
def test_a_group_works_on_local_memory(program, local_size):
    a = np.arange(5, dtype=np.int32)
    weight = np.full(5, 3, np.int32)
    total = program.function("group_sum")(a, weight, 5, local_size=local_size, uniform=True)
    assert total == 30
    assert a.tolist() == [0, 3, 6, 9, 12] and weight.tolist() == [3] * 5


def test_the_local_size_is_that_of_the_first_local_array(program):
    a = np.ones(5, np.int32)
    assert program.function("group_sum")(a, a.copy(), 5).tolist() == [5] * 5
    long = np.ones(1000, np.int32)
    assert program.function("group_sum")(long, long.copy(), 1000).shape == (256,)


def test_the_first_axis_is_the_group(program):
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    weight = np.ones((3, 4), np.int32)
    sums = program.function("group_sum")(a, weight, 4, groups=3, local_size=2, uniform=True)
    assert sums.tolist() == [6, 22, 38]
    out = np.zeros((2, 3), np.int32)
    program.function("fill")(out, np.arange(6).reshape(2, 3), groups=2, local_size=3)
    assert out.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert program.function("item")(groups=2, local_size=3).tolist() == [
        [0, 1, 2], [100, 101, 102],
    ]  # fmt: skip
    with pytest.raises(DeviceError, match="first axis must be the 2 groups"):
        program.function("fill")(np.zeros(6, np.int32), 0, groups=2, local_size=3)


def test_values_and_private_memory_of_each_work_item(program):
    a = np.array([1000], np.int32)
    memory = np.array([[1], [2], [3]], np.int32)
    result = program.function("shared_by_all")(a, [10, 20, 30], memory, local_size=3)
    assert result.tolist() == [1011, 1022, 1033]
    assert memory.ravel().tolist() == [11, 22, 33]
    with pytest.raises(DeviceError, match=r"argument memory.*every call changes its own"):
        program.function("shared_by_all")(a, 1, np.zeros(1, np.int32), local_size=3)


def test_local_vectors(program):
    a = np.arange(8, dtype=np.float32).reshape(2, 4)
    assert program.function("local_vectors")(a).tolist() == (2 * a).tolist()


def test_functions_with_planned_local_memory(program):
    assert program.function("planned")([1, 2, 3], local_size=3, uniform=True) == 6
    assert program.function("planned")(5).tolist() == [5]


ITEM = (1, 2.5, [(3, 4), (5, 6)], True)


@pytest.fixture(scope="module")
def items(program):
    item = program.struct("item_t")
    assert item.names == ("tag", "weight", "place", "known")
    return np.array([ITEM, (0, 7.0, [(0, 0), (0, 0)], False), (0, 1.5, [(0, 0)] * 2, True)], item)


def test_structs_by_value(program, items):
    moved = program.function("moved")
    as_dict = dict(zip(items.dtype.names, ITEM, strict=True))
    for given in (ITEM, as_dict, items[0], items[0:1].reshape(()), [ITEM][0]):
        result = moved(given, 10)
        assert isinstance(result, np.void) and result.dtype == items.dtype
        assert result["place"].tolist() == [[3, 4], [15, 6]] and not result["known"]
    many = moved(items, [1, 2, 3])
    assert many["place"][:, 1, 0].tolist() == [6, 2, 3]
    assert many["known"].tolist() == [False, True, False]
    assert moved([ITEM, as_dict], 0)["weight"].tolist() == [2.5, 2.5]
    assert moved(ITEM, [[1], [2]])["place"][:, :, 1, 0].tolist() == [[6], [7]]


def test_structs_behind_pointers(device, program, items):
    emptied, heaviest = program.function("emptied"), program.function("heaviest")
    assert heaviest(items, 3) == heaviest(device.array(items), 3) == heaviest(list(items), 3) == 7.0
    several = items.copy()
    assert emptied(several[0]) == 2.5  # one element of an array, in place
    assert several["weight"].tolist() == [0.0, 7.0, 1.5]
    assert emptied(several.reshape(3, 1)).tolist() == [0.0, 7.0, 1.5]
    assert not several["weight"].any() and (several["place"] == items["place"]).all()
    turned = items.copy()
    returned = program.function("turned")(turned)
    assert returned["weight"].tolist() == [2.5, 7.0, 1.5]
    assert (turned["place"] == np.roll(items, 1)["place"]).all()
    groups = np.array([items, items[::-1]], items.dtype)  # np.stack would move the members
    program.function("turned")(groups, groups=2)
    assert groups["weight"].tolist() == [[1.5, 2.5, 7.0], [2.5, 1.5, 7.0]]


def test_uniform_compares_structs_by_their_members(program, items):
    moved = program.function("moved")
    assert moved(ITEM, 1, local_size=3, uniform=True)["tag"] == 1
    with pytest.raises(DeviceError, match="work-item 1 of group 0 returns"):
        moved(ITEM, [1, 2], local_size=2, uniform=True)


@pytest.mark.parametrize(
    "item, said",
    [
        ((1, 2.5), "is not a item_t"),
        ({"tag": 1}, "no weight, no place, no known"),
        ({"tag": 1, "weight": 2, "place": [(1, 2)] * 2, "known": 0, "x": 1}, "unknown x"),
        ((300, 2.5, [(3, 4), (5, 6)], True), "item_t.tag: 300 does not fit char"),
        ((1, 2.5, [(3, 4)], True), "item_t.place: [(3, 4)] is not 2 values"),
        ((1, 2.5, [(3, 4), (5, 2**31)], True), "item_t.place[1]: 2147483648 does not fit int"),
        (7, "7 is not a item_t"),
        (np.zeros((), [("tag", "i1"), ("weight", "f8")]), 'take the dtype from program.struct("'),
    ],
)
def test_what_is_no_such_struct(program, item, said):
    with pytest.raises(DeviceError, match="function moved: argument item") as caught:
        program.function("moved")(item, 1)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_structs_by_name(program):
    assert program.struct("item_t").itemsize >= 1 + 8 + 16 + 1
    with pytest.raises(DeviceError, match=r"no struct absent in this program; it has: .*item_t"):
        program.struct("absent")
    with pytest.raises(DeviceError, match=r"'struct owner' .*member a is of type"):
        program.struct("owner")


def test_uniform_finds_the_work_item_that_differs(program):
    with pytest.raises(DeviceError, match=r"work-item 1 of group 0 returns \[1\]"):
        program.function("item")(local_size=2, uniform=True)
    assert program.function("item")(local_size=1, groups=2, uniform=True).tolist() == [0, 100]


@pytest.mark.parametrize(
    "name, args, said",
    [
        ("parent", (2,), "missing argument i"),
        ("parent", (2, 3, 4), "3 arguments"),
        ("parent", (2, 2**31), "argument i: 2147483648 does not fit int"),
        ("parent", (2, [1, 2**31]), "argument i: 2147483648 does not fit int"),
        ("parent", (2, np.array([1, -(2**40)])), "argument i: -1099511627776 does not fit int"),
        ("parent", (2, np.array([0.5])), "argument i"),
        ("parent", (np.arange(2), np.arange(3)), "differ in shape"),
        ("single", (np.array([1.0, 1e39]),), "1e+39 does not fit float"),
        ("small", (300,), "300 does not fit uchar"),
        ("rotated", ((1, 2), 3), "float3 (3 numbers)"),
        ("rotated", ((1, 2, 3, 4), 3), "float3 (3 numbers)"),
        ("rotated", ([(1, 2, 3, 4)] * 2, 3), "components"),
        ("swap", ([1, 2],), "changed in place"),
        ("swap", (np.zeros(2),), "float64 of shape (2,) is not an array of int"),
        ("far", (1,), "type 'int **' of parameter a is not supported"),
        ("either", (1,), "type 'union word' of parameter w is not supported"),
        ("owner", (), "a result of type 'struct owner' is not supported"),
        ("absent", (1,), "no definition of function absent"),
        ("a_kernel", (1,), "is a kernel"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_before_anything_is_built(program, name, args, said):
    with pytest.raises(DeviceError) as caught:
        program.function(name)(*args)
    assert said in str(caught.value) and name in str(caught.value)
    assert not isinstance(caught.value, BuildError)


@pytest.mark.parametrize(
    "name, args, sizes, said",
    [
        ("one", (1,), {"local_size": 1000}, "a workgroup of 1000 work-items is larger"),
        ("shared_by_all", (np.zeros(20_000, np.int32), 1, np.zeros((2, 1), np.int32)),
         {"local_size": 2}, "bytes of local memory"),
    ],
)  # fmt: skip
def test_a_launch_that_fails_names_the_function(program, name, args, sizes, said):
    with pytest.raises(DeviceError, match=f"^function {name}: ") as caught:
        program.function(name)(*args, **sizes)
    assert said in str(caught.value) and "shim" not in str(caught.value)


def test_a_read_only_array_is_not_changed(program):
    a = np.zeros(2, np.int32)
    a.flags.writeable = False
    with pytest.raises(DeviceError, match="read-only"):
        program.function("swap")(a)


def test_the_preprocessor_is_obeyed(program):
    assert program.function("one")(1) == 2
    assert program.function("two")(2**40) == 1
    assert program.function("made")(3) == 3
    assert program.function("listed")(1, [2]) == 3
    assert program.function("other")([0, 1]).tolist() == [1, 0]


def test_a_function_is_built_once_per_form(program):
    function = program.function("parent")
    assert program.function("parent") is function
    function(2, np.arange(3))
    shims = len(function._shims)
    function(3, np.arange(100).reshape(10, 10))
    assert len(function._shims) == shims


def test_a_text_without_kernels_is_built_when_a_function_is_called(device, kernel_file):
    path = kernel_file("int f(int a) {\n  return lost;\n}\n")
    function = Program(device, path).function("f")
    with pytest.raises(BuildError, match=rf"{path}:2:\d+: "):
        function(1)
