// What are leaves worth, and positions without moves, to their side to move?
// Twin: reference_py/games/ngtsg/evaluate.py.
//
// A work-item is a node of the batch. No local memory, no barriers. The game's file has defined
// evaluate() and GAME_PARAMETERS, GAME_ARGUMENTS.
#include "games/ngtsg/tree.cl"

__kernel void evaluate_batch(__global const uint *positions, __global const uint *parents,
                             __global int *best, __global uchar *states,
                             __global const uint *child_count, __global uint *open_children,
                             __global const uint *level, __global const uint *horizon,
                             __global const uint *batch, __global const uint *batch_size,
                             __global uint *batch_leaves, const uint copies, const uint nodes,
                             const uint words, const uint slots,
                             const uint min_leaves GAME_PARAMETERS)
{
    const size_t game = get_global_id(0) / slots, slot = get_global_id(0) % slots;
    if (game >= copies) return;
    const uint at = batch_level(level, game), depth = horizon[game];
    if (at > depth || slot >= batch_size[game]) return;
    if (at == depth && batch_size[game] < min_leaves) return;  // the CPU's
    const size_t whole = game * nodes;
    const uint node = batch[game * slots + slot];
    if (at < depth && child_count[whole + node] > 0u) return;
    best[whole + node] = evaluate(positions + (whole + node) * words, at GAME_ARGUMENTS);
    states[whole + node] = CLOSED;
    atomic_inc(&batch_leaves[game]);
    if (!is_root(node)) pass_on(parents + whole, best + whole, open_children + whole, node);
}
