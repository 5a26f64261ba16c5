// How fast is each atom after a step? The second half of velocity Verlet.
// Twin: reference_py/physics/molecular_dynamics/kick.py.
//
// No local memory, no barriers. Macros: P(half_dt).
#include "physics/molecular_dynamics/box.cl"
#include "primitives/fixed.cl"

__kernel void kick(__global num *restrict v, __global const long *restrict F,
                   __global const uint *restrict overlap)
{
    if (overlap[BOX] != NONE) return;
    const size_t at = 3 * (BOX * ATOMS + FIRST);
    const uint numbers = 3 * (LAST - FIRST);
    for (uint k = LANE; k < numbers; k += LANES)
        v[at + k] = v[at + k] + fixed_value(F[at + k]) * NUM(P(half_dt));
}
