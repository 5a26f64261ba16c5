// Which random numbers belong to which agent? Seeding and use of the streams of a society.
// Twin: reference_py/economy/streams.py. A stream belongs to (seed, society, owner, purpose); the
// owner is an agent, or the society itself (owner = AGENTS). Streams start STREAM_GAP draws apart.
#ifndef ECONOMY_STREAMS_CL
#define ECONOMY_STREAMS_CL

#include "primitives/rng.cl"

// One work-item is one stream. No local memory, no barriers. The seed is an argument, not a macro,
// so that another seed is not another program to build.
__kernel void seed_streams(STATE_PARAMETERS, const uint societies,
                           __global const uint *restrict society_numbers, const ulong stream_base)
{
    const size_t streams = (size_t)(AGENTS + 1) * PURPOSES;
    const size_t i = get_global_id(0);
    if (i >= societies * streams) return;
    ulong society = society_numbers[i / streams];
#if FUTURES
    society /= FUTURES;  // futures of one past share its streams until the day of the fan
#endif
    state_stream[i] = rng_pack(rng_seed(stream_base, STREAM_GAP, society * streams + i % streams));
}

#if FUTURES
// Give every society streams of its own, those of another seed. As above.
__kernel void seed_futures(STATE_PARAMETERS, const uint societies,
                           __global const uint *restrict society_numbers, const ulong future_base)
{
    const size_t streams = (size_t)(AGENTS + 1) * PURPOSES;
    const size_t i = get_global_id(0);
    if (i >= societies * streams) return;
    const ulong number = society_numbers[i / streams] * (ulong)streams + i % streams;
    state_stream[i] = rng_pack(rng_seed(future_base, STREAM_GAP, number));
}
#endif

#if SYNCHRONIZES
// In the morning, set every stream to its start among the streams of the day. As above; a society
// whose draws are not synchronized keeps its streams.
__kernel void synchronize_draws(STATE_PARAMETERS, const uint societies,
                                __global const uint *restrict society_numbers,
                                const ulong stream_base,
#if FUTURES
                                const ulong future_base,
#endif
                                const uint day)
{
    const size_t streams = (size_t)(AGENTS + 1) * PURPOSES;
    const size_t i = get_global_id(0), society = i / streams;
    if (society >= societies || !P(synchronized_draws)) return;
    ulong number = society_numbers[society], base = stream_base;
#if FUTURES
    if (day > FAN_DAY)
        base = future_base;
    else
        number /= FUTURES;
#endif
    const ulong of_day = rng_stream_base(base + day);
    state_stream[i] = rng_pack(rng_seed(of_day, STREAM_GAP, number * streams + i % streams));
}

// The part-th of equal parts of a stream of today, which stays at its start.
INLINED rng_t rng_of_part(const ulong packed, const uint part, const uint parts)
{
    rng_t rng = rng_load(packed);
    rng_skip(&rng, part * (STREAM_GAP / parts));
    return rng;
}
#endif

#endif
