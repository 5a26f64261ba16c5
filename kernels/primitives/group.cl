// group.cl: who does a workgroup's work: all of its work-items or, on a CPU, one alone.
//
// On a GPU the work-items of a group run at the same time; on a CPU they take turns, and every
// barrier between them costs a round of turns. A kernel with many short steps, or with barriers in
// loops that end early, is therefore written for one or for many work-items alike:
//
//     for (uint i = LANE; i < n; i += LANES) ...
//     group_barrier(CLK_LOCAL_MEM_FENCE);  // what it orders
//
// and is launched on a CPU with groups of ONE work-item, for which all of this is a plain loop. The
// host sees to that (`alone_on_cpu` of a `Launch`, societies/workload/declare/phases.py). Results
// never depend on it. No local memory.
//
// Twin: none; nothing is computed here.

#ifndef PRIMITIVES_GROUP_CL
#define PRIMITIVES_GROUP_CL

#include "primitives/real.cl"

// PoCL makes three copies of a kernel, with all that is inlined into it, then optimises and
// compiles each. A function that does nearly all of a kernel is therefore declared
// COLLECTIVE_WHOLE: on a CPU it stays one, and is compiled once. It has no barrier but
// group_barrier (or is in a program of ALL_ALONE), does not ask for its work-item or group, and is
// handed no local memory but what such a function has allocated: what it needs it allocates itself.
// WHOLE is the same for a function without barriers or local memory that is called in some places.

// Number of a work-item, number of work-items, and a barrier between them, which one alone does not
// need: its steps are in order anyway (real.cl).
#if DEVICE_IS_CPU
#define LANE 0u
#define LANES 1u
#define group_barrier(fence) alone_in_order()
#define COLLECTIVE_WHOLE static __attribute__((noinline))
#define WHOLE COLLECTIVE_WHOLE
#else
#define LANE ((uint)get_local_id(0))
#define LANES ((uint)get_local_size(0))
#define group_barrier(fence) barrier(fence)
#define COLLECTIVE_WHOLE COLLECTIVE
#define WHOLE INLINED
#endif

// Whether a GPU has more agents than it can hold: each has a single warp then (the host chooses
// WORK_ITEMS). Most of their loops are not unrolled. Few agents wait for memory, and the reads of
// an unrolled loop are under way at the same time. While one of many waits, others compute, and
// what they wait for are instructions: 6400 of device trade are read sooner than 9200. Only loops
// that wait longest for memory are unrolled there, too.
#if !DEVICE_IS_CPU && defined(WORK_ITEMS) && WORK_ITEMS < RESOURCES
#define CROWDED 1
#else
#define CROWDED 0
#endif

#endif
