// Which moves do the nodes of a batch have?
// Twin: reference_py/games/ngtsg/branch.py.
//
// A work-item is a node of the batch. No local memory, no barriers. The game's file has defined
// branch() and GAME_PARAMETERS, GAME_ARGUMENTS: what its functions are handed besides.
#include "games/ngtsg/tree.cl"

__kernel void branch_batch(__global const uint *positions, __global const uint *level,
                           __global const uint *horizon, __global const uint *batch,
                           __global const uint *batch_size, __global uint *batch_moves,
                           __global uint *batch_counts, const uint copies, const uint nodes,
                           const uint words, const uint slots, const uint width,
                           const uint most_branches, const uint min_branches GAME_PARAMETERS)
{
    const size_t game = get_global_id(0) / most_branches, slot = get_global_id(0) % most_branches;
    if (game >= copies || batch_level(level, game) >= horizon[game]) return;
    if (slot >= batch_size[game]) return;
    if (batch_size[game] < min_branches) return;  // the CPU's
    const size_t at = game * slots + slot;
    batch_counts[at] = branch(positions + (game * nodes + batch[at]) * words,
                              batch_moves + at * width GAME_ARGUMENTS);
}
