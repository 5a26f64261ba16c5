"""Which device is used? The requested one, or else the best one that is no simulator."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from platform import machine
from typing import Any

from societies import memory
from societies.errors import DeviceError, option
from societies.opencl import cuda
from societies.opencl.debug import debug_mode, opencl
from societies.opencl.device import Device
from societies.opencl.private import trouble
from societies.opencl.race import NOT_INSTALLED, race_mode

NOTHING_FOUND = "no OpenCL device found"

SOURCES = {
    "linux-x86_64": (
        "pip install pocl-binary-distribution\n"
        "if it is installed, it cannot write to its cache: set POCL_CACHE_DIR to another folder"
    ),
    "linux": (
        "apt install pocl-opencl-icd, or conda install -c conda-forge pyopencl pocl\n"
        "pip has none for this system; the first is for Debian and Ubuntu"
    ),
    "darwin": (
        "conda install -c conda-forge pyopencl pocl\n"
        "pip has none for macOS, and Apple's own has no double precision on Apple's chips"
    ),
    "win32": (
        "install Intel's CPU Runtime for OpenCL, or the driver of a GPU with double precision\n"
        "pip registers none on Windows; WSL is Linux, where it does"
    ),
}
"""How to install an OpenCL runtime for the CPU, by system (docs/install.md, "Systems and Pythons"):
the command, and a line of explanation."""

NO_LINKER = (
    "PoCL links kernels with the program ld, which is not on the PATH: install gcc,\n"
    "which brings it and what it links (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc)"
)

_KIND_ORDER = {"gpu": 0, "accelerator": 1, "cpu": 2}


def list_devices(platforms: Sequence[Any] | None = None) -> list[Device]:
    """Return every device of every platform, in the order of the OpenCL library.

    Parameters
    ----------
    platforms : pyopencl platforms to look at; default: all that are installed
    """
    if platforms is None:
        cl = opencl()
        try:
            platforms = cl.get_platforms()
        except cl.Error:  # the loader reports "no platform" as an error
            platforms = []
    devices: list[Device] = []
    for p, platform in enumerate(platforms):
        try:
            found = platform.get_devices()
        except Exception:  # a platform without devices may report that as an error
            found = []
        devices.extend(Device(device, platform, f"{p}:{d}") for d, device in enumerate(found))
    return devices


def choose_device(
    spec: str | None = "auto",
    platforms: Sequence[Any] | None = None,
    *,
    own_limits: bool = False,
    profiling: bool = True,
) -> Device:
    """Return the device that ``spec`` requests; its ``reason`` says why it was chosen.

    Parameters
    ----------
    spec
        ``auto`` (a GPU, else an accelerator, else a CPU; the variable ``SOCIETIES_DEVICE``
        replaces ``auto`` when set), ``cpu``, ``gpu``, ``accelerator``, ``PLATFORM:DEVICE``
        (numbers or parts of names), a part of the name of a device or platform, or ``cuda``
        (``cuda:N``): an NVIDIA GPU through CUDA, which is used only when asked for.
    platforms : pyopencl platforms to choose from; default: all that are installed
    own_limits
        Check workgroups and local memory against the device instead of the portable profile.
    profiling : time every launch; False makes launches on GPUs a little cheaper

    Raises
    ------
    DeviceError
        If nothing fits, several devices fit a name, or the device has no double precision.
    """
    asked = (spec or "auto").strip()
    origin = option("device", asked)
    if asked.lower() == "auto" and os.environ.get("SOCIETIES_DEVICE", "").strip():
        asked = os.environ["SOCIETIES_DEVICE"].strip()
        origin = f"SOCIETIES_DEVICE={asked}"
    kind = asked.lower()
    by_cuda = cuda.asked_for(kind)
    devices = list_devices(platforms) if race_mode() or not by_cuda else []
    device: Device
    if race_mode():
        device = _simulator(devices, kind, origin)
    elif by_cuda:
        device = cuda.cuda_device(kind)
        device.reason = origin
    elif not devices:
        raise DeviceError(f"{NOTHING_FOUND}: {memory.hint() or trouble() or source_of_one()}")
    elif kind == "auto":
        device = _best(devices, "cpu" if debug_mode() else None)
    elif kind in _KIND_ORDER:
        device = _best(devices, kind)
        device.reason = f"{origin}; {device.reason}"
    else:
        device = _by_name(devices, asked, origin)
        device.reason = origin
    if _lacks_linker(device):
        raise DeviceError(NO_LINKER)
    device.own_limits = own_limits
    device.profiling = profiling
    return device


def list_all_devices() -> list[Device]:
    """Return the devices of `list_devices`, followed by the GPUs of ``--device cuda``."""
    return [*list_devices(), *cuda.cuda_devices()]


def source_of_one(system: str = sys.platform, processor: str | None = None) -> str:
    """Return how to install an OpenCL device on a system, in one or two lines."""
    if system == "linux" and (processor or machine()).lower() in ("x86_64", "amd64"):
        return SOURCES["linux-x86_64"]
    return SOURCES.get(system, SOURCES["linux"])


def _best(devices: Sequence[Device], kind: str | None) -> Device:
    """Return the best device of one kind, or of all kinds."""
    real = [
        d
        for d in devices
        if not d.simulator and d.available and d.kind in _KIND_ORDER and kind in (None, d.kind)
    ]
    usable = [d for d in real if d.fp64]
    if not usable:
        what = f"no {kind} device" if kind else "no OpenCL device"
        if real:
            lacking = f"{what} with double precision (fp64): {_listing(real)}"
            first, _, _ = source_of_one().partition("\n")
            raise DeviceError(lacking if kind == "gpu" else f"{lacking}\n{first}")
        if kind in (None, "cpu"):
            raise DeviceError(f"{what} found: {source_of_one()}")
        raise DeviceError(f"{what} found; available: {_listing(devices)}")
    chosen = min(  # the first among equals
        usable, key=lambda d: (_KIND_ORDER[d.kind], _lacks_linker(d), _cpu_rank(d))
    )
    rivals = [d for d in usable if d.kind == chosen.kind]
    reason = f"first of {len(rivals)}" if len(rivals) > 1 else "the only one"
    if chosen.kind == "cpu" and len(rivals) > 1:
        reason = f"preferred of {len(rivals)}"
    reason = f"{chosen.kind}, {reason}"
    passed = [d for d in real if not d.fp64 and _KIND_ORDER[d.kind] <= _KIND_ORDER[chosen.kind]]
    if passed:
        reason += f"; passed over for lack of double precision: {_listing(passed)}"
    chosen.reason = reason
    return chosen


def _simulator(devices: Sequence[Device], kind: str, origin: str) -> Device:
    """Return Oclgrind with the requested kind, by which primitives choose their method."""
    device = next((d for d in devices if d.simulator), None)
    if device is None and not cuda.asked_for(kind):
        raise DeviceError(NOT_INSTALLED)
    known = kind == "auto" or kind in _KIND_ORDER
    if device is None or not (known or _fits(device, kind)):
        raise DeviceError(f"{origin}: SOCIETIES_DEBUG=race runs on Oclgrind; say cpu, gpu or auto")
    if kind in _KIND_ORDER:
        device.kind = kind
    device.reason = f"SOCIETIES_DEBUG=race; kernels as on a {device.kind}"
    return device


def _cpu_rank(device: Device) -> int:
    """Return the rank of a CPU implementation by measured speed on long runs (docs/install.md)."""
    if device.kind != "cpu":
        return 0
    pocl = _pocl_version(device)
    if pocl:
        return 0 if pocl >= (3, 1) else 1
    return 2 if "intel" in device.platform.lower() else 3


def _pocl_version(device: Device) -> tuple[int, int] | None:
    found = re.search(r"pocl (\d+)\.(\d+)", device.platform_version.lower())
    return (int(found[1]), int(found[2])) if found else None


def _lacks_linker(device: Device) -> bool:
    """Return True if kernels cannot be built because PoCL needs the linker ld, which is missing.

    PoCL 3 then ends the process at the first kernel. Later versions may contain a linker, so they
    are tried in another process.
    """
    version = _pocl_version(device)
    if version is None or device.kind != "cpu" or shutil.which("ld") is not None:
        return False
    return version < (4, 0) or not _builds(device.index)


_TRIED = """
import sys
import pyopencl as cl
from societies.opencl import list_devices
(device,) = [one.cl_device for one in list_devices() if str(one.index) == sys.argv[1]]
context = cl.Context([device])
text = "kernel void k(global int *a) { a[get_global_id(0)] = 1; }"
kernel = cl.Program(context, text).build(cache_dir=False).k
array = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4)
queue = cl.CommandQueue(context)
kernel(queue, (1,), (1,), array)
queue.finish()
"""
"""Program that builds a kernel and launches it, because PoCL links at the first launch."""


@cache
def _builds(index: str) -> bool:
    """Return True if another process with an empty cache can build and launch a kernel."""
    words = [sys.executable, "-c", _TRIED, str(index)]
    with tempfile.TemporaryDirectory(prefix="societies-ld-") as folder:
        environment = {**os.environ, "POCL_CACHE_DIR": folder}
        done = subprocess.run(words, env=environment, capture_output=True, check=False)
    return done.returncode == 0


def _by_name(devices: Sequence[Device], asked: str, origin: str) -> Device:
    """Return the one device that an index pair or a part of a name selects."""
    matches = [d for d in devices if _part_matches(d, asked)]
    if not matches:
        matches = [d for d in devices if _name_matches(d, asked)]
    if not matches:
        raise DeviceError(f"{origin}: no such device; available: {_listing(devices)}")
    if len(matches) > 1:
        raise DeviceError(f"{origin} fits several devices: {_listing(matches)}; give the numbers")
    device = matches[0]
    if not device.fp64:
        raise DeviceError(f"{origin}: {device.name} has no double precision (fp64), needed here")
    if not device.available:
        raise DeviceError(f"{origin}: {device.name} is not available at the moment")
    return device


def _fits(device: Device, asked: str) -> bool:
    return _part_matches(device, asked) or _name_matches(device, asked)


def _name_matches(device: Device, asked: str) -> bool:
    part = asked.lower()
    if part.isdecimal():  # a number must be a word of the name, or 3 would match version 3.0
        return part in re.findall(r"[\w.]+", device.name.lower())
    names = (device.name, device.platform, device.platform_version)  # two PoCLs differ in the last
    return any(part in name.lower() for name in names)


def _part_matches(device: Device, asked: str) -> bool:
    if ":" not in asked:
        return False
    left, right = (part.strip().lower() for part in asked.split(":", 1))
    p, d = device.index.split(":")
    return (left == p if left.isdigit() else left in device.platform.lower()) and (
        right == d if right.isdigit() else right in device.name.lower()
    )


def _listing(devices: Sequence[Device]) -> str:
    return ", ".join(str(d) for d in devices)
