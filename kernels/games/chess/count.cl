// What is counted below each position of the last level that is stored?
// Twin: reference_py/games/chess/count.py.
//
// A workgroup is a part of the positions. A long launch is several, of which each has the
// workgroups from `first_group` on. On a CPU, and where kinds are requested, a work-item takes
// every n-th position and searches it depth first; no local memory, no barriers. On a GPU each
// work-item sorts the moves of its position by what they change (zones.cl). Then all work-items
// count what follows the listed moves of all positions, so that none waits for the one with most
// moves.
#include "games/chess/perft.cl"

#if DEVICE_IS_CPU || KINDS > 1
__kernel void count(__global const ulong *sets, __global const uint *counts, __global long *tallies,
                    const uint copies, const uint levels, const uint positions, const uint level,
                    const uint parents, const uint skip, const uint most, const uint plies,
                    const uint first_group)
{
    const uint parts = (most + PART - 1u) / PART, group = first_group + (uint)get_group_id(0);
    const size_t game = group / parts;
    const uint n = batch(counts[game * levels + level], skip, most);
    const uint begin = group % parts * PART, end = min(begin + PART, n);
    for (uint k = begin + get_local_id(0); k < end; k += get_local_size(0)) {
        const size_t at = parents + skip + k;
        tally_t tally;
        perft(position_at(sets + game * SETS * positions, at, positions), plies, &tally);
        for (uint i = 0; i < KINDS; ++i) tallies[(game * KINDS + i) * positions + at] = tally.of[i];
    }
}
#else

// A move in a list, by bits: whose it is, squares of start and end, what stands on `end`
// afterwards, and what is special about it. As the side sees the board that replies.
#define START_AT 8u
#define END_AT 16u
#define IS_PAWN (1u << 24)
#define IS_KNIGHT (2u << 24)
#define IS_DIAGONAL (4u << 24)
#define IS_ORTHOGONAL (8u << 24)
#define NO_MOVE (1u << 28)
#define PASSES (1u << 29)
#define STEPS_TWO (1u << 30)
#define CASTLES (1u << 31)
#define OTHER_SIDE 56u  // to be added modulo 2 to the number of a square
#define MOST_PIECES 15u  // of a side, besides its king

// Squares to which a knight or a sliding piece may go.
INLINED ulong piece_targets(const position_t at, const limits_t limits, const lines_t lines,
                            const ulong square)
{
    const ulong knight = square & at.knights & ~limits.pinned;
    return (slid(lines, free_sliders(at, square, limits)) | knight_steps(knight)) & limits.targets;
}

// The targets of a piece other than pawns and the king.
INLINED sorted_t sorted_of_piece(const position_t at, const zones_t zones, const ulong start,
                                 const ulong ends, uint *quiet)
{
    const ulong king = zones.king | (start & at.knights ? zones.knights : 0ul);
    return sorted(ends, start & king ? ~0ul : king,
                  start & zones.pieces ? ~0ul : zones.pieces | at.other, quiet);
}

// All moves of pawns and of the king: pawns by their step, with their targets.
typedef struct {
    sorted_t one, two, right, left, king;
    ulong castling, passing;
    uint fully, partly, quiet;
} sides_t;

INLINED uint number_of_moves(const sorted_t by_pawns)
{
    return (uint)(popcount(by_pawns.fully) + 3 * popcount(by_pawns.fully & RANK_8));
}

INLINED sides_t sorted_sides(const position_t at, const limits_t limits, const king_t king,
                             const zones_t zones)
{
    const ulong empty = ~(at.own | at.other), takes = at.other & limits.targets;
    const ulong4 pawns = (ulong4)(at.own & at.pawns) & ~((ulong4)(limits.pinned) ^ limits.pins);
    const ulong one = (pawns.x << 8) & empty, two = ((one & RANK_3) << 8) & empty;
    const ulong from = zones.king | zones.pawns, to = from | RANK_8;
    const ulong steps = king.steps & ~(at.own | limits.danger), freed = zones.king | zones.kings;
    const ulong reached = zones.pieces | at.other;
    sides_t found;
    found.quiet = 0u;
    found.one =
        sorted(one & limits.targets, to | (from << 8), reached | (zones.pieces << 8), &found.quiet);
    found.two = sorted(two & limits.targets, to | (from << 16) | zones.passing,
                       reached | (zones.pieces << 16), &found.quiet);
    found.right = sorted((pawns.z << 9) & NOT_A & takes, to | (from << 9), ~0ul, &found.quiet);
    found.left = sorted((pawns.w << 7) & NOT_H & takes, to | (from << 7), ~0ul, &found.quiet);
    found.king = sorted(steps, freed & king.square ? ~0ul : freed,
                        zones.pieces & king.square ? ~0ul : reached, &found.quiet);
    found.castling = castles(at, limits);
    found.passing = passing(at, limits, king);
    found.fully =
        number_of_moves(found.one) + (uint)popcount(found.two.fully) +
        number_of_moves(found.right) + number_of_moves(found.left) +
        (uint)(popcount(found.king.fully) + popcount(found.castling) + popcount(found.passing));
    found.partly = (uint)(popcount(found.one.partly) + popcount(found.two.partly) +
                          popcount(found.right.partly) + popcount(found.left.partly) +
                          popcount(found.king.partly));
    return found;
}

