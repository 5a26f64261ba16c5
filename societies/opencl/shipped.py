"""Which programs for PoCL does the package bring already built, and can this processor run them?

Building them takes most of the first day of a configuration. `.ci/kernels.py` builds those of some
shipped configurations for an Intel Haswell of 2013, whose instructions nearly every processor of a
server or laptop has had since. An entry is found by the hash of the text, the options and PoCL's
version, so a program of another text is never taken; what is not found is built as usual.

PoCL accepts a binary if its header has the number of this processor's model: an FNV-1 hash of a
text that ends with LLVM's name of the model. We compute the number for this model from the one for
Haswell, and require the instructions instead of the model.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any

from societies.kerneltext import cache
from societies.opencl import private
from societies.opencl.debug import opencl
from societies.opencl.device import Device
from societies.opencl.processor import LEVEL_3, instructions
from societies.opencl.stderr import heard_stderr

MODEL = "haswell"
"""LLVM's name of the processor that the programs are built for."""

_VERSION = re.compile(r"(OpenCL \S+ PoCL HSTR: pthread-x86_64-unknown-linux-gnu-)(\S+)")
"""What PoCL's processors tell as their version, with LLVM's name of the model."""

_OTHER_KERNELS = ("POCL_WORK_GROUP", "POCL_EXTRA_BUILD", "POCL_KERNEL_CACHE", "POCL_VECTORIZER")
"""Begins of variables with which a user makes PoCL build kernels otherwise, or keep none."""

_ABOUT_LINES = re.compile(r"__LINE__|__FILE__|\\\s*\n")
_NO_CODE = re.compile(r"^[ \t]*(?:#[ \t]*line\b.*)?\n", re.MULTILINE)

_PRIME, _NUMBERS = 0x100000001B3, 1 << 64
_INVERSE = pow(_PRIME, -1, _NUMBERS)
_NUMBER = slice(8, 16)  # of the model, in the header of a binary


def program(device: Device, text: str, options: tuple[str, ...]) -> tuple[Any, Any] | None:
    """Return the OpenCL program of a text and its signatures, if the package has it built."""
    model = model_of(device)
    if model is None or any(name.startswith(_OTHER_KERNELS) for name in os.environ):
        return None
    entry = cache.shipped(key(device, text, options))
    if entry is None or not instructions() >= LEVEL_3:
        return None
    private.require_room()
    cl, (signatures, binary) = opencl(), entry
    with heard_stderr(), suppress(cl.Error):
        made = cl.Program(device.context, [device.cl_device], [for_model(binary, model)])
        made.build(options=list(options), cache_dir=False)
        return made, signatures
    return None


def key(device: Device, text: str, options: tuple[str, ...]) -> str:
    """Return the key of a program: the same for all models, and wherever its lines stand."""
    version = _VERSION.sub(rf"\1{MODEL}", device.version)
    code = text if _ABOUT_LINES.search(text) else _NO_CODE.sub("", text)
    return cache.key_of(code, *options, version, device.platform_version, device.driver)


def model_of(device: Device) -> str | None:
    """Return LLVM's name of the processor's model, if PoCL of the known kind tells it."""
    version = _VERSION.fullmatch(device.reported_version)
    return version[2] if version else None


def for_model(binary: bytes, model: str, before: str = MODEL) -> bytes:
    """Return a binary for one model with the number of another one."""
    number = int.from_bytes(binary[_NUMBER], "little")
    for byte in reversed(before.encode()):
        number = (number ^ byte) * _INVERSE % _NUMBERS
    for byte in model.encode():
        number = number * _PRIME % _NUMBERS ^ byte
    return binary[: _NUMBER.start] + number.to_bytes(8, "little") + binary[_NUMBER.stop :]
