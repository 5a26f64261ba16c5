// primitives.cl: one kernel per primitive, which each workgroup calls `repeat` times on an array of
// its own. Every call is preceded by the same copy of the array from global memory (`staging`
// alone), since many primitives change it, and followed by adding what it found to a checksum.
#include "primitives/permute.cl"
#include "primitives/reduce.cl"
#include "primitives/scan.cl"
#include "primitives/select.cl"
#include "primitives/softmath.cl"
#include "primitives/sort.cl"
#include "primitives/tree.cl"
#include "primitives/varray.cl"

#define PARAMETERS \
    __global const real *values, const uint n, const uint repeat, __global uint *sums, \
        __local real *v, __local uint *w, __local uint *x, __local uchar *mask

// The array in v, its order of magnitude in w, and an empty mask.
#define STAGE \
    for (uint i = lid; i < n; i += lanes) { \
        v[i] = values[get_group_id(0) * (size_t)n + i]; \
        w[i] = (uint)v[i]; \
        mask[i] = 0; \
    } \
    barrier(CLK_LOCAL_MEM_FENCE) /* the copy, before it is worked on */

#define KERNEL(name, call) \
    __kernel void name(PARAMETERS) \
    { \
        const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0); \
        rng_t rng = rng_seed(0ul, 0x100000000ul, get_group_id(0)); \
        uint sum = 0u, turn = 0u; \
        do { \
            STAGE; \
            call; \
            barrier(CLK_LOCAL_MEM_FENCE); /* results are read, before the next copy */ \
        } while (++turn < repeat); \
        sums[get_global_id(0)] = sum + 0u * rng.x; \
    }

KERNEL(staging, sum += w[n - 1u])

// What the cost models count: a barrier; a step of all work-items (two numbers read, one written);
// a look (one number, the same for all, read and compared with one's own); a step of one work-item
// alone (a number read, added up and replaced); an operation on a private number.
#define TIMES 480u
KERNEL(
    barriers, uint b = 0u; do {
        w[lid] += b;
        barrier(CLK_LOCAL_MEM_FENCE);  // nothing: this is what a barrier costs
    } while (++b < TIMES);
    sum += w[0])
KERNEL(steps, for (uint s = 0u; s < TIMES; ++s) v[lid] += v[lid + s % 16u]; sum += w[0])
KERNEL(looks, const uint own = w[lid % n];
       for (uint s = 0u; s < TIMES; ++s) sum += w[s % 48u] < own)
KERNEL(
    alone, if (lid == 0u) {
        uint t = 0u;
        for (uint s = 0u; s < TIMES; ++s) {
            const uint own = w[s % 48u];
            w[s % 48u] = t;
            t += own;
        }
    } sum += w[0])
KERNEL(operations, real y = v[lid % n]; for (uint s = 0u; s < TIMES; ++s) y = y * 0.5 + 3.0;
       sum += (uint)y)

KERNEL(extreme, sum += extreme_max(v, mask, n, x))
KERNEL(extreme_random, sum += extreme_max_random(&rng, v, mask, n, x))
KERNEL(six_smallest, n_smallest(v, mask, n, 6u, x, x + 8u); sum += x[5])
KERNEL(sum_real, sum += (uint)(reduce_sum_local(v, n) * 0x1p-20))
KERNEL(sum_uint, sum += reduce_sum_uint(w, n))
KERNEL(count, sum += reduce_count(mask, n, x))
KERNEL(scan, sum += scan_exclusive(w, n))
KERNEL(compact_all, sum += compact(mask, n, w, x))
KERNEL(sort, sort_keys(v, w, n, false); sum += w[n / 2u])
KERNEL(permutation, random_permutation(&rng, x, n); sum += x[n / 2u])
KERNEL(matching, random_matching(&rng, w, n, x); sum += w[n / 2u])
KERNEL(tree_of_four, tree_sum_local(v, 4u, tree_depth(4u, 3u * n / 4u + 1u) - 1u);
       sum += (uint)(v[0] * 0x1p-20))
KERNEL(register_all, varray_reset(w);
       for (uint i = lid; i < n; i += lanes) varray_append(w, x, n, i);
       sum += varray_length(w, x, n))
KERNEL(choose, sum += choose_among(&rng, w, n, x))

// One work-item's functions: n calls shared by the group, no barrier inside.
KERNEL(next, for (uint i = lid; i < n; i += lanes) sum += rng_next(&rng))
KERNEL(below_48, for (uint i = lid; i < n; i += lanes) sum += rng_below(&rng, 48u))
KERNEL(
    skip, for (uint i = lid; i < n; i += lanes) {
        rng_skip(&rng, (ulong)w[i] * 0x9e3779b97f4a7c15ul);
        sum += rng.x;
    })
KERNEL(binomial_100,
       for (uint i = lid; i < n; i += lanes) sum += rng_binomial(&rng, 100u, 858993459ul))
KERNEL(logarithm, for (uint i = lid; i < n; i += lanes) sum += (uint)soft_log(v[i] + 2.0))
KERNEL(exponential, for (uint i = lid; i < n; i += lanes) sum += (uint)soft_exp(v[i] * 0x1p-20))
KERNEL(power, for (uint i = lid; i < n; i += lanes) sum += (uint)soft_pow(v[i] + 1.0, 0.4))
