// How does a game end that continues at random, and how is its end written in 16 bits?
// Twin: reference_py/games/havannah/playout.py.
//
// A work-item plays WIDTH games at once if all stones are placed first (offline.cl), else one. The
// empty spots of its position come first in `spots`, the others after them. A game's board is in
// private, local or global memory. No barriers. Macros: WINNER, one of the WINNER_ words; MEMORY,
// one of the MEMORY_ words; HELD_ITEMS, the most work-items of a group whose boards are in local
// memory.
#ifndef GAMES_HAVANNAH_PLAYOUT_CL
#define GAMES_HAVANNAH_PLAYOUT_CL

#include "games/havannah/flood.cl"
#include "games/havannah/forest.cl"
#include "primitives/rng.cl"

// Where reasons and result begin in an outcome; below are the stones that were placed.
#define REASONS 9
#define RESULT 12

// Results, as who made the candidate move sees them.
#define DRAW 0u
#define WON 1u
#define LOST 2u

// Draws between the starts of neighbouring streams.
#define STREAM_GAP 1024ul

// A position from which playouts start, in global memory.
typedef struct {
    __global const ushort *spots;  // CELLS of them, the empty ones first
    __global const uint *rows;  // 2 * PADDED, of who moves next, then of the other side
    __global const ushort *parents;  // SPOTS
    __global const ushort *masks;  // SPOTS, the same for all positions
    __global const uint *marks;  // 12 * PADDED, the same for all positions
    uint empty;  // number of empty spots
} start_t;

// The board of a playout: its rows, empty spots and groups.
typedef struct {
    HELD uint *rows;  // 2 * PADDED
    HELD ushort *spots;  // CELLS
    HELD ushort *parent;  // SPOTS
} held_t;

#define HELD_WORDS (2 * PADDED + (CELLS + SPOTS + 1) / 2)

// Declare `held`, the board of this work-item; kernels have the parameter `boards` for it, of which
// only MEMORY_GLOBAL makes use.
#if MEMORY == MEMORY_PRIVATE
#define HOLD_BOARD \
    uint rows_held[2 * PADDED]; \
    ushort spots_held[CELLS], parent_held[SPOTS]; \
    held_t held; \
    held.rows = rows_held; \
    held.spots = spots_held; \
    held.parent = parent_held;
#else
#if MEMORY == MEMORY_LOCAL
#define HELD_WORDS_BEGIN \
    __local uint *all_held = local_malloc(HELD_ITEMS * HELD_WORDS * sizeof(uint)); \
    HELD uint *words_held = all_held + get_local_id(0) * HELD_WORDS;
#else
#define HELD_WORDS_BEGIN HELD uint *words_held = boards + get_global_id(0) * HELD_WORDS;
#endif
#define HOLD_BOARD \
    HELD_WORDS_BEGIN \
    held_t held; \
    held.rows = words_held; \
    held.spots = (HELD ushort *)(words_held + 2 * PADDED); \
    held.parent = held.spots + CELLS;
#endif

// The end of a playout in one number.
INLINED uint outcome(const uint plies, const uint reasons, const uint result)
{
    return plies | (reasons << REASONS) | (result << RESULT);
}

// The random numbers of a playout: that of a number in the streams of all games.
INLINED rng_t stream_of(const ulong stream_base, const ulong number)
{
    return rng_seed(stream_base, STREAM_GAP, number);
}

// Take one of the first n empty spots at random; the last of them takes its place.
INLINED uint drawn(HELD ushort *spots, const uint n, rng_t *rng)
{
    const uint j = rng_below(rng, n), spot = spots[j];
    spots[j] = spots[n - 1u];
    return spot;
}

#if WINNER == WINNER_FLOOD
// The structures of the stones of a side.
INLINED uint reasons_of(const uint *own, __global const uint *marks)
{
    uint bridges, forks;
    links(own, marks, &bridges, &forks);
    return (rings(own) ? RING : 0u) | (bridges ? BRIDGE : 0u) | (forks ? FORK : 0u);
}
#endif

// Play a game to its end; return its outcome. The candidate move was made by the second side.
INLINED uint playout(const start_t start, const held_t held, rng_t rng)
{
    uint side = 0u, plies = 0u;
    for (uint i = 0; i < start.empty; ++i) held.spots[i] = start.spots[i];
    for (uint i = start.empty; i < CELLS; ++i)
        held.parent[start.spots[i]] = start.parents[start.spots[i]];
    for (uint i = 0; i < 2 * PADDED; ++i) held.rows[i] = start.rows[i];
    for (uint n = start.empty; n > 0u; --n) {
        const uint spot = drawn(held.spots, n, &rng);
        HELD uint *rows = held.rows + side * PADDED;
        ++plies;
#if WINNER == WINNER_FLOOD
        rows[spot >> 5] |= 1u << (spot & 31u);
        const uint reasons = reasons_of(rows, start.marks);
#else
        const uint reasons = place(rows, held.parent, start.masks[spot], spot);
#endif
        if (reasons) return outcome(plies, reasons, side ? WON : LOST);
        side ^= 1u;
    }
    return outcome(plies, 0u, DRAW);
}

#endif
