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

// Any pit that is not empty, each with the same probability. Each has the highest bit of its byte
// in `filled`; the drawn one is the lowest that is left when as many as `left` are taken away.
static uint any_move(const view_t board, rng_t *rng)
{
    const ulong low = 0x7f7f7f7f7f7f7f7ful;
    ulong filled = (((board.own & low) + low) | board.own) & ~low;
    for (uint left = rng_below(rng, (uint)popcount(filled)); left > 0u; --left)
        filled &= filled - 1ul;
    return (uint)popcount((filled & (0ul - filled)) - 1ul) / 8u;
}

// The kind of player who is asked for a move.
static uint kind_asked(const uchar asked, const uint first_kind, const uint second_kind)
{
    return asked == CHANCE ? RANDOM : asked == FIRST ? first_kind : second_kind;
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
    int side = to_move[match], made = moves_made[match];
    uchar who = asked[match];
    view_t now = view_of(cells, side);
    uint banked[2] = {cells[CELLS - 1], cells[PITS]};  // by side
    rng_t rng = rng_load(stream[match]);
    uint kind = kind_asked(who, first_kind, second_kind);
    do {
        const uint player = player_of(side, tick), start = side == TOP ? PITS + 1u : 0u;
        uint i;
        if (kind == RANDOM)
            i = any_move(now, &rng);
        else if (kind == BONZO)
            i = bonzo(now);
        else {
            i = (uint)pit[match] - start;
            searched[2u * match + player] += nodes[match];
        }
        const moved_t after = play(now, i);
        banked[side] += after.banked;
        moves[match * MOST_MOVES + made] = (char)(start + i);
        ++made;
        side = after.again ? side : BOTTOM - side;
        now = next_view(after);
        if (is_over(now) || made == MOST_MOVES)
            who = NOBODY;
        else {
            if (made == opening)
                rng = stream_of(stream_base, first_match + (uint)match, tick, made, opening);
            who = asked_next(side, tick, made, opening);
        }
        kind = kind_asked(who, first_kind, second_kind);
    } while (who != NOBODY && (kind == RANDOM || kind == BONZO));
    int ahead = (int)banked[TOP] - (int)banked[BOTTOM];
    for (uint k = 0; k < PITS; ++k) {
        const uint own = STONES(now.own, k), other = STONES(now.other, k);
        cells[k] = (uchar)(side == TOP ? other : own);
        cells[PITS + 1u + k] = (uchar)(side == TOP ? own : other);
        ahead += (int)cells[PITS + 1u + k] - (int)cells[k];
    }
    cells[PITS] = (uchar)banked[BOTTOM];
    cells[CELLS - 1] = (uchar)banked[TOP];
    to_move[match] = side;
    moves_made[match] = made;
    stream[match] = rng_pack(rng);
    asked[match] = who;
    if (who == NOBODY) margin[match] = (short)(player_of(TOP, tick) == 0u ? ahead : -ahead);
}
