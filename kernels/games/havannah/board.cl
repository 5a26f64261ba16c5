// Which cells does a board have, which are neighbours, and which lie on a side or a corner?
// Twin: reference_py/games/havannah/board.py.
//
// In a kernel a cell is its spot, 32 * (y + 1) + x + 1 of its axial coordinates. The stones of a
// side are PADDED rows of 32 bits, with a row of none before the first one and after the last, so
// every neighbour of a cell has a bit. Macros: SIZE, cells of a side of the board, 3 to 10; HELD,
// the memory that the board of a playout is in; NEAR_TABLE if neighbours are looked up in `near_of`
// (spot, 6), constant memory that the header defines.
#ifndef GAMES_HAVANNAH_BOARD_CL
#define GAMES_HAVANNAH_BOARD_CL

#include "primitives/real.cl"

// Memory that holds the board of a playout.
#ifndef HELD
#define HELD __private
#endif

#define ROWS (2 * SIZE - 1)
#define PADDED (ROWS + 2)
#define SPOTS (32 * PADDED)
#define CELLS (3 * SIZE * (SIZE - 1) + 1)

#define EMPTY 0
#define WHITE 1
#define BLACK 2

// Reasons of a win; a stone may complete several, and then they are added up.
#define RING 1u
#define BRIDGE 2u
#define FORK 4u

// From a spot to those of its neighbours, in circular order.
__constant int directions[6] = {1, 33, 32, -1, -33, -32};

// A bit for each neighbour of a spot that is in some rows, in circular order.
INLINED uint neighbours_in(const HELD uint *rows, const uint spot)
{
#ifdef NEAR_TABLE
    uint found = 0u;
    for (uint i = 0; i < 6u; ++i) {
        const uint near = near_of[spot * 6u + i];
        found |= ((rows[near >> 5] >> (near & 31u)) & 1u) << i;
    }
    return found;
#else
    const uint y = spot >> 5, x = spot & 31u;
    const uint above = rows[y - 1u] >> (x - 1u), own = rows[y] >> (x - 1u),
               below = rows[y + 1u] >> x;
    return ((own >> 2) & 1u) | (below & 2u) | ((below & 1u) << 2) | ((own & 1u) << 3) |
           ((above & 3u) << 4);
#endif
}

// The cells of a padded row, a bit each.
INLINED uint row_of_board(const int row)
{
    const int first = max(1, row - SIZE + 1), last = min(ROWS, row + SIZE - 1);
    return row < 1 || row > ROWS ? 0u : (2u << last) - (1u << first);
}

// Those of them at the edge of the board.
INLINED uint edge_of_board(const int row)
{
    const uint whole = row_of_board(row);
    return row == 1 || row == ROWS ? whole : whole & ~((whole << 1) & (whole >> 1));
}

// What a group wins by that touches these sides (bits 0 to 5) and corners (6 to 11).
INLINED uint reasons_of_mask(const uint mask)
{
    return (popcount(mask & 63u) >= 3u ? FORK : 0u) | (popcount(mask >> 6) >= 2u ? BRIDGE : 0u);
}

#endif
