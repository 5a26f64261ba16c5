// What is recorded of a plate at its end? The sum of its potentials, and its distance from a
// solution. Twin: reference_py/physics/laplace/totals.py.
//
// Sums are in double for both precisions. Two launches: the sums of each block of BLOCK cells, then
// those of the plate. As BLOCK is a power of two, a block is a part of the tree over all cells, and
// the bits are those of one tree. Macros: BLOCK, BLOCKS.
#include "physics/laplace/plate.cl"
#include "primitives/reduce.cl"

// By how much the mean of its neighbours exceeds a free cell.
static real residual_of(__global const num *phi, const size_t at)
{
    const real around = (((real)phi[at + 1] + (real)phi[at - 1]) + (real)phi[at + COLUMNS]) +
                        (real)phi[at - COLUMNS];
    return 0.25 * around - (real)phi[at];
}

// A workgroup is a block of cells, a work-item every n-th of them, of n work-items.
// Local memory: 8 bytes a cell.
__kernel void block_totals(__global const num *phi, __global const mask_t *free,
                           __global real *sums, __global real *squares)
{
    const size_t block = get_group_id(0) % BLOCKS, plate = get_group_id(0) / BLOCKS;
    const size_t first = block * BLOCK, left = CELLS - first;
    const uint cells = left < BLOCK ? (uint)left : (uint)BLOCK;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *value = local_malloc(BLOCK * sizeof(real));
    for (uint i = lid; i < cells; i += lanes) value[i] = phi[plate * CELLS + first + i];
    barrier(CLK_LOCAL_MEM_FENCE);  // potentials of all cells, before they are added
    const real sum = reduce_sum_local(value, cells);
    for (uint i = lid; i < cells; i += lanes) {
        const size_t at = plate * CELLS + first + i;
        const real one = free[at] ? residual_of(phi, at) : 0.0;
        value[i] = one * one;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // squares of all cells, before they are added
    const real square = reduce_sum_local(value, cells);
    if (lid == 0) {
        sums[get_group_id(0)] = sum;
        squares[get_group_id(0)] = square;
    }
}

// A workgroup is a plate, a work-item every n-th pair of its blocks, whose sums are used up.
__kernel void totals(__global real *sums, __global real *squares, __global real *sum,
                     __global real *residual, const uint blocks)
{
    const size_t plate = get_group_id(0);
    const real all = reduce_sum_global(sums + plate * blocks, blocks);
    const real square = reduce_sum_global(squares + plate * blocks, blocks);
    if (get_local_id(0) == 0) {
        sum[plate] = all;
        residual[plate] = sqrt(square);
    }
}
