// sort.cl: order keys with their payload in local memory, in place.
//
// Ascending or descending by key; equal keys (also +0 and -0) ascending by payload, and those by
// the bits of the key. NaN come last in both directions, by payload and bits. So the order is
// total and the result is defined, bit for bit. With payload[i] = i the sort is stable.
//
// Contract of every function: called by all work-items of a one-dimensional workgroup of any size
// L, with the same arguments; any n up to 2^30, also 0 and above L. The caller has ordered its
// writes to keys and payload by a barrier; the last barrier inside lets all read them. The
// result does not depend on L. No memory besides the arrays: 12 bytes an entry for reals (2730 in
// 32 KiB), 8 for uints (4095: some devices take a byte for themselves).
//
// Cost in steps of the slowest work-item, two methods with one result:
//   network  n s (s + 1) / (4 L) comparisons and s (s + 1) / 2 barriers, 2^s >= n (n = 512: 45
//            stages; n = 2730: 78). Counting ranks (n^2 / L) was slower from n = 48 on;
//   serial   on a CPU, where work-items take turns and the sum of all steps counts: one work-item,
//            about n^1.25 comparisons (Shell's sort), 1 barrier.
//
// No barrier is inside a condition or a loop that might not run (real.cl says why).
//
// Twin: reference_py/primitives/sort.py

#ifndef PRIMITIVES_SORT_CL
#define PRIMITIVES_SORT_CL

#include "primitives/real.cl"

// One work-item sorts alone instead.
#ifndef SORT_SERIALLY
#define SORT_SERIALLY DEVICE_IS_CPU
#endif

// ---------------------------------------------------------------- order

// `reals` is a literal at every call: keys are reals (key is used) or uints (word is used), and the
// compiler drops the other.
typedef struct {
    real key;
    uint word, payload;
} sort_entry;

INLINED sort_entry sort_load(const __local void *keys, const __local uint *payload,
                             const bool reals, const uint i)
{
    sort_entry entry;
    entry.key = reals ? ((const __local real *)keys)[i] : 0.0;
    entry.word = reals ? 0u : ((const __local uint *)keys)[i];
    entry.payload = payload[i];
    return entry;
}

INLINED void sort_store(__local void *keys, __local uint *payload, const bool reals, const uint i,
                        const sort_entry entry)
{
    if (reals)
        ((__local real *)keys)[i] = entry.key;
    else
        ((__local uint *)keys)[i] = entry.word;
    payload[i] = entry.payload;
}

// Does a come before b?
static bool sort_precedes(const sort_entry a, const sort_entry b, const bool reals,
                          const bool descending)
{
    if (reals) {
        if (a.key < b.key) return !descending;
        if (a.key > b.key) return descending;
        if (isnan(a.key) != isnan(b.key)) return isnan(b.key);
    } else if (a.word != b.word) {
        return (a.word < b.word) != descending;
    }
    if (a.payload != b.payload) return a.payload < b.payload;
    return reals && as_ulong(a.key) < as_ulong(b.key);
}

#if SORT_SERIALLY
// ---------------------------------------------------------------- one work-item

// Shell's sort with the distances 1, 4, 13, 40, ... (D. E. Knuth, The Art of Computer Programming,
// volume 3, 5.2.1).
COLLECTIVE void sort_entries(__local void *keys, __local uint *payload, const bool reals,
                             const uint n, const bool descending)
{
    if (get_local_id(0) == 0) {
        uint gap = 1u;
        while (gap < n / 9u) gap = 3u * gap + 1u;
        for (; gap > 0u; gap /= 3u)
            for (uint i = gap; i < n; ++i) {
                const sort_entry entry = sort_load(keys, payload, reals, i);
                uint place = i;
                while (place >= gap) {
                    const sort_entry before = sort_load(keys, payload, reals, place - gap);
                    if (!sort_precedes(entry, before, reals, descending)) break;
                    sort_store(keys, payload, reals, place, before);
                    place -= gap;
                }
                sort_store(keys, payload, reals, place, entry);
            }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the order, before all read it
}
#else
// ---------------------------------------------------------------- a network

// One stage of the network: pair t is entry i with bit `stride` clear and entry i ^ across, always
// the later one. Entries from n on do not exist; they would come last, and stay where they are,
// as every exchange puts the first of two into the lower place.
INLINED void sort_stage(__local void *keys, __local uint *payload, const bool reals, const uint n,
                        const bool descending, const uint stride, const uint across)
{
    const uint lanes = (uint)get_local_size(0);
    for (uint t = (uint)get_local_id(0);; t += lanes) {
        const uint i = t + (t & ~(stride - 1u)), j = i ^ across;
        if (i >= n) break;
        if (j >= n) continue;
        const sort_entry a = sort_load(keys, payload, reals, i);
        const sort_entry b = sort_load(keys, payload, reals, j);
        if (sort_precedes(b, a, reals, descending)) {
            sort_store(keys, payload, reals, i, b);
            sort_store(keys, payload, reals, j, a);
        }
    }
}

// Bitonic merges (K. E. Batcher, "Sorting networks and their applications", 1968) of blocks of 2,
// 4, 8, ..., each beginning with the second half mirrored, so that all exchanges are upwards.
COLLECTIVE void sort_entries(__local void *keys, __local uint *payload, const bool reals,
                             const uint n, const bool descending)
{
    uint block = 2u;
    do {
        uint stride = block / 2u, across = block - 1u;
        do {
            sort_stage(keys, payload, reals, n, descending, stride, across);
            barrier(CLK_LOCAL_MEM_FENCE);  // this stage, before the next
            stride /= 2u;
            across = stride;
        } while (stride > 0u);
        block *= 2u;
    } while (block / 2u < n);
}
#endif

// ---------------------------------------------------------------- keys with payload

// Put keys[0 .. n-1] in order, ascending or descending, and payload[0 .. n-1] along with them.
COLLECTIVE void sort_keys(__local real *keys, __local uint *payload, const uint n,
                          const bool descending)
{
    sort_entries(keys, payload, true, n, descending);
}

COLLECTIVE void sort_keys_uint(__local uint *keys, __local uint *payload, const uint n,
                               const bool descending)
{
    sort_entries(keys, payload, false, n, descending);
}

#endif
