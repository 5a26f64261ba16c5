"""How does a device lay out the structs of a program? A generated kernel returns the offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from societies.errors import DeviceError
from societies.opencl.argtypes import Member, StructType

PROBE = "societies_layouts"


def probe(structs: Sequence[StructType]) -> tuple[str, int]:
    """Return a kernel that writes sizes and offsets of the structs, and how many it writes."""
    questions: list[str] = []
    rows = []
    for i, struct in enumerate(structs):
        rows.append(f"    {struct.name} societies_{i};")
        questions += [
            f"sizeof(societies_{i})",
            *_questions(struct, f"societies_{i}", f"societies_{i}"),
        ]
    rows += [f"    societies_out[{i}] = {question};" for i, question in enumerate(questions)]
    body = "\n".join(rows)
    return f"__kernel void {PROBE}(__global ulong *societies_out)\n{{\n{body}\n}}\n", len(questions)


def layouts(structs: Sequence[StructType], answers: Iterable[int]) -> dict[str, np.dtype[Any]]:
    """Return the dtype of every struct, with the offsets that the device returned."""
    rest = iter(answers)
    return {struct.name: _dtype(struct, next(rest), 0, rest) for struct in structs}


def laid_out(declared: StructType, dtype: np.dtype[Any]) -> StructType:
    """Return a declared struct with the layout of the device."""
    return replace(declared, members=_members(declared, dtype), layout=dtype)


def _members(struct: StructType, dtype: np.dtype[Any]) -> tuple[Member, ...]:
    """Return the members with their own layouts, taken from that of the whole struct."""
    members = []
    for member in struct.members:
        if isinstance(member.kind, StructType):
            assert dtype.fields is not None
            inner = dtype.fields[member.name][0].base
            kind = replace(member.kind, members=_members(member.kind, inner), layout=inner)
            member = replace(member, kind=kind)
        members.append(member)
    return tuple(members)


def _questions(struct: StructType, root: str, path: str) -> Iterator[str]:
    """Yield offset and size of every member, outer before inner, as expressions of C."""
    for member in struct.members:
        place = f"{path}.{member.name}"
        yield f"(ulong)((__private char *)&{place} - (__private char *)&{root})"
        yield f"sizeof({place})"
        if isinstance(member.kind, StructType):
            yield from _questions(member.kind, root, place + "[0]" * len(member.shape))


def _dtype(struct: StructType, size: int, start: int, answers: Iterator[int]) -> np.dtype[Any]:
    """Return the dtype of a struct that begins ``start`` bytes into the outermost one."""
    names, formats, offsets = [], [], []
    for member in struct.members:
        offset, nbytes = next(answers), next(answers)
        kind, shape = member.kind, member.shape
        if isinstance(kind, StructType):
            each = nbytes // int(np.prod(shape, dtype=np.int64))
            inner = _dtype(kind, each, offset, answers)
        else:
            inner = np.dtype(np.bool_) if kind.base == "bool" else kind.dtype
            shape = shape if kind.width == 1 else (*shape, kind.slots)
        field = np.dtype((inner, shape)) if shape else inner
        if field.itemsize != nbytes:
            raise DeviceError(
                f"struct {struct.name}: the device uses {nbytes} bytes for {member.name}, "
                f"{field.itemsize} are expected"
            )
        names.append(member.name)
        formats.append(field)
        offsets.append(offset - start)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})
