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

// For GPUs. A workgroup is a block of C of WARPS_Y x WARPS_X parts, one for each warp. A work-item
// has TALL rows and WIDE columns of a part in registers, in squares of 4 x 4 that lie LANES_Y or
// LANES_X squares apart, so that neighbours read neighbouring words of local memory, or the same.
// A slice of DEPTH entries of the rows of A, as columns, and of the columns of B is in local memory.
// The next slice is on its way meanwhile, through registers to the other half of local memory, and
// factors are read a step before they are multiplied.
#define BLOCK_ROWS (WARPS_Y * LANES_Y * TALL)
#define BLOCK_COLUMNS (WARPS_X * LANES_X * WIDE)
#define ITEMS (WARPS_Y * LANES_Y * WARPS_X * LANES_X)
#define LINE (BLOCK_ROWS + 4u)  // the columns of A begin in different banks
#define OF_A (DEPTH * LINE)
#define SLICE (OF_A + DEPTH * BLOCK_COLUMNS)
#define QUADS_A (BLOCK_ROWS * DEPTH / 4u / ITEMS)  // of a slice, loaded by a work-item
#define QUADS_B (BLOCK_COLUMNS * DEPTH / 4u / ITEMS)

// Quad i of a work-item: in which row of A or of B of the slice, and from which entry of it on.
#define ROW_A(i) ((lid + (i) * ITEMS) / (DEPTH / 4u))
#define AT_A(i) ((lid + (i) * ITEMS) % (DEPTH / 4u) * 4u)
#define ROW_B(i) ((lid + (i) * ITEMS) / (BLOCK_COLUMNS / 4u))
#define AT_B(i) ((lid + (i) * ITEMS) % (BLOCK_COLUMNS / 4u) * 4u)

// FOURS is the length of a row with the entries that make it whole fours.
#if ROWS_ARE_ALIGNED
#define LEFT A
#define RIGHT B
#define FOURS(length) (length)
#else
// Rows that are no whole fours of entries are copied first to rows that are. The steps that come
// with them are of 0 and -0, and columns are of any number.
#define LEFT aligned_a
#define RIGHT aligned_b
#define FOURS(length) (((length) + 3u) / 4u * 4u)

static void align(__global const num *from, __global num *into, const uint rows, const uint columns,
                  const uint rows_into, const size_t copies, const num filler)
{
    const uint width = FOURS(columns);
    const size_t entries = copies * rows_into * width;
    for (size_t at = get_global_id(0); at < entries; at += get_global_size(0)) {
        const size_t line = at / width, copy = line / rows_into;
        const uint row = line - copy * rows_into, column = at - line * width;
        into[at] = row >= rows        ? filler
                   : column < columns ? from[(copy * rows + row) * columns + column]
                                      : NUM(0.0);
    }
}

__kernel void align_a(__global const num *restrict A, __global num *restrict aligned_a,
                      const uint rows, const uint inner, const uint copies)
{
    align(A, aligned_a, rows, inner, rows, copies, NUM(0.0));
}

__kernel void align_b(__global const num *restrict B, __global num *restrict aligned_b,
                      const uint inner, const uint columns, const uint copies)
{
    align(B, aligned_b, inner, columns, FOURS(inner), copies, -NUM(0.0));
}
#endif

// Four entries of a row of `length` from `at` on, or the last ones: what comes of those is not
// stored.
INLINED num4 quad_of(__global const num *row, const uint at, const uint length)
{
    return *(__global const num4 *)(row + min(at, length - 4u));
}

// Reads a work-item's quads of the next slice, which is full, and moves to the one after it.
INLINED void next_slice(__global const num **left, __global const num **right, const uint lid,
                        const uint column, const uint width, num4 *next_a, num4 *next_b)
{
#pragma unroll
    for (uint i = 0; i < QUADS_A; ++i) {
        next_a[i] = quad_of(left[i], AT_A(i), DEPTH);
        left[i] += DEPTH;
    }
#pragma unroll
    for (uint i = 0; i < QUADS_B; ++i) {
        next_b[i] = quad_of(right[i], column + AT_B(i), width);
        right[i] += (size_t)DEPTH * width;
    }
}

INLINED void write_slice(__local num *slice, const num4 *next_a, const num4 *next_b, const uint lid)
{
#pragma unroll
    for (uint i = 0; i < QUADS_A; ++i) {
        __local num *column = slice + AT_A(i) * LINE + ROW_A(i);
        column[0] = next_a[i].x;
        column[LINE] = next_a[i].y;
        column[2u * LINE] = next_a[i].z;
        column[3u * LINE] = next_a[i].w;
    }
#pragma unroll
    for (uint i = 0; i < QUADS_B; ++i)
        *(__local num4 *)(slice + OF_A + ROW_B(i) * BLOCK_COLUMNS + AT_B(i)) = next_b[i];
}

// Reads four numbers from local memory at once.
INLINED void read_quad(const __local num *from, num *into)
{
    const num4 quad = *(const __local num4 *)from;
    into[0] = quad.x;
    into[1] = quad.y;
    into[2] = quad.z;
    into[3] = quad.w;
}

