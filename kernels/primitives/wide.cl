// wide.cl: running sums, lists of set flags and totals of arrays of any length, by many workgroups.
//
// An array is cut into blocks of WIDE_BLOCK entries. A workgroup does a block, then one workgroup
// the totals of all blocks, then each block gets what comes before it. Real sums have the bits
// of one tree over everything (reduce.cl): the tree joins neighbours, and WIDE_BLOCK is a power of
// two, so a block is a whole branch of it.
//
// Contract of the functions: called by all work-items of a one-dimensional workgroup of any size L,
// with the same arguments. The caller has ordered its writes by a barrier of global memory. Every
// work-item gets the result, and the last barrier inside orders what was written. Local memory is
// planned (local_malloc): 4 to 18 KiB, at most 9 bytes an entry of a block. Cost: n / L steps and
// those of scan.cl or reduce.cl for each block.
//
// The kernels, which a host asks for by the macro WIDE_KERNELS, take arrays (copies, row), each
// copy alone. `blocks` is the number of blocks of a copy. `lengths` has the number of entries of
// each copy, at most n, or is null: all have n.
//
// Twin: reference_py/primitives/wide.py

#ifndef PRIMITIVES_WIDE_CL
#define PRIMITIVES_WIDE_CL

#include "primitives/reduce.cl"
#include "primitives/scan.cl"

// 2048 reals are half of the 32 KiB of the portable profile; a multiple of it would not fit.
#define WIDE_BLOCK 2048u

// x[i] becomes x[0] + ... + x[i-1]; returns the total. Any n, strip after strip.
COLLECTIVE uint wide_scan_exclusive(__global uint *x, const uint n)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    __local uint *strip = local_malloc(WIDE_BLOCK * sizeof(uint));
    uint before = 0u, at = 0u;
    do {
        const uint here = opaque(min(n - at, WIDE_BLOCK));
        for (uint i = lid; i < here; i += lanes) strip[i] = x[at + i];
        barrier(CLK_LOCAL_MEM_FENCE);  // the entries, before they are added up
        const uint sum = scan_exclusive(strip, here);
        for (uint i = lid; i < here; i += lanes) x[at + i] = before + strip[i];
        barrier(CLK_LOCAL_MEM_FENCE);  // all sums are copied, before the strip is filled again
        before += sum;
        at += here;
    } while (at < n);
    barrier(CLK_GLOBAL_MEM_FENCE);  // the sums in x, before all read them
    return before;
}

