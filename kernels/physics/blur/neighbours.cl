// What is the mean of a pixel's four direct neighbours? The pixel itself has no part in it.
// Twin: reference_py/physics/blur/neighbours.py.
//
// A workgroup is a band of BAND rows of all planes, a work-item every n-th column of it, of n
// work-items. Pixels that are not at a border are computed without conditions. No local memory, no
// barriers. Macros: PLANES_ARE_WHOLE, BAND, and those of border.cl with RADIUS 1.
#include "physics/blur/border.cl"

#if PLANES_ARE_WHOLE
typedef uchar value_t;
typedef uint exact_t;
#else
typedef float value_t;
typedef float exact_t;
#endif

// A neighbour of a pixel; (column, row) may be beyond the border.
static exact_t neighbour(__global const value_t *plane, const int column, const int row,
                         const int width, const int height)
{
    const int x = source_of(column, width), y = source_of(row, height);
    return x == OUTSIDE || y == OUTSIDE ? (exact_t)0 : (exact_t)plane[(size_t)y * width + x];
}

// The mean at a pixel that may be at a border.
static value_t mean_at(__global const value_t *plane, const int column, const int row,
                       const int width, const int height)
{
    const int count = counted(column, width) + counted(row, height) - 2;
    if (count == 0) return plane[(size_t)row * width + column];  // an image of one pixel
    const exact_t beside = neighbour(plane, column + 1, row, width, height) +
                           neighbour(plane, column - 1, row, width, height);
    const exact_t above = beside + neighbour(plane, column, row - 1, width, height);
    const exact_t all = above + neighbour(plane, column, row + 1, width, height);
#if PLANES_ARE_WHOLE
    return (value_t)(all / (exact_t)count);
#else
    return (value_t)((double)all / (double)count);  // rounded once: num.cl
#endif
}

__kernel void neighbours(__global const value_t *restrict planes, __global value_t *restrict next,
                         const uint width, const uint height, const uint channels,
                         const uint copies)
{
    const size_t lines = (size_t)height * channels * copies;
    const size_t first = (size_t)get_group_id(0) * BAND, left = lines - first;
    const uint here = left < BAND ? (uint)left : BAND;
    for (uint i = 0; i < here; ++i) {
        const size_t line = first + i;
        const int row = line % height;
        __global const value_t *restrict plane = planes + (line - row) * width;
        __global const value_t *restrict old = planes + line * width;
        __global value_t *restrict updated = next + line * width;
        if (row > 0 && row + 1 < (int)height) {
            for (uint x = 1 + LANE; x + 1 < width; x += LANES) {
                const exact_t beside = (exact_t)old[x + 1] + (exact_t)old[x - 1];
                const exact_t above = beside + (exact_t)(old - width)[x];
                const exact_t all = above + (exact_t)(old + width)[x];
#if PLANES_ARE_WHOLE
                updated[x] = (value_t)(all / 4u);
#else
                updated[x] = all * 0.25f;
#endif
            }
            if (LANE == 0) {
                updated[0] = mean_at(plane, 0, row, width, height);
                updated[width - 1] = mean_at(plane, width - 1, row, width, height);
            }
        } else {
            for (uint x = LANE; x < width; x += LANES)
                updated[x] = mean_at(plane, x, row, width, height);
        }
    }
}
