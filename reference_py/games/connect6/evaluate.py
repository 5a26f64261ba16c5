"""What is a position worth to its side to move, which is about to place two stones?

C6-E1. Device twins: ``kernels/games/connect6/evaluate.cl``, and by many work-items
``kernels/games/connect6/weigh.cl``.
"""

from reference_py.games.connect6.classes import D3, L2, L3, SIX, T1, T2, T3
from reference_py.games.connect6.geometry import POINTS, lines_with
from reference_py.games.connect6.parameters import WORDS_OF_A_SIDE
from reference_py.games.connect6.shapes import shapes_of

WON, WINS, FALLS = 20000, 19999, 9999
"""Six in a row; six with the next two stones; too many shapes to stop."""


def sides(position):
    """Return the stones of both sides, as bits, from the words of a position."""
    words = [int(word) for word in position]
    halves = words[:WORDS_OF_A_SIDE], words[WORDS_OF_A_SIDE : 2 * WORDS_OF_A_SIDE]
    own, other = (sum(word << 32 * i for i, word in enumerate(half)) for half in halves)
    return own, other


def evaluate(p, position, ply):
    """Return the value of a position; a full board without six is worth nothing."""
    own, other = sides(position)
    now, then = both_shapes(own, other)
    if not then.of[SIX] and not now.of[SIX] and (own | other).bit_count() == POINTS:
        return 0
    return rule_of(now, then)[1]


def both_shapes(own, other):
    """Return the shapes of the side to move and those of the other."""
    mine, others = lines_with(own), lines_with(other)
    return shapes_of(own, mine, others), shapes_of(other, others, mine)


def rule_of(n, o):
    """Return the number of the rule that applies, and the value: n is to move, o is not."""
    plus = large(n) - small(o) + n.centre - o.centre
    minus = small(n) - large(o) + n.centre - o.centre
    links = n.link(L2, L2) + n.link(L2, D3) > 0
    if o.of[SIX]:
        return 1, -WON
    if n.of[SIX]:
        return 2, WON
    if n.threats >= 1:
        return 3, WINS
    if o.threats >= 3:
        return 4, -WINS
    if o.threats == 2:
        return _two_threats(n, o, links, plus, minus)
    if o.threats == 1:
        return _one_threat(n, o, links, plus, minus)
    return _no_threat(n, o, links, plus)


def large(side):
    """Return the sum of a side's shapes if its position is the better one."""
    return 25 * side.of[L3] + 15 * side.of[L2] + 10 * side.of[D3] + 15 * side.crossings


def small(side):
    """Return the sum of a side's shapes if its position is the worse one."""
    return 20 * side.of[L3] + 10 * side.of[L2] + 6 * side.of[D3] + 10 * side.crossings


def _two_threats(n, o, links, plus, minus):
    """Return rule and value where both stones are needed to stop the other side."""
    if o.of[L3] >= 2 or (o.of[L3] == 1 and o.of[D3] >= 1):
        return 5, -FALLS
    if o.of[L3] >= 1:
        return 6, -4000 + minus
    crossing = o.link(L2, L3) + o.link(L2, L2) + o.link(L2, D3)
    crossing += sum(o.stones[L2, threat] for threat in (T1, T2, T3))
    if o.of[L2] >= 1 and crossing > 0:
        return 7, -4000 + minus
    if o.of[D3] >= 2 and o.link(D3, D3) + o.link(L2, D3) > 0:
        return 8, -4000 + minus
    if o.of[D3] >= 2:
        return 9, -3000 + minus
    if o.of[L2] >= 1:
        return 10, -3000 + minus
    if o.of[D3] == 1 and n.of[D3] >= 1 and links and n.of[L2] + n.of[L3] >= 3:
        return 11, 1000 + plus
    if o.of[D3] == 1 and n.of[D3] >= 1 and links and n.of[L2] + n.of[L3] == 2:
        return 12, (1000 if n.of[L3] else 0) + plus
    if o.of[D3] == 1:
        return 13, -3000 + minus
    return 14, -2000 + minus


def _one_threat(n, o, links, plus, minus):
    """Return rule and value where one stone is needed to stop the other side."""
    if n.of[L3] >= 2:
        return 15, 2000 + plus
    if n.of[L3] == 1:
        if n.of[L2] >= 2 and links:
            return 16, 2000 + plus
        if n.of[D3] >= 2 and n.link(D3, D3) + n.link(L2, D3) > 0:
            return 17, 2000 + plus
        if n.of[L2] > 0 or n.of[D3] >= 2:
            return 18, plus
        return 19, -2000 + plus
    if o.of[L3] >= 2:
        return 20, -FALLS
    if o.of[L3] == 1:
        if o.of[L2] > 0:
            return 21, -4000 + minus
        if o.of[D3] == 0:
            return 22, plus
        if n.of[D3] >= o.of[D3] + 1 and n.of[L2] >= 2:
            return 23, plus
        if n.of[D3] < o.of[D3] + 1:
            return 24, -3000 + minus
        return 25, -2000 + minus
    if n.of[D3] >= 1:
        if n.of[D3] > o.of[D3] and n.of[L2] > 0:
            return 26, 1000 + plus
        if n.of[D3] >= o.of[D3]:
            return 27, plus
        if o.of[L2] > 0:
            return 28, -4000 + minus
        return 29, -2000 + minus
    if o.of[L2] >= 2:
        return 30, -4000 + minus
    if o.of[D3] >= 2 and n.of[L2] == 0:
        return 31, -3000 + minus
    if o.of[D3] == 1 and o.of[L2] == 1:
        return 32, -3000 + minus
    return 33, -2000 + minus


def _no_threat(n, o, links, plus):
    """Return rule and value where the other side threatens nothing."""
    if n.of[L3] >= 1:
        return 34, 2000 + plus
    if n.of[L2] >= 2 and links:
        return 35, 2000 + plus
    if n.of[D3] > o.of[D3] and links and o.of[L3] == 0 and o.keys[L2, D3] == 0:
        return 36, plus
    if n.of[L2] == 1 and n.link(L2, D3) > 0:
        return 37, 1000 + plus
    if n.of[D3] >= 2 and n.link(D3, D3) > 0:
        return 38, 1000 + plus
    if n.of[L2] >= 1:
        return 39, plus
    return 40, -2000 + plus
