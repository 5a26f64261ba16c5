// How does a step end? The potentials that `sweep` computed become those of the plate.
// Twin: reference_py/physics/laplace/advance.py.
//
// The form `seed` copies them back, as its original did; other forms exchange the arrays and launch
// nothing. A work-item is a cell, or every n-th cell if there are only n work-items. No local
// memory, no barriers.
#include "physics/laplace/plate.cl"

__kernel void advance(__global num *restrict phi, __global const num *restrict next,
                      const uint copies)
{
    const size_t cells = CELLS * copies;
    for (size_t at = get_global_id(0); at < cells; at += get_global_size(0)) phi[at] = next[at];
}
