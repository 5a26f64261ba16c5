// Products and sums that are rounded once, one work-item each, for tests/primitives/test_fused.py.
#include "primitives/fused.cl"

__kernel void fused(__global const num *a, __global const num *b, __global const num *c,
                    __global num *result, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) result[i] = MULADD(a[i], b[i], c[i]);
}

// The same of eight neighbours at a time; n is a multiple of 8.
__kernel void fused_eights(__global const num8 *a, __global const num8 *b, __global const num8 *c,
                           __global num8 *result, const uint n)
{
    const uint i = get_global_id(0);
    if (8u * i < n) result[i] = MULADD(a[i], b[i], c[i]);
}

// Inverses of singles whose bits follow each other.
__kernel void inverses(__global num *result, const uint first, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) result[i] = num_inverse((num)as_float(first + i));
}
