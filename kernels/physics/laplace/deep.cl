// What are several steps of a plate? Those of a tile, one after the other, without global memory.
// Twin: reference_py/physics/laplace/deep.py.
//
// A workgroup is a tile of TALL x TILE cells in local memory, of which it keeps those that are
// DEPTH or more away from the tile's edge: what the edge lacks reaches one cell further with every
// step. `steps` is DEPTH at most; with DEPTH 1 this is the form `tiled` of a single step. A
// work-item is every n-th cell, of n work-items. A plate that has ended is carried over unchanged.
// Local memory: two nums and a byte for each cell. Macros: TILE, TALL, DEPTH, and those of
// plate.cl.
#include "physics/laplace/plate.cl"
#include "physics/laplace/rule.cl"
#include "primitives/group.cl"

#define KEPT_WIDE (TILE - 2 * DEPTH)
#define KEPT_TALL (TALL - 2 * DEPTH)

// On a CPU a work-item alone takes eight cells of a row at a time; those at its ends, which have
// no neighbours there, are as wrong as others of the tile's edge. PoCL 3.0 compiles neither
// sixteen at a time nor double8.
#define IN_EIGHTS (DEVICE_IS_CPU && !NUM_IS_DOUBLE)

typedef float8 cells_t;
typedef cells_t __attribute__((aligned(sizeof(float)))) loose_t;
typedef char8 __attribute__((aligned(1))) moves_t;

#define AT(cell) (*(const __local loose_t *)(cell))

// A step of one row of the tile; `result` is no part of what is read.
INLINED void step_row(const __local num *restrict cell, __local num *restrict result,
                      const __local char *restrict move)
{
#if IN_EIGHTS
    for (int i = 0; i < TILE; i += 8) {
        const cells_t around =
            ((AT(cell + i + 1) + AT(cell + i - 1)) + AT(cell + i + TILE)) + AT(cell + i - TILE);
        const cells_t old = AT(cell + i), value = RULED(old, around);
        const moves_t moves = *(const __local moves_t *)(move + i);
        *(__local loose_t *)(result + i) = select(old, value, convert_int8(moves));
    }
#else
    for (int i = 1 + (int)LANE; i < TILE - 1; i += (int)LANES) {
        const num around = ((cell[i + 1] + cell[i - 1]) + cell[i + TILE]) + cell[i - TILE];
        const num value = RULED(cell[i], around);
        result[i] = move[i] ? value : cell[i];
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
    for (int column = (int)LANE; column < begin; column += (int)LANES) {
        one[column] = other[column] = NUM(0.0);
        move[column] = 0;
    }
    for (int column = begin + (int)LANE; column < end; column += (int)LANES) {
        one[column] = cells[column];
        other[column] = cells[column];
    }
    for (int column = begin + (int)LANE; column < end; column += (int)LANES)
        move[column] = marks[column] ? runs : (char)0;
    for (int column = end + (int)LANE; column < TILE; column += (int)LANES) {
        one[column] = other[column] = NUM(0.0);
        move[column] = 0;
    }
}

__kernel void deep(__global const num *restrict phi, __global num *restrict next,
                   __global const mask_t *restrict free, __global const long *restrict ended,
                   const uint steps)
{
    const int across = (COLUMNS + KEPT_WIDE - 1) / KEPT_WIDE;
    const int down = (ROWS + KEPT_TALL - 1) / KEPT_TALL;
    const int tile = (int)(get_group_id(0) % (across * down));
    const size_t plate = get_group_id(0) / (across * down);
    const int top = tile / across * KEPT_TALL - DEPTH, left = tile % across * KEPT_WIDE - DEPTH;
    // Cells of the tile that are on the plate.
    const int first_row = max(0, -top), rows = min((int)TALL, ROWS - top);
    const int first_column = max(0, -left), columns = min((int)TILE, COLUMNS - left);
    __global const num *restrict old = phi + plate * CELLS;
    __global num *restrict updated = next + plate * CELLS;
    __global const mask_t *restrict mask = free + plate * CELLS;
    const bool runs = ended[plate] == RUNNING;
    __local num *from = local_malloc(TALL * TILE * sizeof(num));
    __local num *into = local_malloc(TALL * TILE * sizeof(num));
    __local char *moves = local_malloc(TALL * TILE * sizeof(char));
    for (int row = 0; row < TALL; ++row) {
        const bool there = row >= first_row && row < rows;
        const size_t at = there ? (size_t)(top + row) * COLUMNS : 0;
        const int begin = there ? first_column : TILE, end = there ? columns : TILE;
        load_row(old + at + left, mask + at + left, runs ? -1 : 0, from + row * TILE,
                 into + row * TILE, moves + row * TILE, begin, end);
    }
    uint step = 0;
    do {
        group_barrier(
            CLK_LOCAL_MEM_FENCE);  // all cells of the step before, before their neighbours
        const int until = TALL - 1 - (int)step;
        for (int row = 1 + (int)step; row < until; ++row)
            step_row(from + row * TILE, into + row * TILE, moves + row * TILE);
        __local num *other = from;
        from = into;
        into = other;
        ++step;
    } while (step < steps);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the last step, before others store its cells
    int end_row = min((int)(TALL - DEPTH), rows);
    const int end_column = min((int)(TILE - DEPTH), columns);
#if IN_EIGHTS
    const bool whole = left + DEPTH + KEPT_WIDE <= COLUMNS && KEPT_WIDE % 8 == 0;
    for (int row = DEPTH; whole && row < end_row; ++row)
        for (int i = DEPTH; i < DEPTH + KEPT_WIDE; i += 8)
            *(__global loose_t *)(updated + (size_t)(top + row) * COLUMNS + (left + i)) =
                AT(from + row * TILE + i);
    if (whole) end_row = 0;
#endif
    for (int row = DEPTH; row < end_row; ++row)
        for (int column = DEPTH + (int)LANE; column < end_column; column += (int)LANES)
            updated[(size_t)(top + row) * COLUMNS + (left + column)] = from[row * TILE + column];
    local_free(TALL * TILE * sizeof(char));
    local_free(TALL * TILE * sizeof(num));
    local_free(TALL * TILE * sizeof(num));
}
