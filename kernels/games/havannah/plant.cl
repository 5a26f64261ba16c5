// What is a tree of moves before its first playout? A root, on whose stones no move can be made.
// Twin: reference_py/games/havannah/plant.py.
//
// A work-item is a cell of a tree. No local memory, no barriers. Macros: RAVE.
#include "games/havannah/moves.cl"

__kernel void plant(__global const uchar *board, __global uint *node_count, __global uint *played,
                    __global uchar *solved, __global uint *visits, __global uint *halves,
                    __global uint *below, __global uchar *known, __global uint *seen,
                    __global uint *gained, const uint copies, const uint trees, const uint nodes)
{
    const size_t tree = get_global_id(0) / CELLS;
    const uint cell = get_global_id(0) % CELLS;
    if (tree >= (size_t)copies * trees) return;
    const size_t at = tree * nodes * CELLS + cell;
    if (cell == 0u) {
        node_count[tree] = 1u;
        played[tree] = 0u;
        solved[tree] = OPEN_MOVE;
    }
    visits[at] = 0u;
    halves[at] = 0u;
    below[at] = 0u;
    known[at] = board[tree / trees * CELLS + cell] == EMPTY ? OPEN_MOVE : TAKEN;
#if RAVE
    seen[at] = 0u;
    gained[at] = 0u;
#endif
}
