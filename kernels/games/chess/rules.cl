// Which moves are legal, and what becomes of the position?
// Twin: reference_py/games/chess/rules.py.
//
// Sliding pieces are moved all at once, direction by direction, by shifts: the squares that are
// reached grow by one step, by two, by four (a parallel prefix). Neither tables nor multiplications
// are needed, no branch depends on the position, and every device gives the same. The vectors have
// four directions: upwards north, east, north-east, north-west, and downwards their opposites, lane
// by lane. A square is reached in a direction by one piece only, so counting the squares of each
// direction counts moves. Of lines through the king, lanes are vertical, horizontal, diagonal and
// antidiagonal. No local memory, no barriers.
#ifndef GAMES_CHESS_RULES_CL
#define GAMES_CHESS_RULES_CL

#include "games/chess/board.cl"

#define NOT_A 0xfefefefefefefefeul
#define NOT_H 0x7f7f7f7f7f7f7f7ful
#define NOT_AB 0xfcfcfcfcfcfcfcfcul
#define NOT_GH 0x3f3f3f3f3f3f3f3ful

// Shifts of one step, and the squares on which it can end: not those beyond an edge.
#define STEP ((ulong4)(8ul, 1ul, 9ul, 7ul))
#define ENDS_UP ((ulong4)(~0ul, NOT_A, NOT_A, NOT_H))
#define ENDS_DOWN ((ulong4)(~0ul, NOT_H, NOT_H, NOT_A))

// The same of a knight: two ranks up and a file to the right or left, one rank and two files.
#define JUMP ((ulong4)(17ul, 15ul, 10ul, 6ul))
#define JUMPS_UP ((ulong4)(NOT_A, NOT_H, NOT_AB, NOT_GH))
#define JUMPS_DOWN ((ulong4)(NOT_H, NOT_A, NOT_GH, NOT_AB))

// What a pawn may become; 0: no promotion.
#define KNIGHT 1u
#define BISHOP 2u
#define ROOK 3u
#define QUEEN 4u

#define EAST_EMPTY 0x60ul
#define WEST_EMPTY 0x0eul
#define WEST_SAFE 0x0cul

// Squares that sliding pieces see in each direction through empty ones, with the first occupied.
static ulong4 rays_up(const ulong4 pieces, const ulong empty)
{
    ulong4 through = ENDS_UP & (ulong4)(empty), found = pieces;
    found |= through & (found << STEP);
    through &= through << STEP;
    found |= through & (found << (STEP * 2ul));
    through &= through << (STEP * 2ul);
    found |= through & (found << (STEP * 4ul));
    return ENDS_UP & (found << STEP);
}

static ulong4 rays_down(const ulong4 pieces, const ulong empty)
{
    ulong4 through = ENDS_DOWN & (ulong4)(empty), found = pieces;
    found |= through & (found >> STEP);
    through &= through >> STEP;
    found |= through & (found >> (STEP * 2ul));
    through &= through >> (STEP * 2ul);
    found |= through & (found >> (STEP * 4ul));
    return ENDS_DOWN & (found >> STEP);
}

// All squares of the lanes.
static ulong joined(const ulong4 lanes)
{
    const ulong2 pairs = lanes.lo | lanes.hi;
    return pairs.x | pairs.y;
}

// How many squares the lanes have, each for itself.
static uint counted(const ulong4 lanes)
{
    return (uint)(popcount(lanes.x) + popcount(lanes.y) + popcount(lanes.z) + popcount(lanes.w));
}

// Squares to which knights, and a king, step.
static ulong knight_steps(const ulong knights)
{
    const ulong4 all = (ulong4)(knights);
    return joined((JUMPS_UP & (all << JUMP)) | (JUMPS_DOWN & (all >> JUMP)));
}

static ulong king_steps(const ulong king)
{
    const ulong row = king | ((king << 1) & NOT_A) | ((king >> 1) & NOT_H);
    return (row | (row << 8) | (row >> 8)) & ~king;
}

// Squares that pawns attack: own ones, which go up, and those of the other side.
static ulong upwards(const ulong pawns)
{
    return ((pawns << 9) & NOT_A) | ((pawns << 7) & NOT_H);
}

static ulong downwards(const ulong pawns)
{
    return ((pawns >> 7) & NOT_A) | ((pawns >> 9) & NOT_H);
}

// What restricts the moves of a position; `pins` has the own pieces that are pinned on each line.
typedef struct {
    ulong4 pins;
    ulong king, danger, checkers, targets, pinned;
} limits_t;

