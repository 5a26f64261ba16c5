// Which move is made, and what becomes of the game?
// Twin: reference_py/games/kalah/move.py.
//
// A work-item is a match. No local memory, no barriers.
#include "games/kalah/match.cl"

// Bonzo's pit: the nearest to the own store whose stones reach exactly the store, or else the
// nearest that is not empty.
static uint bonzo(const view_t board)
{
    uint nearest = PITS;
    for (uint back = 1; back <= PITS; ++back) {
        const uint i = PITS - back, stones = STONES(board.own, i);
        if (stones == back) return i;
        if (nearest == PITS && stones > 0u) nearest = i;
    }
    return nearest;
}

// Any pit that is not empty, each with the same probability.
static uint any_move(const view_t board, __global ulong *stream)
{
    rng_t rng = rng_load(*stream);
    uint count = 0u, i = 0u;
    for (uint k = 0; k < PITS; ++k) count += STONES(board.own, k) > 0u ? 1u : 0u;
    uint left = rng_below(&rng, count);
    *stream = rng_pack(rng);
    for (; i + 1u < PITS; ++i)
        if (STONES(board.own, i) > 0u && left-- == 0u) break;
    return i;
}

__kernel void move(__global uchar *board, __global uchar *to_move, __global uchar *asked,
                   __global ulong *stream, __global const short *pit, __global const long *nodes,
                   __global char *moves, __global int *moves_made, __global short *margin,
                   __global long *searched, const uint copies, const uint first_match,
                   const uint tick, const uint first_kind, const uint second_kind,
                   const int opening, const ulong stream_base)
{
    const size_t match = get_global_id(0);
    if (match >= copies || asked[match] == NOBODY) return;
    const int side = to_move[match];
    const uint player = player_of(side, tick), start = side == TOP ? PITS + 1u : 0u;
    const uint own_kind = player == 0u ? first_kind : second_kind;
    const uint kind = asked[match] == CHANCE ? RANDOM : own_kind;
    const view_t before = view_of(board + match * CELLS, side);
    uint i;
    if (kind == RANDOM)
        i = any_move(before, stream + match);
    else if (kind == BONZO)
        i = bonzo(before);
    else {
        i = (uint)pit[match] - start;
        searched[2u * match + player] += nodes[match];
    }
    const moved_t after = play(before, i);
    put_board(board + match * CELLS, board + match * CELLS, side, after);
    const int next = after.again ? side : BOTTOM - side, made = moves_made[match];
    to_move[match] = next;
    moves[match * MOST_MOVES + made] = (char)(start + i);
    moves_made[match] = made + 1;
    if (is_over(next_view(after)) || made + 1 == MOST_MOVES) {
        int ahead = 0;  // TOP's stones minus BOTTOM's: pits and stores
        for (uint k = 0; k <= PITS; ++k) {
            ahead += board[match * CELLS + PITS + 1u + k];
            ahead -= board[match * CELLS + k];
        }
        margin[match] = (short)(player_of(TOP, tick) == 0u ? ahead : -ahead);
        asked[match] = NOBODY;
    } else {
        const uint number = first_match + (uint)match;
        if (made + 1 == opening)
            stream[match] = rng_pack(stream_of(stream_base, number, tick, made + 1, opening));
        asked[match] = asked_next(next, tick, made + 1, opening);
    }
}
