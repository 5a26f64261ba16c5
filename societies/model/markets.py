"""Steps of markets that rules share: whom an agent looks at, and in which order agents act.

Every function is plain Python of rules, and is translated with the rule that calls it. Words are
random numbers of 32 bits, as `Rng.next` gives them; an agent that draws the same number of words in
every period, whatever happens to it, keeps its draws when a policy changes.
"""

MOST = 1 << 24
"""Indices that `placed` takes are below this number."""


def pick(word: int, n: int) -> int:
    """Return one of 0 .. n-1 by a word; each is equally likely up to n / 2**32."""
    return word * n >> 32


def pick_other(word: int, n: int, taken: list[int]) -> int:
    """Return one of 0 .. n-1 that is not in a list, and insert it there.

    Parameters
    ----------
    word : random number of 32 bits
    n : number of entries to choose from, more than the list has
    taken : ascending list of those chosen before
    """
    found = pick(word, n - len(taken))
    at = 0
    while at < len(taken) and taken[at] <= found:
        found += 1
        at += 1
    taken.insert(at, found)
    return found


def placed(word: int, index: int) -> int:
    """Return a number by which agents are sorted: by their word, then by their index."""
    return word * MOST + index


def index_of(place: int) -> int:
    """Return the index of an agent from its `placed` number."""
    return place & (MOST - 1)


def trimmed_mean(values: list[int], share: int) -> float:
    """Return the mean without the lowest and highest 1 in ``share``, rounded to whole numbers.

    Parameters
    ----------
    values : list of whole numbers in ascending order
    """
    n = len(values)
    cut = (n + share // 2) // share
    total = 0
    for k in range(cut, n - cut):
        total += values[k]
    return float(total) / float(max(n - 2 * cut, 1))
