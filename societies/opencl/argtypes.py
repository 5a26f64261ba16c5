"""Which NumPy dtype matches a type of OpenCL C, and how does a Python value become its bytes?"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        """The type used for this one in buffers, which cannot hold ``bool`` in OpenCL C."""
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
    from societies.opencl.debug import opencl

    opencl()  # sets the debug environment, before pyopencl is imported
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
    """Converts a Python value to the bytes of a by-value argument; raises ValueError if impossible.

    Usually this is a single call of `struct`, which checks type and range itself. The reason for
    the error message is determined only if that call fails.
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
        if isinstance(value, np.ndarray) and len(parts) == self.kind.slots:
            parts = parts[: self.kind.width]  # a 3-vector has four components in memory
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


@dataclass(frozen=True)
class Member:
    """A member of a struct: ``shape`` is that of an array in the struct, ``()`` for one value."""

    name: str
    kind: Kind
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class StructType:
    """A struct of OpenCL C; ``name`` is its name in the program.

    ``dtype`` has the offsets of the members. Components of vectors are a last axis, of length four
    for a 3-vector, as in memory.
    """

    name: str
    members: tuple[Member, ...]
    dtype: np.dtype[Any]

    width = 1
    slots = 1
    integral = False

    @property
    def base(self) -> str:
        """The name, as `CType.base`."""
        return self.name

    @property
    def storage(self) -> str:
        """The type used for this one in buffers."""
        return self.name

    @property
    def itemsize(self) -> int:
        """Bytes of one struct in memory."""
        return self.dtype.itemsize

    def accepts(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
        """Return whether memory of this dtype may be read as structs: all offsets are equal."""
        return dtype == self.dtype

    def pack(self, value: Any) -> NDArray[Any]:
        """Return a zero-dimensional array with ``value``: a structured scalar, tuple or dict.

        Raises
        ------
        ValueError
            If it does not fit; the message names the member and the reason.
        """
        packed = np.zeros((), self.dtype)
        self._store(packed, value, self.name)
        return packed

    def refused(self, dtype: np.dtype[Any]) -> str:
        """Return the message for a structured dtype with another layout."""
        return (
            f"{dtype} is not laid out as {self.name} is; take the dtype from "
            f'program.struct("{self.name.removeprefix("struct ")}")'
        )

    def _store(self, target: NDArray[Any], value: Any, where: str) -> None:
        if isinstance(value, (np.void, np.ndarray)) and value.dtype.names is not None:
            if value.dtype != target.dtype or value.ndim:
                raise ValueError(self.refused(value.dtype))
            target[...] = value
            return
        names = [member.name for member in self.members]
        if isinstance(value, Mapping):
            wrong = [f"no {name}" for name in names if name not in value]
            wrong += [f"unknown {name}" for name in value if name not in names]
            if wrong:
                raise ValueError(f"{where} has the members {', '.join(names)}: {', '.join(wrong)}")
            values = [value[name] for name in names]
        elif isinstance(value, (tuple, list)) and len(value) == len(names):
            values = list(value)
        else:
            raise ValueError(f"{value!r} is not a {where} ({', '.join(names)})")
        for member, part in zip(self.members, values, strict=True):
            place = f"{where}.{member.name}"
            _store_member(target[member.name], member.kind, member.shape, part, place)


Kind = CType | StructType


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel or device function.

    ``space`` is ``global``, ``local``, ``constant`` or ``private``. ``kind`` is the type, or for a
    pointer the type it points to; for a kernel's parameter it is None if that is no scalar or
    vector.
    """

    name: str
    space: str
    type_name: str
    pointer: bool
    const: bool
    kind: Kind | None

    def __str__(self) -> str:
        space = "" if self.space == "private" else f"__{self.space} "
        const = "const " if self.const and self.pointer else ""
        return f"{space}{const}{self.type_name}{'*' if self.pointer else ''} {self.name}"


def _store_member(
    target: NDArray[Any], kind: Kind, shape: tuple[int, ...], value: Any, where: str
) -> None:
    """Store a value into a member of a struct; ``target`` is a view of the member."""
    if shape:
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != shape[0]:
            raise ValueError(f"{where}: {value!r} is not {shape[0]} values")
        for i, part in enumerate(value):
            _store_member(target[i, ...], kind, shape[1:], part, f"{where}[{i}]")
    elif isinstance(kind, StructType):
        kind._store(target, value, where)
    else:
        try:
            raw = Packer(kind)(value)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        target[...] = np.frombuffer(raw, target.dtype).reshape(target.shape)
