"""What is a society in the reference? An object whose state is in plain lists.

The names are those of the state table (`reference_py.economy.state`); ``held[a][r]`` here is
``held(a, r)`` in a kernel.
"""

from reference_py.copies import Copy
from reference_py.economy.state import arrays, filled, sizes


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
    inventions : list of (day, inventor, device_type, resource, components...)
        What was invented since the list was last cleared; no part of the state.
    series : dict
        The day's statistics by name; empty before the first evening.
    """

    def __init__(self, index, state):
        super().__init__(index, {**state, "inventions": []})


def new_society(p, index=0):
    """Return a society as it is before the first phase, which seeds its streams."""
    lengths = sizes(p)
    state = {
        name: filled(array, [lengths[dim] for dim in array.dims])
        for name, array in arrays(p).items()
        if name != "series"
    }
    return Society(index, {**state, "series": {}})
