"""What is one copy of a workload (a society, a plate, a game) in the reference?"""

from collections.abc import Callable
from types import SimpleNamespace


class Copy(SimpleNamespace):
    """The state of one copy; every array is a (nested) list over its dimensions, or an array.

    Parameters
    ----------
    index : int
        Number of the copy; its random streams belong to this number.
    state : dict
        One entry per array of the state, without the dimension of copies, and per list of events.

    Attributes
    ----------
    listener : callable or None
        Called with each event and its facts; no result depends on it.
    """

    listener: Callable[..., None] | None = None

    def __init__(self, index, state):
        super().__init__(index=index, **state)
