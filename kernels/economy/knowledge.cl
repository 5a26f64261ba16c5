// What does knowing a device imply? An agent then knows a little about making its components.
// Twin: reference_py/economy/knowledge.py. One work-item does it without barriers, or a workgroup:
// local memory then 2 bits for each type of device and resource.
#ifndef ECONOMY_KNOWLEDGE_CL
#define ECONOMY_KNOWLEDGE_CL

#include "economy/devices.cl"
#include "primitives/group.cl"

// All types that have components, from the most complex one down, so that one pass reaches tools.
#define TYPES_ABOVE_TOOLS 5
__constant int top_down[TYPES_ABOVE_TOOLS] = {INDUSTRY, DEVICE_FACTORY, FACTORY, DEVICE_MACHINE,
                                              MACHINE};

// Raise the agent's experience in the components of devices that it knows to at least 1. By one
// work-item.
static void know_components_alone(STATE_PARAMETERS, const size_t society, const uint agent)
{
#if !TOOLS_ONLY
    for (uint i = 0; i < TYPES_ABOVE_TOOLS; ++i) {
        const int device_type = top_down[i], below = component_type[device_type];
        for (uint r = 0; r < resources; ++r) {
            if (!(device_experience(agent, device_type, r) > 0.0)) continue;
            for (uint slot = 0; slot < COMPONENTS; ++slot) {
                const int k = recipe(device_type, r, slot);
                if (k >= 0 && device_experience(agent, below, k) < 1.0)
                    device_experience(agent, below, k) = 1.0;
            }
        }
    }
#endif
}

#define MARK_WORDS ((RESOURCES + 31) / 32)
#define mark(marks, type, resource) \
    atomic_or((marks) + (type) * MARK_WORDS + (resource) / 32, 1u << (resource) % 32)
#define is_marked(marks, type, resource) \
    ((marks)[(type) * MARK_WORDS + (resource) / 32] >> (resource) % 32 & 1)

// The same by all work-items. The caller has ordered the agent's experience by a barrier; it is
// ordered again.
COLLECTIVE void know_components(STATE_PARAMETERS, const size_t society, const uint agent)
{
#if DEVICE_IS_CPU || TOOLS_ONLY
    know_components_alone(STATE, society, agent);
#else
    __local uint *known = local_malloc(TYPES * MARK_WORDS * sizeof(uint));
    __local uint *raised = local_malloc(TYPES * MARK_WORDS * sizeof(uint));
    for (uint i = LANE; i < TYPES * MARK_WORDS; i += LANES) known[i] = raised[i] = 0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // no marks, before some are set
    for (uint i = LANE; i < TYPES * resources; i += LANES)
        if (device_experience(agent, i / RESOURCES, i % RESOURCES) > 0.0)
            mark(known, i / RESOURCES, i % RESOURCES);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all that is known, before its components are
    uint i = 0;
    do {
        const int device_type = top_down[i], below = component_type[device_type];
        for (uint r = LANE; r < resources; r += LANES) {
            if (!is_marked(known, device_type, r)) continue;
#if CROWDED
#pragma unroll 1
#endif
            for (uint slot = 0; slot < COMPONENTS; ++slot) {
                const int k = recipe(device_type, r, slot);
                if (k < 0) continue;
                mark(known, below, k);
                mark(raised, below, k);
            }
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // components of this type, before their own
    } while (++i < TYPES_ABOVE_TOOLS);
    for (uint j = LANE; j < TYPES * resources; j += LANES) {
        const uint device_type = j / RESOURCES, r = j % RESOURCES;
        if (is_marked(raised, device_type, r) && device_experience(agent, device_type, r) < 1.0)
            device_experience(agent, device_type, r) = 1.0;
    }
    // Experience, before it is read; marks are read, before their memory is used again.
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

#endif
