// From which board do the playouts of a candidate start, and has the candidate move won?
// Twin: reference_py/games/havannah/begin.py.
//
// A work-item is a position: a candidate move of a game. The stones are placed in the order of
// cells; as neither side had won before the candidate move, the reasons of all are those of this
// move. No barriers. Macros: none of its own.
#include "games/havannah/playout.cl"

__kernel void begin(__global const uchar *board, __global const uchar *next, __global ushort *spots,
                    __global uint *rows, __global ushort *parents, __global ushort *empties,
                    __global ushort *settled, __global const ushort *spot_of,
                    __global const ushort *masks, const uint copies, const uint candidates,
                    __global uint *boards)
{
    HOLD_BOARD
    const size_t at = get_global_id(0);
    if (at >= (size_t)copies * candidates) return;
    uint empty = 0u, reasons = 0u, full = CELLS;
    for (uint i = 0; i < 2 * PADDED; ++i) held.rows[i] = 0u;
    for (uint cell = 0; cell < CELLS; ++cell) {
        const uint what = board[at * CELLS + cell], spot = spot_of[cell];
        if (what == EMPTY) {
            spots[at * CELLS + empty++] = (ushort)spot;
        } else {
            const uint side = what == next[at] ? 0u : 1u;
            reasons |= place(held.rows + side * PADDED, held.parent, masks[spot], spot);
            spots[at * CELLS + --full] = (ushort)spot;
        }
    }
    for (uint i = 0; i < 2 * PADDED; ++i) rows[at * (2 * PADDED) + i] = held.rows[i];
    for (uint i = full; i < CELLS; ++i) {
        const uint spot = spots[at * CELLS + i];
        parents[at * SPOTS + spot] = held.parent[spot];
    }
    empties[at] = (ushort)empty;
    settled[at] = (ushort)(reasons ? outcome(0u, reasons, WON) : 0u);
}
