// reduce_cases.cl: one workgroup per case computes every total of an array of its own.
#include "primitives/reduce.cl"

// sums[case][3][work-item]: local, global (work is overwritten), local by one work-item alone
__kernel void real_sums(__global const real *values, __global real *work,
                        __global const uint *sizes, const uint capacity, const uint local_most,
                        __global real *sums, __local real *x)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group];
    for (uint i = lid; i < n; i += lanes) {
        work[group * capacity + i] = values[group * capacity + i];
        if (n <= local_most) x[i] = values[group * capacity + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // both copies, before they are added up
    sums[(group * 3 + 1) * lanes + lid] = reduce_sum_global(work + group * capacity, n);
    if (n <= local_most) sums[group * 3 * lanes + lid] = reduce_sum_local(x, n);
    for (uint i = lid; i < n && n <= local_most; i += lanes) x[i] = values[group * capacity + i];
    barrier(CLK_LOCAL_MEM_FENCE);  // the copy again, before it is added up
    if (lid == 0 && n <= local_most) {
        const real sum = reduce_sum_alone(x, n);
        for (uint i = 0; i < lanes; ++i) sums[(group * 3 + 2) * lanes + i] = sum;
    }
}

// extremes[case][2][work-item]: in local memory (of the first local_most), in global memory
__kernel void real_extremes(__global const real *values, __global real *work,
                            __global const uint *sizes, __global const uchar *largest,
                            const uint capacity, const uint local_most, __global real *extremes,
                            __local real *x)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group], in_local = min(n, local_most);
    for (uint i = lid; i < n; i += lanes) work[group * capacity + i] = values[group * capacity + i];
    for (uint i = lid; i < in_local; i += lanes) x[i] = values[group * capacity + i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // both copies, before they are compared
    extremes[group * 2 * lanes + lid] = reduce_extreme_local(x, in_local, largest[group] != 0);
    extremes[(group * 2 + 1) * lanes + lid] =
        reduce_extreme_global(work + group * capacity, n, largest[group] != 0);
}

// totals[case][3][work-item]: sum, min, max
__kernel void word_totals(__global const uint *values, __global const uint *sizes,
                          const uint capacity, __global uint *totals, __local uint *x)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group];
    values += group * capacity;
    totals += group * 3 * lanes + lid;
    for (uint i = lid; i < n; i += lanes) x[i] = values[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // the copy, before it is reduced
    totals[0] = reduce_sum_uint(x, n);
    for (uint i = lid; i < n; i += lanes) x[i] = values[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // the copy, before it is reduced
    totals[lanes] = reduce_min_uint(x, n);
    for (uint i = lid; i < n; i += lanes) x[i] = values[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // the copy, before it is reduced
    totals[2 * lanes] = reduce_max_uint(x, n);
}

static void stage(__global const long *values, const uint n, __local long *x)
{
    for (uint i = get_local_id(0); i < n; i += get_local_size(0)) x[i] = values[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // the copy, before it is reduced
}

// totals[case][6][work-item]: sum, min, max, count, any, all
__kernel void whole_totals(__global const long *values, __global const uchar *flags,
                           __global const uint *sizes, const uint capacity, __global long *totals,
                           __local long *x, __local uchar *f, __local uint *scratch)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group];
    values += group * capacity;
    totals += group * 6 * lanes;
    for (uint i = lid; i < n; i += lanes) f[i] = flags[group * capacity + i];
    stage(values, n, x);
    totals[lid] = reduce_sum_long(x, n);
    stage(values, n, x);
    totals[1 * lanes + lid] = reduce_min_long(x, n);
    stage(values, n, x);
    totals[2 * lanes + lid] = reduce_max_long(x, n);
    totals[3 * lanes + lid] = reduce_count(f, n, scratch);
    totals[4 * lanes + lid] = reduce_any(f, n, scratch);
    totals[5 * lanes + lid] = reduce_all(f, n, scratch);
}
