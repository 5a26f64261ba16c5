"""What is a society in the reference: its state as plain lists, one object per society.

The names are those of the state table (`societies/economy/state.py`); ``held[a][r]`` here is
``held(a, r)`` in a kernel.
"""

from __future__ import annotations

from reference_py.copies import Copy


class Society(Copy):
    """The state of one society; every field is a (nested) list over its dimensions.

    Parameters
    ----------
    index : int
        Number of the society; its random streams belong to this number.
    state : dict of nested lists
        One entry per field of the state table, without the society dimension.

    Attributes
    ----------
    inventions : list of (day, inventor, type, resource, components...)
        What was invented since somebody emptied it; no part of the state.
    """

    def __init__(self, index, state):
        super().__init__(index, state, events=("inventions",))
