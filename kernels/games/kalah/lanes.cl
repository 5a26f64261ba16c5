// How does a CPU play several random games at a time? A lane of a vector is a game.
// The moves are those of move.cl and rules.cl, and so are the random numbers.
//
// Nothing branches on a board. What a condition decides is a mask, all ones or zero, made of the
// sign of a difference, because PoCL 3.0 compiles comparisons and `select` of long vectors badly. A
// lane whose game is over continues, and changes nothing. No local memory, no barriers. Macros:
// PITS, EMPTY_CAPTURE, MOST_MOVES.
#ifndef GAMES_KALAH_LANES_CL
#define GAMES_KALAH_LANES_CL

#include "games/kalah/match.cl"

#if DEVICE_IS_CPU
#define MOVES_AT_ONCE 8  // recorded in a word

// Games of which some are over. A pit is a byte, as in rules.cl.
typedef struct {
    ulong8 own, other;  // as the side sees them that is to move
    ulong8 side;  // all ones: BOTTOM is to move
    ulong8 banked;  // of TOP, and in the upper half of BOTTOM
    ulong8 stream, live, made;
    ulong8 rare;  // not zero: a draw that rng_below may have rejected
} lanes_t;

// All ones where a < b; both are below 2^62.
#define LESS(a, b) as_ulong8(as_long8((a) - (b)) >> 63)

// All ones where a is not zero.
#define FILLED(a) as_ulong8(as_long8((a) | (0ul - (a))) >> 63)

// a where the mask is set, else b.
#define EITHER(mask, a, b) ((b) ^ (((a) ^ (b)) & (mask)))

// A number below 256 in each of the lowest PITS bytes.
#define IN_EACH_PIT(n) \
    ((((n) * 0x01010101ul) | ((n) * 0x01010101ul) << 32) & (~0ul >> (64 - 8 * PITS)))

// Any pit that is not empty, as any_move of move.cl draws it.
static ulong8 any_move_of_each(lanes_t *at)
{
    const ulong high = 0x8080808080808080ul, low = ~high;
    const ulong8 filled = (((at->own & low) + low) | at->own) & high;
    ulong8 up_to = filled >> 7;
    up_to += up_to << 8;
    up_to += up_to << 16;
    up_to += up_to << 32;
    const ulong8 pits = up_to >> 56, stream = at->stream;
    const ulong8 product = ((stream ^ (stream >> 32)) & 0xfffffffful) * pits;
    const ulong8 drawn = product >> 32;
    at->rare |= LESS(product & 0xfffffffful, 8ul) & at->live;
    const ulong8 next = (stream & 0xfffffffful) * RNG_A + (stream >> 32);
    at->stream = EITHER(at->live & LESS(1ul, pits), next, stream);
    ulong8 before = (((IN_EACH_PIT(drawn) | high) - up_to) & high) >> 7;
    before += before >> 32;
    before += before >> 16;
    before += before >> 8;
    return before & 15ul & at->live;
}

// Make a move of each game that is not over; returns the cells that were emptied, 255 for none.
static ulong8 random_move_of_each(lanes_t *at)
{
    const ulong8 one = (ulong8)(0x0101010101010101ul), all = ~(ulong8)(0ul);
    const ulong8 live = at->live, i = any_move_of_each(at), place = 8ul * i;
    const ulong8 stones = (at->own >> place) & 255ul & live;
    // 65536 / RING is near enough for fewer than 256 stones.
    const ulong8 laps = (stones * (65536ul / RING + 1ul)) >> 16, each = IN_EACH_PIT(laps);
    const ulong8 reach = i + stones - laps * RING;
    // As `play` of rules.cl sows: over the own pits, the other ones, around to the own.
    const ulong8 stays = LESS(reach, (ulong)PITS), near = EITHER(stays, reach, PITS - 1ul);
    const ulong8 around = ~LESS(reach, (ulong)RING), last = reach - (around & RING);
    const ulong8 across = EITHER(around, (ulong)PITS, (reach - PITS) & ~stays);
    ulong8 own = at->own - (stones << place) + each;
    own += ((one << place) << 8) & (one >> (56ul - 8ul * near));
    own += one & ~(all << ((8ul * last + 8ul) & 63ul)) & around;
    ulong8 other = at->other + each;
    other += one & ~((all << (4ul * across)) << (4ul * across));
    // The last stone is alone in an own pit. Pits that are none are cut off with the mask.
    const ulong8 mine = (8ul * last) & 63ul, theirs = (8ul * (PITS - 1ul - last)) & 63ul;
    const ulong8 facing = (other >> theirs) & 255ul;
    ulong8 captures = LESS(last, (ulong)PITS) & LESS(stones, RING + 1ul) & live;
    captures &= ~FILLED(((own >> mine) & 255ul) ^ 1ul);
    if (!EMPTY_CAPTURE) captures &= FILLED(facing);
    own &= ~((captures & 255ul) << mine);
    other &= ~((captures & 255ul) << theirs);
    const ulong8 banked = laps + (~stays & 1ul) + (captures & (facing + 1ul));
    const ulong8 cell = i + (~at->side & (PITS + 1ul));
    at->banked += banked << (at->side & 32ul);
    at->made += live & 1ul;
    const ulong8 turns = FILLED(last ^ (ulong)PITS) & live, changes = (own ^ other) & turns;
    at->own = own ^ changes;
    at->other = other ^ changes;
    at->side ^= turns;
    at->live &= FILLED(at->own) & FILLED(at->other);
    return (cell | ~live) & 255ul;
}

// Whether any bit of any lane is set.
static bool any_bit(const ulong8 lanes)
{
    const ulong4 four = lanes.lo | lanes.hi;
    const ulong2 two = four.lo | four.hi;
    return (two.x | two.y) != 0ul;
}
#endif

#endif
