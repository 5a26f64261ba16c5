// Which turns are tried, in which order?
// Twin: reference_py/games/connect6/moves.py.
//
// C6-M1. A turn is a word: its first point, and in the upper half the second one.
// Macros: SINGLES, how many points are paired; WIDTH, the most turns; FULL_WIDTH, whether nothing
// ends a line.
#ifndef GAMES_CONNECT6_MOVES_CL
#define GAMES_CONNECT6_MOVES_CL

#include "games/connect6/classes.cl"
#include "games/connect6/geometry.cl"

#define REACH 3
#define CENTRE (POINTS / 2u)
#define MOST_PAIRS (SINGLES * (SINGLES - 1u) / 2u + 1u)

// What a segment is worth to who extends it, by its class.
static int attack(const uint kind)
{
    const int worth[SIX + 1u] = {0, 4, 15, 40, 80, 150, 800, 2000, 15000};
    return worth[kind];
}

// What a segment is worth to who splits it, by its class.
static int defence(const uint kind)
{
    const int worth[SIX + 1u] = {0, 3, 12, 30, 60, 3000, 6000, 9000, 9000};
    return worth[kind];
}

static uint turn_of(const uint first, const uint second)
{
    return first | second << 16;
}

static bool is_set(const uint *stones, const uint point)
{
    return (stones[point / 32u] >> point % 32u & 1u) > 0u;
}

// The largest number of threats of a side's segments in a direction; `SIX` and more if it has six.
static uint most_threats(const uint *stones, const uint *own, const uint *other,
                         const uint direction, __global const uchar *classes)
{
    uint most = 0u;
    for (uint i = 0; i < SIDE_WORDS; ++i)
        for (uint word = stones[i]; word > 0u; word &= word - 1u) {
            const line_t line = line_of(32u * i + lowest(word), direction);
            const segment_t here =
                segment_at(own[line.number], other[line.number], line.length, line.place);
            const uint entry = entry_of(classes, here.length, here.mask);
            most = max(most, (entry & CLASS_BITS) == SIX ? SIX : entry >> THREATS_SHIFT);
        }
    return most;
}

// Whether a side has six in a row.
static bool any_six(const uint *stones, const uint *own, const uint *other,
                    __global const uchar *classes)
{
    uint most = 0u;
    for (uint i = 0; i < DIRECTIONS; ++i)
        most = max(most, most_threats(stones, own, other, i, classes));
    return most >= SIX;
}

// The turn that completes six in the first window with four stones or five, or `NO_TURN`.
#define NO_TURN 0xffffffffu
static uint immediate_win(const uint *stones, const uint *taken, const uint *own, const uint *other,
                          __global const uchar *classes)
{
    uint turn = NO_TURN;
    for (uint direction = 0; direction < DIRECTIONS && turn == NO_TURN; ++direction) {
        if (most_threats(stones, own, other, direction, classes) == 0u) continue;
        for (uint point = 0; point < POINTS && turn == NO_TURN; ++point) {
            const line_t line = line_of(point, direction);
            const uint mine = own[line.number] >> line.place & SIX_IN_A_ROW;
            const uint others = other[line.number] >> line.place & SIX_IN_A_ROW;
            if (line.place + WINDOW > line.length || others > 0u || popcount(mine) < 4) continue;
            const uint empty = SIX_IN_A_ROW & ~mine, step = step_of(direction);
            const uint first = point + lowest(empty) * step, rest = empty & (empty - 1u);
            uint second = 0u;
            if (rest > 0u) {
                second = point + lowest(rest) * step;
            } else {
                while (second < POINTS && (is_set(taken, second) || second == first)) ++second;
                if (second == POINTS) second = NONE;
            }
            turn = turn_of(first, second);
        }
    }
    return turn;
}

// Set the empty points near a stone: no other stone is between.
static void candidates(const uint *taken, uint *near)
{
    for (uint i = 0; i < SIDE_WORDS; ++i) near[i] = 0u;
    for (uint i = 0; i < SIDE_WORDS; ++i)
        for (uint word = taken[i]; word > 0u; word &= word - 1u) {
            const int point = (int)(32u * i + lowest(word));
            const int row = point / (int)SIDE, column = point % (int)SIDE;
            for (int ray = 0; ray < 9; ++ray) {
                const int rows = ray / 3 - 1, columns = ray % 3 - 1;
                bool open = ray != 4;
                for (int step = 1; step <= REACH && open; ++step) {
                    const int r = row + step * rows, c = column + step * columns;
                    open = r >= 0 && r < (int)SIDE && c >= 0 && c < (int)SIDE;
                    const uint at = open ? (uint)(r * (int)SIDE + c) : 0u;
                    open = open && !is_set(taken, at);
                    if (open) near[at / 32u] |= 1u << at % 32u;
                }
            }
        }
}

