// What does the rule (rule.cl) make of four cells of a row at a time? Forms for GPUs take them so.
// Twin: none; each of the four becomes what rule.cl makes of it.
//
// Macros: those of rule.cl. No local memory, no barriers.
#ifndef PHYSICS_LAPLACE_FOURS_CL
#define PHYSICS_LAPLACE_FOURS_CL

#include "physics/laplace/rule.cl"

// Four cells of a row.
#if NUM_IS_DOUBLE
typedef double4 num4;
#else
typedef float4 num4;
#endif

// What the rule makes of four cells of a row, given the cells around them.
INLINED num4 ruled_four(const num factor, const num4 cells, const num left, const num right,
                        const num4 below, const num4 above)
{
    const num4 east = (num4)(cells.y, cells.z, cells.w, right);
    const num4 west = (num4)(left, cells.x, cells.y, cells.z);
    return RULED(factor, cells, ((east + west) + below) + above);
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
