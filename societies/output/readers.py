"""How can a file be continued in the program that still has it open for reading?

xarray keeps the file of a dataset open, and opens it again when a closed one is read. HDF5 refuses
to open a file for writing that the same process has open for reading only, so what xarray holds of
it is closed first: whoever looked at an interrupted run in a notebook can continue it there.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


def release(path: Path) -> None:
    """Close what xarray has open of this file in this process; its datasets stay usable."""
    manager = sys.modules.get("xarray.backends.file_manager")
    if manager is None:  # nobody has imported xarray
        return
    cache: Any = getattr(manager, "FILE_CACHE", {})
    for key, file in list(cache.items()):
        name = getattr(file, "filename", None)  # h5netcdf's and h5py's files have one
        if not isinstance(name, str):
            continue
        with suppress(OSError, KeyError):
            if os.path.samefile(name, path):
                cache.pop(key).close()
