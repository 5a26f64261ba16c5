// Which lines run through a point, and what is on them?
// Twin: reference_py/games/connect6/geometry.py.
//
// Lines of all directions are in one array of masks: rows, columns, then both diagonals.
#ifndef GAMES_CONNECT6_GEOMETRY_CL
#define GAMES_CONNECT6_GEOMETRY_CL

#include "primitives/real.cl"

#define SIDE 19u
#define POINTS 361u
#define DIRECTIONS 4u
#define LINES (2u * SIDE + 2u * (2u * SIDE - 1u))
#define SIDE_WORDS 12u
#define NONE 0xffffu

// A line through a point: its place among all lines, its length, the place of the point on it.
typedef struct {
    uint number, length, place;
} line_t;

// Points that a side may yet fill: place of the first on its line, length, its stones.
typedef struct {
    uint first, length, mask;
} segment_t;

static line_t line_of(const uint point, const uint direction)
{
    const uint row = point / SIDE, column = point % SIDE;
    line_t line = {row, SIDE, column};
    if (direction == 1u) {
        line.number = SIDE + column;
        line.place = row;
    } else if (direction == 2u) {
        line.number = 2u * SIDE + column + (SIDE - 1u) - row;
        line.length = SIDE - (column > row ? column - row : row - column);
        line.place = min(row, column);
    } else if (direction == 3u) {
        const uint sum = row + column;
        const uint past = sum > SIDE - 1u ? sum - (SIDE - 1u) : 0u;
        line.number = 4u * SIDE - 1u + sum;
        line.length = past > 0u ? SIDE - past : sum + 1u;
        line.place = row - past;
    }
    return line;
}

// How far apart neighbours on a line are.
static uint step_of(const uint direction)
{
    return direction == 0u ? 1u : direction == 1u ? SIDE : direction == 2u ? SIDE + 1u : SIDE - 1u;
}

static uint edge_distance(const uint point)
{
    const uint row = point / SIDE, column = point % SIDE;
    return min(min(row, column), min(SIDE - 1u - row, SIDE - 1u - column));
}

// Place of the lowest bit of a word that has one.
static uint lowest(const uint word)
{
    return popcount((word & -word) - 1u);
}

// Add a stone to the lines through its point, or take it away.
static void put_stone(uint *lines, const uint point)
{
    for (uint direction = 0; direction < DIRECTIONS; ++direction) {
        const line_t line = line_of(point, direction);
        lines[line.number] ^= 1u << line.place;
    }
}

// Fill the lines of a side.
static void lines_with(uint *lines, __global const uint *stones)
{
    for (uint i = 0; i < LINES; ++i) lines[i] = 0u;
    for (uint i = 0; i < SIDE_WORDS; ++i)
        for (uint word = stones[i]; word > 0u; word &= word - 1u)
            put_stone(lines, 32u * i + lowest(word));
}

// The segment around a place of a line, which has no stone of the other side.
static segment_t segment_at(const uint own, const uint other, const uint length, const uint place)
{
    const uint below = other & ((1u << place) - 1u), above = other >> place;
    segment_t found;
    found.first = below > 0u ? 32u - clz(below) : 0u;
    const uint end = above > 0u ? place + lowest(above) : length;
    found.length = end - found.first;
    found.mask = own >> found.first & ((1u << found.length) - 1u);
    return found;
}

#endif
