"""What does libclang know of a preprocessed OpenCL text? Functions, their trees, types, constants.

libclang's wheel has no headers, so ``opencl.h`` next to this file stands in for the compiler's own;
built-in functions are declared by clang itself. Positions are bytes of the text.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any

from clang import cindex

from societies.errors import BuildError
from societies.localmem.preprocess import Preprocessed

_NAME = "societies.cl"
_HEADER = Path(__file__).with_name("opencl.h")
_OPTIONS = [
    "-x", "cl", "-target", "spir64", "-cl-std=CL1.2", "-cl-no-stdinc", "-w",
    "-Xclang", "-fdeclare-opencl-builtins", "-include", str(_HEADER),
]  # fmt: skip
_SHOWN_ERRORS = 1

Kind = cindex.CursorKind
TypeKind = cindex.TypeKind
LITERALS = frozenset(
    {
        Kind.INTEGER_LITERAL,
        Kind.FLOATING_LITERAL,
        Kind.STRING_LITERAL,
        Kind.CHARACTER_LITERAL,
    }
)
_kind_of = cache(Kind.from_id)
_STOP, _RECURSE = 0, 2
_VISITOR = ctypes.CFUNCTYPE(ctypes.c_int, cindex.Cursor, cindex.Cursor, ctypes.c_void_p)
LOCAL_SPACE = 2  # of clang_getAddressSpace: 1 global, 2 local, 3 constant
_PRIVATE_SPACES = frozenset({0, 4})


class _Type(ctypes.Structure):
    """A type as libclang hands it over; `cindex.Type` asks where it comes from every time."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
    )


