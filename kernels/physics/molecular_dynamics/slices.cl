// How does a CPU take the lists of several atoms at once? Each lane of a vector is an atom.
// The reference takes all pairs at once (forces.py).
//
// The lists of WIDTH places that follow each other are a slice: entry k of all of them, then entry
// k + 1; the shorter ones end with places that are far from all atoms. So no sum is taken over
// lanes, and a loop ends once for all of them. Slices follow each other without a gap: lists are
// read in a row, and need no more of a cache than is read.
//
// In double precision a term is rounded to a whole number as in lanes.cl: one sum. So it can be in
// single precision, after a conversion to double; that is the way for energies. For forces there
// is a shorter one, without a conversion: the sum with 1.5 * 2^10 has the last digit 2^-13, so the
// bits of the sum, less those of 1.5 * 2^10, are the term in units of 2^-13. What this leaves of
// the term, which is exact, is at most 2^-14, and its sum with 1.5 * 2^-13 has the last digit
// 2^-36. Both are added as whole numbers of 32 bits. Ties go to the even number of units of 2^-36,
// for a unit of 2^-13 is an even number of these. It holds for terms below 2^9, so for atoms that
// are no closer than 0.85, and for fewer than 512 of them; a slice with others is done the other
// way.
//
// No local memory, no barriers. Macros: ROOM, WIDTH, NUM_IS_DOUBLE.
#ifndef PHYSICS_MOLECULAR_DYNAMICS_SLICES_CL
#define PHYSICS_MOLECULAR_DYNAMICS_SLICES_CL

#include "physics/molecular_dynamics/lanes.cl"

// Entries that the lists of a part of the places (box.cl) have room for; while they are made, those
// of a slice are behind the room of that slice, list by list.
#define LIST_OF_PART ((size_t)(PART + WIDTH) * ROOM)
#define LIST_OF_BOX (LIST_OF_PART * PARTS)

#if DEVICE_IS_CPU && PLACES_STAY

#define ENTRY(place) ((place) * (uint)sizeof(num4))
#define PLACE_OF(entry) ((entry) / (uint)sizeof(num4))
#define ENTRY_OF(entries, k) (entries)[(size_t)(k) * WIDTH]

// Slices of a box, and what is known of one: how many entries its lists have, and whether one of
// its atoms has no list, because that would have been too long.
#define SLICES ((uint)((ATOMS + WIDTH - 1) / WIDTH))
#define WIDTH_OF_SLICE(known) ((known) >> 1)
#define HAS_ALL_LISTS(known) (((known) & 1u) == 0u)

#if !NUM_IS_DOUBLE
// Rows become columns, in both halves of vectors of eight.
#define FIRST_OF_EACH(vector_t, a, b) (vector_t)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5)
#define SECOND_OF_EACH(vector_t, a, b) (vector_t)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7)
#define FIRST_OF_TWO(vector_t, ab, cd) (vector_t)(ab.s01, cd.s01, ab.s45, cd.s45)
#define SECOND_OF_TWO(vector_t, ab, cd) (vector_t)(ab.s23, cd.s23, ab.s67, cd.s67)
#endif

// The atoms of a slice: their places, four numbers each, and what is added along an axis to a
// difference that is longer than half the box, if one can be (lanes.cl).
typedef struct {
    wide_t a, b, c, d;
    wide_t around_x, around_y, around_z;
    bool turns_x, turns_y, turns_z;
} slice_t;

// Sums of each lane. `nearest` has squares of the shortest distances.
#if NUM_IS_DOUBLE
typedef long4 whole_t;
#define ROUNDED_EACH(x) as_long4((x) + FIXED_ROUNDS)
#else
typedef long8 whole_t;
#define ROUNDED_EACH(x) as_long8(convert_double8(x) + FIXED_ROUNDS)
#endif
typedef struct {
    whole_t x, y, z, u, w;
    wide_t nearest;
} slice_sums_t;

// Four numbers of each of WIDTH places, of which AT(k) is that of lane k, in four vectors; and
// three axes of these.
#if NUM_IS_DOUBLE
#define FOUR_VECTORS(AT) AT(0), AT(1), AT(2), AT(3)
#define AXES(a, b, c, d, x, y, z) \
    const wide_t ab = (wide_t)(a.s0, b.s0, a.s2, b.s2), cd = (wide_t)(c.s0, d.s0, c.s2, d.s2); \
    const wide_t ay = (wide_t)(a.s1, b.s1, a.s3, b.s3), cy = (wide_t)(c.s1, d.s1, c.s3, d.s3); \
    wide_t x = (wide_t)(ab.s01, cd.s01), y = (wide_t)(ay.s01, cy.s01); \
    wide_t z = (wide_t)(ab.s23, cd.s23);
