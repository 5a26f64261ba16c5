// What is a board worth after some plies? Every line is played out, depth first, nothing pruned.
// Twin: reference_py/games/kalah/descend.py.
//
// A work-item takes a board. OpenCL has no recursion, so there is a function for each number of
// plies, which calls that of one less. They are inlined: as functions they would keep what they
// count in memory, which makes five plies a fifth slower on a CPU. Moves of the last ply are valued
// and not made. A function returns the best value that the board's mover can reach: the other
// side's values change their sign. No local memory, no barriers. Macros: PLIES, the most plies, at
// most 8.
#include "games/kalah/search.cl"

// What was counted below a board: moves made, boards whose game was over, boards at the full depth.
typedef struct {
    uint nodes, leaves, finished;
} tally_t;

INLINED int minimax_0(const view_t board, tally_t *tally)
{
    ++tally->nodes;
    ++tally->leaves;
    return board.value;
}

// The last ply: no board is made, and it does not matter whether a game would be over.
INLINED int minimax_1(const view_t board, tally_t *tally)
{
    ++tally->nodes;
    if (is_over(board)) {
        ++tally->finished;
        return board.value;
    }
    int best = INT_MIN;
    uint count = 0u;
    for (uint i = 0; i < PITS; ++i) {
        const uint stones = STONES(board.own, i);
        if (stones > 0u) {
            uint last;
            const int value = value_after(board, i, stones, &last);
            best = LARGER(best, value);
            ++count;
        }
    }
    tally->nodes += count;
    tally->leaves += count;
    return best;
}

// The body of the function of n plies, by that of n - 1.
#define MINIMAX(BELOW) \
    ++tally->nodes; \
    if (is_over(board)) { \
        ++tally->finished; \
        return board.value; \
    } \
    int best = INT_MIN; \
    for (uint i = 0; i < PITS; ++i) \
        if (STONES(board.own, i) > 0u) { \
            const moved_t after = play(board, i); \
            const int found = BELOW(next_view(after), tally); \
            const int value = after.again ? found : -found; \
            best = LARGER(best, value); \
        } \
    return best

#if PLIES > 2
INLINED int minimax_2(const view_t board, tally_t *tally)
{
    MINIMAX(minimax_1);
}
#endif

#if PLIES > 3
INLINED int minimax_3(const view_t board, tally_t *tally)
{
    MINIMAX(minimax_2);
}
#endif

#if PLIES > 4
INLINED int minimax_4(const view_t board, tally_t *tally)
{
    MINIMAX(minimax_3);
}
#endif

#if PLIES > 5
INLINED int minimax_5(const view_t board, tally_t *tally)
{
    MINIMAX(minimax_4);
}
#endif

#if PLIES > 6
INLINED int minimax_6(const view_t board, tally_t *tally)
{
    MINIMAX(minimax_5);
}
#endif

#if PLIES > 7
INLINED int minimax_7(const view_t board, tally_t *tally)
{
    MINIMAX(minimax_6);
}
#endif

// The value of a board after fewer than PLIES plies.
INLINED int minimax(const view_t board, const uint plies, tally_t *tally)
{
    switch (plies) {
#if PLIES > 7
    case 7: return minimax_7(board, tally);
#endif
#if PLIES > 6
    case 6: return minimax_6(board, tally);
#endif
#if PLIES > 5
    case 5: return minimax_5(board, tally);
#endif
#if PLIES > 4
    case 4: return minimax_4(board, tally);
#endif
#if PLIES > 3
    case 3: return minimax_3(board, tally);
#endif
#if PLIES > 2
    case 2: return minimax_2(board, tally);
#endif
#if PLIES > 1
    case 1: return minimax_1(board, tally);
#endif
    default: return minimax_0(board, tally);
    }
}

// A workgroup is a part of the boards of a game. The best move is stored as well: of the boards of
// level 0 it is the result.
__kernel void descend(__global const uchar *boards, __global const uchar *movers,
                      __global const uint *counts, __global int *board_score,
                      __global short *board_pit, __global long *board_nodes,
                      __global long *board_leaves, __global long *board_finished,
                      __global long *frontier, __global long *boards_per_launch,
                      const uint board_count, const uint level, const uint parents, const uint skip,
                      const uint most, const uint plies, const uint first_group)
{
    const size_t game = GAME(most, PART);
    const uint n = batch(counts[game * LEVELS + level], skip, most);
    const uint begin = PART_OF_GAME(most, PART) * PART, end = min(begin + PART, n);
    if (begin == 0u && get_local_id(0) == 0) {
        frontier[game] += n;
        boards_per_launch[game] = max(boards_per_launch[game], (long)n);
    }
    for (uint k = begin + get_local_id(0); k < end; k += get_local_size(0)) {
        const size_t at = game * board_count + parents + skip + k;
        const int side = movers[at];
        const view_t board = view_of(boards + at * CELLS, side);
        tally_t tally;
        tally.nodes = 1u;
        tally.leaves = plies == 0u ? 1u : 0u;
        tally.finished = is_over(board) && plies > 0u ? 1u : 0u;
        int best = board.value, pit = NO_PIT;
        for (uint i = 0; i < PITS; ++i)
            if (plies > 0u && STONES(board.own, i) > 0u && !is_over(board)) {
                const moved_t after = play(board, i);
                const int found = minimax(next_view(after), plies - 1u, &tally);
                const int value = after.again ? found : -found;
                if (pit == NO_PIT || value > best) {
                    best = value;
                    pit = (int)i + (side == TOP ? PITS + 1 : 0);
                }
            }
        board_score[at] = score_of(best, side);
        board_pit[at] = (short)pit;
        board_nodes[at] = tally.nodes;
        board_leaves[at] = tally.leaves;
        board_finished[at] = tally.finished;
    }
}
