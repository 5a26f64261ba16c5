// Which atoms are near an atom? A list for each, which holds for some steps.
// Twin: reference_py/physics/molecular_dynamics/neighbours.py.
//
// A list has the places (in the order of the cells) of the atoms that are nearer than cutoff and
// skin; its order is free. Where more are near than a list has room for, its length is larger than
// its room, and the atom's partners are looked for in the cells instead. On a CPU lists are slices
// (slices.cl), on a GPU fours of entries. A CPU looks at several places at once, those that follow
// each other in a row of cells (`lanes` has each axis of them by itself), and writes down those
// that are near by a table: `closed_up` has, for each set of lanes, the set's lanes in front. An
// entry is then the number of bytes to the place in `packed`, which saves an operation for each
// neighbour in each step.
//
// A workgroup is a part of the places, as of the atoms (box.cl). No local memory, no barriers.
// Macros: ROOM, P(square_of_reach).
#ifndef PHYSICS_MOLECULAR_DYNAMICS_NEIGHBOURS_CL
#define PHYSICS_MOLECULAR_DYNAMICS_NEIGHBOURS_CL

#include "physics/molecular_dynamics/slices.cl"

#define SQUARE_OF_REACH NUM(P(square_of_reach))

// What is added to a difference along an axis for the cell next to another one.
static num shift_across(const uint cell, const int further)
{
    const int to = (int)cell + further;
    return to < 0 ? LENGTH : to >= SIDE ? -LENGTH : NUM(0.0);
}

#if DEVICE_IS_CPU && PLACES_STAY

#define ALL_BUT_SOME ((uint)(ROOM - WIDTH))  // entries of a list that can be filled
#define RUNS 18
#define CELL_SIDE NUM(P(length) / SIDE)

// Places around a cell, of which those of two or three cells of a row follow each other: places
// begin .. end - 1; what is added to differences from atoms of the cell, as these are on the other
// side of the box; and in which of three rows of cells along y and z they are.
typedef struct {
    uint begin[RUNS], end[RUNS], row_y[RUNS], row_z[RUNS];
    num x[RUNS], y[RUNS], z[RUNS];
    uint count;
} runs_t;

// Find the runs around a cell: in each of nine rows three cells next to each other, or those at
// one end of the row and that at the other.
INLINED void find_runs(runs_t *runs, __global const uint *restrict start,
                       __global const uint *restrict totals, const uint home)
{
    const uint x = home % SIDE, y = home / SIDE % SIDE, z = home / (SIDE * SIDE);
    const uint from = x > 0u ? x - 1u : 0u, to = x < SIDE - 1u ? x + 1u : x;
    const bool at_end = x == 0u || x == SIDE - 1u;
    uint count = 0u;
    for (int number = 0; number < 9; ++number) {
        const int further_z = number / 3 - 1, further_y = number % 3 - 1;
        const uint row = (in_background(z, further_z) * SIDE + in_background(y, further_y)) * SIDE;
        for (int part = 0; part < (at_end ? 2 : 1); ++part) {
            const uint other = x == 0u ? SIDE - 1u : 0u;
            const uint first = row + (part == 0 ? from : other);
            const uint last = row + (part == 0 ? to : other);
            runs->begin[count] = CELL_BEGIN(start, totals, first);
            runs->end[count] = CELL_END(start, totals, last);
            runs->row_y[count] = (uint)(further_y + 1);
            runs->row_z[count] = (uint)(further_z + 1);
            runs->x[count] = part == 0 ? NUM(0.0) : x == 0u ? LENGTH : -LENGTH;
            runs->y[count] = shift_across(y, further_y);
            runs->z[count] = shift_across(z, further_z);
            ++count;
        }
    }
    runs->count = count;
}

