// What is a unit worth to an agent and how long does it take: look-ups in the curves' tables.
// Twin: reference_py/economy/curves.py. The tables are made before the first day (reference_py/
// economy/tables.py); those of all curves lie one after the other. A society in which all agents
// have the same curve, the usual case, reads no index at all.
#ifndef ECONOMY_CURVES_CL
#define ECONOMY_CURVES_CL

#include "primitives/real.cl"

// An agent of a society: the first arguments of many functions.
#define AGENT_PARAMETERS STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent
#define AGENT(agent) STATE, TABLES, society, agent

#if GROUPS == 1
#define group_of(agent) 0u
#else
#define group_of(agent) group_of_agent_table[agent]
#endif

// Where a table with an entry for each group, or each group and resource, has that of an agent. If
// societies differ in their parameters (TABLED), such tables have a part for each society.
#if TABLED
#define of_group(agent) (society * GROUPS + group_of(agent))
#else
#define of_group(agent) group_of(agent)
#endif
#define of_resource(agent, resource) (of_group(agent) * (uint)RESOURCES + (resource))

#if UTILITY_CURVES == 1
#define utility_curve(agent, resource) 0u
#define utility_start(curve) 0u
#define utility_length(curve) ((long)UTILITY_LENGTH)
#else
#define utility_curve(agent, resource) utility_curve_table[of_resource(agent, resource)]
#define utility_start(curve) utility_start_table[curve]
#define utility_length(curve) ((long)utility_length_table[curve])
#endif

#if TABLED
#define utility_floor(curve) utility_floor_table[curve]
#else
#define utility_floor(curve) P(min_marginal)
#endif

#if EFFORT_CURVES == 1
#define effort_curve(agent, resource) 0u
#define effort_start(curve) 0u
#define effort_last(curve) (EFFORT_LENGTH - 1)
#else
#define effort_curve(agent, resource) effort_curve_table[of_resource(agent, resource)]
#define effort_start(curve) effort_start_table[curve]
#define effort_last(curve) ((int)effort_length_table[curve] - 1)
#endif

// MU(held): utility of one more unit; MU(-1) is 0.
static real marginal_utility(TABLE_PARAMETERS, const uint curve, const long held)
{
    if (held < 0) return 0.0;
    return held < utility_length(curve) ? marginal_table[utility_start(curve) + held]
                                        : utility_floor(curve);
}

// C(held): utility of all units. A curve's table of totals is one longer than that of marginals.
static real total_utility(TABLE_PARAMETERS, const uint curve, const long held)
{
    const long length = utility_length(curve);
    __global const real *total = total_table + utility_start(curve) + curve;
    return held <= length ? total[held]
                          : total[length] + utility_floor(curve) * (real)(held - length);
}

// The same two for fewer than 2^31 units; on a GPU by fewer instructions, and without branches that
// a load would wait for.
INLINED real marginal_of(TABLE_PARAMETERS, const uint curve, const int held)
{
#if DEVICE_IS_CPU
    return marginal_utility(TABLES, curve, held);
#else
    const int last = (int)utility_length(curve) - 1;
    const real inside = marginal_table[utility_start(curve) + (uint)max(min(held, last), 0)];
    return held < 0 ? 0.0 : held > last ? utility_floor(curve) : inside;
#endif
}

INLINED real total_of(TABLE_PARAMETERS, const uint curve, const int held)
{
#if DEVICE_IS_CPU
    return total_utility(TABLES, curve, held);
#else
    const int length = (int)utility_length(curve);
    const real inside = total_table[utility_start(curve) + curve + (uint)min(held, length)];
    return held > length ? inside + utility_floor(curve) * (real)(held - length) : inside;
#endif
}

// The place of an experience in its curve's table: it counts in whole units, rounded down.
static int effort_level(TABLE_PARAMETERS, const uint curve, const real experience)
{
    const int last = effort_last(curve);
    return experience < (real)last ? (int)experience : last;
}

// Minutes for the next unit.
static real effort(TABLE_PARAMETERS, const uint curve, const real experience)
{
    return effort_table[effort_start(curve) + effort_level(TABLES, curve, experience)];
}

#endif
