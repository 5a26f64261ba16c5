// Who meets whom in a round of device trade: partners of good deals first.
// Twin: reference_py/economy/device_matching.py.
//
// A workgroup is a society. One work-item draws agents, since the draws of a stream have an order.
// For each agent drawn all work-items look for its partner among those that it remembers, one each
// in turn; if none of these will do, one work-item looks for the first free agent that it has not
// met. So what an agent costs does not depend on how many agents there are, but for the depth of a
// tree. The free agents are a set of bits, counted in blocks, and the blocks in a tree (P. M.
// Fenwick, "A new data structure for cumulative frequency tables", 1994), in which the k-th of them
// is found. Local memory: 1.125 bits an agent and 12 bytes a work-item (GROUP_MOST).
//
// On a GPU, if what all agents remember fits local memory (12 bytes for each partner), the
// work-items first sort it, each agent's partners by preference. One work-item then draws agents
// and takes for each the first of its partners who is free, so no barrier is between two pairs.
#include "economy/streams.cl"
#include "primitives/group.cl"

#define FREE_WORDS ((AGENTS + 31) / 32)
#define BLOCK_WORDS 8
#define BLOCKS ((FREE_WORDS + BLOCK_WORDS - 1) / BLOCK_WORDS)
#if DEVICE_IS_CPU
#define GROUP_MOST 1
#else
#define GROUP_MOST 256
#endif

#if !DEVICE_IS_CPU && MEMORIES_FIT && !defined(RULE_DEVICES_MARKET_PARTNER)
#define MEETINGS_AT_ONCE 1
#else
#define MEETINGS_AT_ONCE 0
#endif

#if SYNCHRONIZES
#define STREAM_STAYS P(synchronized_draws)
#else
#define STREAM_STAYS 0
#endif

// The free agents: a bit each, and the tree. Node i, from 1 on, counts the free agents of the
// blocks i - (the lowest bit of i) to i - 1.
#define FREE_PARAMETERS __local uint *free_set, __local uint *free_count
#define FREE free_set, free_count

INLINED bool is_free(FREE_PARAMETERS, const uint agent)
{
    return (free_set[agent / 32] >> (agent % 32)) & 1u;
}

INLINED void mark_taken(FREE_PARAMETERS, const uint agent)
{
    free_set[agent / 32] &= ~(1u << (agent % 32));
    for (uint i = agent / (32 * BLOCK_WORDS) + 1; i <= BLOCKS; i += i & (0u - i))
        free_count[i - 1] -= 1;
}

// All agents are free.
INLINED void mark_all_free(FREE_PARAMETERS, const uint agents)
{
    for (uint word = LANE; word < (agents + 31) / 32; word += LANES)
        free_set[word] = word < AGENTS / 32 ? 0xffffffffu : (1u << (AGENTS % 32)) - 1;
    const uint size = 32 * BLOCK_WORDS;  // agents of a block
    for (uint i = LANE + 1; i <= (agents + size - 1) / size; i += LANES)
        free_count[i - 1] = min(i * size, agents) - (i - (i & (0u - i))) * size;
}

// The free agent with `rank` free ones below it, which must exist.
INLINED uint nth_free(FREE_PARAMETERS, uint rank)
{
    uint word = 0;
#if BLOCKS > 1
    uint block = 0;
    for (uint step = 1u << (31 - clz((uint)BLOCKS)); step > 0; step /= 2)
        if (block + step <= BLOCKS && free_count[block + step - 1] <= rank) {
            block += step;
            rank -= free_count[block - 1];
        }
    word = block * BLOCK_WORDS;
#endif
    for (; popcount(free_set[word]) <= rank; ++word) rank -= popcount(free_set[word]);
    uint bits = free_set[word];
    for (; rank > 0; --rank) bits &= bits - 1;  // without its lowest one
    return word * 32 + 31 - clz(bits & (0u - bits));
}

// Whether the agent met the other in an earlier round for this type of device.
static bool has_met(STATE_PARAMETERS, const size_t society, const uint market_round,
                    const uint agent, const uint other)
{
    bool found = false;
    for (uint round = 0; round < market_round; ++round) found |= met(agent, round) == (int)other;
    return found;
}

#ifdef RULE_DEVICES_MARKET_PARTNER
#include "economy/curves.cl"

// How much an agent wants to meet another by the rule of a user; at least 0.
static real liking_of(STATE_PARAMETERS, const size_t society, const uint device_type,
                      const uint agent, const uint other, __global const int *group_of_agent_table)
{
    real gained = 0.0;
    for (uint i = 0; i < PARTNERS_REMEMBERED; ++i) {
        const int b = remembered_partner(agent, device_type, i);
        if (b == NO_AGENT) break;  // the list ends
        if (b != (int)other) continue;
        for (uint day = 0; day < PARTNER_MEMORY; ++day)  // newest first
            gained += partner_memory(agent, device_type, i, day);
        break;
    }
    const real found = rule_devices_market_partner(gained, agent, other, group_of(agent),
                                                   group_of(other) FAULT_OF(&python_fault()));
    return found > 0.0 ? found : 0.0;
}
#define KNOWN_PARAMETERS __global const int *group_of_agent_table
#define KNOWN group_of_agent_table
#elif MEETINGS_AT_ONCE
// What is known in local memory: the partners that each agent remembers, the preferred one first
// (FORGOTTEN: there are no more), and the agents that it has met, as bits.
#define FORGOTTEN 0xffffu
#define KNOWN_PARAMETERS __local ushort *preferred, __local uint *met_set
#define KNOWN preferred, met_set
#define PARTNER_OF(agent, place) ((place) * AGENTS + (agent))

