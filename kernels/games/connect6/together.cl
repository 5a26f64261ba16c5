// Which turns are tried, in which order, if a workgroup lists those of a position?
// Twin: reference_py/games/connect6/moves.py.
//
// The same turns as moves.cl has. A work-item alone takes half a millisecond for them on a GPU,
// however few positions there are, as it waits for its memory; here work-items share points, and
// then pairs. Instead of being inserted into a list, each finds out how many are better. Local
// memory: 5 KiB and 4 bytes for each pair.
#ifndef GAMES_CONNECT6_TOGETHER_CL
#define GAMES_CONNECT6_TOGETHER_CL

#include "games/connect6/moves.cl"

// Whether a point has one of the stones of a side.
static bool has_stone(__global const uint *stones, const uint point)
{
    return (stones[point / 32u] >> point % 32u & 1u) > 0u;
}

// Whether six in a row begin at a place of a line, if those of a mask are stones or may be.
static bool fits(const line_t line, const uint stones)
{
    return line.place + WINDOW <= line.length &&
           (stones >> line.place & SIX_IN_A_ROW) == SIX_IN_A_ROW;
}

// The score of a single stone on an empty point, if there is another one on the point `extra`.
INLINED int single_score_with(__local const uint *mine, __local const uint *others,
                              const uint point, const uint extra, __global const uchar *classes)
{
    int score = (int)edge_distance(point) + 1;
    for (uint direction = 0; direction < DIRECTIONS; ++direction) {
        const line_t line = line_of(point, direction);
        uint own = mine[line.number];
        const uint other = others[line.number];
        if (extra != NONE) {
            const line_t added = line_of(extra, direction);
            own |= added.number == line.number ? 1u << added.place : 0u;
        }
        score += line_score(line, own, other, classes);
    }
    return score;
}

// The turn that completes six in the window that begins at a point.
INLINED uint winning_turn(__global const uint *position, __local const uint *mine, const uint point,
                          const uint direction)
{
    const line_t line = line_of(point, direction);
    const uint empty = SIX_IN_A_ROW & ~(mine[line.number] >> line.place);
    const uint first = point + lowest(empty) * step_of(direction), rest = empty & (empty - 1u);
    if (rest > 0u) return turn_of(first, point + lowest(rest) * step_of(direction));
    uint second = 0u;
    while (second < POINTS && (second == first || has_stone(position, second) ||
                               has_stone(position + SIDE_WORDS, second)))
        ++second;
    return turn_of(first, second == POINTS ? NONE : second);
}

// List the turns of a position in their order; none if the game is over. All work-items of a group
// call it together, and get the number of turns.
COLLECTIVE uint branch_together(__global const uint *position, __global uint *moves,
                                __global const uchar *classes)
{
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    __global const uint *theirs = position + SIDE_WORDS;
    __local uint *mine = local_malloc(LINES * sizeof(uint));
    __local uint *others = local_malloc(LINES * sizeof(uint));
    __local uint *points = local_malloc(POINTS * sizeof(uint));
    __local int *scores = local_malloc(POINTS * sizeof(int));
    __local uint *best = local_malloc(SINGLES * sizeof(uint));
    __local int *worth = local_malloc(SINGLES * sizeof(int));
    __local int *both = local_malloc(MOST_PAIRS * sizeof(int));
    __local uint *facts = local_malloc(4u * sizeof(uint));  // stones, candidates, six, win
    for (uint i = lid; i < LINES; i += lanes) mine[i] = others[i] = 0u;
    if (lid == 0u) facts[0] = facts[1] = facts[2] = 0u;
    if (lid == 0u) facts[3] = NO_TURN;
    barrier(CLK_LOCAL_MEM_FENCE);  // empty lines, before stones are put on them
    for (uint point = lid; point < POINTS; point += lanes) {
        const bool own = has_stone(position, point), other = has_stone(theirs, point);
        if (!own && !other) continue;
        atomic_inc(&facts[0]);
        for (uint direction = 0; direction < DIRECTIONS; ++direction) {
            const line_t line = line_of(point, direction);
            atomic_or(own ? &mine[line.number] : &others[line.number], 1u << line.place);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all lines, before they are read
    for (uint point = lid; point < POINTS; point += lanes) {
        bool near = false;
        for (uint direction = 0; direction < DIRECTIONS; ++direction) {
            const line_t line = line_of(point, direction);
            const uint own = mine[line.number], other = others[line.number];
            const uint reach = line.place < REACH ? (2u << (line.place + REACH)) - 1u
                                                  : 127u << (line.place - REACH);
            near = near || ((own | other) & reach) > 0u;
            if (FULL_WIDTH) continue;
            if (fits(line, own) || fits(line, other)) facts[2] = 1u;
            const uint stones = own >> line.place & SIX_IN_A_ROW;
            if (fits(line, ~other) && popcount(stones) >= 4)
                atomic_min(&facts[3], direction << 16 | point);
        }
        if (!near || has_stone(position, point) || has_stone(theirs, point)) continue;
        const uint at = atomic_inc(&facts[1]);
        points[at] = point;
        scores[at] = single_score_with(mine, others, point, NONE, classes);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all candidates with their scores
    const uint stones = facts[0], near_count = facts[1], win = facts[3];
    const bool over = facts[2] > 0u;
    const uint count = min(near_count, SINGLES), pair_count = opaque(count * (count - 1u) / 2u);
    for (uint i = lid; i < near_count; i += lanes) {
        const int score = scores[i];
        const uint point = points[i];
        uint better = 0u;
        for (uint k = 0; k < near_count; ++k)
            better += scores[k] > score || (scores[k] == score && points[k] < point);
        if (better < SINGLES) {
            best[better] = point;
            worth[better] = score;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the best points, before they are paired
    for (uint i = lid; i < SINGLES * SINGLES; i += lanes) {
        const uint one = i / SINGLES, other = i % SINGLES;
        if (one >= other || other >= count) continue;
        const uint place = one * (2u * count - one - 1u) / 2u + other - one - 1u;
        both[place] = worth[one] + single_score_with(mine, others, best[other], best[one], classes);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // scores of all pairs
    const bool listed = stones > 0u && !over && win == NO_TURN;
    for (uint i = lid; i < SINGLES * SINGLES && listed; i += lanes) {
        const uint one = i / SINGLES, other = i % SINGLES;
        if (one >= other || other >= count) continue;
        const uint place = one * (2u * count - one - 1u) / 2u + other - one - 1u;
        const int score = both[place];
        uint better = 0u;
        for (uint k = 0; k < pair_count; ++k)
            better += both[k] > score || (both[k] == score && k < place);
        if (better < WIDTH) moves[better] = turn_of(best[one], best[other]);
    }
    uint found = count == 1u ? 1u : min(pair_count, (uint)WIDTH);
    if (listed && count == 1u && lid == 0u) moves[0] = turn_of(best[0], NONE);
    if (stones == 0u) {
        found = 1u;
        if (lid == 0u) moves[0] = turn_of(CENTRE, NONE);
    } else if (over) {
        found = 0u;
    } else if (win != NO_TURN) {
        found = 1u;
        if (lid == 0u) moves[0] = winning_turn(position, mine, win & NONE, win >> 16);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // local memory is read, moves exist
    return found;
}

#endif
