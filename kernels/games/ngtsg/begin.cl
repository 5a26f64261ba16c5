// Where does a search begin? At its root, the only node of level 0.
// Twin: reference_py/games/ngtsg/begin.py.
//
// A work-item is a game. No local memory, no barriers.
#include "games/ngtsg/tree.cl"

__kernel void begin_search(__global uint *positions, __global uint *moves, __global uint *parents,
                           __global int *best, __global uchar *states, __global uint *first_child,
                           __global uint *child_count, __global uint *open_children,
                           __global uint *counts, __global uint *taken, __global long *visited,
                           __global uint *level, __global long *branch_batches,
                           __global long *leaf_batches, __global long *leaves,
                           __global long *shortened, __global long *peak, __global int *value,
                           __global uint *move, __global uint *as_good,
                           __global uint *perhaps_as_good, __global const uint *given_roots,
                           const uint given, const uint first_game, const uint copies,
                           const uint nodes, const uint words, const uint depth)
{
    const size_t game = get_global_id(0), root = game * nodes;
    if (game >= copies) return;
    const size_t own = (first_game + game) % given;
    for (uint i = 0; i < words; ++i) positions[root * words + i] = given_roots[own * words + i];
    moves[root] = NO_MOVE;
    parents[root] = 0u;
    best[root] = NOTHING;
    states[root] = PENDING;
    first_child[root] = child_count[root] = open_children[root] = 0u;
    for (uint i = 0; i <= depth; ++i) {
        const size_t at = game * (depth + 1u) + i;
        counts[at] = i == 0u;
        taken[at] = 0u;
        visited[at] = 0;
    }
    level[game] = 0u;
    branch_batches[game] = leaf_batches[game] = leaves[game] = shortened[game] = 0;
    peak[game] = 1;
    value[game] = 0;
    move[game] = NO_MOVE;
    as_good[game] = perhaps_as_good[game] = 0u;
}
