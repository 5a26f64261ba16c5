// What does one sample add to the picture? The colour that the ray of every pixel sees.
// Twin: reference_py/physics/raytracer/trace.py.
//
// A launch takes the rows from `row` to before `until` of all frames. A workgroup takes a tile of
// 16 by 8 pixels, whose rays go mostly the same way, a work-item every n-th of them, of n
// work-items. The first sample of a picture replaces what the sum was. Local memory: that of
// `first_seen`. Macros: SHADING, and those of nearest.cl.
#include "physics/raytracer/camera.cl"
#include "physics/raytracer/nearest.cl"

// Each file is included once, so what both of these need is above.
#if SHADING == SHADING_SEED
#include "physics/raytracer/seed_shading.cl"
#else
#include "physics/raytracer/whitted.cl"
#endif

#define PIXELS (16 * 8)

__kernel void trace(__global num *sum, __global const num *view, __global const num *spheres,
                    __global const num *planes, __global const num *materials,
                    __global const num *lights, __global const num *offsets,
                    __global const num8 *groups, __global const int *numbers,
                    __global const num8 *boxes, __global const num8 *bounds,
                    __global const real *value_table, const uint sphere_count,
                    const uint plane_count, const uint light_count, const uint group_count,
                    const uint first_leaf, const int bounces, const uint width, const uint height,
                    const uint row, const uint until, const uint number)
{
    const uint across = (width + 15) / 16, tiles = across * ((until - row + 7) / 8);
    const uint frame = get_group_id(0) / tiles, tile = get_group_id(0) % tiles;
    const uint left = tile % across * 16, top = row + tile / across * 8;
    scene_t scene;
    scene.spheres = spheres + 4 * (size_t)sphere_count * frame;
    scene.planes = planes + 6 * (size_t)plane_count * frame;
    scene.materials = materials + 6 * (size_t)(sphere_count + plane_count) * frame;
    scene.lights = lights + 4 * (size_t)light_count * frame;
    scene.groups = groups;
    scene.numbers = numbers;
    scene.boxes = boxes;
    scene.bounds = bounds;
    scene.sphere_count = sphere_count;
    scene.plane_count = plane_count;
    scene.light_count = light_count;
    scene.group_count = group_count;
    scene.first_leaf = first_leaf;
    scene.ambient = NUM(P(ambient));
    scene.fog = NUM(P(fog));
    scene.missed = (num3)(NUM(background[0]), NUM(background[1]), NUM(background[2]));
    scene.falloff = P(falloff);
    scene.bounces = bounces;
    __global const num *camera = view + 12 * frame;
    const num2 extent = (num2)(NUM(P(view_width)), NUM(P(view_height))),
               size = (num2)((num)width, (num)height);
    const num3 origin = vector_at(camera);
    uint done = 0;
    do {  // as often in every work-item
        const uint i = done + LANE;
        const uint column = left + i % 16, line = top + i / 16;
        const bool inside = i < PIXELS && column < width && line < until;
        const num3 towards = rays(camera, extent, size, offsets + 2 * number, column, line);
#if SHADING == SHADING_SEED
        const num3 colour = seed_colours(&scene, inside, origin, towards);
#else
        num3 colour = origin;
        if (inside) colour = whitted_colour(&scene, origin, towards);
#endif
        if (inside) {
            const size_t at = 3 * (((size_t)frame * height + line) * width + column);
            sum[at] = (number ? sum[at] : NUM(0.0)) + colour.x;
            sum[at + 1] = (number ? sum[at + 1] : NUM(0.0)) + colour.y;
            sum[at + 2] = (number ? sum[at + 2] : NUM(0.0)) + colour.z;
        }
        done += LANES;
    } while (done < PIXELS);
}
