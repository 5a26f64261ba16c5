"""Which model of processor does PoCL compile for, and which instructions does this one have?

PoCL asks LLVM for the name of the model. LLVM 14, the one of pip's PoCL 3.0, says "generic" of AMD
processors since Zen 5 (family 26) and of makers that it does not know, and its compiler refuses
that name: `error: unknown target CPU 'generic'`. Later versions of PoCL take another one. There is
no variable for it, so we write the name of an older model, all of whose instructions the processor
has, where PoCL keeps it: in its description of the device, next to the name of the target.
"""

from __future__ import annotations

import ctypes
import re
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

LEVEL_3 = {"abm", "avx", "avx2", "bmi1", "bmi2", "cx16", "f16c"}
LEVEL_3 |= {"fma", "lahf_lm", "movbe", "popcnt", "sse4_2", "xsave"}
"""The level x86-64-v3 in Linux's words: all that a compiler takes for a Haswell by itself."""

_WIDE = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}

_TARGET = "x86_64-unknown-linux-gnu"
_UNKNOWN = re.compile(rf"(OpenCL \S+ PoCL HSTR: \w+-{_TARGET}-)generic")
_MODEL = re.compile(r"[a-z][a-z0-9-]+")
_WORDS = 256  # of PoCL's description of a device, in which its model stands at word 80 (3.0)


def known_model(cl_device: Any, version: str) -> str:
    """Have PoCL compile for an older model if LLVM does not know this processor's.

    Returns the version of the device, with the name of that model, or as it was. In the numbers of
    its binaries PoCL keeps the name "generic".
    """
    unknown = _UNKNOWN.fullmatch(version)
    model = nearest_model(instructions()) if unknown else None
    if unknown is None or model is None or not rename(cl_device, model):
        return version
    return unknown[1] + model


def nearest_model(found: set[str]) -> str | None:
    """Return a model of LLVM 14 all of whose instructions a processor has; None if none is sure.

    PoCL brings its functions for several sets of instructions, and takes those of this processor.
    LLVM ends the process if they have more than the model, so AVX-512 must be in both or in none.
    """
    wide = found & _WIDE
    if not found >= LEVEL_3 or (wide and wide != _WIDE):
        return None
    return "skylake-avx512" if wide else "haswell"


def rename(cl_device: Any, model: str) -> bool:
    """Write the name of a model into PoCL's description of a device; return whether it was found.

    The description is a structure in C, at the device's address; two pointers in a row point to
    the names of the target and of the model. The new name is never released.
    """
    size = ctypes.sizeof(ctypes.c_void_p)
    with suppress(OSError), Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        memory.seek(cl_device.int_ptr)
        text = memory.read(_WORDS * size)
        words = [word for (word,) in struct.iter_unpack("P", text[: len(text) // size * size])]
        for place in range(1, len(words)):
            now = _text(memory, words[place])
            if _MODEL.fullmatch(now) and _text(memory, words[place - 1]) == _TARGET:
                if now == model:
                    return True
                name = ctypes.create_string_buffer(model.encode())
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(name))
                memory.seek(cl_device.int_ptr + place * size)
                return memory.write(ctypes.addressof(name).to_bytes(size, "little")) == size
    return False


def _text(memory: Any, address: int) -> str:
    """Return the text of C at an address, or an empty one where this process has no memory."""
    with suppress(OSError, ValueError, OverflowError):
        memory.seek(address)
        return str(memory.read(64).partition(b"\0")[0], "ascii")
    return ""


def instructions() -> set[str]:
    """Return the sets of instructions of this processor, in Linux's words."""
    with suppress(OSError), Path("/proc/cpuinfo").open() as lines:
        for line in lines:
            if line.startswith("flags"):
                return set(line.split())
    return set()
