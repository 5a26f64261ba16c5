// What is a position worth? Material, and how the pieces of both sides control squares (CH-E1).
// Twin: reference_py/games/chess/evaluation.py.
//
// Control is counted for all pieces of a kind at once, direction by direction (rules.cl): what a
// direction reaches is reached by one piece only. No branch depends on the position. No local
// memory, no barriers.
#ifndef GAMES_CHESS_EVALUATION_CL
#define GAMES_CHESS_EVALUATION_CL

#include "games/chess/rules.cl"

#define CENTRE 0x0000001818000000ul
#define PAWN_CONTROL 12
#define BY_MATERIAL 5000
#define BY_CONTROL 333

// The value of the pieces on some squares.
static int value_of(const position_t at, const ulong squares)
{
    const ulong queens = at.diagonals & at.orthogonals;
    const ulong kings = ~(at.pawns | at.knights | at.diagonals | at.orthogonals);
    return 10 * (int)popcount(squares & at.pawns) + 30 * (int)popcount(squares & at.knights) +
           32 * (int)popcount(squares & at.diagonals & ~queens) +
           50 * (int)popcount(squares & at.orthogonals & ~queens) +
           90 * (int)popcount(squares & queens) + 3000 * (int)popcount(squares & kings);
}

// What the control of the side to move is worth: attacked pieces, and the centre.
static int gain(const position_t at)
{
    const ulong empty = ~(at.own | at.other), centre = CENTRE & ~at.own;
    const ulong straight = at.own & at.orthogonals, slanting = at.own & at.diagonals;
    const ulong king = at.own & ~(at.pawns | at.knights | at.diagonals | at.orthogonals);
    const ulong4 sliders = (ulong4)(straight, straight, slanting, slanting);
    const ulong4 knights = (ulong4)(at.own & at.knights);
    const ulong4 up = rays_up(sliders, empty), down = rays_down(sliders, empty);
    const ulong4 above = JUMPS_UP & (knights << JUMP), below = JUMPS_DOWN & (knights >> JUMP);
    const ulong4 theirs = (ulong4)(at.other), middle = (ulong4)(centre);
    const ulong steps = king_steps(king);
    const ulong right = ((at.own & at.pawns) << 9) & NOT_A & at.other;
    const ulong left = ((at.own & at.pawns) << 7) & NOT_H & at.other;
    const ulong4 single = (ulong4)(steps & at.other, steps & centre, 0ul, 0ul);
    const ulong4 pawns = (ulong4)(right, right & centre, left, left & centre);
    const uint pieces = counted(up & theirs) + counted(up & middle) + counted(down & theirs) +
                        counted(down & middle) + counted(above & theirs) + counted(above & middle) +
                        counted(below & theirs) + counted(below & middle) + counted(single);
    const ulong attacked = (joined(up | down | above | below) | steps | right | left) & at.other;
    return 10 * ((int)pieces + PAWN_CONTROL * (int)counted(pawns)) + value_of(at, attacked);
}

// The value of the pieces of the side to move minus that of the other's.
static int material(const position_t at)
{
    return value_of(at, at.own) - value_of(at, at.other);
}

// What a position is worth to the side to move.
static int worth(const position_t at)
{
    return BY_MATERIAL * material(at) + BY_CONTROL * (gain(at) - gain(turned(at)));
}

#endif
