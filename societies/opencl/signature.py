"""Which parameters, results and structs do the functions of a program have?

Clang's parser (PyPI ``libclang``) reads the text, so macros, conditions and typedefs have the same
meaning as in the compiler. It skips the bodies of functions, which makes it fast. It also lays out
structs: sizes and alignments are those of the OpenCL standard, the same on all devices of 64 bits.
"""

from __future__ import annotations

import atexit
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from societies import localmem
from societies.errors import DeviceError
from societies.kerneltext.source import without_comments
from societies.opencl.argtypes import (
    CType,
    Kind,
    Member,
    Parameter,
    StructType,
    ctype,
)

_TYPEDEF = re.compile(r"\btypedef\s+([A-Za-z_][\w\s]*?)\s+([A-Za-z_]\w*)\s*;")
_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:[ \t]+([A-Za-z_][\w \t]*))?[ \t]*$", re.MULTILINE
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)


class TypeNames:
    """Meaning of the typedefs and macros of a text that name scalar and vector types.

    The compiler describes parameters of kernels by such names. Preprocessor conditions are not
    evaluated: a name with several meanings is treated as unknown.
    """

    def __init__(self, text: str):
        code = without_comments(text)
        self._typedefs: dict[str, set[str]] = {}
        self._defines: dict[str, set[str]] = {}
        for meaning, name in _TYPEDEF.findall(_DIRECTIVE.sub("", code)):
            self._typedefs.setdefault(name, set()).add(" ".join(meaning.split()))
        for name, meaning in _DEFINE.findall(code):
            self._defines.setdefault(name, set()).add(" ".join(meaning.split()))

    def resolve(self, name: str, depth: int = 16) -> CType | None:
        """Return the scalar or vector type, or None for anything else (structs, ambiguity)."""
        found = ctype(name)
        if found is not None or depth == 0:  # names may refer to each other in a circle
            return found
        meanings = self._typedefs.get(name, set()) | self._defines.get(name, set())
        kinds = {self.resolve(meaning, depth - 1) for meaning in meanings}
        return kinds.pop() if len(kinds) == 1 else None


