// tree.cl: complete k-ary trees in arrays: which node is where, and totals of all subtrees.
//
// Node 0 is the root; the children of node i are k i + 1 .. k i + k; the levels 0 .. depth follow
// each other without gaps, level d with k^d nodes. k = 1 is a chain: a node a level. An index or
// a number that does not fit below NONE is NONE; plan with reference_py/primitives/tree.py, which
// raises an error.
//
// The index functions are called by any work-item and use whole numbers only.
//
// Contract of tree_build_* and the totals: called by all work-items of a one-dimensional
// workgroup of any size L, with the same arguments. The caller has ordered its writes by a
// barrier; the last barrier inside lets all read all nodes at once. Trees that do not fit
// (tree_nodes is NONE) are left alone. The result does not depend on L.
// Cost in steps of the slowest work-item: build leaves / L, 1 barrier; totals (k - 1) nodes / (k L)
// operations and at least k - 1 a level, depth barriers (1 for depth 0); on a CPU, where work-items
// take turns, one of them does it alone: (k - 1) / k nodes operations, 1 barrier.
//
// Twin: reference_py/primitives/tree.py

#ifndef PRIMITIVES_TREE_CL
#define PRIMITIVES_TREE_CL

#include "primitives/real.cl"

// ---------------------------------------------------------------- where a node is

// Parent of node i; NONE for the root (and for k = 0).
static uint tree_parent(const uint k, const uint i)
{
    return i == 0u || k == 0u ? NONE : (i - 1u) / k;
}

// Child j of node i, j = 0 .. k-1; NONE for other j.
static uint tree_child(const uint k, const uint i, const uint j)
{
    const ulong child = (ulong)k * i + 1ul + j;  // < 2^64: (2^32 - 1)^2 + 2^32
    return j < k && child < NONE ? (uint)child : NONE;
}

// Nodes of a tree with the levels 0 .. depth.
static uint tree_nodes(const uint k, const uint depth)
{
    if (k <= 1u)  // a chain; k = 0 is no tree
        return k == 1u && depth < NONE - 1u ? depth + 1u : NONE;
    ulong nodes = 1ul;
    for (uint level = 0u; level < depth && nodes < NONE; ++level)  // 31 times at most
        nodes = nodes * k + 1ul;
    return nodes < NONE ? (uint)nodes : NONE;
}

// First node of a level: as many as there are nodes above it.
static uint tree_level_start(const uint k, const uint level)
{
    if (level == 0u) return k == 0u ? NONE : 0u;
    return tree_nodes(k, level - 1u);
}

// Level of node i.
static uint tree_level(const uint k, uint i)
{
    if (k <= 1u) return k == 1u ? i : NONE;
    uint level = 0u;
    for (; i > 0u; i = (i - 1u) / k) ++level;
    return level;
}

// Smallest depth whose last level has room for the leaves; NONE if there is none.
static uint tree_depth(const uint k, const uint leaves)
{
    if (k <= 1u) return k == 1u && leaves <= 1u ? 0u : NONE;
    uint depth = 0u;
    for (ulong width = 1ul; width < leaves; width *= k) ++depth;
    return tree_nodes(k, depth) == NONE ? NONE : depth;
}

// ---------------------------------------------------------------- leaves

// First node of the last level of a tree that fits, else 0: nothing is done then.
static uint tree_last_level(const uint k, const uint depth)
{
    return tree_nodes(k, depth) == NONE ? 0u : tree_level_start(k, depth);
}

// Nodes of the last level of a tree that fits, else 0.
static uint tree_last_width(const uint k, const uint depth)
{
    const uint nodes = tree_nodes(k, depth);
    return nodes == NONE ? 0u : nodes - tree_level_start(k, depth);
}

// Put leaves[0 .. n-1] into the last level, and `empty` into what is left of it: 0 for sums,
// +infinity for minima, -infinity for maxima. n <= k^depth; the rest is not put in. The other nodes
// are not written.
COLLECTIVE void tree_build_local(__local real *tree, const uint k, const uint depth,
                                 const __local real *leaves, const uint n, const real empty)
{
    const uint start = tree_last_level(k, depth), width = opaque(tree_last_width(k, depth));
    for (uint i = (uint)get_local_id(0); i < width; i += (uint)get_local_size(0))
        tree[start + i] = i < n ? leaves[i] : empty;
    barrier(CLK_LOCAL_MEM_FENCE);  // the last level, before all read it
}

