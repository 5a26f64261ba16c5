// Who invents what: one attempt a day for every agent, in random order.
// Twin: reference_py/economy/invention.py.
//
// A workgroup is a society (on a CPU one work-item alone, see group.cl). Later agents know of the
// inventions of earlier ones, but inventions are rare. So the work-items look ahead, one attempt
// each. The attempts up to the first success count; the later ones are repeated with what the
// society then knows. Only the streams of attempts that count move on. Local memory: a byte a type
// and resource, and 4 bytes an agent up to INVENTION_ORDER_LIMIT agents; beyond it their order is
// in global memory.
#include "economy/knowledge.cl"
#include "economy/streams.cl"
#include "primitives/group.cl"

#if AGENTS <= INVENTION_ORDER_LIMIT
#define ORDER __local uint
#else
#define ORDER __global uint
#endif

#define NO_TYPE (-1)

// What is tried after a type of which nothing is left to invent.
__constant int next_type[TYPES] = {NO_TYPE, FACTORY, INDUSTRY, NO_TYPE, DEVICE_FACTORY, NO_TYPE};

// An invention: a device of the type for the resource, made of the parts (ascending). During an
// attempt the parts are the candidates that the agent considers.
typedef struct {
    int device_type;
    uint resource, parts;
    uint part[COMPONENT_SLOTS + 2];
} invention_t;

// The two resources of most experience, the lowest among equals.
typedef struct {
    uint first, second;
} two_t;

static two_t most_experienced(__global const real *experience)
{
    two_t two = {0, NONE};
    for (uint r = 1; r < RESOURCES; ++r)
        if (experience[r] > experience[two.first]) {
            two.second = two.first;
            two.first = r;
        } else if (two.second == NONE || experience[r] > experience[two.second])
            two.second = r;
    return two;
}

// Draw `count` of n places without repetition, each among those that are left; rank[] ascending.
// Taking the j-th of what is left of a list is taking its place in the whole list.
static void draw_places(rng_t *rng, const uint n, const uint count, uint *rank)
{
    for (uint i = 0; i < count; ++i) {
        uint place = rng_below(rng, n - i), at = 0;
        while (at < i && rank[at] <= place) {
            ++place;
            ++at;
        }
        for (uint k = i; k > at; --k) rank[k] = rank[k - 1];
        rank[at] = place;
    }
}

// Consider one resource more than a tool needs: the two of most experience, held or not, and others
// of which the agent holds enough. Return false if it holds too few.
static bool tool_ingredients(STATE_PARAMETERS, const size_t society, const uint agent, rng_t *rng,
                             invention_t *found)
{
    const two_t two = most_experienced(&experience(agent, 0));
    uint eligible = 0, rank[COMPONENT_SLOTS];
    for (uint r = 0; r < RESOURCES; ++r)
        if (r != two.first && r != two.second)
            eligible += available(r) && held(agent, r) > P(min_held);
    if (eligible < RESOURCES_IN_TOOL - 1) return false;
    draw_places(rng, eligible, RESOURCES_IN_TOOL - 1, rank);

    uint place = 0, drawn = 0;
    found->parts = 0;
    for (uint r = 0; r < RESOURCES; ++r) {
        bool taken = r == two.first || r == two.second;
        if (!taken && available(r) && held(agent, r) > P(min_held)) {
            taken = drawn < RESOURCES_IN_TOOL - 1 && rank[drawn] == place;
            drawn += taken;
            ++place;
        }
        if (taken) found->part[found->parts++] = r;
    }
    return true;
}

#if !TOOLS_ONLY
// A device of the type `below` may be a component if the agent knows it (MINE) or only others do
// (OTHERS). It may not if its resource is gone.
#define MINE 1
#define OTHERS 2

INLINED uint whose(STATE_PARAMETERS, const size_t society, const uint agent, const uint below,
                   const uint resource, const __local uchar *known)
{
    if (!available(resource)) return 0;
    if (device_experience(agent, below, resource) > 0.0) return MINE;
    return has_recipe(STATE, society, below, resource) && known[below * RESOURCES + resource]
               ? OTHERS
               : 0;
}

