// select.cl: which entries of a local array are the largest or smallest, skipping masked ones.
//
// Candidates are the i < n with mask[i] == 0 and values[i] not NaN; infinities count. The larger
// (smaller) value comes first, equal values (also +0 and -0) by index. Where no candidate is left
// the result is NONE.
//
// Contract of every function: called by all work-items of a one-dimensional workgroup of any size
// L, with the same arguments; any n, also 0 and above L. The caller has ordered its writes to
// values and mask by a barrier. The last barrier inside orders all reads and writes of the
// function, so values, mask and scratch can be used again at once. The result does not depend
// on L. Scratch: ceil(n / 2) words of local memory (at least 1).
//
// Cost in steps of the slowest work-item: extreme_* n / L + log2(n) comparisons, log2(n) + 1
// barriers; n_* k times that, or (where n <= SELECT_BY_RANK) n^2 / L comparisons and 4 barriers.
// On a CPU, where work-items take turns and the sum of all steps counts, all are one pass of a
// single work-item (that keeps the k first in order): n comparisons and a few moves, 1 or 2
// barriers.
//
// No barrier is inside a condition or a loop that might not run (real.cl says why).
//
// Twin: reference_py/primitives/select.py

#ifndef PRIMITIVES_SELECT_CL
#define PRIMITIVES_SELECT_CL

#include "primitives/rng.cl"

// n_largest and n_smallest rank by counting up to this n, and search a tree k times above.
#ifndef SELECT_BY_RANK
#define SELECT_BY_RANK 64u
#endif

// One pass of a single work-item instead (benchmarks/README.md has the measurement).
#ifndef SELECT_SERIALLY
#define SELECT_SERIALLY DEVICE_IS_CPU
#endif

// The largest n that a program selects from, if it knows: only the variant it needs is compiled.
#ifndef SELECT_MOST
#define SELECT_MOST 0xffffffffu
#endif

// ---------------------------------------------------------------- order

INLINED bool select_is_candidate(const __local real *values, const __local uchar *mask,
                                 const bool masked, const uint i)
{
    return !(masked && mask[i]) && !isnan(values[i]);
}

// Does candidate i come before candidate j?
INLINED bool select_precedes(const __local real *values, const uint i, const uint j,
                             const bool largest)
{
    const real a = values[i], b = values[j];
    return (largest ? a > b : a < b) || (a == b && i < j);
}

// The one of two that comes first; either may be NONE. Associative and commutative, so the shape
// of the tree, and with it L, does not matter.
INLINED uint select_first(const __local real *values, const uint i, const uint j,
                          const bool largest)
{
    if (i == NONE) return j;
    if (j == NONE) return i;
    return select_precedes(values, i, j, largest) ? i : j;
}

// ---------------------------------------------------------------- one extreme, by tree

// `masked` and `largest` are literals at every call, so the compiler drops what is not needed.

// Lowest level of the tree: winners of neighbours, of which the second may not exist.
INLINED void select_pairs(const __local real *values, const __local uchar *mask, const bool masked,
                          const uint n, __local uint *scratch, const bool largest)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    for (uint p = lid; 2u * p < n; p += lanes) {
        const uint i = 2u * p, j = i + 1u;
        const uint a = select_is_candidate(values, mask, masked, i) ? i : NONE;
        const uint b = j < n && select_is_candidate(values, mask, masked, j) ? j : NONE;
        scratch[p] = select_first(values, a, b, largest);
    }
}

// A level above: entries p and p + stride meet in p. No work where stride covers all pairs.
INLINED void select_level(const __local real *values, const uint pairs, const uint stride,
                          __local uint *scratch, const bool largest)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    for (uint p = lid * 2u * stride; p + stride < pairs; p += lanes * 2u * stride)
        scratch[p] = select_first(values, scratch[p], scratch[p + stride], largest);
}