// The same in global memory, by one workgroup.
COLLECTIVE void tree_build_global(__global real *tree, const uint k, const uint depth,
                                  const __global real *leaves, const uint n, const real empty)
{
    const uint start = tree_last_level(k, depth), width = opaque(tree_last_width(k, depth));
    const size_t lanes = get_local_size(0);
    for (size_t i = get_local_id(0); i < width; i += lanes)
        tree[start + i] = i < n ? leaves[i] : empty;
    barrier(CLK_GLOBAL_MEM_FENCE);  // the last level, before all read it
}

// ---------------------------------------------------------------- totals, level by level

#define TREE_SUM 0
#define TREE_MIN 1
#define TREE_MAX 2

// The total so far, a, joined with that of the next sibling, b. `what` is a literal at every call.
static real tree_joined(const real a, const real b, const int what)
{
    if (what == TREE_SUM) return a + b;
    return isnan(a) || (what == TREE_MAX ? b > a : b < a) ? b : a;
}

// One work-item does all of the tree instead (benchmarks/README.md has the measurement).
#ifndef TREE_SERIALLY
#define TREE_SERIALLY DEVICE_IS_CPU
#endif

// Give node i the total of its children, of which it has k.
#define TREE_TOTAL(i) \
    { \
        const size_t child = (size_t)k * (i) + 1; \
        real total = tree[child]; \
        for (uint j = 1u; j < k; ++j) total = tree_joined(total, tree[child + j], what); \
        tree[i] = total; \
    }

#if TREE_SERIALLY
// From the last node that has children down to the root.
#define TREE_TOTALS(fence) \
    if (get_local_id(0) == 0) \
        for (uint i = tree_last_level(k, depth); i-- > 0u;) TREE_TOTAL(i) \
    barrier(fence) /* all totals, before all read them */
#else
// Upwards from the level whose first node is `start`: the parents of a level are the nodes between
// the first one's parent and the level itself.
#define TREE_TOTALS(fence) \
    uint start = opaque(tree_last_level(k, depth)); \
    do { \
        const uint parents = start > 0u ? (start - 1u) / k : 0u; \
        for (size_t i = parents + get_local_id(0); i < start; i += get_local_size(0)) \
            TREE_TOTAL(i) \
        barrier(fence); /* totals of this level, before their parents add them up */ \
        start = parents; \
    } while (start > 0u)
#endif

COLLECTIVE void tree_totals_local(__local real *tree, const uint k, const uint depth,
                                  const int what)
{
    TREE_TOTALS(CLK_LOCAL_MEM_FENCE);
}

COLLECTIVE void tree_totals_global(__global real *tree, const uint k, const uint depth,
                                   const int what)
{
    TREE_TOTALS(CLK_GLOBAL_MEM_FENCE);
}

// Every node above the last level becomes the sum of its children, added up from the first to the
// last; so tree[0] is the sum of all leaves, in an order that depends on k and depth only.
COLLECTIVE void tree_sum_local(__local real *tree, const uint k, const uint depth)
{
    tree_totals_local(tree, k, depth, TREE_SUM);
}

COLLECTIVE void tree_sum_global(__global real *tree, const uint k, const uint depth)
{
    tree_totals_global(tree, k, depth, TREE_SUM);
}

// Every node above the last level becomes the smallest (largest) of its children, the first of
// equal ones (+0 and -0 are equal). NaN are passed over: NaN only if all leaves below are.
COLLECTIVE void tree_min_local(__local real *tree, const uint k, const uint depth)
{
    tree_totals_local(tree, k, depth, TREE_MIN);
}

COLLECTIVE void tree_min_global(__global real *tree, const uint k, const uint depth)
{
    tree_totals_global(tree, k, depth, TREE_MIN);
}

COLLECTIVE void tree_max_local(__local real *tree, const uint k, const uint depth)
{
    tree_totals_local(tree, k, depth, TREE_MAX);
}

COLLECTIVE void tree_max_global(__global real *tree, const uint k, const uint depth)
{
    tree_totals_global(tree, k, depth, TREE_MAX);
}

#endif
