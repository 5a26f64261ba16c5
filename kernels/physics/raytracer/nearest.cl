// What does a ray hit first?
// Twin: reference_py/physics/raytracer/nearest.py.
//
// A hit is better if it is nearer or, at the same distance, of a lower number; so it does not
// matter in which order objects are looked at. Three forms, same bits:
//
// brute  All spheres. On a CPU, and by whitted shading, eight at once in fields of num8. Seed
//        shading on a GPU takes them through local memory, TILE at a time.
// tree   Boxes, eight children a node; below them groups of eight spheres. What is left out could
//        not have been hit nearer (`box_margin`).
//
// Spheres lie in groups of eight: eight x of centres, eight y, eight z, eight squares of radii.
// `numbers` has their numbers, -1 where a group is not full.
// Macros: SHADING, FORM, TILE.
#ifndef PHYSICS_RAYTRACER_NEAREST_CL
#define PHYSICS_RAYTRACER_NEAREST_CL

#include "physics/raytracer/vectors.cl"
#include "primitives/group.cl"
#include "primitives/tree.cl"

#define FAR NUM(1e9)  // where rays end
#define CLOSE NUM(0x1p-10)  // of whitted shading: hits that are no farther are the own surface
#define NOTHING -1

// Whether rays of a workgroup look at spheres together, through local memory.
#define IN_TILES (SHADING == SHADING_SEED && FORM != FORM_TREE && !DEVICE_IS_CPU)

#if NUM_IS_DOUBLE
#define UNIT_ROUNDOFF 0x1p-53
#else
#define UNIT_ROUNDOFF 0x1p-24
#endif

// What there is to see, and how the host laid it out.
typedef struct {
    __global const num *spheres;  // centre and radius of each
    __global const num *planes;  // point and unit normal of each
    __global const num *materials;  // colour, reflected and transmitted share, index of each object
    __global const num *lights;  // position and intensity of each
    __global const num8 *groups;
    __global const int *numbers;
    __global const num8 *boxes;
    __global const num *limits;  // of all spheres: least and largest x, y, z; least radius
    __global const num *margins;  // `box_margin` of unit rays from the camera, from each light
    uint sphere_count, plane_count, light_count, group_count;
    uint first_leaf;  // number of the first group among the nodes of the tree
    num ambient, fog;
    num3 missed;  // colour of a ray that hits nothing
    real falloff;
    int bounces;
} scene_t;

typedef struct {
    num t;
    int number;
} hit_t;

// Take a hit at distance t if it is the best so far.
static void take(hit_t *best, const num t, const int number)
{
    if (t < best->t || (t == best->t && number < best->number)) {
        best->t = t;
        best->number = number;
    }
}

// A sphere that the line of a ray meets, as q is not negative.
static void offer_sphere(hit_t *best, const num b, const num q, const int number, const int ignored)
{
    const num root = NUM_SQRT(q);
    num t = (-b) - root;
#if SHADING == SHADING_SEED
    if (t > NUM(0.0) && number != ignored) take(best, t, number);
#else
    if (!(t > CLOSE)) t = (-b) + root;
    if (t > CLOSE) take(best, t, number);
#endif
}

// One sphere of several in memory: 8 nums lie between its coordinates and the square of its radius.
#define OFFER_SPHERE_AT(best, sphere, number, origin, towards, ignored) \
    do { \
        const num3 v = (origin) - (num3)((sphere)[0], (sphere)[8], (sphere)[16]); \
        const num b = dot3(v, towards); \
        const num q = b * b - (dot3(v, v) - (sphere)[24]); \
        if (q >= NUM(0.0)) offer_sphere(best, b, q, number, ignored); \
    } while (0)

// Whether any of eight numbers, 0 or -1 each, is not 0, and the larger and the smaller of two
// vectors, of which CUDA's C++ has no `?:`. PoCL 3.0 calls its own `any`, `max`, `min` and `select`
// as functions, with all registers saved.
static bool any_of(const int8 flags)
{
    const int4 four = flags.lo | flags.hi;
    const int2 two = four.lo | four.hi;
    return (two.x | two.y) != 0;
}

#define EITHER(a, b, mask) as_float8((as_int8(b) & (mask)) | (as_int8(a) & ~(mask)))
#define LARGER(a, b) EITHER(a, b, (a) < (b))
#define LESSER(a, b) EITHER(a, b, (b) < (a))

