// How good is a segment: what can be made of its stones?
// Twin: reference_py/games/connect6/classes.py.
//
// The table has an entry for every mask of every length: the class in its low bits, the number of
// threats above them. Three kernels make it, each a work-item for an entry; no local memory, no
// barriers.
#ifndef GAMES_CONNECT6_CLASSES_CL
#define GAMES_CONNECT6_CLASSES_CL

#include "primitives/real.cl"

#define NO_CLASS 0u
#define D2 1u
#define L2 2u
#define D3 3u
#define L3 4u
#define T1 5u
#define T2 6u
#define T3 7u
#define SIX 8u

#define SHORTEST 6u
#define WINDOW 6u
#define SIX_IN_A_ROW 63u
#define ENTRIES 1048512u
#define THREATS_SHIFT 4u
#define CLASS_BITS 15u

// Position of a segment in the table.
static uint table_place(const uint length, const uint mask)
{
    return (1u << length) - (1u << SHORTEST) + mask;
}

// Class and threats of a segment; those of a short one are 0.
static uint entry_of(__global const uchar *classes, const uint length, const uint mask)
{
    return length >= SHORTEST ? classes[table_place(length, mask)] : 0u;
}

static uint kind_of(__global const uchar *classes, const uint length, const uint mask)
{
    return entry_of(classes, length, mask) & CLASS_BITS;
}

// The empty points, as a mask, in the windows that have the most stones.
static uint key_points(const uint length, const uint mask)
{
    uint most = 0u, keys = 0u;
    for (uint i = 0; i + WINDOW <= length; ++i) {
        const uint window = SIX_IN_A_ROW << i, stones = popcount(mask & window);
        keys = stones > most ? window : stones == most ? keys | window : keys;
        most = max(most, stones);
    }
    return keys & ~mask;
}

// Length of the segment of an entry.
static uint length_of(const uint entry)
{
    return 31u - clz(entry + (1u << SHORTEST));
}

// How many stones are needed to stop each segment, and whether it has six in a row.
__kernel void all_threats(__global uchar *classes)
{
    const size_t entry = get_global_id(0);
    if (entry >= ENTRIES) return;
    const uint length = length_of(entry), mask = (uint)entry - table_place(length, 0u);
    uint found = 0u, marked = 0u;
    bool six = false;
    for (uint i = 0; i + WINDOW <= length; ++i) {
        const uint window = SIX_IN_A_ROW << i, stones = popcount(mask & window);
        six = six || stones == WINDOW;
        if (stones >= 4u && (window & marked) == 0u) {
            ++found;
            marked |= window & ~mask;
        }
    }
    classes[entry] = (uchar)(found << THREATS_SHIFT | (six ? SIX : NO_CLASS));
}

// The most threats after another stone, below those there are.
__kernel void best_more(__global const uchar *classes, __global uchar *ones)
{
    const size_t entry = get_global_id(0);
    if (entry >= ENTRIES) return;
    const uint length = length_of(entry), mask = (uint)entry - table_place(length, 0u);
    uchar best = 0;
    for (uint i = 0; i < length; ++i)
        if ((mask >> i & 1u) == 0u) best = max(best, classes[entry + (1u << i)]);
    ones[entry] = best >> THREATS_SHIFT;
}

// The class of each segment; every game then has the table.
__kernel void build_classes(__global uchar *classes, __global const uchar *ones,
                            __global uchar *ready, const uint copies)
{
    const size_t entry = get_global_id(0);
    if (entry < copies) ready[entry] = 1;
    if (entry >= ENTRIES) return;
    const uint length = length_of(entry), mask = (uint)entry - table_place(length, 0u);
    const uint now = classes[entry] >> THREATS_SHIFT, one = ones[entry];
    uint two = 0u;
    for (uint i = 0; i < length; ++i)
        if ((mask >> i & 1u) == 0u) two = max(two, (uint)ones[entry + (1u << i)]);
    uint kind = two >= 2u ? L2 : two == 1u ? D2 : NO_CLASS;
    if (one > 0u) kind = one >= 2u ? L3 : D3;
    if (now > 0u) kind = now >= 3u ? T3 : now == 2u ? T2 : T1;
    if ((classes[entry] & CLASS_BITS) == SIX) kind = SIX;
    classes[entry] = (uchar)(now << THREATS_SHIFT | kind);
}

#endif
