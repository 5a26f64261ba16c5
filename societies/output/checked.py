"""How are values compared with their checksums at the moment when xarray reads them?

A result file may have gigabytes, of which an analysis reads a variable or two. So an open dataset
compares a variable when it is read for the first time, and only once.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from societies.output import checksums, lock, opening
from societies.output.checksums import Commits
from societies.output.files import READING, explained
from societies.output.seal import Damage
from societies.output.stored_seal import VariableCheck

Key = tuple[Any, ...]
"""Which part of a variable is read: a number, a slice or an array for each dimension."""


class _Watched(BackendArray):  # type: ignore[misc]
    """A variable of an open dataset whose values pass through a function when they are read.

    Parameters
    ----------
    variable : as xarray opened it
    look : called with the key and the values; returns the values that the reader gets
    """

    def __init__(self, variable: xr.Variable, look: Callable[[Key, Any], Any]) -> None:
        self._variable, self._look = variable, look
        self.shape, self.dtype = variable.shape, variable.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self._values)

    def _values(self, key: Key) -> Any:
        return self._look(key, self._variable[key].values)


def _watched(variable: xr.Variable, look: Callable[[Key, Any], Any]) -> xr.Variable:
    """Return a variable that is still read lazily and then cached, as xarray does for files."""
    lazy = indexing.LazilyIndexedArray(_Watched(variable, look))
    data = indexing.MemoryCachedArray(indexing.CopyOnWriteArray(lazy))
    return xr.Variable(variable.dims, data, variable.attrs, variable.encoding, fastpath=True)


def _replaced(data: xr.Dataset, looks: Mapping[str, Callable[[Key, Any], Any]]) -> xr.Dataset:
    new = {name: _watched(data.variables[name], look) for name, look in looks.items()}
    coords = {name: one for name, one in new.items() if name in data.coords}
    replaced = data.assign({name: one for name, one in new.items() if name not in coords})
    return replaced.assign_coords(coords)


def without(
    data: xr.Dataset, dim: str, keep: NDArray[np.bool_], fills: Mapping[str, Any]
) -> xr.Dataset:
    """Return a dataset in which some positions of a dimension read as the fill value.

    Parameters
    ----------
    dim : the first dimension of all variables in ``fills``
    keep : (position) bool; False: positions that read as the fill value
    fills : fill value by variable
    """

    def look(fill: Any) -> Callable[[Key, Any], Any]:
        def emptied(key: Key, values: Any) -> Any:
            found = np.array(values)
            found[~keep[key[0]]] = fill
            return found

        return emptied

    return _replaced(data, {name: look(fill) for name, fill in fills.items() if name in data})


def _seen(array: Any) -> str:
    """Return shape and type of a variable as text, such as ``2 x 31 float32``."""
    kind = str(array.dtype) if array.dtype.kind in "biuf" else "text"
    return f"{' x '.join(map(str, array.shape)) or 'one'} {kind}"


class RunChecks:
    """The checksums of an open result file, for variables that are read from it lazily.

    It has a descriptor of its own, which is closed with the dataset.

    Attributes
    ----------
    commits : which ticks are complete; None: the file's layout has no checksums

    Raises
    ------
    OutputError
        If it is no result file, or its structure or the record of its ticks is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.commits: Commits | None = None
        self._begin()

    def _begin(self) -> None:
        descriptor = opening.descriptor_of(self._path)
        self.close = weakref.finalize(self, os.close, descriptor)
        self._whole: dict[str, bool] = {}
        try:
            found = opening.sealed(self._path, descriptor)
            if found is None:
                return
            self._disk, self._seal = found
            self._live = lock.being_written(self._path)
            self.commits = checksums.commits(*found)
            for _ in range(checksums.LOOKS if self._live else 0):
                if not self.commits.damages:
                    break
                self.commits = checksums.commits(*found)
            self._require(self.commits.damages)
        except BaseException:
            self.close()
            raise

    def __reduce__(self) -> tuple[type[RunChecks], tuple[Path]]:
        return type(self), (self._path,)

    def watch(self, data: xr.Dataset) -> xr.Dataset:
        """Return a dataset of the file whose variables are compared when they are read."""
        looks = {
            name: _Look(self, name, series, data.variables[name].shape)
            for name, series in self._seal.series.items()
            if name in data.variables
        }
        return _replaced(data, looks)

    def known(self, name: str) -> int:
        """Compare a variable with its checksums; return its number of valid rows along the clock.

        A variable that is not along the clock has 1 row or, while it is being written, 0.

        Raises OutputError if the variable is damaged.
        """
        with explained(self._path, READING):
            if not self.close.alive:  # a dataset that was closed is opened again when it is read
                self._begin()
            assert self.commits is not None  # else it is not watched
            tick = self.commits.tick
            if name not in self._whole:
                given = (self._disk, self._seal, name, tick)
                found = list(checksums.of_variable(*given, live=self._live))
                self._require(found)
                self._whole[name] = not found
            if self._seal.series[name].axis is None:
                return int(self._whole[name])
            return checksums.rows_until(self._disk, self._seal, name, tick)

    def require_clock(self, name: str) -> None:
        """Raise ValueError if the file's name of the clock is not that in its seal."""
        if name != self._seal.clock:
            raise ValueError(f"its clock is {self._seal.clock!r}, not {name!r}")

    def require_sealed(self, data: xr.Dataset, place: str = "") -> None:
        """Raise ValueError if a variable has not the shape and type that the seal has.

        A table of events is at ``place`` in the file.
        """
        for name, found in data.variables.items():
            sealed = self._seal.extents.get(f"{place}/{name}" if place else str(name))
            if sealed and (found.shape, found.dtype) != (sealed.shape, sealed.dtype):
                raise ValueError(f"'{name}' is {_seen(found)}, and {_seen(sealed)} in its seal")

    def require_events(self, name: str) -> int:
        """Return how many rows of a table are valid; raise OutputError if they are damaged."""
        assert self.commits is not None and self.commits.rows is not None
        given = (self._disk, self._seal, name, self.commits)
        self._require(list(checksums.of_events(*given, complete=False, live=True)))
        return self.commits.rows[name]

    def _require(self, found: Sequence[Damage]) -> None:
        wrong = [one for one in found if not one.harmless]
        if wrong:
            raise opening.damaged(self._path, self._disk, self._seal, wrong)


class _Look:
    """Checks a variable when it is read; rows that are not complete read as the fill value."""

    def __init__(self, checks: RunChecks, name: str, series: VariableCheck, shape: Key) -> None:
        self._checks, self._name, self._axis = checks, name, series.axis
        self._fill = bytes.fromhex(series.fill)
        self._rows = 0 if series.axis is None else shape[series.axis]

    def __call__(self, key: Key, values: Any) -> Any:
        known = self._checks.known(self._name)
        fill = np.frombuffer(self._fill, values.dtype)[0]
        if self._axis is None:
            return values if known else np.full_like(values, fill)
        rows = np.arange(self._rows)[key[self._axis]]
        if (rows < known).all():
            return values
        if not rows.ndim:
            return np.full_like(values, fill)
        found = np.array(values)
        axis = sum(not isinstance(one, int | np.integer) for one in key[: self._axis])
        np.moveaxis(found, axis, 0)[rows >= known] = fill
        return found
