"""What do constant lists of the configuration and of modules become?"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from societies.config.model import Section
from societies.translate.function import Function
from societies.translate.messages import too_large
from societies.translate.names import in_c
from societies.translate.values import (
    CALLED,
    INT,
    LEAST,
    MOST,
    NONE,
    REAL,
    EventList,
    Known,
    List,
    ListColumn,
    Number,
    Value,
    literal,
)


def as_list(f: Function, value: Value, node: ast.AST, reason: str, hint: str = "") -> List:
    """Return a value that is a list, or a constant one; raise an error if it is neither."""
    if isinstance(value, Known) and isinstance(value.value, tuple | list | range):
        return table(f, value.value, node)
    if isinstance(value, EventList):
        f.error(node, "a list of events cannot be read", "What was appended is in the file.")
    if isinstance(value, Number) and isinstance(node, ast.Subscript):
        hint = "A function without return, such as .sort(), gives None."
        hint = hint if value.kind == NONE else "Leave the index out."
        f.error(node, f"{CALLED[value.kind]} has no entries", hint)
    if not isinstance(value, List):
        f.error(node, reason, hint)
    return value


def table(f: Function, values: Any, node: ast.AST, name: str = "") -> List:
    """Return a constant list: of the configuration, or of a module."""
    rows = list(values)
    if not rows:
        f.error(node, "a constant list without entries", "Leave the loop out.")
    first = rows[0]
    sections = isinstance(first, Section)
    if sections:
        rows = [tuple(getattr(row, n) for n in type(first).model_fields) for row in rows]
    entries = [row if isinstance(row, tuple | list) else (row,) for row in rows]
    width = len(entries[0])
    if any(len(one) != width for one in entries):
        f.error(node, "a constant list with entries of different lengths", "Make them equal.")
    columns, bounds = [], (None, None)
    for i in range(width):
        numbers = [one[i] for one in entries]
        if not all(isinstance(one, int | float) for one in numbers):
            f.error(node, "a constant list of something else than numbers",
                    "Compare words where they are used: config.rule == \"fair\".")  # fmt: skip
        real = any(isinstance(one, float) for one in numbers)
        if real and not all(isinstance(one, float) for one in numbers):
            f.error(node, "a constant list of whole and real numbers", "Write 1.0 instead of 1.")
        beyond = [one for one in numbers if not real and not LEAST < one <= MOST]
        if beyond:
            f.error(node, *too_large(beyond[0]))
        if not real and width == 1:
            bounds = (int(min(numbers)), int(max(numbers)))  # type: ignore[assignment]
        c = _argument(f, name, i, width, np.array(numbers, "float64" if real else "int64"))
        ctype = "real" if real else "long"
        if not f.unit.pure:
            f.use(c, f"__global const {ctype} *{c}")
        columns.append(ListColumn(c, ctype, REAL if real else INT))
    low, high = bounds
    return List(tuple(columns), "table", str(len(rows)), len(rows), low=low, high=high)


def _argument(f: Function, name: str, i: int, width: int, values: Any) -> str:
    """Return the name of a kernel's argument with these values."""
    base = in_c(f"table_{name or f.unit.pure or 'fixed'}" + (f"_{i}" if width > 1 else ""))
    count, c = 1, base
    while c in f.unit.arguments and not np.array_equal(f.unit.arguments[c], values):
        count += 1
        c = f"{base}_{count}"
    f.unit.arguments[c] = values
    return c


def definitions(arguments: Mapping[str, Any]) -> list[str]:
    """Return the lines that define constant lists, of a text whose kernels are not given them."""
    found = []
    for name, values in arguments.items():
        ctype = "real" if values.dtype.kind == "f" else "long"
        entries = ", ".join(literal(one).text for one in values.tolist())
        for word, constant in (("SOFT_INFINITY", "(1e308 * 10.0)"), ("SOFT_NAN", "(0.0 / 0.0)")):
            entries = entries.replace(word, constant)  # the words are no constants to a compiler
        found.append(f"__constant {ctype} {name}[{len(values)}] = {{{entries}}};")
    return found
