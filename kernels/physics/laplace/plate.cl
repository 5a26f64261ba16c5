// What do all phases know of a plate? Its cells, and which of them are free.
// Twin: reference_py/physics/laplace/plate.py.
//
// A plate has ROWS x COLUMNS cells, row after row; a launch has `copies` plates, one after
// another. The plates share the workgroups evenly: each has n / copies of n of them, its parts.
// Macros: ROWS, COLUMNS, VARIANT, and those of num.cl.
#ifndef PHYSICS_LAPLACE_PLATE_CL
#define PHYSICS_LAPLACE_PLATE_CL

#include "primitives/num.cl"

#define CELLS ((size_t)ROWS * COLUMNS)
#define RUNNING -1l  // `ended` of a plate that has not met its tolerance

// The form `seed` has the mask of its original, an int for every cell.
#if VARIANT == VARIANT_SEED
typedef int mask_t;
#else
typedef uchar mask_t;
#endif

#endif
