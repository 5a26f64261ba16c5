// Which energy and force have two atoms at a distance? The potential of Lennard-Jones, cut off.
// Twin: reference_py/physics/molecular_dynamics/pair.py.
//
// No local memory, no barriers. Macros: FORM, P(cutoff),
// P(square_of_cutoff), P(energy_at_cutoff), P(slope_at_cutoff).
#ifndef PHYSICS_MOLECULAR_DYNAMICS_PAIR_CL
#define PHYSICS_MOLECULAR_DYNAMICS_PAIR_CL

#include "physics/molecular_dynamics/box.cl"
#include "primitives/fixed.cl"

#define HALF_LENGTH (LENGTH / NUM(2.0))
#define SQUARE_OF_CUTOFF NUM(P(square_of_cutoff))

// The shortest of the differences between an atom and all copies of another one.
static num nearest(const num d)
{
    return d > HALF_LENGTH ? d - LENGTH : d < -HALF_LENGTH ? d + LENGTH : d;
}

// What it adds to a difference from an atom at `own` that is longer than half the box: it can be
// too long in one direction only.
#define AROUND(own) ((own) < HALF_LENGTH ? LENGTH : -LENGTH)

// Energy of a pair and its force over its distance, for the square of the distance. Written once
// for one pair and for several at once: `type` is num or a vector of it. What must be divided comes
// first and apart, as `inverse`, `r` and `slope`: a CPU that takes pair after pair continues with
// one while it divides for the next (slices.cl).
#define PAIR_ENERGY_AND_FORCE(type, r2, u, w, INVERT, DIVIDE, ROOT) \
    PAIR_DIVISIONS(type, r2, inverse, r, slope, INVERT, DIVIDE, ROOT) \
    PAIR_AFTER_DIVISIONS(type, inverse, r, slope, u, w)

#define PAIR_AFTER_DIVISIONS(type, inverse, r, slope, u, w) \
    const type sixth = (inverse * inverse) * inverse; \
    type u = NUM(4.0) * (sixth * (sixth - NUM(1.0))); \
    type w = (NUM(24.0) * inverse) * (sixth * ((sixth + sixth) - NUM(1.0))); \
    PAIR_SHIFT(r, slope, u, w)

#if FORM == FORM_SHIFTED_FORCE
#define PAIR_DIVISIONS(type, r2, inverse, r, slope, INVERT, DIVIDE, ROOT) \
    const type inverse = INVERT(r2); \
    const type r = ROOT(r2); \
    const type slope = DIVIDE((type)NUM(P(slope_at_cutoff)), r);
#define PAIR_SHIFT(r, slope, u, w) \
    u = (u - NUM(P(energy_at_cutoff))) - (r - NUM(P(cutoff))) * NUM(P(slope_at_cutoff)); \
    w = w + slope;
#else
#define PAIR_DIVISIONS(type, r2, inverse, r, slope, INVERT, DIVIDE, ROOT) \
    const type inverse = INVERT(r2); \
    const type r = r2, slope = r2;  // not used
#if FORM == FORM_SHIFTED
#define PAIR_SHIFT(r, slope, u, w) u = u - NUM(P(energy_at_cutoff));
#else
#define PAIR_SHIFT(r, slope, u, w)
#endif
#endif

// 1 / a, also where it is subnormal.
#define NUM_INVERT(a) NUM_DIV(NUM(1.0), a)

// Sums over the pairs of an atom, in units of 2^-36, and whether one of them is too close.
typedef struct {
    long x, y, z, u, w;
    bool close;
} sums_t;

#define SUMS_OF_NOTHING {0l, 0l, 0l, 0l, 0l, false}

// From this square of a distance on every term of a sum fits (fixed.cl), whatever the cutoff.
#define SURELY_FITS NUM(0.25)

// Add what the atom at (x, y, z) has of another one; the difference is from that one to the atom.
static void add_pair(sums_t *sums, const num x, const num y, const num z)
{
    const num dx = nearest(x), dy = nearest(y), dz = nearest(z);
    const num r2 = (dx * dx + dy * dy) + dz * dz;
    if (r2 < SQUARE_OF_CUTOFF) {
        PAIR_ENERGY_AND_FORCE(num, r2, u, w, NUM_INVERT, NUM_DIV, NUM_SQRT)
        const num fx = w * dx, fy = w * dy, fz = w * dz, virial = w * r2;
        const bool fits = fixed_fits(fx) && fixed_fits(fy) && fixed_fits(fz) && fixed_fits(u) &&
                          fixed_fits(virial);
        if (r2 >= SURELY_FITS || fits) {
            sums->x += fixed_of(fx);
            sums->y += fixed_of(fy);
            sums->z += fixed_of(fz);
            sums->u += fixed_of(u);
            sums->w += fixed_of(virial);
        } else {
            sums->close = true;
        }
    }
}

#endif
