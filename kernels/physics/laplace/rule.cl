// What does a free cell become, given the sum of its four neighbours?
// Twin: reference_py/physics/laplace/rule.py.
//
// Macros: METHOD; of heat P(ratio), of sor P(omega); and those of num.cl. A kernel reads
// FACTOR, of its `plate`, once: in a loop it would be loaded for every cell.
#ifndef PHYSICS_LAPLACE_RULE_CL
#define PHYSICS_LAPLACE_RULE_CL

#include "primitives/num.cl"

// For nums and for vectors of them.
#if METHOD == METHOD_HEAT
#define FACTOR NUM(P(ratio))
#define RULED(factor, cell, around) ((cell) + (factor) * ((around) - NUM(4.0) * (cell)))
#elif METHOD == METHOD_SOR
#define FACTOR NUM(P(omega))
#define RULED(factor, cell, around) ((cell) + (factor) * (NUM(0.25) * (around) - (cell)))
#else
#define FACTOR NUM(0.25)
#define RULED(factor, cell, around) ((factor) * (around))
#endif

#endif
