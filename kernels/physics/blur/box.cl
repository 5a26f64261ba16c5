// What is the mean of all pixels of a window, rounded to a whole number?
// Twin: reference_py/physics/blur/box.py.
//
// A workgroup is a strip of STRIP columns of a band of BAND rows of a plane. It goes down the rows
// with the sums of its columns, to which it adds the row that enters the window and from which it
// takes the row that leaves; a work-item then adds up the windows of some neighbouring columns in
// the same way. The sums are exact, so the order is free.
// Local memory: a word for each column of the strip and RADIUS more on both sides, and one for each
// window; on a CPU two for each column, and none for small windows. Macros: STRIP, BAND, and those
// of border.cl.
#include "physics/blur/border.cl"

// Sums of small windows fit into 16 bits.
#if RADIUS <= 7
typedef ushort sum_t;
#else
typedef uint sum_t;
#endif

#define SPAN (STRIP + 2 * RADIUS)
#define SIDE (2 * RADIUS + 1)
#define WINDOW (SIDE * SIDE)

// The mean of a full window, rounded: its number of pixels is odd. All of it fits into sum_t.
#define MEAN(sum) ((uchar)((sum_t)((sum) + WINDOW / 2) / (sum_t)WINDOW))

// A work-item alone adds up windows without a sum that waits for the one before, in loops without
// conditions, of which the compiler makes operations on vectors: of 16 sums at a time where they
// have 16 bits.
#define THIRD (SIDE / 3)  // a small window is three sums of THIRD columns, and up to two more
#define WINDOWS_ARE_THIRDS (DEVICE_IS_CPU && RADIUS >= 1 && RADIUS <= 7)

#if WINDOWS_ARE_THIRDS
#define WINDOW_AT(i) window_at(column, third, i)
#define BEYOND 16  // columns behind the strip, of which vectors are whole; they are 0

typedef ushort16 __attribute__((aligned(2))) sums_t;

// Sums of a third of a window, from every column on. They are vectors here, since compilers hand
// the columns of neighbouring sums from turn to turn, and then add up one sum after another.
INLINED void thirds_of(const __local sum_t *restrict column, __local sum_t *restrict third,
                       const int many)
{
    for (int i = 0; i < many; i += 16) {
        ushort16 sums = *(const __local sums_t *)(column + i);
#pragma unroll
        for (int k = 1; k < THIRD; ++k) sums += *(const __local sums_t *)(column + i + k);
        *(__local sums_t *)(third + i) = sums;
    }
}

INLINED sum_t window_at(const __local sum_t *restrict column, const __local sum_t *restrict third,
                        const int i)
{
    sum_t sum = (sum_t)(third[i] + third[i + THIRD] + third[i + 2 * THIRD]);
#pragma unroll
    for (int k = 3 * THIRD; k < SIDE; ++k) sum = (sum_t)(sum + column[i + k]);
    return sum;
}

INLINED void means_of(const __local sum_t *restrict column, const __local sum_t *restrict third,
                      __global uchar *restrict updated, const int here)
{
    for (int i = 0; i < here; ++i) updated[i] = MEAN(window_at(column, third, i));
}

#else
#define WINDOW_AT(i) window[i]
#define BEYOND 0
#endif

#if DEVICE_IS_CPU && !WINDOWS_ARE_THIRDS

// Sums of all windows: sums of 1, 2, 4, ... neighbours are made one from the other, and a window is
// put together of these.
INLINED void windows_of(const __local sum_t *restrict column, __local sum_t *restrict doubled,
                        __local sum_t *restrict window, const int span, const int here)
{
    for (int i = 0; i < span; ++i) doubled[i] = column[i];
    for (int i = 0; i < here; ++i) window[i] = 0;
    int offset = 0;
#pragma unroll
    for (int many = 1; many <= SIDE; many *= 2) {
        if (SIDE & many) {
            for (int i = 0; i < here; ++i) window[i] += doubled[i + offset];
            offset += many;
        }
        for (int i = 0; i < span - many; ++i) doubled[i] += doubled[i + many];
    }
}

