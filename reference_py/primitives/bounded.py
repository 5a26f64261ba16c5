"""Which list has a largest length, so that a device has room for it?"""

from collections.abc import Iterable
from typing import SupportsIndex, TypeVar

T = TypeVar("T")


class Bounded(list[T]):
    """A list of at most ``most`` entries.

    Parameters
    ----------
    most : int
        Largest number of entries.
    entries : iterable
        The first entries.

    Raises
    ------
    IndexError
        When it would get one more, here and by `append`, `extend` and `insert`.
    """

    def __init__(self, most: int, entries: Iterable[T] = ()) -> None:
        super().__init__(entries)
        self.most = most
        self._require(0)

    def _require(self, more: int) -> None:
        if len(self) + more > self.most:
            raise IndexError(f"the list has more than {self.most} entries")

    def append(self, entry: T) -> None:
        """Add an entry at the end."""
        self._require(1)
        super().append(entry)

    def extend(self, entries: Iterable[T]) -> None:
        """Add several entries at the end."""
        more = list(entries)
        self._require(len(more))
        super().extend(more)

    def insert(self, index: SupportsIndex, entry: T) -> None:
        """Add an entry before the one at an index."""
        self._require(1)
        super().insert(index, entry)
