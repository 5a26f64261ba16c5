// What do the three winner tests say of games whose moves are given? For tests alone.
#include "games/havannah/offline.cl"

// A work-item is a game of `count` moves from the spot `taken`, a stone of the second side (0:
// none). `order` has all empty spots, those of the moves first; `by_forest` and `by_flood` get the
// reasons after each move, `by_offline` the outcome.
__kernel void winners(__global const ushort *order, __global const ushort *counts,
                      __global const ushort *taken, __global const ushort *masks,
                      __global const uint *marks, __global uint *first, __global ushort *parents,
                      __global uchar *by_forest, __global uchar *by_flood,
                      __global ushort *by_offline)
{
    const size_t game = get_global_id(0);
    __global const ushort *own = order + game * CELLS;
    ushort parent[SPOTS], filled[CELLS * WIDTH];
    uint rows[2 * PADDED], ended[WIDTH];
    for (uint i = 0; i < 2 * PADDED; ++i) rows[i] = 0u;
    start_t start;
    start.empty = CELLS;
    if (taken[game]) {
        place(rows + PADDED, parent, masks[taken[game]], taken[game]);
        start.empty = CELLS - 1;
    }
    for (uint i = 0; i < 2 * PADDED; ++i) first[game * 2 * PADDED + i] = rows[i];
    if (taken[game]) parents[game * SPOTS + taken[game]] = parent[taken[game]];
    for (uint t = 0; t < counts[game]; ++t) {
        const uint side = t & 1u;
        by_forest[game * CELLS + t] =
            (uchar)place(rows + side * PADDED, parent, masks[own[t]], own[t]);
        rows_t wide[PADDED], bridges, forks;
        for (uint row = 0; row < PADDED; ++row) wide[row] = rows[side * PADDED + row];
        links(wide, marks, &bridges, &forks);
        by_flood[game * CELLS + t] =
            (uchar)((in_any(rings(wide)) ? RING : 0u) | (in_any(bridges) ? BRIDGE : 0u) |
                    (in_any(forks) ? FORK : 0u));
    }
    start.spots = own;  // the last one is the taken one, if there is one
    start.rows = first + game * 2 * PADDED;
    start.parents = parents + game * SPOTS;
    start.masks = masks;
    start.marks = marks;
    for (uint t = 0; t < start.empty; ++t)
        for (uint lane = 0; lane < WIDTH; ++lane)
            filled[(start.empty - 1u - t) * WIDTH + lane] = own[t];
    earliest(start, filled, ended);
    by_offline[game] = (ushort)ended[WIDTH - 1];
}
