// How many sequences of moves exist, and of which kinds are the last moves?
// Twin: reference_py/games/chess/perft.py.
//
// A game has `positions` in memory, those of `levels` one after the other; a launch has `copies`
// games. The workgroups of a launch are shared out evenly: of n of them every game has n / copies,
// its parts. A part takes PART positions, a work-item every n-th of them. No local memory, no
// barriers.
// Macros: PART, KINDS: 1, the nodes alone, or 7, with `detail`.
#ifndef GAMES_CHESS_PERFT_CL
#define GAMES_CHESS_PERFT_CL

#include "games/chess/rules.cl"

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

// Count below a position; plies: 1 or 2. The moves of the last ply are not made unless their
// kinds are requested.
static void perft(const position_t at, const uint plies, tally_t *tally)
{
    for (uint i = 0; i < KINDS; ++i) tally->of[i] = 0u;
    if (plies == 1u) {
        add_moves(at, tally);
        return;
    }
    const limits_t limits = limits_of(at);
    moves_t all = moves(at);
    while (next_move(at, limits, &all)) add_moves(play(at, all.move), tally);
}

#endif
