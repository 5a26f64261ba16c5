// What is in a random matrix? Uniform numbers of 24 bits between -1 and 1, a stream for each row.
// Twin: reference_py/physics/matmul/fill.py.
//
// A work-item takes STRETCH entries of a row, to which it skips. No local memory, no barriers.
// Macros: STRETCH, and those of num.cl.
#include "primitives/num.cl"
#include "primitives/rng.cl"

// Entries of row r are drawn from stream `first_stream` + 2 r of each product.
static void fill_random(__global num *matrix, const uint rows, const uint columns,
                        const uint copies, const ulong stream_base, const ulong stream_gap,
                        const ulong streams, const ulong first_stream)
{
    const size_t stretches = (columns + STRETCH - 1u) / STRETCH;
    const size_t items = stretches * rows * copies;
    for (size_t item = get_global_id(0); item < items; item += get_global_size(0)) {
        const size_t row = item / stretches, copy = row / rows;
        const uint from = (uint)(item % stretches) * STRETCH;
        const uint until = min(from + STRETCH, columns);
        const ulong stream = copy * streams + 2ul * (row - copy * rows) + first_stream;
        rng_t rng = rng_seed(stream_base, stream_gap, stream);
        rng_skip(&rng, from);
        for (uint column = from; column < until; ++column)
            matrix[row * columns + column] = (num)(rng_next(&rng) >> 8) * NUM(0x1p-23) - NUM(1.0);
    }
}

__kernel void fill_a(__global num *A, const uint rows, const uint inner, const uint copies,
                     const ulong stream_base, const ulong stream_gap, const ulong streams,
                     const ulong first_product)
{
    fill_random(A, rows, inner, copies, stream_base, stream_gap, streams, first_product * streams);
}

__kernel void fill_b(__global num *B, const uint inner, const uint columns, const uint copies,
                     const ulong stream_base, const ulong stream_gap, const ulong streams,
                     const ulong first_product)
{
    fill_random(B, inner, columns, copies, stream_base, stream_gap, streams,
                first_product * streams + 1ul);
}
