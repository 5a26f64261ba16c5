"""Which lines show a study over time: one for each value of a key, or for each point?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.drawing import LEFT_OUT, MOST_CASES
from societies.analysis.labels import different, distinct, shorts
from societies.analysis.selecting import RUN
from societies.analysis.sensitivity import varied
from societies.config.model import LABEL
from societies.errors import SocietiesError
from societies.words import counted
from societies.workload.drawing.figure import configuration_of

if TYPE_CHECKING:
    import xarray as xr

WHOLE = ("effect", "irf", "fan", "sweep", "sensitivity", "trade_network")
"""Figures that show a study as a whole."""


def cases_of(label: str, data: xr.Dataset, figure: str) -> dict[str, xr.Dataset]:
    """Return the cases of one file; those of a study are its points if there are at most eight."""
    done = runs_done(data)
    keys = varied(done)
    if figure in WHOLE or not keys or "point" not in done.coords:
        return {label: done}
    names = point_labels(done)
    if len(names) > MOST_CASES:
        return {label: done}
    labels = distinct([f"{label}: {name}" if label else name for name in names.values()])
    rows = [np.flatnonzero(done["point"].values == point) for point in names]
    return {
        name: _with_interventions(done.isel({RUN: own}))
        for name, own in zip(labels, rows, strict=True)
    }


def runs_done(data: xr.Dataset) -> xr.Dataset:
    """Return the finished runs of a study; an attribute lists the others."""
    if "status" not in data.coords:
        return data
    done = data.isel({RUN: np.flatnonzero(data["status"].values.astype(str) == "done")})
    if not done.sizes[RUN]:
        raise SocietiesError("has no run that is done")
    return done.assign_attrs({LEFT_OUT: _left_out(data, done)})


def point_labels(study: xr.Dataset) -> dict[int, str]:
    """Return a distinct label for each point of a study, in the order of their keys' values.

    It is the ``label`` of the point, else the varied keys with their values.
    """
    keys = varied(study)
    _, rows = np.unique(study["point"].values, return_index=True)
    points: NDArray[Any] = study["point"].values[rows]
    if LABEL in study.coords:
        said = shorts([str(one) for one in study[LABEL].values[rows]])
        return dict(zip(points.tolist(), said, strict=True))
    if not keys:
        return {int(point): f"point {point}" for point in points}
    columns = [different(study[key].values[rows]) for key in keys]
    order = np.lexsort([of_value for _, of_value in reversed(columns)])
    texts = [
        (key, shorts(values), which) for key, (values, which) in zip(keys, columns, strict=True)
    ]
    found = {}
    for place in order.tolist():
        parts = [
            said[which[place]] if key == "interventions" else f"{key} {said[which[place]]}"
            for key, said, which in texts
        ]
        found[int(points[place])] = ", ".join(parts)
    return found


def _with_interventions(case: xr.Dataset) -> xr.Dataset:
    """Return the runs of a point with the interventions of the point in their configuration."""
    import yaml

    if "interventions" not in case.coords:
        return case
    own = json.loads(str(case["interventions"].values[0]))
    said = {**configuration_of(case), "interventions": own}
    return case.assign_attrs(configuration=yaml.safe_dump(said, sort_keys=False))


def _left_out(study: xr.Dataset, done: xr.Dataset) -> str:
    """Return a text with the numbers of runs and points that are not shown; "" if all are."""
    runs, lost = study.sizes[RUN], study.sizes[RUN] - done.sizes[RUN]
    points = len(np.setdiff1d(study["point"].values, done["point"].values))
    all_of = f", among them all of {counted(points, 'point')}" if points else ""
    return f"left out: {lost} of {runs} runs, not done{all_of}" if lost else ""
