// By how many stones does the side to move win from a board, if both play as well as they can?
// Twin: reference_py/games/kalah/fill.py.
//
// A workgroup is a part of the boards of a layer, PART of them; a long launch is several, of which
// each has the workgroups from `first_group` on. A launch does the boards of one potential: those
// that follow them have fewer stones, or a smaller potential, and have their value. No local
// memory, no barriers. Macros: PART.
#include "games/kalah/layer.cl"

// Whether one of both rows is empty; `rows` gets the stones of each.
static bool is_decided(const uchar *board, const uint pits, int *rows)
{
    rows[0] = rows[1] = 0;
    for (uint i = 0; i < 2u * pits; ++i) rows[i / pits] += board[i];
    return rows[0] == 0 || rows[1] == 0;
}

// The value of a board that has `stones`, from those of the boards that follow it.
static int best_margin(__global const ulong *binomials, __global const char *values,
                       const uchar *board, const uint pits, const uint stones,
                       const bool empty_capture)
{
    int rows[2], best = INT_MIN;
    if (is_decided(board, pits, rows)) return rows[0] - rows[1];
    for (uint i = 0; i < pits; ++i)
        if (board[i] > 0) {
            uchar after[MOST_CELLS];
            bool again;
            for (uint k = 0; k < 2u * pits; ++k) after[k] = board[k];
            const uint banked = sow(after, pits, i, empty_capture, &again);
            const int below = values[place(binomials, after, 2u * pits, stones - banked, !again)];
            best = max(best, (int)banked + (again ? below : -below));
        }
    return best;
}

__kernel void fill(__global char *values, __global const ulong *binomials,
                   __global const uint *given_pits, __global const uint *given_captures,
                   const uint given, const uint first_game, const ulong value_count,
                   const uint table, const uint stones, const uint layer, const uint wanted,
                   const ulong most, const uint first_group)
{
    const uint parts = (uint)((most + PART - 1u) / PART);
    const uint group = first_group + (uint)get_group_id(0), game = group / parts;
    const uint own = (first_game + game) % given, pits = given_pits[own], cells = 2u * pits;
    if (layer > min(table, cells * stones)) return;
    const ulong begin = (ulong)(group % parts) * PART;
    const ulong end = min(begin + PART, layer_boards(binomials, cells, layer));
    __global char *table_of = values + game * value_count;
    for (ulong number = begin + get_local_id(0); number < end; number += get_local_size(0)) {
        uchar board[MOST_CELLS];
        unrank(binomials, number, cells, layer, board);
        if (potential(board, pits) == wanted)
            table_of[place(binomials, board, cells, layer, false)] = (char)best_margin(
                binomials, table_of, board, pits, layer, given_captures[own] != 0u);
    }
}
