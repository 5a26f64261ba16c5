// What does every free cell become in one step: its neighbours' mean, or what heat makes of it?
// Twin: reference_py/physics/laplace/sweep.py.
//
// Two forms with the same bits; every cell is computed from old values alone, so order is free. A
// plate that has ended is carried over unchanged: whatever is done with `next` after it is
// harmless.
// No local memory, no barriers.
#include "physics/laplace/plate.cl"

// The new potential of a cell with four neighbours in memory; `at` is its index in the plate.
static num stepped(__global const num *restrict phi, const size_t at)
{
    const num around = ((phi[at + 1] + phi[at - 1]) + phi[at + COLUMNS]) + phi[at - COLUMNS];
#if METHOD_IS_HEAT
    return phi[at] + NUM(P(ratio)) * (around - NUM(4.0) * phi[at]);
#else
    return NUM(0.25) * around;
#endif
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
// which is cheaper than a branch.
__kernel void sweep(__global const num *restrict phi, __global num *restrict next,
                    __global const mask_t *restrict free, __global const long *restrict ended,
                    const uint copies)
{
    const size_t parts = get_num_groups(0) / copies, part = get_group_id(0) % parts;
    const size_t plate = get_group_id(0) / parts, lanes = get_local_size(0);
    __global const num *restrict old = phi + plate * CELLS;
    __global num *restrict updated = next + plate * CELLS;
    __global const mask_t *restrict mask = free + plate * CELLS;
    const bool runs = ended[plate] == RUNNING;
    for (size_t row = ROWS * part / parts; row < ROWS * (part + 1) / parts; ++row) {
        if (runs && row > 0 && row < ROWS - 1)
            // Cells of the first and last column have neighbours in memory, though not on the
            // plate.
            for (size_t column = get_local_id(0); column < COLUMNS; column += lanes) {
                const size_t at = row * COLUMNS + column;
                const num value = stepped(old, at);
                updated[at] = mask[at] ? value : old[at];
            }
        else
            for (size_t column = get_local_id(0); column < COLUMNS; column += lanes)
                updated[row * COLUMNS + column] = old[row * COLUMNS + column];
    }
}

#endif