#else
#define FOUR_VECTORS(AT) \
    (wide_t)(AT(0), AT(4)), (wide_t)(AT(1), AT(5)), (wide_t)(AT(2), AT(6)), (wide_t)(AT(3), AT(7))
#define AXES(a, b, c, d, x, y, z) \
    const wide_t ab = FIRST_OF_EACH(wide_t, a, b), cd = FIRST_OF_EACH(wide_t, c, d); \
    const wide_t az = SECOND_OF_EACH(wide_t, a, b), cz = SECOND_OF_EACH(wide_t, c, d); \
    wide_t x = FIRST_OF_TWO(wide_t, ab, cd), y = SECOND_OF_TWO(wide_t, ab, cd); \
    wide_t z = FIRST_OF_TWO(wide_t, az, cz);
#endif

// What is to be added to differences along an axis on which the atoms are at `own`.
INLINED wide_t around_each(const wide_t own)
{
    return own < (wide_t)HALF_LENGTH ? (wide_t)LENGTH : (wide_t)-LENGTH;
}

// Whether one of these atoms may be near another one on the other side of the box.
INLINED bool one_turns(const wide_t own)
{
    return bits_of(own<(wide_t)MARGIN | own>(wide_t)(LENGTH - MARGIN)) != 0u;
}

// Read the atoms of a slice whose first place is the first of `packed`.
INLINED void read_slice(slice_t *slice, __global const num4 *restrict packed, wide_t *own_x)
{
#define OWN(k) packed[k]
    const wide_t own[4] = {FOUR_VECTORS(OWN)};
#undef OWN
    slice->a = own[0];
    slice->b = own[1];
    slice->c = own[2];
    slice->d = own[3];
    AXES(own[0], own[1], own[2], own[3], x, y, z)
    slice->around_x = around_each(x);
    slice->around_y = around_each(y);
    slice->around_z = around_each(z);
    slice->turns_x = one_turns(x);
    slice->turns_y = one_turns(y);
    slice->turns_z = one_turns(z);
    *own_x = x;
}

// `nearest` (pair.cl) of differences, some of which may be longer than half the box.
INLINED wide_t turned(const wide_t d, const wide_t around)
{
    const wide_t size = AS_WIDE(AS_MASK(d) & (mask_t)(ALL_BUT_SIGN));
    return d + (size > (wide_t)HALF_LENGTH ? around : (wide_t)NUM(0.0));
}

// What is between the atoms and those of an entry each, and what they have of them: dx, dy, dz,
// square, acts, u, w. Differences are taken before axes are sorted out: a compiler that sorted out
// what it reads would read it in parts.
#define ENTRY_PLACE(k) (*(__global const num4 *)(bytes + entries[k]))
#define DISTANCES_OF_ENTRIES(slice) \
    const wide_t others[4] = {FOUR_VECTORS(ENTRY_PLACE)}; \
    const wide_t a = (slice)->a - others[0], b = (slice)->b - others[1]; \
    const wide_t c = (slice)->c - others[2], d = (slice)->d - others[3]; \
    AXES(a, b, c, d, dx, dy, dz) \
    if ((slice)->turns_x) dx = turned(dx, (slice)->around_x); \
    if ((slice)->turns_y) dy = turned(dy, (slice)->around_y); \
    if ((slice)->turns_z) dz = turned(dz, (slice)->around_z); \
    const wide_t square = (dx * dx + dy * dy) + dz * dz; \
    nearest = square < nearest ? square : nearest;
#define PAIRS_OF_ENTRIES(slice) \
    DISTANCES_OF_ENTRIES(slice) \
    const mask_t acts = square < (wide_t)SQUARE_OF_CUTOFF; \
    PAIR_ENERGY_AND_FORCE(wide_t, square, u, w, INVERT_EACH, DIVIDE_EACH, ROOT_OF_EACH) \
    w = acts ? w : (wide_t)NUM(0.0);

