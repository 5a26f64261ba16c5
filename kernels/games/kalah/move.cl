// Which moves are made, and what becomes of the game?
// Twin: reference_py/games/kalah/move.py.
//
// A work-item is a match. Moves are made until the game is over or a player has to search; the
// board is in registers meanwhile. No local memory, no barriers.
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

// Any pit that is not empty, each with the same probability. `up_to` has in each byte how many of
// the pits up to it have stones, so the pit drawn is the number of bytes with no more than were
// drawn: a loop over pits would mispredict most of its ends.
static uint any_move(const view_t board, rng_t *rng)
{
    const ulong one = 0x0101010101010101ul, high = one << 7, low = ~high;
    const ulong filled = (((board.own & low) + low) | board.own) & high;
    const ulong up_to = (filled >> 7) * one;
    const uint drawn = rng_below(rng, (uint)(up_to >> 56));
    const ulong before = (((drawn * one) | high) - up_to) & high;
    return (uint)(((before >> 7) * one) >> 56);
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
    __global uchar *cells = board + match * CELLS;
    const uint kinds[2] = {player_of(0, tick) == 0u ? first_kind : second_kind,
                           player_of(1, tick) == 0u ? first_kind : second_kind};  // by side
    int side = to_move[match], made = moves_made[match];
    view_t now = view_of(cells, side);
    ulong banked = cells[CELLS - 1] | (ulong)cells[PITS] << 32;  // of TOP, and in the upper half
    rng_t rng = rng_load(stream[match]);
    uint kind = made < opening ? RANDOM : kinds[side];
    bool ends;
    do {
        const uint start = side == TOP ? PITS + 1u : 0u;
        uint i;
        if (kind == RANDOM)
            i = any_move(now, &rng);
        else if (kind == BONZO)
            i = bonzo(now);
        else {
            i = (uint)pit[match] - start;
            searched[2u * match + player_of(side, tick)] += nodes[match];
        }
        const moved_t after = play(now, i);
        banked += (ulong)after.banked << (32 * side);
        moves[match * MOST_MOVES + made] = (char)(start + i);
        ++made;
        side = after.again ? side : BOTTOM - side;
        now = next_view(after);
        ends = is_over(now) || made == MOST_MOVES;
        if (made == opening && !ends)
            rng = stream_of(stream_base, first_match + (uint)match, tick, made, opening);
        kind = made < opening ? RANDOM : kinds[side];
    } while (!ends && (kind == RANDOM || kind == BONZO));
    const uchar who = ends ? NOBODY : asked_next(side, tick, made, opening);
    int ahead = (int)(uint)banked - (int)(banked >> 32);
    for (uint k = 0; k < PITS; ++k) {
        const uint own = STONES(now.own, k), other = STONES(now.other, k);
        cells[k] = (uchar)(side == TOP ? other : own);
        cells[PITS + 1u + k] = (uchar)(side == TOP ? own : other);
        ahead += (int)cells[PITS + 1u + k] - (int)cells[k];
    }
    cells[PITS] = (uchar)(banked >> 32);
    cells[CELLS - 1] = (uchar)banked;
    to_move[match] = side;
    moves_made[match] = made;
    stream[match] = rng_pack(rng);
    asked[match] = who;
    if (who == NOBODY) margin[match] = (short)(player_of(TOP, tick) == 0u ? ahead : -ahead);
}
