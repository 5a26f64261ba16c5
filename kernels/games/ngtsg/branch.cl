// Which moves do the nodes of a batch have?
// Twin: reference_py/games/ngtsg/branch.py.
//
// A work-item is a node of the batch, and continues with further ones. The game's file has defined
// branch() and GAME_PARAMETERS, GAME_ARGUMENTS: what its functions are handed besides. With
// TOGETHER a workgroup is a node, and all of its work-items call the game's branch_together();
// otherwise there is no local memory, and there are no barriers.
#include "games/ngtsg/tree.cl"

__kernel void branch_batch(__global const uint *positions, __global const uint *level,
                           __global const uint *horizon, __global const uint *batch,
                           __global const uint *batch_size, __global uint *batch_moves,
                           __global uint *batch_counts, const uint copies, const uint nodes,
                           const uint words, const uint slots, const uint width,
                           const uint most_branches, const uint min_branches GAME_PARAMETERS)
{
    const size_t groups = get_num_groups(0) / copies, game = get_group_id(0) / groups;
    if (batch_level(level, game) >= horizon[game]) return;
    const uint size = min(batch_size[game], most_branches);
    if (size < min_branches || size == 0u) return;  // the CPU's, or empty
#if TOGETHER
    uint slot = (uint)(get_group_id(0) % groups);
    if (slot >= size) return;
    do {
        const size_t at = game * slots + slot;
        const uint count = branch_together(positions + (game * nodes + batch[at]) * words,
                                           batch_moves + at * width GAME_ARGUMENTS);
        if (get_local_id(0) == 0) batch_counts[at] = count;
        slot += (uint)groups;
    } while (slot < size);
#else
    const uint step = (uint)(groups * get_local_size(0));
    uint slot = (uint)((get_group_id(0) % groups) * get_local_size(0) + get_local_id(0));
    for (; slot < size; slot += step) {
        const size_t at = game * slots + slot;
        batch_counts[at] = branch(positions + (game * nodes + batch[at]) * words,
                                  batch_moves + at * width GAME_ARGUMENTS);
    }
#endif
}
