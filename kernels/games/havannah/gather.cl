// What did all trees of a position find of each of its moves?
// Twin: reference_py/games/havannah/gather.py.
//
// A work-item is a cell of a game. No local memory, no barriers. Macros: none of its own.
#include "games/havannah/moves.cl"

__kernel void gather(__global const uint *visits, __global const uint *halves,
                     __global const uchar *known, __global long *playouts, __global double *points,
                     __global uchar *certain, const uint copies, const uint trees, const uint nodes)
{
    const size_t at = get_global_id(0), game = at / CELLS;
    if (game >= copies) return;
    long sum = 0l, won = 0l;
    uchar what = OPEN_MOVE;
    for (size_t tree = game * trees; tree < (game + 1) * trees; ++tree) {
        const size_t move = tree * nodes * CELLS + at % CELLS;
        sum += visits[move];
        won += halves[move];
        if (what == OPEN_MOVE) what = known[move];
    }
    playouts[at] = sum;
    points[at] = (double)won / 2.0;
    certain[at] = what;
}
