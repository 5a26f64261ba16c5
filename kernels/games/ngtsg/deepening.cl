// To which depth is the root searched, and in which order are its moves tried?
// Twin: reference_py/games/ngtsg/deepening.py.
//
// Of the kernel `first_depth` a work-item is a game. The functions are called by a workgroup, which
// is a game; a work-item is every n-th move of the root. No local memory.
#ifndef GAMES_NGTSG_DEEPENING_CL
#define GAMES_NGTSG_DEEPENING_CL

#include "games/ngtsg/tree.cl"

// Begin with the least depth, the game's own order of moves and no window.
__kernel void first_depth(__global uint *horizon, __global uint *root_moves, __global int *low,
                          __global int *high, __global long *repeated, const uint copies,
                          const uint width, const uint least_depth)
{
    const size_t game = get_global_id(0);
    if (game >= copies) return;
    horizon[game] = least_depth;
    root_moves[game * width] = NO_MOVE;
    low[game] = NOTHING;
    high[game] = -NOTHING;
    repeated[game] = 0;
}

// Have the moves of the root made in the order that the last search has left, if one has. The
// caller orders what is written.
static void order_root(__global const uint *level, __global const uint *horizon,
                       __global const uint *root_moves, __global uint *batch_moves,
                       __global const uint *batch_counts, const uint slots, const uint width,
                       const uint deepening)
{
    const size_t game = get_group_id(0);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    if (deepening == 0u || batch_level(level, game) != 0u || horizon[game] == 0u) return;
    if (root_moves[game * width] == NO_MOVE) return;
    const uint count = batch_counts[game * slots];
    for (uint i = lid; i < count; i += lanes)
        batch_moves[game * slots * width + i] = root_moves[game * width + i];
}

// What a child is worth to the root, or at most; nothing is known of some.
static int worth_to_root(__global const int *best, const uint child)
{
    return best[child] == NOTHING ? NOTHING : -best[child];
}

// Begin with the root again, once it is closed and the search is not over: the caller knows. Other
// workgroups may read the level meanwhile, so it is written as an atomic.
COLLECTIVE void next_depth(__global const uint *moves, __global int *best, __global uchar *states,
                           __global uint *first_child, __global uint *child_count,
                           __global uint *open_children, __global uint *counts,
                           __global uint *taken, __global uint *level, __global uint *horizon,
                           __global uint *root_moves, __global int *low, __global int *high,
                           __global long *repeated, const uint nodes, const uint width,
                           const uint depth, const uint deepening, const int aspiration,
                           const size_t game, const bool again)
{
    const size_t rows = game * (depth + 1u);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    moves += game * nodes;
    best += game * nodes;
    states += game * nodes;
    first_child += game * nodes;
    child_count += game * nodes;
    open_children += game * nodes;
    const uint first = first_child[0], count = again ? child_count[0] : 0u;
    for (uint i = lid; i < count; i += lanes) {
        const int own = worth_to_root(best, first + i);
        uint place = 0u;  // behind all that are worth more, and equal ones before it
        for (uint k = 0; k < count; ++k) {
            const int other = worth_to_root(best, first + k);
            place += other > own || (other == own && k < i);
        }
        root_moves[game * width + place] = moves[first + i];
    }
    barrier(CLK_GLOBAL_MEM_FENCE);  // all children were read, before the root forgets them
    if (lid == 0u && again) {
        const int value = best[0];
        if (is_missed(low[game], high[game], value)) {
            const bool below = value <= low[game];
            const int edge = below ? low[game] + 1 : high[game] - 1;
            ++repeated[game];
            low[game] = below ? NOTHING : edge;
            high[game] = below ? edge : -NOTHING;
        } else {
            horizon[game] += deepening;
            if (aspiration > 0) {
                low[game] = (int)max((long)value - aspiration, (long)NOTHING);
                high[game] = (int)min((long)value + aspiration, -(long)NOTHING);
            }
        }
        best[0] = NOTHING;
        states[0] = PENDING;
        first_child[0] = child_count[0] = open_children[0] = 0u;
        for (uint i = 0; i <= depth; ++i) {
            counts[rows + i] = i == 0u;
            taken[rows + i] = 0u;
        }
        set_word(&level[game], 0u);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);  // the root as it is now, before it is searched
}

#endif
