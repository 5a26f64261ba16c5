// What does every other free cell become in a step of successive over-relaxation?
// Twin: reference_py/physics/laplace/black.py.
//
// The first half of the step (sweep.cl) has relaxed the red cells, whose row and column add up to
// an even number, from the black ones around them. Now the black ones follow, each from four red
// ones, so order is free and `next` is updated in place. A workgroup is a band of neighbouring
// rows, a work-item every n-th black cell of each, of n work-items. No local memory, no barriers.
#include "physics/laplace/plate.cl"
#include "physics/laplace/rule.cl"
#include "primitives/group.cl"

__kernel void black(__global num *next, __global const mask_t *restrict free,
                    __global const long *restrict ended, const uint copies,
                    __global const real *restrict value_table)
{
    const size_t parts = get_num_groups(0) / copies, part = get_group_id(0) % parts;
    const size_t plate = get_group_id(0) / parts;
    __global num *cells = next + plate * CELLS;
    __global const mask_t *restrict mask = free + plate * CELLS;
    if (ended[plate] != RUNNING) return;
    const num factor = FACTOR;
    for (size_t row = ROWS * part / parts; row < ROWS * (part + 1) / parts; ++row)
        if (row > 0 && row < ROWS - 1)
            for (size_t column = 1 + row % 2 + 2 * LANE; column < COLUMNS - 1;
                 column += 2 * LANES) {
                const size_t at = row * COLUMNS + column;
                const num around =
                    ((cells[at + 1] + cells[at - 1]) + cells[at + COLUMNS]) + cells[at - COLUMNS];
                if (mask[at]) cells[at] = RULED(factor, cells[at], around);
            }
}
