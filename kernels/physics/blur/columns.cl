// What is the weighted sum of a column's sums, from the top down? It ends the pass.
// Twin: reference_py/physics/blur/columns.py.
//
// A workgroup is a band of BAND rows of all planes, a work-item every n-th column of it, of n
// work-items. No local memory, no barriers. Macros: BAND, and those of window.cl.
#include "physics/blur/window.cl"

__kernel void columns(__global const float *restrict across, __global float *restrict next,
                      __global const float *restrict weights, const uint width, const uint height,
                      const uint channels, const uint copies)
{
    const size_t lines = (size_t)height * channels * copies;
    const size_t first = (size_t)get_group_id(0) * BAND, left = lines - first;
    const uint here = left < BAND ? (uint)left : BAND;
    for (uint i = 0; i < here; ++i) {
        const size_t line = first + i;
        const int row = line % height;
        __global const float *restrict plane = across + (line - row) * width;
        __global float *restrict updated = next + line * width;
        int x = (int)LANE;
#if DEVICE_IS_CPU
        for (; x + WIDE <= (int)width; x += WIDE) {
            floats_t sum[4];
            for (int v = 0; v < 4; ++v) sum[v] = (floats_t)(0.0f);
            for (int k = 0; k < TAPS; ++k) {
                const int from = source_of(row - RADIUS + k, height);
                if (from != OUTSIDE) {  // else 0 would be added
                    __global const float *restrict old = plane + (size_t)from * width + x;
                    const floats_t weight = (floats_t)(weights[k]);
#pragma unroll
                    for (int v = 0; v < 4; ++v)
                        sum[v] = ADDED(sum[v], weight, *(__global const floats_t *)(old + 16 * v));
                }
            }
            written(sum, updated + x, WIDE, x, row, width, height);
        }
#endif
        for (; x < (int)width; x += (int)LANES) {
            float sum = 0.0f;
            for (int k = 0; k < TAPS; ++k) {
                const int from = source_of(row - RADIUS + k, height);
                if (from != OUTSIDE) sum = ADDED(sum, weights[k], plane[(size_t)from * width + x]);
            }
            updated[x] = mean_of(sum, x, row, width, height);
        }
    }
}
