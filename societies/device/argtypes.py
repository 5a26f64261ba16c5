"""Which NumPy dtype an OpenCL C type name stands for, and how a Python value becomes its bytes."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

VECTOR_WIDTHS = (2, 3, 4, 8, 16)

# name -> (dtype, struct format)
_SCALARS = {
    "bool": ("u1", "B"),
    "char": ("i1", "b"),
    "uchar": ("u1", "B"),
    "short": ("i2", "h"),
    "ushort": ("u2", "H"),
    "int": ("i4", "i"),
    "uint": ("u4", "I"),
    "long": ("i8", "q"),
    "ulong": ("u8", "Q"),
    "half": ("f2", "e"),
    "float": ("f4", "f"),
    "double": ("f8", "d"),
}

# the spellings of C for the names of OpenCL C, words sorted
_SPELLINGS = {
    "signed": "int",
    "unsigned": "uint",
    "size_t": "ulong",
    "uintptr_t": "ulong",
    "ptrdiff_t": "long",
    "intptr_t": "long",
}


@dataclass(frozen=True)
class CType:
    """A scalar or vector type of OpenCL C.

    ``width`` is 1 for a scalar; ``slots`` is the number of scalars it occupies in memory, which
    for a 3-vector is 4 (OpenCL 1.2, 6.1.5).
    """

    name: str
    base: str
    width: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of one component."""
        return np.dtype(_SCALARS[self.base][0])

    @property
    def storage(self) -> str:
        """The type that stands for this one in buffers: OpenCL C has no ``bool`` there."""
        return "uchar" if self.base == "bool" else self.name

    @property
    def slots(self) -> int:
        """Components in memory."""
        return 4 if self.width == 3 else self.width

    @property
    def itemsize(self) -> int:
        """Bytes of one value in memory."""
        return self.dtype.itemsize * self.slots

    @property
    def integral(self) -> bool:
        """Whether the components are integers."""
        return self.dtype.kind in "iu"

    def accepts(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
        """Return whether memory of this dtype and shape may be read as values of this type."""
        if dtype == self.dtype or (dtype == np.bool_ and self.base in ("uchar", "char", "bool")):
            return self.width == 1 or (bool(shape) and shape[-1] == self.slots)
        return self.width > 1 and dtype == vector_dtype(self.base, self.width)


@cache
def vector_dtype(base: str, width: int) -> np.dtype[Any] | None:
    """Return pyopencl's structured dtype of a vector type, such as ``cltypes.float4``."""
    from societies.device.debug import opencl

    opencl()  # the debug settings come before any import of pyopencl
    import pyopencl.cltypes

    return getattr(pyopencl.cltypes, f"{base}{width}", None)


@cache
def ctype(name: str) -> CType | None:
    """Return the type of this name (``unsigned int``, ``real`` excluded, ``double4``), or None."""
    words = [w for w in name.split() if w not in ("const", "volatile", "restrict")]
    if len(words) > 1:
        unsigned = "unsigned" in words
        core = [w for w in words if w not in ("unsigned", "signed")]
        if core in (["long", "int"], ["short", "int"]):
            core = core[:1]
        if len(core) > 1 or (core and core[0] not in ("char", "short", "int", "long")):
            return None
        spelled = ("u" if unsigned else "") + (core[0] if core else "int")
    else:
        spelled = _SPELLINGS.get(words[0], words[0]) if words else ""
    match = re.fullmatch(r"([a-z]+?)(\d*)", spelled)
    if match is None or match[1] not in _SCALARS:
        return None
    width = int(match[2]) if match[2] else 1
    if width not in (1, *VECTOR_WIDTHS) or (width > 1 and match[1] == "bool"):
        return None
    return CType(spelled, match[1], width)


class Packer:
    """Turns a Python value into the bytes of a by-value argument, or raises ValueError saying why.

    The quick path is one call of `struct`, which checks type and range itself; only when it
    refuses is the reason worked out.
    """

    def __init__(self, kind: CType):
        self.kind = kind
        self._struct = struct.Struct("=" + _SCALARS[kind.base][1])
        self._vector = struct.Struct("=" + _SCALARS[kind.base][1] * kind.slots)

    def __call__(self, value: Any) -> bytes:
        """Return the bytes of ``value`` in the machine's byte order."""
        try:
            if self.kind.width == 1:
                return self._struct.pack(value)
            return self._vector.pack(*self._components(value))
        except (struct.error, OverflowError, TypeError):
            pass
        raise ValueError(self._reason(value))

    def _components(self, value: Any) -> list[Any]:
        vector = vector_dtype(self.kind.base, self.kind.width)
        if isinstance(value, (np.void, np.ndarray)) and value.dtype == vector and not value.ndim:
            parts = list(value.item())[: self.kind.width]
        elif isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) == 1:
            parts = list(value)
        else:
            raise TypeError
        if len(parts) == self.kind.slots and self.kind.width == 3:
            parts = parts[:3]
        if len(parts) != self.kind.width:
            raise TypeError
        return parts + [0] * (self.kind.slots - self.kind.width)

    def _reason(self, value: Any) -> str:
        kind = self.kind
        if kind.width > 1:
            try:
                parts = self._components(value)
            except TypeError:
                return f"{value!r} is not a {kind.name} ({kind.width} numbers)"
            scalar = Packer(CType(kind.base, kind.base, 1))
            for part in parts:
                try:
                    scalar(part)
                except ValueError as error:
                    return str(error)
        if kind.integral:
            info = np.iinfo(kind.dtype)
            if isinstance(value, (int, np.integer)):
                return f"{value} does not fit {kind.name} ({info.min} .. {info.max})"
            return f"{value!r} is not an integer ({kind.name}, {info.min} .. {info.max})"
        if isinstance(value, (int, float, np.number)):
            return f"{value} does not fit {kind.name} (largest {np.finfo(kind.dtype).max})"
        return f"{value!r} is not a number ({kind.name})"
