"""How many runs does the next batch of a study have?

As many as take about `SECONDS_OF_BATCH`: a killed study loses the work of one batch. On a GPU a
batch of 100 runs can take hardly longer than one of 10, because its launches follow each other and
each has a shortest time. Then batches are larger, up to `LONGEST` seconds or twice the fixed part.
"""

from __future__ import annotations

from societies.workload.running.pace import paced

SECONDS_OF_BATCH = 10.0
"""Intended duration of a batch."""
LONGEST = 60.0
"""Longest expected duration of a batch whose fixed part is less than half of it."""
FIXED_SHARE = 0.25
"""Largest share of a batch's time that does not depend on its number of runs, within `LONGEST`."""
FIRST_BATCH = 64
"""Runs of the first batch; the size of later ones follows from the time that it took."""
MOST_RUNS = 1 << 16
FASTER = 16
"""Largest growth from one batch to the next; it is large because 64 runs do not fill a GPU."""
UNLIKE = 1.5
"""Two batches show the fixed part of their time if the larger one has this many times the runs."""


class BatchSizes:
    """The size of the next batch, from the sizes and seconds of those before.

    Attributes
    ----------
    size : runs of the next batch
    """

    def __init__(self) -> None:
        self.size = FIRST_BATCH
        self._last: tuple[int, float] | None = None
        self._other: tuple[int, float] | None = None

    def add(self, runs: int, seconds: float) -> None:
        """Record the size and time of a batch that has ended."""
        if self._last and _unlike(runs, self._last[0]):
            self._other = self._last
        self._last = runs, seconds
        self.size = paced(runs, seconds, SECONDS_OF_BATCH, MOST_RUNS, faster=FASTER)
        if self._other and _unlike(runs, self._other[0]):
            self._fit(*self._other)
        elif not self._other and not _unlike(runs, self.size):
            self.size = min(MOST_RUNS, 2 * runs)

    def _fit(self, other: int, took: float) -> None:
        """Let the next batch be larger if the last two show that its time is mostly fixed."""
        assert self._last is not None
        runs, seconds = self._last
        each = max((seconds - took) / (runs - other), 1e-3 * seconds / runs)
        fixed = seconds - each * runs
        rest = min(fixed * (1.0 / FIXED_SHARE - 1.0), max(LONGEST - fixed, fixed))
        most = min(MOST_RUNS, FASTER * max(runs, other))
        self.size = min(most, max(self.size, int(rest / each)))


def _unlike(runs: int, other: int) -> bool:
    return not 1 / UNLIKE < runs / other < UNLIKE