// Sums over the lists of a slice; `energies` is a literal at each call. They are right for atoms
// whose nearest one is FAR_ENOUGH.
INLINED void sum_slice(slice_sums_t *sums, const slice_t *slice,
                       __global const num4 *restrict packed, __global const uint *restrict entries,
                       const uint width, const bool energies)
{
    __global const uchar *bytes = (__global const uchar *)packed;
    const whole_t added = (whole_t)((long)width * as_long(FIXED_ROUNDS));
    wide_t nearest = LENGTH * LENGTH;
    whole_t fx = -added, fy = -added, fz = -added, energy = -added, virial = -added;
    for (uint k = 0; k < width; ++k, entries += WIDTH) {
        PAIRS_OF_ENTRIES(slice)
        fx += ROUNDED_EACH(w * dx);
        fy += ROUNDED_EACH(w * dy);
        fz += ROUNDED_EACH(w * dz);
        if (energies) {
            u = acts ? u : (wide_t)NUM(0.0);
            energy += ROUNDED_EACH(u);
            virial += ROUNDED_EACH(w * (acts ? square : (wide_t)NUM(0.0)));
        }
    }
    sums->x = fx;
    sums->y = fy;
    sums->z = fz;
    sums->u = energy;
    sums->w = virial;
    sums->nearest = nearest;
}

#if !NUM_IS_DOUBLE

// For which squares of distances, 0.85^2, and for how many terms the short way is right.
#define QUICKLY_FAR_ENOUGH NUM(0.7225)
#define QUICK_TERMS 511u

#define ROUNDS_HIGH NUM(1536.0)  // 1.5 * 2^10
#define ROUNDS_LOW NUM(0.00018310546875)  // 1.5 * 2^-13
#define HIGH_IN_LOW 8388608l  // 2^-13 over 2^-36

// Add terms: what a sum of them holds in units of 2^-13, and in units of 2^-36.
#define ADD_QUICKLY(high, low, expression) \
    { \
        const wide_t term = expression, sum = term + ROUNDS_HIGH; \
        high += as_uint8(sum); \
        low += as_uint8((term - (sum - ROUNDS_HIGH)) + ROUNDS_LOW); \
    }

// The whole number of both.
INLINED whole_t quick_sum(const uint8 high, const uint8 low, const uint width)
{
    const int8 highs = as_int8(high - width * as_uint(ROUNDS_HIGH));
    const int8 lows = as_int8(low - width * as_uint(ROUNDS_LOW));
    return convert_long8(highs) * HIGH_IN_LOW + convert_long8(lows);
}

// The forces alone. While an entry's divisions last, which is longer than all else, the sums are
// taken of the entry before; before the first one, of nothing.
INLINED void sum_slice_quickly(slice_sums_t *sums, const slice_t *slice,
                               __global const num4 *restrict packed,
                               __global const uint *restrict entries, const uint width)
{
    __global const uchar *bytes = (__global const uchar *)packed;
    wide_t nearest = LENGTH * LENGTH;
    uint8 high_x = 0u, high_y = 0u, high_z = 0u, low_x = 0u, low_y = 0u, low_z = 0u;
    wide_t before_x = NUM(0.0), before_y = NUM(0.0), before_z = NUM(0.0);
    wide_t before_square = nearest, before_inverse = NUM(0.0), before_slope = NUM(0.0);
#define ADD_THE_ONE_BEFORE \
    { \
        PAIR_AFTER_DIVISIONS(wide_t, before_inverse, before_square, before_slope, u, w) \
        w = before_square < (wide_t)SQUARE_OF_CUTOFF ? w : (wide_t)NUM(0.0); \
        ADD_QUICKLY(high_x, low_x, w * before_x) \
        ADD_QUICKLY(high_y, low_y, w * before_y) \
        ADD_QUICKLY(high_z, low_z, w * before_z) \
    }
    for (uint k = 0; k < width; ++k, entries += WIDTH) {
        DISTANCES_OF_ENTRIES(slice)
        PAIR_DIVISIONS(wide_t, square, inverse, r, slope, INVERT_EACH, DIVIDE_EACH, ROOT_OF_EACH)
        ADD_THE_ONE_BEFORE
        before_x = dx;
        before_y = dy;
        before_z = dz;
        before_square = square;
        before_inverse = inverse;
        before_slope = slope;
    }
    ADD_THE_ONE_BEFORE
#undef ADD_THE_ONE_BEFORE
    sums->x = quick_sum(high_x, low_x, width + 1u);
    sums->y = quick_sum(high_y, low_y, width + 1u);
    sums->z = quick_sum(high_z, low_z, width + 1u);
    sums->nearest = nearest;
}

