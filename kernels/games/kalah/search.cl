// What do all phases of a search share: which boards a step takes, and what is noted of each?
// Twin: reference_py/games/kalah/search.py.
//
// A game has `board_count` boards, level after level. Workgroups are counted game after game, and
// of each game part after part; a part takes some boards of a step, PART or a block, a work-item
// every n-th of them. A long launch is several, of which each has the workgroups from
// `first_group` on.
// Macros: PART, LEVELS.
#ifndef GAMES_KALAH_SEARCH_CL
#define GAMES_KALAH_SEARCH_CL

#include "games/kalah/rules.cl"

// The game of a workgroup, and its part of at most `most` boards that a step takes, `n` to a part.
#define GROUP (first_group + (uint)get_group_id(0))
#define PARTS(most, n) (((most) + (n) - 1u) / (n))
#define GAME(most, n) ((size_t)(GROUP / PARTS(most, n)))
#define PART_OF_GAME(most, n) (GROUP % PARTS(most, n))

// How many boards of a level a step takes: at most `most`, some skipped.
static uint batch(const uint count, const uint skip, const uint most)
{
    return count > skip ? LESSER(count - skip, most) : 0u;
}

// The score of a value that a side sees, as TOP sees it, and back.
static int score_of(const int value, const int side)
{
    return side == TOP ? value : -value;
}

#endif
