"""What belongs to one function of Python, and to one function of C made from it?"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from societies.translate.source import SourceFile
from societies.translate.values import (
    List,
    Value,
)

Definition = ast.FunctionDef | ast.Lambda


class CLine(NamedTuple):
    """A line of C, and the line of Python that it belongs to."""

    text: str
    file: str
    number: int


class Access(NamedTuple):
    """An access to a field, for the check of races and of two names for one list.

    ``own`` is the distance of the index from the entry of the work-item; None: it may be any index.
    """

    field: str
    what: str  # "read", "write", "alias" or "replace"
    own: int | None
    file: SourceFile
    node: ast.AST

    @property
    def line(self) -> int:
        """Its line in the file."""
        return getattr(self.node, "lineno", 0)


class Again(Exception):
    """Something was learnt of a name, so its function has to be translated again."""

    def __init__(self, facts: dict[Any, Any]) -> None:
        super().__init__()
        self.facts = facts


@dataclass(eq=False)
class Namespace:
    """The names of one function of Python.

    Attributes
    ----------
    scope : what each name stands for
    bindings : how often each name is assigned in the text
    assigned : names that certainly have a value; None: the place is never reached
    outer : function and frame in which this one is defined, whose names it may read
    hidden : what each name stood for outside of a comprehension or a lambda of which it now is a
        variable, from the outermost; None: nothing
    """

    node: Definition
    file: SourceFile
    names: dict[str, Any]
    scope: dict[str, Value]
    bindings: Counter[str]
    outer: tuple[Any, Namespace] | None = None
    assigned: set[str] | None = field(default_factory=set)
    hidden: dict[str, list[tuple[ast.AST, Value | None]]] = field(default_factory=dict)

    def hide(self, name: str, node: ast.AST, value: Value) -> None:
        """Let a name stand for a value inside of a comprehension or a lambda."""
        assigned = self.assigned or set()
        before = self.scope.get(name) if name in assigned else None
        self.hidden = {**self.hidden, name: [*self.hidden.get(name, []), (node, before)]}
        self.scope[name], self.assigned = value, {*assigned, name}

    def seen_by(self, name: str, reader: ast.AST) -> Value | None:
        """Return what a name stands for in a function that is defined in this one."""
        found = self.scope.get(name) if self.assigned is None or name in self.assigned else None
        for node, before in reversed(self.hidden.get(name, [])):
            if any(one is reader for one in ast.walk(node)):
                break
            found = before
        return found


@dataclass(eq=False)
class Instance:
    """A function in C: a function of Python for one kind of arguments.

    Attributes
    ----------
    parameters, uses : declarations of its own parameters, and of those passed on, by name
    captures : variables of functions around that it reads, and that become parameters; each with
        the function that names it
    result : kind of its number, kinds of its tuple, its list, or None
    words : entries of scratch memory, of 8 bytes, that its own lists need
    calls : functions that it calls
    """

    name: str
    number: int
    head: str = ""
    lines: list[CLine] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    uses: dict[str, str] = field(default_factory=dict)
    captures: list[tuple[Namespace, str, ast.AST]] = field(default_factory=list)
    result: str | tuple[str, ...] | List | None = None
    words: int = 0
    accesses: list[Access] = field(default_factory=list)
    calls: list[Instance] = field(default_factory=list)


def bindings_of(node: Definition) -> Counter[str]:
    """Count how often each name is assigned in a function; inner ones have names of their own."""
    counts: Counter[str] = Counter()

    def visit(one: ast.AST) -> None:
        if one is not node and isinstance(one, ast.FunctionDef):
            counts[one.name] += 1
            return
        if one is not node and isinstance(one, ast.Lambda | ast.ListComp | ast.GeneratorExp):
            return
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            counts[one.id] += 1
        for child in ast.iter_child_nodes(one):
            visit(child)

    visit(node)
    return counts
