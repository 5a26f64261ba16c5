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

#endif