class SyntaxNode:
    """A part of a function's tree: its kind, its bytes in the text and its parts in order."""

    def __init__(self, unit: TranslationUnit, cursor: Any):
        self.unit = unit
        self.cursor = cursor
        self.kind = _kind_of(cursor._kind_id)
        self.children: list[SyntaxNode] = []

    # Asked of libclang when they are needed: each is a call from Python, of some ten thousands.

    @cached_property
    def _extent(self) -> tuple[int, int]:
        return _extent(self.cursor)

    @property
    def start(self) -> int:
        """Its first byte in the text."""
        return self._extent[0]

    @property
    def end(self) -> int:
        """The byte after its last."""
        return self._extent[1]

    @cached_property
    def name(self) -> str:
        """What it declares, calls or refers to."""
        return str(self.cursor.spelling)

    @cached_property
    def declared(self) -> Any:
        """The cursor of what it refers to or calls, or None."""
        found = _evaluation().referenced(self.cursor)
        found._tu = self.unit.parsed
        return found if bytes(found) != _evaluation().nothing else None

    @cached_property
    def variable(self) -> int:
        """A number that stands for the variable that it declares or refers to."""
        cursor = self.cursor if self.kind in DECLARATIONS else self.declared
        return int(cursor.hash) if cursor is not None else 0

    @cached_property
    def type(self) -> Any:
        """Its type, without typedefs: one object for each, since `once` keeps its facts in it."""
        library = _evaluation()
        found = library.canonical(library.type_of(self.cursor))
        key = (found.kind, found.first, found.second)
        if key not in self.unit.types:
            self.unit.types[key] = cindex.Type.from_buffer_copy(found)
            self.unit.types[key]._tu = self.unit.parsed
        return self.unit.types[key]

    @property
    def text(self) -> str:
        """The text of it."""
        return self.unit.data[self.start : self.end].decode()

    def between(self, first: SyntaxNode, second: SyntaxNode) -> str:
        """Return the text between two parts: an operator."""
        return self.unit.data[first.end : second.start].decode().strip()

    def walk(self) -> Iterator[SyntaxNode]:
        """Yield it and everything in it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


DECLARATIONS = frozenset({Kind.VAR_DECL, Kind.PARM_DECL, Kind.FUNCTION_DECL})


def tree(unit: TranslationUnit, cursor: Any) -> SyntaxNode:
    """Return the tree of a cursor; libclang reports each of its parts once, in order of the text.

    To ask each part for its own (``get_children``) takes twice as long.
    """
    root = SyntaxNode(unit, cursor)
    way: list[tuple[bytes, SyntaxNode]] = []
    whole = True

    def visit(part: Any, parent: Any, _: Any) -> int:
        nonlocal whole
        above, own = bytes(parent), bytes(part)
        if own == above:  # libclang lists the number of a ``case`` twice, once inside itself
            return _RECURSE
        if not root.children:
            way.append((above, root))
        while way and way[-1][0] != above:
            way.pop()
        if not way:
            whole = False
            return _STOP
        part._tu = unit.parsed
        node = SyntaxNode(unit, part)
        way[-1][1].children.append(node)
        way.append((own, node))
        return _RECURSE

    _evaluation().visit(cursor, _VISITOR(visit), None)
    assert whole, "libclang left a part without the one that it is in"
    return root


_ALONE = re.compile(r"\breqd_work_group_size\s*\(\s*1u?\s*,\s*1u?\s*,\s*1u?\s*\)")


class ParsedFunction:
    """A function of the text: all its declarations, and its definition if there is one.

    ``is_alone``: a kernel whose workgroups have one work-item each.
    """

    def __init__(self, unit: TranslationUnit, name: str, usr: str):
        self.unit, self.name, self.usr = unit, name, usr
        self.declarations: list[Any] = []
        self.definition: Any = None
        self.is_kernel = False
        self.is_noinline = False
        self.is_alone = False

    @cached_property
    def parameters(self) -> list[SyntaxNode]:
        """The parameters of the definition."""
        return [tree(self.unit, cursor) for cursor in self.definition.get_arguments()]

    @cached_property
    def body(self) -> SyntaxNode:
        """The tree of the definition's body."""
        found = [c for c in self.definition.get_children() if c.kind is Kind.COMPOUND_STMT]
        return tree(self.unit, found[-1])

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name in the definition's body."""
        start, end = _extent(self.definition)
        body = self.unit.data[start:end].decode().partition("{")[2]
        return frozenset(re.findall(r"[A-Za-z_]\w*", body))

    @property
    def start(self) -> int:
        """Byte at which its name stands, in the definition if there is one."""
        return _offset((self.definition or self.declarations[0]).location)

    def name_ends(self) -> list[int]:
        """Return where its name ends in each declaration."""
        return [_offset(c.location) + len(self.name.encode()) for c in self.declarations]

    @property
    def static_bytes(self) -> int:
        """Bytes of the ``__local`` variables that it declares itself."""
        total = 0
        for statement in self.body.children:
            for node in statement.children if statement.kind is Kind.DECL_STMT else ():
                if node.kind is Kind.VAR_DECL and in_local_memory(node.type):
                    align = max(1, node.type.get_align())
                    total = -(-total // align) * align + max(0, node.type.get_size())
        return total


class TranslationUnit:
    """A parsed text.

    Raises
    ------
    BuildError
        If the text is not OpenCL C, with the first error and its line.
    """

    def __init__(self, preprocessed: Preprocessed):
        self.places = preprocessed.places
        self.data = preprocessed.text.encode()
        self.parsed = _index().parse(
            _NAME, args=_OPTIONS, unsaved_files=[(_NAME, preprocessed.text)], options=0
        )
        self._check()
        self.types: dict[tuple[int | None, ...], Any] = {}
        self.functions: dict[str, ParsedFunction] = {}
        previous = 0
        for cursor in self.parsed.cursor.get_children():
            file = cursor.location.file
            if file is None or file.name != _NAME:
                continue
            if cursor.kind is Kind.FUNCTION_DECL:
                self._declare(cursor, previous)
            previous = _extent(cursor)[1]

    def _check(self) -> None:
        found = [d for d in self.parsed.diagnostics if d.severity >= cindex.Diagnostic.Error]
        rows = []
        for diagnostic in found[:_SHOWN_ERRORS]:
            message = diagnostic.spelling
            if diagnostic.location.file is None or diagnostic.location.file.name != _NAME:
                rows.append(message)
                continue
            rows.append(str(self.places.failure(_offset(diagnostic.location), message)))
        if len(found) > _SHOWN_ERRORS:
            more = len(found) - _SHOWN_ERRORS
            rows.append(f"and {more} more error{'' if more == 1 else 's'}")
        if rows:
            raise BuildError("\n".join(rows))

    def _declare(self, cursor: Any, previous: int) -> None:
        usr = cursor.get_usr()
        function = self.functions.setdefault(usr, ParsedFunction(self, cursor.spelling, usr))
        function.declarations.append(cursor)
        if cursor.is_definition():
            function.definition = cursor
        # libclang shows the attributes, but not which ones they are
        before = self.data[previous : _offset(cursor.location)].decode()
        function.is_kernel |= bool(re.search(r"\b(?:__)?kernel\b", before))
        function.is_noinline |= bool(re.search(r"\b(?:__)?noinline(?:__)?\b", before))
        function.is_alone |= bool(_ALONE.search(before))

    def function(self, node: SyntaxNode) -> ParsedFunction | None:
        """Return the function of the text that a call calls or a name names."""
        declared = node.declared
        if declared is None or declared.kind is not Kind.FUNCTION_DECL:
            return None
        return self.functions.get(declared.get_usr())


def evaluate(node: SyntaxNode) -> int | None:
    """Return the value of a constant expression of integers, or None."""
    library = _evaluation()
    result = library.clang_Cursor_Evaluate(node.cursor)
    if not result:
        return None
    try:
        if library.clang_EvalResult_getKind(result) != 1:
            return None
        if library.clang_EvalResult_isUnsignedInt(result):
            return int(library.clang_EvalResult_getAsUnsigned(result))
        return int(library.clang_EvalResult_getAsLongLong(result))
    finally:
        library.clang_EvalResult_dispose(result)


def once(fact: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Cache what a function says of a type in the type: asking libclang takes microseconds."""
    name = f"_{fact.__name__}"

    @wraps(fact)
    def cached(kind: Any) -> bool:
        known = kind.__dict__.get(name)
        if known is None:
            known = kind.__dict__[name] = fact(kind)
        return bool(known)

    return cached


@once
def in_local_memory(kind: Any) -> bool:
    """Return whether a variable of this type is in local memory."""
    return bool(kind.get_address_space() == LOCAL_SPACE)


@once
def is_array(kind: Any) -> bool:
    """Return whether it is the type of an array."""
    return kind.kind in (cindex.TypeKind.CONSTANTARRAY, cindex.TypeKind.INCOMPLETEARRAY)


@once
def is_pointer(kind: Any) -> bool:
    """Return whether it is the type of a pointer."""
    return kind.kind is cindex.TypeKind.POINTER


def pointer_as_written(kind: Any) -> Any:
    """Return a pointer's type with its target as written: a typedef may ask for alignment."""
    while kind.kind in (cindex.TypeKind.TYPEDEF, cindex.TypeKind.ELABORATED):
        inner = kind.get_named_type()
        if kind.kind is cindex.TypeKind.TYPEDEF:
            inner = kind.get_declaration().underlying_typedef_type
        kind = inner
    return kind if is_pointer(kind) else kind.get_canonical()


@once
def leads_to_private(kind: Any) -> bool:
    """Return whether a pointer or array of this type leads to private memory."""
    space = kind.get_pointee().get_address_space() if is_pointer(kind) else kind.get_address_space()
    return space in _PRIVATE_SPACES


def _offset(location: Any) -> int:
    """Return the byte of a location; in arguments of the header's macros it is that in the text."""
    library = _evaluation()
    offset = ctypes.c_uint()
    library.clang_getFileLocation(location, None, None, None, ctypes.byref(offset))
    return offset.value


def _extent(cursor: Any) -> tuple[int, int]:
    library = cindex.conf.lib
    extent = library.clang_getCursorExtent(cursor)
    first, last = library.clang_getRangeStart(extent), library.clang_getRangeEnd(extent)
    return _offset(first), _offset(last)


@cache
def _index() -> Any:
    return cindex.Index.create()


@cache
def _evaluation() -> Any:
    """Return libclang with the functions that its Python bindings leave out, or look after.

    What the bindings do after each call takes longer than the call.
    """
    library = cindex.conf.lib
    for name, function, arguments, kind in (
        ("visit", "visitChildren", [cindex.Cursor, _VISITOR, ctypes.c_void_p], ctypes.c_uint),
        ("referenced", "getCursorReferenced", [cindex.Cursor], cindex.Cursor),
        ("type_of", "getCursorType", [cindex.Cursor], _Type),
        ("canonical", "getCanonicalType", [_Type], _Type),
    ):
        plain = library[f"clang_{function}"]  # another object than the bindings have
        plain.argtypes, plain.restype = arguments, kind
        setattr(library, name, plain)
    library.nothing = bytes(library.clang_getNullCursor())
    library.clang_Cursor_Evaluate.argtypes = [cindex.Cursor]
    library.clang_Cursor_Evaluate.restype = ctypes.c_void_p
    for name, result in (
        ("getKind", ctypes.c_int),
        ("isUnsignedInt", ctypes.c_uint),
        ("getAsUnsigned", ctypes.c_ulonglong),
        ("getAsLongLong", ctypes.c_longlong),
        ("dispose", None),
    ):
        function = getattr(library, f"clang_EvalResult_{name}")
        function.argtypes, function.restype = [ctypes.c_void_p], result
    library.clang_getFileLocation.argtypes = [cindex.SourceLocation] + [ctypes.c_void_p] * 4
    library.clang_getFileLocation.restype = None
    return library
