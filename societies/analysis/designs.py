"""Which points of a study form complete groups of a Saltelli design or Morris trajectories?

Points are sorted by their numbers. The differences between the points of a group are checked, so
points of another design are detected.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, option

if TYPE_CHECKING:
    import xarray as xr

    Groups = NDArray[np.float64]
    """Parameters of the points: (group, point in the group, parameter)."""


def as_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return values as numbers; each text is replaced by its rank in alphabetical order."""
    if values.dtype.kind in "iufb":
        return values.astype(float)
    return np.unique(values.astype(str), return_inverse=True)[1].astype(float)


def saltelli(
    outcome: xr.DataArray, names: Sequence[str], dim: str, *, second_order: bool
) -> tuple[xr.DataArray, list[str]]:
    """Return the outcomes of complete groups of a Saltelli design, and its order of parameters.

    The first and the last point of a group are independent of each other. Each point between them
    is the first point with one parameter taken from the last. With second order, points follow
    that are the last point with one parameter taken from the first.

    Raises ConfigError if no group is complete, or the points are in another order.
    """
    size = (2 * len(names) if second_order else len(names)) + 2
    design = f"Saltelli design of {len(names)} parameters ({', '.join(names)})"
    if outcome.sizes[dim] % size and "point" not in outcome.coords:
        raise ConfigError(
            f"{outcome.sizes[dim]} points are no {design}, which has a multiple of {size}"
        )
    if not all(name in outcome.coords and outcome[name].dims == (dim,) for name in names):
        return outcome, list(names)

    def order(x: Groups) -> list[int]:
        changed = [np.flatnonzero((x[:, 1 + i] != x[:, 0]).any(0)) for i in range(len(names))]
        return [int(*one) for one in changed] if all(len(one) == 1 for one in changed) else []

    def whole(x: Groups) -> NDArray[np.bool_]:
        found = np.full(len(x), len({*order(x)}) == len(names))
        for row, key in enumerate(order(x)):
            expected = x[:, 0].copy()
            expected[:, key] = x[:, -1, key]
            found &= (x[:, 1 + row] == expected).all(1)
            if second_order:
                expected = x[:, -1].copy()
                expected[:, key] = x[:, 0, key]
                found &= (x[:, 1 + len(names) + row] == expected).all(1)
        return found

    count = _said(outcome, "saltelli").get("points", 0)
    rows, x = _whole(outcome, names, dim, size, whole, design, "groups", count)
    return outcome.isel({dim: rows}), [names[i] for i in order(x)]


def trajectories(
    outcome: xr.DataArray, names: Sequence[str], dim: str, levels: int | None
) -> tuple[xr.DataArray, int]:
    """Return the outcomes of complete trajectories of a Morris design, and its number of levels.

    From one point to the next one parameter changes; each parameter changes once.

    Raises ConfigError if no trajectory is complete, or the number of levels is unknown or does not
    fit.
    """
    size = len(names) + 1
    design = f"trajectories of {len(names)} parameters ({', '.join(names)})"
    if any(name not in outcome.coords for name in names):
        raise ConfigError(f"'{outcome.name}' needs the coordinates {', '.join(names)}")
    if outcome.sizes[dim] % size and "point" not in outcome.coords:
        raise ConfigError(
            f"{outcome.sizes[dim]} points are no {design}, which have {size} points each"
        )
    if levels is not None and (levels < 2 or levels % 2):
        raise ConfigError(f"{option('levels', levels)}: must be even, and at least 2")

    def whole(x: Groups) -> NDArray[np.bool_]:
        changed = np.diff(x, axis=1) != 0  # because of rounding a step may change nothing
        once = (changed.sum(1) <= 1).all(1) & (changed.sum(2) <= 1).all(1)
        found: NDArray[np.bool_] = once & changed.any((1, 2))
        return found

    count = _said(outcome, "morris").get("trajectories", 0)
    rows, x = _whole(outcome, names, dim, size, whole, design, "trajectories", count)
    values = x.reshape(-1, len(names))
    return outcome.isel({dim: rows}), _levels(outcome, names, values, levels)


def _levels(
    outcome: xr.DataArray, names: Sequence[str], x: NDArray[np.float64], asked: int | None
) -> int:
    """Return the number of values of each parameter in the design."""
    seen = [np.unique(column) for column in x.T]
    levels = asked if asked is not None else _said(outcome, "morris").get("levels")
    if levels is None:
        count = len(seen[0])
        if count % 2 or any(
            len(one) != count or not np.allclose(np.diff(one), np.ptp(one) / (count - 1), atol=0)
            for one in seen
        ):
            raise ConfigError(
                f"{option('levels')}: the points do not show how many levels their design has; "
                "name their number"
            )
        return count
    for name, values in zip(names, seen, strict=True):
        if len(values) > levels:
            raise ConfigError(
                f"{option('levels', levels)}: '{name}' has {len(values)} values at the points"
            )
    return int(levels)


def _said(outcome: xr.DataArray, method: str) -> dict[str, Any]:
    """Return the options of a design from the attributes of its study, or {} if it has none."""
    said = outcome.coords["point"].attrs.get("design", "") if "point" in outcome.coords else ""
    try:
        found = [one[method] for one in json.loads(str(said)) if method in one]
    except (ValueError, TypeError):
        return {}
    return dict(*found) if len(found) == 1 else {}


def _whole(
    outcome: xr.DataArray,
    names: Sequence[str],
    dim: str,
    size: int,
    whole: Callable[[Groups], NDArray[np.bool_]],
    design: str,
    groups: str,
    count: int,
) -> tuple[NDArray[np.int64], Groups]:
    """Return the indices of the points of complete groups, in order, and their parameters.

    If all present points form complete groups (such as those of one value of a grid), they are
    taken in order. Else the numbers of the points determine the group of each point. Warns if
    groups are left out, or fewer are present than the ``count`` that the study's design has.
    """
    x = np.column_stack([as_numbers(outcome[name].values) for name in names])
    places = np.arange(len(x))
    if len(x) % size == 0 and whole(x.reshape(-1, size, len(names))).all():
        if (used := len(x) // size) < count:
            warnings.warn(
                f"'{outcome.name}': {used} of {count} {groups} are used; the others are missing",
                stacklevel=4,
            )
        return places, x.reshape(-1, size, len(names))
    if "point" not in outcome.coords:
        raise ConfigError(f"the points are no {design}, or not in its order")
    group = outcome["point"].values // size
    numbers, counts = np.unique(group, return_counts=True)
    rows = places[np.isin(group, numbers[counts == size])]
    good = whole(x[rows].reshape(-1, size, len(names)))
    rows = rows.reshape(-1, size)[good].ravel()
    if not len(rows):
        raise ConfigError(
            f"the points make no whole {groups} of {', '.join(names)}: merge the parts of the "
            "study, or run the design in a study of its own"
        )
    used, most = len(rows) // size, max(count, 1 + int(numbers[-1]))
    warnings.warn(
        f"'{outcome.name}': {used} of {most} {groups} are used; the others lack points",
        stacklevel=4,
    )
    return rows, x[rows].reshape(-1, size, len(names))