#endif

// Moves the window of every column down: a row enters it and another one leaves.
INLINED void move_down(__local sum_t *restrict column, __global const uchar *restrict enters,
                       __global const uchar *restrict leaves, const int many)
{
    for (int i = (int)LANE; i < many; i += (int)LANES)
        column[i] = (sum_t)(column[i] + enters[i] - leaves[i]);
}

// Adds a row of the plane to the sums of the columns for which others stand, or takes it away.
#define TAKE_EDGES(old, OP) \
    do { \
        for (int i = (int)LANE; i < begin_of + span - end_of; i += (int)LANES) { \
            const int at = i < begin_of ? i : i - begin_of + end_of; \
            const int from = source_of(left + at, (int)width); \
            column[at] OP from == OUTSIDE ? 0 : (old)[from]; \
        } \
    } while (false)

// The same for all columns.
#define TAKE_ROW(line, OP) \
    do { \
        const int taken = source_of(line, (int)height); \
        if (taken != OUTSIDE) { \
            __global const uchar *restrict old = plane + (size_t)taken * width; \
            for (int i = begin_of + (int)LANE; i < end_of; i += (int)LANES) \
                column[i] OP old[left + i]; \
            TAKE_EDGES(old, OP); \
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
    __local sum_t *restrict column = local_malloc((SPAN + BEYOND) * sizeof(sum_t));
#if WINDOWS_ARE_THIRDS
    __local sum_t *restrict third = local_malloc((SPAN + BEYOND) * sizeof(sum_t));
#else
    __local sum_t *restrict window = local_malloc(STRIP * sizeof(sum_t));
#if DEVICE_IS_CPU
    __local sum_t *restrict doubled = local_malloc(SPAN * sizeof(sum_t));
#endif
#endif
    for (int i = (int)LANE; i < span + BEYOND; i += (int)LANES) column[i] = 0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all columns are 0, before others add to them
    for (int k = -RADIUS - 1; k < RADIUS; ++k) TAKE_ROW(begin + k, +=);
    int row = begin;
    do {
        const int enters = source_of(row + RADIUS, (int)height);
        const int leaves = source_of(row - RADIUS - 1, (int)height);
        if (enters != OUTSIDE && leaves != OUTSIDE) {
            __global const uchar *restrict fresh = plane + (size_t)enters * width;
            __global const uchar *restrict stale = plane + (size_t)leaves * width;
            move_down(column + begin_of, fresh + left + begin_of, stale + left + begin_of,
                      end_of - begin_of);
            TAKE_EDGES(fresh, +=);
            TAKE_EDGES(stale, -=);
        } else {
            TAKE_ROW(row + RADIUS, +=);
            TAKE_ROW(row - RADIUS - 1, -=);
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // sums of all columns, before they are added up
        __global uchar *restrict updated = result + (size_t)row * width + strip * STRIP;
#if WINDOWS_ARE_THIRDS
        thirds_of(column, third, here + 2 * THIRD);
#elif DEVICE_IS_CPU
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
#if BORDER == BORDER_AVAILABLE
        for (int i = mine; i < until; ++i) {
            const uint across = (uint)counted(i + (int)(strip * STRIP), (int)width);
            const uint count = across * (uint)counted(row, (int)height);
            updated[i] = (uchar)((2u * (uint)WINDOW_AT(i) + count) / (2u * count));
        }
#elif WINDOWS_ARE_THIRDS
        means_of(column, third, updated, here);
#else
        for (int i = mine; i < until; ++i) updated[i] = MEAN(window[i]);
#endif
        group_barrier(CLK_LOCAL_MEM_FENCE);  // all windows are added, before the columns change
        ++row;
    } while (row < end);
}
