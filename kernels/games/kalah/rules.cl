// What may a player do, what becomes of the board, and what is it worth?
// Twin: reference_py/games/kalah/rules.py.
//
// In memory a board is CELLS bytes. In registers it is what its mover sees: the pits of both sides,
// a byte each in a long of its own, pit 0 the lowest, and the value of the board. No move
// depends on the stores, and the value of a board after a move follows from the one before: the
// stores are needed only where a board is written. No pit ever holds more than 255 stones, so no
// byte overflows.
//
// A move of s stones from pit i ends i + s cells on, in a ring of the own pits, the own store and
// the other pits (the other store is left out). A stone banked is worth 5, one in an own pit 1, one
// in the other's -1: relative to the pit that they come from, a stone into the store adds 4 and one
// into the other pits takes 2. Macros: PITS, EMPTY_CAPTURE.
#ifndef GAMES_KALAH_RULES_CL
#define GAMES_KALAH_RULES_CL

#include "primitives/real.cl"

#define TOP 0
#define BOTTOM 1
#define NO_PIT -1
#define CELLS (2 * PITS + 2)
#define RING (2u * PITS + 1u)  // cells that a stone may fall into

// A board as its mover sees it; value: 5 a stone banked, 1 a stone in a pit, the other's taken off.
typedef struct {
    ulong own, other;
    int value;
} view_t;

// What a move made of it, still as the same side sees it: stones it banked, whether it goes again.
typedef struct {
    ulong own, other;
    int value;
    uint banked, again;
} moved_t;

#define STONES(pits, i) ((uint)((pits) >> (8u * (uint)(i))) & 255u)
#define PIT_MASK(i) (255ul << (8u * (uint)(i)))

// The smaller and the larger of two numbers. PoCL 3.0 calls its own `min` and `max` as functions,
// with all registers saved, which took a third of the time of a search.
#define LESSER(a, b) ((a) < (b) ? (a) : (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

// A one in each of the lowest n bytes, n <= 8.
static ulong ones(const uint n)
{
    return n == 0u ? 0ul : 0x0101010101010101ul >> (64u - 8u * n);
}

// Whether either side has no stones in its pits.
static bool is_over(const view_t board)
{
    return board.own == 0ul || board.other == 0ul;
}

// What the value of a board is after a move of all `stones` > 0 of pit i; `last` is where they end.
static int value_after(const view_t board, const uint i, const uint stones, uint *last)
{
    const uint reach = i + stones, laps = reach / RING, end = reach % RING;
    const uint into_store = (reach + PITS + 1u) / RING;
    const uint into_other = laps * PITS + (end > PITS ? end - PITS : 0u);
    int value = board.value + 4 * (int)into_store - 2 * (int)into_other;
    // The last stone is alone in an own pit that was empty, or, after one lap, in its own.
    if (end < PITS && (stones == RING || (stones < RING && STONES(board.own, end) == 0u))) {
        const uint facing = STONES(board.other, PITS - 1u - end) + laps;
        if (facing > 0u || EMPTY_CAPTURE) value += 6 * (int)facing + 4;
    }
    *last = end;
    return value;
}

// Sow the stones of pit i, of which there are some. What differs from move to move is computed and
// not branched on: a core mispredicts such branches every other time, which takes as long as a
// move.
static moved_t play(const view_t board, const uint i)
{
    const uint stones = STONES(board.own, i), laps = stones / RING, rest = stones % RING;
    uint last;
    moved_t after;
    after.value = value_after(board, i, stones, &last);
    after.again = last == PITS;
    after.banked = (i + stones + PITS + 1u) / RING;
    // Whole laps, then the rest: up to the last own pit, over the other ones, around to the own.
    const uint reach = i + rest, near = LESSER(reach, PITS - 1u);
    after.own =
        (board.own & ~PIT_MASK(i)) + ((ones(8) << 8u * i << 8u) & (ones(8) >> (56u - 8u * near)));
    after.other = board.other + ones(LESSER(LARGER(reach, PITS) - PITS, PITS));
    if (i + stones >= RING) {
        after.own += laps * ones(PITS) + ones(LARGER(reach + 1u, RING) - RING);
        after.other += laps * ones(PITS);
    }
    // The last stone is alone in an own pit: it is banked with those that face it, if there are
    // any.
    const uint facing = STONES(after.other, PITS - 1u - last);
    const uint alone = (last < PITS) & (stones <= RING) & (STONES(after.own, last) == 1u);
    const uint captures = alone & ((facing > 0u) | EMPTY_CAPTURE);
    const ulong pit = (0ul - captures) & 255ul;
    after.own &= ~(pit << (8u * last));
    after.other &= ~(pit << (8u * (PITS - 1u - last)));
    after.banked += (0u - captures) & (facing + 1u);
    return after;
}

// The board as the side sees it that is to move next.
static view_t next_view(const moved_t after)
{
    view_t board;
    board.own = after.again ? after.own : after.other;
    board.other = after.again ? after.other : after.own;
    board.value = after.again ? after.value : -after.value;
    return board;
}

// A board in memory, as a side sees it.
static view_t view_of(__global const uchar *cells, const int side)
{
    const uint own = side == TOP ? PITS + 1u : 0u, other = PITS + 1u - own;
    view_t board;
    board.own = board.other = 0ul;
    board.value = 5 * ((int)cells[own + PITS] - (int)cells[other + PITS]);
    for (uint i = 0; i < PITS; ++i) {
        board.own |= (ulong)cells[own + i] << (8u * i);
        board.other |= (ulong)cells[other + i] << (8u * i);
        board.value += (int)cells[own + i] - (int)cells[other + i];
    }
    return board;
}

// Write the board that a side's move made of the one at `before`.
static void put_board(__global uchar *cells, __global const uchar *before, const int side,
                      const moved_t after)
{
    const uint own = side == TOP ? PITS + 1u : 0u, other = PITS + 1u - own;
    for (uint i = 0; i < PITS; ++i) {
        cells[own + i] = (uchar)STONES(after.own, i);
        cells[other + i] = (uchar)STONES(after.other, i);
    }
    cells[own + PITS] = (uchar)(before[own + PITS] + after.banked);
    cells[other + PITS] = before[other + PITS];
}

#endif
