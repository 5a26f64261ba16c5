// Where does the counting of a depth begin? At the game's own position, the only one of level 0.
// Twin: reference_py/games/chess/begin.py.
//
// A work-item is a game. No local memory, no barriers.
#include "games/chess/perft.cl"

__kernel void begin(__global ulong *sets, __global uint *counts, __global const ulong *given_sets,
                    const uint given, const uint copies, const uint first_game, const uint levels,
                    const uint positions)
{
    const size_t game = get_global_id(0);
    if (game >= copies) return;
    const size_t own = (first_game + game) % given;
    for (uint i = 0; i < SETS; ++i)
        sets[(game * SETS + i) * positions] = given_sets[own * SETS + i];
    for (uint i = 0; i < levels; ++i) counts[game * levels + i] = i == 0u ? 1u : 0u;
}
