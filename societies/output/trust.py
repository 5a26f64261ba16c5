"""Is it safe to read or write an HDF5 file of unknown origin?

A link or a dataset of an HDF5 file may lead into any other file that the user can read or write, so
resuming a hostile file could change that other file. Our files contain all their data, under one
name each. Any other file is refused before a value is read or written.
"""

from __future__ import annotations

import os
from typing import Any

import h5py

from societies.errors import OutputError
from societies.paths import kind_unless_file

MOST_OBJECTS = 20_000
"""Most groups and datasets of a file; ours have some hundreds."""

_INFLATION = 1100
"""Largest ratio of decompressed to compressed bytes of deflate (1032), rounded up. Deflate is the
compressor that every HDF5 library has."""

_LINKS = {h5py.h5l.TYPE_SOFT: "a soft link", h5py.h5l.TYPE_EXTERNAL: "a link to another file"}


def opened(path: str | os.PathLike[str]) -> h5py.File:
    """Open a file of unknown origin for reading, as ``h5py.File`` opens a trusted one.

    Raises OutputError if it is no plain file, or refers to data outside of it. Raises OSError as
    h5py does; see `societies.output.files.explained`.
    """
    require_file(path)
    file = h5py.File(path, "r")
    try:
        require_own_data(file, path)
    except BaseException:
        file.close()
        raise
    return file


def require_file(path: str | os.PathLike[str]) -> None:
    """Raise OutputError if reading from the path could wait for ever or never end."""
    if kind := kind_unless_file(path):
        raise OutputError(f"{path}: is {kind}, not a result file. Name a file that a run wrote.")


def require_own_data(file: h5py.File, path: object) -> None:
    """Raise OutputError unless every object of the file is stored in it, under a single name.

    Only the structure is read. Single names also exclude cycles of links, which programs that walk
    through a file, such as xarray, would follow for ever.
    """
    nbytes = os.fstat(file.id.get_vfd_handle()).st_size
    waiting: list[tuple[str, Any]] = [("", file["/"].id)]
    seen = {h5py.h5o.get_info(file["/"].id).addr}
    while waiting:
        place, group = waiting.pop()
        for name, kind in _links(group, path):
            where = f"{place}/{name.decode(errors='replace')}"
            if kind != h5py.h5l.TYPE_HARD:
                what = _LINKS.get(kind, "a link of an unknown kind")
                raise _refusal(path, f"'{where}' is {what}")
            item = h5py.h5o.open(group, name)
            address = h5py.h5o.get_info(item).addr
            if address in seen:
                raise _refusal(path, f"'{where}' is a second name of something in it")
            seen.add(address)
            if len(seen) > MOST_OBJECTS:
                raise _refusal(path, f"it has more than {MOST_OBJECTS} groups and datasets")
            if isinstance(item, h5py.h5g.GroupID):
                waiting.append((where, item))
            elif isinstance(item, h5py.h5d.DatasetID):
                _require_own_values(item, where, nbytes, path)


def _links(group: Any, path: object) -> list[tuple[bytes, int]]:
    """Return name and kind of every link in a group."""
    found: list[tuple[bytes, int]] = []

    def note(name: bytes, link: Any) -> bool | None:
        found.append((name, link.type))  # h5py uses one `link` for all
        return True if len(found) > MOST_OBJECTS else None  # True ends the iteration

    group.links.iterate(note, info=True)
    if len(found) > MOST_OBJECTS:
        raise _refusal(path, f"it has more than {MOST_OBJECTS} groups and datasets")
    return found


def _require_own_values(dataset: Any, where: str, nbytes: int, path: object) -> None:
    """Refuse a dataset whose values are in other files, or too large for a file of ``nbytes``."""
    plan = dataset.get_create_plist()
    layout = plan.get_layout()
    if layout == h5py.h5d.VIRTUAL:
        raise _refusal(path, f"'{where}' is made of parts of other files (a virtual dataset)")
    if plan.get_external_count():
        raise _refusal(path, f"the values of '{where}' are in another file (external storage)")
    claimed = dataset.get_space().get_simple_extent_npoints() * dataset.get_type().get_size()
    if claimed > nbytes * (_INFLATION if layout == h5py.h5d.CHUNKED else 1):
        raise OutputError(
            f"{path}: is damaged: '{where}' claims {claimed} bytes, the file has {nbytes}. "
            "Name another file."
        )


def _refusal(path: object, why: str) -> OutputError:
    return OutputError(
        f"{path}: is refused, for {why}, which no run writes.\n"
        "Such a file can read or change others of yours: use only one whose origin you know."
    )
