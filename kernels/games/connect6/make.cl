// What does a position look like after a turn?
// Twin: reference_py/games/connect6/make.py.
#ifndef GAMES_CONNECT6_MAKE_CL
#define GAMES_CONNECT6_MAKE_CL

#include "games/connect6/geometry.cl"

static void make(__global const uint *position, const uint move, __global uint *child,
                 __global const uchar *classes)
{
    const uint first = move & NONE, second = move >> 16;
    for (uint i = 0; i < SIDE_WORDS; ++i) {
        uint own = position[i];
        if (first / 32u == i) own |= 1u << first % 32u;
        if (second / 32u == i) own |= 1u << second % 32u;
        child[SIDE_WORDS + i] = own;
        child[i] = position[SIDE_WORDS + i];
    }
}

#endif
