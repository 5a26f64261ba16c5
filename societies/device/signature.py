"""What a device function takes and returns, read from the text of its definition.

A deliberately small reader of C declarations: it knows qualifiers, the built-in types, ``typedef``
and object-like ``#define``. It does not evaluate ``#if``: alternatives must declare the same
parameters. Functions that macros generate are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from societies.device.argtypes import CType, ctype
from societies.device.kernel import Parameter
from societies.device.source import without_comments
from societies.errors import DeviceError

_IGNORED = frozenset(
    {"inline", "__inline", "__inline__", "static", "extern", "register", "volatile", "COLLECTIVE"}
    | {"__volatile__", "restrict", "__restrict", "__restrict__"}
)
_SPACES = {
    f"{prefix}{space}": space
    for prefix in ("", "__")
    for space in ("global", "local", "constant", "private")
}
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_TYPEDEF = re.compile(r"\btypedef\s+([A-Za-z_][\w\s]*?)\s+([A-Za-z_]\w*)\s*;")
_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:[ \t]+([A-Za-z_][\w \t]*))?[ \t]*$"
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*|\*|\[[^\]]*\]|\S")


class TypeNames:
    """The type names of one text: built-in ones, typedefs and object-like macros."""

    def __init__(self, text: str):
        code = without_comments(text)
        self.code = _DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), code)
        self._typedefs: dict[str, set[str]] = {}
        self._defines: dict[str, set[str]] = {}
        for meaning, name in _TYPEDEF.findall(self.code):
            self._typedefs.setdefault(name, set()).add(" ".join(meaning.split()))
        for row in code.split("\n"):
            match = _DEFINE.match(row)
            if match:
                self._defines.setdefault(match[1], set()).add(" ".join((match[2] or "").split()))

    def resolve(self, name: str, depth: int = 16) -> CType | None:
        """Return the scalar or vector type, or None for anything else (structs, ambiguity)."""
        found = ctype(name)
        if found is not None or depth == 0:  # a chain of names ends; a circle must too
            return found
        meanings = self._typedefs.get(name, set()) | self._defines.get(name, set())
        kinds = {self.resolve(meaning, depth - 1) for meaning in meanings}
        return kinds.pop() if len(kinds) == 1 else None

    def expand(self, words: Iterable[str], depth: int = 16) -> list[str]:
        """Return the words with object-like macros replaced by their one meaning."""
        result: list[str] = []
        for word in words:
            meanings = self._defines.get(word, set())
            if len(meanings) == 1 and depth:
                result.extend(self.expand(next(iter(meanings)).split(), depth - 1))
            else:
                result.append(word)
        return result


@dataclass(frozen=True)
class Signature:
    """A device function: ``result`` is None for void; ``result_name`` is the type as written."""

    name: str
    parameters: tuple[Parameter, ...]
    result: CType | None

    def __str__(self) -> str:
        result = self.result.name if self.result else "void"
        return f"{result} {self.name}({', '.join(str(p) for p in self.parameters)})"


def read_signature(types: TypeNames, name: str) -> Signature:
    """Return the signature of function ``name``.

    Raises
    ------
    DeviceError
        If no definition is found, two of them differ, it is a kernel, or a type is unsupported.
    """
    found = {_parse(types, name, *head) for head in _heads(types.code, name)}
    if not found:
        raise DeviceError(
            f"no definition of function {name} in this program (one that a macro generates is "
            "not seen: wrap it in header=)"
        )
    if len(found) > 1:
        raise DeviceError(
            f"function {name} is defined in several ways: " + "; ".join(sorted(map(str, found)))
        )
    return found.pop()


def _heads(code: str, name: str) -> Iterable[tuple[str, str]]:
    """Yield (text before the name, text between the parentheses) of each definition."""
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", code):
        depth, end = 1, match.end()
        while end < len(code) and depth:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        after = _ATTRIBUTE.sub("", code[end : end + 400]).lstrip()
        if after.startswith("{"):
            start = max(code.rfind(mark, 0, match.start()) for mark in ";}") + 1
            before = _ATTRIBUTE.sub(" ", code[start : match.start()])
            # a macro call such as MAKE(name) may stand before, without a semicolon
            yield before[before.rfind(")") + 1 :], code[match.end() : end - 1]


def _parse(types: TypeNames, name: str, before: str, inside: str) -> Signature:
    words = [w for w in types.expand(_WORD.findall(before)) if w not in _IGNORED and w != "const"]
    if "kernel" in words or "__kernel" in words:
        raise DeviceError(f"{name} is a kernel, not a function: use program.kernel('{name}')")
    result_name = " ".join(words)
    result = None if result_name == "void" else types.resolve(result_name)
    if result is None and result_name != "void":
        raise DeviceError(
            f"function {name}: a result of type '{result_name}' is not supported "
            "(scalars, vectors and void are)"
        )
    parts = [p for p in re.split(r",(?![^(\[]*[)\]])", inside) if p.strip()]
    if [p.strip() for p in parts] == ["void"]:
        parts = []
    return Signature(name, tuple(_parameter(types, name, part) for part in parts), result)


def _parameter(types: TypeNames, function: str, text: str) -> Parameter:
    words = types.expand(_WORD.findall(_ATTRIBUTE.sub(" ", text)))
    shown = " ".join(text.split())
    stars = sum(w == "*" or w.startswith("[") for w in words)
    type_end = words.index("*") if "*" in words else len(words)
    before = words[:type_end]  # qualifiers after the star concern the pointer itself
    space = next((_SPACES[w] for w in before if w in _SPACES), "private")
    const = "const" in before or space == "constant"
    drop = _IGNORED | _SPACES.keys() | {"const", "*"}
    rest = [w for w in words if w not in drop and not w.startswith("[")]
    if len(rest) < 2 or stars > 1 or not all(re.fullmatch(r"\w+", w) for w in rest):
        raise DeviceError(f"function {function}: parameter '{shown}' is not supported")
    type_name = " ".join(rest[:-1])
    kind = types.resolve(type_name)
    if kind is None:
        raise DeviceError(
            f"function {function}: type '{type_name}' of parameter {rest[-1]} is not supported "
            "(scalars and vectors, and pointers to them, are)"
        )
    return Parameter(rest[-1], space if stars else "private", type_name, stars == 1, const, kind)
