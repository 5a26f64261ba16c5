// Which boards does a player search? Those of the matches in which it is asked for a move.
// Twin: reference_py/games/kalah/ask.py.
//
// A work-item is a match. No local memory, no barriers.
#include "games/kalah/match.cl"

__kernel void ask(__global const uchar *board, __global const uchar *to_move,
                  __global const uchar *asked, __global uchar *boards, __global uchar *movers,
                  __global uint *counts, __global long *frontier, __global long *boards_per_launch,
                  const uint copies, const uint board_count, const uint player)
{
    const size_t match = get_global_id(0), root = match * board_count;
    if (match >= copies) return;
    const bool is_asked = asked[match] == (player == 0u ? FIRST : SECOND);
    for (uint i = 0; i < LEVELS; ++i) counts[match * LEVELS + i] = i == 0u && is_asked;
    frontier[match] = boards_per_launch[match] = 0;
    if (!is_asked) return;
    for (uint i = 0; i < CELLS; ++i) boards[root * CELLS + i] = board[match * CELLS + i];
    movers[root] = to_move[match];
}
