// Which force acts on each atom, and which energy has it?
// Twin: reference_py/physics/molecular_dynamics/forces.py.
//
// Terms are whole numbers (fixed.cl), so that all variants give the same bits, whatever the order:
//
//   all_pairs  a work-item is an atom, and tries all others
//   particle   a work-item is an atom, and tries those of 27 cells
//   cell       a workgroup is a cell, whose atoms try those of 27 cells, read into local memory
//   list       a work-item is an atom, and tries those of its list
//
// On a CPU the list is read several neighbours at a time. There a term is rounded by adding
// 1.5 * 2^16: in double the last digit of such a sum is 2^-36, so the bits of the sum, less those
// of 1.5 * 2^16, are the whole number. That holds for terms below 2^15; an atom with a neighbour
// closer than 0.65 is done again, one neighbour after another.
// Macros: VARIANT_IS_ALL_PAIRS, VARIANT_IS_PARTICLE, VARIANT_IS_CELL, VARIANT_IS_LIST.
#if VARIANT_IS_ALL_PAIRS
#include "physics/molecular_dynamics/pair.cl"
#else
#include "physics/molecular_dynamics/cells.cl"
#endif
#if VARIANT_IS_LIST
#include "physics/molecular_dynamics/neighbours.cl"
#endif

// Write what an atom has; `at` is its place among those of all boxes.
#define WRITE_SUMS(sums, at) \
    F[3 * (at)] = (sums).x; \
    F[3 * (at) + 1] = (sums).y; \
    F[3 * (at) + 2] = (sums).z; \
    if (energies) { \
        u[at] = (sums).u; \
        w[at] = (sums).w; \
    }

// Whether an atom has left the box.
static bool outside(__global const num *x)
{
    return !(inside(x[0]) && inside(x[1]) && inside(x[2]));
}

#if VARIANT_IS_ALL_PAIRS

__kernel void forces(__global const num *restrict x, __global long *restrict F,
                     __global long *restrict u, __global long *restrict w,
                     __global uint *restrict overlap, const int energies)
{
    const size_t box = BOX;
    __global const num *places = x + 3 * box * ATOMS;
    for (uint i = FIRST + LANE; i < LAST; i += LANES) {
        __global const num *own = places + 3 * i;
        sums_t sums = SUMS_OF_NOTHING;
        for (uint j = 0; j < ATOMS; ++j)
            if (j != i)
                add_pair(&sums, own[0] - places[3 * j], own[1] - places[3 * j + 1],
                         own[2] - places[3 * j + 2]);
        WRITE_SUMS(sums, box * ATOMS + i)
        if (sums.close || outside(own)) atomic_min(&overlap[box], i);
    }
}

#elif VARIANT_IS_PARTICLE

__kernel void forces(__global const num *restrict x, __global const uint *restrict cell,
                     __global const uint *restrict start, __global const uint *restrict totals,
                     __global const uint *restrict order, __global long *restrict F,
                     __global long *restrict u, __global long *restrict w,
                     __global uint *restrict overlap, const int energies)
{
    const size_t box = BOX;
    __global const num *places = x + 3 * box * ATOMS;
    order += box * ATOMS;
    start += box * CELLS;
    totals += box * CELL_BLOCKS;
    // Atoms in the order of their cells: neighbouring work-items read the same cells.
    for (uint place = FIRST + LANE; place < LAST; place += LANES) {
        const uint i = order[place];
        __global const num *own = places + 3 * i;
        sums_t sums = SUMS_OF_NOTHING;
        for (int number = 0; number < 27; ++number) {
            const uint one = around(cell[box * ATOMS + i], number);
            const uint end = CELL_END(start, totals, one);
            for (uint k = CELL_BEGIN(start, totals, one); k < end; ++k) {
                const uint j = order[k];
                if (j != i)
                    add_pair(&sums, own[0] - places[3 * j], own[1] - places[3 * j + 1],
                             own[2] - places[3 * j + 2]);
            }
        }
        WRITE_SUMS(sums, box * ATOMS + i)
        if (sums.close || outside(own)) atomic_min(&overlap[box], i);
    }
}

#elif VARIANT_IS_CELL

#define TILE 64u  // atoms that are read into local memory at once

