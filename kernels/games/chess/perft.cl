// How many sequences of moves exist, and of which kinds are the last moves?
// Twin: reference_py/games/chess/perft.py.
//
// A game has `positions` in memory, those of `levels` one after the other; a launch has `copies`
// games. The workgroups of a launch are shared out evenly: of n of them every game has n / copies,
// its parts. A part takes PART positions, a work-item every n-th of them. No local memory, no
// barriers.
// Macros: CPU_PART and GPU_PART; KINDS: 1, the nodes alone, or 7, with `detail`.
#ifndef GAMES_CHESS_PERFT_CL
#define GAMES_CHESS_PERFT_CL

#include "games/chess/zones.cl"

#define PART (DEVICE_IS_CPU ? CPU_PART : GPU_PART)
#define DETAILS 6u  // kinds besides the nodes
#define GAME (get_group_id(0) / (get_num_groups(0) / copies))
#define PART_OF_GAME ((uint)(get_group_id(0) % (get_num_groups(0) / copies)))

// How many positions of a level a step takes: at most `most`, some skipped.
static uint batch(const uint count, const uint skip, const uint most)
{
    return count > skip ? min(count - skip, most) : 0u;
}

// What was counted: nodes, captures, captures en passant, castles, promotions, checks, mates.
typedef struct {
    uint of[KINDS];
} tally_t;

#if KINDS > 1
// Add of which kinds a move is.
static void add_kinds(const position_t at, const move_t move, tally_t *tally)
{
    const ulong king = at.own & ~(at.pawns | at.knights | at.diagonals | at.orthogonals);
    const bool passing = (move.start & at.pawns) && (move.end & at.special & RANK_6);
    const bool steps_two = move.end == move.start << 2 || move.end == move.start >> 2;
    const position_t after = play(at, move);
    const bool check = in_check(after);
    tally->of[0] += 1u;
    tally->of[1] += passing || (move.end & at.other) ? 1u : 0u;
    tally->of[2] += passing ? 1u : 0u;
    tally->of[3] += (move.start & king) && steps_two ? 1u : 0u;
    tally->of[4] += move.promotion > 0u ? 1u : 0u;
    tally->of[5] += check ? 1u : 0u;
    tally->of[6] += check && count_moves(after) == 0u ? 1u : 0u;
}
#endif

// Add the moves of a position.
static void add_moves(const position_t at, tally_t *tally)
{
#if KINDS > 1
    const limits_t limits = limits_of(at);
    moves_t all = moves(at);
    while (next_move(at, limits, &all)) add_kinds(at, all.move, tally);
#else
    tally->of[0] += count_moves(at);
#endif
}

#if DEVICE_IS_CPU && KINDS == 1
// How many replies there are to all moves of a position. After most moves (zones.cl) there are as
// many as if nothing had moved, or only those of pieces differ.
static uint count_replies(const position_t at)
{
    const limits_t limits = limits_of(at);
    const zones_t zones = zones_of(at);
    position_t still = turned(at);
    still.special &= CORNERS;
    limits_t theirs = limits_of(still);
    const uint others = count_others(still, theirs), base = others + count_pieces(still, theirs);
    uint count = 0u;
    for (ulong pieces = at.own; pieces; pieces &= pieces - 1ul) {
        move_t move;
        move.start = lowest(pieces);
        const ulong start = move.start, ends = targets_of(at, limits, start);
        ulong zone = zones.king, also = 0ul;
        if (start & at.knights) zone |= zones.knights;
        if (start & limits.king) {
            zone |= zones.kings;
            also = ~king_steps(start);  // castling
        }
        if (start & at.pawns) {
            zone |= zones.pawns;
            also = RANK_8 | zones.passing | (at.special & RANK_6);
        }
        uint quiet = 0u;
        sorted_t found = sorted(ends, start & zone ? ~0ul : zone | also,
                                start & zones.pieces ? ~0ul : zones.pieces | at.other, &quiet);
        count += quiet * base;
        for (; found.fully; found.fully &= found.fully - 1ul) {
            move.end = lowest(found.fully);
            const bool rises = (start & at.pawns) && (move.end & RANK_8);
            for (uint i = rises ? KNIGHT : QUEEN; i <= QUEEN; ++i) {
                move.promotion = rises ? i : 0u;
                count += count_moves(play(at, move));
            }
        }
        for (; found.partly; found.partly &= found.partly - 1ul) {
            const ulong end = flipped(lowest(found.partly));
            position_t after = still;
            after.own &= ~end;
            after.other = (still.other ^ flipped(start)) | end;
            theirs.targets = ~after.own;
            count += others + count_pieces(after, theirs);
        }
    }
    return count;
}
#endif

// Count below a position; plies: 1 or 2. The moves of the last ply are not made unless their
// kinds are requested.
static void perft(const position_t at, const uint plies, tally_t *tally)
{
    for (uint i = 0; i < KINDS; ++i) tally->of[i] = 0u;
    if (plies == 1u) {
        add_moves(at, tally);
        return;
    }
#if DEVICE_IS_CPU && KINDS == 1
    tally->of[0] = count_replies(at);
#else
    const limits_t limits = limits_of(at);
    moves_t all = moves(at);
    while (next_move(at, limits, &all)) add_moves(play(at, all.move), tally);
#endif
}

#endif