#if SELECT_SERIALLY
// One pass: a later entry has to be better than the best so far.
COLLECTIVE uint select_extreme(const __local real *values, const __local uchar *mask,
                               const bool masked, const uint n, __local uint *scratch,
                               const bool largest)
{
    if (get_local_id(0) == 0) {
        uint first = NONE;
        for (uint i = 0u; i < n; ++i)
            if (select_is_candidate(values, mask, masked, i))
                first = select_first(values, first, i, largest);
        scratch[0] = first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the winner, before all read it
    const uint winner = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the winner, before scratch is used again
    return winner;
}
#else
COLLECTIVE uint select_extreme(const __local real *values, const __local uchar *mask,
                               const bool masked, const uint n, __local uint *scratch,
                               const bool largest)
{
    const uint pairs = n / 2u + n % 2u;
    select_pairs(values, mask, masked, n, scratch, largest);
    barrier(CLK_LOCAL_MEM_FENCE);  // winners of all pairs, before they meet
    uint stride = 1u;
    do {
        select_level(values, pairs, stride, scratch, largest);
        barrier(CLK_LOCAL_MEM_FENCE);  // winners of this level, before the next
        stride *= 2u;
    } while (stride < pairs);
    const uint winner = n > 0u ? scratch[0] : NONE;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the winner, before scratch is used again
    return winner;
}
#endif

// Index of the largest (smallest) unmasked value, or NONE. The mask is not changed.
COLLECTIVE uint extreme_max(const __local real *values, const __local uchar *mask, const uint n,
                            __local uint *scratch)
{
    return select_extreme(values, mask, true, n, scratch, true);
}

COLLECTIVE uint extreme_min(const __local real *values, const __local uchar *mask, const uint n,
                            __local uint *scratch)
{
    return select_extreme(values, mask, true, n, scratch, false);
}

// The same without a mask. (A null mask would not do: on some GPUs 0 is a valid local address.)
COLLECTIVE uint extreme_max_unmasked(const __local real *values, const uint n,
                                     __local uint *scratch)
{
    return select_extreme(values, (const __local uchar *)scratch, false, n, scratch, true);
}

COLLECTIVE uint extreme_min_unmasked(const __local real *values, const uint n,
                                     __local uint *scratch)
{
    return select_extreme(values, (const __local uchar *)scratch, false, n, scratch, false);
}

// ---------------------------------------------------------------- one of the equal extremes

#if SELECT_SERIALLY
// One pass finds the extreme and counts its equals, another continues to the one that was drawn.
COLLECTIVE uint select_random(rng_t *rng, const __local real *values, const __local uchar *mask,
                              const bool masked, const uint n, __local uint *scratch,
                              const bool largest)
{
    if (get_local_id(0) == 0) {
        uint first = NONE, equals = 0u;
        for (uint i = 0u; i < n; ++i) {
            if (!select_is_candidate(values, mask, masked, i)) continue;
            if (first == NONE || select_precedes(values, i, first, largest)) {
                first = i;
                equals = 1u;
            } else if (values[i] == values[first]) {
                ++equals;
            }
        }
        uint left = rng_below(rng, equals), winner = first;
        while (left > 0u) {
            ++winner;
            if (select_is_candidate(values, mask, masked, winner) &&
                values[winner] == values[first])
                --left;
        }
        scratch[0] = winner;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the winner, before all read it
    const uint winner = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before scratch is used again
    return winner;
}
#else
// Index of the set bit with `rank` set bits below it, which must exist.
INLINED uint select_bit(const __local uint *words, uint rank)
{
    uint word = 0u;
    while (popcount(words[word]) <= rank) rank -= popcount(words[word++]);
    uint bits = words[word];
    for (; rank > 0u; --rank) bits &= bits - 1u;  // without its lowest one
    return word * 32u + 31u - clz(bits & (0u - bits));
}

// The equals of the extreme are counted, and marked in a set of bits: in any order, which neither
// the number nor the set remembers. The one with the drawn number of equals before it is chosen.
// Scratch: the count, then the set.
COLLECTIVE uint select_random(rng_t *rng, const __local real *values, const __local uchar *mask,
                              const bool masked, const uint n, __local uint *scratch,
                              const bool largest)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const uint first = select_extreme(values, mask, masked, n, scratch, largest);
    for (uint word = lid; word < n / 32u + (n % 32u != 0u ? 2u : 1u); word += lanes)
        scratch[word] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero and the empty set, before equals are put in
    uint mine = 0u;
    for (uint i = lid; i < n && first != NONE; i += lanes)
        if (select_is_candidate(values, mask, masked, i) && values[i] == values[first]) {
            atomic_or(scratch + 1u + i / 32u, 1u << (i % 32u));
            ++mine;
        }
    if (mine > 0u) atomic_add(scratch, mine);
    barrier(CLK_LOCAL_MEM_FENCE);  // all equals, before one of them is drawn
    if (lid == 0u) {
        const uint rank = rng_below(rng, scratch[0]);
        scratch[0] = rank > 0u ? select_bit(scratch + 1u, rank) : first;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the winner, before all read it
    const uint winner = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before scratch is used again
    return winner;
}
#endif

// Index of the largest (smallest) unmasked value; of several that are equal, one with the same
// chance for each: rank rng_below(number of equals), by ascending index. NONE without a candidate.
// rng: work-item 0's is used, and moves on only if there is a choice; the others' are not touched.
COLLECTIVE uint extreme_max_random(rng_t *rng, const __local real *values,
                                   const __local uchar *mask, const uint n, __local uint *scratch)
{
    return select_random(rng, values, mask, true, n, scratch, true);
}

COLLECTIVE uint extreme_min_random(rng_t *rng, const __local real *values,
                                   const __local uchar *mask, const uint n, __local uint *scratch)
{
    return select_random(rng, values, mask, true, n, scratch, false);
}

COLLECTIVE uint extreme_max_unmasked_random(rng_t *rng, const __local real *values, const uint n,
                                            __local uint *scratch)
{
    return select_random(rng, values, (const __local uchar *)scratch, false, n, scratch, true);
}

COLLECTIVE uint extreme_min_unmasked_random(rng_t *rng, const __local real *values, const uint n,
                                            __local uint *scratch)
{
    return select_random(rng, values, (const __local uchar *)scratch, false, n, scratch, false);
}

// ---------------------------------------------------------------- the k first

// Insertion into the ordered list of the first k so far. A later entry goes behind its equals. By
// one work-item; no barriers.
INLINED void select_k_alone(const __local real *values, __local uchar *mask, const uint n,
                            const uint k, __local uint *results, const bool largest)
{
    uint found = 0u;
    for (uint i = 0u; i < n; ++i) {
        if (!select_is_candidate(values, mask, true, i)) continue;
        if (found == k && (k == 0u || !select_precedes(values, i, results[k - 1u], largest)))
            continue;
        uint place = found < k ? found++ : k - 1u;
        for (; place > 0u && select_precedes(values, i, results[place - 1u], largest); --place)
            results[place] = results[place - 1u];
        results[place] = i;
    }
    for (uint place = 0u; place < found; ++place) mask[results[place]] = 1;
    for (uint place = found; place < k; ++place) results[place] = NONE;
}

#if SELECT_SERIALLY
COLLECTIVE void select_k(const __local real *values, __local uchar *mask, const uint n,
                         const uint k, __local uint *results, __local uint *scratch,
                         const bool largest)
{
    if (get_local_id(0) == 0) select_k_alone(values, mask, n, k, results, largest);
    barrier(CLK_LOCAL_MEM_FENCE);  // winners and mask, for the caller
}
#else
// Ranks: the place of a candidate is the number of candidates before it. Each work-item counts for
// its own entries; places are distinct, so no two work-items write to the same.
INLINED void select_places(const __local real *values, const __local uchar *mask, const uint n,
                           const uint k, __local uint *results, const bool largest)
{
    for (uint i = (uint)get_local_id(0); i < n; i += (uint)get_local_size(0)) {
        if (!select_is_candidate(values, mask, true, i)) continue;
        uint place = 0u;
        for (uint j = 0u; j < n; ++j)
            place += (select_is_candidate(values, mask, true, j) &&
                      select_precedes(values, j, i, largest))
                         ? 1u
                         : 0u;
        if (place < k) results[place] = i;
    }
}

// Two methods, one result. Small n: rank everything, once. Large n: take the extreme by a tree,
// mask it, again k times. Both run through the same barriers, so that none is conditional.
COLLECTIVE void select_k(const __local real *values, __local uchar *mask, const uint n,
                         const uint k, __local uint *results, __local uint *scratch,
                         const bool largest)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const uint pairs = n / 2u + n % 2u;
    const bool by_rank = SELECT_MOST <= SELECT_BY_RANK || n <= SELECT_BY_RANK;
    for (uint place = lid; place < k; place += lanes) results[place] = NONE;
    barrier(CLK_LOCAL_MEM_FENCE);  // NONE everywhere, before winners are put in
    uint round = 0u;
    do {
        if (by_rank)
            select_places(values, mask, n, k, results, largest);
        else
            select_pairs(values, mask, true, n, scratch, largest);
        barrier(CLK_LOCAL_MEM_FENCE);  // ranks: all winners, mask no longer read; tree: all pairs
        uint stride = 1u;
        do {
            if (!by_rank) select_level(values, pairs, stride, scratch, largest);
            barrier(CLK_LOCAL_MEM_FENCE);  // tree: winners of this level, before the next
            stride *= 2u;
        } while (!by_rank && stride < pairs);
        if (by_rank) {
            for (uint place = lid; place < k; place += lanes)
                if (results[place] != NONE) mask[results[place]] = 1;
        } else if (lid == 0u && round < k && scratch[0] != NONE) {
            results[round] = scratch[0];
            mask[scratch[0]] = 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // winners and mask, before the next round or the caller
        ++round;
    } while (!by_rank && round < k);
}
#endif

// results[0 .. k-1] = indices of the k largest (smallest) unmasked values in order, NONE where no
// candidate is left. The mask entries of the winners become 1. Results must not overlap scratch.
COLLECTIVE void n_largest(const __local real *values, __local uchar *mask, const uint n,
                          const uint k, __local uint *results, __local uint *scratch)
{
    select_k(values, mask, n, k, results, scratch, true);
}

COLLECTIVE void n_smallest(const __local real *values, __local uchar *mask, const uint n,
                           const uint k, __local uint *results, __local uint *scratch)
{
    select_k(values, mask, n, k, results, scratch, false);
}

#endif
