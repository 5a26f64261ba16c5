// In which cell of the box is an atom, and which atoms are in a cell?
// Twin: reference_py/physics/molecular_dynamics/cells.py.
//
// The box is cut into SIDE^3 cells at least as wide as pairs are looked for, so an atom's partners
// are in its cell and the 26 around it. Launches, in order: no cell has an atom; atoms are counted;
// running sums of the counts, within blocks of cells and over blocks; atoms are placed. There is no
// capacity. The order of atoms in a cell is free, as sums of forces do not depend on it.
//
// A box whose lists or sorted atoms are still valid (drift.cl) is left as it is by all of them, but
// before the first step and after the last one, when it is not known. `valid` is 0 in other
// variants than `list` and `sorted`.
// Macros: SIDE, CELL_BLOCKS, VARIANT.
#ifndef PHYSICS_MOLECULAR_DYNAMICS_CELLS_CL
#define PHYSICS_MOLECULAR_DYNAMICS_CELLS_CL

#include "physics/molecular_dynamics/pair.cl"

#define CELLS ((uint)SIDE * SIDE * SIDE)
#define CELL_BLOCK 256u  // at most WIDE_BLOCK (wide.cl)
#define IS_PLACED(box) (valid[box] != 0u && tick > 0)

// Whether places hold for some steps, so that atoms are copied to them when they move.
#define PLACES_STAY (VARIANT == VARIANT_LIST || VARIANT == VARIANT_SORTED)

// Places of a box in `packed`, and of each axis in `lanes`: some more than atoms, which are far
// from all of them.
#define MORE_PLACES (2u * WIDTH)
#define PACKED ((size_t)ATOMS + MORE_PLACES)
#define FAR (NUM(4.0) * LENGTH)

// A place as others read it; an atom that left the box is far from all others.
static num4 packed_place(const num x, const num y, const num z)
{
    const bool in = inside(x) && inside(y) && inside(z);
    return in ? (num4)(x, y, z, NUM(0.0)) : (num4)(FAR, FAR, FAR, NUM(0.0));
}

// Number of the cell along an axis; NaN is in the first one.
static uint cell_of(const num x)
{
    const num along = x > NUM(0.0) ? x * NUM_DIV(NUM(SIDE), LENGTH) : NUM(0.0);
    return (uint)(along < NUM(SIDE - 1) ? along : NUM(SIDE - 1));
}

// The atoms of a cell are those of the places cell_begin .. cell_end - 1 of the order. While atoms
// are placed, `start` grows from the first of a cell to that behind its last, within its block.
#define CELL_END(start, totals, cell) ((totals)[(cell) / CELL_BLOCK] + (start)[cell])
#define CELL_BEGIN(start, totals, cell) ((cell) == 0u ? 0u : CELL_END(start, totals, (cell) - 1u))

// The cell next to another one along an axis, -1, 0 or 1 further, around the box.
static uint in_background(const uint cell, const int further)
{
    const int to = (int)cell + further;
    return (uint)(to < 0 ? to + SIDE : to >= SIDE ? to - SIDE : to);
}

// One of the 27 cells around and at a cell.
static uint around(const uint cell, const int number)
{
    const uint x = cell % SIDE, y = cell / SIDE % SIDE, z = cell / (SIDE * SIDE);
    const uint row = in_background(z, number / 9 - 1) * SIDE + in_background(y, number / 3 % 3 - 1);
    return row * SIDE + in_background(x, number % 3 - 1);
}

#endif
