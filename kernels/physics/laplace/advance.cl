// The step is made: what was computed becomes the plate.
// Twin: reference_py/physics/laplace/advance.py.
//
// The form `seed` copies it back, as its original did; other forms exchange the arrays and launch
// nothing. A work-item is a cell, or every so many-th where there are fewer. No local memory, no
// barriers.
#include "physics/laplace/plate.cl"

__kernel void advance(__global num *restrict phi, __global const num *restrict next,
                      const uint copies)
{
    const size_t cells = CELLS * copies;
    for (size_t at = get_global_id(0); at < cells; at += get_global_size(0)) phi[at] = next[at];
}
