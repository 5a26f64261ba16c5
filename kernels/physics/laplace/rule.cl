// What does a free cell become, given the sum of its four neighbours?
// Twin: reference_py/physics/laplace/rule.py.
//
// Macros: METHOD_IS_HEAT, P(ratio); METHOD_IS_SOR, P(omega); and those of num.cl.
#ifndef PHYSICS_LAPLACE_RULE_CL
#define PHYSICS_LAPLACE_RULE_CL

#include "physics/laplace/plate.cl"

// For nums and for vectors of them.
#if METHOD_IS_HEAT
#define RULED(cell, around) ((cell) + NUM(P(ratio)) * ((around) - NUM(4.0) * (cell)))
#elif METHOD_IS_SOR
#define RULED(cell, around) ((cell) + NUM(P(omega)) * (NUM(0.25) * (around) - (cell)))
#else
#define RULED(cell, around) (NUM(0.25) * (around))
#endif

// What the rule makes of four cells of a row, given the cells around them.
INLINED num4 ruled_four(const num4 cells, const num left, const num right, const num4 below,
                        const num4 above)
{
    const num4 east = (num4)(cells.y, cells.z, cells.w, right);
    const num4 west = (num4)(left, cells.x, cells.y, cells.z);
    return RULED(cells, ((east + west) + below) + above);
}

// Four cells, of which those have changed whose bit is set in `moves`.
INLINED num4 where_free(const uint moves, const num4 changed, const num4 cells)
{
    return (num4)(moves & 1u ? changed.x : cells.x, moves & 2u ? changed.y : cells.y,
                  moves & 4u ? changed.z : cells.z, moves & 8u ? changed.w : cells.w);
}

// The marks of four cells, 1 or 0 each, as bits.
INLINED uint bits_of(const uchar4 marks)
{
    return marks.x | (uint)marks.y << 1 | (uint)marks.z << 2 | (uint)marks.w << 3;
}

#endif