// Local memory: three numbers and an index an atom of a tile.
__kernel void forces(__global const num *restrict x, __global const uint *restrict start,
                     __global const uint *restrict totals, __global const uint *restrict order,
                     __global long *restrict F, __global long *restrict u,
                     __global long *restrict w, __global uint *restrict overlap, const int energies)
{
    const size_t box = get_group_id(0) / CELLS;
    const uint home = (uint)(get_group_id(0) % CELLS);
    __global const num *places = x + 3 * box * ATOMS;
    order += box * ATOMS;
    start += box * CELLS;
    totals += box * CELL_BLOCKS;
    __local num *tile = local_malloc(3 * TILE * sizeof(num));
    __local uint *of = local_malloc(TILE * sizeof(uint));
    const uint first = CELL_BEGIN(start, totals, home), last = CELL_END(start, totals, home);
    uint done = first;
    do {  // as many of the cell's atoms as there are work-items
        const bool mine = done + LANE < last;
        const uint i = mine ? order[done + LANE] : 0u;
        const num px = places[3 * i], py = places[3 * i + 1], pz = places[3 * i + 2];
        sums_t sums = SUMS_OF_NOTHING;
        int number = 0;
        do {
            const uint one = around(home, number);
            const uint end = CELL_END(start, totals, one);
            uint from = CELL_BEGIN(start, totals, one);
            do {
                const uint here = from < end ? min(end - from, TILE) : 0u;
                for (uint k = LANE; k < here; k += LANES) {
                    const uint j = order[from + k];
                    of[k] = j;
                    for (uint axis = 0; axis < 3; ++axis) tile[3 * k + axis] = places[3 * j + axis];
                }
                group_barrier(CLK_LOCAL_MEM_FENCE);  // the tile's atoms, before they are tried
                for (uint k = 0; k < here; ++k)
                    if (mine && of[k] != i)
                        add_pair(&sums, px - tile[3 * k], py - tile[3 * k + 1],
                                 pz - tile[3 * k + 2]);
                group_barrier(CLK_LOCAL_MEM_FENCE);  // all were tried, before others are read
                from += TILE;
            } while (from < end);
            ++number;
        } while (number < 27);
        if (mine) {
            WRITE_SUMS(sums, box * ATOMS + i)
            if (sums.close || outside(places + 3 * i)) atomic_min(&overlap[box], i);
        }
        done += LANES;
    } while (done < last);
    local_free(TILE * sizeof(uint));
    local_free(3 * TILE * sizeof(num));
}

#else

// Sums over the list of an atom, one neighbour after another; where the list was too short, over
// the 27 cells.
static sums_t sums_one_by_one(__global const num4 *restrict packed,
                              __global const uint *restrict list,
                              __global const uint *restrict start,
                              __global const uint *restrict totals, const uint place,
                              const uint length, const uint home)
{
    const num4 own = packed[place];
    sums_t sums = SUMS_OF_NOTHING;
    if (length < ROOM) {
        for (uint k = 0; k < length; ++k) {
            const num4 d = own - packed[list[LISTED(place, k)]];
            add_pair(&sums, d.x, d.y, d.z);
        }
    } else {
        for (int number = 0; number < 27; ++number) {
            const uint one = around(home, number);
            const uint end = CELL_END(start, totals, one);
            for (uint other = CELL_BEGIN(start, totals, one); other < end; ++other) {
                const num4 d = own - packed[other];
                if (other != place) add_pair(&sums, d.x, d.y, d.z);
            }
        }
    }
    return sums;
}

#if IN_EIGHTS

#if DEVICE_ROUNDS_SINGLES
#define DIVIDE_EACH(a, b) ((a) / (b))
#define ROOT_OF_EACH(a) sqrt(a)
#else
#define DIVIDE_EACH(a, b) convert_float8(convert_double8(a) / convert_double8(b))
#define ROOT_OF_EACH(a) convert_float8(sqrt(convert_double8(a)))
#endif

// Whole numbers of units and the bits of FIXED_ROUNDS, which are taken away from their sum.
#define ROUNDED(x) as_long8(convert_double8(x) + FIXED_ROUNDS)

// From this square of a distance on, 0.65^2, terms are below 2^15 in size.
#define FAR_ENOUGH NUM(0.4225)

