"""How a device lays out the structs of a program: it is asked, by a kernel made for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.errors import DeviceError
from societies.opencl.argtypes import Kind, Member, StructType
from societies.opencl.signature import declarations

if TYPE_CHECKING:
    from societies.opencl.program import Program

_PROBE = "societies_layouts"


def layouts(program: Program) -> dict[str, np.dtype[Any]]:
    """Return the dtype of every struct of the program, with the offsets that its device uses.

    One build and one launch for all of them.
    """
    structs = list(declarations(program.amalgamated.text).structs())
    if not structs:
        return {}
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
    text = f"__kernel void {_PROBE}(__global ulong *societies_out)\n{{\n{body}\n}}\n"
    out = program.device.empty((len(questions),), np.uint64)
    kernel = program.extended("<layout of structs>", text).kernel(_PROBE)
    kernel(global_size=1, local_size=1, societies_out=out)
    answers = iter(out.get().tolist())
    return {struct.name: _dtype(struct, next(answers), 0, answers) for struct in structs}


def struct_type(program: Program, name: str) -> StructType:
    """Return the struct of this name as the program's device lays it out.

    Raises
    ------
    DeviceError
        If the text has no such struct, or it has members that cannot be passed.
    """
    declared = declarations(program.amalgamated.text).struct(name)
    dtype = program.struct_layouts[declared.name]
    return replace(declared, members=_members(declared, dtype), layout=dtype)


def laid_out(program: Program, kind: Kind) -> Kind:
    """Return the type with the device's layout, if it is a struct."""
    return struct_type(program, kind.name) if isinstance(kind, StructType) else kind


def _members(struct: StructType, dtype: np.dtype[Any]) -> tuple[Member, ...]:
    """Return the members with their own layouts, which the whole one contains."""
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
