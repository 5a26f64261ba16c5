"""Where has pip put Intel's CPU runtime, and how is it made to keep the order of operations?

The wheel ``intel-opencl-rt`` puts the library into the environment, but the file that should tell
OpenCL's loader of it names a folder that does not exist. And the runtime adds numbers in another
order than the kernel says: its compiler makes vectors of a loop such as
``for (i = 0; i < n; ++i) sum += x[7 * i]`` without leave to reassociate (2025.3.3 to 2026.2.0 at
least, and pragmas do not stop it). Its vectoriser is therefore switched off.
"""

from __future__ import annotations

import os
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGE = "intel-opencl-rt"
_LIBRARY = "libintelocl.so"
_ORDER_KEPT = ("CL_CONFIG_USE_VECTORIZER", "False")
_SYSTEM = "/etc/OpenCL/vendors"
_VARIABLE = "OCL_ICD_VENDORS"


def load_platforms(cl: Any) -> None:
    """Let the loader of ``cl`` (pyopencl) find all platforms, Intel's of pip among them.

    The loader looks once in a process, when it is first asked for platforms: that must be here.
    """
    os.environ.setdefault(*_ORDER_KEPT)
    library = intel_library()
    if library is None:
        return
    before = os.environ.get(_VARIABLE)
    known = _registered(before or os.environ.get("OPENCL_VENDOR_PATH") or _SYSTEM)
    if any(_LIBRARY in text for text in known.values()):
        return
    with tempfile.TemporaryDirectory(prefix="societies-icd-") as folder:
        for name, text in {**known, "intel-of-pip.icd": f"{library}\n"}.items():
            (Path(folder) / name).write_text(text)
        os.environ[_VARIABLE] = folder
        try:
            cl.get_platforms()
        except cl.Error:  # "no platform"; the caller that needs one asks again
            pass
        finally:
            if before is None:
                del os.environ[_VARIABLE]
            else:
                os.environ[_VARIABLE] = before


def intel_library() -> Path | None:
    """Return the library of Intel's CPU runtime in this Python environment, or None."""
    try:
        files = metadata.files(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())).resolve() for file in files if file.name == _LIBRARY)
    return next((path for path in found if path.exists()), None)


def _registered(place: str) -> dict[str, str]:
    """Return the files by which a folder, or one file, registers platforms: name and text."""
    path = Path(place)
    files = sorted(path.glob("*.icd")) if path.is_dir() else [path]
    return {file.name: file.read_text() for file in files if file.is_file()}
