"""How is the OpenCL library loaded, and what does ``SOCIETIES_DEBUG`` change?

All modules of this package get pyopencl from `opencl`, because the debug settings are environment
variables, which PoCL reads only once, when the library is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from societies import memory, signals
from societies.errors import DeviceError
from societies.opencl import private, race, runtimes

_DEBUG_ENVIRONMENT = {
    "POCL_MAX_PTHREAD_COUNT": "1",
    "POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES": "1",
}

CHECKED = "checked"
"""Value of ``SOCIETIES_DEBUG`` for kernels of rules in Python that test every operation."""

DEBUG_BUILD_OPTIONS = ("-g", "-cl-opt-disable")


def debug_mode() -> bool:
    """Return True if ``SOCIETIES_DEBUG`` is ``1``; False if not set, or another of its values.

    Raises
    ------
    DeviceError
        If the variable has any other value.
    """
    value = os.environ.get("SOCIETIES_DEBUG", "").strip()
    if value in ("", "0", CHECKED) or race.race_mode(value):
        return False
    if value == "1":
        return True
    raise DeviceError(
        f"SOCIETIES_DEBUG={value}: the values are 1 (debug build on the CPU), race (look for data "
        "races and memory errors), checked (test every operation of rules in Python) and 0"
    )


def checked_mode() -> bool:
    """Return True if ``SOCIETIES_DEBUG`` is ``checked``."""
    return os.environ.get("SOCIETIES_DEBUG", "").strip() == CHECKED


@cache
def _load() -> Any:
    if debug_mode():
        for name, value in _DEBUG_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        print(
            f"SOCIETIES_DEBUG=1: one CPU thread, no optimisation. To stop in a kernel: "
            f"gdb -p {os.getpid()}, then `break KERNEL_NAME`.",
            file=sys.stderr,
        )
    if race.race_mode():
        race.prepare()
    memory.require_devices()
    private.give_caches()
    with signals.deferred():
        import pyopencl

    if race.race_mode():
        race.watch(pyopencl)
    else:
        runtimes.load_platforms(pyopencl)
    return pyopencl


def opencl() -> Any:
    """Return the module ``pyopencl``, loaded with the environment variables of the debug mode.

    Raises
    ------
    DeviceError
        If the OpenCL library cannot be loaded.
    """
    try:
        return _load()
    except ImportError as error:
        raise DeviceError(
            f"OpenCL cannot be loaded ({error}): pip install --force-reinstall pyopencl"
        ) from error


_OUT_OF_MEMORY = "the device is out of memory; use fewer or smaller arrays"
_HOST_OUT_OF_MEMORY = (
    "the memory of this computer is full, not that of the device; end other programs, or start a "
    "new process: compilers keep memory for every program that a process builds"
)
_LOST = "the device is lost (driver reset, or a kernel wrote out of bounds); start again"
_HINTS = {
    "MEM_OBJECT_ALLOCATION_FAILURE": _OUT_OF_MEMORY,
    "OUT_OF_HOST_MEMORY": _HOST_OUT_OF_MEMORY,
    "OUT_OF_RESOURCES": "memory or registers ran out, or a kernel wrote out of bounds before",
    "DEVICE_NOT_AVAILABLE": _LOST,
    "INVALID_CONTEXT": _LOST,
    "INVALID_COMMAND_QUEUE": _LOST,
    "status -9999": _LOST,  # NVIDIA: illegal address in a kernel
}


def device_error(error: Exception, doing: str) -> DeviceError:
    """Return a `DeviceError` for an exception of pyopencl: what failed, and what to do."""
    code = getattr(error, "code", None)
    status = str(error)
    if isinstance(code, int):
        try:
            status = opencl().status_code.to_string(code)
        except ValueError:  # a code that only this vendor uses
            status = f"status {code}"
    hint = _HINTS.get(status, "")
    routine = getattr(error, "routine", "") or "OpenCL"
    return DeviceError(f"{doing}: {routine} says {status}" + (f": {hint}" if hint else ""))


@contextmanager
def translated_errors(doing: str) -> Iterator[None]:
    """Turn pyopencl's exceptions inside the block into `DeviceError`; ``doing`` starts the line."""
    try:
        yield
    except opencl().Error as error:
        raise device_error(error, doing) from error
