// What was counted below the game's own position, and below each of its moves?
// Twin: reference_py/games/chess/answer.py.
//
// A work-item is a game. `children` is where the positions of level 1 begin; 0: there are none, as
// each move is a sequence of its own. No local memory, no barriers. Macros: MOST_MOVES.
#include "games/chess/perft.cl"

__kernel void answer(__global const ulong *sets, __global const long *tallies, __global long *nodes,
                     __global long *details, __global ushort *root_moves, __global long *divided,
                     const uint copies, const uint positions, const uint children)
{
    const size_t game = get_global_id(0);
    if (game >= copies) return;
    __global const long *own = tallies + game * KINDS * positions;
    nodes[game] = own[0];
    for (uint i = 0; i < DETAILS; ++i)
        details[game * DETAILS + i] = i + 1u < KINDS ? own[(i + 1u) * positions] : 0;
    const position_t position = position_at(sets + game * SETS * positions, 0, positions);
    const limits_t limits = limits_of(position);
    moves_t all = moves(position);
    uint i = 0;
    while (next_move(position, limits, &all)) {
        root_moves[game * MOST_MOVES + i] =
            (ushort)(number_of(all.move.start) | (number_of(all.move.end) << 6) |
                     (all.move.promotion << 12));
        divided[game * MOST_MOVES + i] = children > 0u ? own[children + i] : 1;
        ++i;
    }
    for (; i < MOST_MOVES; ++i)
        root_moves[game * MOST_MOVES + i] = divided[game * MOST_MOVES + i] = 0;
}
