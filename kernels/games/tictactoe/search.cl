// Tic-tac-toe for a search: which moves has a position, what is it worth, which position follows?
// Twin: reference_py/games/tictactoe/search.py.
//
// A position is two words: the squares of the side to move, and those of the other side; square s
// is bit s, row by row.
#ifndef GAMES_TICTACTOE_SEARCH_CL
#define GAMES_TICTACTOE_SEARCH_CL

#include "primitives/real.cl"

#define GAME_PARAMETERS
#define GAME_ARGUMENTS

#define SQUARES 9u

// Whether a side has three in a row; a digit of a line is a row.
static bool has_line(const uint squares)
{
    const uint lines[8] = {0007u, 0070u, 0700u, 0111u, 0222u, 0444u, 0421u, 0124u};
    bool found = false;
    for (uint i = 0; i < 8u; ++i) found = found || (squares & lines[i]) == lines[i];
    return found;
}

// List the free squares in order; none once the other side has won.
static uint branch(__global const uint *position, __global uint *moves)
{
    const uint own = position[0], other = position[1];
    uint count = 0u;
    for (uint square = 0; square < SQUARES; ++square)
        if (!has_line(other) && ((own | other) >> square & 1u) == 0u) moves[count++] = square;
    return count;
}

// Minus what is left of ten moves if the other side has won, else 0.
static int evaluate(__global const uint *position, const uint ply)
{
    return has_line(position[1]) ? (int)ply - 10 : 0;
}

// The position after a move: the sides have changed.
static void make(__global const uint *position, const uint move, __global uint *child)
{
    child[0] = position[1];
    child[1] = position[0] | 1u << move;
}

#include "games/ngtsg/branch.cl"
#include "games/ngtsg/evaluate.cl"
#include "games/ngtsg/make.cl"

#endif