// List moves from `slot` on, forwards or backwards (step: 1 or -1); returns the slot behind them.
// The squares of pawns' starts are `by` in front of their ends.
INLINED uint list_pawns(__local uint *list, uint slot, const int step, const uint move, ulong ends,
                        const uint by)
{
    for (; ends; ends &= ends - 1ul) {
        const uint to = number_of(lowest(ends));
        const uint code = move | (to - by) << START_AT | to << END_AT;
        const bool rises = to >= 56u;
        list[slot] = code | (rises ? IS_KNIGHT : IS_PAWN);
        slot += step;
        if (rises) {
            list[slot] = code | IS_DIAGONAL;
            list[slot + step] = code | IS_ORTHOGONAL;
            list[slot + 2 * step] = code | IS_DIAGONAL | IS_ORTHOGONAL;
            slot += 3 * step;
        }
    }
    return slot;
}

INLINED uint list_piece(__local uint *list, uint slot, const int step, const uint move, ulong ends)
{
    for (; ends; ends &= ends - 1ul) {
        list[slot] = move | number_of(lowest(ends)) << END_AT;
        slot += step;
    }
    return slot;
}

// What a listed move makes of a position, as the side sees it that replies.
INLINED position_t after_move(const position_t at, const uint move)
{
    const ulong moves = move & NO_MOVE ? 0ul : 1ul;
    const ulong start = moves << ((move >> START_AT & 63u) ^ OTHER_SIDE);
    const ulong end = moves << ((move >> END_AT & 63u) ^ OTHER_SIDE), rest = ~(start | end);
    position_t after;
    after.own = at.own & rest;
    after.other = (at.other & rest) | end;
    after.pawns = (at.pawns & rest) | (move & IS_PAWN ? end : 0ul);
    after.knights = (at.knights & rest) | (move & IS_KNIGHT ? end : 0ul);
    after.diagonals = (at.diagonals & rest) | (move & IS_DIAGONAL ? end : 0ul);
    after.orthogonals = (at.orthogonals & rest) | (move & IS_ORTHOGONAL ? end : 0ul);
    after.special = at.special & rest;
    if (move & (PASSES | STEPS_TWO | CASTLES)) {
        if (move & PASSES) {
            after.own &= ~(end << 8);
            after.pawns &= ~(end << 8);
        } else if (move & STEPS_TWO) {
            after.special |= end << 8;
        } else {
            const bool east = end > start;
            const ulong rook = east ? end << 1 : end >> 2, next = east ? end >> 1 : end << 1;
            after.other = (after.other & ~rook) | next;
            after.orthogonals = (after.orthogonals & ~rook) | next;
        }
    }
    return after;
}

