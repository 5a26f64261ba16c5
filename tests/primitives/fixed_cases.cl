// Launches for tests/primitives/test_fixed.py: a work-item is a number.
#include "primitives/fixed.cl"

__kernel void to_fixed(__global const num *x, __global long *whole, __global uchar *fits,
                       const uint n)
{
    const size_t i = get_global_id(0);
    if (i >= n) return;
    fits[i] = fixed_fits(x[i]) ? 1 : 0;
    whole[i] = fixed_fits(x[i]) ? fixed_of(x[i]) : 0l;
}

__kernel void from_fixed(__global const long *whole, __global num *x, const uint n)
{
    const size_t i = get_global_id(0);
    if (i < n) x[i] = fixed_value(whole[i]);
}
