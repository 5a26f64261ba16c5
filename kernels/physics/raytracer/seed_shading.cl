// What colour does a ray see by the rules of the published program: one bounce, shadows, fog?
// Twin: reference_py/physics/raytracer/seed_shading.py.
//
// Where work-items look at spheres together all of them get to every call of `first_seen`, those
// without a ray too.
#include "physics/raytracer/nearest.cl"

#define FOG_COLOUR NUM(128.0)

// How much of an object's colour a light adds at a point of it; 0 in shadow. Shadow rays go from
// the light to the point, and do not hit the object that the point is on.
COLLECTIVE num light_share(const scene_t *scene, const num3 light, const bool active,
                           const num3 point, const num3 normal, const int hit)
{
    num3 e = light - point;
    const num apart = NUM_SQRT(dot3(e, e));
    e = over3(e, apart);
    const num slope = dot3(e, normal);
    const bool faces = active && slope >= NUM(0.0);
    hit_t blocker;
    first_seen(&blocker, scene, faces, light, -e, hit, apart, true);
    const bool lit = faces && blocker.number == NOTHING;
    return lit ? NUM_DIV(slope * faded(apart, scene->falloff), (num)scene->light_count) : NUM(0.0);
}

// The colour before it is cut to bytes; black where nothing is hit, and where a mirror reflects
// nothing.
COLLECTIVE num3 seed_colours(const scene_t *scene, const bool inside, const num3 origin,
                             const num3 towards)
{
    const num3 black = (num3)(NUM(0.0), NUM(0.0), NUM(0.0));
    hit_t hit;
    first_seen(&hit, scene, inside, origin, towards, NOTHING, FAR, false);
    const bool seen = inside && hit.number != NOTHING;
    const num3 point = origin + towards * hit.t;
    num3 normal = black;
    __global const num *material = scene->materials;
    if (seen) {
        normal = normal_at(scene, hit.number, point);
        material = scene->materials + 6 * (size_t)hit.number;
    }
    const bool mirror = seen && material[3] > NUM(0.0);
    const num3 reflected = towards - (NUM(2.0) * dot3(towards, normal)) * normal;
    hit_t behind;
    first_seen(&behind, scene, mirror, point, reflected, hit.number, FAR, false);
    const bool coloured = seen && !(mirror && behind.number == NOTHING);
    if (mirror && coloured) material = scene->materials + 6 * (size_t)behind.number;

    num3 colour = black;
    if (coloured) colour = vector_at(material);
    num3 total = scene->ambient * colour;
    uint i = 0;
    do {  // at least once, as work-items may look together
        const bool some = i < scene->light_count;
        num3 light = black;
        if (some) light = vector_at(scene->lights + 4 * i);
        const num share = light_share(scene, light, coloured && some, point, normal, hit.number);
        if (share > NUM(0.0)) total = total + colour * share;
    } while (++i < scene->light_count);
    const num part = scene->fog * hit.t;
    const num fog = FOG_COLOUR * (part < NUM(1.0) ? part : NUM(1.0));
    return coloured ? total - fog : black;
}
