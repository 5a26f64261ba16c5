// What is a device made of, what makes it faster, and how long does making one take?
// Twin: reference_py/economy/devices.py. Look-ups of one work-item; no local memory, no barriers.
#ifndef ECONOMY_DEVICES_CL
#define ECONOMY_DEVICES_CL

#include "economy/curves.cl"

#if MAKING_CURVES == 1
#define making_curve(agent, resource) 0u
#define making_start(curve) 0u
#define making_last(curve) (MAKING_LENGTH - 1)
#else
#define making_curve(agent, resource) making_curve_table[of_resource(agent, resource)]
#define making_start(curve) making_start_table[curve]
#define making_last(curve) ((int)making_length_table[curve] - 1)
#endif

#define BY_HAND (-1)

// Type of the components of a type; -1 for a tool, which is made of resources.
__constant int component_type[TYPES] = {-1, TOOL, MACHINE, FACTORY, TOOL, DEVICE_MACHINE};

// Type of the device that speeds the making of a type; -1 if there is none.
__constant int maker_type[TYPES] = {DEVICE_MACHINE, DEVICE_FACTORY, -1, -1, -1, -1};

// Every type after the type of its components.
__constant int bottom_up[TYPES] = {TOOL,           DEVICE_MACHINE, MACHINE,
                                   DEVICE_FACTORY, FACTORY,        INDUSTRY};

static bool is_extracting(const uint device_type)
{
    return device_type <= INDUSTRY;
}

// Whether the device was ever invented.
static bool has_recipe(STATE_PARAMETERS, const size_t society, const uint device_type,
                       const uint resource)
{
    return recipe(device_type, resource, 0) >= 0;
}

// Whether any agent has experience in making the device.
static bool is_known(STATE_PARAMETERS, const size_t society, const uint device_type,
                     const uint resource)
{
    for (uint a = 0; a < AGENTS; ++a)
        if (device_experience(a, device_type, resource) > 0.0) return true;
    return false;
}

// Minutes for making one device by hand; experience counts in whole units, rounded down.
static real making_effort(TABLE_PARAMETERS, const uint curve, const real experience)
{
    const int last = making_last(curve);
    return making_table[making_start(curve) + (experience < (real)last ? (int)experience : last)];
}

// The type of the device with which the agent makes this one, or BY_HAND.
static int owned_maker(AGENT_PARAMETERS, const uint device_type, const uint resource)
{
    const int maker = maker_type[device_type];
    return maker >= 0 && device_minutes(agent, maker, resource) > 0.0 ? maker : BY_HAND;
}

// How many times faster than by hand the agent makes the device.
static real making_speed(AGENT_PARAMETERS, const uint device_type, const uint resource)
{
    const int maker = owned_maker(AGENT(agent), device_type, resource);
    return maker == BY_HAND ? 1.0 : device_factor[maker];
}

// The minutes that the agent takes to make one.
static real making_time(AGENT_PARAMETERS, const uint device_type, const uint resource)
{
    const real minutes = making_effort(TABLES, making_curve(agent, resource),
                                       device_experience(agent, device_type, resource));
    return minutes / making_speed(AGENT(agent), device_type, resource);
}

// The type of the best device with which the agent extracts, or BY_HAND.
static int extracting_device(AGENT_PARAMETERS, const uint resource)
{
    int device_type = INDUSTRY;
    while (device_type >= TOOL && !(device_minutes(agent, device_type, resource) > 0.0))
        --device_type;
    return device_type;  // BY_HAND lies below the tool
}

// How many unused devices the minutes make up, such that taking them leaves no less than 0.
static int whole_devices(const real minutes, const real lifetime)
{
    const int count = (int)(minutes / lifetime);
    return count - ((real)count * lifetime > minutes);
}

#endif
