// What was found of the game's own board? It is the result of the search.
// Twin: reference_py/games/kalah/answer.py.
//
// A work-item is a game. No local memory, no barriers.
#include "games/kalah/search.cl"

__kernel void answer(__global const int *board_score, __global const short *board_pit,
                     __global const long *board_nodes, __global const long *board_leaves,
                     __global const long *board_finished, __global int *score, __global short *pit,
                     __global long *nodes, __global long *leaves, __global long *finished,
                     const uint copies, const uint board_count)
{
    const size_t game = get_global_id(0), at = game * board_count;
    if (game >= copies) return;
    score[game] = board_score[at];
    pit[game] = board_pit[at];
    nodes[game] = board_nodes[at];
    leaves[game] = board_leaves[at];
    finished[game] = board_finished[at];
}
