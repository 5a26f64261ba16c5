// How many nodes of the batch have children for which there is room, and where do these go?
// Twin: reference_py/games/ngtsg/append.py.
//
// A workgroup is a game, a work-item every n-th node of the batch. Local memory: of wide.cl,
// and a word. What is logged of a superstep is written here, into row `log_row` of each log, as a
// copy by the host would cost as much as a launch.
#include "games/ngtsg/deepening.cl"
#include "primitives/wide.cl"

__kernel void
append_children(__global const uint *level, __global const uint *batch, __global uint *batch_size,
                __global uint *batch_moves, __global const uint *batch_counts,
                __global uint *batch_offsets, __global uint *batch_end,
                __global uint *batch_level_of, __global uint *batch_leaves, __global uint *children,
                __global uint *nodes_taken, __global uint *counts, __global uint *taken,
                __global uint *round, __global const uint *horizon, __global const uint *root_moves,
                __global long *visited, __global long *branch_batches, __global long *leaf_batches,
                __global long *shortened, __global long *peak, __global uint *batch_level_of_log,
                __global uint *nodes_taken_log, __global uint *children_log,
                __global uint *horizon_log, __global const uint *level_starts,
                __global const uint *level_rooms, const uint log_row, const uint copies,
                const uint slots, const uint width, const uint depth, const uint deepening)
{
    const size_t game = get_group_id(0), rows = game * (depth + 1u);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    order_root(level, horizon, root_moves, batch_moves, batch_counts, slots, width, deepening);
    const uint at = batch_level(level, game);
    const bool inner = at < horizon[game];
    const uint size = at <= depth ? batch_size[game] : 0u, n = inner ? size : 0u;
    const uint room = inner ? level_rooms[at + 1u] : 0u;
    batch += game * slots;
    batch_counts += game * slots;
    batch_offsets += game * slots;
    __local uint *placed = local_malloc(sizeof(uint));
    if (lid == 0u) placed[0] = 0u;
    for (uint i = lid; i < n; i += lanes) batch_offsets[i] = batch_counts[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // numbers of moves, before they are added
    const uint all = wide_scan_exclusive(batch_offsets, n);
    uint mine = 0u;
    for (uint i = lid; i < n; i += lanes) mine += batch_offsets[i] + batch_counts[i] <= room;
    if (mine > 0u) atomic_add(placed, mine);
    barrier(CLK_LOCAL_MEM_FENCE);  // all were counted, before the number is read
    if (lid == 0u) nodes_taken[game] = 0u;
    if (lid == 0u && at <= depth) {
        const uint fit = inner ? placed[0] : size;
        const bool some = fit > 0u;
        uint made = all;
        if (fit < size) {
            ++shortened[game];
            batch_size[game] = fit;
            batch_end[game] = batch[fit - 1u] + 1u;
            made = batch_offsets[fit];
        }
        children[game] = made;
        batch_leaves[game] = 0u;
        if (inner) {
            counts[rows + at + 1u] = made;
            round[rows + at + 1u] = 0u;
        }
        branch_batches[game] += inner && some;
        leaf_batches[game] += !inner && some;
        batch_level_of[game] = at;
        taken[rows + at] = batch_end[game] - level_starts[at];
        visited[rows + at] += fit;
        nodes_taken[game] = fit;
        long stored = 0;
        for (uint i = 0; i <= depth; ++i) stored += counts[rows + i];
        peak[game] = max(peak[game], stored);
    }
    if (lid == 0u) {
        const size_t row = (size_t)log_row * copies + game;
        batch_level_of_log[row] = batch_level_of[game];
        nodes_taken_log[row] = nodes_taken[game];
        children_log[row] = children[game];
        if (deepening > 0u) horizon_log[row] = horizon[game];
    }
}
