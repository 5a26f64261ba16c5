// What does a free cell become, given the sum of its four neighbours?
// Twin: reference_py/physics/laplace/rule.py.
//
// Macros: METHOD_IS_HEAT, P(ratio); METHOD_IS_SOR, P(omega); and those of num.cl.
#ifndef PHYSICS_LAPLACE_RULE_CL
#define PHYSICS_LAPLACE_RULE_CL

#include "primitives/num.cl"

// For nums and for vectors of them.
#if METHOD_IS_HEAT
#define RULED(cell, around) ((cell) + NUM(P(ratio)) * ((around) - NUM(4.0) * (cell)))
#elif METHOD_IS_SOR
#define RULED(cell, around) ((cell) + NUM(P(omega)) * (NUM(0.25) * (around) - (cell)))
#else
#define RULED(cell, around) (NUM(0.25) * (around))
#endif

#endif
