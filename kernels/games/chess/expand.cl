// Which positions follow those of a level? All moves of all of them, in order, level after level.
// Twin: reference_py/games/chess/expand.py.
//
// Four launches. Where the positions that follow one begin is the running sum of how many follow
// those before it: they are counted, added up in blocks of WIDE_BLOCK (wide.cl), then over blocks;
// then they are made.
#include "games/chess/perft.cl"
#include "primitives/wide.cl"

// A workgroup is a part of the positions, a work-item every n-th of them. No local memory, no
// barriers.
__kernel void count_moves_of_all(__global const ulong *sets, __global const uint *counts,
                                 __global uint *first, const uint copies, const uint levels,
                                 const uint positions, const uint level, const uint parents,
                                 const uint skip, const uint most)
{
    const size_t game = GAME;
    const uint n = batch(counts[game * levels + level], skip, most);
    const uint begin = PART_OF_GAME * PART, end = min(begin + PART, n);
    for (uint k = begin + get_local_id(0); k < end; k += get_local_size(0)) {
        const size_t at = parents + skip + k;
        first[game * positions + at] =
            count_moves(position_at(sets + game * SETS * positions, at, positions));
    }
}

// A workgroup is a block of positions. Local memory: of wide.cl.
__kernel void sum_blocks(__global const uint *counts, __global uint *first, __global uint *sums,
                         const uint copies, const uint levels, const uint positions,
                         const uint blocks, const uint level, const uint parents, const uint skip,
                         const uint most)
{
    const size_t game = GAME;
    const uint block = PART_OF_GAME, begin = block * WIDE_BLOCK;
    const uint n = batch(counts[game * levels + level], skip, most);
    const uint here = begin < n ? min(n - begin, WIDE_BLOCK) : 0u;
    const uint sum = wide_scan_exclusive(first + game * positions + parents + skip + begin, here);
    if (get_local_id(0) == 0) sums[game * blocks + block] = sum;
}

// A workgroup is a game, a work-item every n-th of its blocks. Local memory: of wide.cl.
__kernel void sum_all(__global uint *sums, __global uint *counts, const uint levels,
                      const uint blocks, const uint level, const uint skip, const uint most)
{
    const size_t game = get_group_id(0);
    const uint n = batch(counts[game * levels + level], skip, most);
    const uint used = n / WIDE_BLOCK + (n % WIDE_BLOCK > 0u ? 1u : 0u);
    const uint all = wide_scan_exclusive(sums + game * blocks, used);
    if (get_local_id(0) == 0) counts[game * levels + level + 1u] = all;
}

// A workgroup is a part of the positions, a work-item every n-th of them. No local memory, no
// barriers.
__kernel void expand(__global ulong *sets, __global const uint *counts, __global uint *first,
                     __global const uint *sums, const uint copies, const uint levels,
                     const uint positions, const uint blocks, const uint level, const uint parents,
                     const uint children, const uint skip, const uint most)
{
    const size_t game = GAME;
    __global ulong *own = sets + game * SETS * positions;
    const uint n = batch(counts[game * levels + level], skip, most);
    const uint begin = PART_OF_GAME * PART, end = min(begin + PART, n);
    for (uint k = begin + get_local_id(0); k < end; k += get_local_size(0)) {
        const size_t at = parents + skip + k;
        const uint place = first[game * positions + at] + sums[game * blocks + k / WIDE_BLOCK];
        first[game * positions + at] = place;
        const position_t position = position_at(own, at, positions);
        const limits_t limits = limits_of(position);
        moves_t all = moves(position);
        size_t child = children + place;
        while (next_move(position, limits, &all))
            put_position(own, child++, positions, play(position, all.move));
    }
}
