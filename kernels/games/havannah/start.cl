// How does a game of a match begin? Nothing is recorded of it yet.
// Twin: reference_py/games/havannah/start.py.
//
// A work-item is a match. No local memory, no barriers. Macros: MOST_MOVES.
#include "primitives/real.cl"

__kernel void start(__global uint *number, __global short *moves, __global int *moves_made,
                    __global short *margin, const uint copies, const uint first_match)
{
    const size_t match = get_global_id(0);
    if (match >= copies) return;
    number[match] = first_match + (uint)match;
    for (uint i = 0; i < MOST_MOVES; ++i) moves[match * MOST_MOVES + i] = -1;
    moves_made[match] = 0;
    margin[match] = 0;
}
