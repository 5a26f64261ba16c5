// lists.cl: where lists of translated rules lie, and what is done with whole ones.
//
// All functions but `log_bytes` and `sort_together` are called by one work-item alone; none needs
// local memory.

#ifndef TRANSLATE_LISTS_CL
#define TRANSLATE_LISTS_CL

#include "primitives/real.cl"
#include "primitives/rng.cl"

// A phase stays a function: its own kernel and that of all phases call it, and it is compiled once.
// PoCL also promises its optimiser that work-items do not depend on each other, which makes loops
// of a work-item over lists of its own go wrong unless they stay in a function.
#define WHOLE static __attribute__((noinline))

// Lists in scratch memory: of an item one after another on a CPU; interleaved on a GPU, where
// neighbouring work-items then read neighbouring words: with all others, or with those of its
// workgroup if that has few items. The last workgroup may have fewer items than the others.
#if DEVICE_IS_CPU
#define L(i) i
#define STRIDE(items) items
#define FIRST_WORD(item, words) (item * words)
#else
#define L(i) ((size_t)(i) * stride)
#define FIRST_OF_GROUP (get_group_id(0) * get_local_size(0))
#define FEW_ITEMS (get_local_size(0) < 32)
#define STRIDE(items) \
    (FEW_ITEMS ? min(get_local_size(0), (size_t)(items) - FIRST_OF_GROUP) : (size_t)(items))
#define FIRST_WORD(item, words) \
    (FEW_ITEMS ? FIRST_OF_GROUP * (words) + get_local_id(0) : (size_t)(item))
#endif

// The work-items of a workgroup that carries out all phases of a copy; on a CPU it has one. Between
// phases they wait for each other: what one has written into the state, lists or logs, others read.
#if DEVICE_IS_CPU
#define LANE 0
#define LANES 1
#define after_phase(fence)
#else
#define LANE (long)get_local_id(0)
#define LANES (long)get_local_size(0)
#define after_phase(fence) barrier(fence)
#endif

// Bytes, which may be of any type, from the state into a log.
WHOLE void log_bytes(__global void *to, __global const void *from, const long n)
{
    for (long i = LANE; i < n; i += LANES) {
        ((__global uchar *)to)[i] = ((__global const uchar *)from)[i];
    }
}

// min and max of Python, which return the first of equals.
static long least_long(const long a, const long b)
{
    return b < a ? b : a;
}

static long most_long(const long a, const long b)
{
    return b > a ? b : a;
}

// ---------------------------------------------------------------- whole lists

// The numbers 0 .. n-1 in a random order. Twin: reference_py/primitives/permute.py
#define PERMUTE_ALONE(name, space, AT) \
    static void name(rng_t *rng, space long *order, const long n, const size_t stride) \
    { \
        for (long i = 0; i < n; ++i) order[AT(i)] = i; \
        for (long last = n - 1; last > 0; --last) { \
            const long place = rng_below(rng, (uint)last + 1u); \
            const long taken = order[AT(place)]; \
            order[AT(place)] = order[AT(last)]; \
            order[AT(last)] = taken; \
        } \
    }

// The whole numbers x[0 .. n-1] in ascending order: equal ones are the same. Runs of 8 are sorted
// by insertion and merged; y is room for as many numbers, and is not used for 8 or fewer. Two whole
// runs are merged from both ends at once: neither end waits for the other, or has a branch.
#define SORT_ALONE(name, space, AT) \
    static void name(space long *x, const long n, const size_t stride, space long *y) \
    { \
        for (long low = 0; low < n; low += 8) \
            for (long i = low + 1; i < low + 8 && i < n; ++i) { \
                const long moved = x[AT(i)]; \
                long j = i; \
                for (; j > low && x[AT((j - 1))] > moved; --j) x[AT(j)] = x[AT((j - 1))]; \
                x[AT(j)] = moved; \
            } \
        space long *from = x, *to = y; \
        for (long width = 8; width < n; width *= 2) { \
            for (long low = 0; low < n; low += 2 * width) { \
                const long mid = least_long(low + width, n), high = least_long(mid + width, n); \
                long i = low, j = mid, k = low; \
                if (high - mid == width) { \
                    long p = mid - 1, q = high - 1, last = high - 1; \
                    for (; k < mid; ++k, --last) { \
                        const long a = from[AT(i)], b = from[AT(j)]; \
                        const long c = from[AT(p)], d = from[AT(q)]; \
                        const int second = b < a, first = d < c; \
                        to[AT(k)] = second ? b : a; \
                        to[AT(last)] = first ? c : d; \
                        j += second; \
                        i += 1 - second; \
                        p -= first; \
                        q -= 1 - first; \
                    } \
                    continue; \
                } \
                while (i < mid && j < high) { \
                    const long a = from[AT(i)], b = from[AT(j)]; \
                    const int second = b < a; \
                    to[AT(k)] = second ? b : a; \
                    j += second; \
                    i += 1 - second; \
                    ++k; \
                } \
                for (; i < mid; ++i, ++k) to[AT(k)] = from[AT(i)]; \
                for (; j < high; ++j, ++k) to[AT(k)] = from[AT(j)]; \
            } \
            space long *const merged = to; \
            to = from; \
            from = merged; \
        } \
        if (from != x) \
            for (long i = 0; i < n; ++i) x[AT(i)] = from[AT(i)]; \
    }

