// Which nodes are next? The first of the deepest level that are still of use to the root.
// Twin: reference_py/games/ngtsg/select.py.
//
// A search of several depths begins the next one here, so that this costs no launch of its own.
// A workgroup is a game, a work-item every n-th parent of a strip. Local memory: 9 bytes for
// each parent of a strip. Round r of a level is for children number `ranks[r]` to `ranks[r + 1]`,
// the latter left out, of every parent, and the last round of a level for all that are left.
#ifndef GAMES_NGTSG_SELECT_CL
#define GAMES_NGTSG_SELECT_CL

#include "games/ngtsg/deepening.cl"
#include "primitives/scan.cl"

#define STRIP 1024u

// Several work-items write the children of a parent side by side: a GPU stores neighbouring words
// at once, a CPU takes one after the other.
#if DEVICE_IS_CPU
#define SHARING 1u
#else
#define SHARING 16u
#endif
#define MOST_CHILDREN 0xffffffffu

// The number of the first child that a round leaves out.
static uint rank_end(__global const uint *ranks, const uint round, const uint last_round)
{
    return round < last_round ? ranks[round + 1u] : MOST_CHILDREN;
}

// Where the children of a parent that are pending in a round begin: none of them is before `first`.
static uint pending_from(__global const uint *first_child, const uint first, const uint rank,
                         const uint parent)
{
    return max(first_child[parent] + rank, first);
}

// How many of a parent's remaining children a round is for.
static uint round_count(__global const uint *first_child, __global const uint *child_count,
                        const uint first, const uint rank, const uint rank_end, const uint parent)
{
    const uint end = first_child[parent] + min(child_count[parent], rank_end);
    const uint from = pending_from(first_child, first, rank, parent);
    return end <= from ? 0u : end - from;
}

// How many children of a parent are pending in a round: none if it is done with.
static uint pending_count(__global const uint *first_child, __global const uint *child_count,
                          __global const uchar *states, const uint first, const uint rank,
                          const uint rank_end, const uint parent)
{
    const uint own = round_count(first_child, child_count, first, rank, rank_end, parent);
    return own == 0u || is_done(states[parent]) ? 0u : own;
}

// Whether the leftmost line is not searched yet, and the level is the deepest that it has reached.
static bool is_first_line(__global const uint *taken, const uint at)
{
    bool found = taken[at] == 0u;
    for (uint i = 0; i < at; ++i) found = found && taken[i] == 1u;
    return found;
}

// Writes the children of a strip of parents, the first of which is `parent`, into the batch, behind
// the `chosen` of the strips before, as far as there is room; marks the dead among those parents.
INLINED void list_children(const __local uint *before, const __local uint *from,
                           const __local uchar *dead, const uint here, const uint sum,
                           const uint chosen, const uint most, const uint parent,
                           __global uchar *states, __global uint *batch)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const uint sharing = lanes % SHARING == 0u ? SHARING : 1u, mine = lid % sharing;
    for (uint i = lid / sharing; i < here; i += lanes / sharing) {
        const uint place = chosen + before[i], after = i + 1u < here ? before[i + 1u] : sum;
        const uint own = after - before[i];
        if (dead[i] && place < most && mine == 0u) states[parent + i] = DOOMED;
        for (uint k = mine; k < own && place + k < most; k += sharing)
            batch[place + k] = from[i] + k;
    }
}

__kernel void select_batch(__global const uint *moves, __global const uint *parents,
                           __global int *best, __global uchar *states, __global uint *first_child,
                           __global uint *child_count, __global uint *open_children,
                           __global uint *counts, __global uint *taken, __global uint *round,
                           __global uint *horizon, __global uint *root_moves, __global int *low,
                           __global int *high, __global long *repeated, __global uint *level,
                           __global uint *batch, __global uint *batch_size,
                           __global uint *batch_first, __global uint *batch_end,
                           __global const uint *level_starts, __global const uint *level_most,
                           __global const uint *last_rounds, __global const uint *ranks,
                           const uint nodes, const uint slots, const uint width, const uint depth,
                           const int prune, const uint most_leaves, const int principal_variation,
                           const uint deepening, const int aspiration)
{
    const size_t game = get_group_id(0), whole = game * nodes;
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    next_depth(moves, best, states, first_child, child_count, open_children, counts, taken, level,
               horizon, root_moves, low, high, repeated, nodes, width, depth, deepening, aspiration,
               game, level[game] == NEXT_DEPTH);
    const uint at = batch_level(level, game);
    const bool over = at > depth, inner = !over && at > 0u;
    const size_t row = game * (depth + 1u) + (over ? 0u : at);
    const uint start = level_starts[over ? 0u : at];
    const uint end = start + counts[row], last_round = last_rounds[over ? 0u : at];
    const bool line = !over && principal_variation && is_first_line(taken + row - at, at);
    const uint usual = at == horizon[game] ? most_leaves : level_most[over ? 0u : at];
    const uint most = line ? 1u : usual;
    const int root_low = low[game], root_high = high[game];
    uint first = start + taken[row], now = round[row];
    parents += whole;
    best += whole;
    states += whole;
    first_child += whole;
    child_count += whole;
    batch += game * slots;
    __local uint *before = local_malloc(STRIP * sizeof(uint));
    __local uint *from = local_malloc(STRIP * sizeof(uint));
    __local uchar *dead = local_malloc(STRIP * sizeof(uchar));
    uint parent = inner ? parents[first] : 0u;
    uint left = inner ? parents[end - 1u] + 1u - parent : 0u;
    uint chosen = 0u;
    do {
        const uint here = opaque(min(left, STRIP));
        for (uint i = lid; i < here; i += lanes) {
            const uint own = pending_count(first_child, child_count, states, first, ranks[now],
                                           rank_end(ranks, now, last_round), parent + i);
            const bool useless =
                own > 0u && is_dead(parents, best, states, prune, root_low, root_high, parent + i);
            dead[i] = useless;
            before[i] = useless ? 0u : own;
            from[i] = pending_from(first_child, first, ranks[now], parent + i);
        }
        barrier(CLK_LOCAL_MEM_FENCE |
                CLK_GLOBAL_MEM_FENCE);  // all were judged, before one is marked
        const uint sum = scan_exclusive(before, here);
        list_children(before, from, dead, here, sum, chosen, most, parent, states, batch);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the list, and the strip is read
        chosen = min(chosen + sum, most);
        parent += here;
        left -= here;
        if (inner && left == 0u && chosen == 0u && now < last_round) {
            ++now;
            first = start;
            parent = parents[start];
            left = parents[end - 1u] + 1u - parent;
        }
    } while (left > 0u && chosen < most);
    if (lid == 0u && !over) {
        if (at == 0u) {
            batch[0] = first;
            chosen = 1u;
        }
        round[row] = now;
        batch_size[game] = chosen;
        batch_first[game] = first;
        batch_end[game] = chosen == most ? batch[chosen - 1u] + 1u : end;
    }
}

#endif