// Consider components for a device of the type: the two that the agent has made most, then others
// that it knows, then those that only others know. Consider none if too few are known.
INLINED void device_ingredients(STATE_PARAMETERS, const size_t society, const uint agent,
                                const uint device_type, const __local uchar *known, rng_t *rng,
                                invention_t *found)
{
    const uint below = component_type[device_type];
    const two_t two = most_experienced(&device_experience(agent, below, 0));
    found->parts = 0;
    if (!(device_experience(agent, below, two.first) > 0.0)) return;
    const bool second = device_experience(agent, below, two.second) > 0.0;
    uint mine = 0, others = 0, rank[COMPONENT_SLOTS];
    for (uint r = 0; r < RESOURCES; ++r) {
        const uint who = whose(STATE, society, agent, below, r, known);
        mine += who == MINE;
        others += who == OTHERS;
    }
    if (mine + others < COMPONENTS) return;
    // The best are taken whether their resource still exists or not.
    mine -= available(two.first) != 0;
    mine -= second && available(two.second);
    const uint wanted = COMPONENTS - 1 - second;
    const uint from_mine = wanted < mine ? wanted : mine;
    draw_places(rng, mine, from_mine, rank);
    draw_places(rng, others, wanted - from_mine, rank + from_mine);

    uint place = 0, drawn = 0, others_place = 0, others_drawn = from_mine;
    for (uint r = 0; r < RESOURCES; ++r) {
        bool taken = r == two.first || (second && r == two.second);
        const uint who = taken ? 0 : whose(STATE, society, agent, below, r, known);
        if (who == MINE) {
            taken = drawn < from_mine && rank[drawn] == place;
            drawn += taken;
            ++place;
        } else if (who == OTHERS) {
            taken = others_drawn < wanted && rank[others_drawn] == others_place;
            others_drawn += taken;
            ++others_place;
        }
        if (taken) found->part[found->parts++] = r;
    }
}
#endif

// Whether the device may be invented: it never was, or no agent knows it any longer.
INLINED bool untaken(STATE_PARAMETERS, const size_t society, const uint device_type,
                     const uint resource, const __local uchar *known)
{
    return !has_recipe(STATE, society, device_type, resource) ||
           !known[device_type * RESOURCES + resource];
}

// Try to invent a device of the type for one of the candidates. Return whether any could be
// invented; if the attempt succeeds, found->device_type is the type.
INLINED bool try_type(AGENT_PARAMETERS, const uint device_type, __global const real *experience,
                      const __local uchar *known, rng_t *rng, invention_t *found)
{
    uint open = 0;
    real total = 0.0;
    for (uint i = 0; i < found->parts; ++i) {
        open += untaken(STATE, society, device_type, found->part[i], known);
        total += experience[found->part[i]];
    }
    if (open == 0) return false;
    const real probability = device_type == TOOL ? P(tool_probability) : P(device_probability);
    const real chance = probability * total * inventiveness_table[of_group(agent)];
    if (!(rng_uniform(rng) < chance)) return true;
    uint pick = rng_below(rng, open);
    for (uint i = 0; i < found->parts; ++i)
        if (untaken(STATE, society, device_type, found->part[i], known)) {
            if (pick == 0) {
                found->resource = found->part[i];
                break;
            }
            --pick;
        }
    found->device_type = device_type;
    return true;
}

// Let the agent try; found->device_type is the type that it invents, or NO_TYPE.
INLINED void attempt(AGENT_PARAMETERS, const __local uchar *known, rng_t *rng, invention_t *found)
{
    found->device_type = NO_TYPE;
    if (!tool_ingredients(STATE, society, agent, rng, found)) return;
    if (try_type(AGENT(agent), TOOL, &experience(agent, 0), known, rng, found)) {
        if (found->device_type == NO_TYPE) return;
        uint others = 0;  // a tool for a resource is made of the others
        for (uint i = 0; i < found->parts; ++i)
            if (found->part[i] != found->resource) found->part[others++] = found->part[i];
        found->parts = others;
        return;
    }
#if !TOOLS_ONLY
    int device_type = rng_below(rng, 2) == 0 ? MACHINE : DEVICE_MACHINE;
    while (device_type != NO_TYPE) {
        device_ingredients(STATE, society, agent, device_type, known, rng, found);
        if (try_type(AGENT(agent), device_type,
                     &device_experience(agent, component_type[device_type], 0), known, rng, found))
            return;
        device_type = next_type[device_type];
    }
#endif
}

// Make the invention the recipe of the society and log it. It replaces a recipe that no agent
// knows.
static void establish(STATE_PARAMETERS, const size_t society, const uint agent, const uint day,
                      const invention_t *found, __global int *inventions_log,
                      __global uint *inventions_count, const uint inventions_rows,
                      const uint copies)
{
    const uint device_type = found->device_type, resource = found->resource;
    for (uint slot = 0; slot < COMPONENT_SLOTS; ++slot)
        recipe(device_type, resource, slot) = slot < found->parts ? (int)found->part[slot] : -1;
    invented_on(device_type, resource) = day;
    inventor(device_type, resource) = agent;

    const uint number = inventions_count[society];
    if (number == inventions_rows) return;
    __global int *row =
        inventions_log + (number * (size_t)copies + society) * (4 + (size_t)COMPONENT_SLOTS);
    row[0] = day;
    row[1] = agent;
    row[2] = device_type;
    row[3] = resource;
    for (uint slot = 0; slot < COMPONENT_SLOTS; ++slot)
        row[4 + slot] = recipe(device_type, resource, slot);
    inventions_count[society] = number + 1;
}

