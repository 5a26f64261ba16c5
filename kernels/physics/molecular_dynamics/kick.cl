// How fast is each atom after a step? The second half of velocity Verlet.
// Twin: reference_py/physics/molecular_dynamics/kick.py.
//
// Whether an atom was too close to another one is logged here, where it is known: a copy by the
// host would cost as much as a launch. No local memory, no barriers. Macros: P(half_dt).
#include "physics/molecular_dynamics/speeds.cl"

__kernel void kick(__global num *restrict v, __global const long *restrict F,
                   __global const uint *restrict overlap, __global uint *restrict overlap_log,
                   const uint log_row, const uint copies, __global const real *restrict value_table)
{
    const size_t box = BOX;
    const uint found = overlap[box];
    if (FIRST == 0 && get_local_id(0) == 0) overlap_log[(size_t)log_row * copies + box] = found;
    if (found != NONE) return;
    const size_t at = 3 * (box * ATOMS + FIRST);
    half_a_step(v + at, F + at, 3 * (LAST - FIRST), NUM(P(half_dt)));
}
