// How fast is each atom after a step? The second half of velocity Verlet.
// Twin: reference_py/physics/molecular_dynamics/kick.py.
//
// No local memory, no barriers. Macros: P(half_dt).
#include "physics/molecular_dynamics/speeds.cl"

__kernel void kick(__global num *restrict v, __global const long *restrict F,
                   __global const uint *restrict overlap)
{
    if (overlap[BOX] != NONE) return;
    const size_t at = 3 * (BOX * ATOMS + FIRST);
    half_a_step(v + at, F + at, 3 * (LAST - FIRST));
}
