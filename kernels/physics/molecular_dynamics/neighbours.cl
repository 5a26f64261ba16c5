// Which atoms are near an atom? A list for each, which holds for some steps.
// Twin: reference_py/physics/molecular_dynamics/neighbours.py.
//
// A list has the places (in the order of the cells) of the atoms that are nearer than cutoff and
// skin; its order is free. Where more are near than a list has room for, its length says so, and
// the atom's partners are looked for in the cells instead.
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
        const num4 own = packed[place];
        const uint home = cell[box * ATOMS + order[box * ATOMS + place]];
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
        lengths[box * ATOMS + place] = found;
#if DEVICE_IS_CPU
        for (uint k = found; k < ROOM && k % WIDTH != 0u; ++k) list[LISTED(place, k)] = ATOMS;
#endif
    }
}

#endif
