// Who meets whom in a round of device trade: partners of good deals first.
// Twin: reference_py/economy/device_matching.py.
//
// A workgroup is a society. One work-item draws agents, since the draws of a stream have an order.
// For each agent drawn all work-items look for its partner, a candidate each in turn. Gains are
// summed where they are needed: they do not change in a round, and nobody asks for those of an
// agent that is paired. The free agents are a set of bits, so that the k-th of them is found by
// counting bits. Local memory: 1 bit an agent and 12 bytes a work-item (GROUP_MOST).
#include "economy/streams.cl"
#include "primitives/group.cl"

#define FREE_WORDS ((AGENTS + 31) / 32)
#if DEVICE_IS_CPU
#define GROUP_MOST 1
#else
#define GROUP_MOST 256
#endif

INLINED bool is_free(const __local uint *free_set, const uint agent)
{
    return (free_set[agent / 32] >> (agent % 32)) & 1u;
}

INLINED void mark_taken(__local uint *free_set, const uint agent)
{
    free_set[agent / 32] &= ~(1u << (agent % 32));
}

// The free agent with `rank` free ones below it, which must exist.
INLINED uint nth_free(const __local uint *free_set, uint rank)
{
    uint word = 0;
    for (; popcount(free_set[word]) <= rank; ++word) rank -= popcount(free_set[word]);
    uint bits = free_set[word];
    for (; rank > 0; --rank) bits &= bits - 1;  // without its lowest one
    return word * 32 + 31 - clz(bits & (0u - bits));
}

// Gain that the agent remembers of deals with a partner, added up from the newest day on.
static real remembered_gain(STATE_PARAMETERS, const size_t society, const uint device_type,
                            const uint agent, const uint partner)
{
    real gain = 0.0;
    for (uint day = 0; day < PARTNER_MEMORY; ++day)
        gain += partner_memory(agent, device_type, partner, day);
    return gain;
}

// Put into picks[0] the partner whom the agent prefers among those that are free and that it has
// not met, NONE if there is none. The largest gain wins, the lower number among equals.
COLLECTIVE void find_partner(STATE_PARAMETERS, const size_t society, const uint device_type,
                             const uint agent, const __local uint *free_set, __local real *gains,
                             __local uint *picks)
{
    const uint lid = LANE, lanes = LANES;
    real best = -1.0;
    uint pick = NONE;
    for (uint b = lid; b < agents; b += lanes)
        if (is_free(free_set, b) && !met(agent, b)) {
            const real gain = remembered_gain(STATE, society, device_type, agent, b);
            if (gain > best) {
                best = gain;
                pick = b;
            }
        }
    gains[lid] = best;
    picks[lid] = pick;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the best of every work-item, before they are compared
    uint stride = 1;
    do {
        for (uint i = lid * 2 * stride; i + stride < lanes; i += lanes * 2 * stride) {
            const uint other = picks[i + stride];
            if (gains[i + stride] > gains[i] ||
                (gains[i + stride] == gains[i] && other < picks[i])) {
                gains[i] = gains[i + stride];
                picks[i] = other;
            }
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the winners of this level, before the one above
        stride *= 2;
    } while (stride < lanes);
}

__kernel void device_matching(STATE_PARAMETERS, const uint device_type)
{
    const size_t society = get_group_id(0);
    const uint lid = LANE, lanes = LANES;
    __local uint *free_set = local_malloc(FREE_WORDS * sizeof(uint));
    __local real *gains = local_malloc(GROUP_MOST * sizeof(real));
    __local uint *picks = local_malloc(GROUP_MOST * sizeof(uint));
    __local uint drawn;
    if (!market_open()) return;

    for (uint i = lid; i < agents * resources; i += lanes) bought(i / RESOURCES, i % RESOURCES) = 0;
    for (uint word = lid; word < (agents + 31) / 32; word += lanes)
        free_set[word] = word < AGENTS / 32 ? 0xffffffffu : (1u << (AGENTS % 32)) - 1;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all agents are free, before the first is drawn
    rng_t rng;  // work-item 0 draws
    if (lid == 0) rng = rng_load(stream(AGENTS, PURPOSE_DEVICE_MATCHING));
    uint left = agents, placed = 0;
    do {
        if (lid == 0) {
            drawn = nth_free(free_set, rng_below(&rng, left));
            mark_taken(free_set, drawn);
            device_partners(placed) = drawn;
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // who is drawn, before its partner is looked for
        find_partner(STATE, society, device_type, drawn, free_set, gains, picks);
        if (lid == 0 && left > 1) {
            uint b = picks[0];
            if (b == NONE) b = nth_free(free_set, rng_below(&rng, left - 1));
            mark_taken(free_set, b);
            device_partners(placed + 1) = b;
        }
        left -= min(left, 2u);
        placed += 2;
        group_barrier(CLK_LOCAL_MEM_FENCE);  // who is free, before the next is drawn
    } while (left > 0);
    group_barrier(CLK_GLOBAL_MEM_FENCE);  // pairs are formed, and nobody asks who has met
    for (uint first = 2 * lid; first + 1 < agents; first += 2 * lanes) {
        const uint a = device_partners(first), b = device_partners(first + 1);
        met(a, b) = met(b, a) = 1;
    }
    if (lid == 0) stream(AGENTS, PURPOSE_DEVICE_MATCHING) = rng_pack(rng);
}
