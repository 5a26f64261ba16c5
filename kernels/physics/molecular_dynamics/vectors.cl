// How does a CPU calculate with several numbers at once? In vectors of WIDTH numbers.
//
// WIDTH is 8 in single precision and 4 in double: 256 bits. PoCL 3.0 crashes at comparisons of
// longer vectors, or needs minutes for them. No built-in function is called for vectors: PoCL 3.0
// makes each a call, around which everything is written to memory. Nor does it compile a conversion
// of eight doubles to singles at once: LLVM ends the process.
//
// No local memory, no barriers. Macros: WIDTH, NUM_IS_DOUBLE.
#ifndef PHYSICS_MOLECULAR_DYNAMICS_VECTORS_CL
#define PHYSICS_MOLECULAR_DYNAMICS_VECTORS_CL

#include "physics/molecular_dynamics/box.cl"

#if DEVICE_IS_CPU

#if NUM_IS_DOUBLE
typedef double4 wide_t;
typedef long4 mask_t;
typedef uint4 entries_t;
typedef uchar4 bytes_t;
#define ENTRIES_OF(x) convert_uint4(x)
#define AS_MASK(x) as_long4(x)
#define AS_WIDE(x) as_double4(x)
#define ALL_BUT_SIGN 0x7ffffffffffffffful
#define EACH_LANE (mask_t)(0, 1, 2, 3)
#define BIT_OF_EACH_LANE (mask_t)(1, 2, 4, 8)
#else
typedef float8 wide_t;
typedef int8 mask_t;
typedef uint8 entries_t;
typedef uchar8 bytes_t;
#define ENTRIES_OF(x) convert_uint8(x)
#define AS_MASK(x) as_int8(x)
#define AS_WIDE(x) as_float8(x)
#define ALL_BUT_SIGN 0x7fffffff
#define EACH_LANE (mask_t)(0, 1, 2, 3, 4, 5, 6, 7)
#define BIT_OF_EACH_LANE (mask_t)(1, 2, 4, 8, 16, 32, 64, 128)
#endif

// Vectors that begin at any number.
typedef wide_t __attribute__((aligned(4))) loose_wide_t;
typedef entries_t __attribute__((aligned(4))) loose_entries_t;
typedef num4 __attribute__((aligned(4))) loose_num4;
#define LOADED(p) (*(__global const loose_wide_t *)(p))
#define LOADED_ENTRIES(p) (*(__global const loose_entries_t *)(p))
#define STORED_WIDE(p) (*(__global loose_wide_t *)(p))
#define STORED(p) (*(__global loose_entries_t *)(p))

#endif

#endif
