// How are sums over all atoms taken? Block by block; here is what the blocks have in common.
// Twin: reference_py/physics/molecular_dynamics/sums.py.
//
// As BLOCK is a power of two, the sum of a block is a part of the tree over all atoms (reduce.cl),
// and the bits are those of one tree. Macros: BLOCK, BLOCKS.
#ifndef PHYSICS_MOLECULAR_DYNAMICS_SUMS_CL
#define PHYSICS_MOLECULAR_DYNAMICS_SUMS_CL

#include "physics/molecular_dynamics/box.cl"
#include "primitives/reduce.cl"

// The box of a workgroup that is a block, its first atom in the box, and its number of atoms.
#define BLOCK_BOX ((size_t)(get_group_id(0) / BLOCKS))
#define BLOCK_FIRST ((uint)(get_group_id(0) % BLOCKS) * BLOCK)
#define BLOCK_ATOMS min((uint)BLOCK, (uint)ATOMS - BLOCK_FIRST)

// Sum of the squares of the velocities of some atoms, at most BLOCK.
COLLECTIVE real sum_of_squares(__global const num *v, const uint atoms)
{
    __local real *square = local_malloc(BLOCK * sizeof(real));
    const uint n = opaque(atoms);
    for (uint i = (uint)get_local_id(0); i < n; i += (uint)get_local_size(0)) {
        const real x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
        square[i] = (x * x + y * y) + z * z;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // squares of all atoms, before they are added
    const real sum = reduce_sum_local(square, n);
    return sum;
}

#endif
