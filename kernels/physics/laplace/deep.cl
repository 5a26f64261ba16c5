// What are several steps of a plate? Those of a tile, one after the other, without global memory.
// Twin: reference_py/physics/laplace/deep.py.
//
// A workgroup is a tile, of which it keeps the cells that are DEPTH or more away from the tile's
// edge: what the edge lacks reaches one cell further with every step. `steps` is DEPTH at most;
// with DEPTH 1 this is the form `tiled` of a single step. A plate that has ended is carried over
// unchanged. Macros: DEPTH, TILE, TALL, and those of plate.cl.
#include "physics/laplace/fours.cl"
#include "physics/laplace/plate.cl"
#include "physics/laplace/rule.cl"
#include "primitives/group.cl"

#if DEVICE_IS_CPU

// One work-item has a tile of TALL x TILE cells in local memory: two nums and a byte for each.
#define INNER_WIDE (TILE - 2 * DEPTH)
#define INNER_TALL (TALL - 2 * DEPTH)

// Eight cells of a row are taken at a time; those at its ends, which lack a neighbour, are
// as wrong as others of the tile's edge. PoCL 3.0 compiles neither sixteen at a time nor double8.
#define IN_EIGHTS !NUM_IS_DOUBLE

typedef float8 cells_t;
typedef cells_t __attribute__((aligned(sizeof(float)))) loose_t;
typedef char8 __attribute__((aligned(1))) moves_t;

#define AT(cell) (*(const __local loose_t *)(cell))

// A step of one row of the tile; `result` is no part of what is read.
INLINED void step_row(const num factor, const __local num *restrict cell,
                      __local num *restrict result, const __local char *restrict move)
{
#if IN_EIGHTS
    for (int i = 0; i < TILE; i += 8) {
        const cells_t around =
            ((AT(cell + i + 1) + AT(cell + i - 1)) + AT(cell + i + TILE)) + AT(cell + i - TILE);
        const cells_t old = AT(cell + i), value = RULED(factor, old, around);
        const moves_t moves = *(const __local moves_t *)(move + i);
        *(__local loose_t *)(result + i) = select(old, value, convert_int8(moves));
    }
#else
    for (int i = 1; i < TILE - 1; ++i) {
        const num old = cell[i];  // read whether it moves or not (sweep.cl says why)
        const num around = ((cell[i + 1] + cell[i - 1]) + cell[i + TILE]) + cell[i - TILE];
        const num value = RULED(factor, old, around);
        result[i] = move[i] ? value : old;
    }
#endif
}

// A row of the tile: its cells from `begin` to before `end`, and 0 for those that are on no plate.
INLINED void load_row(__global const num *restrict cells, __global const mask_t *restrict marks,
                      const char runs, __local num *restrict one, __local num *restrict other,
                      __local char *restrict move, const int begin, const int end)
{
#if IN_EIGHTS
    if (begin == 0 && end == TILE) {
        for (int i = 0; i < TILE; i += 8) {
            const cells_t loaded = *(__global const loose_t *)(cells + i);
            const moves_t free = *(__global const moves_t *)(marks + i);
            *(__local loose_t *)(one + i) = loaded;
            *(__local loose_t *)(other + i) = loaded;
            *(__local moves_t *)(move + i) = free * runs;  // 1 becomes -1
        }
        return;
    }
#endif
    for (int column = 0; column < begin; ++column) {
        one[column] = other[column] = NUM(0.0);
        move[column] = 0;
    }
    for (int column = begin; column < end; ++column) {
        one[column] = cells[column];
        other[column] = cells[column];
    }
    for (int column = begin; column < end; ++column) move[column] = marks[column] ? runs : (char)0;
    for (int column = end; column < TILE; ++column) {
        one[column] = other[column] = NUM(0.0);
        move[column] = 0;
    }
}

