"""How is a study read: opened by an analysis, described to people, compared with its checksums?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
from numpy.typing import NDArray

from societies.output import opening
from societies.output.disk import Disk
from societies.output.files import READING, explained
from societies.output.layout import Coordinate, Variable
from societies.output.study import (
    DEFINITION,
    ERROR,
    POINTS,
    RUN,
    STATES,
    STATUS,
    STUDY_ATTRIBUTE,
    WALL_TIME,
    StudyFile,
    StudyLayout,
    extents_of,
    require_study,
)
from societies.output.trust import opened

if TYPE_CHECKING:
    import xarray as xr


def read_study_layout(path: Path) -> StudyLayout:
    """Return what a study holds, as it was handed to `StudyFile.create`.

    Raises
    ------
    OutputError
        If the file is missing or no study.
    """
    with explained(path, READING):
        require_study(path)
        with opened(path) as file:
            own = (STATUS, ERROR, WALL_TIME)
            names = [one for one in str(file.attrs["coordinates"]).split(" ") if one not in own]
            along = [_coordinate(file[name], (RUN,)) for name in names]
            variables = {}
            dims: dict[str, None] = {}
            for name in json.loads(file.attrs["variables"]):
                of = file[name]
                inner = tuple(of.dims[i][0].name.lstrip("/") for i in range(1, of.ndim))
                dims |= dict.fromkeys(inner)
                units, meaning = (str(of.attrs[key]) for key in ("units", "long_name"))
                fill = of.fillvalue.item()
                variables[name] = Variable(name, inner, of.dtype, units, meaning, fill)
            left_out = {"coordinates", "variables", STUDY_ATTRIBUTE}
            return StudyLayout(
                file[RUN][...],
                along,
                {dim: _coordinate(file[dim]) for dim in dims},
                variables,
                json.loads(bytes(file[POINTS][...])),
                json.loads(bytes(file[DEFINITION][...])),
                {
                    key: one.item() if hasattr(one, "item") else one
                    for key, one in file.attrs.items()
                    if key not in left_out
                },
            )


def _coordinate(dataset: h5py.Dataset, along: tuple[str, ...] = ()) -> Coordinate:
    text = h5py.check_string_dtype(dataset.dtype) is not None
    values = dataset.asstr()[...] if text else dataset[...]
    units, meaning = (str(dataset.attrs[key]) for key in ("units", "long_name"))
    return Coordinate(dataset.name.lstrip("/"), values, units, meaning, along)


def open_study(path: str | os.PathLike[str]) -> xr.Dataset:
    """Open a study lazily, finished or not.

    Returns
    -------
    xarray.Dataset
        The same as ``xr.open_dataset(path)`` gives, with the words ``pending``, ``done`` and
        ``failed`` as ``status`` and text as ``error``.

    Raises
    ------
    OutputError
        If the file is missing or no study.
    """
    import xarray as xr

    path = Path(path)
    with explained(path, READING):
        require_study(path)
        found = xr.open_dataset(path, engine="h5netcdf", phony_dims="access")
    status, texts = found[STATUS], found[ERROR]
    words = np.array(STATES)[status.values.astype(int)]
    text = np.array(
        [one.decode(errors="replace") if isinstance(one, bytes) else one for one in texts.values],
        dtype=np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else object,
    ).astype(object)
    named = {"long_name": "pending, done or failed"}
    return found.assign_coords({STATUS: (RUN, words, named), ERROR: (RUN, text, texts.attrs)})


def damaged_runs(path: Path) -> list[int]:
    """Return the numbers of runs that are done and whose data are not those that were written."""
    with explained(path, READING):
        descriptor = opening.descriptor_of(path)
        try:
            file = StudyFile(path, Disk(descriptor, extents_of(path)))
            return [int(file.runs[row]) for row in file.wrong_rows()]
        finally:
            os.close(descriptor)


def study_rows(path: Path) -> tuple[list[tuple[str, str]], NDArray[np.int8]]:
    """Return what `societies info` says of a study, and the status of its runs."""
    with explained(path, READING):
        require_study(path)
        with opened(path) as file:
            about = {key: str(one) for key, one in file.attrs.items()}
            status = file[STATUS][...]
            points = len(set(file["point"][...].tolist()))
    names = ("title", "workload", "vary", "part", "model_version", "societies_version", "created")
    counts = [f"{int((status == i).sum())} {word}" for i, word in enumerate(STATES)]
    rows = [
        ("study", f"{path}, {path.stat().st_size:,} bytes"),
        *((name.replace("_", " "), about[name]) for name in names if about.get(name)),
        ("points", str(points)),
        ("runs", f"{len(status)}: {', '.join(counts)}"),
        ("variables", ", ".join(json.loads(about["variables"]))),
    ]
    return rows, status