// The eight spheres of a group.
static void offer_group(hit_t *best, __global const num8 *group, __global const int *numbers,
                        const num3 origin, const num3 towards, const int ignored)
{
#if NUM_IS_DOUBLE  // PoCL 3.0 does not compile comparisons of double8, or takes minutes
    __global const num *spheres = (__global const num *)group;
    for (uint lane = 0; lane < 8; ++lane)
        OFFER_SPHERE_AT(best, spheres + lane, numbers[lane], origin, towards, ignored);
#else
    const num8 x = origin.x - group[0], y = origin.y - group[1], z = origin.z - group[2];
    const num8 b = (x * towards.x + y * towards.y) + z * towards.z;
    const num8 q = b * b - (((x * x + y * y) + z * z) - group[3]);
    if (!any_of(q >= NUM(0.0))) return;
#define OFFER_LANE(lane, place) \
    if (q.lane >= NUM(0.0)) offer_sphere(best, b.lane, q.lane, numbers[place], ignored);
    OFFER_LANE(s0, 0);
    OFFER_LANE(s1, 1);
    OFFER_LANE(s2, 2);
    OFFER_LANE(s3, 3);
    OFFER_LANE(s4, 4);
    OFFER_LANE(s5, 5);
    OFFER_LANE(s6, 6);
    OFFER_LANE(s7, 7);
#undef OFFER_LANE
#endif
}

static void offer_planes(hit_t *best, const scene_t *scene, const num3 origin, const num3 towards,
                         const int ignored)
{
    for (uint i = 0; i < scene->plane_count; ++i) {
        __global const num *plane = scene->planes + 6 * i;
        const num3 normal = vector_at(plane + 3);
        const num above = dot3(vector_at(plane) - origin, normal), slope = dot3(towards, normal);
        const num t = NUM_DIV(above, slope);
        const int number = (int)(scene->sphere_count + i);
#if SHADING == SHADING_SEED
        if (above != NUM(0.0) && slope != NUM(0.0) && t > NUM(0.0) && number != ignored)
            take(best, t, number);
#else
        if (t > CLOSE) take(best, t, number);
#endif
    }
}

// By how much boxes are enlarged for a ray, so that no sphere that the test above lets it hit is
// left out.
//
// Let u be the unit roundoff, D the distance from the origin to the farthest corner of the box
// around all spheres, so that |v| + r <= D. Rounded, q differs from b^2 - (|v|^2 - r^2) by at most
// 13 u |d|^2 |v|^2 + 3 u r^2: three roundings in each product with d, of which b^2 has two and its
// own one, four in |v|^2 - r^2, one in the difference. In exact numbers the point v + t d at
// t = -b -+ sqrt(q) has
//     |v + t d|^2 = r^2 + (q - (b^2 - (|v|^2 - r^2))) + (|d|^2 - 1) t^2,
// and t |d| is hardly more than |v| + r, so the point is no farther from the centre than
// sqrt(r^2 + E), where
//     E = (16 u max(1, |d|^2) + ||d|^2 - 1| / |d|^2) D^2,
// and sqrt(r^2 + E) - r = E / (r + sqrt(r^2 + E)) is largest for the least radius. Rounding b, t
// and v moves the point by at most 8 u D (1 + |d|^2), and enlarging the box by adding to the
// origin costs u of the largest coordinate. |d|^2 is rounded three times; what else is rounded
// here, and the second order of u, is covered by a twentieth. Where a ray enters and leaves the
// box has a relative error of 4 u, hence SLACK.
static num box_margin(const scene_t *scene, const num3 origin, const num3 towards)
{
#if FORM != FORM_TREE
    return NUM(0.0);  // never used
#else
    const num u = NUM(UNIT_ROUNDOFF);
    const num3 a = origin - vector_at(scene->limits), b = vector_at(scene->limits + 3) - origin;
    const num3 far =
        (num3)(max(fabs(a.x), fabs(b.x)), max(fabs(a.y), fabs(b.y)), max(fabs(a.z), fabs(b.z)));
    const num far2 = dot3(far, far), least = scene->limits[6];
    const num length2 = dot3(towards, towards);
    const num off = fabs(length2 - NUM(1.0)) + NUM(4.0) * u * length2;
    const num most = max(length2, NUM(1.0));
    const num error = NUM(1.05) * far2 * (NUM(16.0) * u * most + NUM_DIV(off, length2));
    if (!(error < NUM(1e30))) return NUM(1e30);  // nothing is left out
    const num margin = NUM_DIV(error, least + NUM_SQRT(least * least + error));
    const num size = (fabs(origin.x) + fabs(origin.y)) + fabs(origin.z);
    return margin + NUM(64.0) * u * (NUM_SQRT(far2) * most + size);
#endif
}

