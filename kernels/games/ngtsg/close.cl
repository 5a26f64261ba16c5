// Which nodes are done with, now that the batch is?
// Twin: reference_py/games/ngtsg/close.py.
//
// A workgroup is a game, a work-item every n-th node of a level. The ancestors of a batch are
// few: a level has as many of them as that below it, divided by the moves of a node. One work-item
// drops levels that are done with. No local memory.
#ifndef GAMES_NGTSG_CLOSE_CL
#define GAMES_NGTSG_CLOSE_CL

#include "games/ngtsg/compact.cl"

#define PASSES 2u
#define NEWLY 8  // added to the state of a node that its parent does not know of yet

// The state of a node, with `NEWLY` if it is done with now. What is known of it is handed over,
// and of its ancestors it is in arrays.
static uchar judged(__global const uint *parents, __global const int *best,
                    __global const uchar *states, const int prune, const int root_low,
                    const int root_high, const uint node, const uchar state, const int known,
                    const bool open)
{
    const bool asked = state == EXPANDED;
    const bool cut = state == DOOMED || (asked && is_dead_with(parents, best, states, prune,
                                                               root_low, root_high, node, known));
    return cut ? CUT + NEWLY : asked && !open ? CLOSED + NEWLY : state;
}

__kernel void close_batch(__global const uint *moves, __global const uint *parents,
                          __global int *best, __global uchar *states,
                          __global const uint *first_child, __global const uint *child_count,
                          __global uint *open_children, __global uint *counts, __global uint *taken,
                          __global uint *round, __global const uint *horizon,
                          __global const int *low, __global const int *high, __global uint *level,
                          __global long *ended, __global const uint *batch_first,
                          __global const uint *batch_end, __global const uint *batch_leaves,
                          __global long *leaves, __global int *value, __global uint *move,
                          __global uint *as_good, __global uint *perhaps_as_good,
                          __global const uint *last_rounds, const uint tick, const uint nodes,
                          const uint depth, const int prune)
{
    const size_t game = get_group_id(0), whole = game * nodes, rows = game * (depth + 1u);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const uint at = batch_level(level, game), levels = at > depth ? 0u : at;
    parents += whole;
    best += whole;
    states += whole;
    open_children += whole;
    uint first = 0u, last = 0u, pass = 0u;
    do {
        const bool begins = levels == 0u || pass % levels == 0u;
        first = parents[begins ? batch_first[game] : first];
        last = parents[begins ? max(batch_end[game], 1u) - 1u : last];
        const uint end = opaque(levels > 0u ? last + 1u : first);
        for (uint node = first + lid; node < end; node += lanes)
            states[node] = judged(parents, best, states, prune, low[game], high[game], node,
                                  states[node], best[node], open_children[node] > 0u);
        barrier(CLK_GLOBAL_MEM_FENCE);  // all nodes were judged, before one value changes
        for (uint node = first + lid; node < end; node += lanes)
            if (states[node] >= NEWLY) {
                states[node] -= NEWLY;
                if (!is_root(node)) pass_on(parents, best, open_children, node);
            }
        barrier(CLK_GLOBAL_MEM_FENCE);  // values and states of the level, before those above it
        ++pass;
    } while (pass < PASSES * levels);
    if (lid == 0u && at <= depth)
        compact_levels(moves + whole, best, states, first_child + whole, child_count + whole,
                       counts + rows, taken + rows, round + rows, horizon, low, high, level, ended,
                       batch_leaves, leaves, value, move, as_good, perhaps_as_good, last_rounds,
                       game, tick, depth);
}

#endif
