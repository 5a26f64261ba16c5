"""Which ticks of a run are compared with the reference?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from societies.errors import ConfigError, override
from societies.words import plural

FIRST_TICKS = 2
"""Number of ticks compared at the start of a run that is compared in parts."""

TIMES, TICKS_AT_A_TIME = 3, 2
"""Number of later parts, the last of them at the end of the run; and number of ticks in each."""

MOST_SINGLE_TICKS = 8
"""Largest number of further ticks, with phases or events that no other chosen tick has."""

ALL_TICKS = FIRST_TICKS + TIMES * TICKS_AT_A_TIME + MOST_SINGLE_TICKS
"""Runs of up to this number of ticks are compared completely, longer ones in at most this many."""


def chosen_windows(ticks: int, happens: Mapping[str, Sequence[int]]) -> list[tuple[int, int]]:
    """Return first and last tick of each window to compare, of a run with this number of ticks.

    ``happens`` has the ticks of each phase or event that the first ticks lack.
    """
    if ticks <= ALL_TICKS:
        return [(1, ticks)]
    chosen = set(range(1, FIRST_TICKS + 1))
    for i in range(1, TIMES + 1):
        end = ticks * i // TIMES
        chosen.update(range(end - TICKS_AT_A_TIME + 1, end + 1))
    most = len(chosen) + MOST_SINGLE_TICKS
    missed = {name: set(at) for name, at in happens.items() if at and not chosen & set(at)}
    while missed and len(chosen) < most:
        candidates = sorted(set().union(*missed.values()))
        tick = max(candidates, key=lambda d: sum(d in at for at in missed.values()))
        chosen.add(tick)
        missed = {name: at for name, at in missed.items() if tick not in at}
    return joined([(tick, tick) for tick in sorted(chosen)])


def ticks_to_verify(
    clock: str,
    asked: int | None,
    ticks: int,
    after: int = 0,
    key: str = "",
    most: Callable[[int], bool] = lambda ticks: True,
) -> int:
    """Return the number of ticks to compare after a checkpoint of tick ``after``.

    ``key`` is the key with the number of ticks. ``most`` returns True if the configuration may have
    a given number of ticks.

    Raises ConfigError if the configuration has fewer ticks than requested.
    """
    key = key or plural(clock)

    def raised(ticks: int) -> str:
        return f"; raise it with {override(f'{key}={ticks}')}" if most(ticks) else ""

    if after and after + (asked or 1) > ticks:
        raise ConfigError(
            f"verify: the checkpoint is of {clock} {after}, the configuration has {ticks} "
            f"{plural(clock)}{raised(after + (asked or 1))}"
        )
    ticks -= after
    if asked is not None and not 1 <= asked <= ticks:
        raise ConfigError(
            f"verify: {asked} {plural(clock)} are requested, the configuration has {ticks}"
            f"{raised(asked)}"
            if asked > 0
            else f"verify: {asked} {plural(clock)} are requested; the least is 1"
        )
    return ticks if asked is None else asked


def length(windows: Sequence[tuple[int, int]]) -> int:
    """Return the number of ticks in all windows."""
    return sum(last - first + 1 for first, last in windows)


def joined(windows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return windows with adjacent ones merged."""
    joined: list[tuple[int, int]] = []
    for first, last in windows:
        if joined and joined[-1][1] == first - 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined
