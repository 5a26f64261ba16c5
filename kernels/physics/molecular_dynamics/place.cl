// Which atoms are in each cell? (cells.cl says what is made.)
// Twin: reference_py/physics/molecular_dynamics/place.py.
//
// Local memory: that of running sums.
#include "physics/molecular_dynamics/lanes.cl"
#include "primitives/wide.cl"

// A workgroup is a part of the atoms (box.cl).
__kernel void count_atoms(__global const num *restrict x, __global uint *restrict cell,
                          __global uint *restrict counts, __global const uint *restrict valid,
                          const long tick)
{
    const size_t box = BOX;
    if (IS_PLACED(box)) return;
    for (uint i = FIRST + LANE; i < LAST; i += LANES) {
        const size_t at = box * ATOMS + i;
        const uint row = cell_of(x[3 * at + 2]) * SIDE + cell_of(x[3 * at + 1]);
        const uint own = row * SIDE + cell_of(x[3 * at]);
        cell[at] = own;
        atomic_inc(&counts[box * CELLS + own]);
    }
}

// A workgroup is a block of cells.
__kernel void sum_cells(__global uint *restrict counts, __global uint *restrict start,
                        __global uint *restrict totals, __global const uint *restrict valid,
                        const long tick)
{
    const size_t box = get_group_id(0) / CELL_BLOCKS;
    const uint first = (uint)(get_group_id(0) % CELL_BLOCKS) * CELL_BLOCK;
    if (IS_PLACED(box)) return;
    const uint here = min(CELLS - first, CELL_BLOCK);
    counts += box * CELLS + first;
    start += box * CELLS + first;
    for (uint i = (uint)get_local_id(0); i < here; i += (uint)get_local_size(0)) {
        start[i] = counts[i];
        counts[i] = 0u;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);  // the counts, before they are added up
    const uint total = wide_scan_exclusive(start, here);
    if (get_local_id(0) == 0) totals[get_group_id(0)] = CELL_BLOCKS == 1 ? 0u : total;
}

// A workgroup is a box; a box with a single block does not need it.
__kernel void sum_blocks(__global uint *restrict totals, __global const uint *restrict valid,
                         const long tick)
{
    const size_t box = get_group_id(0);
    if (IS_PLACED(box)) return;
    wide_scan_exclusive(totals + box * CELL_BLOCKS, CELL_BLOCKS);
}

// A workgroup is a part of the atoms (box.cl).
__kernel void place_atoms(__global const num *restrict x, __global const uint *restrict cell,
                          __global uint *restrict start, __global const uint *restrict totals,
                          __global uint *restrict order, __global uint *restrict slot,
                          __global num4 *restrict packed, __global num *restrict lanes,
                          __global num *restrict built, __global const uint *restrict valid,
                          const long tick)
{
    const size_t box = BOX;
    if (IS_PLACED(box)) return;
    for (uint i = FIRST + LANE; i < LAST; i += LANES) {
        const size_t at = box * ATOMS + i;
        const uint own = cell[at];
        const uint place =
            totals[box * CELL_BLOCKS + own / CELL_BLOCK] + atomic_inc(&start[box * CELLS + own]);
        order[box * ATOMS + place] = i;
#if PLACES_STAY
        const num4 atom = packed_place(x[3 * at], x[3 * at + 1], x[3 * at + 2]);
        slot[at] = place;
        packed[box * PACKED + place] = atom;
#if DEVICE_IS_CPU
        write_lanes(lanes, box, place, atom);
#endif
        for (uint k = 0; k < 3; ++k) built[3 * at + k] = x[3 * at + k];
#endif
    }
#if PLACES_STAY
    if (FIRST == 0 && get_local_id(0) == 0)
        for (uint k = 0; k < MORE_PLACES; ++k) {
            const num away = FAR + LENGTH * (num)(k + 1u);  // those are far from each other, too
            const num4 nowhere = (num4)(away, away, away, NUM(0.0));
            packed[box * PACKED + ATOMS + k] = nowhere;
#if DEVICE_IS_CPU
            write_lanes(lanes, box, ATOMS + k, nowhere);
#endif
        }
#endif
}
