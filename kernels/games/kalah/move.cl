// Which moves are made, and what becomes of the game?
// Twin: reference_py/games/kalah/move.py.
//
// A work-item is a match. Moves are made until the game is over or a player has to search; the
// board is in registers meanwhile. On a CPU a work-item plays SIDE_BY_SIDE matches of two random
// players side by side, and those after it have nothing to do. No local memory, no barriers.
#include "games/kalah/lanes.cl"

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

// A game while moves are made.
typedef struct {
    view_t now;
    ulong banked;  // of TOP, and in the upper half of BOTTOM
    ulong stream;
    int side, made;
} game_t;

// The game as it is in memory.
static game_t game_of(__global const uchar *cells, const int side, const ulong stream,
                      const int made)
{
    game_t game;
    game.now = view_of(cells, side);
    game.banked = cells[CELLS - 1] | (ulong)cells[PITS] << 32;
    game.stream = stream;
    game.side = side;
    game.made = made;
    return game;
}

// Write the board of a game; returns how far TOP is ahead.
static int put_game(__global uchar *cells, const game_t game)
{
    int ahead = (int)(uint)game.banked - (int)(game.banked >> 32);
    for (uint k = 0; k < PITS; ++k) {
        const uint own = STONES(game.now.own, k), other = STONES(game.now.other, k);
        cells[k] = (uchar)(game.side == TOP ? other : own);
        cells[PITS + 1u + k] = (uchar)(game.side == TOP ? own : other);
        ahead += (int)cells[PITS + 1u + k] - (int)cells[k];
    }
    cells[PITS] = (uchar)(game.banked >> 32);
    cells[CELLS - 1] = (uchar)game.banked;
    return ahead;
}

// Record all moves of a game in the log of the tick, and take away what another tick had there:
// eight of them in a word, -1 where there is none.
static void log_moves(__global char *row, __global const char *moves, const int made)
{
    __global ulong *to = (__global ulong *)row;
    __global const ulong *from = (__global const ulong *)moves;
    uint word = 0u;
    for (; 8u * word < (uint)made; ++word) to[word] = from[word];
    for (; 8u * word < MOST_MOVES && to[word] != ~0ul; ++word) to[word] = ~0ul;
}

#if DEVICE_IS_CPU
// Play whole random games, one for each lane, from the first move on; returns whether that is what
// they are. If not, nothing is changed but moves that are made again.
static bool play_lanes(game_t *games, __global char *moves, const ulong stream_base,
                       const uint first_match, const uint tick, const int opening)
{
    union {
        ulong8 all;
        ulong each[SIDE_BY_SIDE];
    } own, other, side, banked, stream, made;
    lanes_t at;
    for (uint lane = 0; lane < SIDE_BY_SIDE; ++lane) {
        own.each[lane] = games[lane].now.own;
        other.each[lane] = games[lane].now.other;
        side.each[lane] = games[lane].side == TOP ? 0ul : ~0ul;
        banked.each[lane] = games[lane].banked;
        stream.each[lane] = games[lane].stream;
    }
    at.own = own.all;
    at.other = other.all;
    at.side = side.all;
    at.banked = banked.all;
    at.stream = stream.all;
    at.live = ~(ulong8)(0ul);
    at.made = at.rare = (ulong8)(0ul);
    for (int n = 0; n < MOST_MOVES && any_bit(at.live); n += MOVES_AT_ONCE) {
        ulong8 cells = (ulong8)(0ul);
        for (int k = 0; k < MOVES_AT_ONCE; ++k) {
            if (n + k == opening && opening > 0) {
                stream.all = at.stream;
                made.all = at.live;
                for (uint lane = 0; lane < SIDE_BY_SIDE; ++lane)
                    if (made.each[lane])
                        stream.each[lane] = rng_pack(
                            stream_of(stream_base, first_match + lane, tick, opening, opening));
                at.stream = stream.all;
            }
            cells |= random_move_of_each(&at) << (ulong)(8 * k);
        }
        made.all = cells;
        for (uint lane = 0; lane < SIDE_BY_SIDE; ++lane)
            for (int k = 0; k < MOVES_AT_ONCE; ++k)
                moves[lane * MOST_MOVES + n + k] = (char)(made.each[lane] >> (8 * k));
    }
    own.all = at.own;
    other.all = at.other;
    side.all = at.side;
    banked.all = at.banked;
    stream.all = at.stream;
    made.all = at.made;
    const bool usual = !any_bit(at.rare);
    for (uint lane = 0; lane < SIDE_BY_SIDE; ++lane) {
        if (usual) {
            games[lane].now.own = own.each[lane];
            games[lane].now.other = other.each[lane];
            games[lane].side = side.each[lane] == 0ul ? TOP : BOTTOM;
            games[lane].banked = banked.each[lane];
            games[lane].stream = stream.each[lane];
            games[lane].made = (int)made.each[lane];
        } else
            for (int i = 0; i < (int)made.each[lane]; ++i) moves[lane * MOST_MOVES + i] = -1;
    }
    return usual;
}
#endif

