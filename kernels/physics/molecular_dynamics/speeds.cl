// How do forces change velocities in half a step? On a CPU several numbers at a time.
// The reference takes all numbers at once (kick.py).
//
// A conversion of a whole number of 64 bits is not done for several on all CPUs. Below 2^51 in size
// the number plus the bits of 1.5 * 2^52 is the bits of their sum as doubles, which is exact, as is
// the difference. A workgroup one of whose numbers is larger converts one after another.
//
// No local memory, no barriers.
#ifndef PHYSICS_MOLECULAR_DYNAMICS_SPEEDS_CL
#define PHYSICS_MOLECULAR_DYNAMICS_SPEEDS_CL

#include "physics/molecular_dynamics/vectors.cl"
#include "primitives/fixed.cl"

#if DEVICE_IS_CPU

#define EXACT_WHOLES 6755399441055744.0  // 1.5 * 2^52
#define LARGE 2251799813685248l  // 2^51

typedef long4 __attribute__((aligned(8))) loose_long4;
#define FOUR_FORCES(p) (*(__global const loose_long4 *)(p))
#define FOUR_VALUES(p) \
    ((as_double4(FOUR_FORCES(p) + as_long(EXACT_WHOLES)) - EXACT_WHOLES) * FIXED_UNIT)
#if NUM_IS_DOUBLE
#define VALUES(p) FOUR_VALUES(p)
#else
#define VALUES(p) (wide_t)(convert_float4(FOUR_VALUES(p)), convert_float4(FOUR_VALUES((p) + 4)))
#endif

// How many of some numbers vectors are made of: all but the last few, or none if one is large.
INLINED uint numbers_in_vectors(__global const long *restrict F, const uint numbers)
{
    const uint whole = numbers / WIDTH * WIDTH;
    ulong4 sizes = 0ul;
    for (uint k = 0; k < whole; k += 4) sizes |= as_ulong4(FOUR_FORCES(F + k) + LARGE);
    return (sizes.x | sizes.y | sizes.z | sizes.w) < 2ul * LARGE ? whole : 0u;
}

#endif

// Velocities after half a step more, `half_dt`, of `numbers` numbers. On a GPU every n-th of n
// work-items.
static void half_a_step(__global num *restrict v, __global const long *restrict F,
                        const uint numbers, const num half_dt)
{
    uint first = LANE;
#if DEVICE_IS_CPU
    const uint whole = numbers_in_vectors(F, numbers);
    for (uint k = 0; k < whole; k += WIDTH)
        STORED_WIDE(v + k) = LOADED(v + k) + VALUES(F + k) * half_dt;
    first = whole;
#endif
    for (uint k = first; k < numbers; k += LANES) v[k] = v[k] + fixed_value(F[k]) * half_dt;
}

#endif
