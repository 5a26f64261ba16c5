// How does a CPU take an atom and several others at a time? In vectors of WIDTH numbers.
// The reference takes all pairs at once (forces.py).
//
// A term is rounded to a whole number by adding 1.5 * 2^16: in double the last digit of such a sum
// is 2^-36, so the bits of the sum, less those of 1.5 * 2^16, are the whole number. That holds for
// terms below 2^15; an atom with a neighbour closer than 0.65 is done again, one neighbour after
// another.
//
// No local memory, no barriers. Macros: WIDTH, NUM_IS_DOUBLE, P(margin).
#ifndef PHYSICS_MOLECULAR_DYNAMICS_LANES_CL
#define PHYSICS_MOLECULAR_DYNAMICS_LANES_CL

#include "physics/molecular_dynamics/cells.cl"
#include "physics/molecular_dynamics/vectors.cl"

#if DEVICE_IS_CPU && PLACES_STAY

// Write an atom to its place, for those that read one axis of several places at once: (box, axis,
// place).
static void write_lanes(__global num *lanes, const size_t box, const uint place, const num4 atom)
{
    __global num *at = lanes + box * 3 * PACKED + place;
    at[0] = atom.x;
    at[PACKED] = atom.y;
    at[2 * PACKED] = atom.z;
}

// The bits of all lanes together.
static uint joined_bits(const mask_t bits)
{
#if NUM_IS_DOUBLE
    const long2 two = bits.lo | bits.hi;
#else
    const int4 four = bits.lo | bits.hi;
    const int2 two = four.lo | four.hi;
#endif
    return (uint)(two.x | two.y);
}

// One bit for each lane whose mask is set.
static uint bits_of(const mask_t mask)
{
    return joined_bits(mask & BIT_OF_EACH_LANE);
}

// `nearest` of several differences; 0 is added where nothing is to be done, and nothing is to be
// done for an atom so far inside the box that those near it are not on its other side.
static wide_t nearest_of_each(const wide_t d, const num around, const bool inner)
{
    if (inner) return d;
    const wide_t size = AS_WIDE(AS_MASK(d) & (mask_t)(ALL_BUT_SIGN));
    return d + (size > (wide_t)HALF_LENGTH ? (wide_t)around : (wide_t)NUM(0.0));
}

// Whether an atom is so far inside, also after it and others have moved by half the skin.
#define MARGIN NUM(P(margin))
static bool far_inside(const num4 own)
{
    return own.x > MARGIN && own.y > MARGIN && own.z > MARGIN && own.x < LENGTH - MARGIN &&
           own.y < LENGTH - MARGIN && own.z < LENGTH - MARGIN;
}

#if NUM_IS_DOUBLE || DEVICE_ROUNDS_SINGLES
#define DIVIDE_EACH(a, b) ((a) / (b))
#define ROOT_OF_EACH(a) sqrt(a)
#else
#define DIVIDE_EACH(a, b) convert_float8(convert_double8(a) / convert_double8(b))
#define ROOT_OF_EACH(a) convert_float8(sqrt(convert_double8(a)))
#endif
#define INVERT_EACH(a) DIVIDE_EACH((wide_t)NUM(1.0), a)

// Sums over lanes, of whole numbers of units and the bits of FIXED_ROUNDS for each term.
typedef struct {
    long4 x, y, z, u, w;
    wide_t nearest;  // squares of the shortest distances
    uint terms;
} wide_sums_t;

INLINED wide_sums_t wide_sums_of_nothing(void)
{
    wide_sums_t sums;
    sums.x = 0l;
    sums.y = 0l;
    sums.z = 0l;
    sums.u = 0l;
    sums.w = 0l;
    sums.nearest = LENGTH * LENGTH;
    sums.terms = 0u;
    return sums;
}

#if NUM_IS_DOUBLE
#define ROUNDED(x) as_long4((x) + FIXED_ROUNDS)
#else
#define ROUNDED_HALF(x) as_long4(convert_double4(x) + FIXED_ROUNDS)
#define ROUNDED(x) (ROUNDED_HALF((x).lo) + ROUNDED_HALF((x).hi))
#endif