// Squares of how far it is at least from a place in a cell to those before, at and behind it.
INLINED void gaps(num *squares, const num own, const uint cell)
{
    const num corner = CELL_SIDE * (num)cell, less = NUM(0.001) * CELL_SIDE;
    const num before = (own - corner) - less, behind = ((corner + CELL_SIDE) - own) - less;
    squares[0] = before > NUM(0.0) ? before * before : NUM(0.0);
    squares[1] = NUM(0.0);
    squares[2] = behind > NUM(0.0) ? behind * behind : NUM(0.0);
}

// Which of the places other .. other + WIDTH - 1 are near, in bits of `bits`.
INLINED mask_t near_ones(__global const num *restrict lanes, const num4 own, const uint other,
                         const num x, const num y, const num z, const bool across,
                         const mask_t bits)
{
    wide_t dx = (wide_t)own.x - LOADED(lanes + other);
    wide_t dy = (wide_t)own.y - LOADED(lanes + PACKED + other);
    wide_t dz = (wide_t)own.z - LOADED(lanes + 2 * PACKED + other);
    if (across) {
        dx += (wide_t)x;
        dy += (wide_t)y;
        dz += (wide_t)z;
    }
    return ((dx * dx + dy * dy) + dz * dz < (wide_t)SQUARE_OF_REACH) & bits;
}

// Add some of the places other .. other + WIDTH - 1 to a list, a bit each; returns the length of
// the list. One without room for WIDTH more is not used.
INLINED uint closed_up_at(__global uint *restrict list, __global const uchar *restrict closed_up,
                          const uint found, const uint other, const uint near)
{
    __global const uchar *front = closed_up + 2 * WIDTH * near;
    STORED(list + (found < ALL_BUT_SOME ? found : ALL_BUT_SOME)) =
        (entries_t)ENTRY(other) + ENTRIES_OF(*(__global const bytes_t *)front);
    return found + front[WIDTH];
}

// List those of the places begin .. end - 1 that are near; returns the length of the list. Places
// may be read that are behind the end: there are 2 WIDTH more of them than atoms.
INLINED uint listed(__global const num *restrict lanes, __global const uchar *restrict closed_up,
                    __global uint *restrict list, const num4 own, const uint begin, const uint end,
                    const num x, const num y, const num z, uint found)
{
    const bool across = x != NUM(0.0) || y != NUM(0.0) || z != NUM(0.0);
    for (uint other = begin; other < end; other += 2 * WIDTH) {
        const mask_t low = near_ones(lanes, own, other, x, y, z, across, BIT_OF_EACH_LANE);
        const mask_t high =
            near_ones(lanes, own, other + WIDTH, x, y, z, across, BIT_OF_EACH_LANE << WIDTH);
        const uint left = end - other;
        const uint valid = left < 2 * WIDTH ? (1u << left) - 1u : (1u << 2 * WIDTH) - 1u;
        const uint near = joined_bits(low | high) & valid;
        found = closed_up_at(list, closed_up, found, other, near & ((1u << WIDTH) - 1u));
        found = closed_up_at(list, closed_up, found, other + WIDTH, near >> WIDTH);
    }
    return found;
}

// List the neighbours of a place in a cell; returns how many there are. Rows of cells that are
// further away are left out, and the place itself by taking those before and those behind it.
INLINED uint listed_around(__global const num4 *restrict packed, __global const num *restrict lanes,
                           __global const uchar *restrict closed_up, const runs_t *runs,
                           __global uint *restrict list, const uint place, const uint home)
{
    const num4 own = packed[place];
    num gap_y[3], gap_z[3];
    gaps(gap_y, own.y, home / SIDE % SIDE);
    gaps(gap_z, own.z, home / (SIDE * SIDE));
    uint found = 0;
    for (uint run = 0; run < runs->count; ++run) {
        if (gap_y[runs->row_y[run]] + gap_z[runs->row_z[run]] > SQUARE_OF_REACH) continue;
        const uint end = runs->end[run];
        uint from = runs->begin[run], to = from <= place && place < end ? place : end;
        do {
            found = listed(lanes, closed_up, list, own, from, to, runs->x[run], runs->y[run],
                           runs->z[run], found);
            from = to + 1u;
            to = to < end ? end : NONE;
        } while (to == end);
    }
    return found > ALL_BUT_SOME ? (uint)ROOM : found;
}

