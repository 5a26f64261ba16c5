/* Kalah's whole tree on one core, as one writes it in C: the peer of benchmarks/kalah.py.

       cc -O3 -march=native kalah.c -o kalah && ./kalah DEPTH

   Six pits a side, four stones a pit, TOP to move. Prints score, move, nodes, seconds and
   processor seconds. No code is shared with the kernels. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PITS = 6, STORE = 6, CELLS = 14, TOP = 0, BOTTOM = 1 };

typedef struct {
    signed char cells[CELLS];
    signed char to_move;
} board;

static unsigned long long nodes;

static int first_pit(int side)
{
    return side == TOP ? PITS + 1 : 0;
}

static int evaluate(const board *b)
{
    int score = 5 * (b->cells[CELLS - 1] - b->cells[STORE]);
    for (int i = 0; i < PITS; ++i) score += b->cells[PITS + 1 + i] - b->cells[i];
    return score;
}

static int is_over(const board *b)
{
    int bottom = 0, top = 0;
    for (int i = 0; i < PITS; ++i) {
        bottom |= b->cells[i];
        top |= b->cells[PITS + 1 + i];
    }
    return !bottom || !top;
}

static void play(board *b, int pit)
{
    const int side = b->to_move, first = first_pit(side), store = first + PITS;
    const int skipped = side == TOP ? STORE : CELLS - 1;
    int stones = b->cells[pit], at = pit;
    b->cells[pit] = 0;
    while (stones) {
        if (++at == CELLS) at = 0;
        if (at == skipped) continue;
        ++b->cells[at];
        --stones;
    }
    if (at == store) return;
    const int facing = 2 * PITS - at;
    if (at >= first && at < store && b->cells[at] == 1 && b->cells[facing]) {
        b->cells[store] += b->cells[facing] + 1;
        b->cells[at] = b->cells[facing] = 0;
    }
    b->to_move = BOTTOM - side;
}

static int minimax(const board *b, int depth, int *move)
{
    ++nodes;
    *move = -1;
    if (depth == 0 || is_over(b)) return evaluate(b);
    const int first = first_pit(b->to_move);
    int best = 0;
    for (int pit = first; pit < first + PITS; ++pit) {
        if (!b->cells[pit]) continue;
        board after = *b;
        int below;
        play(&after, pit);
        const int score = minimax(&after, depth - 1, &below);
        if (*move < 0 || (b->to_move == TOP ? score > best : score < best)) {
            best = score;
            *move = pit;
        }
    }
    return best;
}

int main(int argc, char **argv)
{
    const int depth = argc > 1 ? atoi(argv[1]) : 8;
    board start = {{4, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4, 4, 4, 0}, TOP};
    struct timespec began, ended;
    double seconds;
    int move, score, times = 0;
    clock_gettime(CLOCK_MONOTONIC, &began);
    do { /* short searches again and again, for a tenth of a second */
        nodes = 0;
        score = minimax(&start, depth, &move);
        ++times;
        clock_gettime(CLOCK_MONOTONIC, &ended);
        seconds = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    } while (seconds < 0.1);
    printf("%d %d %llu %.9f %.9f\n", score, move, nodes, seconds / times,
           (double)clock() / CLOCKS_PER_SEC / times);
    return 0;
}
