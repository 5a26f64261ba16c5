// What does a ray hit first?
// Twin: reference_py/physics/raytracer/nearest.py.
//
// A hit is better if it is nearer or, at the same distance, of a lower number; so it does not
// matter in which order objects are looked at. Three forms, same bits:
//
// brute  All spheres. On a CPU, and by whitted shading, eight at once in fields of num8. Seed
//        shading on a GPU takes them through local memory, TILE at a time.
// tree   Boxes, eight children a node; below them groups of eight spheres. What is left out could
//        not have been hit nearer (`margins_t`).
//
// Spheres lie in groups of eight: eight x of centres, eight y, eight z, eight squares of radii.
// `numbers` has their numbers, -1 where a group is not full.
// Macros: SHADING, FORM, TILE.
#ifndef PHYSICS_RAYTRACER_NEAREST_CL
#define PHYSICS_RAYTRACER_NEAREST_CL

#include "physics/raytracer/vectors.cl"
#include "primitives/group.cl"

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
    __global const num8 *bounds;  // of a node's spheres: least and largest x, y, z, least radius r;
                                  // and 1 / (2 r)
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

// The bits of eight numbers together, and the larger and the smaller of two vectors, of which
// CUDA's C++ has no `?:`. PoCL 3.0 calls its own `any`, `max`, `min` and `select` as functions,
// with all registers saved.
static uint any_of(const int8 flags)
{
    const int4 four = flags.lo | flags.hi;
    const int2 two = four.lo | four.hi;
    return (uint)(two.x | two.y);
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

#if FORM == FORM_TREE

#define SLACK (NUM(1.0) + NUM(32.0) * NUM(UNIT_ROUNDOFF))

// By how much boxes are enlarged for a ray, so that no sphere that the test above lets it hit is
// left out.
//
// Let u be the unit roundoff, D the distance from the origin to the farthest corner of a box
// around spheres, so that |v| + r <= D for each. Rounded, q differs from b^2 - (|v|^2 - r^2) by at
// most 13 u |d|^2 |v|^2 + 3 u r^2: three roundings in each product with d, of which b^2 has two and
// its own one, four in |v|^2 - r^2, one in the difference. In exact numbers the point v + t d at
// t = -b -+ sqrt(q) has
//     |v + t d|^2 = r^2 + (q - (b^2 - (|v|^2 - r^2))) + (|d|^2 - 1) t^2,
// and t |d| is hardly more than |v| + r, so the point is no farther from the centre than
// sqrt(r^2 + e D^2), where
//     e = 16 u max(1, |d|^2) + max(0, |d|^2 - 1) / |d|^2.
// |d|^2 is rounded three times, which 4 u more cover. M(E) = sqrt(r^2 + E) - r is largest for the
// least radius. Its curve lies below each tangent: that at 0, E / (2 r), and that at the E of all
// spheres. For a node the lower of both is taken, without roots and divisions.
// Rounding b, t and v moves the point by at most 8 u D (1 + |d|^2), and enlarging the box by adding
// to the origin costs u of the largest coordinate, hence `rest`. What else is rounded here, and the
// second order of u, is covered by a twentieth. Where a ray enters and leaves the box has a
// relative error of 4 u, hence SLACK.
typedef struct {
    num error;  // e
    num rest;
    num all;  // the margin of all boxes, unless
    bool wide;  // it is so wide that each node's is found, with
    num start, slope;  // the tangent at the E of all spheres, by D^2
} margins_t;

// |x|; PoCL 3.0 calls fabs as a function.
static num magnitude(const num x)
{
    return x < NUM(0.0) ? -x : x;
}

// From a point to the farthest corner of the box around a node's spheres.
static num3 farthest(const num3 origin, const num8 bounds)
{
    const num3 a = origin - (num3)(bounds.s0, bounds.s1, bounds.s2),
               b = (num3)(bounds.s3, bounds.s4, bounds.s5) - origin;
    return (num3)(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

static num margin_of(const margins_t *margins, const num3 far, const num half_inverse)
{
    const num far2 = dot3(far, far);
    const num small = margins->error * far2 * half_inverse;
    const num large = margins->start + margins->slope * far2;
    return (small < large ? small : large) + margins->rest;
}

static margins_t margins_of(const num8 bounds, const num3 origin, const num3 towards)
{
    const num u = NUM(UNIT_ROUNDOFF), least = bounds.s6;
    const num3 far = farthest(origin, bounds);
    const num far2 = dot3(far, far), length2 = dot3(towards, towards);
    const num most = length2 > NUM(1.0) ? length2 : NUM(1.0);
    const num size = (magnitude(origin.x) + magnitude(origin.y)) + magnitude(origin.z);
    margins_t margins;
    margins.error = NUM(1.05) * (NUM(20.0) * u * most + (most - NUM(1.0)));
    margins.rest = NUM(64.0) * u * most * (((far.x + far.y) + far.z) + size);
    const num error = margins.error * far2, all = error * bounds.s7;
    margins.all = all + margins.rest;
    margins.wide = !(all <= NUM(0.5) * least);
    if (margins.wide) {
        margins.start = NUM(1e30);  // nothing is left out
        margins.slope = NUM(0.0);
        if (error < NUM(1e30)) {
            const num root = NUM_SQRT(least * least + error);
            const num slope = NUM_DIV(NUM(0.5), root);
            margins.slope = slope * margins.error;
            margins.start = (root - least) - NUM(0.999) * (slope * error);
        }
    }
    return margins;
}

// 1 / x for the planes of boxes; where x is 0 a number with which they are far away.
static num inverse(const num x)
{
    if (magnitude(x) < NUM(1e-30)) return x < NUM(0.0) ? NUM(-1e30) : NUM(1e30);
    return NUM_DIV(NUM(1.0), x);
}

// Number of the lowest bit of a byte that is not 0. A CPU guesses where the loop ends, and
// begins with that child before it knows the byte; a GPU would wait for its slowest work-item.
static uint lowest(const uint byte)
{
#if DEVICE_IS_CPU
    uint bit = 0;
    while (!(byte >> bit & 1)) ++bit;
    return bit;
#else
    return 31 - clz(byte & (0u - byte));
#endif
}

// Spheres of those groups whose boxes the ray meets before the best hit so far; `any_will_do` ends
// with the first hit. Of the children of a node those come first that lie on the side from which
// the ray comes: child c is number c ^ `octant`, since Morton's order has x in bit 0, y in bit 1,
// z in bit 2. Which of them wait is a byte a level of `waiting`, the root's the highest, so a tree
// has at most nine levels of boxes, and a parent is found by its number.
static void offer_tree(hit_t *best, const scene_t *scene, const num3 origin, const num3 towards,
                       const int ignored, const bool any_will_do)
{
    const num3 slow = (num3)(inverse(towards.x), inverse(towards.y), inverse(towards.z));
    // The plane of a box that is met first is the lower one, unless the ray runs down that axis.
    const uint dx = slow.x < NUM(0.0) ? 3 : 0, dy = slow.y < NUM(0.0) ? 3 : 0,
               dz = slow.z < NUM(0.0) ? 3 : 0;
    const num3 side =
        (num3)(dx ? NUM(-1.0) : NUM(1.0), dy ? NUM(-1.0) : NUM(1.0), dz ? NUM(-1.0) : NUM(1.0));
    const uint octant = (dx & 1u) | (dy & 2u) | (dz & 1u) << 2;
    const margins_t margins = margins_of(scene->bounds[0], origin, towards);
    num3 off = side * margins.all;
    ulong waiting = 0;
    uint node = 0;
    for (;;) {
        if (margins.wide) {
            const num8 bounds = scene->bounds[node];
            off = side * margin_of(&margins, farthest(origin, bounds), bounds.s7);
        }
        const num3 in = origin + off, out = origin - off;
        __global const num8 *box = scene->boxes + 6 * (size_t)node;
        uint children = 0;
#if NUM_IS_DOUBLE || !DEVICE_IS_CPU
        const num8 in_x = box[dx], in_y = box[1 + dy], in_z = box[2 + dz];
        const num8 out_x = box[3 - dx], out_y = box[4 - dy], out_z = box[5 - dz];
#define MEET_LANE(lane, place) \
    do { \
        const num near = max(max((in_x.lane - in.x) * slow.x, (in_y.lane - in.y) * slow.y), \
                             (in_z.lane - in.z) * slow.z); \
        const num far = min(min((out_x.lane - out.x) * slow.x, (out_y.lane - out.y) * slow.y), \
                            (out_z.lane - out.z) * slow.z); \
        if (far >= NUM(0.0) && near <= far * SLACK && near <= best->t * SLACK) \
            children |= 1u << (place ^ octant); \
    } while (0)
        MEET_LANE(s0, 0);
        MEET_LANE(s1, 1);
        MEET_LANE(s2, 2);
        MEET_LANE(s3, 3);
        MEET_LANE(s4, 4);
        MEET_LANE(s5, 5);
        MEET_LANE(s6, 6);
        MEET_LANE(s7, 7);
#undef MEET_LANE
#else
        const num8 near_x = (box[dx] - in.x) * slow.x, near_y = (box[1 + dy] - in.y) * slow.y,
                   near_z = (box[2 + dz] - in.z) * slow.z;
        const num8 far_x = (box[3 - dx] - out.x) * slow.x, far_y = (box[4 - dy] - out.y) * slow.y,
                   far_z = (box[5 - dz] - out.z) * slow.z;
        const num8 near_xy = LARGER(near_x, near_y), far_xy = LESSER(far_x, far_y);
        const num8 near = LARGER(near_xy, near_z), far = LESSER(far_xy, far_z);
        const int8 met = (far >= NUM(0.0)) & (near <= far * SLACK) & (near <= best->t * SLACK);
        const int8 places = (int8)(0, 1, 2, 3, 4, 5, 6, 7) ^ (int)octant, ones = 1;
        children = any_of(met & (ones << places));
#endif
        const uint child = 8 * node + 1;
        if (child >= scene->first_leaf)
            for (; children; children &= children - 1) {
                const uint g = child - scene->first_leaf + (lowest(children) ^ octant);
                offer_group(best, scene->groups + 4 * (size_t)g, scene->numbers + 8 * (size_t)g,
                            origin, towards, ignored);
                if (any_will_do && best->number != NOTHING) return;
            }
        while (!children) {
            if (!waiting) return;
            children = (uint)waiting & 255u;
            waiting >>= 8;
            node = (node - 1) / 8;
        }
        waiting = waiting << 8 | (children & (children - 1));
        node = 8 * node + 1 + (lowest(children) ^ octant);
    }
}

#endif

// What a ray hits first before `limit`; number NOTHING if nothing. Of seed shading, `ignored` is
// an object that it does not hit. With `any_will_do` it may be another hit than the first.
static hit_t first_hit(const scene_t *scene, const num3 origin, const num3 towards,
                       const int ignored, const num limit, const bool any_will_do)
{
    hit_t best = {limit < FAR ? limit : FAR, NOTHING};
    offer_planes(&best, scene, origin, towards, ignored);
    if (any_will_do && best.number != NOTHING) return best;
#if FORM == FORM_TREE
    offer_tree(&best, scene, origin, towards, ignored, any_will_do);
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
                           const num3 towards, const int ignored, const num limit,
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
                           const num3 towards, const int ignored, const num limit,
                           const bool any_will_do)
{
    best->t = FAR;
    best->number = NOTHING;
    if (active) *best = first_hit(scene, origin, towards, ignored, limit, any_will_do);
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
