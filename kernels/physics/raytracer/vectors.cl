// What are the dot product, a vector of length 1, and light that fades, operation for operation?
// Twin: reference_py/physics/raytracer/vectors.py.
//
// A vector is a `num3`; + - * work by component. Division is written out, since NUM_DIV takes
// numbers. A `num8` has one number of each of eight spheres or boxes.
#ifndef PHYSICS_RAYTRACER_VECTORS_CL
#define PHYSICS_RAYTRACER_VECTORS_CL

#include "primitives/num.cl"
#include "primitives/softmath.cl"

#if NUM_IS_DOUBLE
typedef double2 num2;
typedef double3 num3;
typedef double8 num8;
#else
typedef float2 num2;
typedef float3 num3;
typedef float8 num8;
#endif

static num dot3(const num3 a, const num3 b)
{
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static num3 over3(const num3 a, const num s)
{
    return (num3)(NUM_DIV(a.x, s), NUM_DIV(a.y, s), NUM_DIV(a.z, s));
}

static num3 unit3(const num3 a)
{
    return over3(a, NUM_SQRT(dot3(a, a)));
}

// Three numbers of an array as a vector.
static num3 vector_at(__global const num *numbers)
{
    return (num3)(numbers[0], numbers[1], numbers[2]);
}

// Which share of light is left at a distance: soft_pow(apart, -falloff), rounded to `num`.
//
// To a single the power is rounded from one of 42 correct bits wherever that gives the same single.
// Let L = soft_log(apart) and |falloff L| < 64. L and the product are within 2^-52 and 2^-53 of
// themselves, so the exponent is off by less than 64 * 1.5 * 2^-52 < 2^-45. soft_exp and soft_pow
// are within 2^-52 each, so `near` differs from soft_pow by less than 2^-44 of itself. If both ends
// of an interval four times as wide round to one single, soft_pow rounds to it too. They do not for
// one distance of some hundred thousand.
static num faded(const num apart, const real falloff)
{
#if !NUM_IS_DOUBLE
    const double power = -falloff * soft_log((double)apart);
    if (power > -64.0 && power < 64.0) {
        const double near = soft_exp(power);
        const num least = (num)(near - near * 0x1p-42), most = (num)(near + near * 0x1p-42);
        if (least == most) return least;
    }
#endif
    return (num)soft_pow((real)apart, -falloff);
}

#endif
