// num.cl: the number that a physical workload calculates with: single or double precision.
//
// A `num` is a float, or a double where the macro NUM_IS_DOUBLE is 1. As with `real`, kernels
// combine nums with + - * / sqrt and comparisons only, each rounded once. Division and square root
// of singles are not correctly rounded on every GPU; there they are computed in double and rounded
// to single, which gives the same bits: 53 digits are enough, as 53 >= 2 * 24 + 2 (S. A. Figueroa,
// "When is double rounding innocuous?", 1995). Hence NUM_DIV and NUM_SQRT instead of / and sqrt.
// DEVICE_ROUNDS_SINGLES is 1 where the device needs no such detour. No local memory, no barriers.
//
// Twin: reference_py/primitives/num.py

#ifndef PRIMITIVES_NUM_CL
#define PRIMITIVES_NUM_CL

#include "primitives/real.cl"

#ifndef NUM_IS_DOUBLE
#define NUM_IS_DOUBLE 0
#endif
#ifndef DEVICE_ROUNDS_SINGLES
#define DEVICE_ROUNDS_SINGLES 0
#endif

#if NUM_IS_DOUBLE
typedef double num;
#else
typedef float num;
#endif

// A constant, rounded to num once: it is written, and configured, as a double.
#define NUM(x) ((num)(x))

// a / b and the square root of a, rounded once.
#if NUM_IS_DOUBLE || DEVICE_ROUNDS_SINGLES
#define NUM_DIV(a, b) ((a) / (b))
#define NUM_SQRT(a) sqrt(a)
#else
#define NUM_DIV(a, b) ((num)((double)(a) / (double)(b)))
#define NUM_SQRT(a) ((num)sqrt((double)(a)))
#endif

#endif
