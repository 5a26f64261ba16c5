"""Can the side to move win by threats alone, in how many turns, and how does it begin?

Every turn but the last is *forcing*: the other side needs both of its stones to meet all windows
of six that could be completed. The side to move chooses one of them, the other side answers by any
pair that meets them all; no other answer helps it, as it never has a window to complete itself.
What is found is a proof. That nothing is found says only that threats alone do not win so soon.
"""

from itertools import combinations

from reference_py.games.connect6.evaluate import sides
from reference_py.games.connect6.geometry import points_of_bits
from reference_py.games.connect6.moves import NEAR, all_windows, turn_of
from reference_py.games.ngtsg.parameters import NO_MOVE


def threatened(own, other):
    """Return the empty points of each window that a side could complete in a turn."""
    return [
        window & ~own
        for window in all_windows()
        if not window & other and (window & own).bit_count() >= NEAR
    ]


def covers(threats):
    """Return the pairs of points that meet all windows, and whether one point alone does."""
    common = threats[0]
    for empty in threats:
        common &= empty
    if common:
        return [], True
    found = set()
    for first in points_of_bits(threats[0]):
        left = [empty for empty in threats if not empty >> first & 1]
        common = left[0]
        for empty in left:
            common &= empty
        found |= {1 << first | 1 << second for second in points_of_bits(common)}
    return sorted(found), False


def forcing_turns(own, other):
    """Yield turns that force an answer: the pair as bits, and the pairs that answer it.

    Those with the fewest answers come first; without any the turn wins.
    """
    open_windows = [
        (window & ~own, (window & own).bit_count())
        for window in all_windows()
        if not window & other and (window & own).bit_count() >= NEAR - 2
    ]
    blocked = threatened(other, own)
    useful = {point for empty, _ in open_windows for point in points_of_bits(empty)}
    useful |= {point for empty in blocked for point in points_of_bits(empty)}
    pairs = set()
    for empty, stones in open_windows:
        if stones == NEAR - 2:
            pairs.update(1 << a | 1 << b for a, b in combinations(points_of_bits(empty), 2))
        else:
            pairs.update(1 << a | 1 << b for a in points_of_bits(empty) for b in useful - {a})
    found = []
    for pair in pairs:
        if any(not empty & pair for empty in blocked):
            continue  # the other side would complete six
        threats = [
            e & ~pair for e, stones in open_windows if stones + (e & pair).bit_count() >= NEAR
        ]
        if not threats:
            continue
        answers, alone = covers(threats)
        if not alone:
            found.append((len(answers), pair, answers))
    for _, pair, answers in sorted(found):
        yield pair, answers


def win_within(own, other, turns, known=None):
    """Return the pair, as bits, with which a side begins to win in ``turns`` turns; else None."""
    known = {} if known is None else known
    now = threatened(own, other)
    if now:
        return now[0]
    if turns <= 1:
        return None
    key = own, other, turns
    if key not in known:
        known[key] = None
        for pair, answers in forcing_turns(own, other):
            after = own | pair
            if all(win_within(after, other | one, turns - 1, known) is not None for one in answers):
                known[key] = pair
                break
    return known[key]


def shortest_win(own, other, most):
    """Return in how many turns a side wins by threats, and how it begins; (None, None) if not."""
    known = {}
    for turns in range(1, most + 1):
        pair = win_within(own, other, turns, known)
        if pair is not None:
            return turns, pair
    return None, None


def prove(p, game, tick):
    """Look for a win by threats from the root; 0 turns: none was found."""
    own, other = sides(p.roots[game.index % len(p.roots)])
    turns, pair = shortest_win(own, other, p.prover)
    game.win_in, game.win_turn = 0, NO_MOVE
    if turns is not None:
        game.win_in, game.win_turn = turns, turn_of(*points_of_bits(pair))