#endif

// Sums over the lists of a slice, in the shortest way that is right.
INLINED void sums_of_slice(slice_sums_t *sums, const slice_t *slice,
                           __global const num4 *restrict packed,
                           __global const uint *restrict entries, const uint width,
                           const int energies)
{
#if NUM_IS_DOUBLE
    if (!energies) {
        sum_slice(sums, slice, packed, entries, width, false);
        return;
    }
#else
    if (!energies && width < QUICK_TERMS) {
        sum_slice_quickly(sums, slice, packed, entries, width);
        if (bits_of(sums->nearest < (wide_t)QUICKLY_FAR_ENOUGH) == 0u) return;
    }
#endif
    sum_slice(sums, slice, packed, entries, width, true);
}

// Lists one after another, of ROOM entries of room each, become a slice. Lists are written up to a
// multiple of WIDTH entries.
INLINED void write_slice(__global uint *restrict slice, __global const uint *restrict lists,
                         const uint width)
{
#define PART_OF(lane) LOADED_ENTRIES(lists + (size_t)(lane) * ROOM + k)
    for (uint k = 0; k < width; k += WIDTH) {
        __global uint *to = slice + (size_t)k * WIDTH;
        const entries_t a = PART_OF(0), b = PART_OF(1), c = PART_OF(2), d = PART_OF(3);
#if NUM_IS_DOUBLE
        const entries_t ab = (entries_t)(a.s0, b.s0, a.s1, b.s1);
        const entries_t cd = (entries_t)(c.s0, d.s0, c.s1, d.s1);
        const entries_t AB = (entries_t)(a.s2, b.s2, a.s3, b.s3);
        const entries_t CD = (entries_t)(c.s2, d.s2, c.s3, d.s3);
        STORED(to) = (entries_t)(ab.lo, cd.lo);
        STORED(to + WIDTH) = (entries_t)(ab.hi, cd.hi);
        STORED(to + 2 * WIDTH) = (entries_t)(AB.lo, CD.lo);
        STORED(to + 3 * WIDTH) = (entries_t)(AB.hi, CD.hi);
#else
        const entries_t e = PART_OF(4), f = PART_OF(5), g = PART_OF(6), h = PART_OF(7);
        const entries_t ab = FIRST_OF_EACH(entries_t, a, b), cd = FIRST_OF_EACH(entries_t, c, d);
        const entries_t ef = FIRST_OF_EACH(entries_t, e, f), gh = FIRST_OF_EACH(entries_t, g, h);
        const entries_t AB = SECOND_OF_EACH(entries_t, a, b), CD = SECOND_OF_EACH(entries_t, c, d);
        const entries_t EF = SECOND_OF_EACH(entries_t, e, f), GH = SECOND_OF_EACH(entries_t, g, h);
        const entries_t l0 = FIRST_OF_TWO(entries_t, ab, cd), h0 = FIRST_OF_TWO(entries_t, ef, gh);
        const entries_t l1 = SECOND_OF_TWO(entries_t, ab, cd);
        const entries_t h1 = SECOND_OF_TWO(entries_t, ef, gh);
        const entries_t l2 = FIRST_OF_TWO(entries_t, AB, CD), h2 = FIRST_OF_TWO(entries_t, EF, GH);
        const entries_t l3 = SECOND_OF_TWO(entries_t, AB, CD);
        const entries_t h3 = SECOND_OF_TWO(entries_t, EF, GH);
        STORED(to) = (entries_t)(l0.lo, h0.lo);
        STORED(to + WIDTH) = (entries_t)(l1.lo, h1.lo);
        STORED(to + 2 * WIDTH) = (entries_t)(l2.lo, h2.lo);
        STORED(to + 3 * WIDTH) = (entries_t)(l3.lo, h3.lo);
        STORED(to + 4 * WIDTH) = (entries_t)(l0.hi, h0.hi);
        STORED(to + 5 * WIDTH) = (entries_t)(l1.hi, h1.hi);
        STORED(to + 6 * WIDTH) = (entries_t)(l2.hi, h2.hi);
        STORED(to + 7 * WIDTH) = (entries_t)(l3.hi, h3.hi);
#endif
    }
#undef PART_OF
}

#endif

#endif
