// Where is each atom after a step? The first half of velocity Verlet.
// Twin: reference_py/physics/molecular_dynamics/drift.py.
//
// A box with an overlap stands still. Lists of neighbours and sorted atoms hold for the places at
// which they were made (`built`) while no atom is further from its own than P(slack); else `valid`
// becomes 0. `packed`, or `lanes` for sorted atoms on a CPU, has the places in the order of the
// cells. With lists a CPU moves several atoms at a time. No local memory, no barriers.
// Macros: P(dt), P(half_dt), VARIANT, P(slack).
#include "physics/molecular_dynamics/lanes.cl"
#include "physics/molecular_dynamics/speeds.cl"

#if PLACES_STAY

// Whether an atom is further than P(slack) from where it was, by the squares along each axis. So is
// one that is lost.
#define IS_FURTHER(x2, y2, z2) (!(((x2) + (y2)) + (z2) <= NUM(P(slack)) * NUM(P(slack))))

#endif

#if VARIANT == VARIANT_LIST && DEVICE_IS_CPU

// Move numbers first .. first + WIDTH - 1 of some atoms; returns which of them are lost, and writes
// the squares of how far they are from where they were.
INLINED mask_t move_several(__global num *restrict x, __global const num *restrict v,
                            __global const num *restrict built, num *squares, const uint first,
                            const num dt)
{
    const wide_t length = LENGTH, nothing = NUM(0.0);
    wide_t place = LOADED(x + first) + LOADED(v + first) * dt;
    place = place >= length ? place - length : place;
    place = place < nothing ? place + length : place;
    place = place == length ? nothing : place;
    const mask_t in = (place >= nothing) & (place < length);
    place = in ? place : (wide_t)LOST;
    STORED_WIDE(x + first) = place;
    const wide_t d = place - LOADED(built + first);
    const wide_t size = AS_WIDE(AS_MASK(d) & (mask_t)(ALL_BUT_SIGN));
    const wide_t least = size > (wide_t)HALF_LENGTH ? length - size : size;
    *(wide_t *)(squares + first) = least * least;
    return ~in;
}

// Move atoms, a part of a box, whose first numbers are these; returns whether one of them has moved
// so far that lists do not hold.
COLLECTIVE_WHOLE bool move_part(__global num *restrict x, __global const num *restrict v,
                                __global const num *restrict built,
                                __global const uint *restrict slot, __global num4 *restrict packed,
                                const uint atoms, const num dt)
{
    num squares[3 * PART] __attribute__((aligned(32)));
    const uint numbers = 3 * atoms, whole = numbers / WIDTH * WIDTH;
    mask_t lost = 0;
    for (uint k = 0; k < whole; k += WIDTH) lost |= move_several(x, v, built, squares, k, dt);
    for (uint k = whole; k < numbers; ++k) {
        x[k] = wrapped(x[k] + v[k] * dt);
        const num d = nearest(x[k] - built[k]);
        squares[k] = d * d;
    }
    bool moved = false;
    for (uint i = 0; i < atoms; ++i)
        moved |= IS_FURTHER(squares[3 * i], squares[3 * i + 1], squares[3 * i + 2]);
    // The fourth number is that of the next atom, and of no importance; the last one has no next.
    const uint alone = bits_of(lost) != 0u ? 0u : atoms - 1u;
    for (uint i = 0; i < alone; ++i) packed[slot[i]] = *(__global const loose_num4 *)(x + 3 * i);
    for (uint i = alone; i < atoms; ++i)
        packed[slot[i]] = packed_place(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    return moved;
}

#endif

__kernel void drift(__global num *restrict x, __global num *restrict v,
                    __global const long *restrict F, __global const uint *restrict overlap,
                    __global long *restrict failed, __global const uint *restrict slot,
                    __global num4 *restrict packed, __global num *restrict lanes,
                    __global const num *restrict built, __global uint *restrict valid,
                    const long tick, __global const real *restrict value_table)
{
    const size_t box = BOX;
    const num dt = NUM(P(dt)), half_dt = NUM(P(half_dt));
    if (overlap[box] != NONE) {
        if (FIRST == 0 && get_local_id(0) == 0 && failed[box] == FINE) failed[box] = tick - 1;
        return;
    }
#if VARIANT == VARIANT_LIST && DEVICE_IS_CPU
    const size_t first = box * ATOMS + FIRST;
    half_a_step(v + 3 * first, F + 3 * first, 3 * (LAST - FIRST), half_dt);
    const bool moved = move_part(x + 3 * first, v + 3 * first, built + 3 * first, slot + first,
                                 packed + box * PACKED, LAST - FIRST, dt);
#else
    bool moved = false;
    for (uint i = FIRST + LANE; i < LAST; i += LANES) {
        const size_t at = 3 * (box * ATOMS + i);
        num speed[3], place[3];
        long force[3];
        for (uint k = 0; k < 3; ++k) {  // all is read before anything is written
            speed[k] = v[at + k];
            place[k] = x[at + k];
            force[k] = F[at + k];
        }
#if PLACES_STAY
        const num was[3] = {built[at], built[at + 1], built[at + 2]};
        const uint own = slot[box * ATOMS + i];
#endif
        for (uint k = 0; k < 3; ++k) {
            speed[k] = speed[k] + fixed_value(force[k]) * half_dt;
            place[k] = wrapped(place[k] + speed[k] * dt);
            v[at + k] = speed[k];
            x[at + k] = place[k];
        }
#if PLACES_STAY
        const num dx = nearest(place[0] - was[0]);
        const num dy = nearest(place[1] - was[1]);
        const num dz = nearest(place[2] - was[2]);
        moved |= IS_FURTHER(dx * dx, dy * dy, dz * dz);
        const num4 atom = packed_place(place[0], place[1], place[2]);
        packed[box * PACKED + own] = atom;
#if VARIANT == VARIANT_SORTED && DEVICE_IS_CPU
        write_lanes(lanes, box, own, atom);
#endif
#endif
    }
#endif
    if (moved) atomic_min(&valid[box], 0u);
}
