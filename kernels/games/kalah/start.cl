// How does a game of a match begin? At the start position, TOP to move.
// Twin: reference_py/games/kalah/start.py.
//
// A work-item is a match, on a CPU SIDE_BY_SIDE of them: the streams of matches in a row are
// equally far from each other, and a step of that length is two products, a start some thirty. No
// local memory, no barriers.
#include "games/kalah/match.cl"

// Draws from the stream of a match to that of the next.
#define MATCH_GAP ((ulong)MOST_PAIRS * PAIR_STREAMS * STREAM_GAP)

// The place of a match's stream of random numbers.
static ulong place_of(const ulong stream_base, const uint match, const uint tick, const int opening)
{
    return stream_base + STREAM_GAP * stream_number(match, tick, 0, opening);
}

__kernel void start(__global uchar *board, __global uchar *to_move, __global uchar *asked,
                    __global ulong *stream, __global char *moves, __global int *moves_made,
                    __global short *margin, __global long *searched, const uint copies,
                    const uint first_match, const uint tick, const uint stones, const int opening,
                    const ulong stream_base)
{
    const size_t first = get_global_id(0);
    if (first >= copies || first % SIDE_BY_SIDE != 0u) return;
    rng_t rng = stream_of(stream_base, first_match + (uint)first, tick, 0, opening);
    ulong place = place_of(stream_base, first_match + (uint)first, tick, opening);
    for (size_t match = first; match < first + SIDE_BY_SIDE && match < copies; ++match) {
        const uint number = first_match + (uint)match;
        const ulong here = place_of(stream_base, number, tick, opening);
        if (here > place && here - place == MATCH_GAP)
            rng_skip(&rng, MATCH_GAP);
        else if (here != place)  // beyond 2^64 the places begin again
            rng = stream_of(stream_base, number, tick, 0, opening);
        place = here;
        stream[match] = rng_pack(rng);
        for (uint i = 0; i < CELLS; ++i)
            board[match * CELLS + i] = i % (PITS + 1u) == PITS ? 0 : (uchar)stones;
        to_move[match] = TOP;
        // Those of the game before; there is nothing after them.
        for (int i = 0; i < moves_made[match]; ++i) moves[match * MOST_MOVES + i] = -1;
        moves_made[match] = 0;
        margin[match] = 0;
        searched[2u * match] = searched[2u * match + 1u] = 0;
        asked[match] = asked_next(TOP, tick, 0, opening);
    }
}
