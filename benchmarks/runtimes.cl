// What the runtimes of a CPU are compared with, in addition to whole days of the economy. A
// workgroup works alone on its own numbers, `rounds` times over; the result only keeps the work
// from being dropped.
#include "primitives/real.cl"
#include "primitives/reduce.cl"
#include "primitives/rng.cl"
#include "primitives/scan.cl"
#include "primitives/softmath.cl"

// Barriers: sums over a tree in local memory.
__kernel void sum_of_256(__global real *out, const uint rounds)
{
    __local real x[256];
    const uint lid = get_local_id(0);
    real last = 0.0;
    uint round = 0;
    do {
        for (uint i = lid; i < 256u; i += get_local_size(0)) x[i] = last + (real)(i + round);
        barrier(CLK_LOCAL_MEM_FENCE);  // all numbers, before they are added up
        last = reduce_sum_local(x, 256u) * 0.001;
    } while (++round < rounds);
    out[get_global_id(0)] = last;
}

__kernel void scan_of_256(__global real *out, const uint rounds)
{
    __local uint x[256];
    const uint lid = get_local_id(0);
    uint last = 0u, round = 0u;
    do {
        for (uint i = lid; i < 256u; i += get_local_size(0)) x[i] = i ^ last;
        barrier(CLK_LOCAL_MEM_FENCE);  // all numbers, before they are scanned
        last = scan_exclusive(x, 256u) & 255u;
    } while (++round < rounds);
    out[get_global_id(0)] = (real)last;
}

// Integer arithmetic, each step from the one before.
__kernel void draws(__global real *out, const uint rounds)
{
    rng_t rng = rng_seed(1ul, 0x10000ul, get_global_id(0));
    uint drawn = 0u;
    for (uint i = 0; i < rounds; ++i) drawn ^= rng_next(&rng);
    out[get_global_id(0)] = (real)drawn;
}

// Long straight runs of real arithmetic, without built-in functions.
__kernel void soft_exponentials(__global real *out, const uint rounds)
{
    real value = 0.5 + 0.0001 * (real)get_local_id(0);
    for (uint i = 0; i < rounds; ++i) value = 0.3 * soft_exp(value);
    out[get_global_id(0)] = value;
}

// A built-in function in the hot loop, which pip's PoCL calls and the others inline.
__kernel void built_in_fma(__global real *out, const uint rounds)
{
    real value = 0.5 + 0.0001 * (real)get_local_id(0);
    for (uint i = 0; i < rounds; ++i) value = fma(value, 0.999, 0.001);
    out[get_global_id(0)] = value;
}

__kernel void multiply_and_add(__global real *out, const uint rounds)
{
    real value = 0.5 + 0.0001 * (real)get_local_id(0);
    for (uint i = 0; i < rounds; ++i) value = value * 0.999 + 0.001;
    out[get_global_id(0)] = value;
}