static limits_t limits_of(const position_t at)
{
    const ulong kinds = at.pawns | at.knights | at.diagonals | at.orthogonals;
    const ulong empty = ~(at.own | at.other);
    const ulong straight = at.other & at.orthogonals, slanting = at.other & at.diagonals;
    const ulong knights = at.other & at.knights, pawns = at.other & at.pawns;
    const ulong4 sliders = (ulong4)(straight, straight, slanting, slanting);
    limits_t found;
    found.king = at.own & ~kinds;
    const ulong4 king = (ulong4)(found.king);
    // What they attack, the own king taken away, and what a king that slides would see.
    const ulong4 they_up = rays_up(sliders, empty | found.king);
    const ulong4 they_down = rays_down(sliders, empty | found.king);
    const ulong4 up = rays_up(king, empty), down = rays_down(king, empty);
    found.danger = joined(they_up | they_down) | knight_steps(knights) | downwards(pawns) |
                   king_steps(at.other & ~kinds);
    // Where both meet is a piece between them, or empty squares of a check.
    const ulong4 meet = (they_up & down) | (they_down & up);
    const ulong4 hits = (up | down) & sliders;
    found.pins = meet & (ulong4)(at.own);
    found.pinned = joined(found.pins);
    found.checkers =
        joined(hits) | (knight_steps(found.king) & knights) | (upwards(found.king) & pawns);
    const ulong between = found.checkers | (joined(meet) & empty);
    const ulong one = found.checkers & (found.checkers - 1ul) ? 0ul : between;
    found.targets = (found.checkers ? one : ~0ul) & ~at.own;
    return found;
}

// Whether the king of the side to move is attacked.
static bool in_check(const position_t at)
{
    const ulong king = at.own & ~(at.pawns | at.knights | at.diagonals | at.orthogonals);
    const ulong empty = ~(at.own | at.other);
    const ulong straight = at.other & at.orthogonals, slanting = at.other & at.diagonals;
    const ulong4 seen = rays_up((ulong4)(king), empty) | rays_down((ulong4)(king), empty);
    const ulong attackers =
        ((seen.x | seen.y) & straight) | ((seen.z | seen.w) & slanting) |
        (knight_steps(king) & at.knights & at.other) | (upwards(king) & at.pawns & at.other) |
        (king_steps(king) & at.other & ~(at.pawns | at.knights | at.diagonals | at.orthogonals));
    return attackers != 0ul;
}

// Whether one own pawn may capture en passant: both pawns leave their rank at once, so no mask
// says it.
static bool captures_en_passant(const position_t at, const ulong pawn)
{
    const ulong end = at.special & RANK_6 & upwards(pawn), taken = end >> 8;
    position_t after = at;
    after.own ^= pawn | end;
    after.other &= ~taken;
    after.pawns = (at.pawns & ~(pawn | taken)) | end;
    return end != 0ul && !in_check(after);
}

// Squares to which the king may castle.
static ulong castles(const position_t at, const limits_t limits)
{
    const ulong taken = at.own | at.other;
    const bool east = (at.special & 0x80ul) && !((taken | limits.danger) & EAST_EMPTY);
    const bool west =
        (at.special & 0x01ul) && !(taken & WEST_EMPTY) && !(limits.danger & WEST_SAFE);
    const ulong found = (east ? 0x40ul : 0ul) | (west ? 0x04ul : 0ul);
    return limits.checkers ? 0ul : found;
}

// How many moves pieces and pawns have, but for captures en passant.
static uint count_pieces(const position_t at, const limits_t limits)
{
    const ulong empty = ~(at.own | at.other), targets = limits.targets;
    const ulong straight = at.own & at.orthogonals, slanting = at.own & at.diagonals;
    const ulong4 bound = (ulong4)(limits.pinned) ^ limits.pins;  // pinned, and not on this line
    const ulong4 sliders = (ulong4)(straight, straight, slanting, slanting) & ~bound;
    const ulong4 knights = (ulong4)(at.own & at.knights & ~limits.pinned);
    const ulong4 squares = (ulong4)(targets);
    uint count = counted(rays_up(sliders, empty) & squares) +
                 counted(rays_down(sliders, empty) & squares) +
                 counted(JUMPS_UP & (knights << JUMP) & squares) +
                 counted(JUMPS_DOWN & (knights >> JUMP) & squares);
    const ulong4 pawns = (ulong4)(at.own & at.pawns) & ~bound;  // by the line on which they move
    const ulong one = (pawns.x << 8) & empty;
    const ulong two = ((one & RANK_3) << 8) & empty & targets;
    const ulong right = (pawns.z << 9) & NOT_A & at.other & targets;
    const ulong left = (pawns.w << 7) & NOT_H & at.other & targets;
    const ulong4 ends = (ulong4)(one & targets, two, right, left);
    count += counted(ends);
    if (joined(ends) & RANK_8) count += 3u * counted(ends & (ulong4)(RANK_8));
    return count;
}

// How many moves the king has, and how many captures en passant there are.
static uint count_others(const position_t at, const limits_t limits)
{
    uint count = 0u;
    if (at.special & RANK_6) {
        ulong neighbours = at.own & at.pawns & downwards(at.special & RANK_6);
        for (; neighbours; neighbours &= neighbours - 1ul)
            count += captures_en_passant(at, lowest(neighbours)) ? 1u : 0u;
    }
    const ulong king = king_steps(limits.king) & ~(at.own | limits.danger);
    return count + (uint)popcount(king | castles(at, limits));
}