#if FORM == FORM_TREE

#define SLACK (NUM(1.0) + NUM(32.0) * NUM(UNIT_ROUNDOFF))
#define STACK 64  // seven nodes wait on each of at most eight levels

// 1 / x for the planes of boxes; where x is 0 a number with which they are far away.
static num inverse(const num x)
{
    if (fabs(x) < NUM(1e-30)) return x < NUM(0.0) ? NUM(-1e30) : NUM(1e30);
    return NUM_DIV(NUM(1.0), x);
}

// Let a node wait on the stack, nearer ones of the same parent, from `base` on, above it.
static uint push(uint *node_of, num *near_of, const uint base, const uint waiting, const uint node,
                 const num near)
{
    uint at = waiting;
    for (; at > base && near_of[at - 1] < near; --at) {
        near_of[at] = near_of[at - 1];
        node_of[at] = node_of[at - 1];
    }
    near_of[at] = near;
    node_of[at] = node;
    return waiting + 1;
}

// Spheres of those groups whose boxes the ray meets before the best hit so far; of the children of
// a node the nearest is looked at first. `any_will_do` ends with the first hit.
static void offer_tree(hit_t *best, const scene_t *scene, const num3 origin, const num3 towards,
                       const num margin, const int ignored, const bool any_will_do)
{
    const num3 above = origin + margin, below = origin - margin;
    const num3 slow = (num3)(inverse(towards.x), inverse(towards.y), inverse(towards.z));
    // The plane of a box that is met first is the lower one, unless the ray runs down that axis.
    const uint dx = slow.x < NUM(0.0) ? 3 : 0, dy = slow.y < NUM(0.0) ? 3 : 0,
               dz = slow.z < NUM(0.0) ? 3 : 0;
    const num3 in = (num3)(dx ? below.x : above.x, dy ? below.y : above.y, dz ? below.z : above.z);
    const num3 out = (num3)(dx ? above.x : below.x, dy ? above.y : below.y, dz ? above.z : below.z);
    uint node_of[STACK];
    num near_of[STACK];
    uint waiting = 1;
    node_of[0] = 0;
    near_of[0] = NUM(0.0);
    while (waiting > 0) {
        const uint node = node_of[--waiting];
        if (near_of[waiting] > best->t * SLACK) continue;
        if (node >= scene->first_leaf) {
            const uint g = node - scene->first_leaf;
            offer_group(best, scene->groups + 4 * g, scene->numbers + 8 * g, origin, towards,
                        ignored);
            if (any_will_do && best->number != NOTHING) return;
            continue;
        }
        const uint base = waiting, child = tree_child(8, node, 0);
        __global const num8 *box = scene->boxes + 6 * node;
#if NUM_IS_DOUBLE
        for (uint lane = 0; lane < 8; ++lane) {
            __global const num *side = (__global const num *)box + lane;
            const num near =
                max(max((side[8 * dx] - in.x) * slow.x, (side[8 + 8 * dy] - in.y) * slow.y),
                    (side[16 + 8 * dz] - in.z) * slow.z);
            const num far =
                min(min((side[24 - 8 * dx] - out.x) * slow.x, (side[32 - 8 * dy] - out.y) * slow.y),
                    (side[40 - 8 * dz] - out.z) * slow.z);
            if (far >= NUM(0.0) && near <= far * SLACK && near <= best->t * SLACK)
                waiting = push(node_of, near_of, base, waiting, child + lane, near);
        }
#else
        const num8 near_x = (box[dx] - in.x) * slow.x, near_y = (box[1 + dy] - in.y) * slow.y,
                   near_z = (box[2 + dz] - in.z) * slow.z;
        const num8 far_x = (box[3 - dx] - out.x) * slow.x, far_y = (box[4 - dy] - out.y) * slow.y,
                   far_z = (box[5 - dz] - out.z) * slow.z;
        const num8 near_xy = LARGER(near_x, near_y), far_xy = LESSER(far_x, far_y);
        const num8 near = LARGER(near_xy, near_z), far = LESSER(far_xy, far_z);
        const int8 met = (far >= NUM(0.0)) & (near <= far * SLACK) & (near <= best->t * SLACK);
        if (!any_of(met)) continue;
#define PUSH_LANE(lane, place) \
    if (met.lane) waiting = push(node_of, near_of, base, waiting, child + place, near.lane)
        PUSH_LANE(s0, 0);
        PUSH_LANE(s1, 1);
        PUSH_LANE(s2, 2);
        PUSH_LANE(s3, 3);
        PUSH_LANE(s4, 4);
        PUSH_LANE(s5, 5);
        PUSH_LANE(s6, 6);
        PUSH_LANE(s7, 7);
#undef PUSH_LANE
#endif
    }
}

