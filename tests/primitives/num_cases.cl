// Quotients and roots of nums, one work-item each, for tests/primitives/test_num.py.
#include "primitives/num.cl"

__kernel void quotients(__global const num *a, __global const num *b, __global num *result,
                        const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) result[i] = NUM_DIV(a[i], b[i]);
}

__kernel void roots(__global const num *a, __global num *result, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) result[i] = NUM_SQRT(a[i]);
}

// A sum whose product would vanish from the rounding if it were fused.
__kernel void sums(__global const num *a, __global const num *b, __global num *result, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) result[i] = NUM(CONSTANT) * a[i] + b[i];
}
