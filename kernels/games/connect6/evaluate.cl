// What is a position worth to its side to move, which is about to place two stones?
// Twin: reference_py/games/connect6/evaluate.py.
//
// C6-E1. In every function n is to move and o is not.
#ifndef GAMES_CONNECT6_EVALUATE_CL
#define GAMES_CONNECT6_EVALUATE_CL

#include "games/connect6/shapes.cl"

#define WON 20000
#define WINS 19999
#define FALLS 9999

// The sum of a side's shapes if its position is the better one.
static int large(const shapes_t *side)
{
    return 25 * side->of[L3] + 15 * side->of[L2] + 10 * side->of[D3] + 15 * side->crossings;
}

// The sum of a side's shapes if its position is the worse one.
static int small(const shapes_t *side)
{
    return 20 * side->of[L3] + 10 * side->of[L2] + 6 * side->of[D3] + 10 * side->crossings;
}

// The value where both stones are needed to stop the other side.
static int two_threats(const shapes_t *n, const shapes_t *o, const bool links, const int plus,
                       const int minus)
{
    if (o->of[L3] >= 2 || (o->of[L3] == 1 && o->of[D3] >= 1)) return -FALLS;
    if (o->of[L3] >= 1) return -4000 + minus;
    int crossing = link_of(o, L2_L3) + link_of(o, L2_L2) + link_of(o, L2_D3);
    crossing += o->stones[L2_T];
    if (o->of[L2] >= 1 && crossing > 0) return -4000 + minus;
    if (o->of[D3] >= 2 && link_of(o, D3_D3) + link_of(o, L2_D3) > 0) return -4000 + minus;
    if (o->of[D3] >= 2) return -3000 + minus;
    if (o->of[L2] >= 1) return -3000 + minus;
    if (o->of[D3] == 1 && n->of[D3] >= 1 && links && n->of[L2] + n->of[L3] >= 3) return 1000 + plus;
    if (o->of[D3] == 1 && n->of[D3] >= 1 && links && n->of[L2] + n->of[L3] == 2)
        return (n->of[L3] > 0 ? 1000 : 0) + plus;
    if (o->of[D3] == 1) return -3000 + minus;
    return -2000 + minus;
}

// The value where one stone is needed to stop the other side.
static int one_threat(const shapes_t *n, const shapes_t *o, const bool links, const int plus,
                      const int minus)
{
    if (n->of[L3] >= 2) return 2000 + plus;
    if (n->of[L3] == 1) {
        if (n->of[L2] >= 2 && links) return 2000 + plus;
        if (n->of[D3] >= 2 && link_of(n, D3_D3) + link_of(n, L2_D3) > 0) return 2000 + plus;
        if (n->of[L2] > 0 || n->of[D3] >= 2) return plus;
        return -2000 + plus;
    }
    if (o->of[L3] >= 2) return -FALLS;
    if (o->of[L3] == 1) {
        if (o->of[L2] > 0) return -4000 + minus;
        if (o->of[D3] == 0) return plus;
        if (n->of[D3] >= o->of[D3] + 1 && n->of[L2] >= 2) return plus;
        if (n->of[D3] < o->of[D3] + 1) return -3000 + minus;
        return -2000 + minus;
    }
    if (n->of[D3] >= 1) {
        if (n->of[D3] > o->of[D3] && n->of[L2] > 0) return 1000 + plus;
        if (n->of[D3] >= o->of[D3]) return plus;
        if (o->of[L2] > 0) return -4000 + minus;
        return -2000 + minus;
    }
    if (o->of[L2] >= 2) return -4000 + minus;
    if (o->of[D3] >= 2 && n->of[L2] == 0) return -3000 + minus;
    if (o->of[D3] == 1 && o->of[L2] == 1) return -3000 + minus;
    return -2000 + minus;
}

// The value where the other side threatens nothing.
static int no_threat(const shapes_t *n, const shapes_t *o, const bool links, const int plus)
{
    if (n->of[L3] >= 1) return 2000 + plus;
    if (n->of[L2] >= 2 && links) return 2000 + plus;
    if (n->of[D3] > o->of[D3] && links && o->of[L3] == 0 && o->keys[L2_D3] == 0) return plus;
    if (n->of[L2] == 1 && link_of(n, L2_D3) > 0) return 1000 + plus;
    if (n->of[D3] >= 2 && link_of(n, D3_D3) > 0) return 1000 + plus;
    if (n->of[L2] >= 1) return plus;
    return -2000 + plus;
}

// The value of two sides' shapes.
static int rule_of(const shapes_t *n, const shapes_t *o)
{
    const int centre = n->centre - o->centre;
    const int plus = large(n) - small(o) + centre, minus = small(n) - large(o) + centre;
    const bool links = link_of(n, L2_L2) + link_of(n, L2_D3) > 0;
    if (o->of[SIX] > 0) return -WON;
    if (n->of[SIX] > 0) return WON;
    if (n->threats >= 1) return WINS;
    if (o->threats >= 3) return -WINS;
    if (o->threats == 2) return two_threats(n, o, links, plus, minus);
    if (o->threats == 1) return one_threat(n, o, links, plus, minus);
    return no_threat(n, o, links, plus);
}

// The value of a position; a full board without six is worth nothing.
static int evaluate(__global const uint *position, const uint ply, __global const uchar *classes)
{
    uint mine[LINES], others[LINES], stones = 0u;
    lines_with(mine, position);
    lines_with(others, position + SIDE_WORDS);
    const shapes_t now = shapes_of(position, mine, others, classes);
    const shapes_t then = shapes_of(position + SIDE_WORDS, others, mine, classes);
    for (uint i = 0; i < 2u * SIDE_WORDS; ++i) stones += popcount(position[i]);
    const bool six = now.of[SIX] > 0 || then.of[SIX] > 0;
    return stones == POINTS && !six ? 0 : rule_of(&now, &then);
}

#endif
