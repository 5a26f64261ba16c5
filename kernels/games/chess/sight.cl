// How do GPUs find what restricts a side, and how many moves it has?
//
// The same as in rules.cl with fewer operations where vectors are no help. A board is looked at
// twice, the second time turned by half (its bits in reverse order), so that every direction is one
// upwards: shifts to the left are cheaper, and to the east a subtraction does. What is empty for
// one, two and four steps serves all pieces. No local memory, no barriers.
#ifndef GAMES_CHESS_SIGHT_CL
#define GAMES_CHESS_SIGHT_CL

#include "games/chess/rules.cl"

#define FILE_H 0x8080808080808080ul

// A set with its bits in reverse order: the board turned by half.
INLINED ulong reversed(const ulong squares)
{
#if REVERSES_BY_PTX
    uint low, high;
    __asm__("brev.b32 %0, %1;" : "=r"(low) : "r"((uint)(squares >> 32)));
    __asm__("brev.b32 %0, %1;" : "=r"(high) : "r"((uint)squares));
    return (ulong)high << 32 | low;
#else
    const ulong bits =
        ((squares >> 1) & 0x5555555555555555ul) | ((squares & 0x5555555555555555ul) << 1);
    const ulong pairs = ((bits >> 2) & 0x3333333333333333ul) | ((bits & 0x3333333333333333ul) << 2);
    return flipped(((pairs >> 4) & 0x0f0f0f0f0f0f0f0ful) | ((pairs & 0x0f0f0f0f0f0f0f0ful) << 4));
#endif
}

// Through which squares pieces slide one, two and four steps, each a shift by `by`.
typedef struct {
    ulong one, two, four;
} through_t;

INLINED through_t through(const ulong squares, const uint by)
{
    through_t found;
    found.one = squares;
    found.two = found.one & (found.one << by);
    found.four = found.two & (found.two << (2u * by));
    return found;
}

// Where pieces are and slide to, before the last step.
INLINED ulong slide(const through_t open, const ulong pieces, const uint by)
{
    ulong found = pieces;
    found |= open.one & (found << by);
    found |= open.two & (found << (2u * by));
    found |= open.four & (found << (4u * by));
    return found;
}

// What stops a piece that slides to the east, and through which squares others slide.
typedef struct {
    ulong occupied;
    through_t north, north_east, north_west;
} open_t;

INLINED open_t open_lines(const ulong occupied)
{
    open_t found;
    found.occupied = occupied | FILE_H;  // a ray to the east ends there
    found.north = through(~occupied, 8u);
    found.north_east = through(~occupied & NOT_A, 9u);
    found.north_west = through(~occupied & NOT_H, 7u);
    return found;
}

// A board, and the same turned by half.
typedef struct {
    open_t up, down;
} lines_t;

INLINED lines_t lines_of(const ulong occupied)
{
    lines_t found;
    found.up = open_lines(occupied);
    found.down = open_lines(reversed(occupied));
    return found;
}

// What each of the pieces sees, the first occupied square included; pieces are among the occupied.
// Eastwards the subtraction of a piece borrows from the next occupied square of its rank. Four
// lanes as in rules.cl: vertical, horizontal, diagonal, antidiagonal.
INLINED ulong4 see(const open_t open, const ulong4 pieces)
{
    return (ulong4)(slide(open.north, pieces.x, 8u) << 8,
                    open.occupied ^ (open.occupied - ((pieces.y & NOT_H) << 1)),
                    (slide(open.north_east, pieces.z, 9u) << 9) & NOT_A,
                    (slide(open.north_west, pieces.w, 7u) << 7) & NOT_H);
}

INLINED ulong4 reversed_lanes(const ulong4 lanes)
{
    return (ulong4)(reversed(lanes.x), reversed(lanes.y), reversed(lanes.z), reversed(lanes.w));
}

// All squares that sliding pieces see.
INLINED ulong slid(const lines_t lines, const ulong4 pieces)
{
    return joined(see(lines.up, pieces)) |
           reversed(joined(see(lines.down, reversed_lanes(pieces))));
}

// A king's rays on an empty board, those downwards turned by half, its steps and those of a knight.
// The last word, 0, is where there would be a gap, whose bytes would be copied without a value.
typedef struct {
    ulong4 up, down;
    ulong square, steps, jumps, gap;
} king_t;

INLINED king_t king_at(const ulong square)
{
    const open_t open = open_lines(0ul);
    king_t found;
    found.up = see(open, (ulong4)(square));
    found.down = see(open, (ulong4)(reversed(square)));
    found.square = square;
    found.steps = king_steps(square);
    found.jumps = knight_steps(square);
    found.gap = 0ul;
    return found;
}

// What a king sees along its rays.
INLINED ulong4 seen(const ulong4 rays, const ulong occupied)
{
    const ulong4 blockers = rays & (ulong4)(occupied);
    return rays & (blockers ^ (blockers - (ulong4)(1ul)));
}