__kernel void deep(__global const num *restrict phi, __global num *restrict next,
                   __global const mask_t *restrict free, __global const long *restrict ended,
                   const uint steps, __global const real *restrict value_table)
{
    const int across = (COLUMNS + INNER_WIDE - 1) / INNER_WIDE;
    const int down = (ROWS + INNER_TALL - 1) / INNER_TALL;
    const int tile = (int)(get_group_id(0) % (across * down));
    const size_t plate = get_group_id(0) / (across * down);
    const int top = tile / across * INNER_TALL - DEPTH, left = tile % across * INNER_WIDE - DEPTH;
    // Cells of the tile that are on the plate.
    const int first_row = max(0, -top), rows = min((int)TALL, ROWS - top);
    const int first_column = max(0, -left), columns = min((int)TILE, COLUMNS - left);
    __global const num *restrict old = phi + plate * CELLS;
    __global num *restrict updated = next + plate * CELLS;
    __global const mask_t *restrict mask = free + plate * CELLS;
    const bool runs = ended[plate] == RUNNING;
    const num factor = FACTOR;
    __local num *from = local_malloc(TALL * TILE * sizeof(num));
    __local num *into = local_malloc(TALL * TILE * sizeof(num));
    __local char *moves = local_malloc(TALL * TILE * sizeof(char));
    for (int row = 0; row < TALL; ++row) {
        const bool inside = row >= first_row && row < rows;
        const size_t at = inside ? (size_t)(top + row) * COLUMNS : 0;
        const int begin = inside ? first_column : TILE, end = inside ? columns : TILE;
        load_row(old + at + left, mask + at + left, runs ? -1 : 0, from + row * TILE,
                 into + row * TILE, moves + row * TILE, begin, end);
    }
    uint step = 0;
    do {
        const int until = TALL - 1 - (int)step;
        for (int row = 1 + (int)step; row < until; ++row)
            step_row(factor, from + row * TILE, into + row * TILE, moves + row * TILE);
        __local num *other = from;
        from = into;
        into = other;
        ++step;
    } while (step < steps);
    int end_row = min((int)(TALL - DEPTH), rows);
    const int end_column = min((int)(TILE - DEPTH), columns);
#if IN_EIGHTS
    const bool whole = left + DEPTH + INNER_WIDE <= COLUMNS && INNER_WIDE % 8 == 0;
    for (int row = DEPTH; whole && row < end_row; ++row)
        for (int i = DEPTH; i < DEPTH + INNER_WIDE; i += 8)
            *(__global loose_t *)(updated + (size_t)(top + row) * COLUMNS + (left + i)) =
                AT(from + row * TILE + i);
    if (whole) end_row = 0;
#endif
    for (int row = DEPTH; row < end_row; ++row)
        for (int column = DEPTH; column < end_column; ++column)
            updated[(size_t)(top + row) * COLUMNS + (left + column)] = from[row * TILE + column];
}

#else

// A tile is SIDE x SIDE cells, each work-item has four by four of them in registers, and in local
// memory are only the edges of these squares, for the neighbours: 64 bytes and, in single
// precision, again, so that a step has one barrier. There may be more workgroups than tiles,
// which have nothing to do, or fewer. Workgroups have ITEMS work-items. The lowest squares' bottom
// edges have no reader and no place: NVIDIA's OpenCL takes 16 bytes of the 32 KiB itself.
#define SIDE 64
#define INNER (SIDE - 2 * DEPTH)
#define SQUARES (SIDE / 4)
#define ITEMS (SQUARES * SQUARES)
#if NUM_IS_DOUBLE
#define BUFFERS 1
#else
#define BUFFERS 2
#endif
#define TOP 0
#define LEFT ITEMS
#define RIGHT (2 * ITEMS)
#define BOTTOM (3 * ITEMS)
#define EDGES (4 * ITEMS - SQUARES)
#define ALIGNED (COLUMNS % 4 == 0 && DEPTH % 4 == 0)  // all fours begin at multiples of four cells

#define ON_PLATE(column) ((column) >= 0 && (column) < COLUMNS)
#define IS_INNER(place) ((place) >= DEPTH && (place) < SIDE - DEPTH)

// Four cells of a row; 0 for those that are on no plate.
INLINED num4 load_four(__global const num *restrict row, const int column)
{
#if ALIGNED
    return ON_PLATE(column) ? *(__global const num4 *)(row + column) : (num4)(NUM(0.0));
#else
    return (num4)(ON_PLATE(column) ? row[column] : NUM(0.0),
                  ON_PLATE(column + 1) ? row[column + 1] : NUM(0.0),
                  ON_PLATE(column + 2) ? row[column + 2] : NUM(0.0),
                  ON_PLATE(column + 3) ? row[column + 3] : NUM(0.0));
#endif
}

// Bits of those of four cells that are free.
INLINED uint load_bits(__global const mask_t *restrict row, const int column)
{
#if ALIGNED
    return ON_PLATE(column) ? bits_of(*(__global const uchar4 *)(row + column)) : 0u;
#else
    uint found = 0;
    for (int i = 0; i < 4; ++i)
        if (ON_PLATE(column + i)) found |= (uint)row[column + i] << i;
    return found;
#endif
}

