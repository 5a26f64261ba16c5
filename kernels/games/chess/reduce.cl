// What is counted below the positions of a level, now that those which follow them are known?
// Twin: reference_py/games/chess/reduce.py.
//
// A workgroup is a part of the positions, a work-item every n-th of them. No local memory, no
// barriers.
#include "games/chess/perft.cl"

__kernel void reduce(__global const uint *counts, __global const uint *first,
                     __global long *tallies, const uint copies, const uint levels,
                     const uint positions, const uint level, const uint parents,
                     const uint children, const uint skip, const uint most)
{
    const size_t game = GAME;
    const uint n = batch(counts[game * levels + level], skip, most);
    const uint all = counts[game * levels + level + 1u];
    const uint begin = PART_OF_GAME * PART, end = min(begin + PART, n);
    for (uint k = begin + get_local_id(0); k < end; k += get_local_size(0)) {
        const size_t at = parents + skip + k;
        __global const uint *from = first + game * positions + at;
        const uint last = k + 1u < n ? from[1] : all;
        for (uint i = 0; i < KINDS; ++i) {
            __global long *own = tallies + (game * KINDS + i) * positions;
            long sum = 0;
            for (uint child = from[0]; child < last; ++child) sum += own[children + child];
            own[at] = sum;
        }
    }
}