// What a stone on a place of a line adds to the score of its point.
static int line_score(const line_t line, const uint own, const uint other,
                      __global const uchar *classes)
{
    int score = 0;
    const segment_t ours = segment_at(own, other, line.length, line.place);
    if (ours.length >= SHORTEST) {
        const uint after = ours.mask | 1u << (line.place - ours.first);
        score += attack(kind_of(classes, ours.length, after)) -
                 attack(kind_of(classes, ours.length, ours.mask));
    }
    const segment_t theirs = segment_at(other, own, line.length, line.place);
    if (theirs.length >= SHORTEST) {
        const uint left = line.place - theirs.first;
        const uint before = theirs.mask & ((1u << left) - 1u), past = theirs.mask >> (left + 1u);
        const int pieces = max(defence(kind_of(classes, left, before)),
                               defence(kind_of(classes, theirs.length - left - 1u, past)));
        score += defence(kind_of(classes, theirs.length, theirs.mask)) - pieces;
    }
    return score;
}

// The score of a single stone on an empty point.
static int single_score(const uint *mine, const uint *others, const uint point,
                        __global const uchar *classes)
{
    int score = (int)edge_distance(point) + 1;
    for (uint direction = 0; direction < DIRECTIONS; ++direction) {
        const line_t line = line_of(point, direction);
        score += line_score(line, mine[line.number], others[line.number], classes);
    }
    return score;
}

// Put an entry behind all that have at least its score, among the best `most`; returns how many.
static uint insert(int *scores, uint *entries, const uint count, const uint most, const int score,
                   const uint entry)
{
    if (count == most && score <= scores[most - 1u]) return count;
    uint at = count < most ? count : most - 1u;
    for (; at > 0u && scores[at - 1u] < score; --at) {
        scores[at] = scores[at - 1u];
        entries[at] = entries[at - 1u];
    }
    scores[at] = score;
    entries[at] = entry;
    return min(count + 1u, most);
}

// List the best pairs of the best single points.
static uint pairs(const uint *taken, uint *mine, uint *others, __global uint *moves,
                  __global const uchar *classes)
{
    uint near[SIDE_WORDS], best[SINGLES], turns[WIDTH];
    int worth[SINGLES], scores[WIDTH];
    uint count = 0u, found = 0u;
    candidates(taken, near);
    for (uint i = 0; i < SIDE_WORDS; ++i)
        for (uint word = near[i]; word > 0u; word &= word - 1u) {
            const uint point = 32u * i + lowest(word);
            const int score = single_score(mine, others, point, classes);
            count = insert(worth, best, count, SINGLES, score, point);
        }
    if (count == 1u) found = insert(scores, turns, 0u, WIDTH, 0, turn_of(best[0], NONE));
    for (uint i = 0; i + 1u < count; ++i) {
        put_stone(mine, best[i]);
        for (uint k = i + 1u; k < count; ++k) {
            const int score = worth[i] + single_score(mine, others, best[k], classes);
            found = insert(scores, turns, found, WIDTH, score, turn_of(best[i], best[k]));
        }
        put_stone(mine, best[i]);
    }
    for (uint i = 0; i < found; ++i) moves[i] = turns[i];
    return found;
}

// List the turns of a position in their order; none if the game is over.
static uint branch(__global const uint *position, __global uint *moves,
                   __global const uchar *classes)
{
    uint own[SIDE_WORDS], other[SIDE_WORDS], taken[SIDE_WORDS], mine[LINES], others[LINES];
    uint stones = 0u;
    for (uint i = 0; i < SIDE_WORDS; ++i) {
        own[i] = position[i];
        other[i] = position[SIDE_WORDS + i];
        taken[i] = own[i] | other[i];
        stones += popcount(taken[i]);
    }
    if (stones == 0u) {
        moves[0] = turn_of(CENTRE, NONE);
        return 1u;
    }
    lines_with(mine, position);
    lines_with(others, position + SIDE_WORDS);
    if (!FULL_WIDTH) {
        if (any_six(own, mine, others, classes) || any_six(other, others, mine, classes)) return 0u;
        const uint won = immediate_win(own, taken, mine, others, classes);
        if (won != NO_TURN) {
            moves[0] = won;
            return 1u;
        }
    }
    return pairs(taken, mine, others, moves, classes);
}

#endif
