// Who wins if all stones are placed first? Winner test (c) of three: finds the earliest structure.
// Twin: reference_py/games/havannah/offline.py.
//
// A structure never disappears, so whether there is one after t stones is false up to some t and
// true from t on. That t is found by halving, for rings first, which end most games on a large
// board: a bridge or fork is looked for only once, on the board before the first ring. Where there
// is one, the stones are placed again one after the other (forest.cl). WIDTH games are played at
// once, each in a lane of a vector. Private memory alone, no barriers.
// Macros: WIDTH, 1, 8 or 16.
#ifndef GAMES_HAVANNAH_OFFLINE_CL
#define GAMES_HAVANNAH_OFFLINE_CL

#include "games/havannah/playout.cl"

#if WIDTH == 1
typedef ulong state_t;
#elif WIDTH == 8
typedef ulong8 state_t;
#else
typedef ulong16 state_t;
#endif

#define LANE_OF(rows, row, lane) (((uint *)(rows))[(row) * WIDTH + (lane)])

// Draw the order in which each game fills the board: the spot of stone t comes at
// (CELLS - t) * WIDTH + lane.
INLINED void fill(const start_t start, rng_t stream, ushort *order)
{
    state_t x, c;
    for (uint lane = 0; lane < WIDTH; ++lane) {
        ((ulong *)&x)[lane] = stream.x;
        ((ulong *)&c)[lane] = stream.c;
        rng_skip(&stream, STREAM_GAP);
    }
    for (uint i = 0; i < start.empty; ++i)
        for (uint lane = 0; lane < WIDTH; ++lane) order[i * WIDTH + lane] = start.spots[i];
    for (uint n = start.empty; n > 1u; --n) {
        // rng_below of all games at once; a product is looked at again only if it may be rejected.
        const state_t product = (x ^ c) * n, next = x * (ulong)RNG_A + c;
        x = next & 0xfffffffful;
        c = next >> 32;
        for (uint lane = 0; lane < WIDTH; ++lane) {
            ulong m = ((const ulong *)&product)[lane];
            if ((uint)m < n) {
                const uint t = (0u - n) % n;
                rng_t rng;
                rng.x = (uint)((ulong *)&x)[lane];
                rng.c = (uint)((ulong *)&c)[lane];
                while ((uint)m < t) m = (ulong)rng_next(&rng) * n;
                ((ulong *)&x)[lane] = rng.x;
                ((ulong *)&c)[lane] = rng.c;
            }
            const uint j = (uint)(m >> 32) * WIDTH + lane, last = (n - 1u) * WIDTH + lane;
            const ushort spot = order[j];
            order[j] = order[last];
            order[last] = spot;
        }
    }
}

// Put the stones from one number to another, without the last, of a game.
INLINED void put(rows_t *rows, const ushort *order, const uint empty, const uint lane,
                 const uint first, const uint last)
{
    for (uint t = first; t < last; ++t) {
        const uint spot = order[(empty - 1u - t) * WIDTH + lane];
        LANE_OF(rows, (t & 1u) * PADDED + (spot >> 5), lane) |= 1u << (spot & 31u);
    }
}

#if MEMORY == MEMORY_PRIVATE
// Place the stones of a game again, one after the other, up to the first that wins.
INLINED uint again(const start_t start, const ushort *order, const uint lane)
{
    ushort parent[SPOTS];
    uint rows[2 * PADDED];
    for (uint i = start.empty; i < CELLS; ++i)
        parent[start.spots[i]] = start.parents[start.spots[i]];
    for (uint i = 0; i < 2 * PADDED; ++i) rows[i] = start.rows[i];
    for (uint t = 0; t < start.empty; ++t) {
        const uint spot = order[(start.empty - 1u - t) * WIDTH + lane], side = t & 1u;
        const uint reasons = place(rows + side * PADDED, parent, start.masks[spot], spot);
        if (reasons) return outcome(t + 1u, reasons, side ? WON : LOST);
    }
    return outcome(start.empty, 0u, DRAW);
}

// The outcomes of WIDTH games whose stones are placed in some order.
INLINED void earliest(const start_t start, const ushort *order, uint *outcomes)
{
    rows_t before[2 * PADDED], now[2 * PADDED];
    uint low[WIDTH], high[WIDTH];
    for (uint row = 0; row < 2 * PADDED; ++row)
        for (uint lane = 0; lane < WIDTH; ++lane) LANE_OF(before, row, lane) = start.rows[row];
    for (uint lane = 0; lane < WIDTH; ++lane) {
        low[lane] = 0u;
        high[lane] = start.empty + 1u;
    }
    // `before` is the board after `low` stones, which has no ring; after `high` stones there is
    // one.
    for (uint range = start.empty; range > 0u; range >>= 1) {
        for (uint row = 0; row < 2 * PADDED; ++row) now[row] = before[row];
        for (uint lane = 0; lane < WIDTH; ++lane)
            put(now, order, start.empty, lane, low[lane], (low[lane] + high[lane]) / 2u);
        const rows_t found = rings(now) | rings(now + PADDED);
        rows_t playing;
        for (uint lane = 0; lane < WIDTH; ++lane) {
            const uint middle = (low[lane] + high[lane]) / 2u;
            const bool is_over = ((const uint *)&found)[lane] != 0u && middle > low[lane];
            if (is_over)
                high[lane] = middle;
            else
                low[lane] = middle;
            ((uint *)&playing)[lane] = is_over ? 0u : 0xffffffffu;
        }
        for (uint row = 0; row < 2 * PADDED; ++row)
            before[row] = (now[row] & playing) | (before[row] & ~playing);
    }
    rows_t bridges, forks, others, more;
    links(before, start.marks, &bridges, &forks);
    links(before + PADDED, start.marks, &others, &more);
    const rows_t linked = bridges | forks | others | more;
    // The stone that makes the first ring may make a bridge or fork, too.
    for (uint lane = 0; lane < WIDTH; ++lane) {
        const uint side = low[lane] & 1u;
        for (uint row = 0; row < PADDED; ++row)
            LANE_OF(now, row, lane) = LANE_OF(before, side * PADDED + row, lane);
        if (high[lane] <= start.empty) {
            const uint spot = order[(start.empty - high[lane]) * WIDTH + lane];
            LANE_OF(now, spot >> 5, lane) |= 1u << (spot & 31u);
        }
    }
    links(now, start.marks, &bridges, &forks);
    for (uint lane = 0; lane < WIDTH; ++lane) {
        const uint reasons = RING | (((const uint *)&bridges)[lane] ? BRIDGE : 0u) |
                             (((const uint *)&forks)[lane] ? FORK : 0u);
        if (((const uint *)&linked)[lane])
            outcomes[lane] = again(start, order, lane);
        else if (high[lane] > start.empty)
            outcomes[lane] = outcome(start.empty, 0u, DRAW);
        else
            outcomes[lane] = outcome(high[lane], reasons, low[lane] & 1u ? WON : LOST);
    }
}

// Play WIDTH games at random, whose streams follow each other; their outcomes.
INLINED void playouts_of(const start_t start, const rng_t stream, uint *outcomes)
{
    ushort order[CELLS * WIDTH];
    fill(start, stream, order);
    earliest(start, order, outcomes);
}
#endif

#endif
