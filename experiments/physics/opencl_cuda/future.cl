// What do the report's "future considerations" bring? Each is a pair, or more, of small kernels
// with the same results, in single precision, nothing fused.
#pragma OPENCL FP_CONTRACT OFF

// A launch and nothing else.
__kernel void empty(__global int *unused)
{
}

// ---------------------------------------------------------------- vectors in the product
// Products of n x n matrices, n a multiple of 4, by work-items of one entry, of four as scalars,
// of four as a vector. Launches: (columns, rows), (columns / 4, rows).

__kernel void product_one(__global const float *restrict a, __global const float *restrict b,
                          __global float *restrict c, const uint n)
{
    const size_t x = get_global_id(0), row = get_global_id(1) * n;
    if (x >= n || get_global_id(1) >= n) return;
    float sum = 0.0f;
    for (uint k = 0; k < n; ++k) sum = sum + a[row + k] * b[(size_t)k * n + x];
    c[row + x] = sum;
}

__kernel void product_four(__global const float *restrict a, __global const float *restrict b,
                           __global float *restrict c, const uint n)
{
    const size_t x = 4 * get_global_id(0), row = get_global_id(1) * n;
    if (x >= n || get_global_id(1) >= n) return;
    float sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
    for (uint k = 0; k < n; ++k) {
        const float one = a[row + k];
        __global const float *line = b + (size_t)k * n + x;
        sum0 = sum0 + one * line[0];
        sum1 = sum1 + one * line[1];
        sum2 = sum2 + one * line[2];
        sum3 = sum3 + one * line[3];
    }
    c[row + x] = sum0;
    c[row + x + 1] = sum1;
    c[row + x + 2] = sum2;
    c[row + x + 3] = sum3;
}

__kernel void product_vector(__global const float *restrict a, __global const float *restrict b,
                             __global float *restrict c, const uint n)
{
    const size_t x = 4 * get_global_id(0), row = get_global_id(1) * n;
    if (x >= n || get_global_id(1) >= n) return;
    float4 sum = (float4)(0.0f);
    for (uint k = 0; k < n; ++k) {
        const float4 line = *(__global const float4 *)(b + (size_t)k * n + x);
        sum = sum + (float4)(a[row + k]) * line;
    }
    *(__global float4 *)(c + row + x) = sum;
}

// ---------------------------------------------------------------- a conditional
// As many operations for every work-item: without a condition, with one on which a workgroup
// agrees, and with one on which neighbouring work-items differ.

#define STEPS 512

__kernel void branch_none(__global const float *restrict from, __global float *restrict into)
{
    float x = from[get_global_id(0)];
    for (int i = 0; i < STEPS; ++i) x = x * 0.75f + 0.25f;
    into[get_global_id(0)] = x;
}

__kernel void branch_agreed(__global const float *restrict from, __global float *restrict into)
{
    float x = from[get_global_id(0)];
    if (from[get_group_id(0) % 64] >= 0.0f) {
        for (int i = 0; i < STEPS; ++i) x = x * 0.75f + 0.25f;
    } else {
        for (int i = 0; i < STEPS; ++i) x = x * 0.5f - 0.5f;
    }
    into[get_global_id(0)] = x;
}

__kernel void branch_diverging(__global const float *restrict from, __global float *restrict into)
{
    float x = from[get_global_id(0)];
    if (get_local_id(0) % 2 == 0) {
        for (int i = 0; i < STEPS; ++i) x = x * 0.75f + 0.25f;
    } else {
        for (int i = 0; i < STEPS; ++i) x = x * 0.5f - 0.5f;
    }
    into[get_global_id(0)] = x;
}

// ---------------------------------------------------------------- padding, and three dimensions
// Means of four neighbours, 0 beyond the border; a work-item is a value of a plane. Padded planes
// have a border of zeros around them, of which nothing is written.

__kernel void blur_conditions(__global const float *restrict from, __global float *restrict into,
                              const uint width, const uint height, const uint planes)
{
    const uint x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    if (x >= width || y >= height || plane >= planes) return;
    const size_t at = ((size_t)plane * height + y) * width + x;
    const float east = x + 1 < width ? from[at + 1] : 0.0f;
    const float west = x > 0 ? from[at - 1] : 0.0f;
    const float north = y > 0 ? from[at - width] : 0.0f;
    const float south = y + 1 < height ? from[at + width] : 0.0f;
    into[at] = (((east + west) + north) + south) * 0.25f;
}

__kernel void blur_padded(__global const float *restrict from, __global float *restrict into,
                          const uint width, const uint height, const uint planes)
{
    const uint x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    if (x >= width || y >= height || plane >= planes) return;
    const uint line = width + 2;
    const size_t at = ((size_t)plane * (height + 2) + y + 1) * line + x + 1;
    into[at] = (((from[at + 1] + from[at - 1]) + from[at - line]) + from[at + line]) * 0.25f;
}

// As `blur_padded`, in a launch of one dimension.
__kernel void blur_line(__global const float *restrict from, __global float *restrict into,
                        const uint width, const uint height, const uint planes)
{
    const size_t item = get_global_id(0);
    if (item >= (size_t)width * height * planes) return;
    const uint x = item % width, y = item / width % height, plane = item / width / height;
    const uint line = width + 2;
    const size_t at = ((size_t)plane * (height + 2) + y + 1) * line + x + 1;
    into[at] = (((from[at + 1] + from[at - 1]) + from[at - line]) + from[at + line]) * 0.25f;
}

// ---------------------------------------------------------------- read-only caches
// Sums along rows with 17 weights: the compiler may not assume that inputs are never written, may
// assume it (`restrict`), or has the weights in constant memory.

#define WINDOW(from, weights, into) \
    const size_t at = get_global_id(0); \
    if (at >= count) return; \
    float sum = 0.0f; \
    for (uint k = 0; k < taps; ++k) sum = sum + (weights)[k] * (from)[at + k]; \
    (into)[at] = sum

__kernel void window_plain(__global float *from, __global float *weights, __global float *into,
                           const uint count, const uint taps)
{
    WINDOW(from, weights, into);
}

__kernel void window_restrict(__global const float *restrict from,
                              __global const float *restrict weights, __global float *restrict into,
                              const uint count, const uint taps)
{
    WINDOW(from, weights, into);
}

__kernel void window_constant(__global const float *restrict from, __constant float *weights,
                              __global float *restrict into, const uint count, const uint taps)
{
    WINDOW(from, weights, into);
}
