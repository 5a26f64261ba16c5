// varray.cl: a list that work-items append to in any order, and a fair choice from it.
//
// A varray is a counter and a capacity of words in local memory. Appending takes the next slot by
// an atomic addition, so the ORDER OF THE ENTRIES IS NOT DEFINED: code that reads them must not
// depend on it (rank the entries, add whole numbers, choose with choose_among). CPUs happen to
// append in the order of work-items and hide mistakes; build with -DVARRAY_TEST_ORDER=k (k = 1,
// 2, ...) to have varray_length shuffle the entries in a way that depends on k. Results must not
// change with k.
//
// Use, by all work-items of a one-dimensional workgroup of any size L:
//     varray_reset(count);
//     if (...) varray_append(count, items, capacity, id);    any work-item, any number of times
//     const uint n = varray_length(count, items, capacity);
// Cost: one atomic an entry; reset and length one and two barriers; choose_among n^2 / L
// comparisons and 3 barriers.
//
// Twin: reference_py/primitives/varray.py

#ifndef PRIMITIVES_VARRAY_CL
#define PRIMITIVES_VARRAY_CL

#include "primitives/rng.cl"

// Empty the list. The caller has ordered earlier reads of it by a barrier.
COLLECTIVE void varray_reset(__local uint *count)
{
    if (get_local_id(0) == 0) *count = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before the first append
}

// Called by any work-item, also in a branch. What does not fit is counted, not stored.
INLINED void varray_append(__local uint *count, __local uint *items, const uint capacity,
                           const uint item)
{
    const uint slot = atomic_inc(count);
    if (slot < capacity) items[slot] = item;
}

// Number of entries; by all work-items, after the last append. Orders the appends.
COLLECTIVE uint varray_length(__local uint *count, __local uint *items, const uint capacity)
{
    barrier(CLK_LOCAL_MEM_FENCE);  // all appends, before the list is read
    const uint n = min(*count, capacity);
#ifdef VARRAY_TEST_ORDER
    if (get_local_id(0) == 0) {  // Fisher-Yates with a stream of its own
        rng_t rng = rng_seed(0ul, 0x100000000ul, (ulong)(VARRAY_TEST_ORDER));
        for (uint i = n; i > 1u; --i) {
            const uint j = rng_below(&rng, i);
            const uint item = items[i - 1u];
            items[i - 1u] = items[j];
            items[j] = item;
        }
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the counter, before the next reset; shuffle
    return n;
}

// 1 if more was appended than fits. Which entries were stored is then not defined: an error, to
// be excluded or reported. By all work-items, between varray_length and a barrier of the caller.
INLINED int varray_overflow(const __local uint *count, const uint capacity)
{
    return *count > capacity ? 1 : 0;
}

// One of the n distinct items, each with equal probability, independent of their order: draws a
// rank r below n, and takes the item with exactly r items below it. n = 0: NONE; n <= 1: nothing
// drawn. rng: work-item 0's is used and moves on; the others' are not touched (they may be
// undefined). Every work-item gets the item. Scratch: 2 words. The caller has ordered its writes
// to items (varray_length does).
COLLECTIVE uint choose_among(rng_t *rng, const __local uint *items, uint n, __local uint *scratch)
{
    n = opaque(n);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    if (lid == 0u) {
        scratch[0] = rng_below(rng, n);
        scratch[1] = NONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the rank, before all look for its item
    const uint rank = scratch[0];
    for (uint i = lid; i < n; i += lanes) {
        uint below = 0u;
        for (uint j = 0u; j < n; ++j) below += items[j] < items[i] ? 1u : 0u;
        if (below == rank) scratch[1] = items[i];  // one work-item only: the items are distinct
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the item, before all read it
    const uint item = scratch[1];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before scratch and items are used again
    return item;
}

#endif
