"""How is the text of one function in C written: lines, blocks, names and checks?"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from societies.translate.frames import CLine, Instance, Namespace
from societies.translate.names import is_reserved
from societies.translate.tests_of_rules import COUNTED
from societies.translate.values import CTYPES, FIXED, Number


class Writer:
    """Writes the text of a function."""

    def __init__(self, unit: Any, frame: Namespace, instance: Instance) -> None:
        self.unit, self.frame, self.instance = unit, frame, instance
        self.out: list[CLine] = []
        self.declared: dict[str, str] = {}
        self.indent = 1
        self.shielded = 0  # number of `with` blocks around this line; a jump must not leave them
        self.cnames: Counter[str] = Counter()
        self.temporaries = 0
        self.breaks: list[set[str]] = []  # names that have values at each break of the loop
        self.now: ast.AST = frame.node

    def emit(self, text: str) -> None:
        """Add a line of C."""
        number = getattr(self.now, "lineno", self.frame.node.lineno)
        self.out.append(CLine("    " * self.indent + text, self.frame.file.name, number))

    def round(self) -> None:
        """Count a round of a loop that Python counts too, and end the loop after the last one."""
        most = self.unit.most_rounds
        if most and COUNTED in self.frame.names:
            self.emit(f"if (++*{self.use('steps', 'long *steps')} > {most}) break;")

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Emit a block around the lines that are emitted inside."""
        self.emit(f"{head} {{".lstrip())
        self.indent += 1
        yield
        self.indent -= 1
        self.emit(tail)

    @contextmanager
    def loop(self, end: str, *, to: str = "") -> Iterator[str]:
        """Emit a loop of a new counter from 0 up to ``end``, and yield the counter's name in C."""
        k = to or self.cname("k")
        with self.block(f"for (long {k} = 0; {k} < {end}; ++{k})"):
            yield k

    @contextmanager
    def body(self) -> Iterator[list[set[str]]]:
        """Collect the names that have values at each ``break`` of a loop's body."""
        shielded, self.shielded = self.shielded, 0
        ends, self.breaks = self.breaks, []
        yield self.breaks
        self.shielded, self.breaks = shielded, ends

    @contextmanager
    def aside(self) -> Iterator[list[CLine]]:
        """Collect the lines that are emitted inside, instead of adding them."""
        before, self.out = self.out, []
        lines = self.out
        try:
            yield lines
        finally:
            self.out = before

    def splice(self, lines: Sequence[CLine], deeper: int = 0) -> None:
        """Add collected lines."""
        pad = "    " * deeper
        self.out += [line._replace(text=pad + line.text) for line in lines]

    def cname(self, name: str) -> str:
        """Return a name in C that nothing else has in this function."""
        base = name if name.isascii() else "name"
        if is_reserved(base) or base in self.unit.reserved:
            base = f"own_{base.strip('_') or 'value'}"
        made, count = base, 1
        while made in self.cnames:
            count += 1
            made = f"{base}_{count}"
        self.cnames[made] += 1
        return made

    def fresh(self) -> str:
        """Return a name for a number that has none in Python."""
        self.temporaries += 1
        return self.cname(f"t{self.temporaries}")

    def constant(self, number: Number) -> Number:
        """Return a number as a constant that nothing can change."""
        if number.life == FIXED:
            return number
        name = self.fresh()
        self.emit(f"const {CTYPES[number.kind]} {name} = {number.text};")
        return replace(number, text=name, life=FIXED, literal=False)

    def use(self, name: str, declaration: str) -> str:
        """Return the name of a parameter that the kernel hands to all functions that need it."""
        self.instance.uses[name] = declaration
        return name

    def at(self, node: ast.AST | None) -> ast.AST:
        """Return a node that has a place in the file: itself, or the statement that is written."""
        return node if node is not None and hasattr(node, "lineno") else self.now

    def site(self, node: ast.AST, what: str) -> str:
        """Return the arguments of a check: number of the place, and where faults are noted."""
        line = getattr(self.at(node), "lineno", 0)
        number = self.unit.site(self.frame.file, line, what)
        return f"{number}, {self.use('fault', '__global int *fault')}"

    def require(self, condition: str, node: ast.AST, what: str) -> None:
        """In a checked build, note a fault unless a condition holds."""
        if self.unit.checked:
            self.emit(f"if (!({condition})) fail({self.site(node, what)});")
