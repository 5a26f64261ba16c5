// Which structures do the stones of a side have? Winner test (a) of three: uses the
// stones alone. Twin: reference_py/games/havannah/flood.py.
//
// WIDTH boards are done at once, each in a lane of a vector: CPUs have instructions for it. Cells
// spread row by row, down the board and up again, until a pass changes none of the boards. Private
// memory alone, no barriers. Macros: WIDTH, 1, 8 or 16.
#ifndef GAMES_HAVANNAH_FLOOD_CL
#define GAMES_HAVANNAH_FLOOD_CL

#include "games/havannah/board.cl"

#if WIDTH == 1
typedef uint rows_t;
#elif WIDTH == 8
typedef uint8 rows_t;
#else
typedef uint16 rows_t;
#endif

// Is a bit set in any lane? By halves: the compiler of PoCL 3.0 crashes at `any` of 16 comparisons.
INLINED bool in_any(const rows_t bits)
{
#if WIDTH == 1
    return bits != 0u;
#elif DEVICE_IS_INTERPRETED  // Oclgrind takes halves of vectors for values that were never set
    uint all = 0u;
    for (uint lane = 0; lane < WIDTH; ++lane) all |= ((const uint *)&bits)[lane];
    return all != 0u;
#else
#if WIDTH == 8
    const uint8 eight = bits;
#else
    const uint8 eight = bits.lo | bits.hi;
#endif
    const uint4 four = eight.lo | eight.hi;
    const uint2 two = four.lo | four.hi;
    return (two.x | two.y) != 0u;
#endif
}

// What is reached within a row through `allowed`: the carries of a sum run up to the end of a run
// of bits; downwards, four cells are enough as a rule, and other passes do the rest.
INLINED rows_t along(const rows_t allowed, const rows_t start)
{
    rows_t found = start | (allowed & (allowed ^ (allowed + start)));
    found |= allowed & (found >> 1);
    const rows_t two = allowed & (allowed >> 1);
    found |= two & (found >> 2);
    return found;
}

// Add to `found` all cells that can be reached from it through `allowed`, of which it is a part.
INLINED void reached(const rows_t *allowed, rows_t *found)
{
    bool goes_on = true;
    for (uint pass = 0; goes_on; ++pass) {
        rows_t changed = 0u, last = 0u;
        for (int row = 1; row <= ROWS; ++row) {
            const rows_t now = found[row];
            last = along(allowed[row], now | ((last | (last << 1)) & allowed[row]));
            changed |= last ^ now;
            found[row] = last;
        }
        if (pass > 0u && !in_any(changed)) return;
        changed = 0u;
        last = 0u;
        for (int row = ROWS; row >= 1; --row) {
            const rows_t now = found[row];
            last = along(allowed[row], now | ((last | (last >> 1)) & allowed[row]));
            changed |= last ^ now;
            found[row] = last;
        }
        goes_on = in_any(changed);
    }
}

// Cells that stones enclose and stones with six own neighbours: not 0 in boards with a ring.
INLINED rows_t rings(const rows_t *own)
{
    rows_t free[PADDED], found[PADDED], enclosed = 0u;
    for (int row = 1; row <= ROWS; ++row) {
        free[row] = ~own[row] & row_of_board(row);
        found[row] = free[row] & edge_of_board(row);
    }
    reached(free, found);
    for (int row = 1; row <= ROWS; ++row) {
        const rows_t above = own[row - 1] & (own[row - 1] << 1);
        const rows_t below = own[row + 1] & (own[row + 1] >> 1);
        enclosed |= free[row] ^ found[row];
        enclosed |= own[row] & (own[row] << 1) & (own[row] >> 1) & above & below;
    }
    return enclosed;
}

// Cells of groups that touch two corners, or three sides: not 0 in boards with a bridge or fork.
// `marks` are the rows of each side, then of each corner.
INLINED void links(const rows_t *own, __global const uint *marks, rows_t *bridges, rows_t *forks)
{
    rows_t found[PADDED], once[PADDED], twice[PADDED];
    *bridges = *forks = 0u;
    for (uint mark = 0; mark < 12u; ++mark) {
        if (mark % 6u == 0u)
            for (int row = 1; row <= ROWS; ++row) once[row] = twice[row] = 0u;
        rows_t some = 0u;
        for (int row = 1; row <= ROWS; ++row) {
            found[row] = own[row] & marks[mark * PADDED + row];
            some |= found[row];
        }
        if (!in_any(some)) continue;
        reached(own, found);
        for (int row = 1; row <= ROWS; ++row) {
            if (mark < 6u)
                *forks |= twice[row] & found[row];
            else
                *bridges |= once[row] & found[row];
            twice[row] |= once[row] & found[row];
            once[row] |= found[row];
        }
    }
}

#endif
