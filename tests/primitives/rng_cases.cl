// rng_cases.cl: one work-item per case runs one function of rng.cl on a state of its own.
#include "primitives/rng.cl"

// count words of each stream, and the state after them
__kernel void outputs(__global ulong *states, const uint cases, const uint count,
                      __global uint *words)
{
    const size_t i = get_global_id(0);
    if (i >= cases) return;
    rng_t rng = rng_load(states[i]);
    for (uint k = 0; k < count; ++k) words[i * count + k] = rng_next(&rng);
    states[i] = rng_pack(rng);
}

__kernel void seeds(__global const ulong *base, __global const ulong *gap, __global const ulong *id,
                    const uint cases, __global ulong *states)
{
    const size_t i = get_global_id(0);
    if (i < cases) states[i] = rng_pack(rng_seed(base[i], gap[i], id[i]));
}

// where the streams of seeds begin
__kernel void bases(__global ulong *seeds, const uint cases)
{
    const size_t i = get_global_id(0);
    if (i < cases) seeds[i] = rng_stream_base(seeds[i]);
}

__kernel void skips(__global ulong *states, __global const ulong *steps, const uint cases)
{
    const size_t i = get_global_id(0);
    if (i >= cases) return;
    rng_t rng = rng_load(states[i]);
    rng_skip(&rng, steps[i]);
    states[i] = rng_pack(rng);
}

__kernel void products(__global const ulong *a, __global const ulong *b, const uint cases,
                       __global ulong *result)
{
    const size_t i = get_global_id(0);
    if (i < cases) result[i] = rng_multiply(a[i], b[i]);
}

// sum of the first `count` words of one stream, and the state after them
__kernel void sum_of_words(__global ulong *state, const uint count, __global ulong *sum)
{
    rng_t rng = rng_load(state[0]);
    ulong total = 0ul;
    for (uint k = 0; k < count; ++k) total += rng_next(&rng);
    sum[0] = total;
    state[0] = rng_pack(rng);
}

// `count` integers below n, and as many uniforms, both from the same state
__kernel void successive(const ulong state, const uint n, const uint count, __global uint *below,
                         __global real *uniform)
{
    rng_t rng = rng_load(state);
    for (uint k = 0; k < count; ++k) below[k] = rng_below(&rng, n);
    rng = rng_load(state);
    for (uint k = 0; k < count; ++k) uniform[k] = rng_uniform(&rng);
}

// per stream: an integer below n[i], a uniform, a Bernoulli draw, a binomial
__kernel void draws(__global ulong *states, __global const uint *n, __global const ulong *threshold,
                    const uint cases, __global uint *below, __global real *uniform,
                    __global int *success, __global uint *successes, __global uint *reserve,
                    __global uint *spaced)
{
    const size_t i = get_global_id(0);
    if (i >= cases) return;
    rng_t rng = rng_load(states[i]);
    below[i] = rng_below(&rng, n[i]);
    uniform[i] = rng_uniform(&rng);
    success[i] = rng_bernoulli(&rng, (uint)threshold[i]);
    states[i] = rng_pack(rng);
    // many trials would take too long in the twin
    successes[i] = rng_binomial(&rng, n[i] & 0xffffu, threshold[i]);
    reserve[i] = rng_binomial_reserve(n[i] & 0x7fffffffu);
    spaced[i] = rng_binomial_spaced(&rng, n[i] & 0xffffu, threshold[i]);
    states[i] = rng_pack(rng);
}

__kernel void binomials(const ulong base, const uint n, const ulong threshold, const uint cases,
                        __global uint *successes)
{
    const size_t i = get_global_id(0);
    if (i >= cases) return;
    rng_t rng = rng_seed(base, 0x100000000ul, i);
    successes[i] = rng_binomial(&rng, n, threshold);
}

__kernel void integers_below(const ulong base, const uint n, const uint cases,
                             __global uint *values)
{
    const size_t i = get_global_id(0);
    if (i >= cases) return;
    rng_t rng = rng_seed(base, 0x100000000ul, i);
    values[i] = rng_below(&rng, n);
}
