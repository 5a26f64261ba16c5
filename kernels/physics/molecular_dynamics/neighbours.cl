// Which atoms are near an atom? A list for each, which holds for some steps.
// Twin: reference_py/physics/molecular_dynamics/neighbours.py.
//
// A list has the places (in the order of the cells) of the atoms that are nearer than cutoff and
// skin; its order is free. Where more are near than a list has room for, its length says so, and
// the atom's partners are looked for in the cells instead.
// A CPU looks at eight places at once, which are those that follow each other in a row of cells,
// and reads those of a list so; not in double precision, as PoCL 3.0 needs minutes to compile
// comparisons of double8.
//
// A workgroup is a part of the places, as of the atoms (box.cl). No local memory, no barriers.
// Macros: ROOM, P(square_of_reach).
#ifndef PHYSICS_MOLECULAR_DYNAMICS_NEIGHBOURS_CL
#define PHYSICS_MOLECULAR_DYNAMICS_NEIGHBOURS_CL

#include "physics/molecular_dynamics/cells.cl"

// Where neighbour k of the atom at a place is. On a CPU the neighbours of an atom follow each
// other, on a GPU those of neighbouring work-items do.
#if DEVICE_IS_CPU
#define LISTED(place, k) ((size_t)(place) * ROOM + (k))
#else
#define LISTED(place, k) ((size_t)(k) * ATOMS + (place))
#endif

#define SQUARE_OF_REACH NUM(P(square_of_reach))

#define IN_EIGHTS (DEVICE_IS_CPU && !NUM_IS_DOUBLE)

#if IN_EIGHTS

#define MINE(place) (list + LISTED(place, 0))

typedef float8 num8;
typedef int8 mask8_t;

#define ALL_BUT_EIGHT ((uint)(ROOM - WIDTH))  // entries of a list that can be filled

// `nearest` of several differences; nothing is to be done for an atom so far inside the box that
// those near it are not on its other side.
static num8 nearest_of_each(const num8 d, const bool inner)
{
    if (inner) return d;
    const num8 below = d < -HALF_LENGTH ? d + LENGTH : d;
    return d > HALF_LENGTH ? d - LENGTH : below;
}

// Whether an atom is so far inside, also after it and others have moved by half the skin.
#define MARGIN NUM(P(margin))
static bool far_inside(const num4 own)
{
    return own.x > MARGIN && own.y > MARGIN && own.z > MARGIN && own.x < LENGTH - MARGIN &&
           own.y < LENGTH - MARGIN && own.z < LENGTH - MARGIN;
}

// Entries of a and b by turns, those of the first or of the second half of each four.
#define LOW_BY_TURNS(a, b) (num8)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5)
#define HIGH_BY_TURNS(a, b) (num8)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7)

// What is between an atom and eight others, along each axis: dx, dy, dz.
#define DIFFERENCES(inner, own, p0, p1, p2, p3, p4, p5, p6, p7) \
    const num8 a = (num8)(p0, p4), b = (num8)(p1, p5), c = (num8)(p2, p6), d = (num8)(p3, p7); \
    const num8 ab = LOW_BY_TURNS(a, b), cd = LOW_BY_TURNS(c, d); \
    const num8 az = HIGH_BY_TURNS(a, b), cz = HIGH_BY_TURNS(c, d); \
    const num8 px = (num8)(ab.s01, cd.s01, ab.s45, cd.s45); \
    const num8 py = (num8)(ab.s23, cd.s23, ab.s67, cd.s67); \
    const num8 pz = (num8)(az.s01, cz.s01, az.s45, cz.s45); \
    const num8 dx = nearest_of_each((num8)own.x - px, inner); \
    const num8 dy = nearest_of_each((num8)own.y - py, inner); \
    const num8 dz = nearest_of_each((num8)own.z - pz, inner);

// List those of the places begin .. end - 1 that are near; returns the length of the list. Places
// may be read that are behind the end: there are WIDTH more of them than atoms. `inner` is a
// literal at each call.
INLINED uint listed(__global const num4 *restrict packed, __global uint *restrict list,
                    const uint place, const uint begin, const uint end, uint found,
                    const bool inner)
{
    const num4 own = packed[place];
    for (uint other = begin; other < end; other += WIDTH) {
        __global const num4 *p = packed + other;
        DIFFERENCES(inner, own, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
        const num8 r2 = (dx * dx + dy * dy) + dz * dz;
        const mask8_t number = (mask8_t)(0, 1, 2, 3, 4, 5, 6, 7) + (mask8_t)(other);
        const mask8_t counts = number < (mask8_t)(end)&number != (mask8_t)(place);
        const mask8_t one = (r2 < SQUARE_OF_REACH) & counts & (mask8_t)(1);
        // Each is written in any case, which is cheaper than a branch; the next one covers it if it
        // does not count. A list without room for eight more is not used.
        __global uint *mine = list + min(found, ALL_BUT_EIGHT);
        uint n = 0;
#define LIST_IF(lane, k) \
    mine[n] = other + k; \
    n += (uint)one.lane;
        LIST_IF(s0, 0u)
        LIST_IF(s1, 1u)
        LIST_IF(s2, 2u)
        LIST_IF(s3, 3u)
        LIST_IF(s4, 4u)
        LIST_IF(s5, 5u)
        LIST_IF(s6, 6u)
        LIST_IF(s7, 7u)
#undef LIST_IF
        found += n;
    }
    return found;
}

// List the neighbours of a place; returns how many there are. Three cells of a row follow each
// other unless the row goes on at the other side of the box.
static uint listed_around(__global const num4 *restrict packed, __global const uint *restrict start,
                          __global const uint *restrict totals, __global uint *restrict list,
                          const uint place, const uint home)
{
    const uint x = home % SIDE;
    const bool together = x > 0u && x < SIDE - 1u, inner = far_inside(packed[place]);
    uint found = 0;
    for (int number = 0; number < 27; number += together ? 3 : 1) {
        const uint first = around(home, number), last = together ? first + 2u : first;
        const uint begin = CELL_BEGIN(start, totals, first), end = CELL_END(start, totals, last);
        found = inner ? listed(packed, list, place, begin, end, found, true)
                      : listed(packed, list, place, begin, end, found, false);
    }
    return found > ALL_BUT_EIGHT ? (uint)ROOM : found;
}

#else

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

__kernel void neighbours(__global const num4 *restrict packed, __global const uint *restrict cell,
                         __global const uint *restrict start, __global const uint *restrict totals,
                         __global const uint *restrict order, __global uint *restrict list,
                         __global uint *restrict lengths, __global const uint *restrict valid,
                         const long tick)
{
    const size_t box = BOX;
    if (IS_PLACED(box)) return;
    packed += box * PACKED;
    list += box * ATOMS * ROOM;
    start += box * CELLS;
    totals += box * CELL_BLOCKS;
    for (uint place = FIRST + LANE; place < LAST; place += LANES) {
        const uint home = cell[box * ATOMS + order[box * ATOMS + place]];
#if IN_EIGHTS
        const uint found = listed_around(packed, start, totals, MINE(place), place, home);
        lengths[box * ATOMS + place] = found;
        for (uint k = found; k < ROOM && k % WIDTH != 0u; ++k) MINE(place)[k] = ATOMS;
#else
        lengths[box * ATOMS + place] = listed_around(packed, start, totals, list, place, home);
#endif
    }
}

#endif
