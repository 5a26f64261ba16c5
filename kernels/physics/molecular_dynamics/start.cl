// Where is each atom before the first step, and how fast?
// Twin: reference_py/physics/molecular_dynamics/start.py.
//
// Velocities: a workgroup is a box, a work-item every n-th atom, of n work-items. `raw` has the
// three components of all atoms in double, one after another, `tree` is where they are added up in
// the order of reduce.cl. It is launched once. No local memory but that of sums. Macros:
// VELOCITIES, P(dof), P(temperature).
#include "physics/molecular_dynamics/box.cl"
#include "primitives/reduce.cl"
#include "primitives/rng.cl"
#include "primitives/softmath.cl"

#define SMALL 1e-6  // largest component of a velocity of `pairs`

// Two independent normal numbers by the polar method.
static void normal_pair(rng_t *rng, real *a, real *b)
{
    real u, v, s;
    do {
        u = 2.0 * rng_uniform(rng) - 1.0;
        v = 2.0 * rng_uniform(rng) - 1.0;
        s = u * u + v * v;
    } while (!(0.0 < s && s < 1.0));
    const real f = sqrt((-2.0 * soft_log(s)) / s);
    *a = u * f;
    *b = v * f;
}

__kernel void start(__global num *restrict v, __global real *restrict raw,
                    __global real *restrict tree, __global const real *restrict speeds,
                    const ulong stream_base, const ulong stream_gap,
                    __global const uint *restrict box_numbers, const uint atoms,
                    __global const real *restrict value_table)
{
    const size_t box = get_group_id(0);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    v += box * 3 * ATOMS;
    raw += box * 3 * ATOMS;
    tree += box * ATOMS;
#if VELOCITIES == VELOCITIES_NORMAL
    for (uint i = lid; i < atoms; i += lanes) {
        rng_t rng = rng_seed(stream_base, stream_gap, (ulong)box_numbers[box] * ATOMS + i);
        real x, y, z, unused;
        normal_pair(&rng, &x, &y);
        normal_pair(&rng, &z, &unused);
        raw[i] = x;
        raw[ATOMS + i] = y;
        raw[2 * (size_t)ATOMS + i] = z;
    }
    uint axis = 0;
    do {
        __global real *one = raw + (size_t)axis * ATOMS;
        for (uint i = lid; i < atoms; i += lanes) tree[i] = one[i];
        barrier(CLK_GLOBAL_MEM_FENCE);  // components of all atoms, before they are added
        const real mean = reduce_sum_global(tree, atoms) / ATOMS;
        for (uint i = lid; i < atoms; i += lanes) one[i] = one[i] - mean;
        ++axis;
    } while (axis < 3);
    for (uint i = lid; i < atoms; i += lanes) {
        const real x = raw[i], y = raw[ATOMS + i], z = raw[2 * (size_t)ATOMS + i];
        tree[i] = (x * x + y * y) + z * z;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);  // squares of all atoms, before they are added
    const real factor = sqrt((P(dof) * P(temperature)) / reduce_sum_global(tree, atoms));
    for (uint i = lid; i < atoms; i += lanes)
        for (uint k = 0; k < 3; ++k) v[3 * i + k] = (num)(raw[(size_t)k * ATOMS + i] * factor);
#elif VELOCITIES == VELOCITIES_PAIRS
    for (uint i = 2 * lid; i < atoms; i += 2 * lanes) {
        const bool paired = i + 1 < atoms;
        rng_t rng = rng_seed(stream_base, stream_gap, (ulong)box_numbers[box] * ATOMS + i);
        for (uint k = 0; k < 3; ++k) {
            const real w = (2.0 * rng_uniform(&rng) - 1.0) * SMALL;
            v[3 * i + k] = paired ? (num)w : NUM(0.0);
            if (paired) v[3 * i + 3 + k] = (num)-w;
        }
    }
#else
    for (uint i = lid; i < 3 * atoms; i += lanes) v[i] = (num)speeds[i];
#endif
}

// Take atoms that are outside the box to their places in it. A workgroup is a part of the atoms.
__kernel void wrap(__global num *restrict x)
{
    const size_t at = 3 * (BOX * ATOMS + FIRST);
    const uint numbers = 3 * (LAST - FIRST);
    for (uint k = LANE; k < numbers; k += LANES) x[at + k] = wrapped(x[at + k]);
}
