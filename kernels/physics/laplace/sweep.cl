// What does every free cell become in one step: its neighbours' mean, or what heat makes of it?
// Twin: reference_py/physics/laplace/sweep.py.
//
// Two forms with the same bits; every cell is computed from old values alone, so order is free. A
// plate that has ended is carried over unchanged: whatever is done with `next` after it is
// harmless.
// No local memory, no barriers.
#include "physics/laplace/plate.cl"
#include "physics/laplace/rule.cl"
#include "primitives/group.cl"

// The new potential of a cell with four neighbours in memory; `at` is its index in the plate.
static num stepped(__global const num *restrict phi, const size_t at)
{
    return RULED(phi[at], ((phi[at + 1] + phi[at - 1]) + phi[at + COLUMNS]) + phi[at - COLUMNS]);
}

#if FORM_IS_SEED

// The form of the seed: a work-item is a cell, or every n-th cell if there are only n work-items.
__kernel void sweep(__global const num *restrict phi, __global num *restrict next,
                    __global const mask_t *restrict free, __global const long *restrict ended,
                    const uint copies)
{
    const size_t parts = get_num_groups(0) / copies, part = get_group_id(0) % parts;
    const size_t plate = get_group_id(0) / parts, lanes = get_local_size(0);
    __global const num *restrict old = phi + plate * CELLS;
    __global num *restrict updated = next + plate * CELLS;
    const bool runs = ended[plate] == RUNNING;
    for (size_t at = part * lanes + get_local_id(0); at < CELLS; at += parts * lanes) {
        if (runs && free[plate * CELLS + at])
            updated[at] = stepped(old, at);
        else
            updated[at] = old[at];
    }
}

#else

// A workgroup is a band of neighbouring rows, a work-item every n-th column of each, of n
// work-items: work-items that follow each other read cells that follow each other, and one alone
// reads along the row. The rule is also applied to cells that are not free and the result dropped,
// which is cheaper than a branch; of over-relaxation, to black ones as well.
__kernel void sweep(__global const num *restrict phi, __global num *restrict next,
                    __global const mask_t *restrict free, __global const long *restrict ended,
                    const uint copies)
{
    const size_t parts = get_num_groups(0) / copies, part = get_group_id(0) % parts;
    const size_t plate = get_group_id(0) / parts;
    const bool runs = ended[plate] == RUNNING;
    for (size_t row = ROWS * part / parts; row < ROWS * (part + 1) / parts; ++row) {
        const size_t first = plate * CELLS + row * COLUMNS;
        __global const num *restrict old = phi + first;
        __global num *restrict updated = next + first;
        __global const mask_t *restrict mask = free + first;
        if (runs && row > 0 && row < ROWS - 1) {
            __global const num *restrict above = old - COLUMNS, *restrict below = old + COLUMNS;
            // Cells of the first and last column have neighbours in memory, though not on the
            // plate.
            for (int column = (int)LANE; column < COLUMNS; column += (int)LANES) {
                const num around =
                    ((old[column + 1] + old[column - 1]) + below[column]) + above[column];
                const num value = RULED(old[column], around);
#if METHOD_IS_SOR
                const bool moves = mask[column] && (row + column) % 2 == 0;
#else
                const bool moves = mask[column];
#endif
                updated[column] = moves ? value : old[column];
            }
        } else {
            for (int column = (int)LANE; column < COLUMNS; column += (int)LANES)
                updated[column] = old[column];
        }
    }
}

#endif
