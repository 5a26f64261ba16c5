// How much did the step change the plate, and is that little enough to end?
// Twin: reference_py/physics/laplace/change.py.
//
// Two launches: the largest change in each block of BLOCK cells, then in the plate, where the end
// is noted. Cells that are not free do not change. The largest of numbers does not depend on the
// order in which they are compared, so the tree serves for its speed.
// Macros: BLOCK, BLOCKS, CHECK_EVERY, P(tolerance), negative if the plate does not end.
#include "physics/laplace/plate.cl"
#include "primitives/reduce.cl"

// A workgroup is a block of cells, a work-item every n-th of them, of n work-items.
// Local memory: 8 bytes a cell.
__kernel void block_change(__global const num *phi, __global const num *next,
                           __global real *changes)
{
    const size_t block = get_group_id(0) % BLOCKS, plate = get_group_id(0) / BLOCKS;
    const size_t first = block * BLOCK, left = CELLS - first;
    const uint cells = left < BLOCK ? (uint)left : (uint)BLOCK;
    __local real *size = local_malloc(BLOCK * sizeof(real));
    for (uint i = get_local_id(0); i < cells; i += get_local_size(0)) {
        const size_t at = plate * CELLS + first + i;
        const num difference = next[at] - phi[at];
        size[i] = difference < NUM(0.0) ? -difference : difference;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // changes of all cells, before they are compared
    const real largest = reduce_max_local(size, cells);
    if (get_local_id(0) == 0) changes[get_group_id(0)] = largest;
}

// A workgroup is a plate, a work-item every n-th pair of its blocks, whose changes are used
// up. A plate that has ended keeps the change of its last step.
__kernel void change(__global real *changes, __global num *change, __global long *ended,
                     const long tick, const uint blocks, __global const real *restrict value_table)
{
    const size_t plate = get_group_id(0);
    const real largest = reduce_max_global(changes + plate * blocks, blocks);
    if (get_local_id(0) == 0 && ended[plate] == RUNNING) {
        change[plate] = (num)largest;
        if (tick % CHECK_EVERY == 0 && change[plate] <= NUM(P(tolerance))) ended[plate] = tick;
    }
}
