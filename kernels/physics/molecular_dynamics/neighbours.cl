// Which atoms are near an atom? A list for each, which holds for some steps.
// Twin: reference_py/physics/molecular_dynamics/neighbours.py.
//
// A list has the places (in the order of the cells) of the atoms that are nearer than cutoff and
// skin; its order is free. Where more are near than a list has room for, its length says so, and
// the atom's partners are looked for in the cells instead.
// A CPU looks at several places at once, those that follow each other in a row of cells (`lanes`
// has each axis of them by itself), and writes down those that are near by a table: `closed_up`
// has, for each set of lanes, the set's lanes in front. An entry is then the number of bytes to the
// place in `packed`, which saves an operation for each neighbour in each step.
//
// A workgroup is a part of the places, as of the atoms (box.cl). No local memory, no barriers.
// Macros: ROOM, P(square_of_reach).
#ifndef PHYSICS_MOLECULAR_DYNAMICS_NEIGHBOURS_CL
#define PHYSICS_MOLECULAR_DYNAMICS_NEIGHBOURS_CL

#include "physics/molecular_dynamics/lanes.cl"

// Where neighbour k of the atom at a place is. On a CPU the neighbours of an atom follow each
// other, on a GPU those of neighbouring work-items do.
#if DEVICE_IS_CPU
#define LISTED(place, k) ((size_t)(place) * ROOM + (k))
#else
#define LISTED(place, k) ((size_t)(k) * ATOMS + (place))
#endif

#define SQUARE_OF_REACH NUM(P(square_of_reach))

#if DEVICE_IS_CPU

#define MINE(place) (list + LISTED(place, 0))
#define ENTRY(place) ((place) * (uint)sizeof(num4))
#define PLACE_OF(entry) ((entry) / (uint)sizeof(num4))
#define ALL_BUT_SOME ((uint)(ROOM - WIDTH))  // entries of a list that can be filled

// List those of the places begin .. end - 1 that are near; returns the length of the list. Places
// may be read that are behind the end: there are WIDTH more of them than atoms. `inner` is a
// literal at each call.
INLINED uint listed(__global const num *restrict lanes, __global const uchar *restrict closed_up,
                    __global uint *restrict list, const num4 own, const uint begin, const uint end,
                    uint found, const bool inner)
{
    for (uint other = begin; other < end; other += WIDTH) {
        const wide_t px = LOADED(lanes + other), py = LOADED(lanes + PACKED + other);
        const wide_t pz = LOADED(lanes + 2 * PACKED + other);
        const wide_t dx = nearest_of_each((wide_t)own.x - px, AROUND(own.x), inner);
        const wide_t dy = nearest_of_each((wide_t)own.y - py, AROUND(own.y), inner);
        const wide_t dz = nearest_of_each((wide_t)own.z - pz, AROUND(own.z), inner);
        const wide_t r2 = (dx * dx + dy * dy) + dz * dz;
        const uint left = end - other;
        const uint there = left < WIDTH ? (1u << left) - 1u : (1u << WIDTH) - 1u;
        const uint near = bits_of(r2 < (wide_t)SQUARE_OF_REACH) & there;
        __global const uchar *front = closed_up + 2 * WIDTH * near;
        // A list without room for WIDTH more is not used.
        STORED(list + (found < ALL_BUT_SOME ? found : ALL_BUT_SOME)) =
            (entries_t)ENTRY(other) + ENTRIES_OF(*(__global const bytes_t *)front);
        found += front[WIDTH];
    }
    return found;
}

// List the neighbours of a place; returns how many there are. Three cells of a row follow each
// other unless the row goes on at the other side of the box. The place itself is left out by taking
// those before and those behind it.
static uint listed_around(__global const num4 *restrict packed, __global const num *restrict lanes,
                          __global const uchar *restrict closed_up,
                          __global const uint *restrict start, __global const uint *restrict totals,
                          __global uint *restrict list, const uint place, const uint home)
{
    const uint x = home % SIDE;
    const num4 own = packed[place];
    const bool together = x > 0u && x < SIDE - 1u, inner = far_inside(own);
    uint found = 0;
    for (int number = 0; number < 27; number += together ? 3 : 1) {
        const uint first = around(home, number), last = together ? first + 2u : first;
        uint begin = CELL_BEGIN(start, totals, first);
        const uint end = CELL_END(start, totals, last);
        if (begin <= place && place < end) {
            found = listed(lanes, closed_up, list, own, begin, place, found, false);
            begin = place + 1u;
        }
        found = inner ? listed(lanes, closed_up, list, own, begin, end, found, true)
                      : listed(lanes, closed_up, list, own, begin, end, found, false);
    }
    return found > ALL_BUT_SOME ? (uint)ROOM : found;
}

#else

#define PLACE_OF(entry) (entry)

// List the neighbours of a place; returns how many there are.
static uint listed_around(__global const num4 *restrict packed, __global const uint *restrict start,
                          __global const uint *restrict totals, __global uint *restrict list,
                          const uint place, const uint home)
{
    const num4 own = packed[place];
    uint found = 0;
    for (int number = 0; number < 27; ++number) {
        const uint one = around(home, number);
        const uint end = CELL_END(start, totals, one);
        for (uint other = CELL_BEGIN(start, totals, one); other < end; ++other) {
            const num4 d = own - packed[other];
            const num dx = nearest(d.x), dy = nearest(d.y), dz = nearest(d.z);
            const num r2 = (dx * dx + dy * dy) + dz * dz;
            // Written in any case, which is cheaper than a branch; the last entry has no other
            // use.
            list[LISTED(place, min(found, ROOM - 1u))] = other;
            found += r2 < SQUARE_OF_REACH && other != place ? 1u : 0u;
        }
    }
    return found;
}

#endif

__kernel void neighbours(__global const num4 *restrict packed, __global const num *restrict lanes,
                         __global const uchar *restrict closed_up,
                         __global const uint *restrict cell, __global const uint *restrict start,
                         __global const uint *restrict totals, __global const uint *restrict order,
                         __global uint *restrict list, __global uint *restrict lengths,
                         __global const uint *restrict valid, const long tick)
{
    const size_t box = BOX;
    if (IS_PLACED(box)) return;
    packed += box * PACKED;
    lanes += box * 3 * PACKED;
    list += box * ATOMS * ROOM;
    start += box * CELLS;
    totals += box * CELL_BLOCKS;
    for (uint place = FIRST + LANE; place < LAST; place += LANES) {
        const uint home = cell[box * ATOMS + order[box * ATOMS + place]];
#if DEVICE_IS_CPU
        const uint found =
            listed_around(packed, lanes, closed_up, start, totals, MINE(place), place, home);
        lengths[box * ATOMS + place] = found;
        for (uint k = found; k < ROOM && k % WIDTH != 0u; ++k) MINE(place)[k] = ENTRY(ATOMS);
#else
        lengths[box * ATOMS + place] = listed_around(packed, start, totals, list, place, home);
#endif
    }
}

#endif
