// How do some playouts of some candidates end?
// Twin: reference_py/games/havannah/play.py.
//
// The workgroups of a launch are shared out evenly among games and candidates; one takes PART
// playouts of a candidate, a work-item consecutive ones. The stream of a playout belongs to its
// candidate and number; the next playout's is one product away. A candidate that has won at once
// draws nothing. No barriers. Macros: PART, at least the work-items of a group.
#include "games/havannah/offline.cl"

__kernel void play(__global const uchar *next, __global const ushort *spots,
                   __global const uint *rows, __global const ushort *parents,
                   __global const ushort *settled, __global const ushort *empties,
                   __global const ulong *streams, __global ushort *outcomes,
                   __global const ushort *masks, __global const uint *marks, const uint candidates,
                   const uint playouts, const uint first_game, const ulong first_playout,
                   const ulong limit, const ulong stream_base, const uint tick,
                   const uint first_candidate, const uint candidates_now, const uint skip,
                   const uint most, const uint first_group, __global uint *boards)
{
    HOLD_BOARD
    const uint parts = (most + PART - 1u) / PART, group = first_group + (uint)get_group_id(0);
    const uint part = group % parts, which = group / parts;
    const size_t game = which / candidates_now;
    const size_t at = game * candidates + first_candidate + which % candidates_now;
    const uint each = (PART + get_local_size(0) - 1u) / get_local_size(0);
    const uint begin = skip + min(part * PART + (uint)get_local_id(0) * each, most);
    const uint end =
        skip +
        min(min(part * PART + ((uint)get_local_id(0) + 1u) * each, (part + 1u) * PART), most);
    if (begin >= end) return;
    start_t start;
    start.spots = spots + at * CELLS;
    start.rows = rows + at * (2 * PADDED);
    start.parents = parents + at * SPOTS;
    start.masks = masks;
    start.marks = marks;
    start.empty = empties[at];
    const ulong number = first_playout + (ulong)(tick - 1u) * playouts + begin;
    const ulong id = (first_game + game) * (ulong)CELLS * limit + streams[at] + number;
    rng_t stream = stream_of(stream_base, id);
    for (uint i = begin; i < end;) {
        if (settled[at]) {
            outcomes[at * playouts + i++] = settled[at];
            continue;
        }
#if WINNER == WINNER_OFFLINE
        uint ended[WIDTH];
        playouts_of(start, stream, ended);
        for (uint lane = 0; lane < WIDTH; ++lane, ++i) {
            if (i < end) outcomes[at * playouts + i] = (ushort)ended[lane];
            rng_skip(&stream, STREAM_GAP);
        }
#else
        outcomes[at * playouts + i++] = (ushort)playout(start, held, stream);
        rng_skip(&stream, STREAM_GAP);
#endif
    }
}
