// Which pixel stands for one beyond the border?
// Twin: reference_py/physics/blur/border.py.
//
// Macros: BORDER; RADIUS, how far a window reaches to each side; KIND. A plane is a channel of an
// image, row after row; the planes of a launch lie one after another.
#ifndef PHYSICS_BLUR_BORDER_CL
#define PHYSICS_BLUR_BORDER_CL

#include "primitives/group.cl"
#include "primitives/real.cl"

#define OUTSIDE -1  // the place of a pixel that no other one stands for: it is 0, or left out

// The place that stands for place i of a row of `length`.
static int source_of(const int i, const int length)
{
    if (i >= 0 && i < length) return i;
#if BORDER == BORDER_REPLICATE
    return i < 0 ? 0 : length - 1;
#elif BORDER == BORDER_REFLECT
    const int twice = 2 * length, j = (i % twice + twice) % twice;
    return j >= length ? twice - 1 - j : j;
#elif BORDER == BORDER_MIRROR
    if (length == 1) return 0;
    const int twice = 2 * length - 2, j = (i % twice + twice) % twice;
    return j >= length ? twice - j : j;
#elif BORDER == BORDER_WRAP
    return (i % length + length) % length;
#else
    return OUTSIDE;
#endif
}

// How many pixels of a window count at a place of a row of `length`.
static int counted(const int at, const int length)
{
#if BORDER == BORDER_AVAILABLE
    return min(at + RADIUS, length - 1) - max(at - RADIUS, 0) + 1;
#else
    return 2 * RADIUS + 1;
#endif
}

#endif
