// What compilers have got wrong around barriers; each kernel is right as it stands, and shows that
// the rules of primitives/real.cl keep it so. See test_collective.py.
#include "primitives/permute.cl"
#include "primitives/reduce.cl"
#include "primitives/scan.cl"
#include "primitives/select.cl"
#include "primitives/sort.cl"
#include "primitives/tree.cl"
#include "primitives/varray.cl"

// Collective functions called twice: PoCL 3.0 goes wrong if they are not inlined.
__kernel void twice(__global const real *values, __global uint *winners, __global real *sums,
                    __global uint *totals, const uint n, const uint k)
{
    __local real first[64], second[64];
    __local uchar mask[64];
    __local uint scratch[32], found[8], again[8], x[64], y[64];
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    for (uint i = lid; i < n; i += lanes) {
        first[i] = values[i];
        second[i] = -values[i];
        mask[i] = 0;
        x[i] = i;
        y[i] = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // inputs, before they are selected from
    n_smallest(first, mask, n, k, found, scratch);
    for (uint i = lid; i < n; i += lanes) mask[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // nothing masked, before the second selection
    n_smallest(second, mask, n, k, again, scratch);
    const real a = reduce_sum_local(first, n);
    const real b = reduce_sum_local(second, n);
    const uint c = scan_exclusive(x, n);
    const uint d = scan_inclusive(y, n);
    for (uint i = lid; i < k; i += lanes) {
        winners[i] = found[i];
        winners[k + i] = again[i];
    }
    if (lid == 0) {
        sums[0] = a;
        sums[1] = b;
        totals[0] = c;
        totals[1] = d;
    }
}

// Shared loops that few work-items enter, with bounds that the compiler does not see: with the
// constant 1 for n, PoCL 3.0 lets all work-items in, or none, or crashes.
__kernel void few(__global real *counted, __global real *seen, const uint n)
{
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    for (uint i = lid; i < n; i += lanes) counted[i] += 1.0;
    barrier(CLK_GLOBAL_MEM_FENCE);  // all counts, before all read the first
    seen[lid] = counted[0];
    barrier(CLK_GLOBAL_MEM_FENCE);  // the first has been read, before the tree changes it
    const real sum = reduce_sum_global(counted, n);
    if (lid == 0) counted[0] = sum;
}

// A barrier goes in front of a loop with barriers: if the loop begins with it instead, PoCL 3.0
// runs what is before the loop twice.
__kernel void once(__global uint *times, const uint turns)
{
    __local uint count, turn;
    const uint lid = get_local_id(0);
    if (lid == 0) turn = count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zeros
    if (lid == 0) count += 1;
    barrier(CLK_LOCAL_MEM_FENCE);  // the count, before the loop
    do {
        times[get_global_id(0)] = count;
        barrier(CLK_LOCAL_MEM_FENCE);  // all have read the count, before the turn ends
        if (lid == 0) turn += 1;
        barrier(CLK_LOCAL_MEM_FENCE);  // the turn, before the condition
    } while (turn < turns);
}

// Sizes that the compiler knows: PoCL 3.0 lets all work-items into a shared loop that ends at the
// constant 1. found[work-item][5]; all flags are 1, all words 5.
__kernel void known(__global real *found, const uint n)
{
    __local uint u[8], v[8], scratch[2];
    __local uchar flags[8];
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    rng_t rng = rng_seed(0, 0, 1);
    found += lid * 5;
    for (uint i = lid; i < n; i += lanes) {
        u[i] = 5;
        flags[i] = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // inputs, before they are used
    found[0] = reduce_count(flags, 1, scratch);
    found[1] = compact(flags, 1, v, u);
    found[2] = u[1];
    found[3] = choose_among(&rng, u + 1, 1, scratch);
    random_permutation(&rng, u, 1);
    found[4] = u[0] + u[1];
}

__kernel void known_trees(__global real *found, const uint n)
{
    __local real x[8], tree[8];
    __local uint u[8], scratch[8];
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    rng_t rng = rng_seed(0, 0, 1);
    found += lid * 5;
    for (uint i = lid; i < n; i += lanes) {
        tree[i] = 7.0;
        x[i] = 3.0 - i;
        u[i] = 5;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // inputs, before they are used
    found[0] = extreme_min_unmasked_random(&rng, x, 1, scratch);
    sort_keys(x, u, 1, false);
    tree_build_local(tree, 2, 0, x, 1, 0.0);
    tree_sum_local(tree, 2, 0);
    found[1] = tree[0];
    found[2] = tree[1];
    barrier(CLK_LOCAL_MEM_FENCE);  // the tree has been read, before it is built again
    tree_build_local(tree, 2, 1, x, 2, 0.0);
    tree_sum_local(tree, 2, 1);
    found[3] = tree[0];
    found[4] = x[0];
}