#endif

// What a ray hits first before `limit`; number NOTHING if nothing. Of seed shading, `ignored` is
// an object that it does not hit. With `any_will_do` it may be another hit than the first.
// `margin` is that of boxes.
static hit_t first_hit(const scene_t *scene, const num3 origin, const num3 towards,
                       const num margin, const int ignored, const num limit, const bool any_will_do)
{
    hit_t best = {limit < FAR ? limit : FAR, NOTHING};
    offer_planes(&best, scene, origin, towards, ignored);
    if (any_will_do && best.number != NOTHING) return best;
#if FORM == FORM_TREE
    offer_tree(&best, scene, origin, towards, margin, ignored, any_will_do);
#else
    for (uint g = 0; g < scene->group_count; ++g) {
        offer_group(&best, scene->groups + 4 * g, scene->numbers + 8 * g, origin, towards, ignored);
        if (any_will_do && best.number != NOTHING) break;
    }
#endif
    return best;
}

#if IN_TILES

// The same for a workgroup's rays of seed shading, together. All work-items take part; those whose
// ray is not `active` get nothing. Local memory: TILE spheres of 4 nums.
COLLECTIVE void first_seen(hit_t *best, const scene_t *scene, const bool active, const num3 origin,
                           const num3 towards, const num margin, const int ignored, const num limit,
                           const bool any_will_do)
{
    __local num *tile = local_malloc(4 * TILE * sizeof(num));
    best->t = limit < FAR ? limit : FAR;
    best->number = NOTHING;
    if (active) offer_planes(best, scene, origin, towards, ignored);
    uint first = 0;
    do {
        const uint left = scene->group_count - first;
        const uint groups = left < TILE / 8 ? left : TILE / 8;
        __global const num *numbers = (__global const num *)(scene->groups + 4 * first);
        for (uint i = LANE; i < 32 * groups; i += LANES) tile[i] = numbers[i];
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the tile, before rays meet its spheres
        if (active && !(any_will_do && best->number != NOTHING))
            for (uint g = 0; g < groups; ++g)
                for (uint lane = 0; lane < 8; ++lane) {
                    __local const num *sphere = tile + 32 * g + lane;
                    const int number = (int)(8 * (first + g) + lane);
                    OFFER_SPHERE_AT(best, sphere, number, origin, towards, ignored);
                }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the last look at the tile, before the next one
        first += TILE / 8;
    } while (first < scene->group_count);
}

#else

COLLECTIVE void first_seen(hit_t *best, const scene_t *scene, const bool active, const num3 origin,
                           const num3 towards, const num margin, const int ignored, const num limit,
                           const bool any_will_do)
{
    best->t = FAR;
    best->number = NOTHING;
    if (active) *best = first_hit(scene, origin, towards, margin, ignored, limit, any_will_do);
}

#endif

// The normal of an object at a point of it, away from a sphere's centre.
static num3 normal_at(const scene_t *scene, const int number, const num3 point)
{
    if (number < (int)scene->sphere_count) {
        __global const num *sphere = scene->spheres + 4 * (size_t)number;
        return over3(point - vector_at(sphere), sphere[3]);
    }
    return vector_at(scene->planes + 6 * (number - (int)scene->sphere_count) + 3);
}

#endif
