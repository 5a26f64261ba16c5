// Which levels are done with, which one is next, and what is the answer once the root is closed?
// Twin: reference_py/games/ngtsg/compact.py.
//
// One work-item does a game whose search is not over. No local memory, no barriers. Workgroups of
// close_by_groups.cl may still read the level, so it is written as an atomic.
#ifndef GAMES_NGTSG_COMPACT_CL
#define GAMES_NGTSG_COMPACT_CL

#include "games/ngtsg/tree.cl"

// Arrays of nodes, and `counts`, `taken` and `round`, begin with those of the game.
static void compact_levels(__global const uint *moves, __global const int *best,
                           __global const uchar *states, __global const uint *first_child,
                           __global const uint *child_count, __global uint *counts,
                           __global uint *taken, __global uint *round, __global const uint *horizon,
                           __global const int *low, __global const int *high, __global uint *level,
                           __global long *ended, __global const uint *batch_leaves,
                           __global long *leaves, __global int *value, __global uint *move,
                           __global uint *as_good, __global uint *perhaps_as_good,
                           __global const uint *last_rounds, const size_t game, const uint tick,
                           const uint depth)
{
    leaves[game] += batch_leaves[game];
    if (!is_done(states[0])) {
        uint at = depth;
        bool again = false;
        while (at > 0u && taken[at] == counts[at] && !again) {
            taken[at] = 0u;
            again = counts[at] > 0u && round[at] < last_rounds[at];
            if (again) {
                ++round[at];
            } else {
                counts[at] = 0u;
                --at;
            }
        }
        set_word(&level[game], at);
        return;
    }
    if (horizon[game] < depth || is_missed(low[game], high[game], best[0])) {
        set_word(&level[game], NEXT_DEPTH);
        return;
    }
    ended[game] = tick;
    set_word(&level[game], NO_LEVEL);
    const int known = best[0];
    uint good = 0u, perhaps = 0u, chosen = NO_MOVE;
    for (uint i = 0; i < child_count[0]; ++i) {
        const uint child = first_child[0] + i;
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

#endif