// From this square of a distance on, 0.65^2, terms are below 2^15 in size.
#define FAR_ENOUGH NUM(0.4225)

// Add what an atom has of several others, of which those count whose lane of `counts` is set;
// `energies` is a literal at each call.
INLINED void add_pairs(wide_sums_t *sums, const wide_t dx, const wide_t dy, const wide_t dz,
                       const mask_t counts, const bool energies)
{
    const wide_t square = (dx * dx + dy * dy) + dz * dz;
    const wide_t counted = counts ? square : (wide_t)(LENGTH * LENGTH);
    sums->nearest = counted < sums->nearest ? counted : sums->nearest;
    const mask_t acts = counted < (wide_t)SQUARE_OF_CUTOFF;
    PAIR_ENERGY_AND_FORCE(wide_t, square, u, w, INVERT_EACH, DIVIDE_EACH, ROOT_OF_EACH)
    w = acts ? w : (wide_t)NUM(0.0);
    sums->x += ROUNDED(w * dx);
    sums->y += ROUNDED(w * dy);
    sums->z += ROUNDED(w * dz);
    if (energies) {
        u = acts ? u : (wide_t)NUM(0.0);
        sums->u += ROUNDED(u);
        sums->w += ROUNDED(w * (acts ? square : (wide_t)NUM(0.0)));
    }
    sums->terms += WIDTH;
}

static long sum_of_lanes(const long4 each)
{
    const long2 two = each.lo + each.hi;
    return two.x + two.y;
}

// The sums of all lanes; `close` says that one of them may not be right.
static sums_t joined(const wide_sums_t *wide, const bool energies)
{
    const long added = (long)wide->terms * as_long(FIXED_ROUNDS);
    sums_t sums = SUMS_OF_NOTHING;
    sums.close = bits_of(wide->nearest < (wide_t)FAR_ENOUGH) != 0u;
    sums.x = sum_of_lanes(wide->x) - added;
    sums.y = sum_of_lanes(wide->y) - added;
    sums.z = sum_of_lanes(wide->z) - added;
    sums.u = energies ? sum_of_lanes(wide->u) - added : 0l;
    sums.w = energies ? sum_of_lanes(wide->w) - added : 0l;
    return sums;
}

#if VARIANT == VARIANT_SORTED

// Sums over the places begin .. end - 1, several at a time; `energies` is a literal at each call.
// Places may be read that are behind the end: there are WIDTH more of them than atoms.
INLINED void add_run_of_lanes(wide_sums_t *sums, __global const num *restrict lanes, const num4 own,
                              const uint place, const uint begin, const uint end,
                              const bool energies)
{
    for (uint other = begin; other < end; other += WIDTH) {
        const wide_t px = LOADED(lanes + other), py = LOADED(lanes + PACKED + other);
        const wide_t pz = LOADED(lanes + 2 * PACKED + other);
        const wide_t dx = nearest_of_each((wide_t)own.x - px, AROUND(own.x), false);
        const wide_t dy = nearest_of_each((wide_t)own.y - py, AROUND(own.y), false);
        const wide_t dz = nearest_of_each((wide_t)own.z - pz, AROUND(own.z), false);
        const mask_t number = EACH_LANE + (mask_t)(other);
        const mask_t counts = number < (mask_t)(end)&number != (mask_t)(place);
        add_pairs(sums, dx, dy, dz, counts, energies);
    }
}

// Sums over the cells around an atom, several at a time.
INLINED sums_t sums_of_lanes(__global const num *restrict lanes,
                             __global const uint *restrict start,
                             __global const uint *restrict totals, const num4 own, const uint place,
                             const uint home, const bool energies)
{
    wide_sums_t wide = wide_sums_of_nothing();
    const uint x = home % SIDE;
    const bool together = x > 0u && x < SIDE - 1u;
    for (int number = 0; number < 27; number += together ? 3 : 1) {
        const uint first = around(home, number), last = together ? first + 2u : first;
        add_run_of_lanes(&wide, lanes, own, place, CELL_BEGIN(start, totals, first),
                         CELL_END(start, totals, last), energies);
    }
    return joined(&wide, energies);
}

#endif

#endif

#endif
