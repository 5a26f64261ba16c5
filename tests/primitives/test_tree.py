"""Trees in arrays: indices without overflow, totals in one order for every workgroup size."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_py.primitives import tree
from reference_py.primitives.reduce import reduce_max, reduce_min, reduce_sum
from societies.opencl import Local, Program

NONE = 2**32 - 1

children = st.integers(1, 5) | st.integers(1, 2**32 - 1)
index = st.integers(0, 100) | st.integers(0, 2**32 - 2)
reals = st.sampled_from([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]) | st.floats()


@pytest.fixture(scope="module")
def functions(device):
    program = Program(device, "primitives/tree.cl")
    names = ["parent", "child", "nodes", "level_start", "level", "depth"]
    return {name: program.function(f"tree_{name}") for name in names}


@pytest.fixture(scope="module", params=[0, 1], ids=["levels", "serial"])
def program(device, request):
    """Both methods on every device, also the one that is another kind's choice."""
    path = Path(__file__).parent / "tree_cases.cl"
    return Program(device, path, {"TREE_SERIALLY": request.param})


# ------------------------------------------------------------------------------ indices


def planned(function, *arguments):
    """What the device returns for what the planning function returns or raises."""
    try:
        result = function(*arguments)
    except ValueError:
        return NONE
    return NONE if result is None else result


@given(
    st.lists(
        st.tuples(children, index, st.integers(0, 40) | st.integers(0, 2**32 - 2)),
        min_size=1,
        max_size=50,
    )
)
@settings(max_examples=60)
def test_device_numbers_nodes_like_the_plan(functions, cases):
    k, i, j = (np.array(column, np.uint32) for column in zip(*cases, strict=True))
    for name, columns in {
        "parent": (k, i),
        "child": (k, i, j),
        "nodes": (k, j),
        "level_start": (k, j),
        "level": (k, i),
        "depth": (k, i),
    }.items():
        found = np.asarray(functions[name](*columns)).tolist()
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        assert found == [planned(getattr(tree, name), *row) for row in rows], name


def test_largest_trees_that_fit(functions):
    for k, depth in [(2, 30), (3, 19), (10, 9), (2**16 - 1, 2), (2**32 - 3, 1), (1, 2**32 - 3)]:
        most = tree.nodes(k, depth)
        assert most <= tree.MOST_NODES
        assert functions["nodes"](k, depth) == most
        assert functions["nodes"](k, depth + 1) == NONE
        with pytest.raises(ValueError, match="32 bits"):
            tree.nodes(k, depth + 1)
    assert functions["child"](2, 2**31 - 2, 0) == 2**32 - 3
    assert functions["child"](2, 2**31 - 1, 0) == NONE  # its number would be NONE's