// The sum in the fixed tree, which changes the list. Twin: reference_py/primitives/reduce.py
#define REDUCE_SUM_ALONE(name, space, AT) \
    static real name(space real *x, const long n, const size_t stride) \
    { \
        for (long step = 1; step < n; step *= 2) \
            for (long p = 0; p + step < n; p += 2 * step) x[AT(p)] += x[AT((p + step))]; \
        return n > 0 ? x[AT(0)] : 0.0; \
    }

#define PLAIN(i) i
PERMUTE_ALONE(permute_alone_private, __private, PLAIN)
PERMUTE_ALONE(permute_alone_scratch, __global, L)
SORT_ALONE(sort_alone_private, __private, PLAIN)
SORT_ALONE(merge_alone_scratch, __global, L)

#if DEVICE_IS_CPU
#define BINS 256
#define FULL 24  // numbers in a bin, from which merging takes less time than insertion

// As `merge_alone_scratch`, which takes more time where numbers are spread evenly, as words are:
// they are put into bins of equal width, then each bin is sorted.
static void sort_alone_scratch(__global long *x, const long n, const size_t stride,
                               __global long *y)
{
    if (n <= 32) {
        merge_alone_scratch(x, n, stride, y);
        return;
    }
    long least = x[0], most = x[0];
    for (long i = 1; i < n; ++i) {
        least = least_long(least, x[i]);
        most = most_long(most, x[i]);
    }
    const ulong range = (ulong)most - (ulong)least;
    const int shift = range < BINS ? 0 : 64 - 8 - (int)clz(range);
    long ends[BINS];
    for (int bin = 0; bin < BINS; ++bin) ends[bin] = 0;
    for (long i = 0; i < n; ++i) ++ends[((ulong)x[i] - (ulong)least) >> shift];
    long first = 0;
    for (int bin = 0; bin < BINS; ++bin) {
        const long count = ends[bin];
        ends[bin] = first;
        first += count;
    }
    for (long i = 0; i < n; ++i) y[ends[((ulong)x[i] - (ulong)least) >> shift]++] = x[i];
    first = 0;
    for (int bin = 0; shift > 0 && bin < BINS; ++bin) {
        const long end = ends[bin];
        if (end - first > FULL)
            merge_alone_scratch(y + first, end - first, stride, x);
        else
            for (long i = first + 1; i < end; ++i) {
                const long moved = y[i];
                long j = i;
                for (; j > first && y[j - 1] > moved; --j) y[j] = y[j - 1];
                y[j] = moved;
            }
        first = end;
    }
    for (long i = 0; i < n; ++i) x[i] = y[i];
}
#else
#define sort_alone_scratch merge_alone_scratch

// As `sort_alone_scratch`, by all work-items of a workgroup whose lists are not interleaved with
// others. Work-item 0 has written the numbers, and it alone knows how many there are. Runs of 8 are
// sorted by insertion; then each number finds its place in a merged run by bisection of the other.
COLLECTIVE void sort_together(__global long *x, const long given, __global long *y)
{
    const long item = get_local_id(0), items = get_local_size(0);
    if (item == 0) y[0] = given;
    barrier(CLK_GLOBAL_MEM_FENCE);  // all numbers, and how many there are
    const long n = y[0];
    for (long low = 8 * item; low < n; low += 8 * items)
        for (long i = low + 1; i < low + 8 && i < n; ++i) {
            const long moved = x[i];
            long j = i;
            for (; j > low && x[j - 1] > moved; --j) x[j] = x[j - 1];
            x[j] = moved;
        }
    barrier(CLK_GLOBAL_MEM_FENCE);  // runs of 8, and the number of all has been read
    __global long *from = x, *to = y;
    long width = 8;
    do {
        for (long i = item; i < n; i += items) {
            const long start = i - (i & (2 * width - 1)), mid = least_long(start + width, n);
            const int second = i >= mid;
            const long first = second ? start : mid, moved = from[i];
            long low = first, high = second ? mid : least_long(mid + width, n);
            while (low < high) {
                const long middle = (low + high) / 2;
                if (second ? from[middle] <= moved : from[middle] < moved)
                    low = middle + 1;
                else
                    high = middle;
            }
            to[i - (second ? width : 0) + low - first] = moved;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);  // merged runs, before they are merged or read
        __global long *const merged = to;
        to = from;
        from = merged;
        width *= 2;
    } while (width < n);
    if (from != x)
        for (long i = item; i < n; i += items) x[i] = from[i];
    barrier(CLK_GLOBAL_MEM_FENCE);  // all numbers in order, before work-item 0 reads them
}
#endif
REDUCE_SUM_ALONE(reduce_sum_alone_private, __private, PLAIN)
REDUCE_SUM_ALONE(reduce_sum_alone_scratch, __global, L)

#endif
