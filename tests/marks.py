"""Which parameters does a test try in every run, which in the thorough tests, which in turn?"""

import pytest


def thorough_but(quick, values, names=1):
    """Return all values as parameters of a test; those that are not quick are marked thorough.

    Where a test has several names for what a value consists of, say how many.
    """
    return [
        pytest.param(
            *(value if names > 1 else [value]),
            marks=[] if value in quick else [pytest.mark.thorough],
        )
        for value in values
    ]


def offenders(rule, ones):
    """Return what breaks a rule, by name; the rule returns what is wrong with one."""
    return {one: found for one in ones if (found := rule(one))}


def some_and_others(quick, values):
    """Return two parameters of a test of one rule, each a list: the quick values, and the others.

    The second one is marked thorough. The test lists all that breaks the rule.
    """
    others = [value for value in values if value not in quick]
    some = [value for value in values if value in quick]
    return [
        pytest.param(some, id="some"),
        pytest.param(others, id="others", marks=pytest.mark.thorough),
    ]


def in_turn(firsts, seconds, each):
    """Return pairs: every first value with `each` of the second values, which take turns.

    For two axes of which all values matter, but not all pairs. Every round of the second values
    begins one later than the last, so that no first ones meet the same few of them.
    """
    rounds = (divmod(place, len(seconds)) for place in range(len(firsts) * each))
    turns = [seconds[(number + begin) % len(seconds)] for begin, number in rounds]
    return [(firsts[place // each], second) for place, second in enumerate(turns)]
