// What does knowing a device imply? An agent then knows a little about making its components.
// Twin: reference_py/economy/knowledge.py. One work-item does it; no local memory, no barriers.
#ifndef ECONOMY_KNOWLEDGE_CL
#define ECONOMY_KNOWLEDGE_CL

#include "economy/devices.cl"

// Raise the agent's experience in the components of devices that it knows to at least 1.
static void know_components(STATE_PARAMETERS, const size_t society, const uint agent)
{
#if !TOOLS_ONLY
    // From the most complex type down, so that one pass reaches the tools.
    const int top_down[] = {INDUSTRY, DEVICE_FACTORY, FACTORY, DEVICE_MACHINE, MACHINE};
    for (uint i = 0; i < 5; ++i) {
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

#endif
