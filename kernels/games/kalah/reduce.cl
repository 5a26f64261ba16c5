// What are the boards of a level worth, now that those which follow them are known?
// Twin: reference_py/games/kalah/reduce.py.
//
// A workgroup is a part of the boards, a work-item every n-th of them. No local memory, no
// barriers.
#include "games/kalah/search.cl"

__kernel void reduce(__global const uchar *boards, __global const uchar *movers,
                     __global const uint *counts, __global const uint *first,
                     __global int *board_score, __global short *board_pit,
                     __global long *board_nodes, __global long *board_leaves,
                     __global long *board_finished, const uint board_count, const uint level,
                     const uint parents, const uint children, const uint skip, const uint most,
                     const uint first_group)
{
    const size_t game = GAME(most, PART), whole = game * board_count;
    const uint n = batch(counts[game * LEVELS + level], skip, most);
    const uint begin = PART_OF_GAME(most, PART) * PART, end = min(begin + PART, n);
    for (uint k = begin + get_local_id(0); k < end; k += get_local_size(0)) {
        const size_t at = whole + parents + skip + k;
        const int side = movers[at];
        const view_t board = view_of(boards + at * CELLS, side);
        size_t child = whole + children + first[at];
        int best = board.value, pit = NO_PIT;
        long nodes = 1, leaves = 0, finished = is_over(board) ? 1 : 0;
        for (uint i = 0; i < PITS; ++i)
            if (STONES(board.own, i) > 0u && !is_over(board)) {
                const int value = score_of(board_score[child], side);
                if (pit == NO_PIT || value > best) {
                    best = value;
                    pit = (int)i + (side == TOP ? PITS + 1 : 0);
                }
                nodes += board_nodes[child];
                leaves += board_leaves[child];
                finished += board_finished[child];
                ++child;
            }
        board_score[at] = score_of(best, side);
        board_pit[at] = (short)pit;
        board_nodes[at] = nodes;
        board_leaves[at] = leaves;
        board_finished[at] = finished;
    }
}
