// What does every free cell become in one step: its neighbours' mean, or what heat makes of it?
// Twin: reference_py/physics/laplace/sweep.py.
//
// Two forms with the same bits; every cell is computed from old values alone, so order is free. A
// plate that has ended is carried over unchanged: whatever is done with `next` after it is
// harmless.
// No local memory, no barriers.
#include "physics/laplace/fours.cl"
#include "physics/laplace/plate.cl"
#include "physics/laplace/rule.cl"
#include "primitives/group.cl"

// The new potential of a cell with four neighbours in memory; `at` is its index in the plate.
static num stepped(const num factor, __global const num *restrict phi, const size_t at)
{
    return RULED(factor, phi[at],
                 ((phi[at + 1] + phi[at - 1]) + phi[at + COLUMNS]) + phi[at - COLUMNS]);
}

#if VARIANT == VARIANT_SEED

// The form of the seed: a work-item is a cell, or every n-th cell if there are only n work-items.
__kernel void sweep(__global const num *restrict phi, __global num *restrict next,
                    __global const mask_t *restrict free, __global const long *restrict ended,
                    const uint copies, __global const real *restrict value_table)
{
    const size_t parts = get_num_groups(0) / copies, part = get_group_id(0) % parts;
    const size_t plate = get_group_id(0) / parts, lanes = get_local_size(0);
    __global const num *restrict old = phi + plate * CELLS;
    __global num *restrict updated = next + plate * CELLS;
    const bool runs = ended[plate] == RUNNING;
    const num factor = FACTOR;
    for (size_t at = part * lanes + get_local_id(0); at < CELLS; at += parts * lanes) {
        if (runs && free[plate * CELLS + at])
            updated[at] = stepped(factor, old, at);
        else
            updated[at] = old[at];
    }
}

#elif DEVICE_IS_CPU

// A workgroup is a band of neighbouring rows, and its work-item visits one row after the other. The
// rule is also applied to cells that are not free and the result dropped, which is cheaper than a
// branch; of over-relaxation, to black ones as well. A cell is read before that is known: PoCL's
// compiler makes vectors of no loop that reads it for the cells alone that are not free.
__kernel void sweep(__global const num *restrict phi, __global num *restrict next,
                    __global const mask_t *restrict free, __global const long *restrict ended,
                    const uint copies, __global const real *restrict value_table)
{
    const size_t parts = get_num_groups(0) / copies, part = get_group_id(0) % parts;
    const size_t plate = get_group_id(0) / parts;
    const bool runs = ended[plate] == RUNNING;
    const num factor = FACTOR;
    for (size_t row = ROWS * part / parts; row < ROWS * (part + 1) / parts; ++row) {
        const size_t first = plate * CELLS + row * COLUMNS;
        __global const num *restrict old = phi + first;
        __global num *restrict updated = next + first;
        __global const mask_t *restrict mask = free + first;
        if (runs && row > 0 && row < ROWS - 1) {
            __global const num *restrict above = old - COLUMNS, *restrict below = old + COLUMNS;
            // Cells of the first and last column have neighbours in memory, though not on the
            // plate.
            for (int column = 0; column < COLUMNS; ++column) {
                const num cell = old[column];
                const num around =
                    ((old[column + 1] + old[column - 1]) + below[column]) + above[column];
                const num value = RULED(factor, cell, around);
#if METHOD == METHOD_SOR
                const bool moves = mask[column] && (row + column) % 2 == 0;
#else
                const bool moves = mask[column];
#endif
                updated[column] = moves ? value : cell;
            }
        } else {
            for (int column = 0; column < COLUMNS; ++column) updated[column] = old[column];
        }
    }
}

#else

// A work-item takes STRIP rows of four neighbouring columns, from the top down, or every n-th such
// strip if there are only n work-items, so that a cell is read from memory once and not for each of
// its neighbours, and 16 bytes at a time. Strips follow each other along the rows. Where rows do
// not begin at a multiple of four cells, a strip is a single column. Macros: STRIP, rows of a
// strip; of 1, 2, 4, 8 and 16, two are the fastest on an H100 (benchmarks/plates.py).
#ifndef STRIP
#define STRIP 2
#endif
#define FOUR (COLUMNS % 4 == 0)

#if FOUR
#define WIDTH 4
typedef num4 cells_t;
#define MOVES(mask) bits_of(*(__global const uchar4 *)(mask))
#define RED(row, column) ((row) % 2 == 0 ? 5u : 10u)
#define AROUND(cells, left, right, below, above) \
    ruled_four(factor, cells, left, right, below, above)
#define CHOSEN(moves, changed, cells) where_free(moves, changed, cells)
#else
#define WIDTH 1
typedef num cells_t;
#define MOVES(mask) ((uint) * (mask))
#define RED(row, column) (((row) + (column) + 1u) % 2)
#define AROUND(cell, left, right, below, above) \
    RULED(factor, cell, (((right) + (left)) + (below)) + (above))
#define CHOSEN(moves, changed, cell) ((moves) ? (changed) : (cell))
#endif

#define CELLS_AT(at) (*(__global const cells_t *)(old + (at)))

__kernel void sweep(__global const num *restrict phi, __global num *restrict next,
                    __global const mask_t *restrict free, __global const long *restrict ended,
                    const uint copies, __global const real *restrict value_table)
{
    const uint parts = (uint)get_num_groups(0) / copies, part = (uint)get_group_id(0) % parts;
    const size_t plate = get_group_id(0) / parts;
    const uint across = COLUMNS / WIDTH, strips = across * ((ROWS + STRIP - 1) / STRIP);
    const bool runs = ended[plate] == RUNNING;
    const num factor = FACTOR;
    __global const num *restrict old = phi + plate * CELLS;
    __global num *restrict updated = next + plate * CELLS;
    __global const mask_t *restrict mask = free + plate * CELLS;
    for (uint strip = part * LANES + LANE; strip < strips; strip += parts * LANES) {
        const uint first = strip / across * STRIP, column = strip % across * WIDTH;
        const uint last = min(first + STRIP, (uint)ROWS);
        uint at = first * COLUMNS + column;
        cells_t cells = CELLS_AT(at), above = CELLS_AT(first > 0 ? at - COLUMNS : at);
#pragma unroll
        for (uint row = first; row < last; ++row) {
            const bool inside = runs && row > 0 && row < ROWS - 1;
            const cells_t below = CELLS_AT(row < ROWS - 1 ? at + COLUMNS : at);
            // Cells of the first and last column have neighbours in memory, though not on the
            // plate.
            const num left = old[inside ? at - 1 : at], right = old[inside ? at + WIDTH : at];
            uint moves = inside ? MOVES(mask + at) : 0u;
#if METHOD == METHOD_SOR
            moves &= RED(row, column);
#endif
            const cells_t changed = AROUND(cells, left, right, below, above);
            *(__global cells_t *)(updated + at) = CHOSEN(moves, changed, cells);
            above = cells;
            cells = below;
            at += COLUMNS;
        }
    }
}

#endif
