// What is a position worth to its side to move, if a workgroup weighs it?
// Twin: reference_py/games/connect6/evaluate.py.
//
// The same value as evaluate.cl has. A work-item alone keeps lines and key points in memory of its
// own, 1.3 KiB, which of all work-items together no cache of a GPU holds; here a position is in
// local memory once, and each stone's directions are looked at side by side. All that is counted is
// whole numbers, so the order does not matter. Local memory: 5 KiB.
#ifndef GAMES_CONNECT6_WEIGH_CL
#define GAMES_CONNECT6_WEIGH_CL

#include "games/connect6/evaluate.cl"

#define SIDES 2u
#define KNOWN_WORDS ((POINTS + 3u) / 4u)

// Places of what is counted of a side: segments of each class, and as shapes_t has them.
#define OF 0u
#define STONES (SIX + 1u)
#define KEYS (STONES + PAIRS)
#define THREATS (KEYS + PAIRS)
#define CROSSINGS (THREATS + 1u)
#define CENTRES (CROSSINGS + 1u)
#define COUNTS (CENTRES + 1u)

// What was counted of a side.
INLINED shapes_t counted_shapes(__local const int *counts)
{
    shapes_t found;
    for (uint i = 0; i <= SIX; ++i) found.of[i] = counts[OF + i];
    for (uint i = 0; i < PAIRS; ++i) {
        found.stones[i] = counts[STONES + i];
        found.keys[i] = counts[KEYS + i];
    }
    found.threats = counts[THREATS];
    found.crossings = counts[CROSSINGS];
    found.centre = counts[CENTRES];
    return found;
}

// Count the segment of a stone in a direction, and note its key points, unless a stone before it
// does. Returns the class of the segment.
INLINED uint count_segment(__local int *counts, __local uint *known, const uint point,
                           const uint direction, const uint own, const uint other,
                           __global const uchar *classes)
{
    const line_t line = line_of(point, direction);
    const segment_t here = segment_at(own, other, line.length, line.place);
    const uint entry = entry_of(classes, here.length, here.mask), kind = entry & CLASS_BITS;
    const uint before = line.place - here.first;
    if (kind == NO_CLASS || (here.mask & ((1u << before) - 1u)) > 0u) return kind;
    atomic_inc(&counts[OF + kind]);
    if (entry >> THREATS_SHIFT > 0u) atomic_add(&counts[THREATS], (int)(entry >> THREATS_SHIFT));
    if (kind < L2 || kind > L3) return kind;
    const uint step = step_of(direction), start = point - before * step;
    for (uint keys = key_points(here.length, here.mask); keys > 0u; keys &= keys - 1u) {
        const uint at = start + lowest(keys) * step;
        atomic_or(&known[at / 4u], (kind - 1u) << (8u * (at % 4u) + 2u * direction));
    }
    return kind;
}

// The value of a position; a full board without six is worth nothing. All work-items of a group
// call it together, and get the value.
COLLECTIVE int evaluate_together(__global const uint *position, const uint ply,
                                 __global const uchar *classes)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    __local uint *lines = local_malloc(SIDES * LINES * sizeof(uint));
    __local uint *known = local_malloc(SIDES * KNOWN_WORDS * sizeof(uint));
    __local int *counts = local_malloc(SIDES * COUNTS * sizeof(int));
    __local ushort *stones = local_malloc(POINTS * sizeof(ushort));
    __local uchar *kinds = local_malloc(POINTS * DIRECTIONS * sizeof(uchar));
    __local uint *placed = local_malloc(sizeof(uint));
    __local int *value = local_malloc(sizeof(int));
    for (uint i = lid; i < SIDES * LINES; i += lanes) lines[i] = 0u;
    for (uint i = lid; i < SIDES * KNOWN_WORDS; i += lanes) known[i] = 0u;
    for (uint i = lid; i < SIDES * COUNTS; i += lanes) counts[i] = 0;
    if (lid == 0u) placed[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // nothing is counted, before something is
    for (uint i = lid; i < SIDES * SIDE_WORDS; i += lanes) {
        const uint side = i / SIDE_WORDS;
        for (uint word = position[i]; word > 0u; word &= word - 1u) {
            const uint point = 32u * (i % SIDE_WORDS) + lowest(word);
            stones[atomic_inc(placed)] = (ushort)(side << 15 | point);
            atomic_add(&counts[side * COUNTS + CENTRES], (int)edge_distance(point));
            for (uint direction = 0; direction < DIRECTIONS; ++direction) {
                const line_t line = line_of(point, direction);
                atomic_or(&lines[side * LINES + line.number], 1u << line.place);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all stones and lines
    const uint all = placed[0];
    for (uint i = lid; i < all * DIRECTIONS; i += lanes) {
        const uint stone = stones[i / DIRECTIONS], direction = i % DIRECTIONS;
        const uint side = stone >> 15, point = stone & 0x7fffu;
        const uint number = line_of(point, direction).number;
        kinds[i] = (uchar)count_segment(counts + side * COUNTS, known + side * KNOWN_WORDS, point,
                                        direction, lines[side * LINES + number],
                                        lines[(1u - side) * LINES + number], classes);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // classes of all segments, and their key points
    for (uint i = lid; i < all; i += lanes) {
        __local int *own = counts + (stones[i] >> 15) * COUNTS;
        for (uint k = 0; k < DIRECTIONS; ++k)
            for (uint m = k + 1u; m < DIRECTIONS; ++m) {
                const uint one = kinds[i * DIRECTIONS + k], other = kinds[i * DIRECTIONS + m];
                if (one < L2 || one >= SIX || other < L2 || other >= SIX) continue;
                atomic_inc(&own[STONES + pair_of(one, other)]);
                atomic_inc(&own[CROSSINGS]);
            }
    }
    for (uint i = lid; i < SIDES * KNOWN_WORDS; i += lanes) {
        __local int *own = counts + i / KNOWN_WORDS * COUNTS;
        for (uint four = known[i]; four > 0u; four >>= 8)
            for (uint k = 0; k < DIRECTIONS; ++k)
                for (uint m = k + 1u; m < DIRECTIONS; ++m) {
                    const uint one = four >> 2u * k & 3u, other = four >> 2u * m & 3u;
                    if (one > 0u && other > 0u)
                        atomic_inc(&own[KEYS + pair_of(one + 1u, other + 1u)]);
                }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // everything is counted
    if (lid == 0u) {
        const shapes_t now = counted_shapes(counts), then = counted_shapes(counts + COUNTS);
        const bool six = now.of[SIX] > 0 || then.of[SIX] > 0;
        value[0] = all == POINTS && !six ? 0 : rule_of(&now, &then);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the value, before all read it
    const int found = value[0];
    barrier(CLK_LOCAL_MEM_FENCE);  // the value is read, before another position is weighed
    return found;
}

#endif
