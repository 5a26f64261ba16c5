// permute.cl: a random order of 0 .. n-1, and a random division into pairs.
//
// Fisher and Yates (R. Durstenfeld, "Algorithm 235: Random permutation", 1964): from the last
// place down, each takes one of the entries up to and with its own. Every order is equally likely,
// because every draw is unbiased (rng.cl) and independent of the others.
//
// Contract of every function: called by all work-items of a one-dimensional workgroup of any size
// L, with the same arguments except rng; any n below 2^31, also 0 and above L. The draws of a
// stream have an order, so work-item 0 draws with its rng, which moves on; the others' are not
// touched (they may be undefined). The caller has ordered earlier reads of the results by a
// barrier; the last barrier inside lets all read them at once. The result does not depend
// on L. n <= 1: nothing drawn.
//
// Cost in steps of the slowest work-item: n - 1 draws and exchanges, all of them work-item 0's, and
// n / L more; 2 barriers (random_matching 3). There is no version for GPUs only: draws that
// work-items make at the same time would be other draws.
//
// Twin: reference_py/primitives/permute.py

#ifndef PRIMITIVES_PERMUTE_CL
#define PRIMITIVES_PERMUTE_CL

#include "primitives/rng.cl"

// order[0 .. n-1] = the numbers 0 .. n-1 in random order. No other memory.
COLLECTIVE void random_permutation(rng_t *rng, __local uint *order, uint n)
{
    n = opaque(n);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    for (uint i = lid; i < n; i += lanes) order[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);  // all numbers in place, before they are shuffled
    if (lid == 0u) {
        for (uint last = n; last > 1u; --last) {
            const uint place = rng_below(rng, last);
            const uint taken = order[place];
            order[place] = order[last - 1u];
            order[last - 1u] = taken;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the random order, before all read it
}

// The same order from the same draws, in global memory, by one workgroup.
COLLECTIVE void random_permutation_global(rng_t *rng, __global int *order, uint n)
{
    n = opaque(n);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    for (uint i = lid; i < n; i += lanes) order[i] = (int)i;
    barrier(CLK_GLOBAL_MEM_FENCE);  // all numbers in place, before they are shuffled
    if (lid == 0u) {
        for (uint last = n; last > 1u; --last) {
            const uint place = rng_below(rng, last);
            const int taken = order[place];
            order[place] = order[last - 1u];
            order[last - 1u] = taken;
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);  // the random order, before all read it
}

// partner[i] = j and partner[j] = i for the pairs of a uniformly random perfect matching of
// 0 .. n-1: neighbours 2 p and 2 p + 1 of a random permutation. For odd n one is left, with
// partner NONE. Scratch: n words, the permutation afterwards; it must not overlap partner.
COLLECTIVE void random_matching(rng_t *rng, __local uint *partner, uint n, __local uint *scratch)
{
    n = opaque(n);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    random_permutation(rng, scratch, n);
    for (uint i = lid; i < n; i += lanes) {
        const uint other = i ^ 1u;
        partner[scratch[i]] = other < n ? scratch[other] : NONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all partners, before all read them or fills scratch
}

#endif
