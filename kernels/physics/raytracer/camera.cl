// Which ray leaves the camera through a pixel?
// Twin: reference_py/physics/raytracer/camera.py.
#ifndef PHYSICS_RAYTRACER_CAMERA_CL
#define PHYSICS_RAYTRACER_CAMERA_CL

#include "physics/raytracer/vectors.cl"

// The direction of the ray, whose pixel is (column, row) of a picture of `size`; the view is
// `extent` wide and high at distance 1. `offset` says where in the pixel, `view` has position and
// basis.
static num3 rays(__global const num *view, const num2 extent, const num2 size,
                 __global const num *offset, const uint column, const uint row)
{
    const num a = extent.x * (NUM(0.5) - NUM_DIV((num)column + offset[0], size.x));
    const num b = extent.y * (NUM(0.5) - NUM_DIV((num)row + offset[1], size.y));
    return unit3((vector_at(view + 3) + a * vector_at(view + 6)) + b * vector_at(view + 9));
}

#endif
