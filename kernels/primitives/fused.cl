// fused.cl: a product and a sum that are rounded once, for nums and vectors of them.
//
// MULADD(a, b, c) is a * b + c with one rounding, for num, num4, num8 and num16. This file alone
// may fuse: everything else keeps the two roundings of `a * b + c` (real.cl). The built-in `fma`
// is the correctly rounded result on every device, and one instruction on GPUs. Some compilers for
// CPUs (PoCL 3.0) call a function for it, which costs ten times as much; there the compiler is
// allowed to contract `a * b + c`, and only on devices on which it was seen to do so: the host
// launches `probe_muladd` once for each device and sets DEVICE_CONTRACTS to 1 if no bit differs
// from `fma` (societies/opencl/fused.py). A product that is the same in all iterations of a loop is
// taken out of it by the compiler and is then not fused: call MULADD where one factor changes.
// num_inverse(b) is 1 / b, by the same means. No local memory, no barriers.
//
// Twin: reference_py/primitives/fused.py

#ifndef PRIMITIVES_FUSED_CL
#define PRIMITIVES_FUSED_CL

#include "primitives/num.cl"

#ifndef DEVICE_CONTRACTS
#define DEVICE_CONTRACTS 0
#endif

#if NUM_IS_DOUBLE
typedef double4 num4;
typedef double8 num8;
typedef double16 num16;
#else
typedef float4 num4;
typedef float8 num8;
typedef float16 num16;
#endif

#if DEVICE_CONTRACTS

#define FUSED static __attribute__((overloadable, always_inline))

FUSED num muladd(const num a, const num b, const num c)
{
#pragma OPENCL FP_CONTRACT ON
    return a * b + c;
}

FUSED num4 muladd(const num4 a, const num4 b, const num4 c)
{
#pragma OPENCL FP_CONTRACT ON
    return a * b + c;
}

FUSED num8 muladd(const num8 a, const num8 b, const num8 c)
{
#pragma OPENCL FP_CONTRACT ON
    return a * b + c;
}

FUSED num16 muladd(const num16 a, const num16 b, const num16 c)
{
#pragma OPENCL FP_CONTRACT ON
    return a * b + c;
}

#define MULADD(a, b, c) muladd(a, b, c)

#elif NUM_IS_DOUBLE && DEVICE_IS_CPU

// PoCL 3.0 aborts when it compiles `fma` of eight or more doubles.
#define FUSED static __attribute__((overloadable, always_inline))

FUSED num muladd(const num a, const num b, const num c)
{
    return fma(a, b, c);
}

FUSED num4 muladd(const num4 a, const num4 b, const num4 c)
{
    return fma(a, b, c);
}

FUSED num8 muladd(const num8 a, const num8 b, const num8 c)
{
    return (num8)(fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi));
}

FUSED num16 muladd(const num16 a, const num16 b, const num16 c)
{
    return (num16)(muladd(a.lo, b.lo, c.lo), muladd(a.hi, b.hi, c.hi));
}

#define MULADD(a, b, c) muladd(a, b, c)

#else

#define MULADD(a, b, c) fma(a, b, c)

#endif

// 1 / b, rounded once, for 2^-126 <= b <= 2^126. In single precision a GPU refines half_recip,
// which is within 8192 units in the last place (OpenCL C, 7.4), so to 2^-11: the next values are
// within 2^-22, within a unit, and correctly rounded (P. W. Markstein, "Computation of elementary
// functions on the IBM RISC System/6000 processor", 1990) unless the digits of b are all ones. A
// division would branch, for subnormal numbers, and nothing is read ahead over a branch.
#if NUM_IS_DOUBLE || DEVICE_IS_CPU
INLINED num num_inverse(const num b)
{
    return NUM_DIV(NUM(1.0), b);
}
#else
INLINED num num_inverse(const num b)
{
    const uint bits = as_uint(b);
    float y = half_recip(b);
#pragma unroll
    for (uint step = 0; step < 3; ++step) y = fma(fma(-b, y, 1.0f), y, y);
    return (bits & 0x7fffffu) == 0x7fffffu ? as_float(0x7f000000u - bits) : y;
}
#endif

#if FUSED_PROBE

#define PROBED 16u

#if NUM_IS_DOUBLE
#define DIFFERS(x, y) (as_ulong(x) != as_ulong(y) ? 1u : 0u)
#else
#define DIFFERS(x, y) (as_uint(x) != as_uint(y) ? 1u : 0u)
#endif

// Vectors of which a private array has no more than the alignment of its numbers.
typedef num4 __attribute__((aligned(4))) loose4;
typedef num8 __attribute__((aligned(4))) loose8;
typedef num16 __attribute__((aligned(4))) loose16;
#define OF(type, from) (*(__global const type *)((from) + i))
#define PROBE(type) *(type *)(found + i) = MULADD(OF(type, x), OF(type, y), OF(type, z))

// How many results of MULADD differ from `fma`, each width of vectors for itself, and along a sum
// of products. A work-item takes PROBED triples.
__kernel void probe_muladd(__global const num *a, __global const num *b, __global const num *c,
                           __global uint *different)
{
    const size_t first = get_global_id(0) * PROBED;
    __global const num *x = a + first, *y = b + first, *z = c + first;
    num exact[PROBED];
    uint wrong = 0u;
    for (uint i = 0; i < PROBED; ++i) {
        exact[i] = fma(x[i], y[i], z[i]);
        wrong += DIFFERS(MULADD(x[i], y[i], z[i]), exact[i]);
    }
    num found[PROBED];
    for (uint i = 0; i < PROBED; i += 4u) PROBE(loose4);
    for (uint i = 0; i < PROBED; ++i) wrong += DIFFERS(found[i], exact[i]);
    for (uint i = 0; i < PROBED; i += 8u) PROBE(loose8);
    for (uint i = 0; i < PROBED; ++i) wrong += DIFFERS(found[i], exact[i]);
    for (uint i = 0; i < PROBED; i += 16u) PROBE(loose16);
    for (uint i = 0; i < PROBED; ++i) wrong += DIFFERS(found[i], exact[i]);
    num sum = z[0], sum_of_exact = z[0];
    for (uint i = 0; i < PROBED; ++i) {
        sum = MULADD(x[i], y[i], sum);
        sum_of_exact = fma(x[i], y[i], sum_of_exact);
    }
    wrong += DIFFERS(sum, sum_of_exact);
    different[get_global_id(0)] = wrong;
}

#endif

#endif