// out[0 ..] = first + i for the i < n with flags[i] != 0, ascending; returns how many.
// n <= WIDE_BLOCK. out: room for n, or for as many as can be set.
COLLECTIVE uint wide_compact(const __global uchar *flags, const uint n, const uint first,
                             __global uint *out)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const uint length = opaque(n);
    __local uchar *set = local_malloc(WIDE_BLOCK * sizeof(uchar));
    __local uint *scratch = local_malloc(WIDE_BLOCK * sizeof(uint));
    __local uint *listed = local_malloc(WIDE_BLOCK * sizeof(uint));
    for (uint i = lid; i < length; i += lanes) set[i] = flags[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // the flags, before they are listed
    const uint count = compact(set, length, listed, scratch);
    for (uint i = lid; i < count; i += lanes) out[i] = first + listed[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the list, before it is read or replaced
    return count;
}

// Sum of x[0 .. n-1] in the tree of reduce.cl; n <= WIDE_BLOCK. Sums of blocks are added by
// reduce_sum_global.
COLLECTIVE real wide_reduce_sum(const __global real *x, const uint n)
{
    const uint length = opaque(n);
    __local real *block = local_malloc(WIDE_BLOCK * sizeof(real));
    for (uint i = (uint)get_local_id(0); i < length; i += (uint)get_local_size(0)) block[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the entries are copied, and x is read
    const real sum = reduce_sum_local(block, length);
    return sum;
}

// Totals of whole numbers, whose order is free: any n, strip after strip. `into` takes the total of
// a strip into that of those before it.
#define WIDE_TOTAL(type, none, REDUCE, into) \
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0); \
    __local type *strip = local_malloc(WIDE_BLOCK * sizeof(type)); \
    type total = none; \
    uint at = 0u; \
    do { \
        const uint here = opaque(min(n - at, WIDE_BLOCK)); \
        for (uint i = lid; i < here; i += lanes) strip[i] = x[at + i]; \
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* the strip, and x is read */ \
        const type one = REDUCE(strip, here); \
        total = into; \
        at += here; \
    } while (at < n)

// Sum modulo 2^64; 0 for n = 0.
COLLECTIVE long wide_reduce_sum_long(const __global long *x, const uint n)
{
    WIDE_TOTAL(long, 0l, reduce_sum_long, as_long(as_ulong(total) + as_ulong(one)));
    return total;
}

// Largest entry; 0 for n = 0.
COLLECTIVE uint wide_reduce_max_uint(const __global uint *x, const uint n)
{
    WIDE_TOTAL(uint, 0u, reduce_max_uint, max(total, one));
    return total;
}

// Number of flags that are not 0; any n.
COLLECTIVE uint wide_count(const __global uchar *flags, const uint n)
{
    __local uint *count = local_malloc(sizeof(uint));
    if (get_local_id(0) == 0) count[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is added to
    uint mine = 0u;
    const uint length = opaque(n);
    for (uint i = (uint)get_local_id(0); i < length; i += (uint)get_local_size(0))
        mine += flags[i] != 0 ? 1u : 0u;
    if (mine > 0u) atomic_add(count, mine);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all counts are added, and flags read
    const uint total = count[0];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the total, before the word is used again
    return total;
}

// ---------------------------------------------------------------- kernels

#if WIDE_KERNELS

#define WIDE_ROWS const uint row, const uint n, __global const uint *lengths, const uint blocks
#define WIDE_COPY (get_group_id(0) / blocks)
#define WIDE_FIRST ((uint)(get_group_id(0) % blocks) * WIDE_BLOCK)

// Entries of the workgroup's block: 0 behind the end of its copy.
static uint wide_here(const uint n, __global const uint *lengths, const uint blocks)
{
    const uint length = lengths ? min(lengths[WIDE_COPY], n) : n;
    return WIDE_FIRST < length ? min(length - WIDE_FIRST, WIDE_BLOCK) : 0u;
}

// A workgroup is a block: its running sums, and its total.
__kernel void wide_scan_blocks(__global uint *x, __global uint *totals, WIDE_ROWS)
{
    const uint here = wide_here(n, lengths, blocks);
    const uint total = wide_scan_exclusive(x + WIDE_COPY * row + WIDE_FIRST, here);
    if (get_local_id(0) == 0) totals[get_group_id(0)] = total;
}

// A workgroup is a block: how many of its flags are set.
__kernel void wide_count_blocks(__global const uchar *flags, __global uint *totals, WIDE_ROWS)
{
    const uint here = wide_here(n, lengths, blocks);
    const uint total = wide_count(flags + WIDE_COPY * row + WIDE_FIRST, here);
    if (get_local_id(0) == 0) totals[get_group_id(0)] = total;
}

// A workgroup is a copy: what comes before each block, and what there is in all.
__kernel void wide_scan_totals(__global uint *totals, __global uint *result, const uint blocks)
{
    const uint total = wide_scan_exclusive(totals + get_group_id(0) * blocks, blocks);
    if (get_local_id(0) == 0) result[get_group_id(0)] = total;
}

// A workgroup is a block, whose sums begin with what comes before it.
__kernel void wide_scan_add(__global uint *x, __global const uint *totals, WIDE_ROWS)
{
    const uint here = wide_here(n, lengths, blocks);
    for (uint i = (uint)get_local_id(0); i < here; i += (uint)get_local_size(0))
        x[WIDE_COPY * row + WIDE_FIRST + i] += totals[get_group_id(0)];
}

// A workgroup is a block, whose set flags are listed behind those of the blocks before it.
__kernel void wide_compact_blocks(__global const uchar *flags, __global const uint *totals,
                                  __global uint *out, WIDE_ROWS)
{
    const uint here = wide_here(n, lengths, blocks);
    const size_t at = WIDE_COPY * row;
    wide_compact(flags + at + WIDE_FIRST, here, WIDE_FIRST, out + at + totals[get_group_id(0)]);
}

// A workgroup is a block, then a copy: sums of reals, sums of longs, the largest of uints.
__kernel void wide_sum_blocks(__global const real *x, __global real *totals, WIDE_ROWS)
{
    const uint here = wide_here(n, lengths, blocks);
    const real sum = wide_reduce_sum(x + WIDE_COPY * row + WIDE_FIRST, here);
    if (get_local_id(0) == 0) totals[get_group_id(0)] = sum;
}

__kernel void wide_sum_totals(__global real *totals, __global real *result,
                              __global const uint *lengths, const uint n, const uint blocks)
{
    const size_t copy = get_group_id(0);
    const uint length = lengths ? min(lengths[copy], n) : n;  // blocks behind the end are no leaves
    const uint leaves = length / WIDE_BLOCK + (length % WIDE_BLOCK > 0u ? 1u : 0u);
    const real sum = reduce_sum_global(totals + copy * blocks, leaves);
    if (get_local_id(0) == 0) result[copy] = sum;
}

__kernel void wide_sum_long_blocks(__global const long *x, __global long *totals, WIDE_ROWS)
{
    const uint here = wide_here(n, lengths, blocks);
    const long sum = wide_reduce_sum_long(x + WIDE_COPY * row + WIDE_FIRST, here);
    if (get_local_id(0) == 0) totals[get_group_id(0)] = sum;
}

__kernel void wide_sum_long_totals(__global const long *totals, __global long *result,
                                   const uint blocks)
{
    const long sum = wide_reduce_sum_long(totals + get_group_id(0) * blocks, blocks);
    if (get_local_id(0) == 0) result[get_group_id(0)] = sum;
}

__kernel void wide_max_uint_blocks(__global const uint *x, __global uint *totals, WIDE_ROWS)
{
    const uint here = wide_here(n, lengths, blocks);
    const uint largest = wide_reduce_max_uint(x + WIDE_COPY * row + WIDE_FIRST, here);
    if (get_local_id(0) == 0) totals[get_group_id(0)] = largest;
}

__kernel void wide_max_uint_totals(__global const uint *totals, __global uint *result,
                                   const uint blocks)
{
    const uint largest = wide_reduce_max_uint(totals + get_group_id(0) * blocks, blocks);
    if (get_local_id(0) == 0) result[get_group_id(0)] = largest;
}

#endif

#endif
