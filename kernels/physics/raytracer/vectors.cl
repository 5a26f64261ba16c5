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

// Which share of light is left at a distance.
static num faded(const num apart, const real falloff)
{
    return (num)soft_pow((real)apart, -falloff);
}

#endif
