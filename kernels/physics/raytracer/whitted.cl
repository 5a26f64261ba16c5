// What colour does a ray see if it is reflected and refracted (T. Whitted, 1980)?
// Twin: reference_py/physics/raytracer/whitted.py.
//
// Rays wait in a stack of at most bounces + 2 entries, the refracted one is followed first.
#include "physics/raytracer/nearest.cl"

#define MOST_BOUNCES 16

typedef struct {
    num3 origin, towards;
    num weight;
    int depth;
} ray_t;

// An object's colour under all lights that are not hidden.
static num3 lit(const scene_t *scene, const num3 point, const num3 normal, const num3 colour)
{
    num3 local_colour = scene->ambient * colour;
    for (uint i = 0; i < scene->light_count; ++i) {
        __global const num *light = scene->lights + 4 * i;
        num3 e = vector_at(light) - point;
        const num apart = NUM_SQRT(dot3(e, e));
        e = over3(e, apart);
        const num slope = dot3(e, normal);
        if (!(slope > NUM(0.0))) continue;
        const hit_t blocker = first_hit(scene, point, e, NOTHING, apart, true);
        if (blocker.number != NOTHING) continue;
        const num g = (light[3] * slope) * faded(apart, scene->falloff);
        local_colour = local_colour + g * colour;
    }
    return local_colour;
}

// The colour before it is cut to bytes. A ray of more than `bounces` bounces is given the
// background, so that no light is lost.
static num3 whitted_colour(const scene_t *scene, const num3 origin, const num3 towards)
{
    const num one = NUM(1.0);
    num3 seen = (num3)(NUM(0.0), NUM(0.0), NUM(0.0));
    ray_t rays[MOST_BOUNCES + 2];
    rays[0].origin = origin;
    rays[0].towards = towards;
    rays[0].weight = one;
    rays[0].depth = 0;
    uint count = 1;
    while (count > 0) {
        const ray_t ray = rays[--count];
        hit_t hit = {FAR, NOTHING};
        if (ray.depth <= scene->bounces)
            hit = first_hit(scene, ray.origin, ray.towards, NOTHING, FAR, false);
        if (hit.number == NOTHING) {
            seen = seen + ray.weight * scene->missed;
            continue;
        }
        const num3 point = ray.origin + hit.t * ray.towards;
        num3 normal = normal_at(scene, hit.number, point);
        num slope = dot3(ray.towards, normal);
        const bool leaving = slope > NUM(0.0);
        if (leaving) {
            normal = -normal;
            slope = -slope;
        }
        __global const num *material = scene->materials + 6 * (size_t)hit.number;
        const num reflect = material[3], transmit = material[4], index = material[5];
        const num diffuse = (one - reflect) - transmit;
        num reflected = reflect, refracted = NUM(0.0);
        num3 through = normal;
        if (transmit > NUM(0.0)) {
            const num eta = leaving ? index : NUM_DIV(one, index);
            const num ci = -slope;
            const num m = one - (eta * eta) * (one - ci * ci);
            if (m < NUM(0.0)) {
                reflected = reflect + transmit;  // total reflection
            } else {
                const num ct = NUM_SQRT(m);
                num r0 = NUM_DIV(one - index, one + index);
                r0 = r0 * r0;
                const num x = one - (leaving ? ct : ci), x2 = x * x;
                const num share = r0 + (one - r0) * ((x2 * x2) * x);
                reflected = reflect + transmit * share;
                refracted = transmit - transmit * share;
                through = unit3(eta * ray.towards + (eta * ci - ct) * normal);
            }
        }
        if (diffuse > NUM(0.0)) {
            const num3 colour = vector_at(material);
            const num3 own = lit(scene, point, normal, colour);
            seen = seen + (ray.weight * diffuse) * own;
        }
        if (reflected > NUM(0.0)) {
            rays[count].origin = point;
            rays[count].towards = unit3(ray.towards - (NUM(2.0) * slope) * normal);
            rays[count].weight = ray.weight * reflected;
            rays[count++].depth = ray.depth + 1;
        }
        if (refracted > NUM(0.0)) {
            rays[count].origin = point;
            rays[count].towards = through;
            rays[count].weight = ray.weight * refracted;
            rays[count++].depth = ray.depth + 1;
        }
    }
    return seen;
}