def test_what_is_no_tree_is_refused(functions):
    assert functions["nodes"](0, 3) == functions["level_start"](0, 0) == NONE
    assert functions["parent"](0, 5) == functions["level"](0, 5) == functions["depth"](0, 1) == NONE
    for wrong, message in [
        (lambda: tree.nodes(0, 3), "choose 1 or more"),
        (lambda: tree.nodes(2, -1), "choose 0 or more"),
        (lambda: tree.child(3, 0, 3), "choose 0 to 2"),
        (lambda: tree.depth(1, 2), "2 leaves in a chain"),
        (lambda: tree.depth(2, 2**31 + 1), "does not fit 32 bits"),
        (lambda: tree.build(2, 1, [1.0] * 3, 0.0), "choose a larger depth"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()


@given(st.integers(1, 7), st.integers(0, 5))
def test_levels_follow_each_other(k, depth):
    """The plan against a tree that is numbered by walking it level by level."""
    levels, following = [[0]], 1
    parents = {0: None}
    for _ in range(depth):
        below = []
        for node in levels[-1]:
            for j in range(k):
                assert tree.child(k, node, j) == following
                parents[following] = node
                below.append(following)
                following += 1
        levels.append(below)
    assert tree.nodes(k, depth) == following
    for number, nodes in enumerate(levels):
        assert tree.level_start(k, number) == nodes[0]
        assert {tree.level(k, node) for node in nodes} == {number}
        assert k == 1 or tree.depth(k, len(nodes)) == number
    assert all(tree.parent(k, node) == above for node, above in parents.items())


# ------------------------------------------------------------------------------ totals


def same(found, expected):
    """Equal bits; all NaN are equal."""
    bits = [np.array(values).view(np.uint64) for values in (found, expected)]
    return ((bits[0] == bits[1]) | (np.isnan(found) & np.isnan(expected))).all()


TOTALS = [(tree.tree_sum, 0.0), (tree.tree_min, math.inf), (tree.tree_max, -math.inf)]


def check(device, program, workgroup, shapes):
    """Compare all totals over (k, depth, leaves) with the twin; a workgroup is a tree."""
    batch = [(*shape, what) for shape in shapes for what in range(3)]
    groups = len(batch)
    capacity = max(tree.nodes(k, depth) for k, depth, _ in shapes)
    most_leaves = max(1, *(len(leaves) for _, _, leaves in shapes))
    stacked = np.zeros((groups, most_leaves))
    for g, (_, _, leaves, _) in enumerate(batch):
        stacked[g, : len(leaves)] = leaves
    trees, in_global = (device.zeros((groups, capacity)) for _ in range(2))
    program.totals(
        leaves=device.array(stacked),
        sizes=device.array(np.array([len(leaves) for _, _, leaves, _ in batch], np.uint32)),
        children=device.array(np.array([k for k, _, _, _ in batch], np.uint32)),
        depths=device.array(np.array([depth for _, depth, _, _ in batch], np.uint32)),
        what=device.array(np.array([what for _, _, _, what in batch], np.int32)),
        empty=device.array(np.array([TOTALS[what][1] for _, _, _, what in batch])),
        most_leaves=most_leaves,
        capacity=capacity,
        trees=trees,
        in_global=in_global,
        tree=Local(np.float64, capacity),
        x=Local(np.float64, most_leaves),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    trees, in_global = trees.get(), in_global.get()
    for g, (k, depth, leaves, what) in enumerate(batch):
        twin, empty = TOTALS[what]
        expected = twin(k, depth, tree.build(k, depth, leaves, empty))
        assert len(expected) == tree.nodes(k, depth)
        for found in (trees[g, : len(expected)], in_global[g, : len(expected)]):
            assert same(found, expected)


@st.composite
def tree_cases(draw):
    k = draw(st.integers(1, 6))
    depth = draw(st.integers(0, 3 if k > 2 else 6))
    return k, depth, draw(st.lists(reals, max_size=min(k**depth, 60)))


@pytest.mark.sample
@given(st.lists(tree_cases(), min_size=1, max_size=8))
@settings(max_examples=5)
def test_any_leaves(device, program, workgroup, batch):
    check(device, program, workgroup, batch)


def test_many_shapes(device, program, workgroup):
    generator = np.random.default_rng(workgroup)
    batch = []
    for k, depth in [(1, 0), (1, 1), (1, 300), (2, 0), (2, 1), (2, 9), (3, 6), (7, 3), (40, 1)]:
        for n in (0, 1, k**depth // 2 + 1, k**depth):
            batch.append((k, depth, generator.normal(size=min(n, k**depth)).tolist()))
    batch += [(300, 1, [math.nan] * 300), (5, 3, [-0.0] * 125), (5, 3, [math.nan] * 124 + [1.0])]
    check(device, program, workgroup, batch)


@pytest.mark.ci
def test_five_thousand_leaves(device):
    """In global memory: 5000 leaves are 40 kB, without the nodes above them."""
    program = Program(device, "primitives/tree.cl")
    for name, (twin, empty) in zip(["sum", "min", "max"], TOTALS, strict=True):
        for k, workgroup in [(2, 48), (17, 256), (5000, 31)]:
            depth = tree.depth(k, 5000)
            leaves = np.random.default_rng(k).normal(size=5000)
            expected = twin(k, depth, tree.build(k, depth, leaves.tolist(), empty))
            nodes = np.full(len(expected), empty)
            nodes[tree.level_start(k, depth) :][:5000] = leaves
            program.function(f"tree_{name}_global")(nodes, k, depth, local_size=workgroup)
            assert nodes.tolist() == expected


@pytest.mark.ci
def test_local_totals_by_their_own_names(device):
    program = Program(device, "primitives/tree.cl")
    for name, expected in [
        ("sum", [6.0, 2.0, 4.0, 3.0, -1.0, 2.0, 2.0]),
        ("min", [-1.0, -1.0, 2.0, 3.0, -1.0, 2.0, 2.0]),
        ("max", [3.0, 3.0, 2.0, 3.0, -1.0, 2.0, 2.0]),
    ]:
        nodes = np.array([0.0, 0.0, 0.0, 3.0, -1.0, 2.0, 2.0])
        program.function(f"tree_{name}_local")(nodes, 2, 2)
        assert nodes.tolist() == expected


def test_a_tree_that_does_not_fit_is_left_alone(device):
    program = Program(device, "primitives/tree.cl")
    nodes = np.arange(7.0)
    program.function("tree_sum_global")(nodes, 2, 40, local_size=4)
    program.function("tree_build_local")(nodes, 2, 40, np.ones(4), 4, 0.0, local_size=4)
    assert nodes.tolist() == list(range(7))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=100))
def test_binary_trees_are_the_reductions(values):
    depth = tree.depth(2, len(values))
    for (twin, empty), reduction in zip(TOTALS, [reduce_sum, reduce_min, reduce_max], strict=True):
        total = twin(2, depth, tree.build(2, depth, values, empty))[0]
        assert total == reduction(values) or math.isnan(total)
