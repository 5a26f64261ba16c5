// What does a full layer say: of which game, how many boards it has, and the margin of its start?
// Twin: reference_py/games/kalah/margins.py.
//
// A work-item is a game. No local memory, no barriers.
#include "games/kalah/layer.cl"

__kernel void margins(__global const char *values, __global long *boards, __global short *margin,
                      __global const ulong *binomials, __global uchar *pits_a_side,
                      __global uchar *captures_empty, __global const uint *given_pits,
                      __global const uint *given_captures, const uint given, const uint first_game,
                      const uint copies, const ulong value_count, const uint table,
                      const uint stones, const uint layer)
{
    const size_t game = get_global_id(0);
    if (game >= copies) return;
    const uint own = (first_game + (uint)game) % given, pits = given_pits[own];
    const uint cells = 2u * pits, each = layer / cells;
    pits_a_side[game] = (uchar)pits;
    captures_empty[game] = (uchar)given_captures[own];
    const bool is_solved = layer <= min(table, cells * stones);
    boards[game] = is_solved ? (long)layer_boards(binomials, cells, layer) : 0;
    if (!is_solved || layer % cells > 0u || each == 0u) return;
    uchar start[MOST_CELLS];
    for (uint i = 0; i < cells; ++i) start[i] = (uchar)each;
    const ulong at = place(binomials, start, cells, layer, false);
    margin[game * stones + each - 1u] = values[game * value_count + at];
}
