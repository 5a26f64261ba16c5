"""How good is a segment: what can be made of its stones?

Device twin: ``kernels/games/connect6/classes.cl``.
"""

from functools import lru_cache

import numpy as np

NOTHING, D2, L2, D3, L3, T1, T2, T3, SIX = range(9)
"""Classes. Tn: n stones are needed to stop it (3: or more). L3, D3: another stone makes T2 at
least, or T1; L2, D2: another two do; SIX: six in a row, or more."""

SHORTEST, LONGEST = 6, 19
"""Lengths of segments that matter."""

WINDOW = 6
ENTRIES = 2 ** (LONGEST + 1) - 2**SHORTEST
"""Entries of the table: all masks of length 6, then those of length 7, ..."""

THREATS_SHIFT = 4
"""An entry has the class in its low bits, the number of threats above them."""


def table_place(length, mask):
    """Return the position of a segment in the table."""
    return 2**length - 2**SHORTEST + mask


def windows(length, mask):
    """Return the windows of a segment as masks, first to last, and the stones in each."""
    window = 2**WINDOW - 1
    places = range(length - WINDOW + 1)
    return [(window << i, (mask >> i & window).bit_count()) for i in places]


def threats(length, mask):
    """Return how many stones are needed to stop a segment from becoming six (Wu and Huang 2006).

    Windows with four stones or more, from one end to the other, whose points are not marked yet;
    the empty points of each are then marked.
    """
    marked = found = 0
    for window, stones in windows(length, mask):
        if stones >= 4 and not window & marked:
            found += 1
            marked |= window & ~mask
    return found


def has_six(length, mask):
    """Return whether there are six stones in a row."""
    return any(stones == WINDOW for _, stones in windows(length, mask))


def best_with(length, mask, stones):
    """Return the most threats after ``stones`` more stones."""
    if not stones:
        return threats(length, mask)
    free = [mask | 1 << i for i in range(length) if not mask >> i & 1]
    return max((best_with(length, more, stones - 1) for more in free), default=0)


def class_of(length, mask):
    """Return the class of a segment, by its definition."""
    if has_six(length, mask):
        return SIX
    now = threats(length, mask)
    if now:
        return (T1, T2, T3)[min(now, 3) - 1]
    for live, dead, stones in ((L3, D3, 1), (L2, D2, 2)):
        best = best_with(length, mask, stones)
        if best:
            return live if best >= 2 else dead
    return NOTHING


@lru_cache(maxsize=1)
def class_table():
    """Return class and threats of all segments, (entry,) uint8: all masks of a length at once."""
    table = np.empty(ENTRIES, np.uint8)
    for length in range(SHORTEST, LONGEST + 1):
        masks = np.arange(2**length, dtype=np.uint32)
        now, six = all_threats(length, masks)
        one = best_more(length, masks, now)
        two = best_more(length, masks, one)
        choices = [six, now >= 3, now == 2, now == 1, one >= 2, one == 1, two >= 2, two == 1]
        classes = np.select(choices, [SIX, T3, T2, T1, L3, D3, L2, D2], NOTHING)
        place = table_place(length, 0)
        table[place : place + len(masks)] = classes | now << THREATS_SHIFT
    table.flags.writeable = False
    return table


def all_threats(length, masks):
    """Return the threats of each mask, and whether it has six in a row."""
    found, marked = np.zeros(len(masks), np.uint8), np.zeros(len(masks), np.uint32)
    six = np.zeros(len(masks), bool)
    for place in range(length - WINDOW + 1):
        window = np.uint32((2**WINDOW - 1) << place)
        stones = np.bitwise_count(masks & window)
        six |= stones == WINDOW
        counts = (stones >= 4) & (window & marked == 0)
        found += counts
        marked |= np.where(counts, window & ~masks, 0).astype(np.uint32)
    return found, six


def best_more(length, masks, known):
    """Return of each mask the most of what is known of those with one stone more."""
    best = np.zeros(len(masks), np.uint8)
    for place in range(length):
        bit = np.uint32(1 << place)
        best = np.where(masks & bit, best, np.maximum(best, known[masks | bit]))
    return best


def entry_of(length, mask):
    """Return the entry of a segment; that of a short one is 0."""
    return int(class_table()[table_place(length, mask)]) if length >= SHORTEST else 0


@lru_cache(1 << 16)
def kind_of(length, mask):
    """Return the class of a segment from the table; that of a short one is `NOTHING`."""
    return entry_of(length, mask) & ((1 << THREATS_SHIFT) - 1)


def key_points(length, mask):
    """Return the empty points, as a mask, in the windows that have the most stones."""
    most = max(stones for _, stones in windows(length, mask))
    keys = 0
    for window, stones in windows(length, mask):
        if stones == most:
            keys |= window
    return keys & ~mask


def build_classes(p, game, tick):
    """Make the table, which serves all games."""
    game.ready = int(len(class_table()) == ENTRIES)
