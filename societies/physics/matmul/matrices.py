"""Which matrix does a file hold? It is a ``.npy`` file or a dataset in HDF5: ``FILE:DATASET``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import MAGIC_PREFIX
from numpy.typing import NDArray

from societies.errors import ConfigError, OutputError
from societies.inputs import Stamp, stamp
from societies.paths import kind_unless_file

HDF5 = (".h5", ".hdf5", ".nc")
"""Endings of HDF5 files; all other files must be NumPy's."""

ARCHIVE = b"PK"
"""First bytes of an archive of arrays (.npz)."""


MOST_NAMES = 20
"""Largest number of datasets that a message names."""


def file_of(text: str) -> str:
    """Return the file that a key names, without the dataset."""
    name, _, dataset = text.rpartition(":")
    return name if dataset and name.lower().endswith(HDF5) else text


def shape_of(text: str) -> tuple[int, int]:
    """Return rows and columns of the matrix of a file without reading its entries.

    Raises
    ------
    ConfigError
        If the matrix does not exist or does not hold real floating-point numbers.
    """
    if text.lower().endswith(HDF5) or file_of(text) != text:
        with _dataset(text) as dataset:
            return _checked(text, dataset.shape, dataset.dtype)
    return _checked(text, *_header(text))


def entries_of(text: str) -> NDArray[np.floating[Any]]:
    """Return the matrix of a file; (row, column) float32 or float64.

    Raises
    ------
    ConfigError
        As `shape_of`, and if the file is shorter than its header says.
    """
    path = Path(file_of(text))
    return _entries(text, stamp(path) if path.is_file() else None)


def overflows(matrix: NDArray[np.floating[Any]]) -> bool:
    """Return whether an entry is finite, but too large for single precision."""
    sizes = np.abs(matrix[np.isfinite(matrix)])
    return bool(sizes.max(initial=0.0) > np.finfo(np.float32).max)


@lru_cache(maxsize=4)
def _entries(text: str, _file: Stamp | None) -> NDArray[np.floating[Any]]:
    """Return the matrix of a file; the cache is keyed by the file, too."""
    shape = shape_of(text)
    try:
        if file_of(text) != text:
            with _dataset(text) as dataset:
                found = np.asarray(dataset[()])
        else:
            found = np.load(text, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(f"{text} cannot be read: {_first_line(error)}") from None
    assert found.shape == shape
    return found


def _header(text: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if kind := kind_unless_file(text):
        raise ConfigError(f"{text} is {kind}, not a file")
    try:
        with open(text, "rb") as file:
            begins = file.read(len(MAGIC_PREFIX))
        if not begins.startswith((MAGIC_PREFIX, ARCHIVE)):
            raise ConfigError(f"{text} is {'no .npy file' if begins else 'empty'}")
        found = np.load(text, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        # a short file: mmap's message about entries, NumPy's about the header
        if "mmap length" in str(error) or str(error).startswith("EOF"):
            raise ConfigError(f"{text} is cut off: it is shorter than it says") from None
        if "Python objects" in str(error):
            raise ConfigError(f"{text} holds objects; float32 or float64 is needed") from None
        raise ConfigError(f"{text} cannot be read: {_first_line(error)}") from None
    if not isinstance(found, np.ndarray):
        found.close()
        raise ConfigError(f"{text} is an archive of arrays; one array in a .npy file is needed")
    return found.shape, found.dtype


def _datasets(file: Any) -> list[str]:
    """Return the sorted paths of the datasets of a file, with their groups."""
    import h5py

    names: list[str] = []

    def note(name: str, found: Any) -> None:
        if isinstance(found, h5py.Dataset):
            names.append(name)

    file.visititems(note)
    return sorted(names)


@contextmanager
def _dataset(text: str) -> Iterator[Any]:
    """Open the dataset named by a key."""
    path = file_of(text)
    name = text[len(path) + 1 :]
    if kind := kind_unless_file(path):
        raise ConfigError(f"{path} is {kind}, not a file")
    if not name:
        raise ConfigError(f"{text} names no dataset: {text}:DATASET")
    import h5py  # reading a configuration is quicker without it

    from societies.output.reading import require_as_written

    try:
        require_as_written(path, name)
        file = h5py.File(path)
    except OutputError as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {_first_line(error)}") from None
    with file:
        found = file.get(name)
        if not isinstance(found, h5py.Dataset):
            names = _datasets(file)
            of_many = [*names[:MOST_NAMES], *(["..."] if len(names) > MOST_NAMES else [])]
            what = f"has no dataset {name}"
            if isinstance(found, h5py.Group):
                what = f"has a group {name}, no dataset"
            raise ConfigError(f"{path} {what}; it has: {', '.join(of_many) or 'nothing'}")
        yield found


def _checked(text: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int]:
    if len(shape) != 2:
        of = " x ".join(map(str, shape)) or "no"
        raise ConfigError(f"{text} has {of} entries; a matrix has rows and columns")
    if dtype.kind != "f" or dtype.itemsize not in (4, 8):
        raise ConfigError(f"{text} holds {dtype}; float32 or float64 is needed")
    return shape[0], shape[1]


def _first_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error).splitlines() or [type(error).__name__])[0]