// How many legal moves there are.
static uint count_moves(const position_t at)
{
    const limits_t limits = limits_of(at);
    return count_pieces(at, limits) + count_others(at, limits);
}

// Squares to which the piece on a square may go.
static ulong targets_of(const position_t at, const limits_t limits, const ulong square)
{
    const ulong empty = ~(at.own | at.other);
    if (square & limits.king)
        return (king_steps(square) & ~(at.own | limits.danger)) | castles(at, limits);
    if (square & at.knights)
        return square & limits.pinned ? 0ul : knight_steps(square) & limits.targets;
    const ulong4 piece = (ulong4)(square) & ~((ulong4)(limits.pinned) ^ limits.pins);
    if (square & at.pawns) {
        const ulong one = (piece.x << 8) & empty;
        const ulong steps = one | (((one & RANK_3) << 8) & empty) |
                            (((piece.z << 9) & NOT_A) | ((piece.w << 7) & NOT_H)) & at.other;
        const bool passing =
            (at.special & RANK_6 & upwards(square)) && captures_en_passant(at, square);
        return (steps & limits.targets) | (passing ? at.special & RANK_6 : 0ul);
    }
    const ulong straight = square & at.orthogonals ? ~0ul : 0ul;
    const ulong slanting = square & at.diagonals ? ~0ul : 0ul;
    const ulong4 sliders = piece & (ulong4)(straight, straight, slanting, slanting);
    return joined(rays_up(sliders, empty) | rays_down(sliders, empty)) & limits.targets;
}

// A move: squares, and what a pawn becomes.
typedef struct {
    ulong start, end;
    uint promotion;
} move_t;

// State of an enumeration of all moves: pieces that are left, and of the present one what is
// left of its targets.
typedef struct {
    ulong pieces, ends;
    move_t move;
} moves_t;

static moves_t moves(const position_t at)
{
    moves_t all;
    all.pieces = at.own;
    all.ends = 0ul;
    all.move.start = all.move.end = 0ul;
    all.move.promotion = 0u;
    return all;
}

// Continue with the next move; returns whether there is one.
static bool next_move(const position_t at, const limits_t limits, moves_t *all)
{
    if (all->move.promotion > 0u && all->move.promotion < QUEEN) {
        ++all->move.promotion;
        return true;
    }
    while (!all->ends) {
        if (!all->pieces) return false;
        all->move.start = lowest(all->pieces);
        all->pieces &= all->pieces - 1ul;
        all->ends = targets_of(at, limits, all->move.start);
    }
    all->move.end = lowest(all->ends);
    all->ends &= all->ends - 1ul;
    all->move.promotion = (all->move.start & at.pawns) && (all->move.end & RANK_8) ? KNIGHT : 0u;
    return true;
}

// What is left of a set after a move: the target is emptied, and a piece moved if it was in it.
static ulong moved(const ulong squares, const ulong start, const ulong end)
{
    return (squares & ~(start | end)) | (squares & start ? end : 0ul);
}

// What a move makes of a position, as the other side sees it.
static position_t play(const position_t at, const move_t move)
{
    const ulong start = move.start, end = move.end;
    const ulong king = at.own & ~(at.pawns | at.knights | at.diagonals | at.orthogonals);
    position_t after;
    after.own = (at.own ^ start) | end;
    after.other = at.other & ~end;
    after.pawns = moved(at.pawns, start, end);
    after.knights = moved(at.knights, start, end);
    after.diagonals = moved(at.diagonals, start, end);
    after.orthogonals = moved(at.orthogonals, start, end);
    after.special = at.special & CORNERS & ~(start | end);
    if (start & at.pawns) {
        if (end & at.special) {  // en passant: no pawn ends on a corner but by a capture there
            const ulong taken = (end & RANK_6) >> 8;
            after.other &= ~taken;
            after.pawns &= ~taken;
        }
        const ulong adjacent = ((end << 1) | (end >> 1)) & RANK_4 & at.other & at.pawns;
        if (end == start << 16 && adjacent) after.special |= start << 8;
        if (move.promotion > 0u) {
            after.pawns &= ~end;
            if (move.promotion == KNIGHT) after.knights |= end;
            if (move.promotion == BISHOP || move.promotion == QUEEN) after.diagonals |= end;
            if (move.promotion >= ROOK) after.orthogonals |= end;
        }
    }
    if (start & king) {
        after.special &= ~RANK_1;
        const bool east = end == start << 2, west = end == start >> 2;
        const ulong rook = (east ? end << 1 : 0ul) | (west ? end >> 2 : 0ul);
        const ulong adjacent = (east ? end >> 1 : 0ul) | (west ? end << 1 : 0ul);
        after.own = (after.own & ~rook) | adjacent;
        after.orthogonals = (after.orthogonals & ~rook) | adjacent;
    }
    return turned(after);
}

#endif
