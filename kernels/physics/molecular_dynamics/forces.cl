// Which force acts on each atom, and which energy has it?
// Twin: reference_py/physics/molecular_dynamics/forces.py.
//
// Terms are whole numbers (fixed.cl), so that all variants give the same bits, whatever the order:
//
//   all_pairs  a work-item is an atom, and tries all others
//   particle   a work-item is an atom, and tries those of 27 cells
//   cell       a workgroup is a cell, whose atoms try those of 27 cells, read into local memory
//   sorted     a work-item is an atom, and tries those of 27 cells, which follow each other in the
//              order of the cells: three cells of a row at once, whose places hold for some steps
//   list       a work-item is an atom, and tries those of its list
//
// On a CPU `sorted` takes several neighbours of an atom at a time (lanes.cl), `list` a neighbour
// each of several atoms (slices.cl). On a GPU `list` reads four neighbours of an atom at once.
// Macros: VARIANT.
#include "physics/molecular_dynamics/pair.cl"
#if VARIANT != VARIANT_ALL_PAIRS
#include "physics/molecular_dynamics/lanes.cl"
#endif
#if VARIANT == VARIANT_LIST
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

#if VARIANT == VARIANT_ALL_PAIRS

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

#elif VARIANT == VARIANT_PARTICLE

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

#elif VARIANT == VARIANT_CELL

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
}

#elif VARIANT == VARIANT_SORTED

// Sums over the places begin .. end - 1, one after another.
static void add_run(sums_t *sums, __global const num4 *restrict packed, const num4 own,
                    const uint place, const uint begin, const uint end)
{
    for (uint other = begin; other < end; ++other) {
        const num4 d = own - packed[other];
        if (other != place) add_pair(sums, d.x, d.y, d.z);
    }
}

// It also notes that the places hold for the atoms as they are.
__kernel void forces(__global const num4 *restrict packed, __global const num *restrict lanes,
                     __global const uint *restrict cell, __global const uint *restrict start,
                     __global const uint *restrict totals, __global const uint *restrict order,
                     __global const num *restrict x, __global long *restrict F,
                     __global long *restrict u, __global long *restrict w,
                     __global uint *restrict overlap, __global uint *restrict valid,
                     const int energies)
{
    const size_t box = BOX;
    if (FIRST == 0 && get_local_id(0) == 0) valid[box] = 1u;
    packed += box * PACKED;
    lanes += box * 3 * PACKED;
    start += box * CELLS;
    totals += box * CELL_BLOCKS;
    for (uint place = FIRST + LANE; place < LAST; place += LANES) {
        const uint i = order[box * ATOMS + place];
        const size_t at = box * ATOMS + i;
        const uint home = cell[at];
        const num4 own = packed[place];
        sums_t sums = SUMS_OF_NOTHING;
        sums.close = true;
#if DEVICE_IS_CPU
        if (energies)
            sums = sums_of_lanes(lanes, start, totals, own, place, home, true);
        else
            sums = sums_of_lanes(lanes, start, totals, own, place, home, false);
#endif
        if (sums.close) {
            const uint column = home % SIDE;
            const bool together = column > 0u && column < SIDE - 1u;
            const sums_t nothing = SUMS_OF_NOTHING;
            sums = nothing;
            for (int number = 0; number < 27; number += together ? 3 : 1) {
                const uint first = around(home, number), last = together ? first + 2u : first;
                add_run(&sums, packed, own, place, CELL_BEGIN(start, totals, first),
                        CELL_END(start, totals, last));
            }
        }
        WRITE_SUMS(sums, at)
        if (sums.close || outside(x + 3 * at)) atomic_min(&overlap[box], i);
    }
}

#else

