// How often was a playout won, lost or drawn, for which reasons, after how many stones?
// Twin: reference_py/games/havannah/tally.py.
//
// A workgroup is a candidate; its work-items take playouts in turn and add what they counted to
// counters in local memory. The sum of squares has more than 32 bits and is added in two parts.
// No macros of its own.
#include "games/havannah/playout.cl"
#include "primitives/group.cl"

#define KINDS 8  // sets of reasons; the empty one is a draw
#define RESULTS KINDS  // counters of draws, wins and losses
#define LENGTHS (KINDS + 3)
#define COUNTERS (KINDS + 6)

__kernel void tally(__global const ushort *outcomes, __global long *wins, __global long *losses,
                    __global long *draws, __global long *finishes, __global long *lengths,
                    __global long *squares, const uint playouts)
{
    const size_t at = get_group_id(0);
    __local uint *counters = local_malloc(COUNTERS * sizeof(uint));
    for (uint i = LANE; i < COUNTERS; i += LANES) counters[i] = 0u;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all counters are 0 before any adds to them
    ulong sum = 0ul;
    uint stones = 0u;
    for (uint i = LANE; i < playouts; i += LANES) {
        const uint ended = outcomes[at * playouts + i];
        // The candidate move is a stone of the game, too.
        const uint length = (ended & ((1u << REASONS) - 1u)) + 1u;
        atomic_add(&counters[(ended >> REASONS) & (KINDS - 1u)], 1u);
        atomic_add(&counters[RESULTS + (ended >> RESULT)], 1u);
        stones += length;
        sum += (ulong)length * length;
    }
    atomic_add(&counters[LENGTHS], stones);
    atomic_add(&counters[LENGTHS + 1u], (uint)(sum & 0xfffful));
    atomic_add(&counters[LENGTHS + 2u], (uint)(sum >> 16));
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all have added what it counted
    if (LANE == 0u) {
        draws[at] += counters[RESULTS + DRAW];
        wins[at] += counters[RESULTS + WON];
        losses[at] += counters[RESULTS + LOST];
        lengths[at] += counters[LENGTHS];
        squares[at] += (long)counters[LENGTHS + 1u] + ((long)counters[LENGTHS + 2u] << 16);
        for (uint i = 0; i < KINDS; ++i) finishes[at * KINDS + i] += counters[i];
    }
}