// Make moves of a game until it is over or a player has to search; the first one is by a player of
// this kind, of `by_search` if it is one that searches. Returns whether the game is over.
static bool play_on(game_t *game, __global char *moves, const uint *kinds, const uint by_search,
                    const ulong stream_base, const uint match, const uint tick, const int opening)
{
    view_t now = game->now;
    ulong banked = game->banked;
    rng_t rng = rng_load(game->stream);
    int side = game->side, made = game->made;
    uint kind = made < opening ? RANDOM : kinds[side];
    bool ends;
    do {
        const uint i = kind == RANDOM  ? any_move(now, &rng)
                       : kind == BONZO ? bonzo(now)
                                       : by_search;
        const moved_t after = play(now, i);
        banked += (ulong)after.banked << (32 * side);
        moves[made] = (char)((side == TOP ? PITS + 1u : 0u) + i);
        ++made;
        side = after.again ? side : BOTTOM - side;
        now = next_view(after);
        ends = is_over(now) || made == MOST_MOVES;
        if (made == opening && !ends) rng = stream_of(stream_base, match, tick, made, opening);
        kind = made < opening ? RANDOM : kinds[side];
    } while (!ends && (kind == RANDOM || kind == BONZO));
    game->now = now;
    game->banked = banked;
    game->stream = rng_pack(rng);
    game->side = side;
    game->made = made;
    return ends;
}

__kernel void move(__global uchar *board, __global uchar *to_move, __global uchar *asked,
                   __global ulong *stream, __global const short *pit, __global const long *nodes,
                   __global char *moves, __global char *moves_log, __global int *moves_made,
                   __global short *margin, __global long *searched, const uint copies,
                   const uint first_match, const uint tick, const uint log_row,
                   const uint first_kind, const uint second_kind, const int opening,
                   const ulong stream_base)
{
    const size_t first = get_global_id(0);
    if (first >= copies) return;
    const uint kinds[2] = {player_of(0, tick) == 0u ? first_kind : second_kind,
                           player_of(1, tick) == 0u ? first_kind : second_kind};  // by side
    uint matches = 1u;
    bool played = false;
    game_t games[SIDE_BY_SIDE];
#if DEVICE_IS_CPU
    if (first_kind == RANDOM && second_kind == RANDOM &&
        first - first % SIDE_BY_SIDE + SIDE_BY_SIDE <= copies) {
        if (first % SIDE_BY_SIDE != 0u) return;
        matches = SIDE_BY_SIDE;
        played = true;
        for (uint k = 0; k < SIDE_BY_SIDE; ++k) {
            const size_t match = first + k;
            played &= asked[match] != NO_PLAYER && moves_made[match] == 0;
            games[k] = game_of(board + match * CELLS, to_move[match], stream[match], 0);
        }
        if (played)
            played = play_lanes(games, moves + first * MOST_MOVES, stream_base,
                                first_match + (uint)first, tick, opening);
    }
#endif
    for (uint k = 0; k < matches; ++k) {
        const size_t match = first + k;
        if (asked[match] == NO_PLAYER) continue;
        __global uchar *cells = board + match * CELLS;
        __global char *own_moves = moves + match * MOST_MOVES;
        bool ends = played;
        if (!played) {
            const int side = to_move[match], made = moves_made[match];
            games[k] = game_of(cells, side, stream[match], made);
            const uint kind = made < opening ? RANDOM : kinds[side];
            uint by_search = 0u;
            if (kind != RANDOM && kind != BONZO) {
                by_search = (uint)pit[match] - (side == TOP ? PITS + 1u : 0u);
                searched[2u * match + player_of(side, tick)] += nodes[match];
            }
            ends = play_on(&games[k], own_moves, kinds, by_search, stream_base,
                           first_match + (uint)match, tick, opening);
        }
        const game_t game = games[k];
        const int ahead = put_game(cells, game);
        to_move[match] = (uchar)game.side;
        moves_made[match] = game.made;
        stream[match] = game.stream;
        asked[match] = ends ? NO_PLAYER : asked_next(game.side, tick, game.made, opening);
        if (!ends) continue;
        margin[match] = (short)(player_of(TOP, tick) == 0u ? ahead : -ahead);
        log_moves(moves_log + ((size_t)log_row * copies + match) * MOST_MOVES, own_moves,
                  game.made);
    }
}