// Reads the factors of step k of a slice for the part of C that begins at row y and column x.
INLINED void read_factors(const __local num *slice, const uint k, const uint y, const uint x,
                          num *factors, num *others)
{
#pragma unroll
    for (uint i = 0; i < TALL; i += 4u)
        read_quad(slice + k * LINE + y + i * LANES_Y, factors + i);
#pragma unroll
    for (uint i = 0; i < WIDE; i += 4u)
        read_quad(slice + OF_A + k * BLOCK_COLUMNS + x + i * LANES_X, others + i);
}

// Adds one product to each sum. Neighbouring sums have a factor in common, which the processor then
// keeps at hand: a sum takes three numbers, and registers deliver two in the time of a sum.
INLINED void add_products(const num *factors, const num *others, num *sum)
{
#pragma unroll
    for (uint r = 0; r < TALL; ++r)
#pragma unroll
        for (uint i = 0; i < WIDE; ++i) {
            const uint c = r % 2u ? WIDE - 1u - i : i;
            sum[r * WIDE + c] = STEP(factors[r], others[c], sum[r * WIDE + c]);
        }
}

__kernel void multiply(__global const num *restrict LEFT, __global const num *restrict RIGHT,
                       __global num *restrict C, const uint rows, const uint inner,
                       const uint columns, const uint copies)
{
    const uint blocks = get_num_groups(1) / copies, copy = get_group_id(1) / blocks;
    const uint row = get_group_id(1) % blocks * BLOCK_ROWS;
    const uint column = get_group_id(0) * BLOCK_COLUMNS, lid = get_local_id(0);
    const uint warp = lid / (LANES_Y * LANES_X), lane = lid % (LANES_Y * LANES_X);
    const uint y = warp / WARPS_X * (LANES_Y * TALL) + lane / LANES_X * 4u;
    const uint x = warp % WARPS_X * (LANES_X * WIDE) + lane % LANES_X * 4u;
    __global const num *left[QUADS_A], *right[QUADS_B];
    __local num *now = local_malloc(SLICE * sizeof(num));
    __local num *then = local_malloc(SLICE * sizeof(num));
    num4 next_a[QUADS_A], next_b[QUADS_B];
    num sum[TALL * WIDE], factors[2][TALL], others[2][WIDE];
#pragma unroll
    for (uint i = 0; i < TALL * WIDE; ++i) sum[i] = NUM(0.0);
    // The first slice has what the others leave over, and then steps of 0 and -0.
    const uint steps = FOURS(inner), width = FOURS(columns);
    uint done = steps % DEPTH;
    if (done == 0u) done = min(steps, (uint)DEPTH);
#pragma unroll
    for (uint i = 0; i < QUADS_A; ++i) {
        const uint k = AT_A(i);
        left[i] = LEFT + ((size_t)copy * rows + min(row + ROW_A(i), rows - 1u)) * steps;
        next_a[i] = k < done ? quad_of(left[i], k, steps) : (num4)(NUM(0.0));
        left[i] += done;
    }
#pragma unroll
    for (uint i = 0; i < QUADS_B; ++i) {
        right[i] = RIGHT + ((size_t)copy * steps + ROW_B(i)) * width;
        next_b[i] = ROW_B(i) < done ? quad_of(right[i], column + AT_B(i), width)
                                    : (num4)(-NUM(0.0));
        right[i] += (size_t)done * width;
    }
    write_slice(now, next_a, next_b, lid);
    barrier(CLK_LOCAL_MEM_FENCE);  // the first slice is complete, before factors are read from it
    read_factors(now, 0u, y, x, factors[0], others[0]);
    do {
        if (done < steps) next_slice(left, right, lid, column, width, next_a, next_b);
#pragma unroll
        for (uint k = 1; k < DEPTH; ++k) {
            read_factors(now, k, y, x, factors[k % 2u], others[k % 2u]);
            add_products(factors[1u - k % 2u], others[1u - k % 2u], sum);
        }
        write_slice(then, next_a, next_b, lid);
        // The next slice is complete, before factors are read from it. What was read from the same
        // memory for the slice before this one, was read before the barrier then.
        barrier(CLK_LOCAL_MEM_FENCE);
        read_factors(then, 0u, y, x, factors[0], others[0]);
        add_products(factors[1], others[1], sum);
        __local num *used = now;
        now = then;
        then = used;
        done += DEPTH;
    } while (done < steps + DEPTH);
#pragma unroll
    for (uint i = 0; i < TALL; ++i) {
        const uint r = row + y + i / 4u * (4u * LANES_Y) + i % 4u;
        if (r < rows) {
            __global num *into = C + ((size_t)copy * rows + r) * columns;
#pragma unroll
            for (uint j = 0; j < WIDE; j += 4u) {
                const uint c = column + x + j * LANES_X;
                const num *quad = sum + i * WIDE + j;
#if ROWS_ARE_ALIGNED
                if (c < columns)
                    *(__global num4 *)(into + c) = (num4)(quad[0], quad[1], quad[2], quad[3]);
#else
                if (c < columns) into[c] = quad[0];
                if (c + 1u < columns) into[c + 1u] = quad[1];
                if (c + 2u < columns) into[c + 2u] = quad[2];
                if (c + 3u < columns) into[c + 3u] = quad[3];
#endif
            }
        }
    }
}

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
