// Which levels are done with, which one is next, and what is the answer once the root is closed?
// Twin: reference_py/games/ngtsg/compact.py.
//
// A work-item is a game. No local memory, no barriers.
#include "games/ngtsg/tree.cl"

__kernel void compact_levels(__global const uint *moves, __global const int *best,
                             __global const uchar *states, __global const uint *first_child,
                             __global const uint *child_count, __global uint *counts,
                             __global uint *taken, __global uint *round,
                             __global const uint *horizon, __global const int *low,
                             __global const int *high, __global uint *level, __global long *ended,
                             __global const uint *batch_leaves, __global long *leaves,
                             __global int *value, __global uint *move, __global uint *as_good,
                             __global uint *perhaps_as_good, const uint tick, const uint copies,
                             const uint nodes, const uint depth, const uint round_count)
{
    const size_t game = get_global_id(0), rows = game * (depth + 1u), root = game * nodes;
    if (game >= copies || batch_level(level, game) > depth) return;
    leaves[game] += batch_leaves[game];
    if (!is_done(states[root])) {
        uint at = depth;
        bool again = false;
        while (at > 0u && taken[rows + at] == counts[rows + at] && !again) {
            taken[rows + at] = 0u;
            again = counts[rows + at] > 0u && round[rows + at] + 1u < round_count;
            if (again) {
                ++round[rows + at];
            } else {
                counts[rows + at] = 0u;
                --at;
            }
        }
        level[game] = at;
        return;
    }
    if (horizon[game] < depth || is_missed(low[game], high[game], best[root])) {
        level[game] = NEXT_DEPTH;
        return;
    }
    ended[game] = tick;
    level[game] = NO_LEVEL;
    const int known = best[root];
    uint good = 0u, perhaps = 0u, chosen = NO_MOVE;
    for (uint i = 0; i < child_count[root]; ++i) {
        const size_t child = root + first_child[root] + i;
        const bool cut = states[child] == CUT, nothing = best[child] == NOTHING;
        if (!cut && -best[child] == known) {
            if (good == 0u) chosen = moves[child];
            ++good;
        } else if (cut && (nothing || -best[child] >= known)) {
            ++perhaps;
        }
    }
    value[game] = known;
    move[game] = chosen;
    as_good[game] = good;
    perhaps_as_good[game] = perhaps;
}