// Squares one step behind a king, away from the pieces that check it (beyond an edge: none where a
// king can go).
INLINED ulong beyond(const ulong4 they, const ulong king)
{
    return joined((they & (ulong4)(king)) << STEP);
}

INLINED limits_t limits_seen(const position_t at, const king_t king, const lines_t lines)
{
    const ulong kinds = at.pawns | at.knights | at.diagonals | at.orthogonals;
    const ulong taken = at.own | at.other, knights = at.other & at.knights;
    const ulong straight = at.other & at.orthogonals, slanting = at.other & at.diagonals;
    const ulong4 sliders = (ulong4)(straight, straight, slanting, slanting);
    const ulong4 turned_sliders = reversed_lanes(sliders);
    const ulong4 they_up = see(lines.up, sliders), they_down = see(lines.down, turned_sliders);
    const ulong4 up = seen(king.up, taken), down = seen(king.down, reversed(taken));
    limits_t found;
    found.king = king.square;
    found.danger = joined(they_up) | beyond(they_up, king.square) |
                   reversed(joined(they_down) | beyond(they_down, reversed(king.square))) |
                   knight_steps(knights) | downwards(at.other & at.pawns) |
                   king_steps(at.other & ~kinds);
    const ulong4 meet = (they_up & reversed_lanes(down)) | (reversed_lanes(they_down) & up);
    found.pins = meet & (ulong4)(at.own);
    found.pinned = joined(found.pins);
    found.checkers = joined(up & sliders) | reversed(joined(down & turned_sliders)) |
                     (king.jumps & knights) | (upwards(king.square) & at.other & at.pawns);
    const ulong between = found.checkers | (joined(meet) & ~taken);
    const ulong one = found.checkers & (found.checkers - 1ul) ? 0ul : between;
    found.targets = (found.checkers ? one : ~0ul) & ~at.own;
    return found;
}

// Sliding pieces that are not pinned, or on the line of the lane.
INLINED ulong4 free_sliders(const position_t at, const ulong pieces, const limits_t limits)
{
    const ulong straight = pieces & at.orthogonals, slanting = pieces & at.diagonals;
    return (ulong4)(straight, straight, slanting, slanting) &
           ~((ulong4)(limits.pinned) ^ limits.pins);
}

INLINED uint count_seen(const position_t at, const limits_t limits, const lines_t lines)
{
    const ulong4 sliders = free_sliders(at, at.own, limits);
    const ulong4 bound = (ulong4)(limits.pinned) ^ limits.pins;
    const ulong knights = at.own & at.knights & ~limits.pinned;
    const ulong empty = ~(at.own | at.other), takes = at.other & limits.targets;
    const ulong4 targets = (ulong4)(limits.targets), turned = (ulong4)(reversed(limits.targets));
    const ulong4 pawns = (ulong4)(at.own & at.pawns) & ~bound;
    const ulong one = (pawns.x << 8) & empty;
    const ulong two = ((one & RANK_3) << 8) & empty & limits.targets;
    const ulong4 ends = (ulong4)(one & limits.targets, two, (pawns.z << 9) & NOT_A & takes,
                                 (pawns.w << 7) & NOT_H & takes);
    uint count = counted(see(lines.up, sliders) & targets) +
                 counted(see(lines.down, reversed_lanes(sliders)) & turned) +
                 counted(JUMPS_UP & ((ulong4)(knights) << JUMP) & targets) +
                 counted(JUMPS_UP & ((ulong4)(reversed(knights)) << JUMP) & turned) + counted(ends);
    if (joined(ends) & RANK_8) count += 3u * counted(ends & (ulong4)(RANK_8));
    return count;
}

// Whether a pawn may capture en passant: both pawns leave their rank at once, so no mask says it.
INLINED bool passes(const position_t at, const limits_t limits, const king_t king, const ulong pawn)
{
    const ulong end = at.special & RANK_6, taken = end >> 8;
    const ulong left = (at.own | at.other) & ~(pawn | taken) | end;
    const ulong straight = at.other & at.orthogonals, slanting = at.other & at.diagonals;
    const ulong4 sliders = (ulong4)(straight, straight, slanting, slanting);
    const ulong4 checks = seen(king.up, left) & sliders;
    const ulong4 below = seen(king.down, reversed(left)) & reversed_lanes(sliders);
    return !(joined(checks | below) | (limits.checkers & ~taken & (at.pawns | at.knights)));
}

// Own pawns that may capture en passant.
INLINED ulong passing(const position_t at, const limits_t limits, const king_t king)
{
    ulong found = 0ul;
    if (at.special & RANK_6) {
        ulong pawns = at.own & at.pawns & downwards(at.special & RANK_6);
        for (; pawns; pawns &= pawns - 1ul)
            if (passes(at, limits, king, lowest(pawns))) found |= lowest(pawns);
    }
    return found;
}

INLINED uint count_others_seen(const position_t at, const limits_t limits, const king_t king)
{
    const ulong steps = king.steps & ~(at.own | limits.danger);
    return (uint)(popcount(steps | castles(at, limits)) + popcount(passing(at, limits, king)));
}

#endif
