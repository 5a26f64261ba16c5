// Which bytes are shown after some samples? Their mean, between 0 and 255, without its fraction.
// Twin: reference_py/physics/raytracer/show.py.
//
// A work-item is a channel of a pixel, or every n-th if there are only n work-items. No local
// memory, no barriers.
// Macros: KEEPS_MEAN (whether the mean itself is stored).
#include "primitives/num.cl"

#if KEEPS_MEAN
#define MEAN_PARAMETER , __global num *mean
#else
#define MEAN_PARAMETER
#endif

__kernel void show(__global const num *sum, __global uchar *picture, const uint number,
                   const uint width, const uint height, const uint copies MEAN_PARAMETER)
{
    const size_t channels = (size_t)3 * width * height * copies;
    for (size_t i = get_global_id(0); i < channels; i += get_global_size(0)) {
        const num value = NUM_DIV(sum[i], (num)(number + 1));
        const num above = value > NUM(0.0) ? value : NUM(0.0);
        picture[i] = (uchar)(above < NUM(255.0) ? above : NUM(255.0));
#if KEEPS_MEAN
        mean[i] = value;
#endif
    }
}