@dataclass(frozen=True)
class Signature:
    """A device function: ``result`` is None for void."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Kind | None

    def __str__(self) -> str:
        result = self.result.name if self.result else "void"
        return f"{result} {self.name}({', '.join(str(p) for p in self.parameters)})"


_ARGUMENTS = (
    *("-x", "cl", "-target", "spir64", "-cl-std=CL1.2", "-cl-no-stdinc", "-ferror-limit=0"),
    *("-include", str(Path(localmem.__file__).with_name("opencl.h"))),  # libclang has no headers
)
_SKIP_BODIES = 0x40  # CXTranslationUnit_SkipFunctionBodies

_SPACES = {"__global": "global", "__local": "local", "__constant": "constant"}
_QUALIFIERS = frozenset({"const", "volatile", "restrict", "__private", *_SPACES})


class Unsupported(Exception):
    """Raised for a type that cannot pass between Python and a device function, with the reason."""

    def __init__(self, name: str, why: str = "scalars, vectors, structs of them are, and pointers"):
        super().__init__(name)
        self.name = name
        self.why = why


class Declarations:
    """The functions and structs of one text."""

    def __init__(self, text: str):
        from clang import cindex  # takes long, and only device functions need it

        self._clang = cindex
        files = [("program.cl", text)]
        # libclang needs the unit and its index to stay alive
        self._unit = self._clang.Index.create().parse(
            "program.cl", args=list(_ARGUMENTS), unsaved_files=files, options=_SKIP_BODIES
        )
        kinds = self._clang.CursorKind
        self._functions: dict[str, Any] = {}
        self._records: dict[str, Any] = {}
        for cursor in self._unit.cursor.get_children():
            if cursor.kind == kinds.FUNCTION_DECL:
                self._functions[cursor.spelling] = cursor
            elif cursor.kind in (kinds.STRUCT_DECL, kinds.TYPEDEF_DECL):
                record = self._canonical(cursor.type)
                spelled = _unqualified(cursor.type.spelling)
                if record.kind == self._clang.TypeKind.RECORD and "(" not in spelled:
                    self._records[spelled.removeprefix("struct ")] = cursor.type

    def signature(self, name: str) -> Signature:
        """Return the signature of function ``name``.

        Raises
        ------
        DeviceError
            If there is no such function or a type is unsupported.
        """
        cursor = self._functions.get(name)
        if cursor is None:
            problems = [str(d.spelling) for d in self._unit.diagnostics if d.severity >= 3]
            why = f" (the text has errors: {problems[0]})" if problems else ""
            raise DeviceError(f"no definition of function {name} in this program{why}")
        parameters = []
        types = cursor.type.argument_types()  # those of arrays are pointers here
        for i, (argument, kind) in enumerate(zip(cursor.get_arguments(), types, strict=True)):
            called = argument.spelling or f"argument_{i}"
            try:
                parameters.append(self._parameter(called, kind))
            except Unsupported as error:
                raise DeviceError(
                    f"function {name}: type '{error.name}' of parameter {called} is not "
                    f"supported ({error.why})"
                ) from None
        result = cursor.result_type
        if self._canonical(result).kind == self._clang.TypeKind.VOID:
            return Signature(name, tuple(parameters), None)
        try:
            return Signature(name, tuple(parameters), self._kind(result))
        except Unsupported as error:
            raise DeviceError(
                f"function {name}: a result of type '{error.name}' is not supported ({error.why})"
            ) from None

    def struct(self, name: str) -> StructType:
        """Return the struct of this name: of a typedef, or a tag with or without ``struct``.

        Raises
        ------
        DeviceError
            If there is no such struct, or a member of it is unsupported.
        """
        declared = self._records.get(name.removeprefix("struct "))
        if declared is None:
            available = ", ".join(sorted(self._records)) or "none"
            raise DeviceError(f"no struct {name} in this program; it has: {available}")
        try:
            found = self._kind(declared)
        except Unsupported as error:
            raise DeviceError(f"'{error.name}' is not supported ({error.why})") from None
        assert isinstance(found, StructType)
        return found

    def _canonical(self, kind: Any) -> Any:
        return kind.get_canonical()

    def _parameter(self, name: str, kind: Any) -> Parameter:
        kinds, canonical = self._clang.TypeKind, self._canonical(kind)
        if canonical.kind == kinds.POINTER:
            pointee = canonical.get_pointee()
        elif canonical.kind in (kinds.CONSTANTARRAY, kinds.INCOMPLETEARRAY):
            pointee = canonical.element_type
        else:
            value = self._kind(kind)
            return Parameter(name, "private", value.name, False, False, value)
        words = pointee.spelling.split()
        space = next((_SPACES[w] for w in words if w in _SPACES), "private")
        try:
            target = self._kind(pointee)
        except Unsupported as error:
            raise Unsupported(_shown(kind), error.why) from None
        const = pointee.is_const_qualified() or space == "constant"
        return Parameter(name, space, target.name, True, const, target)

    def _kind(self, kind: Any) -> Kind:
        """Return the scalar, vector or struct type, or raise `Unsupported`."""
        kinds, canonical = self._clang.TypeKind, self._canonical(kind)
        if canonical.kind == kinds.ENUM:
            canonical = self._canonical(canonical.get_declaration().enum_type)
        if canonical.kind in (kinds.VECTOR, kinds.EXTVECTOR):
            scalar = ctype(_unqualified(canonical.element_type.spelling))
            found = ctype(f"{scalar.name}{canonical.element_count}") if scalar else None
        elif canonical.kind == kinds.RECORD:
            return self._struct(kind, canonical)
        else:
            found = ctype(_unqualified(canonical.spelling))
        if found is None:
            raise Unsupported(_shown(kind))
        return found

    def _struct(self, kind: Any, canonical: Any) -> StructType:
        if canonical.get_declaration().kind != self._clang.CursorKind.STRUCT_DECL:
            raise Unsupported(_shown(kind))  # a union
        members, formats, offsets = [], [], []
        for field in canonical.get_fields():
            shape, inner = [], field.type
            while self._canonical(inner).kind == self._clang.TypeKind.CONSTANTARRAY:
                inner = self._canonical(inner)
                shape.append(int(inner.element_count))
                inner = inner.element_type
            try:
                if field.is_bitfield() or not field.spelling:
                    raise Unsupported(_shown(field.type))
                one = self._kind(inner)
            except Unsupported as error:
                called = field.spelling or "without a name"
                why = f"its member {called} is of type '{error.name}'"
                why += ", a bit-field" if field.is_bitfield() else ""
                raise Unsupported(_shown(kind), why) from None
            members.append(Member(field.spelling, one, tuple(shape)))
            components = () if one.width == 1 else (one.slots,)
            dtype = np.dtype(np.bool_) if one.base == "bool" else one.dtype
            formats.append(np.dtype((dtype, (*shape, *components))))
            offsets.append(canonical.get_offset(field.spelling) // 8)  # of bits
        if not members:
            raise Unsupported(_shown(kind), "it has no members")
        names, size = [one.name for one in members], canonical.get_size()
        layout = {"names": names, "formats": formats, "offsets": offsets, "itemsize": size}
        return StructType(_unqualified(kind.spelling), tuple(members), np.dtype(layout))  # type: ignore[call-overload]


@lru_cache(maxsize=8)
def declarations(text: str) -> Declarations:
    """Return the declarations of a text (cached)."""
    return Declarations(text)


atexit.register(declarations.cache_clear)  # free clang's objects before clang is unloaded


def _unqualified(spelling: str) -> str:
    return " ".join(word for word in spelling.split() if word not in _QUALIFIERS)


def _shown(kind: Any) -> str:
    """Return the displayed name of a type, without the default address space ``__private``."""
    return re.sub(r"__private ?", "", str(kind.spelling)).strip()