static long sum_of_lanes(const long8 each)
{
    const long4 half_of_them = each.lo + each.hi;
    const long2 two = half_of_them.lo + half_of_them.hi;
    return two.x + two.y;
}

// Sums over the list of an atom, eight neighbours at a time; `energies` and `inner` are
// literals at each call.
INLINED sums_t sums_by_eight(__global const num4 *restrict packed,
                             __global const uint *restrict list, const uint place,
                             const uint length, const bool energies, const bool inner)
{
    const num4 own = packed[place];
    __global const uint *mine = MINE(place);
    long8 fx = 0l, fy = 0l, fz = 0l, energy = 0l, virial = 0l;
    mask8_t close = 0;
    for (uint k = 0; k < length; k += WIDTH) {
        __global const uint *at = mine + k;
        DIFFERENCES(inner, own, packed[at[0]], packed[at[1]], packed[at[2]], packed[at[3]],
                    packed[at[4]], packed[at[5]], packed[at[6]], packed[at[7]])
        const num8 square = (dx * dx + dy * dy) + dz * dz;
        const mask8_t acts = square < SQUARE_OF_CUTOFF;
        close |= square < FAR_ENOUGH;
        const num8 r2 = acts ? square : (num8)(SQUARE_OF_CUTOFF);
        PAIR_ENERGY_AND_FORCE(num8, r2, u, w, DIVIDE_EACH, ROOT_OF_EACH)
        w = acts ? w : (num8)NUM(0.0);
        fx += ROUNDED(w * dx);
        fy += ROUNDED(w * dy);
        fz += ROUNDED(w * dz);
        if (energies) {
            u = acts ? u : (num8)NUM(0.0);
            energy += ROUNDED(u);
            virial += ROUNDED(w * r2);
        }
    }
    const long added = (long)((length + WIDTH - 1) / WIDTH * WIDTH) * as_long(FIXED_ROUNDS);
    sums_t sums = SUMS_OF_NOTHING;
    sums.close = any(close);
    sums.x = sum_of_lanes(fx) - added;
    sums.y = sum_of_lanes(fy) - added;
    sums.z = sum_of_lanes(fz) - added;
    sums.u = sum_of_lanes(energy) - added;
    sums.w = sum_of_lanes(virial) - added;
    return sums;
}

// The same with the conditions outside the loop.
static sums_t sums_of_list(__global const num4 *restrict packed, __global const uint *restrict list,
                           const uint place, const uint length, const int energies)
{
    const bool inner = far_inside(packed[place]);
    if (energies) return sums_by_eight(packed, list, place, length, true, false);
    return inner ? sums_by_eight(packed, list, place, length, false, true)
                 : sums_by_eight(packed, list, place, length, false, false);
}

#endif

// It also notes that the lists hold for the places as they are.
__kernel void forces(__global const num4 *restrict packed, __global const uint *restrict list,
                     __global const uint *restrict lengths, __global const uint *restrict cell,
                     __global const uint *restrict start, __global const uint *restrict totals,
                     __global const uint *restrict order, __global const num *restrict x,
                     __global long *restrict F, __global long *restrict u,
                     __global long *restrict w, __global uint *restrict overlap,
                     __global uint *restrict valid, const int energies)
{
    const size_t box = BOX;
    if (FIRST == 0 && get_local_id(0) == 0) valid[box] = 1u;
    packed += box * PACKED;
    list += box * ATOMS * ROOM;
    start += box * CELLS;
    totals += box * CELL_BLOCKS;
    for (uint place = FIRST + LANE; place < LAST; place += LANES) {
        const uint i = order[box * ATOMS + place], length = lengths[box * ATOMS + place];
        const size_t at = box * ATOMS + i;
#if IN_EIGHTS
        sums_t sums = SUMS_OF_NOTHING;
        sums.close = true;
        if (length < ROOM) sums = sums_of_list(packed, list, place, length, energies);
        if (sums.close)
            sums = sums_one_by_one(packed, list, start, totals, place, length, cell[at]);
#else
        const sums_t sums = sums_one_by_one(packed, list, start, totals, place, length, cell[at]);
#endif
        WRITE_SUMS(sums, at)
        if (sums.close || outside(x + 3 * at)) atomic_min(&overlap[box], i);
    }
}

#endif