// Sums over the list of an atom, one neighbour after another. Where the list was too short, over
// the 27 cells.
static sums_t sums_one_by_one(__global const num4 *restrict packed,
                              __global const uint *restrict entries,
                              __global const uint *restrict start,
                              __global const uint *restrict totals, const uint place,
                              const uint length, const uint home)
{
    const num4 own = packed[place];
    sums_t sums = SUMS_OF_NOTHING;
    if (length < ROOM) {
        for (uint k = 0; k < length; ++k) {
            const num4 d = own - packed[PLACE_OF(ENTRY_OF(entries, k))];
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

#if DEVICE_IS_CPU

// Forces on the atoms of the places first .. last - 1 of a box, a part of it, slice by slice. An
// atom that is too close to another one for sums of several, that has no list, or that is far from
// all others because it has left the box is done by itself.
COLLECTIVE_WHOLE void
forces_of_slices(__global const num4 *restrict packed, __global const uint *restrict list,
                 __global const uint *restrict lengths, __global const uint *restrict widths,
                 __global const uint *restrict cell, __global const uint *restrict start,
                 __global const uint *restrict totals, __global const uint *restrict order,
                 __global const num *restrict x, __global long *restrict F,
                 __global long *restrict u, __global long *restrict w,
                 __global uint *restrict overlap, const uint first, const uint last,
                 const int energies)
{
    __global const uint *slice = list;
    for (uint place = first; place < last; place += WIDTH) {
        const uint known = widths[place / WIDTH], width = WIDTH_OF_SLICE(known);
        const uint count = last - place < WIDTH ? last - place : WIDTH;
        slice_t atoms;
        wide_t own_x;
        read_slice(&atoms, packed + place, &own_x);
        slice_sums_t sums;
        sums_of_slice(&sums, &atoms, packed, slice, width, energies);
        whole_t sums_x[1] = {sums.x}, sums_y[1] = {sums.y}, sums_z[1] = {sums.z};
        const long *fx = (const long *)sums_x, *fy = (const long *)sums_y;
        const long *fz = (const long *)sums_z;
        for (uint lane = 0; lane < count; ++lane) {
            const size_t at = order[place + lane];
            F[3 * at] = fx[lane];
            F[3 * at + 1] = fy[lane];
            F[3 * at + 2] = fz[lane];
        }
        if (energies) {
            whole_t sums_u[1] = {sums.u}, sums_w[1] = {sums.w};
            const long *energy = (const long *)sums_u, *virial = (const long *)sums_w;
            for (uint lane = 0; lane < count; ++lane) {
                u[order[place + lane]] = energy[lane];
                w[order[place + lane]] = virial[lane];
            }
        }
        const mask_t doubtful = sums.nearest < (wide_t)FAR_ENOUGH | own_x == (wide_t)FAR;
        const uint those = HAS_ALL_LISTS(known) ? bits_of(doubtful) : (1u << WIDTH) - 1u;
        for (uint lane = 0; those != 0u && lane < count; ++lane)
            if ((those >> lane & 1u) != 0u) {
                const uint at = order[place + lane];
                const sums_t alone = sums_one_by_one(packed, slice + lane, start, totals,
                                                     place + lane, lengths[place + lane], cell[at]);
                WRITE_SUMS(alone, at)
                if (alone.close || outside(x + 3 * at)) atomic_min(overlap, at);
            }
        slice += (size_t)width * WIDTH;
    }
}

#else

// `nearest` (pair.cl) of a difference from an atom; `around` is AROUND of its place.
INLINED num turned(const num d, const num around)
{
    return fabs(d) > HALF_LENGTH ? d + around : d;
}

// A shifted force divides by distances, too, and branches for it anyway.
#if FORM == FORM_SHIFTED_FORCE
#define INVERSE(r2) NUM_INVERT(r2)
#else
#define INVERSE(r2) num_inverse(r2)
#endif

// Sums over the list of an atom, four neighbours at a time: four reads are under way at once, and
// nothing branches. `energies` is a literal at each call. Terms are multiplied by the scale of
// whole numbers (fixed.cl) before their last product, which is the same: the scale is a power of 2.
// `close` says that a neighbour is so close that the sums may not be right.
INLINED sums_t sums_of_list(__global const num4 *restrict packed,
                            __global const fours_t *restrict fours, const num4 own,
                            const uint length, const bool energies)
{
    sums_t sums = SUMS_OF_NOTHING;
    const num around_x = AROUND(own.x), around_y = AROUND(own.y), around_z = AROUND(own.z);
    for (uint k = 0; k < length; k += 4, fours += ATOMS) {
        const fours_t four = *fours;
        const num4 others[4] = {packed[four.x], packed[four.y], packed[four.z], packed[four.w]};
#pragma unroll
        for (uint i = 0; i < 4; ++i) {
            const num4 d = own - others[i];
            const num dx = turned(d.x, around_x), dy = turned(d.y, around_y);
            const num dz = turned(d.z, around_z);
            const num r2 = (dx * dx + dy * dy) + dz * dz;
            const bool acts = r2 < SQUARE_OF_CUTOFF;
            sums.close |= r2 < SURELY_FITS;
            PAIR_ENERGY_AND_FORCE(num, r2, u, w, INVERSE, NUM_DIV, NUM_SQRT)
            const num scaled = acts ? w * NUM(FIXED_SCALE) : NUM(0.0);
            sums.x += convert_long_rte(scaled * dx);
            sums.y += convert_long_rte(scaled * dy);
            sums.z += convert_long_rte(scaled * dz);
            if (energies) {
                sums.u += convert_long_rte((acts ? u : NUM(0.0)) * NUM(FIXED_SCALE));
                sums.w += convert_long_rte(scaled * r2);
            }
        }
    }
    return sums;
}

#endif

// It also notes that the lists hold for the places as they are.
__kernel void forces(__global const num4 *restrict packed, __global const uint *restrict list,
                     __global const uint *restrict lengths, __global const uint *restrict widths,
                     __global const uint *restrict cell, __global const uint *restrict start,
                     __global const uint *restrict totals, __global const uint *restrict order,
                     __global const num *restrict x, __global long *restrict F,
                     __global long *restrict u, __global long *restrict w,
                     __global uint *restrict overlap, __global uint *restrict valid,
                     const int energies)
{
    const size_t box = BOX;
    if (FIRST == 0 && get_local_id(0) == 0) valid[box] = 1u;
    packed += box * PACKED;
    list += box * LIST_OF_BOX;
    start += box * CELLS;
    totals += box * CELL_BLOCKS;
    lengths += box * ATOMS;
    cell += box * ATOMS;
    order += box * ATOMS;
    x += 3 * box * ATOMS;
    F += 3 * box * ATOMS;
    u += box * ATOMS;
    w += box * ATOMS;
    overlap += box;
#if DEVICE_IS_CPU
    forces_of_slices(packed, list + FIRST / PART * LIST_OF_PART, lengths, widths + box * SLICES,
                     cell, start, totals, order, x, F, u, w, overlap, FIRST, LAST, energies);
#else
    for (uint place = FIRST + LANE; place < LAST; place += LANES) {
        const uint at = order[place];
        const uint length = lengths[place];
        __global const fours_t *fours = (__global const fours_t *)list + place;
        sums_t sums = SUMS_OF_NOTHING;
        sums.close = length >= ROOM;
        if (!sums.close && energies)
            sums = sums_of_list(packed, fours, packed[place], length, true);
        else if (!sums.close)
            sums = sums_of_list(packed, fours, packed[place], length, false);
        if (sums.close)
            sums =
                sums_one_by_one(packed, list + 4 * place, start, totals, place, length, cell[at]);
        WRITE_SUMS(sums, at)
        if (sums.close || outside(x + 3 * at)) atomic_min(overlap, at);
    }
#endif
}

#endif