// Stores those of four cells that count and are on the plate; `place` is that of the first in the
// tile.
INLINED void store_four(__global num *restrict row, const int column, const int place,
                        const num4 cells)
{
#if ALIGNED
    if (IS_INNER(place) && column < COLUMNS) *(__global num4 *)(row + column) = cells;
#else
    if (IS_INNER(place) && column < COLUMNS) row[column] = cells.x;
    if (IS_INNER(place + 1) && column + 1 < COLUMNS) row[column + 1] = cells.y;
    if (IS_INNER(place + 2) && column + 2 < COLUMNS) row[column + 2] = cells.z;
    if (IS_INNER(place + 3) && column + 3 < COLUMNS) row[column + 3] = cells.w;
#endif
}

__kernel void deep(__global const num *restrict phi, __global num *restrict next,
                   __global const mask_t *restrict free, __global const long *restrict ended,
                   const uint steps, const uint copies, __global const real *restrict value_table)
{
    const uint across = (COLUMNS + INNER - 1) / INNER;
    const uint tiles = across * ((ROWS + INNER - 1) / INNER);
    const uint lane = LANE, x = lane % SQUARES, y = lane / SQUARES;
    // Neighbours; at the tile's edge, where what is computed is wrong, itself.
    const uint west = x > 0 ? lane - 1 : lane, east = x < SQUARES - 1 ? lane + 1 : lane;
    const uint north = y > 0 ? lane - SQUARES : lane;
    const uint south = y < SQUARES - 1 ? lane + SQUARES : lane;
    __local num4 *edges = local_malloc(BUFFERS * EDGES * sizeof(num4));
    size_t tile = get_group_id(0);
    do {
        const bool valid = tile < (size_t)tiles * copies;
        const size_t plate = valid ? tile / tiles : 0;
        const uint place = (uint)(tile % tiles);
        const int top = (int)(place / across * INNER + 4 * y) - DEPTH;
        const int left = (int)(place % across * INNER + 4 * x) - DEPTH;
        const bool runs = ended[plate] == RUNNING;
        const num factor = FACTOR;
        const uint many = valid ? steps : 1u;
        num4 rows[4];
        uint moves = 0;  // a bit for each cell that is free
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            rows[i] = (num4)(NUM(0.0));
            if (valid && top + i >= 0 && top + i < ROWS) {
                const size_t at = plate * CELLS + (size_t)(top + i) * COLUMNS;
                rows[i] = load_four(phi + at, left);
                if (runs) moves |= load_bits(free + at, left) << 4 * i;
            }
        }
        uint step = 0;
        do {
            __local num4 *now = edges + step % BUFFERS * EDGES;
            now[TOP + lane] = rows[0];
            if (y < SQUARES - 1) now[BOTTOM + lane] = rows[3];
            now[LEFT + lane] = (num4)(rows[0].x, rows[1].x, rows[2].x, rows[3].x);
            now[RIGHT + lane] = (num4)(rows[0].w, rows[1].w, rows[2].w, rows[3].w);
            group_barrier(CLK_LOCAL_MEM_FENCE);  // edges of the step before, before they are read
            const num4 above = now[BOTTOM + north], below = now[TOP + south];
            const num4 before = now[RIGHT + west], after = now[LEFT + east];
            const num4 first = ruled_four(factor, rows[0], before.x, after.x, rows[1], above);
            const num4 second = ruled_four(factor, rows[1], before.y, after.y, rows[2], rows[0]);
            const num4 third = ruled_four(factor, rows[2], before.z, after.z, rows[3], rows[1]);
            const num4 fourth = ruled_four(factor, rows[3], before.w, after.w, below, rows[2]);
            if (moves == 0xffffu) {  // the cells of most work-items are all free
                rows[0] = first;
                rows[1] = second;
                rows[2] = third;
                rows[3] = fourth;
            } else {
                rows[0] = where_free(moves, first, rows[0]);
                rows[1] = where_free(moves >> 4, second, rows[1]);
                rows[2] = where_free(moves >> 8, third, rows[2]);
                rows[3] = where_free(moves >> 12, fourth, rows[3]);
            }
#if BUFFERS == 1
            group_barrier(CLK_LOCAL_MEM_FENCE);  // edges are read, before the next are written
#endif
        } while (++step < many);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the last edges are read, before the next tile's
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (valid && IS_INNER((int)(4 * y) + i) && top + i < ROWS)
                store_four(next + plate * CELLS + (size_t)(top + i) * COLUMNS, left, (int)(4 * x),
                           rows[i]);
        tile += get_num_groups(0);
    } while (tile < (size_t)tiles * copies);
}

#endif
