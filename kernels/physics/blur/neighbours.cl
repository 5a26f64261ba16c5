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
    const exact_t horizontal = neighbour(plane, column + 1, row, width, height) +
                               neighbour(plane, column - 1, row, width, height);
    const exact_t above = horizontal + neighbour(plane, column, row - 1, width, height);
    const exact_t all = above + neighbour(plane, column, row + 1, width, height);
#if PLANES_ARE_WHOLE
    return (value_t)(all / (exact_t)count);
#else
    return (value_t)((double)all / (double)count);  // rounded once: num.cl
#endif
}

#if !DEVICE_IS_CPU

#if PLANES_ARE_WHOLE
typedef uchar4 values_t;
typedef uint4 exacts_t;
#define MEAN(all) (value_t)((all) / 4u)
#define EXACTS(v) (exacts_t)((v).x, (v).y, (v).z, (v).w)
#define MEANS(all) \
    (values_t)((uchar)((all).x / 4u), (uchar)((all).y / 4u), (uchar)((all).z / 4u), \
               (uchar)((all).w / 4u))
#else
typedef float4 values_t;
typedef float4 exacts_t;
#define MEAN(all) ((all) * 0.25f)
#define EXACTS(v) v
#define MEANS(all) ((all) * 0.25f)
#endif

#define TALL 4  // rows of which all are read before the first is needed

// Four neighbouring pixels of a row; those beyond its end are the last one.
INLINED values_t four_of(__global const value_t *row, const uint column, const uint width,
                         const bool aligned)
{
    if (aligned) return *(__global const values_t *)(row + column);
    const uint last = width - 1u;
    return (values_t)(row[column], row[min(column + 1u, last)], row[min(column + 2u, last)],
                      row[min(column + 3u, last)]);
}

// Four neighbouring columns of TALL rows, as if none were at a border. Where rows are not aligned,
// pixels are read and written one by one.
INLINED void four_columns(__global const value_t *restrict planes, __global value_t *restrict next,
                          const size_t first, const uint here, const size_t lines,
                          const uint column, const uint width, const bool aligned)
{
    exacts_t rows[TALL + 2];
    exact_t before[TALL], after[TALL];
    const uint west = column > 0u ? column - 1u : column;
    const uint east = column + 4u < width ? column + 4u : column;
#pragma unroll
    for (uint i = 0; i < TALL + 2; ++i) {
        const size_t line = min(max(first + i, (size_t)1) - 1, lines - 1);
        __global const value_t *row = planes + line * width;
        const values_t four = four_of(row, column, width, aligned);
        rows[i] = EXACTS(four);
        if (i > 0 && i <= TALL) {
            before[i - 1] = (exact_t)row[west];
            after[i - 1] = (exact_t)row[east];
        }
    }
#pragma unroll
    for (uint i = 0; i < TALL; ++i) {
        const exacts_t now = rows[i + 1];
        const exacts_t right = (exacts_t)(now.y, now.z, now.w, after[i]);
        const exacts_t left = (exacts_t)(before[i], now.x, now.y, now.z);
        const exacts_t all = ((right + left) + rows[i]) + rows[i + 2];
        const values_t means = MEANS(all);
        __global value_t *into = next + (first + i) * width + column;
        if (i < here && aligned) {
            *(__global values_t *)into = means;
        } else if (i < here) {
            into[0] = means.x;
            if (column + 1u < width) into[1] = means.y;
            if (column + 2u < width) into[2] = means.z;
            if (column + 3u < width) into[3] = means.w;
        }
    }
}

// A column of TALL rows, as if none were at a border: for rows that are not aligned.
INLINED void one_column(__global const value_t *restrict planes, __global value_t *restrict next,
                        const size_t first, const uint here, const size_t lines, const uint column,
                        const uint width)
{
    exact_t rows[TALL + 2], before[TALL], after[TALL];
    const uint west = column > 0u ? column - 1u : column;
    const uint east = column + 1u < width ? column + 1u : column;
#pragma unroll
    for (uint i = 0; i < TALL + 2; ++i) {
        const size_t line = min(max(first + i, (size_t)1) - 1, lines - 1);
        __global const value_t *row = planes + line * width;
        rows[i] = (exact_t)row[column];
        if (i > 0 && i <= TALL) {
            before[i - 1] = (exact_t)row[west];
            after[i - 1] = (exact_t)row[east];
        }
    }
#pragma unroll
    for (uint i = 0; i < TALL; ++i) {
        const exact_t all = ((after[i] + before[i]) + rows[i]) + rows[i + 2];
        if (i < here) next[(first + i) * width + column] = MEAN(all);
    }
}

// A band of rows, each of its pixels by columns of TALL, and those at a border again.
INLINED void whole_band(__global const value_t *restrict planes, __global value_t *restrict next,
                        const size_t first, const uint here, const size_t lines, const uint width,
                        const uint height, const bool aligned)
{
    const uint top = (uint)(first % height), wide = aligned || PLANES_ARE_WHOLE ? 4u : 1u;
    for (uint x = wide * LANE; x < width; x += wide * LANES) {
        for (uint i = 0; i < here; i += TALL) {
            if (wide == 4u)
                four_columns(planes, next, first + i, here - i, lines, x, width, aligned);
            else
                one_column(planes, next, first + i, here - i, lines, x, width);
        }
        uint row = top;
        for (uint i = 0; i < here; ++i, row = row + 1u < height ? row + 1u : 0u) {
            __global const value_t *restrict plane = planes + (first + i - row) * width;
            __global value_t *updated = next + (first + i) * width;
            if (row == 0u || row + 1u == height)
                for (uint k = 0; k < wide && (aligned || x + k < width); ++k)
                    updated[x + k] = mean_at(plane, x + k, row, width, height);
            else if (x == 0u)
                updated[0] = mean_at(plane, 0, row, width, height);
            else if (x + wide >= width)
                updated[width - 1] = mean_at(plane, width - 1, row, width, height);
        }
    }
}

#endif

__kernel void neighbours(__global const value_t *restrict planes, __global value_t *restrict next,
                         const uint width, const uint height, const uint channels,
                         const uint copies)
{
    const size_t lines = (size_t)height * channels * copies;
    const size_t first = (size_t)get_group_id(0) * BAND, left = lines - first;
    const uint here = left < BAND ? (uint)left : BAND;
#if !DEVICE_IS_CPU
    if (width >= 8u) {
        if (width % 4u == 0u)
            whole_band(planes, next, first, here, lines, width, height, true);
        else
            whole_band(planes, next, first, here, lines, width, height, false);
        return;
    }
#endif
    for (uint i = 0; i < here; ++i) {
        const size_t line = first + i;
        const int row = line % height;
        __global const value_t *restrict plane = planes + (line - row) * width;
        __global const value_t *restrict old = planes + line * width;
        __global value_t *restrict updated = next + line * width;
        if (row > 0 && row + 1 < (int)height) {
            for (uint x = 1 + LANE; x + 1 < width; x += LANES) {
                const exact_t horizontal = (exact_t)old[x + 1] + (exact_t)old[x - 1];
                const exact_t above = horizontal + (exact_t)(old - width)[x];
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
