// Which nodes are done with, now that the batch is?
// Twin: reference_py/games/ngtsg/close.py.
//
// A workgroup is a game, a work-item every so many-th node of a level. The ancestors of a batch are
// few: a level has as many of them as that below it, divided by the moves of a node. No local
// memory.
#include "games/ngtsg/tree.cl"

#define PASSES 2u
#define NEWLY 8  // added to the state of a node that its parent does not know of yet

// The state of a node, with `NEWLY` if it is done with now.
static uchar judged(__global const uint *parents, __global const int *best,
                    __global const uchar *states, __global const uint *open_children,
                    const int prune, const int root_low, const int root_high, const uint node)
{
    const uchar state = states[node];
    const bool asked = state == EXPANDED, open = open_children[node] > 0u;
    const bool cut = state == DOOMED ||
                     (asked && is_dead(parents, best, states, prune, root_low, root_high, node));
    return cut ? CUT + NEWLY : asked && !open ? CLOSED + NEWLY : state;
}

__kernel void close_batch(__global const uint *parents, __global int *best, __global uchar *states,
                          __global uint *open_children, __global const uint *level,
                          __global const uint *batch_first, __global const uint *batch_end,
                          __global const int *low, __global const int *high, const uint nodes,
                          const uint depth, const int prune)
{
    const size_t game = get_group_id(0), whole = game * nodes;
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const uint at = batch_level(level, game), levels = at > depth ? 0u : at;
    parents += whole;
    best += whole;
    states += whole;
    open_children += whole;
    uint first = 0u, last = 0u, round = 0u;
    do {
        const bool begins = levels == 0u || round % levels == 0u;
        first = parents[begins ? batch_first[game] : first];
        last = parents[begins ? max(batch_end[game], 1u) - 1u : last];
        const uint end = opaque(levels > 0u ? last + 1u : first);
        for (uint node = first + lid; node < end; node += lanes)
            states[node] =
                judged(parents, best, states, open_children, prune, low[game], high[game], node);
        barrier(CLK_GLOBAL_MEM_FENCE);  // all nodes were judged, before one value changes
        for (uint node = first + lid; node < end; node += lanes)
            if (states[node] >= NEWLY) {
                states[node] -= NEWLY;
                if (!is_root(node)) pass_on(parents, best, open_children, node);
            }
        barrier(CLK_GLOBAL_MEM_FENCE);  // values and states of the level, before those above it
        ++round;
    } while (round < PASSES * levels);
}
