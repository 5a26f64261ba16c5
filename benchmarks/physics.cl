// What can the machine do? Fused and separate operations, and traffic with memory.
#include "primitives/fused.cl"

// As many sums as hide an operation's latency and stay in registers. On a CPU, where 6 of 16
// numbers are 12 of the 16 registers of AVX2, physics.py asks for 6.
#ifndef SUMS
#define SUMS 24
#endif
#if DEVICE_IS_CPU
typedef num16 wide_t;
#else
typedef num wide_t;
#endif

// A work-item carries out SUMS x `steps` operations (16 times as many on a CPU) that do not wait
// for each other.
__kernel void operations(__global const num *factors, __global num *result, const uint steps)
{
    wide_t sum[SUMS];
#pragma unroll
    for (uint i = 0; i < SUMS; ++i) sum[i] = (wide_t)(NUM(i));
    const wide_t a = (wide_t)(factors[0]);
    for (uint step = 0; step < steps; ++step) {
        const wide_t b = (wide_t)(factors[step % 16u]);
#pragma unroll
        for (uint i = 0; i < SUMS; ++i)
#if ARITHMETIC_IS_FUSED
            sum[i] = MULADD(sum[i], b, a);
#else
            sum[i] = sum[i] * b + a;
#endif
    }
    wide_t all = sum[0];
#pragma unroll
    for (uint i = 1; i < SUMS; ++i) all = all + sum[i];
#if DEVICE_IS_CPU
    result[get_global_id(0)] = all.s0 + all.sf;
#else
    result[get_global_id(0)] = all;
#endif
}

// A work-item is every n-th number of `many` for the group, of n work-items.
__kernel void copy(__global const float *restrict a, __global float *restrict c, const uint many)
{
    const size_t first = (size_t)get_group_id(0) * many;
    for (size_t i = get_local_id(0); i < many; i += get_local_size(0)) c[first + i] = a[first + i];
}

__kernel void triad(__global const float *restrict a, __global const float *restrict b,
                    __global float *restrict c, const uint many)
{
    const size_t first = (size_t)get_group_id(0) * many;
    for (size_t i = get_local_id(0); i < many; i += get_local_size(0))
        c[first + i] = a[first + i] + 3.0f * b[first + i];
}
