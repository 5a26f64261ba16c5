// tree_cases.cl: one workgroup per case builds trees of its own leaves and totals them up.
#include "primitives/tree.cl"

// trees[case][capacity] in local memory, in_global[case][capacity]; what: TREE_SUM, ... of a case.
// Nodes are read by other work-items than those that put them there, so that a missing last barrier
// shows.
__kernel void totals(__global const real *leaves, __global const uint *sizes,
                     __global const uint *children, __global const uint *depths,
                     __global const int *what, __global const real *empty, const uint most_leaves,
                     const uint capacity, __global real *trees, __global real *in_global,
                     __local real *tree, __local real *x)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group], k = children[group], depth = depths[group];
    leaves += group * most_leaves;
    for (uint i = lid; i < n; i += lanes) x[i] = leaves[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // leaves, before they are put into the tree
    tree_build_local(tree, k, depth, x, n, empty[group]);
    tree_build_global(in_global + group * capacity, k, depth, leaves, n, empty[group]);
    tree_totals_local(tree, k, depth, what[group]);
    tree_totals_global(in_global + group * capacity, k, depth, what[group]);
    const uint nodes = tree_nodes(k, depth);
    for (uint i = lid; i < nodes; i += lanes)
        trees[group * capacity + nodes - 1u - i] = tree[nodes - 1u - i];
}
