// What do the positions after the moves of a batch look like?
// Twin: reference_py/games/ngtsg/make.py.
//
// Each game has a fixed number of workgroups. In these `sharing` work-items share the moves of a
// node, and continue with further nodes: most launches find a batch that is smaller than it may be,
// or one of leaves, and a work-item for each move that there could be would cost more than the
// moves. The work-items of a workgroup are a multiple of `sharing`. No local memory, no barriers.
// The game's file has defined make() and GAME_PARAMETERS, GAME_ARGUMENTS.
#include "games/ngtsg/tree.cl"

__kernel void make_children(__global uint *positions, __global uint *moves, __global uint *parents,
                            __global int *best, __global uchar *states, __global uint *first_child,
                            __global uint *child_count, __global uint *open_children,
                            __global const uint *level, __global const uint *horizon,
                            __global const uint *batch, __global const uint *batch_size,
                            __global const uint *batch_moves, __global const uint *batch_counts,
                            __global const uint *batch_offsets, __global const uint *level_starts,
                            const uint copies, const uint nodes, const uint words, const uint slots,
                            const uint width, const uint sharing GAME_PARAMETERS)
{
    const size_t groups = get_num_groups(0) / copies, game = get_group_id(0) / groups;
    const uint at = batch_level(level, game);
    if (at >= horizon[game]) return;
    const size_t item = (get_group_id(0) % groups) * get_local_size(0) + get_local_id(0);
    const uint own = (uint)(item % sharing), size = batch_size[game];
    const uint step = (uint)(groups * get_local_size(0) / sharing);
    const size_t whole = game * nodes;
    for (uint slot = (uint)(item / sharing); slot < size; slot += step) {
        const size_t place = game * slots + slot, node = whole + batch[place];
        const uint count = batch_counts[place];
        const uint first = level_starts[at + 1u] + batch_offsets[place];
        if (own == 0u) {
            states[node] = EXPANDED;
            first_child[node] = first;
            child_count[node] = open_children[node] = count;
        }
        for (uint k = own; k < count; k += sharing) {
            const size_t child = whole + first + k;
            const uint one = batch_moves[place * width + k];
            make(positions + node * words, one, positions + child * words GAME_ARGUMENTS);
            moves[child] = one;
            parents[child] = batch[place];
            best[child] = NOTHING;
            states[child] = PENDING;
            first_child[child] = child_count[child] = open_children[child] = 0u;
        }
    }
}
