// Which bytes are shown at the end? The planes, rounded to even halves, between 0 and 255.
// Twin: reference_py/physics/blur/rounding.py.
//
// A work-item is a pixel of a plane, or every n-th if there are only n work-items. No local memory,
// no barriers. Macros: PLANES_ARE_WHOLE.
#include "primitives/real.cl"

#if PLANES_ARE_WHOLE
#define PLANE uchar
#else
#define PLANE float
#endif

__kernel void rounding(__global const PLANE *restrict planes, __global uchar *restrict picture,
                       const uint width, const uint height, const uint channels, const uint copies)
{
    const size_t pixels = (size_t)width * height * channels * copies;
    for (size_t i = get_global_id(0); i < pixels; i += get_global_size(0)) {
#if PLANES_ARE_WHOLE
        picture[i] = planes[i];
#else
        picture[i] = (uchar)min(max(rint(planes[i]), 0.0f), 255.0f);
#endif
    }
}
