// How does a game of a match begin? At the start position, TOP to move.
// Twin: reference_py/games/kalah/start.py.
//
// A work-item is a match. No local memory, no barriers.
#include "games/kalah/match.cl"

__kernel void start(__global uchar *board, __global uchar *to_move, __global uchar *asked,
                    __global ulong *stream, __global char *moves, __global int *moves_made,
                    __global short *margin, __global long *searched, const uint copies,
                    const uint first_match, const uint tick, const uint stones, const int opening,
                    const ulong stream_base)
{
    const size_t match = get_global_id(0);
    if (match >= copies) return;
    for (uint i = 0; i < CELLS; ++i)
        board[match * CELLS + i] = i % (PITS + 1u) == PITS ? 0 : (uchar)stones;
    to_move[match] = TOP;
    // Those of the game before; there is nothing after them.
    for (int i = 0; i < moves_made[match]; ++i) moves[match * MOST_MOVES + i] = -1;
    moves_made[match] = 0;
    margin[match] = 0;
    searched[2u * match] = searched[2u * match + 1u] = 0;
    const uint number = first_match + (uint)match;
    stream[match] = rng_pack(stream_of(stream_base, number, tick, 0, opening));
    asked[match] = asked_next(TOP, tick, 0, opening);
}
