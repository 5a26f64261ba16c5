// What is the weighted sum of the pixels next to a pixel, from the left to the right?
// Twin: reference_py/physics/blur/rows.py.
//
// A workgroup is a band of BAND rows of all planes, a work-item every n-th column of it, of n
// work-items. No local memory, no barriers. Macros: BAND, and those of window.cl.
#include "physics/blur/window.cl"

__kernel void rows(__global const float *restrict planes, __global float *restrict across,
                   __global const float *restrict weights, const uint width, const uint height,
                   const uint channels, const uint copies)
{
    const size_t lines = (size_t)height * channels * copies;
    const size_t first = (size_t)get_group_id(0) * BAND, left = lines - first;
    const uint here = left < BAND ? (uint)left : BAND;
    for (uint i = 0; i < here; ++i) {
        __global const float *restrict old = planes + (first + i) * width;
        __global float *restrict into = across + (first + i) * width;
        int x = (int)LANE;
#if DEVICE_IS_CPU
        for (; x < RADIUS && x < (int)width; ++x) into[x] = row_sum(old, x, width, weights);
        for (; x + WIDE + RADIUS <= (int)width; x += WIDE) {
            floats_t sum[4];
            for (int v = 0; v < 4; ++v) sum[v] = (floats_t)(0.0f);
            for (int k = 0; k < TAPS; ++k) {
                const floats_t weight = (floats_t)(weights[k]);
#pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const floats_t value =
                        *(__global const floats_t *)(old + x - RADIUS + k + 16 * v);
                    sum[v] = ADDED(sum[v], weight, value);
                }
            }
#pragma unroll
            for (int v = 0; v < 4; ++v) *(__global floats_t *)(into + x + 16 * v) = sum[v];
        }
#endif
        for (; x < (int)width; x += (int)LANES) into[x] = row_sum(old, x, width, weights);
    }
}
