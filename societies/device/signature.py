"""What a device function's parameters are, read from the text of its definition.

A deliberately small reader of C declarations: it knows qualifiers, the built-in types, ``typedef``
and object-like ``#define`` of type names. Functions that macros generate are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from societies.device.argtypes import CType, ctype
from societies.device.source import without_comments
from societies.errors import DeviceError

_IGNORED = frozenset(
    "inline static extern __inline __inline__ restrict __restrict __restrict__ volatile register "
    "OVERLOADABLE".split()
)
_SPACES = {
    f"{prefix}{space}": space
    for prefix in ("", "__")
    for space in ("global", "local", "constant", "private")
}
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_TYPEDEF = re.compile(r"\btypedef\s+([A-Za-z_][\w\s]*?)\s+([A-Za-z_]\w*)\s*;")
_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+([A-Za-z_][\w ]*?)[ \t]*$", re.M
)


class TypeNames:
    """The type names of one text: built-in ones, typedefs and object-like macros."""

    def __init__(self, text: str):
        self.code = without_comments(text)
        self._names: dict[str, set[str]] = {}
        for meaning, name in _TYPEDEF.findall(self.code):
            self._names.setdefault(name, set()).add(" ".join(meaning.split()))
        for name, meaning in _DEFINE.findall(self.code):
            self._names.setdefault(name, set()).add(" ".join(meaning.split()))

    def resolve(self, name: str) -> CType | None:
        """Return the scalar or vector type, or None for anything else (structs, ambiguity)."""
        for _ in range(16):  # a chain of typedefs ends; a circle must too
            found = ctype(name)
            if found is not None:
                return found
            meanings = self._names.get(name, set())
            if len(meanings) != 1:
                kinds = {self.resolve(m) for m in meanings if m != name}
                return kinds.pop() if len(kinds) == 1 else None
            (name,) = meanings
        return None
