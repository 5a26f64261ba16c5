// Where in the table is a board, and in which order do the boards of a layer get their value?
// Twin: reference_py/games/kalah/layer.py.
//
// A board is the cells of both rows as the side to move sees it: its own pits, then the other
// side's, in the order of sowing. Games with different numbers of pits share a launch, so pits are
// an argument here. `binomials` has C(n, k) for k up to COLUMNS - 1, a row for each n. Macros:
// MOST_CELLS, COLUMNS.
#ifndef GAMES_KALAH_LAYER_CL
#define GAMES_KALAH_LAYER_CL

#include "primitives/real.cl"

#define CHOOSE(n, k) (binomials[(n) * COLUMNS + (k)])

// How many boards have a number of stones in a number of cells.
static ulong layer_boards(__global const ulong *binomials, const uint cells, const uint stones)
{
    return CHOOSE(stones + cells - 1u, cells - 1u);
}

// The board of a layer that has this number.
static void unrank(__global const ulong *binomials, ulong number, const uint cells, uint stones,
                   uchar *board)
{
    for (uint i = 0; i + 1u < cells; ++i) {
        const uint after = cells - i - 1u;
        uint here = 0u;
        ulong smaller = CHOOSE(stones + after - 1u, after - 1u);
        while (smaller <= number) {
            number -= smaller;
            ++here;
            smaller = CHOOSE(stones - here + after - 1u, after - 1u);
        }
        board[i] = (uchar)here;
        stones -= here;
    }
    board[cells - 1u] = (uchar)stones;
}

// Where in the table a board with its stones is; `flipped`: as the other side sees it.
static ulong place(__global const ulong *binomials, const uchar *board, const uint cells,
                   const uint stones, const bool flipped)
{
    ulong at = stones > 0u ? CHOOSE(stones + cells - 1u, cells) : 0ul;
    uint left = stones;
    for (uint i = 0; i < cells; ++i) {
        const uint row = cells / 2u, after = cells - i - 1u;
        const uint here = board[flipped ? (i < row ? i + row : i - row) : i];
        at += CHOOSE(left + after, after) - CHOOSE(left - here + after, after);
        left -= here;
    }
    return at;
}

// A number that falls with every move that banks nothing: how far from the last pit of their row
// the stones are of all pits with so few that they stay in the row.
static uint potential(const uchar *board, const uint pits)
{
    uint sum = 0u;
    for (uint i = 0; i < 2u * pits; ++i) {
        const uint far = pits - 1u - i % pits;
        if (board[i] <= far) sum += board[i] * far;
    }
    return sum;
}

// Sow the stones of an own pit; returns how many were banked, and whether the side goes again.
static uint sow(uchar *board, const uint pits, const uint i, const bool empty_capture, bool *again)
{
    uint stones = board[i], at = i, banked = 0u;
    board[i] = 0;
    while (stones > 0u) {
        at = at == 2u * pits ? 0u : at + 1u;  // own pits, own store, the other pits
        if (at == pits)
            ++banked;
        else
            ++board[at < pits ? at : at - 1u];
        --stones;
    }
    *again = at == pits;
    if (at < pits && board[at] == 1) {
        const uint facing = 2u * pits - 1u - at;
        if (board[facing] > 0 || empty_capture) {
            banked += board[facing] + 1u;
            board[at] = board[facing] = 0;
        }
    }
    return banked;
}

#endif
