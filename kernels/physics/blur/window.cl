// What is added up along a row or a column? Weighted pixels, from the first to the last.
// Twin: reference_py/physics/blur/window.py.
//
// Macros: those of border.cl. The weights of a box are 1 and are not multiplied.
#ifndef PHYSICS_BLUR_WINDOW_CL
#define PHYSICS_BLUR_WINDOW_CL

#include "physics/blur/border.cl"

#define TAPS (2 * RADIUS + 1)

#if KIND == KIND_GAUSSIAN
#define ADDED(sum, weight, value) ((sum) + (weight) * (value))
#else
#define ADDED(sum, weight, value) ((sum) + (value))
#endif

// On a CPU a work-item takes 64 neighbouring pixels at a time, in four vectors.
#define WIDE 64
typedef float16 __attribute__((aligned(4))) floats_t;

// A finished sum of a window: divided by the number of its pixels, if it is that of a box.
static float mean_of(const float sum, const int column, const int row, const int width,
                     const int height)
{
#if KIND == KIND_GAUSSIAN
    return sum;
#else
    const double count = (double)(counted(column, width) * counted(row, height));
    return (float)((double)sum / count);  // rounded once: num.cl
#endif
}

// Writes the first `some` of WIDE finished sums. They are copied before one is requested by its
// number, so that those that are still added up can stay in registers.
static void written(const floats_t *sum, __global float *restrict into, const int some,
                    const int column, const int row, const int width, const int height)
{
    if (KIND == KIND_GAUSSIAN && some == WIDE) {
#pragma unroll
        for (int v = 0; v < 4; ++v) *(__global floats_t *)(into + 16 * v) = sum[v];
        return;
    }
    float copied[WIDE];
#pragma unroll
    for (int v = 0; v < 4; ++v) *(floats_t *)(copied + 16 * v) = sum[v];
    for (int j = 0; j < some; ++j) into[j] = mean_of(copied[j], column + j, row, width, height);
}

// The sum along a row at any of its pixels.
static float row_sum(__global const float *restrict row, const int column, const int width,
                     __global const float *restrict weights)
{
    float sum = 0.0f;
    if (column >= RADIUS && column + RADIUS < width) {
        for (int k = 0; k < TAPS; ++k) sum = ADDED(sum, weights[k], row[column - RADIUS + k]);
    } else {
        for (int k = 0; k < TAPS; ++k) {
            const int from = source_of(column - RADIUS + k, width);
            sum = ADDED(sum, weights[k], from == OUTSIDE ? 0.0f : row[from]);
        }
    }
    return sum;
}

#endif
