// Which moves were those of a playout?
// Twin: reference_py/games/havannah/replay.py.
//
// A work-item is a candidate. The playout is played for its length, and then its moves are drawn
// again. No barriers. Macros: none of its own.
#include "games/havannah/offline.cl"

__kernel void replay(__global const ushort *spots, __global const uint *rows,
                     __global const ushort *parents, __global const ushort *settled,
                     __global const ushort *empties, __global const ulong *streams,
                     __global const ushort *candidate, __global short *moves,
                     __global const ushort *masks, __global const uint *marks,
                     __global const ushort *cell_of, const uint copies, const uint candidates,
                     const uint first_game, const ulong limit, const ulong stream_base,
                     const ulong record_game, __global uint *boards)
{
    HOLD_BOARD
    const size_t at = get_global_id(0);
    if (at >= (size_t)copies * candidates) return;
    __global short *own = moves + at * CELLS;
    for (uint i = 0; i < CELLS; ++i) own[i] = -1;
    own[0] = (short)candidate[at];
    if (settled[at]) return;
    start_t start;
    start.spots = spots + at * CELLS;
    start.rows = rows + at * (2 * PADDED);
    start.parents = parents + at * SPOTS;
    start.masks = masks;
    start.marks = marks;
    start.empty = empties[at];
    const ulong game = first_game + at / candidates;
    rng_t stream = stream_of(stream_base, game * (ulong)CELLS * limit + streams[at] + record_game);
#if WINNER == WINNER_OFFLINE
    uint ended[WIDTH];
    playouts_of(start, stream, ended);
    const uint plies = ended[0] & ((1u << REASONS) - 1u);
#else
    const uint plies = playout(start, held, stream) & ((1u << REASONS) - 1u);
#endif
    for (uint i = 0; i < start.empty; ++i) held.spots[i] = start.spots[i];
    for (uint i = 0; i < plies; ++i)
        own[i + 1u] = (short)cell_of[drawn(held.spots, start.empty - i, &stream)];
}
