// What is the product of two matrices, bit by bit? Every entry is one sum, from the first product
// on. Twin: reference_py/physics/matmul/multiply.py.
//
// Five forms with the same bits. Each entry of C has one accumulator, to which its products are
// added in the order of their index k. A step for a k that does not exist must change nothing:
// fma(0, -0, sum) is sum, of either sign of zero, as fma(0, 0, -0) is +0. Rows and columns that do
// not exist may be computed, and are not stored.
// Macros: VARIANT: naive, tiled, blocked, or vectors; ARITHMETIC;
// TILE; TALL, WIDE, LANES_Y, LANES_X, WARPS_Y, WARPS_X, DEPTH, ROWS_ARE_ALIGNED; TALL, VECTORS,
// WIDTH, BAND, STRIPE, CHUNK; and those of num.cl.
#include "primitives/fused.cl"

#if ARITHMETIC == ARITHMETIC_FUSED
#define STEP(a, b, sum) MULADD(a, b, sum)
#else
#define STEP(a, b, sum) ((sum) + (a) * (b))
#endif

#if VARIANT == VARIANT_NAIVE

// A work-item is an entry of C, or every n-th of them if there are only n work-items.
// No local memory, no barriers.
__kernel void multiply(__global const num *restrict A, __global const num *restrict B,
                       __global num *restrict C, const uint rows, const uint inner,
                       const uint columns, const uint copies)
{
    const size_t entries = (size_t)rows * columns * copies;
    for (size_t at = get_global_id(0); at < entries; at += get_global_size(0)) {
        const size_t row = at / columns, column = at % columns, copy = row / rows;
        __global const num *a = A + row * inner, *b = B + copy * inner * columns + column;
        num sum = NUM(0.0);
        for (uint k = 0; k < inner; ++k) sum = STEP(a[k], b[(size_t)k * columns], sum);
        C[at] = sum;
    }
}

#elif VARIANT == VARIANT_TILED

