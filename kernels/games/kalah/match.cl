// What do the phases of a match share: who is asked for a move, and by which random numbers?
// Twin: reference_py/games/kalah/match.py.
//
// Macros: MOST_MOVES, STREAM_GAP, PAIR_STREAMS, MOST_PAIRS.
#ifndef GAMES_KALAH_MATCH_CL
#define GAMES_KALAH_MATCH_CL

#include "games/kalah/search.cl"
#include "primitives/rng.cl"

// Who is asked for the next move: a player, chance in the opening, none once the game is over.
#define FIRST 1
#define SECOND 2
#define CHANCE 4
#define NO_PLAYER 0

// Kinds of players that do not search; the number of any other kind is that of a search.
#define BONZO 1
#define RANDOM 2

// Which player has a side: TOP, who begins, is player 0 in games 1, 3, 5, ...
static uint player_of(const int side, const uint tick)
{
    return ((side == TOP) == (tick % 2u == 1u)) ? 0u : 1u;
}

// Who is asked for the next move of a game that continues, after the given number of moves.
static uchar asked_next(const int side, const uint tick, const int made, const int opening)
{
    if (made < opening) return CHANCE;
    return player_of(side, tick) == 0u ? FIRST : SECOND;
}

// The number of the stream of random numbers from here on: that of the pair's opening, then the
// game's own.
static ulong stream_number(const uint match, const uint tick, const int made, const int opening)
{
    const ulong pair = (tick - 1u) / 2u, own = made < opening ? 0ul : 1ul + (tick - 1u) % 2u;
    return ((ulong)match * MOST_PAIRS + pair) * PAIR_STREAMS + own;
}

// The random numbers from here on.
static rng_t stream_of(const ulong stream_base, const uint match, const uint tick, const int made,
                       const int opening)
{
    return rng_seed(stream_base, STREAM_GAP, stream_number(match, tick, made, opening));
}

// How many matches a work-item of `start` and of `move` takes: on a CPU as many as a vector has
// lanes.
#if DEVICE_IS_CPU
#define SIDE_BY_SIDE 8u
#else
#define SIDE_BY_SIDE 1u
#endif

#endif
