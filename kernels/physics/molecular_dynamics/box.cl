// What do all phases know of a box of atoms? Its size, its atoms, who works on which of them.
// Twin: reference_py/physics/molecular_dynamics/box.py.
//
// A copy has ATOMS atoms in a periodic cube; a launch has `copies` boxes, one after another. A
// workgroup takes PART atoms of a box, a work-item every n-th of them, of n work-items; on a CPU a
// work-item alone takes all of them (group.cl).
// Macros: ATOMS, PART, BLOCK, BLOCKS, P(length), and those of num.cl.
#ifndef PHYSICS_MOLECULAR_DYNAMICS_BOX_CL
#define PHYSICS_MOLECULAR_DYNAMICS_BOX_CL

#include "primitives/group.cl"
#include "primitives/num.cl"

#define LENGTH NUM(P(length))

// Workgroups of a box, the box of a workgroup, and the numbers FIRST .. LAST - 1 of its atoms.
#define PARTS ((uint)((ATOMS + PART - 1) / PART))
#define BOX ((size_t)(get_group_id(0) / PARTS))
#define FIRST ((uint)(get_group_id(0) % PARTS) * PART)
#define LAST min(FIRST + PART, (uint)ATOMS)

#define FINE -1l  // `failed` of a box in which no atom is too close to another one

// A position is a num4: with a fourth number, which is of no importance, it is read at once. A GPU
// has the type from fused.cl.
#if !DEVICE_IS_CPU
#include "primitives/fused.cl"
#elif NUM_IS_DOUBLE
typedef double4 num4;
#else
typedef float4 num4;
#endif

// The NaN that a place outside the box becomes; that of the language has other bits elsewhere.
#if NUM_IS_DOUBLE
#define LOST as_double(0x7ff8000000000000ul)
#else
#define LOST as_float(0x7fc00000u)
#endif

// Whether a coordinate is inside the box; NaN is not.
static bool inside(const num x)
{
    return x >= NUM(0.0) && x < LENGTH;
}

// The same coordinate inside the box; NaN for what is further away than its length.
static num wrapped(num x)
{
    x = x >= LENGTH ? x - LENGTH : x;
    x = x < NUM(0.0) ? x + LENGTH : x;
    x = x == LENGTH ? NUM(0.0) : x;  // what was just below 0, and is rounded
    return inside(x) ? x : LOST;
}

#endif