// A workgroup is a tile of C, a work-item an entry of it. TILE entries of the rows of A and of
// the columns of B are in local memory at a time: 2 TILE^2 nums.
__kernel void multiply(__global const num *restrict A, __global const num *restrict B,
                       __global num *restrict C, const uint rows, const uint inner,
                       const uint columns, const uint copies)
{
    const uint tiles = get_num_groups(1) / copies;
    const uint copy = get_group_id(1) / tiles, x = get_local_id(0), y = get_local_id(1);
    const uint row = get_group_id(1) % tiles * TILE + y, column = get_group_id(0) * TILE + x;
    __global const num *mine = A + ((size_t)copy * rows + min(row, rows - 1u)) * inner;
    __global const num *other = B + (size_t)copy * inner * columns + min(column, columns - 1u);
    __local num *a = local_malloc(TILE * TILE * sizeof(num));
    __local num *b = local_malloc(TILE * TILE * sizeof(num));
    num sum = NUM(0.0);
    uint first = 0;
    do {
        const uint length = min(inner - first, (uint)TILE);
        if (x < length) a[y * TILE + x] = mine[first + x];
        if (y < length) b[y * TILE + x] = other[(size_t)(first + y) * columns];
        barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are complete, before they are multiplied
        for (uint k = 0; k < length; ++k) sum = STEP(a[y * TILE + k], b[k * TILE + x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used, before they are replaced
        first += TILE;
    } while (first < inner);
    if (row < rows && column < columns) C[((size_t)copy * rows + row) * columns + column] = sum;
}

#elif VARIANT == VARIANT_BLOCKED

#include "physics/matmul/blocked.cl"

#else

// For CPUs, where a workgroup is one work-item alone. It keeps TALL rows of PANEL columns of C in
// registers and reads A and B in the order in which they lie in memory after they were packed: A in
// blocks of TALL rows, B in panels of PANEL columns, both k after k. Panels are read CHUNK steps at
// a time by all rows of a band, so that they stay in the first cache meanwhile, and the band's part
// of A in the second one.
// No local memory, no barriers.
#define PANEL (VECTORS * WIDTH)

#if WIDTH == 16
typedef num16 vec_t;
#elif WIDTH == 8
typedef num8 vec_t;
#else
typedef num4 vec_t;
#endif
typedef vec_t __attribute__((aligned(sizeof(num)))) unaligned_t;

// A work-item is a block of TALL rows of A; rows that do not exist are the last one.
__kernel void pack_a(__global const num *restrict A, __global num *restrict packed_a,
                     const uint rows, const uint inner, const uint copies)
{
    const uint blocks = (rows + TALL - 1u) / TALL;
    for (size_t block = get_global_id(0); block < (size_t)blocks * copies;
         block += get_global_size(0)) {
        const uint copy = block / blocks, row = block % blocks * TALL;
        __global const num *from = A + (size_t)copy * rows * inner;
        __global num *into = packed_a + block * inner * TALL;
        for (uint r = 0; r < TALL; ++r) {
            __global const num *one = from + (size_t)min(row + r, rows - 1u) * inner;
            for (uint k = 0; k < inner; ++k) into[(size_t)k * TALL + r] = one[k];
        }
    }
}

// A work-item is a panel of B; columns that do not exist are 0.
__kernel void pack_b(__global const num *restrict B, __global num *restrict packed_b,
                     const uint inner, const uint columns, const uint copies)
{
    const uint panels = (columns + PANEL - 1u) / PANEL;
    for (size_t panel = get_global_id(0); panel < (size_t)panels * copies;
         panel += get_global_size(0)) {
        const uint copy = panel / panels, column = panel % panels * PANEL;
        const uint here = min(columns - column, (uint)PANEL);
        __global const num *from = B + (size_t)copy * inner * columns + column;
        __global num *into = packed_b + panel * inner * PANEL;
        for (uint k = 0; k < inner; ++k, from += columns, into += PANEL) {
            if (here == PANEL) {
                for (uint c = 0; c < PANEL; ++c) into[c] = from[c];
            } else {
                for (uint c = 0; c < PANEL; ++c) into[c] = c < here ? from[c] : NUM(0.0);
            }
        }
    }
}

// Asks a CPU for a number that is soon read and written. Its compilers for OpenCL are all Clang,
// and PoCL's `prefetch` does nothing. All steps wait for the sums so far, which lie in C. The
// simulator of the race check has no such function.
#if DEVICE_IS_CPU && !DEVICE_IS_INTERPRETED
#define FETCH(at) __builtin_prefetch((const void *)(size_t)(at), 1)
#else
#define FETCH(at)
#endif

// A workgroup is BAND rows and STRIPE panels of C.
__kernel void multiply(__global const num *restrict packed_a, __global const num *restrict packed_b,
                       __global num *restrict C, const uint rows, const uint inner,
                       const uint columns, const uint copies)
{
    const uint blocks = (rows + TALL - 1u) / TALL, panels = (columns + PANEL - 1u) / PANEL;
    const uint bands = (rows + BAND - 1u) / BAND, stripes = (panels + STRIPE - 1u) / STRIPE;
    const uint group = get_group_id(0), copy = group / stripes / bands;
    const uint begin = group / stripes % bands * (BAND / TALL);
    const uint end = min(begin + BAND / TALL, blocks);
    const uint begin_panel = group % stripes * STRIPE;
    const uint end_panel = min(begin_panel + STRIPE, panels);
    __global const num *left = packed_a + (size_t)copy * blocks * inner * TALL;
    __global const num *right = packed_b + (size_t)copy * panels * inner * PANEL;
    uint first = 0;
    do {
        const uint length = min(inner - first, (uint)CHUNK);
        for (uint panel = begin_panel; panel < end_panel; ++panel) {
            const uint here = min(columns - panel * PANEL, (uint)PANEL);
            __global const num *b_first = right + ((size_t)panel * inner + first) * PANEL;
            for (uint block = begin; block < end; ++block) {
                const uint tall = min(rows - block * TALL, (uint)TALL);
                __global const num *a = left + ((size_t)block * inner + first) * TALL;
                __global const num *b = b_first;
                __global num *c =
                    C + ((size_t)copy * rows + block * TALL) * columns + panel * PANEL;
                vec_t sum[TALL][VECTORS];
                num row_of[PANEL];
#pragma unroll
                for (uint r = 0; r < TALL; ++r)
#pragma unroll
                    for (uint v = 0; v < VECTORS; ++v) sum[r][v] = (vec_t)(NUM(0.0));
                if (first > 0 && here == PANEL && tall == TALL) {
#pragma unroll
                    for (uint r = 0; r < TALL; ++r)
#pragma unroll
                        for (uint v = 0; v < VECTORS; ++v)
                            sum[r][v] = *(__global const unaligned_t *)(c + (size_t)r * columns +
                                                                        v * WIDTH);
                } else if (first > 0) {
#pragma unroll
                    for (uint r = 0; r < TALL; ++r)
                        if (r < tall) {
                            for (uint i = 0; i < PANEL; ++i)
                                row_of[i] = i < here ? c[(size_t)r * columns + i] : NUM(0.0);
#pragma unroll
                            for (uint v = 0; v < VECTORS; ++v)
                                sum[r][v] = *(const unaligned_t *)(row_of + v * WIDTH);
                        }
                }
                if (block + 1u < end && (block + 2u) * TALL <= rows) {
                    __global const num *soon = c + (size_t)TALL * columns;
#pragma unroll
                    for (uint r = 0; r < TALL; ++r) {
                        FETCH(soon + (size_t)r * columns);
                        FETCH(soon + (size_t)r * columns + here - 1u);
                    }
                }
                for (uint k = 0; k < length; ++k, a += TALL, b += PANEL) {
                    vec_t factor[VECTORS];
#pragma unroll
                    for (uint v = 0; v < VECTORS; ++v)
                        factor[v] = *(__global const vec_t *)(b + v * WIDTH);
#pragma unroll
                    for (uint r = 0; r < TALL; ++r) {
                        const vec_t every = (vec_t)(a[r]);
#pragma unroll
                        for (uint v = 0; v < VECTORS; ++v)
                            sum[r][v] = STEP(every, factor[v], sum[r][v]);
                    }
                }
                if (here == PANEL && tall == TALL) {
#pragma unroll
                    for (uint r = 0; r < TALL; ++r)
#pragma unroll
                        for (uint v = 0; v < VECTORS; ++v)
                            *(__global unaligned_t *)(c + (size_t)r * columns + v * WIDTH) =
                                sum[r][v];
                } else {
#pragma unroll
                    for (uint r = 0; r < TALL; ++r)
                        if (r < tall) {
#pragma unroll
                            for (uint v = 0; v < VECTORS; ++v)
                                *(unaligned_t *)(row_of + v * WIDTH) = sum[r][v];
                            for (uint i = 0; i < here; ++i) c[(size_t)r * columns + i] = row_of[i];
                        }
                }
            }
        }
        first += CHUNK;
    } while (first < inner);
}

#endif
