// What is the mean of all pixels of a window, rounded to a whole number?
// Twin: reference_py/physics/blur/box.py.
//
// A workgroup is a strip of STRIP columns of a band of BAND rows of a plane. It goes down the rows
// with the sums of its columns, to which it adds the row that enters the window and from which it
// takes the row that leaves; a work-item then adds up the windows of some neighbouring columns in
// the same way. The sums are exact, so the order is free.
// Local memory: a word for each column of the strip and RADIUS more on both sides, and one for each
// window. Macros: STRIP, BAND, and those of border.cl.
#include "physics/blur/border.cl"

// Sums of small windows fit into 16 bits.
#if RADIUS <= 7
typedef ushort sum_t;
#else
typedef uint sum_t;
#endif

#define SPAN (STRIP + 2 * RADIUS)
#define WINDOW ((2 * RADIUS + 1) * (2 * RADIUS + 1))

// Sums of all windows by a work-item alone, without a sum that waits for the one before: sums of 1,
// 2, 4, ... neighbours are made one from the other, and a window is put together of these.
INLINED void windows_of(const __local sum_t *restrict column, __local sum_t *restrict doubled,
                        __local sum_t *restrict window, const int span, const int here)
{
    for (int i = 0; i < span; ++i) doubled[i] = column[i];
    for (int i = 0; i < here; ++i) window[i] = 0;
    int offset = 0;
#pragma unroll
    for (int many = 1; many <= 2 * RADIUS + 1; many *= 2) {
        if ((2 * RADIUS + 1) & many) {
            for (int i = 0; i < here; ++i) window[i] += doubled[i + offset];
            offset += many;
        }
        for (int i = 0; i < span - many; ++i) doubled[i] += doubled[i + many];
    }
}

// Adds a row of the plane to the sums of all columns, or takes it away: first the columns that are
// in the image, then those for which others stand.
#define TAKE_ROW(line, OP) \
    do { \
        const int taken = source_of(line, (int)height); \
        if (taken != OUTSIDE) { \
            __global const uchar *restrict old = plane + (size_t)taken * width; \
            for (int i = begin_of + (int)LANE; i < end_of; i += (int)LANES) \
                column[i] OP old[left + i]; \
            for (int i = (int)LANE; i < begin_of + span - end_of; i += (int)LANES) { \
                const int at = i < begin_of ? i : i - begin_of + end_of; \
                const int from = source_of(left + at, (int)width); \
                column[at] OP from == OUTSIDE ? 0 : old[from]; \
            } \
        } \
    } while (false)

__kernel void box(__global const uchar *restrict planes, __global uchar *restrict next,
                  const uint width, const uint height)
{
    const uint strips = (width + STRIP - 1u) / STRIP, bands = (height + BAND - 1u) / BAND;
    const uint strip = get_group_id(0) % strips, band = get_group_id(0) / strips % bands;
    const size_t first = (size_t)(get_group_id(0) / strips / bands) * height * width;
    __global const uchar *restrict plane = planes + first;
    __global uchar *restrict result = next + first;
    const int here = (int)min(width - strip * STRIP, (uint)STRIP), span = here + 2 * RADIUS;
    const int left = (int)(strip * STRIP) - RADIUS;
    const int begin_of = max(0, -left), end_of = min(span, (int)width - left);
    const int begin = (int)(band * BAND), end = min(begin + BAND, (int)height);
    // Work-items take neighbouring windows, and each of them has as many, or has none.
    const int many = (here + (int)LANES - 1) / (int)LANES;
    const int mine = min((int)LANE * many, here), until = min(mine + many, here);
    __local sum_t *restrict column = local_malloc(SPAN * sizeof(sum_t));
    __local sum_t *restrict window = local_malloc(STRIP * sizeof(sum_t));
#if DEVICE_IS_CPU
    __local sum_t *restrict doubled = local_malloc(SPAN * sizeof(sum_t));
#endif
    for (int i = (int)LANE; i < span; i += (int)LANES) column[i] = 0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all columns are 0, before others add to them
    for (int k = -RADIUS; k < RADIUS; ++k) TAKE_ROW(begin + k, +=);
    int row = begin;
    do {
        TAKE_ROW(row + RADIUS, +=);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // sums of all columns, before they are added up
#if DEVICE_IS_CPU
        windows_of(column, doubled, window, span, here);
#else
        if (mine < until) {
            uint sum = 0u;
            for (int i = mine; i < mine + 2 * RADIUS; ++i) sum += column[i];
            for (int i = mine; i < until; ++i) {
                sum += column[i + 2 * RADIUS];
                window[i] = (sum_t)sum;
                sum -= column[i];
            }
        }
#endif
        __global uchar *restrict updated = result + (size_t)row * width + strip * STRIP;
        for (int i = mine; i < until; ++i) {
#if BORDER_IS_AVAILABLE
            const uint across = (uint)counted(i + (int)(strip * STRIP), (int)width);
            const uint count = across * (uint)counted(row, (int)height);
            updated[i] = (uchar)((2u * (uint)window[i] + count) / (2u * count));
#else
            updated[i] = (uchar)((2u * (uint)window[i] + WINDOW) / (2u * WINDOW));
#endif
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // all windows are added, before the columns change
        TAKE_ROW(row - RADIUS, -=);
        ++row;
    } while (row < end);
#if DEVICE_IS_CPU
    local_free(SPAN * sizeof(sum_t));
#endif
    local_free(STRIP * sizeof(sum_t));
    local_free(SPAN * sizeof(sum_t));
}
