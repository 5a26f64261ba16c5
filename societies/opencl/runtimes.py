"""Where did pip install Intel's CPU runtime, and how does it preserve the order of operations?

The wheel ``intel-opencl-rt`` installs the library, but its file for OpenCL's loader names a folder
that does not exist. And the runtime changes the order of additions: its compiler vectorises a loop
such as ``for (i = 0; i < n; ++i) sum += x[7 * i]`` although reassociation is not allowed (at least
2025.3.3 to 2026.2.0; pragmas do not prevent it). Its vectoriser is therefore switched off.

Another pass of 2026.2.0, which moves whole numbers into vector registers, makes ``~m`` 0 where m is
the least or largest of some numbers, found by a loop of known length. It is switched off as well.
"""

from __future__ import annotations

import os
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGE = "intel-opencl-rt"
_LIBRARY = "libintelocl.so"
_SAME_ORDER = ("CL_CONFIG_USE_VECTORIZER", "False")
_EXACT_INTEGERS = ("CL_CONFIG_LLVM_OPTIONS", "-disable-x86-scalar-to-vector")
"""For the library of pip alone: another version may end the process if it has no such pass."""
_SYSTEM = "/etc/OpenCL/vendors"
_VARIABLE = "OCL_ICD_VENDORS"


def load_platforms(cl: Any) -> None:
    """Let the loader of ``cl`` (pyopencl) find all platforms, including Intel's from pip.

    The loader searches only once per process, at the first call of ``get_platforms``, which must
    therefore be the one in this function.
    """
    os.environ.setdefault(*_SAME_ORDER)
    library = intel_library()
    if library is None:
        return
    before = os.environ.get(_VARIABLE)
    known = _registered(before or os.environ.get("OPENCL_VENDOR_PATH") or _SYSTEM)
    if any(_LIBRARY in text for text in known.values()):
        return
    os.environ.setdefault(*_EXACT_INTEGERS)
    with tempfile.TemporaryDirectory(prefix="societies-icd-") as folder:
        for name, text in {**known, "intel-of-pip.icd": f"{library}\n"}.items():
            (Path(folder) / name).write_text(text)
        os.environ[_VARIABLE] = folder
        try:
            cl.get_platforms()
        except cl.Error:  # "no platform"; a caller that needs one gets the error again
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
    """Return name and text of the files in a folder, or of one file, that register platforms."""
    path = Path(place)
    files = sorted(path.glob("*.icd")) if path.is_dir() else [path]
    return {file.name: file.read_text() for file in files if file.is_file()}
