// scan.cl: running sums over local memory, and the list of set flags in order of index.
//
// A balanced tree over x, in place, without scratch (Blelloch 1990, extended to any n): the node
// that covers entries p .. p + 2 s - 1 keeps its sum in its last existing entry,
// min(p + 2 s, n) - 1. Sums are modulo 2^32.
//
// Contract of every function: called by all work-items of a one-dimensional workgroup of any size
// L, with the same arguments; any n up to 2^30. The caller has ordered its writes by a barrier.
// Every work-item gets the result. The last barrier inside orders all writes, so the results can
// be read by all at once. Cost: 2 n / L + 2 log2(n) steps, 2 log2(n) + 2 barriers, none of
// them inside a condition or a loop that might not run (real.cl says why). On a CPU, where
// work-items take turns and the sum of all steps counts, one of them adds up alone: n steps and 2
// or 3 barriers.
//
// Twin: reference_py/primitives/scan.py

#ifndef PRIMITIVES_SCAN_CL
#define PRIMITIVES_SCAN_CL

#include "primitives/real.cl"

// One pass of a single work-item instead (benchmarks/README.md has the measurement).
#ifndef SCAN_SERIALLY
#define SCAN_SERIALLY DEVICE_IS_CPU
#endif

#if SCAN_SERIALLY
// x[i] becomes x[0] + ... + x[i-1]; returns the total.
COLLECTIVE uint scan_exclusive(__local uint *x, const uint n)
{
    const uint last = n > 0u ? x[n - 1u] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the last entry, before it changes
    if (get_local_id(0) == 0) {
        uint sum = 0u;
        for (uint i = 0u; i < n; ++i) {
            const uint own = x[i];
            x[i] = sum;
            sum += own;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the sums, before all read them
    const uint total = n > 0u ? x[n - 1u] + last : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the total, before x is used again
    return total;
}

// x[i] becomes x[0] + ... + x[i]; returns the total.
COLLECTIVE uint scan_inclusive(__local uint *x, const uint n)
{
    if (get_local_id(0) == 0)
        for (uint i = 1u; i < n; ++i) x[i] += x[i - 1u];
    barrier(CLK_LOCAL_MEM_FENCE);  // the sums, before all read them
    const uint total = n > 0u ? x[n - 1u] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the total, before x is used again
    return total;
}
#else
// Up the tree: every node gets the sum of what it covers. Returns twice the stride of the top
// level, at least 2.
COLLECTIVE uint scan_up(__local uint *x, const uint n)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    uint stride = 1u;
    do {
        for (uint p = lid * 2u * stride; p + stride < n; p += lanes * 2u * stride)
            x[min(p + 2u * stride, n) - 1u] += x[p + stride - 1u];
        barrier(CLK_LOCAL_MEM_FENCE);  // sums of this level, before they are added up
        stride *= 2u;
    } while (stride < n);
    return stride;
}

// x[i] becomes x[0] + ... + x[i-1]; returns the total.
COLLECTIVE uint scan_exclusive(__local uint *x, const uint n)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const uint top = scan_up(x, n);
    const uint total = n > 0u ? x[n - 1u] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the total, before the root is cleared
    if (lid == 0u && n > 0u) x[n - 1u] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // the root, before its children take it
    // Down: a node knows the sum before it; its left child takes that, its right child that plus
    // the left child's own sum.
    uint stride = top / 2u;
    do {
        for (uint p = lid * 2u * stride; p + stride < n; p += lanes * 2u * stride) {
            const uint left = p + stride - 1u, right = min(p + 2u * stride, n) - 1u;
            const uint sum_of_left = x[left];
            x[left] = x[right];
            x[right] += sum_of_left;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // this level, before its children; at the end the result
        stride /= 2u;
    } while (stride > 0u);
    return total;
}

// x[i] becomes x[0] + ... + x[i]; returns the total.
COLLECTIVE uint scan_inclusive(__local uint *x, const uint n)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const uint top = scan_up(x, n);
    // Down: the last entry of a node that is not the leftmost of its level (so p >= 2 stride) ends
    // at p - 1 with the whole sum up to there; the left child of the node at p lacks just that.
    uint stride = top / 2u;
    do {
        for (uint p = (lid + 1u) * 2u * stride; p + stride < n; p += lanes * 2u * stride)
            x[p + stride - 1u] += x[p - 1u];
        barrier(CLK_LOCAL_MEM_FENCE);  // this level, before its children; at the end the result
        stride /= 2u;
    } while (stride > 0u);
    const uint total = n > 0u ? x[n - 1u] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the total, before x is used again
    return total;
}
#endif

// out[0 ..] = the i < n with flags[i] != 0, ascending; returns how many. The deterministic
// alternative to varray.cl. out: room for n (or for as many as can be set); scratch: n words.
// All words of scratch are written; out must not overlap it.
COLLECTIVE uint compact(const __local uchar *flags, uint n, __local uint *out,
                        __local uint *scratch)
{
    n = opaque(n);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    for (uint i = lid; i < n; i += lanes) scratch[i] = flags[i] != 0 ? 1u : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // all flags as numbers, before they are added up
    const uint count = scan_exclusive(scratch, n);
    for (uint i = lid; i < n; i += lanes)
        if (flags[i] != 0) out[scratch[i]] = i;
    barrier(CLK_LOCAL_MEM_FENCE);  // the list is complete, and scratch no longer read
    return count;
}

#endif