// What the inventor knows of the device and its components, and society with it.
INLINED void learn(STATE_PARAMETERS, const size_t society, const uint agent, const uint device_type,
                   const uint resource, __local uchar *known)
{
    device_experience(agent, device_type, resource) = P(inventor_experience);
    practised(agent, device_type, resource) = 1;
    known[device_type * RESOURCES + resource] = 1;
    if (device_type == TOOL) return;
    const uint below = component_type[device_type];
    for (uint slot = 0; slot < COMPONENTS; ++slot) {
        const uint k = recipe(device_type, resource, slot);
        if (device_experience(agent, below, k) < 1.0) device_experience(agent, below, k) = 1.0;
        known[below * RESOURCES + k] = 1;
    }
}

// order[0 .. agents-1] = the agents in random order, by one work-item.
INLINED void random_order(rng_t *rng, ORDER *order, const uint agents)
{
    for (uint i = 0; i < agents; ++i) order[i] = i;
    for (uint last = agents; last > 1; --last) {
        const uint place = rng_below(rng, last);
        const uint taken = order[place];
        order[place] = order[last - 1];
        order[last - 1] = taken;
    }
}

// One attempt of every agent, in random order; what is invented becomes known.
COLLECTIVE_WHOLE void invent(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society,
                             const uint day, __global int *inventions_log,
                             __global uint *inventions_count, const uint inventions_rows,
                             const uint copies, __global uint *orders)
{
    __local uint *winner = local_malloc(sizeof(uint));
    __local uint *new_type = local_malloc(sizeof(uint));
    __local uint *new_resource = local_malloc(sizeof(uint));
    __local uchar *known = local_malloc(TYPES * RESOURCES * sizeof(uchar));
#if AGENTS <= INVENTION_ORDER_LIMIT
    __local uint *order = local_malloc(AGENTS * sizeof(uint));
#else
    __global uint *order = orders + society * AGENTS;
#endif
    for (uint a = LANE; a < agents; a += LANES)
        if (alive(a)) know_components_alone(STATE, society, a);
    if (LANE == 0) {
        rng_t rng = rng_load(stream(AGENTS, PURPOSE_INVENTION_ORDER));
        random_order(&rng, order, AGENTS);
        stream(AGENTS, PURPOSE_INVENTION_ORDER) = rng_pack(rng);
        *winner = NONE;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // what agents know of components
    for (uint i = LANE; i < TYPES * resources; i += LANES) {
        bool known_here = false;
        for (uint a = 0; a < AGENTS; ++a)
            known_here |= device_experience(a, i / RESOURCES, i % RESOURCES) > 0.0;
        known[i] = known_here;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // what society knows and the order, before attempts

    uint next = 0;  // of the order
    do {
        const uint mine = next + LANE;
        const uint agent = mine < AGENTS ? order[mine] : 0;
        const bool tries = mine < AGENTS && alive(agent);
        invention_t found;
        rng_t rng;
        if (tries) {
            rng = rng_load(stream(agent, PURPOSE_INVENTION));
            attempt(AGENT(agent), known, &rng, &found);
            if (found.device_type != NO_TYPE && (int)found.resource != P(banned_of))
                atomic_min(winner, mine);
        }
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // attempts, before one counts
        const uint first = *winner;
        if (tries && mine <= first) stream(agent, PURPOSE_INVENTION) = rng_pack(rng);
        if (mine == first) {
            establish(STATE, society, agent, day, &found, inventions_log, inventions_count,
                      inventions_rows, copies);
            *new_type = found.device_type;
            *new_resource = found.resource;
        }
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the recipe, before all forget
        if (first != NONE)
            for (uint a = LANE; a < agents; a += LANES) {
                device_experience(a, *new_type, *new_resource) = 0.0;
                practised(a, *new_type, *new_resource) = 0;
            }
        group_barrier(CLK_GLOBAL_MEM_FENCE);  // the older recipe is forgotten, before it is learnt
        if (LANE == 0 && first != NONE) {
            learn(STATE, society, order[first], *new_type, *new_resource, known);
            *winner = NONE;
        }
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // what is new, before the next
        next = first == NONE ? next + LANES : first + 1;
    } while (next < AGENTS);
}

__kernel void invention(STATE_PARAMETERS, TABLE_PARAMETERS, const uint day,
                        __global int *inventions_log, __global uint *inventions_count,
                        const uint inventions_rows, const uint copies, __global uint *orders)
{
    invent(STATE, TABLES, get_group_id(0), day, inventions_log, inventions_count, inventions_rows,
           copies, orders);
}