// The largest gain is preferred, the lower number among equals.
COLLECTIVE void learn_memories(STATE_PARAMETERS, const size_t society, const uint device_type,
                               const uint market_round, KNOWN_PARAMETERS)
{
    __local real *gain_with = local_malloc(AGENTS * PARTNERS_REMEMBERED * sizeof(real));
    __local ushort *known = local_malloc(AGENTS * PARTNERS_REMEMBERED * sizeof(ushort));
    for (uint i = LANE; i < agents * PARTNERS_REMEMBERED; i += LANES) {
        const uint a = i % AGENTS, place = i / AGENTS;
        const int b = remembered_partner(a, device_type, place);
        known[i] = b == NO_AGENT ? FORGOTTEN : (ushort)b;
        preferred[i] = FORGOTTEN;
        if (b == NO_AGENT) continue;  // the list has ended
        real gain = 0.0;
        for (uint day = 0; day < PARTNER_MEMORY; ++day)  // newest first
            gain += partner_memory(a, device_type, place, day);
        gain_with[i] = gain;
    }
    for (uint a = LANE; a < agents; a += LANES) {
        __local uint *set = met_set + a * FREE_WORDS;
        for (uint word = 0; word < FREE_WORDS; ++word) set[word] = 0;
        for (uint round = 0; round < market_round; ++round) {
            const int b = met(a, round);
            if (b >= 0) set[b / 32] |= 1u << (b % 32);
        }
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all gains, before they are compared
    for (uint i = LANE; i < agents * PARTNERS_REMEMBERED; i += LANES) {
        const uint a = i % AGENTS, b = known[i];
        if (b == FORGOTTEN) continue;
        uint place = 0;
        for (uint j = a; j < AGENTS * PARTNERS_REMEMBERED && known[j] != FORGOTTEN; j += AGENTS)
            place += gain_with[j] > gain_with[i] || (gain_with[j] == gain_with[i] && known[j] < b);
        preferred[PARTNER_OF(a, place)] = b;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all lists, before they are read; gains are read
}
#else
#define KNOWN_PARAMETERS const uint unused
#define KNOWN 0
#endif

#if MEETINGS_AT_ONCE
// The partner whom the agent prefers among those that it remembers, that are free and that it has
// not met, NONE if there is none.
INLINED uint first_preferred(const uint agent, FREE_PARAMETERS, KNOWN_PARAMETERS)
{
    for (uint i = 0; i < PARTNERS_REMEMBERED; ++i) {
        const uint b = preferred[PARTNER_OF(agent, i)];
        if (b == FORGOTTEN) break;
        const uint open = free_set[b / 32] & ~met_set[agent * FREE_WORDS + b / 32];
        if (open >> (b % 32) & 1u) return b;
    }
    return NONE;
}
#else
// Put into picks[0] the partner whom the agent prefers among those that it remembers, that are free
// and that it has not met, NONE if there is none. The largest gain wins, the lower number among
// equals.
COLLECTIVE void best_remembered(STATE_PARAMETERS, const size_t society, const uint device_type,
                                const uint market_round, const uint agent, FREE_PARAMETERS,
                                KNOWN_PARAMETERS, __local real *gains, __local uint *picks)
{
    const uint lid = LANE, lanes = LANES;
    real best = -1.0;
    uint pick = NONE;
#ifdef RULE_DEVICES_MARKET_PARTNER
    for (uint b = lid; b < agents; b += lanes) {
        if (!is_free(FREE, b) || has_met(STATE, society, market_round, agent, b)) continue;
        const real liking = liking_of(STATE, society, device_type, agent, b, group_of_agent_table);
        if (liking > best) {  // the lower number among equals
            best = liking;
            pick = b;
        }
    }
#else
    for (uint i = lid; i < PARTNERS_REMEMBERED; i += lanes) {
        const int b = remembered_partner(agent, device_type, i);
        if (b == NO_AGENT) break;  // the list ends
        if (!is_free(FREE, b) || has_met(STATE, society, market_round, agent, b)) continue;
        real gain = 0.0;
        for (uint day = 0; day < PARTNER_MEMORY; ++day)  // newest first
            gain += partner_memory(agent, device_type, i, day);
        if (gain > best || (gain == best && (uint)b < pick)) {
            best = gain;
            pick = b;
        }
    }
#endif
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
#endif

// The first free agent that the agent has not met, NONE if it has met all `left` that are free. It
// has met one agent in a round, so at most one more than there were rounds is looked at.
INLINED uint first_unmet(STATE_PARAMETERS, const size_t society, const uint market_round,
                         const uint agent, FREE_PARAMETERS, KNOWN_PARAMETERS, const uint left)
{
#if MEETINGS_AT_ONCE
    for (uint word = 0; word < FREE_WORDS; ++word) {
        const uint bits = free_set[word] & ~met_set[agent * FREE_WORDS + word];
        if (bits != 0) return word * 32 + 31 - clz(bits & (0u - bits));
    }
#else
    for (uint rank = 0; rank < left; ++rank) {
        const uint b = nth_free(FREE, rank);
        if (!has_met(STATE, society, market_round, agent, b)) return b;
    }
#endif
    return NONE;
}

#ifdef RULE_DEVICES_MARKET_PARTNER
#define RULE_PARAMETERS , __global const int *group_of_agent_table
#define RULE_TABLES , TABLE_PARAMETERS
#define RULE_ARGUMENTS , group_of_agent_table
#else
#define RULE_PARAMETERS
#define RULE_TABLES
#define RULE_ARGUMENTS
#endif

// Pair the agents of a society.
COLLECTIVE_WHOLE void pair_agents(STATE_PARAMETERS RULE_PARAMETERS, const size_t society,
                                  const uint device_type, const uint market_round)
{
    const uint lid = LANE, lanes = LANES;
    __local uint *free_set = local_malloc(FREE_WORDS * sizeof(uint));
    __local uint *free_count = local_malloc(BLOCKS * sizeof(uint));
#if MEETINGS_AT_ONCE
    __local uint *met_set = local_malloc(AGENTS * FREE_WORDS * sizeof(uint));
    __local ushort *preferred = local_malloc(AGENTS * PARTNERS_REMEMBERED * sizeof(ushort));
    learn_memories(STATE, society, device_type, market_round, KNOWN);
#else
    __local real *gains = local_malloc(GROUP_MOST * sizeof(real));
    __local uint *picks = local_malloc(GROUP_MOST * sizeof(uint));
    __local uint *drawn = local_malloc(sizeof(uint));
#endif

    for (uint i = lid; i < agents * resources; i += lanes) bought(i / RESOURCES, i % RESOURCES) = 0;
    mark_all_free(FREE, agents);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all agents are free, before the first is drawn
    rng_t rng;  // work-item 0 draws
    if (lid == 0) {
        rng = rng_load(stream(AGENTS, PURPOSE_DEVICE_MATCHING));
#if SYNCHRONIZES
        if (STREAM_STAYS)  // each type and round draws from its own part of the day's
            rng = rng_of_part(stream(AGENTS, PURPOSE_DEVICE_MATCHING),
                              device_type * DEVICE_ROUND_SLOTS + market_round,
                              TYPES * DEVICE_ROUND_SLOTS);
#endif
    }
#if MEETINGS_AT_ONCE
    for (uint left = lid == 0 ? agents : 0, placed = 0; left > 0; placed += 2) {
        const uint a = nth_free(FREE, rng_below(&rng, left--));
        mark_taken(FREE, a);
        device_partners(placed) = a;
        if (left == 0) break;
        uint b = first_preferred(a, FREE, KNOWN);
        if (b == NONE) b = first_unmet(STATE, society, market_round, a, FREE, KNOWN, left);
        if (b == NONE) b = nth_free(FREE, rng_below(&rng, left));
        mark_taken(FREE, b);
        device_partners(placed + 1) = b;
        --left;
    }
#else
    uint left = agents, placed = 0;
    do {
        if (lid == 0) {
            *drawn = nth_free(FREE, rng_below(&rng, left));
            mark_taken(FREE, *drawn);
            device_partners(placed) = *drawn;
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // who is drawn, before its partner is looked for
        best_remembered(STATE, society, device_type, market_round, *drawn, FREE, KNOWN, gains,
                        picks);
        if (lid == 0 && left > 1) {
            uint b = picks[0];
            if (b == NONE)
                b = first_unmet(STATE, society, market_round, *drawn, FREE, KNOWN, left - 1);
            if (b == NONE) b = nth_free(FREE, rng_below(&rng, left - 1));
            mark_taken(FREE, b);
            device_partners(placed + 1) = b;
        }
        left -= min(left, 2u);
        placed += 2;
        group_barrier(CLK_LOCAL_MEM_FENCE);  // who is free, before the next is drawn
    } while (left > 0);
#endif
    group_barrier(CLK_GLOBAL_MEM_FENCE);  // pairs are formed, and no work-item asks who has met
    for (uint first = 2 * lid; first + 1 < agents; first += 2 * lanes) {
        const uint a = device_partners(first), b = device_partners(first + 1);
        met(a, market_round) = b;
        met(b, market_round) = a;
    }
    if (lid == 0) {
        if (!STREAM_STAYS) stream(AGENTS, PURPOSE_DEVICE_MATCHING) = rng_pack(rng);
    }
}

__kernel void device_matching(STATE_PARAMETERS RULE_TABLES, const uint device_type,
                              const uint market_round)
{
    const size_t society = get_group_id(0);
    if (!market_open()) return;
    pair_agents(STATE RULE_ARGUMENTS, society, device_type, market_round);
}
