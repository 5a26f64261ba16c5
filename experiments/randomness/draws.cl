// draws.cl: long sequences of what rng.cl draws, for statistical tests. One work-item per stream.
#include "primitives/rng.cl"

// Chunk k of stream i begins k * chunk words after origins[i]; states[k * streams + i].
__kernel void place_chunks(__global const ulong *origins, const uint streams, const uint chunks,
                           const uint chunk, __global ulong *states)
{
    const size_t i = get_global_id(0);
    if (i >= (size_t)streams * chunks) return;
    rng_t rng = rng_load(origins[i % streams]);
    rng_skip(&rng, (ulong)(i / streams) * chunk);
    states[i] = rng_pack(rng);
}

// One word of each stream in turn. A work-item draws one chunk of one stream, and skips what the
// work-items of the stream's other chunks draw.
__kernel void draw_words(__global ulong *states, const uint streams, const uint chunks,
                         const uint chunk, __global uint *words)
{
    const size_t i = get_global_id(0);
    if (i >= (size_t)streams * chunks) return;
    rng_t rng = rng_load(states[i]);
    const size_t first = i / streams * streams * chunk + i % streams;
    for (uint t = 0; t < chunk; ++t) words[first + (size_t)t * streams] = rng_next(&rng);
    rng_skip(&rng, (ulong)(chunks - 1u) * chunk);
    states[i] = rng_pack(rng);
}

// `count` integers below n of every stream, one stream after the other
__kernel void draw_below(__global ulong *states, const uint streams, const uint n, const uint count,
                         __global uint *values)
{
    const size_t i = get_global_id(0);
    if (i >= streams) return;
    rng_t rng = rng_load(states[i]);
    for (uint t = 0; t < count; ++t) values[i * count + t] = rng_below(&rng, n);
    states[i] = rng_pack(rng);
}

// Words made of integers below n, 32 / bits to a word, the first in the highest bits. Only the
// values below the largest multiple of 2^bits are taken; their low bits are uniform.
__kernel void draw_packed(__global ulong *states, const uint streams, const uint n, const uint bits,
                          const uint count, __global uint *words)
{
    const size_t i = get_global_id(0);
    if (i >= streams) return;
    const uint mask = (1u << bits) - 1u;
    const uint end = n & ~mask;
    rng_t rng = rng_load(states[i]);
    for (uint t = 0; t < count; ++t) {
        uint word = 0u;
        for (uint filled = 0; filled < 32u; filled += bits) {
            uint value;
            do {
                value = rng_below(&rng, n);
            } while (value >= end);
            word = (word << bits) | (value & mask);
        }
        words[i * count + t] = word;
    }
    states[i] = rng_pack(rng);
}

// `count` binomials of every stream, one stream after the other
__kernel void draw_binomials(__global ulong *states, const uint streams, const uint n,
                             const ulong threshold, const uint count, __global uint *values)
{
    const size_t i = get_global_id(0);
    if (i >= streams) return;
    rng_t rng = rng_load(states[i]);
    for (uint t = 0; t < count; ++t) values[i * count + t] = rng_binomial(&rng, n, threshold);
    states[i] = rng_pack(rng);
}

// Words that a night's consumption takes for certain: all of a holding of up to 8 units, one for
// each 32 units of a larger one. One work-item is a night of an agent, starts[i] the agent's
// stream; resources draw from places `rng_binomial_reserve` apart, as in economy/consumption.cl.
__kernel void draw_nights(__global const ulong *starts, __global const int *held,
                          __global const uint *first, const uint nights, const uint resources,
                          __global uint *words)
{
    const size_t i = get_global_id(0);
    if (i >= nights) return;
    uint at = first[i];
    rng_t place = rng_load(starts[i]);
    for (uint r = 0; r < resources; ++r) {
        const uint units = (uint)held[i * resources + r];
        const uint certain = units <= 8u ? units : (units + 31u) / 32u;
        rng_t rng = place;
        for (uint t = 0; t < certain; ++t) words[at++] = rng_next(&rng);
        rng_skip(&place, rng_binomial_reserve(units));
    }
}
