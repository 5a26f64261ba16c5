"""How much address space may this process have, and is it enough for the libraries it loads?

If ``ulimit -v`` is too low, libraries end the process with their own messages (OpenBLAS, libclang)
or report that no device exists (OpenCL's loader). So the limit is checked first.
"""

from __future__ import annotations

import os

from societies.errors import DeviceError

MIB = 1 << 20
LIBRARIES = 256 * MIB
"""NumPy, h5py, YAML and our own code; 110 to 220 MiB were measured on Linux, x86-64."""

DEVICES, A_THREAD = 640 * MIB, 16 * MIB
"""OpenCL with PoCL and libclang while kernels are built: 600 to 700 MiB were measured with two
threads; PoCL starts one for every core."""

PLENTY = 8 << 30
"""From this limit on, failures have other causes."""


def address_space() -> int | None:
    """Return the limit of the process's address space in bytes, None if it has no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def require_libraries() -> None:
    """Raise DeviceError if NumPy and its like could not be loaded.

    If there is a limit, OpenBLAS is prevented from starting a thread for every core, each with
    tens of MiB: nothing here uses it.
    """
    if address_space() is not None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _require(LIBRARIES, "to load its libraries")


def require_devices() -> None:
    """Raise DeviceError if OpenCL could not be loaded and build kernels."""
    _require(DEVICES + A_THREAD * (os.cpu_count() or 1), "to use OpenCL here")


def hint() -> str:
    """Return a line about the limit if it may have caused a failure, else ""."""
    limit = address_space()
    if limit is None or limit >= PLENTY:
        return ""
    return f"perhaps {_limited(limit)}: raise that (ulimit -v unlimited) and try again"


def _require(nbytes: int, purpose: str) -> None:
    limit = address_space()
    if limit is not None and limit < nbytes:
        raise DeviceError(
            f"{_limited(limit)}, and societies needs about {nbytes // MIB} MiB {purpose}\n"
            "raise the limit and try again: ulimit -v unlimited"
        )


def _limited(limit: int) -> str:
    return f"memory is limited to {limit // MIB} MiB of address space (ulimit -v)"
