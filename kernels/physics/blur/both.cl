// What are rows.cl and columns.cl together? A pass, without its sums along rows in global memory.
// Twin: reference_py/physics/blur/both.py.
//
// A workgroup is a tile of TILE columns and HEIGHT - 2 RADIUS rows of a plane; RADIUS is 16 at
// most. It has the sums along HEIGHT rows in local memory, TILE HEIGHT words. Macros: TILE, a
// multiple of 64, HEIGHT, and those of window.cl.
#include "physics/blur/window.cl"

#define TALL (HEIGHT - 2 * RADIUS)

__kernel void both(__global const float *restrict planes, __global float *restrict next,
                   __global const float *restrict weights, const uint width, const uint height)
{
    const uint across = (width + TILE - 1u) / TILE, down = (height + TALL - 1u) / TALL;
    const int left = (int)(get_group_id(0) % across) * TILE;
    const int top = (int)(get_group_id(0) / across % down) * TALL;
    const size_t first = (size_t)(get_group_id(0) / across / down) * height * width;
    __global const float *restrict plane = planes + first;
    __global float *restrict result = next + first;
    const int here = min((int)width - left, TILE), tall = min((int)height - top, TALL);
    const int sums = tall + 2 * RADIUS;
    __local float *restrict sum_of = local_malloc(TILE * HEIGHT * sizeof(float));
#if DEVICE_IS_CPU
    for (int i = 0; i < sums; ++i) {
        const int from = source_of(top - RADIUS + i, height);
        __local float *restrict into = sum_of + i * TILE;
        if (from == OUTSIDE) {
            for (int j = 0; j < TILE; ++j) into[j] = 0.0f;
            continue;
        }
        __global const float *restrict old = plane + (size_t)from * width;
        float padded[TILE + 2 * RADIUS];
        if (left >= RADIUS && left + TILE + RADIUS <= (int)width) {
            for (int j = 0; j < TILE + 2 * RADIUS; ++j) padded[j] = old[left - RADIUS + j];
        } else {
            for (int j = 0; j < TILE + 2 * RADIUS; ++j) {
                const int x = source_of(left - RADIUS + j, width);
                padded[j] = x == OUTSIDE || j >= here + 2 * RADIUS ? 0.0f : old[x];
            }
        }
        for (int x = 0; x < TILE; x += WIDE) {
            floats_t sum[4];
#pragma unroll
            for (int v = 0; v < 4; ++v) sum[v] = (floats_t)(0.0f);
            for (int k = 0; k < TAPS; ++k) {
                const floats_t weight = (floats_t)(weights[k]);
#pragma unroll
                for (int v = 0; v < 4; ++v)
                    sum[v] = ADDED(sum[v], weight, *(const floats_t *)(padded + x + k + 16 * v));
            }
#pragma unroll
            for (int v = 0; v < 4; ++v) *(__local floats_t *)(into + x + 16 * v) = sum[v];
        }
    }
    for (int i = 0; i < tall; ++i) {
        __global float *restrict updated = result + (size_t)(top + i) * width + left;
        for (int x = 0; x < here; x += WIDE) {
            floats_t sum[4];
#pragma unroll
            for (int v = 0; v < 4; ++v) sum[v] = (floats_t)(0.0f);
            for (int k = 0; k < TAPS; ++k) {
                const floats_t weight = (floats_t)(weights[k]);
                const __local float *restrict of = sum_of + (i + k) * TILE + x;
#pragma unroll
                for (int v = 0; v < 4; ++v)
                    sum[v] = ADDED(sum[v], weight, *(const __local floats_t *)(of + 16 * v));
            }
            written(sum, updated + x, min(here - x, WIDE), left + x, top + i, width, height);
        }
    }
#else
    for (int i = (int)LANE; i < sums * TILE; i += (int)LANES) {
        const int from = source_of(top - RADIUS + i / TILE, height), x = left + i % TILE;
        const bool exists = from != OUTSIDE && x < (int)width;
        sum_of[i] = exists ? row_sum(plane + (size_t)from * width, x, width, weights) : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // sums along all rows, before they are added down the columns
    for (int i = (int)LANE; i < tall * TILE; i += (int)LANES) {
        const int row = top + i / TILE, x = left + i % TILE;
        float sum = 0.0f;
        for (int k = 0; k < TAPS; ++k) sum = ADDED(sum, weights[k], sum_of[i + k * TILE]);
        if (x < (int)width) result[(size_t)row * width + x] = mean_of(sum, x, row, width, height);
    }
#endif
}
