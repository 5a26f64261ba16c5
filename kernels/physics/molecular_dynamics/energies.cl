// What is reported of a box? Energies, temperature, pressure, momentum.
// Twin: reference_py/physics/molecular_dynamics/energies.py.
//
// Two launches: sums of blocks of atoms, then those of the box. Each pair is counted twice in `u`
// and `w`, hence 2^-37.
// Macros: P(dof), P(tail_energy), P(volume), SERIES_...
#include "physics/molecular_dynamics/sums.cl"

#define QUANTUM (1.0 / 137438953472.0)  // 2^-37

// Sum of every `stride`-th of some numbers, at most BLOCK.
COLLECTIVE real sum_of_numbers(__global const num *numbers, const uint stride, const uint count)
{
    __local real *one = local_malloc(BLOCK * sizeof(real));
    const uint n = opaque(count);
    for (uint i = (uint)get_local_id(0); i < n; i += (uint)get_local_size(0))
        one[i] = numbers[i * stride];
    barrier(CLK_LOCAL_MEM_FENCE);  // all numbers, before they are added
    const real sum = reduce_sum_local(one, n);
    return sum;
}

// Sum of some whole numbers, at most BLOCK.
COLLECTIVE long sum_of_longs(__global const long *numbers, const uint count)
{
    __local long *one = local_malloc(BLOCK * sizeof(long));
    const uint n = opaque(count);
    for (uint i = (uint)get_local_id(0); i < n; i += (uint)get_local_size(0)) one[i] = numbers[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // all numbers, before they are added
    const long sum = reduce_sum_long(one, n);
    return sum;
}

// A workgroup is a block of atoms. Local memory: 8 bytes an atom. The sums of the blocks of all
// boxes stand one after another: squares, then the three components of the velocities.
__kernel void block_energies(__global const num *restrict v, __global const long *restrict u,
                             __global const long *restrict w, __global real *restrict sums,
                             __global long *restrict wholes, const uint copies)
{
    const size_t at = BLOCK_BOX * ATOMS + BLOCK_FIRST, row = (size_t)copies * BLOCKS;
    const size_t group = get_group_id(0);
    const uint n = BLOCK_ATOMS;
    const real square = sum_of_squares(v + 3 * at, n);
    if (get_local_id(0) == 0) sums[group] = square;
    uint axis = 0;
    do {
        const real sum = sum_of_numbers(v + 3 * at + axis, 3, n);
        if (get_local_id(0) == 0) sums[(1 + axis) * row + group] = sum;
        ++axis;
    } while (axis < 3);
    const long energy = sum_of_longs(u + at, n), virial = sum_of_longs(w + at, n);
    if (get_local_id(0) == 0) {
        wholes[group] = energy;
        wholes[row + group] = virial;
    }
}

// A workgroup is a box, whose sums of reals are used up.
__kernel void energies(__global real *restrict sums, __global const long *restrict wholes,
                       __global real *restrict U, __global real *restrict W,
                       __global real *restrict K, __global real *restrict T,
                       __global real *restrict P, __global real *restrict series, const uint blocks,
                       const uint copies)
{
    const size_t box = get_group_id(0), row = (size_t)copies * BLOCKS, at = box * BLOCKS;
    const real squares = reduce_sum_global(sums + at, blocks);
    const real x = reduce_sum_global(sums + row + at, blocks);
    const real y = reduce_sum_global(sums + 2 * row + at, blocks);
    const real z = reduce_sum_global(sums + 3 * row + at, blocks);
    if (get_local_id(0) == 0) {
        long energy = 0, virial = 0;
        for (uint i = 0; i < BLOCKS; ++i) {
            energy += wholes[at + i];
            virial += wholes[row + at + i];
        }
        const real potential = (real)energy * QUANTUM + P(tail_energy);
        const real of_pairs = (real)virial * QUANTUM, kinetic = 0.5 * squares;
        const real temperature = (2.0 * kinetic) / P(dof);
        const real pressure = ((P(dof) * temperature) + of_pairs) / (3.0 * P(volume));
        U[box] = potential;
        W[box] = of_pairs;
        K[box] = kinetic;
        T[box] = temperature;
        P[box] = pressure;
        __global real *reported = series + box * SERIES;
        reported[SERIES_potential_energy] = potential / ATOMS;
        reported[SERIES_kinetic_energy] = kinetic / ATOMS;
        reported[SERIES_total_energy] = (potential + kinetic) / ATOMS;
        reported[SERIES_temperature] = temperature;
        reported[SERIES_pressure] = pressure;
        reported[SERIES_momentum] = sqrt((x * x + y * y) + z * z);
    }
}
