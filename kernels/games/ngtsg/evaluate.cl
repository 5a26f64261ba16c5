// What are leaves worth, and positions without moves, to their side to move?
// Twin: reference_py/games/ngtsg/evaluate.py.
//
// A work-item is a node of the batch, and continues with further ones. The game's file has defined
// evaluate() and GAME_PARAMETERS, GAME_ARGUMENTS. With TOGETHER, but for LEAVES_ALONE, a workgroup
// is a node, and all of its work-items call the game's evaluate_together(); otherwise there is no
// local memory, and there are no barriers.
#include "games/ngtsg/tree.cl"

// Close a node whose value is known, and let its parent know.
static void close_leaf(__global const uint *parents, __global int *best, __global uchar *states,
                       __global uint *open_children, __global uint *batch_leaves, const uint node,
                       const int value)
{
    best[node] = value;
    states[node] = CLOSED;
    atomic_inc(batch_leaves);
    if (!is_root(node)) pass_on(parents, best, open_children, node);
}

__kernel void evaluate_batch(__global const uint *positions, __global const uint *parents,
                             __global int *best, __global uchar *states,
                             __global const uint *child_count, __global uint *open_children,
                             __global const uint *level, __global const uint *horizon,
                             __global const uint *batch, __global const uint *batch_size,
                             __global uint *batch_leaves, const uint copies, const uint nodes,
                             const uint words, const uint slots,
                             const uint min_leaves GAME_PARAMETERS)
{
    const size_t groups = get_num_groups(0) / copies, game = get_group_id(0) / groups;
    const uint at = batch_level(level, game), depth = horizon[game];
    const uint size = at > depth ? 0u : min(batch_size[game], slots);
    if (size == 0u || (at == depth && size < min_leaves)) return;  // empty, or the CPU's
    const size_t whole = game * nodes;
    batch += game * slots;
#if TOGETHER && !LEAVES_ALONE
    const uint step = (uint)groups;
    uint slot = (uint)(get_group_id(0) % groups);
    if (slot >= size) return;
    do {
        const uint node = batch[slot];
        const bool asked = at == depth || child_count[whole + node] == 0u;
        const int value = evaluate_together(positions + (whole + node) * words, at GAME_ARGUMENTS);
        if (get_local_id(0) == 0 && asked)
            close_leaf(parents + whole, best + whole, states + whole, open_children + whole,
                       &batch_leaves[game], node, value);
        slot += step;
    } while (slot < size);
#else
    const uint step = (uint)(groups * get_local_size(0));
    uint slot = (uint)((get_group_id(0) % groups) * get_local_size(0) + get_local_id(0));
    for (; slot < size; slot += step) {
        const uint node = batch[slot];
        if (at < depth && child_count[whole + node] > 0u) continue;
        const int value = evaluate(positions + (whole + node) * words, at GAME_ARGUMENTS);
        close_leaf(parents + whole, best + whole, states + whole, open_children + whole,
                   &batch_leaves[game], node, value);
    }
#endif
}
