// What is a board worth after some plies? A whole tree of boards, made level by level.
// Twin: reference_py/games/kalah/parallel.py.
//
// A workgroup is a board (a long launch is several, of which each has the workgroups from
// `first_group` on), a work-item every n-th node of a level, or one alone on a CPU
// (group.cl). Every node has PITS children, whether they are moves or not, so that each is found by
// its number (tree.cl). Three steps, as in the original: generate, evaluate, reduce. Evaluation is
// free: the value of a board follows from the one before it. The maximum is of the node's own
// mover, who may be the one of the node above: tree_max_local does not fit. Local memory: 37 bytes
// a node. Macros: NODES, those of the largest tree.
#include "games/kalah/search.cl"
#include "primitives/group.cl"
#include "primitives/tree.cl"

#define IS_NONE 0  // no such move, or no game any more
#define IS_SAME 1  // the mover of the node above moves again
#define IS_OTHER 2

// Fill the nodes of a level, from those of the level above; the root exists already.
INLINED void generate(__local view_t *nodes, __local uchar *kind, const uint start, const uint n)
{
    for (uint k = LANE; k < n; k += LANES) {
        const uint node = start + k, i = (node - 1u) % PITS, above = tree_parent(PITS, node);
        const view_t board = nodes[above];
        kind[node] = IS_NONE;
        if (kind[above] != IS_NONE && !is_over(board) && STONES(board.own, i) > 0u) {
            const moved_t after = play(board, i);
            nodes[node] = next_view(after);
            kind[node] = after.again ? IS_SAME : IS_OTHER;
        }
    }
}

// Give every node what it is worth if the search ends at it, and count it.
INLINED void evaluate_nodes(const __local view_t *nodes, const __local uchar *kind,
                            __local uint *counted, const uint last, const uint n)
{
    for (uint node = LANE; node < n; node += LANES) {
        const bool used = kind[node] != IS_NONE;
        counted[3u * node] = used;
        counted[3u * node + 1u] = used && node >= last;
        counted[3u * node + 2u] = used && node < last && is_over(nodes[node]);
    }
}

// Give the boards of a level whose search continues the best of their children, as their mover sees
// it. Returns the pit, from 0, of the last node that the work-item did.
INLINED int reduce_nodes(__local view_t *nodes, const __local uchar *kind, __local uint *counted,
                         const uint start, const uint n)
{
    int pit = NO_PIT;
    for (uint k = LANE; k < n; k += LANES) {
        const uint node = start + k;
        if (kind[node] == IS_NONE || is_over(nodes[node])) continue;
        int best = 0;
        pit = NO_PIT;
        for (uint i = 0; i < PITS; ++i) {
            const uint child = tree_child(PITS, node, i);
            if (kind[child] == IS_NONE) continue;
            const int below = nodes[child].value;
            const int value = kind[child] == IS_SAME ? below : -below;
            if (pit == NO_PIT || value > best) {
                best = value;
                pit = (int)i;
            }
            for (uint what = 0; what < 3u; ++what)
                counted[3u * node + what] += counted[3u * child + what];
        }
        nodes[node].value = best;
    }
    return pit;
}

__kernel void parallel(__global const uchar *boards, __global const uchar *movers,
                       __global const uint *counts, __global int *board_score,
                       __global short *board_pit, __global long *board_nodes,
                       __global long *board_leaves, __global long *board_finished,
                       __global long *frontier, __global long *boards_per_launch, const uint copies,
                       const uint board_count, const uint level, const uint parents,
                       const uint skip, const uint most, const uint plies, const uint first_group)
{
    const uint part = PART_OF_GAME(most, 1u);
    const size_t game = GAME(most, 1u);
    const uint n = batch(counts[game * LEVELS + level], skip, most);
    if (part == 0u && get_local_id(0) == 0) {
        frontier[game] += n;
        boards_per_launch[game] = max(boards_per_launch[game], (long)n);
    }
    if (part >= n) return;
    const size_t at = game * board_count + parents + skip + part;
    const int side = movers[at];
    __local view_t *nodes = local_malloc(NODES * sizeof(view_t));
    __local uint *counted = local_malloc(3 * NODES * sizeof(uint));
    __local uchar *kind = local_malloc(NODES * sizeof(uchar));
    if (get_local_id(0) == 0) {
        nodes[0] = view_of(boards + at * CELLS, side);
        kind[0] = IS_SAME;
    }
    uint depth = 0u;
    do {
        // Level 0 exists already; nothing is made.
        const uint start = tree_level_start(PITS, depth);
        generate(nodes, kind, start, depth == 0u ? 0u : tree_level_start(PITS, depth + 1u) - start);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // this level or the root, before the level below
        ++depth;
    } while (depth <= plies);
    evaluate_nodes(nodes, kind, counted, tree_level_start(PITS, plies), tree_nodes(PITS, plies));
    int pit = NO_PIT;
    do {
        --depth;  // from the lowest level, which has nothing below and is left alone
        const uint start = tree_level_start(PITS, depth);
        const uint here = depth == plies ? 0u : tree_level_start(PITS, depth + 1u) - start;
        pit = reduce_nodes(nodes, kind, counted, start, here);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // all counts, then this level, before the one above
    } while (depth > 0u);
    if (get_local_id(0) == 0) {
        board_score[at] = score_of(nodes[0].value, side);
        board_pit[at] = (short)(pit == NO_PIT ? NO_PIT : pit + (side == TOP ? PITS + 1 : 0));
        board_nodes[at] = counted[0];
        board_leaves[at] = counted[1];
        board_finished[at] = counted[2];
    }
}