// List the neighbours of the places first .. last - 1 of a box, a part of it, slice by slice.
COLLECTIVE_WHOLE void
listed_slices(__global const num4 *restrict packed, __global const num *restrict lanes,
              __global const uchar *restrict closed_up, __global const uint *restrict cell,
              __global const uint *restrict start, __global const uint *restrict totals,
              __global const uint *restrict order, __global uint *restrict list,
              __global uint *restrict lengths, __global uint *restrict widths, const uint first,
              const uint last)
{
    __global uint *slice = list;
    runs_t runs;
    uint around_home = NONE;
    for (uint place = first; place < last; place += WIDTH) {
        __global uint *lists = slice + WIDTH * ROOM;
        uint found[WIDTH], width = 0u, without = 0u;
        for (uint lane = 0; lane < WIDTH; ++lane) {
            found[lane] = 0u;
            if (place + lane >= last) continue;
            const uint home = cell[order[place + lane]];
            if (home != around_home) find_runs(&runs, start, totals, home);
            around_home = home;
            const uint length = listed_around(packed, lanes, closed_up, &runs,
                                              lists + (size_t)lane * ROOM, place + lane, home);
            lengths[place + lane] = length;
            if (length < ROOM)
                found[lane] = length;
            else
                without = 1u;
            width = found[lane] > width ? found[lane] : width;
        }
        for (uint lane = 0; lane < WIDTH; ++lane)
            for (uint k = found[lane]; k < width; k += WIDTH)
                STORED(lists + (size_t)lane * ROOM + k) = (entries_t)ENTRY(ATOMS + WIDTH - 1);
        write_slice(slice, lists, width);
        widths[place / WIDTH] = width << 1 | without;
        slice += (size_t)width * WIDTH;
    }
}

#else

// Lists of a GPU are fours of entries: those of neighbouring places follow each other, so
// work-items read them side by side. The last four of a list ends with a place that is far from all
// atoms.
typedef uint4 fours_t;
#define PLACE_OF(entry) entry
#define ENTRY_OF(entries, k) (entries)[(size_t)((k) / 4u) * (4u * ATOMS) + (k) % 4u]

// A list while it is made: the last entries, how many there are in all, and where the next four is
// written. One at a time would be written in pieces of 4 bytes, each of which costs as much as 32.
typedef struct {
    fours_t last;
    uint found;
    __global fours_t *next;
} making_t;

INLINED void append(making_t *list, const uint entry)
{
    list->last = (fours_t)(list->last.y, list->last.z, list->last.w, entry);
    ++list->found;
    if (list->found % 4u == 0u && list->found <= ROOM) {
        *list->next = list->last;
        list->next += ATOMS;
    }
}

// The sign of a number, as a bit.
#if NUM_IS_DOUBLE
#define SIGN_OF(x) ((uint)(as_ulong(x) >> 63))
#else
#define SIGN_OF(x) (as_uint(x) >> 31)
#endif

// Which of `count` places are near, a multiple of 4 and 32 at most: a bit each, the lowest for the
// last. `across` is a literal at each call: whether something is to be added to the differences, as
// the others are on the other side of the box.
INLINED uint near_ones(__global const num4 *restrict others, const num4 own, const uint count,
                       const num4 added, const bool across)
{
    uint near = 0u;
    for (uint k = 0u; k < count; k += 4u, others += 4) {
#pragma unroll
        for (uint i = 0u; i < 4u; ++i) {
            num4 d = own - others[i];
            if (across) d = d + added;
            const num r2 = (d.x * d.x + d.y * d.y) + d.z * d.z;
            near = near << 1 | SIGN_OF(r2 - SQUARE_OF_REACH);
        }
    }
    return near;
}

