// What do the positions after the moves of a batch look like?
// Twin: reference_py/games/ngtsg/make.py.
//
// A work-item is a move of a node of the batch. No local memory, no barriers. The game's file has
// defined make() and GAME_PARAMETERS, GAME_ARGUMENTS.
#include "games/ngtsg/tree.cl"

__kernel void make_children(__global uint *positions, __global uint *moves, __global uint *parents,
                            __global int *best, __global uchar *states, __global uint *first_child,
                            __global uint *child_count, __global uint *open_children,
                            __global const uint *level, __global const uint *horizon,
                            __global const uint *batch, __global const uint *batch_size,
                            __global const uint *batch_moves, __global const uint *batch_counts,
                            __global const uint *batch_offsets, __global const uint *level_starts,
                            const uint copies, const uint nodes, const uint words, const uint slots,
                            const uint width GAME_PARAMETERS)
{
    const size_t at = get_global_id(0) / width, game = at / slots;
    const uint k = (uint)(get_global_id(0) % width), slot = (uint)(at % slots);
    if (game >= copies || batch_level(level, game) >= horizon[game]) return;
    if (slot >= batch_size[game]) return;
    const size_t whole = game * nodes, node = whole + batch[at];
    const uint count = batch_counts[at];
    const uint first = level_starts[batch_level(level, game) + 1u] + batch_offsets[at];
    if (k == 0u) {
        states[node] = EXPANDED;
        first_child[node] = first;
        child_count[node] = open_children[node] = count;
    }
    if (k >= count) return;
    const size_t child = whole + first + k;
    const uint own = batch_moves[at * width + k];
    make(positions + node * words, own, positions + child * words GAME_ARGUMENTS);
    moves[child] = own;
    parents[child] = batch[at];
    best[child] = NOTHING;
    states[child] = PENDING;
    first_child[child] = child_count[child] = open_children[child] = 0u;
}
