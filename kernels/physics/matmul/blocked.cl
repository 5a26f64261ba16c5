// blocked.cl: what is the product of two matrices, bit by bit, on a GPU? A form of multiply.cl.
// Twin: reference_py/physics/matmul/multiply.py.
//
// A workgroup is a block of C of WARPS_Y x WARPS_X parts, one for each warp. A work-item
// has TALL rows and WIDE columns of a part in registers, in squares of 4 x 4 that lie LANES_Y or
// LANES_X squares apart, so that neighbours read neighbouring words of local memory, or the same.
// A slice of DEPTH entries of the rows of A, as columns, and of the columns of B is in local
// memory. The next slice is on its way meanwhile, through registers to the other half of local
// memory, and factors are read a step before they are multiplied. STEP is that of multiply.cl.

#include "primitives/fused.cl"

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
    for (uint i = 0; i < TALL; i += 4u) read_quad(slice + k * LINE + y + i * LANES_Y, factors + i);
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
        next_b[i] =
            ROW_B(i) < done ? quad_of(right[i], column + AT_B(i), width) : (num4)(-NUM(0.0));
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