// Local memory: the moves of all positions, those to be counted fully from the front on and those
// partly from the end on; the positions as the other side sees them, with its king, pieces that are
// pinned, and replies if nothing moves: all, and of others than pieces; what was counted.
// Positions whose moves have no room are listed in another round.
__kernel void count(__global const ulong *sets, __global const uint *counts, __global long *tallies,
                    const uint copies, const uint levels, const uint positions, const uint level,
                    const uint parents, const uint skip, const uint most, const uint plies,
                    const uint first_group)
{
    __local uint list[LISTED], used, overflow, sums[PART], bases[PART], others[PART];
    __local ulong reached[MOST_PIECES * PART];
    __local position_t boards[PART];
    __local king_t kings[PART];
    __local ulong4 pins[PART];
    const uint parts = (most + PART - 1u) / PART, group = first_group + (uint)get_group_id(0);
    const size_t game = group / parts;
    const uint n = batch(counts[game * levels + level], skip, most);
    const uint begin = group % parts * PART, lid = (uint)get_local_id(0);
    const size_t at = parents + skip + begin + lid;
    const bool here = begin + lid < n;
    bool left = here;  // whether the moves of the position are still to be listed
    uint quiet = 0u, more;
    sums[lid] = 0u;
    if (here) {
        const position_t given = position_at(sets + game * SETS * positions, at, positions);
        const position_t seen_by_other = plies == 1u ? given : turned(given);
        boards[lid] = seen_by_other;
        kings[lid] =
            king_at(seen_by_other.own & ~(seen_by_other.pawns | seen_by_other.knights |
                                          seen_by_other.diagonals | seen_by_other.orthogonals));
    }
    do {
        if (lid == 0u) {
            used = 0u;
            overflow = ~0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // boards and kings of all positions, and empty lists
        if (left) {
            const position_t mine = position_at(sets + game * SETS * positions, at, positions);
            const ulong pieces = mine.own & (mine.knights | mine.diagonals | mine.orthogonals);
            const king_t king = king_at(
                mine.own & ~(mine.pawns | mine.knights | mine.diagonals | mine.orthogonals));
            const lines_t lines = lines_of(mine.own | mine.other);
            const limits_t limits = limits_seen(mine, king, lines);
            const zones_t zones = zones_of(mine);
            sides_t sides = sorted_sides(mine, limits, king, zones);
            uint k = lid;
            for (ulong rest = pieces; rest; rest &= rest - 1ul, k += PART) {
                const ulong start = lowest(rest);
                reached[k] = piece_targets(mine, limits, lines, start);
                const sorted_t ends = sorted_of_piece(mine, zones, start, reached[k], &sides.quiet);
                sides.fully += (uint)popcount(ends.fully);
                sides.partly += (uint)popcount(ends.partly);
            }
            if (plies == 1u) sides.fully = sides.partly = 0u;
            const uint listed = (sides.fully + 1u) | (sides.partly << 16);
            const uint before = atomic_add(&used, listed), both = before + listed;
            if ((both & 0xffffu) + (both >> 16) > LISTED) {
                atomic_min(&overflow, before);
            } else {
                uint front = before & 0xffffu, back = LISTED - 1u - (before >> 16);
                left = false;
                quiet = sides.quiet;
                list[front++] = lid | NO_MOVE;
                if (plies > 1u) {
                    const uint royal = lid | number_of(king.square) << START_AT;
                    const ulong two = sides.two.fully, twice = two & zones.passing;
                    front = list_pawns(list, front, 1, lid, sides.one.fully, 8u);
                    front = list_pawns(list, front, 1, lid, two & ~twice, 16u);
                    front = list_pawns(list, front, 1, lid | STEPS_TWO, twice, 16u);
                    front = list_pawns(list, front, 1, lid, sides.right.fully, 9u);
                    front = list_pawns(list, front, 1, lid, sides.left.fully, 7u);
                    front = list_piece(list, front, 1, royal, sides.king.fully);
                    front = list_piece(list, front, 1, royal | CASTLES, sides.castling);
                    back = list_pawns(list, back, -1, lid, sides.one.partly, 8u);
                    back = list_pawns(list, back, -1, lid, sides.two.partly, 16u);
                    back = list_pawns(list, back, -1, lid, sides.right.partly, 9u);
                    back = list_pawns(list, back, -1, lid, sides.left.partly, 7u);
                    back = list_piece(list, back, -1, royal, sides.king.partly);
                    for (; sides.passing; sides.passing &= sides.passing - 1ul) {
                        const uint start = number_of(lowest(sides.passing)) << START_AT;
                        const uint end = number_of(mine.special & RANK_6) << END_AT;
                        list[front++] = lid | start | end | IS_PAWN | PASSES;
                    }
                    k = lid;
                    for (ulong rest = pieces; rest; rest &= rest - 1ul, k += PART) {
                        const ulong start = lowest(rest);
                        const sorted_t ends =
                            sorted_of_piece(mine, zones, start, reached[k], &sides.quiet);
                        const uint kinds = (start & mine.knights ? IS_KNIGHT : 0u) |
                                           (start & mine.diagonals ? IS_DIAGONAL : 0u) |
                                           (start & mine.orthogonals ? IS_ORTHOGONAL : 0u);
                        const uint piece = lid | number_of(start) << START_AT | kinds;
                        front = list_piece(list, front, 1, piece, ends.fully);
                        back = list_piece(list, back, -1, piece, ends.partly);
                    }
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // lists, before they are read
        const uint listed = min(used, overflow), fully = listed & 0xffffu, partly = listed >> 16;
        more = used > overflow ? 1u : 0u;
        for (uint i = lid; i < fully; i += PART) {
            const uint move = list[i], whose = move & 255u;
            const position_t after = after_move(boards[whose], move);
            const king_t king = kings[whose];
            const lines_t lines = lines_of(after.own | after.other);
            const limits_t limits = limits_seen(after, king, lines);
            const uint rest = count_others_seen(after, limits, king);
            const uint all = rest + count_seen(after, limits, lines);
            if (move & NO_MOVE) {
                pins[whose] = limits.pins;
                others[whose] = rest;
                bases[whose] = all;
            } else {
                atomic_add(&sums[whose], all);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // pins and replies if nothing moves, of all positions
        for (uint i = lid; i < partly; i += PART) {
            const uint move = list[LISTED - 1u - i], whose = move & 255u;
            const ulong start = 1ul << ((move >> START_AT & 63u) ^ OTHER_SIDE);
            const ulong end = 1ul << ((move >> END_AT & 63u) ^ OTHER_SIDE);
            position_t after = boards[whose];
            after.own &= ~end;
            after.other = (after.other ^ start) | end;
            limits_t limits;
            limits.pins = pins[whose];
            limits.pinned = joined(limits.pins);
            limits.targets = ~after.own;
            const lines_t lines = lines_of(after.own | after.other);
            atomic_add(&sums[whose], others[whose] + count_seen(after, limits, lines));
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // what was read of the lists, and sums
    } while (more);
    if (here)
        tallies[game * positions + at] = plies == 1u ? bases[lid] : sums[lid] + quiet * bases[lid];
}
#endif
