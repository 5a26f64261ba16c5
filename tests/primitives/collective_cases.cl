// What compilers have got wrong around barriers; each kernel is right as it stands, and shows that the
// rules of primitives/real.cl keep it so. See test_collective.py.
#include "primitives/select.cl"
#include "primitives/reduce.cl"
#include "primitives/scan.cl"

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
    barrier(CLK_GLOBAL_MEM_FENCE);  // all counts, before everybody reads the first
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
        barrier(CLK_LOCAL_MEM_FENCE);  // everybody has read the count, before the turn ends
        if (lid == 0) turn += 1;
        barrier(CLK_LOCAL_MEM_FENCE);  // the turn, before the condition
    } while (turn < turns);
}
