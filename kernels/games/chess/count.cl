// What is counted below each position of the last level that is stored?
// Twin: reference_py/games/chess/count.py.
//
// A workgroup is a part of the positions, a work-item every n-th of them, which it searches
// depth first. A long launch is several, of which each has the workgroups from `first_group` on. No
// local memory, no barriers.
#include "games/chess/perft.cl"

__kernel void count(__global const ulong *sets, __global const uint *counts, __global long *tallies,
                    const uint copies, const uint levels, const uint positions, const uint level,
                    const uint parents, const uint skip, const uint most, const uint plies,
                    const uint first_group)
{
    const uint parts = (most + PART - 1u) / PART, group = first_group + (uint)get_group_id(0);
    const size_t game = group / parts;
    const uint n = batch(counts[game * levels + level], skip, most);
    const uint begin = group % parts * PART, end = min(begin + PART, n);
    for (uint k = begin + get_local_id(0); k < end; k += get_local_size(0)) {
        const size_t at = parents + skip + k;
        tally_t tally;
        perft(position_at(sets + game * SETS * positions, at, positions), plies, &tally);
        for (uint i = 0; i < KINDS; ++i) tallies[(game * KINDS + i) * positions + at] = tally.of[i];
    }
}
