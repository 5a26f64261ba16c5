// crowded.cl: loops that a GPU with more agents than it can hold does not unroll.
//
// Few agents wait for memory: there the reads of an unrolled loop are under way at the same time.
// Of many, a warp each (the host chooses WORK_ITEMS), others compute meanwhile, and what they wait
// for are instructions: 6400 of device trade are read sooner than 9200. No local memory.
//
// Twin: none; nothing is computed here.

#ifndef ECONOMY_CROWDED_CL
#define ECONOMY_CROWDED_CL

// In front of a loop.
#if !DEVICE_IS_CPU && WORK_ITEMS < RESOURCES
#define ROLLED _Pragma("unroll 1")
#else
#define ROLLED
#endif

#endif
