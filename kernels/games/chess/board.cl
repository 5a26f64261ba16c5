// What is a position of chess, and how does it look from the other side of the board?
// Twin: reference_py/games/chess/board.py.
//
// A set of squares is a ulong with a bit for each square: bit 8 * rank + file, as the side to move
// sees the board. A position is seven sets, of which a game keeps `stride` each: all sets of one
// kind are next to each other.
#ifndef GAMES_CHESS_BOARD_CL
#define GAMES_CHESS_BOARD_CL

#include "primitives/real.cl"

#define RANK_1 0x00000000000000fful
#define RANK_3 0x0000000000ff0000ul
#define RANK_4 0x00000000ff000000ul
#define RANK_6 0x0000ff0000000000ul
#define RANK_8 0xff00000000000000ul
#define CORNERS 0x8100000000000081ul
#define SETS 7u

// As the side to move sees it. Kings are the pieces in none of the four sets of kinds; queens are
// in two of them. `special` has, of the corners, rooks that may castle, and of the sixth rank the
// square for a capture en passant.
typedef struct {
    ulong own, other, pawns, knights, diagonals, orthogonals, special;
} position_t;

// The lowest square of a set.
static ulong lowest(const ulong squares)
{
    return squares & (0ul - squares);
}

// The number of a square.
static uint number_of(const ulong square)
{
    return (uint)popcount(square - 1ul);
}

// A set as it is seen from the other side: its bytes in reverse order.
static ulong flipped(const ulong squares)
{
    const ulong bytes =
        ((squares >> 8) & 0x00ff00ff00ff00fful) | ((squares & 0x00ff00ff00ff00fful) << 8);
    const ulong words =
        ((bytes >> 16) & 0x0000ffff0000fffful) | ((bytes & 0x0000ffff0000fffful) << 16);
    return (words >> 32) | (words << 32);
}

// The position as the other side sees it, who is then to move.
static position_t turned(const position_t position)
{
    position_t seen;
    seen.own = flipped(position.other);
    seen.other = flipped(position.own);
    seen.pawns = flipped(position.pawns);
    seen.knights = flipped(position.knights);
    seen.diagonals = flipped(position.diagonals);
    seen.orthogonals = flipped(position.orthogonals);
    seen.special = flipped(position.special);
    return seen;
}

// A position in memory.
static position_t position_at(__global const ulong *sets, const size_t at, const size_t stride)
{
    position_t found;
    found.own = sets[at];
    found.other = sets[at + stride];
    found.pawns = sets[at + 2 * stride];
    found.knights = sets[at + 3 * stride];
    found.diagonals = sets[at + 4 * stride];
    found.orthogonals = sets[at + 5 * stride];
    found.special = sets[at + 6 * stride];
    return found;
}

static void put_position(__global ulong *sets, const size_t at, const size_t stride,
                         const position_t position)
{
    sets[at] = position.own;
    sets[at + stride] = position.other;
    sets[at + 2 * stride] = position.pawns;
    sets[at + 3 * stride] = position.knights;
    sets[at + 4 * stride] = position.diagonals;
    sets[at + 5 * stride] = position.orthogonals;
    sets[at + 6 * stride] = position.special;
}

#endif