// List those of the places begin .. end - 1 that are near, but the place itself. Tests come first
// and then all that were near, as a few of many are: each work-item has others, and all wait for
// the one with the most. Places may be read that are behind the end.
INLINED void list_run(making_t *list, __global const num4 *restrict packed, const num4 own,
                      const uint place, const uint begin, const uint end, const num4 added,
                      const bool across)
{
    for (uint other = begin; other < end; other += 32u) {
        const uint count = min(end - other, 32u), tested = (count + 3u) / 4u * 4u;
        uint near = near_ones(packed + other, own, tested, added, across);
        near &= 0xffffffffu << (tested - count);
        if (place - other < count) near &= ~(1u << (tested - 1u - (place - other)));
        while (near != 0u) {
            const uint before = clz(near);
            near ^= 0x80000000u >> before;
            append(list, other + (before - (32u - tested)));
        }
    }
}

// List the neighbours of a place; returns their number. Cells next to each other in a row
// follow each other: a row of three is one run of places, or two at an end of the box.
INLINED uint listed_around(__global const num4 *restrict packed,
                           __global const uint *restrict start,
                           __global const uint *restrict totals, __global fours_t *restrict list,
                           const uint place, const uint home)
{
    const num4 own = packed[place];
    const uint column = home % SIDE, y = home / SIDE % SIDE, z = home / (SIDE * SIDE);
    const bool at_end = column == 0u || column == SIDE - 1u;
    const uint beyond = column == 0u ? SIDE - 1u : 0u;
    const uint from = column > 0u ? column - 1u : 0u, to = min(column + 1u, SIDE - 1u);
    making_t made = {(fours_t)(ATOMS), 0u, list};
    for (int row = 0; row < 9; ++row) {
        const int up = row % 3 - 1, deep = row / 3 - 1;
        const uint cells = (in_background(z, deep) * SIDE + in_background(y, up)) * SIDE;
        num4 added = (num4)(NUM(0.0), shift_across(y, up), shift_across(z, deep), NUM(0.0));
        for (uint part = 0u; part < (at_end ? 2u : 1u); ++part) {
            if (part == 1u) added.x = column == 0u ? LENGTH : -LENGTH;
            const uint first = cells + (part == 0u ? from : beyond);
            const uint last = cells + (part == 0u ? to : beyond);
            const uint begin = CELL_BEGIN(start, totals, first);
            const uint end = CELL_END(start, totals, last);
            if (added.x != NUM(0.0) || added.y != NUM(0.0) || added.z != NUM(0.0))
                list_run(&made, packed, own, place, begin, end, added, true);
            else
                list_run(&made, packed, own, place, begin, end, added, false);
        }
    }
    const uint found = made.found;
    while (made.found % 4u != 0u) append(&made, ATOMS);
    return found;
}

#endif

__kernel void neighbours(__global const num4 *restrict packed, __global const num *restrict lanes,
                         __global const uchar *restrict closed_up,
                         __global const uint *restrict cell, __global const uint *restrict start,
                         __global const uint *restrict totals, __global const uint *restrict order,
                         __global uint *restrict list, __global uint *restrict lengths,
                         __global uint *restrict widths, __global const uint *restrict valid,
                         const long tick)
{
    const size_t box = BOX;
    if (IS_PLACED(box)) return;
    packed += box * PACKED;
    lanes += box * 3 * PACKED;
    list += box * LIST_OF_BOX;
    start += box * CELLS;
    totals += box * CELL_BLOCKS;
    cell += box * ATOMS;
    order += box * ATOMS;
    lengths += box * ATOMS;
#if DEVICE_IS_CPU && PLACES_STAY
    listed_slices(packed, lanes, closed_up, cell, start, totals, order,
                  list + FIRST / PART * LIST_OF_PART, lengths, widths + box * SLICES, FIRST, LAST);
#else
    for (uint place = FIRST + LANE; place < LAST; place += LANES)
        lengths[place] = listed_around(packed, start, totals, (__global fours_t *)list + place,
                                       place, cell[order[place]]);
#endif
}

#endif
