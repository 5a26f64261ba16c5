// Where is each atom after a step? The first half of velocity Verlet.
// Twin: reference_py/physics/molecular_dynamics/drift.py.
//
// A box with an overlap stands still. Lists of neighbours and sorted atoms hold for the places at
// which they were made (`built`) while no atom is further from its own than P(slack); else `valid`
// becomes 0. `packed`, or `lanes` for sorted atoms on a CPU, has the places in the order of the
// cells. No local memory, no barriers.
// Macros: P(dt), P(half_dt), VARIANT_IS_LIST, VARIANT_IS_SORTED, P(slack).
#include "physics/molecular_dynamics/lanes.cl"
#include "primitives/fixed.cl"

__kernel void drift(__global num *restrict x, __global num *restrict v,
                    __global const long *restrict F, __global const uint *restrict overlap,
                    __global long *restrict failed, __global const uint *restrict slot,
                    __global num4 *restrict packed, __global num *restrict lanes,
                    __global const num *restrict built, __global uint *restrict valid,
                    const long tick)
{
    const size_t box = BOX;
    if (overlap[box] != NONE) {
        if (FIRST == 0 && get_local_id(0) == 0 && failed[box] == FINE) failed[box] = tick - 1;
        return;
    }
    bool moved = false;
    for (uint i = FIRST + LANE; i < LAST; i += LANES) {
        const size_t at = 3 * (box * ATOMS + i);
        num place[3];
        for (uint k = 0; k < 3; ++k) {
            const num speed = v[at + k] + fixed_value(F[at + k]) * NUM(P(half_dt));
            v[at + k] = speed;
            place[k] = wrapped(x[at + k] + speed * NUM(P(dt)));
            x[at + k] = place[k];
        }
#if PLACES_STAY
        const num dx = nearest(place[0] - built[at]);
        const num dy = nearest(place[1] - built[at + 1]);
        const num dz = nearest(place[2] - built[at + 2]);
        moved |= !((dx * dx + dy * dy) + dz * dz <= NUM(P(slack)) * NUM(P(slack)));
        const num4 atom = packed_place(place[0], place[1], place[2]);
        packed[box * PACKED + slot[box * ATOMS + i]] = atom;
#if VARIANT_IS_SORTED && DEVICE_IS_CPU
        write_lanes(lanes, box, slot[box * ATOMS + i], atom);
#endif
#endif
    }
    if (moved) atomic_min(&valid[box], 0u);
}
