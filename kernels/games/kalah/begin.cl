// Where does a search begin? At the game's own board, the only one of level 0.
// Twin: reference_py/games/kalah/begin.py.
//
// A workgroup is a game, a work-item every n-th cell or level. No local memory, no barriers.
#include "games/kalah/search.cl"

__kernel void begin(__global uchar *boards, __global uchar *movers, __global uint *counts,
                    __global long *frontier, __global long *boards_per_launch,
                    __global const uchar *given_boards, __global const uchar *given_movers,
                    const uint given, const uint first_game, const uint board_count)
{
    const size_t game = get_group_id(0), lid = get_local_id(0), lanes = get_local_size(0);
    const size_t own = (first_game + game) % given;
    for (size_t i = lid; i < CELLS; i += lanes)
        boards[game * board_count * CELLS + i] = given_boards[own * CELLS + i];
    for (size_t i = lid; i < LEVELS; i += lanes) counts[game * LEVELS + i] = i == 0;
    if (lid > 0) return;
    movers[game * board_count] = given_movers[own];
    frontier[game] = boards_per_launch[game] = 0;
}
