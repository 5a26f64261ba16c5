// How are velocities scaled to the temperature?
// Twin: reference_py/physics/molecular_dynamics/rescale.py.
//
// Three launches: sums of the squares of the velocities of blocks of atoms, the factor of each box,
// and the product. Macros: P(temperature), P(dof).
#include "physics/molecular_dynamics/sums.cl"

// A workgroup is a block of atoms. Local memory: 8 bytes an atom.
__kernel void block_squares(__global const num *restrict v, __global real *restrict squares)
{
    const real sum = sum_of_squares(v + 3 * (BLOCK_BOX * ATOMS + BLOCK_FIRST), BLOCK_ATOMS);
    if (get_local_id(0) == 0) squares[get_group_id(0)] = sum;
}

// A workgroup is a box, whose sums of squares are used up.
__kernel void factor(__global real *restrict squares, __global num *restrict factors,
                     const uint blocks, __global const real *restrict value_table)
{
    const size_t box = get_group_id(0);
    const real kinetic = 0.5 * reduce_sum_global(squares + box * blocks, blocks);
    if (get_local_id(0) == 0) factors[box] = (num)sqrt(P(temperature) / ((2.0 * kinetic) / P(dof)));
}

// A workgroup is a part of the atoms (box.cl).
__kernel void rescale(__global num *restrict v, __global const num *restrict factors,
                      __global const uint *restrict overlap)
{
    if (overlap[BOX] != NONE) return;
    const size_t at = 3 * (BOX * ATOMS + FIRST);
    const uint numbers = 3 * (LAST - FIRST);
    for (uint k = LANE; k < numbers; k += LANES) v[at + k] = v[at + k] * factors[BOX];
}
