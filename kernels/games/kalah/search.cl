// What do all phases of a search share: which boards a step takes, and what is noted of each?
// Twin: reference_py/games/kalah/search.py.
//
// A game has `boards` boards, level after level; a launch has `copies` games. The workgroups of a
// launch are shared out evenly: of n of them every game has n / copies, its parts. A part takes
// PART boards, a work-item every so many-th of them.
// Macros: PART, LEVELS.
#ifndef GAMES_KALAH_SEARCH_CL
#define GAMES_KALAH_SEARCH_CL

#include "games/kalah/rules.cl"

#define GAME (get_group_id(0) / (get_num_groups(0) / copies))
#define PART_OF_GAME ((uint)(get_group_id(0) % (get_num_groups(0) / copies)))

// How many boards of a level a step takes: at most so many, some skipped.
static uint batch(const uint count, const uint skip, const uint most)
{
    return count > skip ? min(count - skip, most) : 0u;
}

// The score of a value that a side sees, as TOP sees it, and back.
static int score_of(const int value, const int side)
{
    return side == TOP ? value : -value;
}

#endif
