// scan_cases.cl: one workgroup per case scans an array of its own, and lists its flags.
#include "primitives/scan.cl"

static void stage(__global const uint *values, const uint n, __local uint *x)
{
    for (uint i = get_local_id(0); i < n; i += get_local_size(0)) x[i] = values[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // the copy, before it is scanned
}

// Every entry is written by the work-item of the next one (reversed order), so that a missing last
// barrier shows. totals[case][3][work-item]
static void unstage(__local const uint *x, const uint n, __global uint *result)
{
    for (uint i = get_local_id(0); i < n; i += get_local_size(0))
        result[n - 1u - i] = x[n - 1u - i];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read x, before it is filled again
}

__kernel void scans(__global const uint *values, __global const uchar *flags,
                    __global const uint *sizes, const uint capacity, __global uint *exclusive,
                    __global uint *inclusive, __global uint *listed, __global uint *totals,
                    __local uint *x, __local uchar *f, __local uint *out)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group];
    const size_t at = group * capacity;
    totals += group * 3 * lanes;
    for (uint i = lid; i < n; i += lanes) f[i] = flags[at + i];
    stage(values + at, n, x);
    totals[lid] = scan_exclusive(x, n);
    unstage(x, n, exclusive + at);
    stage(values + at, n, x);
    totals[lanes + lid] = scan_inclusive(x, n);
    unstage(x, n, inclusive + at);
    const uint count = compact(f, n, out, x);
    totals[2 * lanes + lid] = count;
    unstage(out, count, listed + at);
}
