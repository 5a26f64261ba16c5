// Which shapes does a side have, and how do they cross?
// Twin: reference_py/games/connect6/shapes.py.
#ifndef GAMES_CONNECT6_SHAPES_CL
#define GAMES_CONNECT6_SHAPES_CL

#include "games/connect6/classes.cl"
#include "games/connect6/geometry.cl"

// Pairs of classes that rules ask for: two L2, L2 and D3, L2 and L3, two D3, L2 and a threat.
#define L2_L2 0u
#define L2_D3 1u
#define L2_L3 2u
#define D3_D3 3u
#define L2_T 4u
#define OTHER_PAIR 5u
#define PAIRS 6u

// What is counted of a side: segments of each class; threats; stones and empty key points that two
// segments share, by their classes; all such stones; distances of the stones to the edge.
typedef struct {
    int of[SIX + 1u];
    int stones[PAIRS], keys[PAIRS];
    int threats, crossings, centre;
} shapes_t;

static uint pair_of(const uint one, const uint other)
{
    const uint low = min(one, other), high = max(one, other);
    if (low == L2) return high == L2 ? L2_L2 : high == D3 ? L2_D3 : high == L3 ? L2_L3 : L2_T;
    return low == D3 && high == D3 ? D3_D3 : OTHER_PAIR;
}

// How often segments of two classes share a stone or a key point.
static int link_of(const shapes_t *side, const uint pair)
{
    return side->stones[pair] + side->keys[pair];
}

// Count a stone's segments by pairs.
static void count_crossings(shapes_t *found, const uint *kinds, const uint count)
{
    for (uint i = 0; i < count; ++i)
        for (uint k = i + 1u; k < count; ++k) {
            ++found->stones[pair_of(kinds[i], kinds[k])];
            ++found->crossings;
        }
}

// Note the key points of a segment: of every point two bits for each direction, 0 or a class less
// one; a point that has other directions already is counted with each of them.
static void count_keys(shapes_t *found, uchar *known, uint keys, const uint kind, const uint start,
                       const uint direction)
{
    for (; keys > 0u; keys &= keys - 1u) {
        const uint at = start + lowest(keys) * step_of(direction);
        for (uint i = 0; i < DIRECTIONS; ++i) {
            const uint other = known[at] >> 2u * i & 3u;
            if (other > 0u) ++found->keys[pair_of(kind, other + 1u)];
        }
        known[at] |= (uchar)(kind - 1u << 2u * direction);
    }
}

// What a side has: its points, and the lines of both sides.
static shapes_t shapes_of(__global const uint *stones, const uint *own, const uint *other,
                          __global const uchar *classes)
{
    shapes_t found;
    for (uint i = 0; i <= SIX; ++i) found.of[i] = 0;
    for (uint i = 0; i < PAIRS; ++i) found.stones[i] = found.keys[i] = 0;
    found.threats = found.crossings = found.centre = 0;
    uchar known[POINTS];
    for (uint i = 0; i < POINTS; ++i) known[i] = 0;
    for (uint i = 0; i < SIDE_WORDS; ++i)
        for (uint word = stones[i]; word > 0u; word &= word - 1u) {
            const uint point = 32u * i + lowest(word);
            uint kinds[DIRECTIONS], count = 0u;
            found.centre += (int)edge_distance(point);
            for (uint direction = 0; direction < DIRECTIONS; ++direction) {
                const line_t line = line_of(point, direction);
                const segment_t here =
                    segment_at(own[line.number], other[line.number], line.length, line.place);
                const uint entry = entry_of(classes, here.length, here.mask);
                const uint kind = entry & CLASS_BITS;
                if (kind >= L2 && kind < SIX) kinds[count++] = kind;
                const uint before = line.place - here.first;
                if (kind == NO_CLASS || (here.mask & ((1u << before) - 1u)) > 0u)
                    continue;  // a stone before this one has counted the segment
                ++found.of[kind];
                found.threats += (int)(entry >> THREATS_SHIFT);
                if (kind >= L2 && kind <= L3)
                    count_keys(&found, known, key_points(here.length, here.mask), kind,
                               point - before * step_of(direction), direction);
            }
            count_crossings(&found, kinds, count);
        }
    return found;
}

#endif
