// Which moves change how many replies there are?
//
// After most moves of one side, the other side has as many replies as if nothing had moved. Their
// number changes only if a piece leaves or reaches one of a few squares: the zones. No local
// memory, no barriers.
#ifndef GAMES_CHESS_ZONES_CL
#define GAMES_CHESS_ZONES_CL

#include "games/chess/sight.cl"

#define RANK_7 0x00ff000000000000ul

// Where the other side castles.
#define EAST_CORNER 0x8000000000000000ul
#define WEST_CORNER 0x0100000000000000ul
#define EAST_PATH 0x6000000000000000ul
#define WEST_PATH 0x0e00000000000000ul
#define WEST_SAFE_PATH 0x0c00000000000000ul

// Zones of the side that replies. `king`: what leaves or reaches these squares may give check, pin,
// or attack where its king may go; `knights`, `pawns`, `kings`: squares from which such a piece
// attacks there. `pieces`: squares that its sliding pieces see, or to which pawns go. `passing`:
// where it can capture a pawn that has stepped two, en passant.
typedef struct {
    ulong king, knights, pawns, kings, pieces, passing;
} zones_t;

// All squares that sliding pieces see.
INLINED ulong slid_over(const ulong occupied, const ulong4 pieces)
{
#if DEVICE_IS_CPU || KINDS > 1
    return joined(rays_up(pieces, ~occupied) | rays_down(pieces, ~occupied));
#else
    return slid(lines_of(occupied), pieces);
#endif
}

// The zones of the other side, whose pawns go down.
INLINED zones_t zones_of(const position_t at)
{
    const ulong taken = at.own | at.other, pawns = at.other & at.pawns;
    const ulong king = at.other & ~(at.pawns | at.knights | at.diagonals | at.orthogonals);
    const ulong straight = at.other & at.orthogonals, slanting = at.other & at.diagonals;
    // a piece next to its king on a line may be pinned, so its lines continue behind that
    const ulong near = slid_over(taken, (ulong4)(king)) & at.other;
    const bool east = (at.special & EAST_CORNER) && !(at.other & EAST_PATH);
    const bool west = (at.special & WEST_CORNER) && !(at.other & WEST_PATH);
    const ulong castling =
        (east ? EAST_CORNER | EAST_PATH : 0ul) | (west ? WEST_CORNER | WEST_PATH : 0ul);
    const ulong steps = king_steps(king);
    const ulong goals =
        (steps & ~at.other) | (east ? EAST_PATH : 0ul) | (west ? WEST_SAFE_PATH : 0ul);
    zones_t found;
    found.king = steps | castling | slid_over(taken & ~near, (ulong4)(king)) |
                 slid_over(taken | goals, (ulong4)(goals));
    found.knights = knight_steps(goals | king);
    found.pawns = downwards(goals);
    found.kings = king_steps(goals);
    found.pieces = slid_over(taken, (ulong4)(straight, straight, slanting, slanting)) |
                   (pawns >> 8) | ((pawns & RANK_7) >> 16) | downwards(pawns);
    found.passing = (downwards(pawns) & RANK_3) << 8;
    return found;
}

// Targets of moves by what must be counted afterwards: all replies, or those of pieces alone. The
// others are quiet: nothing need be counted.
typedef struct {
    ulong fully, partly;
} sorted_t;

INLINED sorted_t sorted(const ulong ends, const ulong fully, const ulong partly, uint *quiet)
{
    sorted_t found;
    found.fully = ends & fully;
    found.partly = ends & ~fully & partly;
    *quiet += (uint)popcount(ends & ~(fully | partly));
    return found;
}

#endif
