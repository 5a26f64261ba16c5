"""What do names, constants, keys, fields, entries and calls become in C?"""

from __future__ import annotations

import ast
from operator import attrgetter
from types import ModuleType
from typing import Any

from societies.config.model import INITIAL, SHAPE, TABULATED, VALUE, Section
from societies.config.problems import suggestion
from societies.translate import lists, storing
from societies.translate.declared import keys_of
from societies.translate.function import Function, handles, known
from societies.translate.membership import all_entries
from societies.translate.messages import DICTIONARY, WRITE_REAL, too_large
from societies.translate.names import in_c
from societies.translate.tables import as_list, table
from societies.translate.values import (
    CTYPES,
    FIXED,
    INT,
    LEAST,
    MOST,
    REAL,
    WORD,
    EventList,
    Inner,
    Known,
    List,
    Method,
    Number,
    Settings,
    Society,
    Stream,
    Value,
    common_kind,
    literal,
)
from societies.translate.walks import slice_of

CONSTANT = (
    "a constant, or a default of a parameter, cannot be changed",
    "Make one inside the function: x = list(...), or x = Bounded(most).",
)
SERIES = "Write society.series = {...} with all of them; keep a number to be read in a field."


@handles(ast.Constant)
def _constant(f: Function, node: ast.Constant, name: str) -> Value:
    value = node.value
    if isinstance(value, bool | str) or value is None:
        return Known(value)
    if isinstance(value, int | float):
        return literal(value)
    f.error(node, f"{value!r} cannot be translated", "Write a whole or a real number.")


@handles(ast.Name)
def _name(f: Function, node: ast.Name, name: str) -> Value:
    return f.lookup(node.id, node)


@handles(ast.Attribute)
def _attribute(f: Function, node: ast.Attribute, name: str) -> Value:
    owner = f.expression(node.value)
    if isinstance(owner, Settings):
        return _setting(f, owner, node)
    if isinstance(owner, Society):
        return _of_society(f, node)
    if isinstance(owner, List | Stream | EventList):
        return Method(owner, node.attr)
    if isinstance(owner, Known) and isinstance(owner.value, ModuleType | type):
        if not hasattr(owner.value, node.attr):
            f.error(node, f"{owner.value.__name__} has no {node.attr}")
        return known(getattr(owner.value, node.attr))
    if isinstance(owner, Known) and isinstance(owner.value, str):
        f.error(node, f"a text has no .{node.attr} in a kernel", "Compare words with ==.")
    if isinstance(owner, Known) and isinstance(owner.value, list | tuple | dict | set):
        if node.attr in ("index", "count", "copy") and hasattr(owner.value, node.attr):
            return Method(as_list(f, owner, node, *CONSTANT), node.attr)
        f.error(node, *CONSTANT)
    hint = ""
    if isinstance(owner, Number) and node.attr in f.unit.declared.fields:
        hint = f"Write society.{node.attr}[{ast.unparse(node.value)}]."
    f.error(node, f"nothing is known of .{node.attr} here", hint)


def _setting(f: Function, owner: Settings, node: ast.Attribute) -> Value:
    """Return a key of the configuration."""
    if not hasattr(owner.value, node.attr):
        keys = keys_of(owner.value)
        near = suggestion(node.attr, keys)
        hint = f"It has {', '.join(keys)}."
        if node.attr in f.unit.declared.fields:
            near, hint = "", f"It is a field: {f.unit.declared.copies}.{node.attr}."
        f.error(node, f"the configuration has no key '{node.attr}'{near}", hint, wrong=True)
    value = getattr(owner.value, node.attr)
    path = f"{owner.path}.{node.attr}" if owner.path else node.attr
    if _differs(f, path, owner, node.attr, value):
        return _varying(f, path, value, owner, node)
    if value is None or isinstance(value, bool | str):
        return Known(value)
    if isinstance(value, int | float):
        kind = REAL if isinstance(value, float) else INT
        if kind == INT and not LEAST < value <= MOST:
            if not 0 <= value < 2**64:
                reason, hint = too_large(int(value))
                f.error(node, f"the key '{path}': {reason}", hint)
            kind = WORD
        if kind == INT and _kind(owner.value, node.attr) == SHAPE:
            return literal(value)
        c = _setting_in_c(f, path)
        f.use(c, f"const {CTYPES[kind]} {c}")
        f.unit.arguments[c] = value
        low, high = _limits(owner.value, node.attr) if kind == INT else (None, None)
        return Number(c, kind, FIXED, low, high, value if kind != WORD else None)
    if isinstance(value, list | tuple):
        if not value:
            f.error(
                node, f"the list '{path}' is empty", "Ask for its length in Python, on the host."
            )
        return table(f, value, node, path)
    if callable(value):
        f.error(node, f"'{node.attr}' is a method of the configuration",
                "Make it a property that returns a number, or a list of numbers.")  # fmt: skip
    return Settings(value, path)


def _setting_in_c(f: Function, path: str) -> str:
    """Return the name in C of a key of the configuration, which no other key has."""
    given: dict[str, str] = f.unit.settings
    base, count = in_c(f"config_{path}"), 1
    name = given.get(path, base)
    while path not in given and name in given.values():
        count += 1
        name = f"{base}__{count}"
    given[path] = name
    return name


def _differs(f: Function, path: str, owner: Settings, name: str, value: Any) -> bool:
    """Return whether a key may have other values in other copies of a launch."""
    others = f.unit.declared.others
    if not others or isinstance(value, Section):
        return False
    if _kind(owner.value, name) in (VALUE, TABULATED, INITIAL):
        return True  # whatever the values are, so that the text is the same
    return any(attrgetter(path)(one) != value for one in others)


def _kind(section: Any, name: str) -> Any:
    """Return the kind of a key: `VALUE`, `SHAPE` and others; None without one."""
    field = getattr(type(section), "model_fields", {}).get(name)
    extra = getattr(field, "json_schema_extra", None)
    return extra.get("kind") if isinstance(extra, dict) else None


def _varying(f: Function, path: str, value: Any, owner: Settings, node: ast.AST) -> Number:
    """Return a key whose value differs between the copies of a launch: an entry of a table."""
    if not isinstance(value, bool | int | float):
        f.error(node, f"the key '{path}' differs between copies and is no number",
                "Declare it with shape(...), as it chooses code.")  # fmt: skip
    columns = f.unit.columns
    if path not in columns:
        columns.append(path)
    f.use("copy", "const size_t copy")
    f.use("value_table", "__global const real *value_table")
    text = f"value_table[copy * §width§ + {columns.index(path)}]"
    low, high = _limits(owner.value, path.rpartition(".")[2])
    if isinstance(value, bool):
        return Number(f"({text} != 0.0)", "bool", FIXED, 0, 1)
    if isinstance(value, int):
        return Number(f"(long){text}", INT, FIXED, low, high)
    return Number(text, REAL, FIXED)


def _limits(section: Any, name: str) -> tuple[int | None, int | None]:
    """Return the limits of a key, which the configuration was checked for."""
    field = getattr(type(section), "model_fields", {}).get(name)
    if not isinstance(section, Section) or field is None:
        return None, None
    low = high = None
    for one in field.metadata:
        for limit, shift in (("ge", 0), ("gt", 1)):
            if isinstance(found := getattr(one, limit, None), int):
                low = found + shift
        for limit, shift in (("le", 0), ("lt", -1)):
            if isinstance(found := getattr(one, limit, None), int):
                high = found + shift
    return low, high


def _of_society(f: Function, node: ast.Attribute) -> Value:
    """Return a field of the society, or its number."""
    declared = f.unit.declared
    if node.attr == "index":
        f.use("copy", "const size_t copy")
        numbers = f"{declared.copies}_numbers"
        f.use(numbers, f"__global const uint *{numbers}")
        return Number(f"(long){numbers}[copy]", INT, FIXED, 0, 2**32 - 1)
    if node.attr in declared.events:
        return EventList(node.attr)
    if node.attr == "series":
        f.error(node, "the series are assigned together, and cannot be read", SERIES)
    made = lists.field_list(f, node.attr, node)
    return made if made.dims else lists.scalar_of(f, made, node)


@handles(ast.Subscript)
def _subscript(f: Function, node: ast.Subscript, name: str) -> Value:
    if isinstance(node.slice, ast.Slice):
        made = as_list(f, f.expression(node.value), node, "only lists have slices")
        all_entries(f, made, node)
        return slice_of(f, made, node, name or "part")
    where, i = f.ordered([node.value, node.slice])
    if isinstance(where, tuple):
        return _of_tuple(f, where, f.number(i, node), node)
    if isinstance(where, Known) and isinstance(where.value, dict):
        return _of_dictionary(f, where.value, i, node)
    if isinstance(where, Settings | Society) and isinstance(i, Known):
        f.error(node, "only lists have entries", f"Write {ast.unparse(node.value)}.{i.value}.")
    hint = "A dictionary is a field or a list, by numbers."
    where = as_list(f, where, node, "only lists have entries", hint)
    return lists.entry(f, where, lists.position(f, i, node), node)


def _of_tuple(f: Function, where: tuple[Value, ...], i: Number, node: ast.Subscript) -> Value:
    """Return a part of a tuple; if the index is worked out, an entry of a list of its parts."""
    if not i.literal or not isinstance(i.known, int):
        if common_kind(*(f.number(one, node).kind for one in where)) is None:
            reason = "a tuple of whole and real numbers, whose index is not written out"
            f.error(node, reason, WRITE_REAL)
        made = storing.filled(f, where, node, "parts")
        return lists.entry(f, made, lists.position(f, i, node), node)
    if not -len(where) <= i.known < len(where):
        f.error(node, f"the tuple has {len(where)} entries", wrong=True)
    return where[i.known]


def _of_dictionary(f: Function, values: dict[Any, Any], i: Value, node: ast.AST) -> Value:
    """Return the value of a constant dictionary for a key that is known."""
    key = i.value if isinstance(i, Known) else getattr(i, "known", None)
    if key not in values:
        hint = "Constant ones can be asked for words of the configuration alone."
        f.error(node, DICTIONARY[0], hint)
    return known(values[key])


@handles(ast.Tuple)
def _tuple(f: Function, node: ast.Tuple, name: str) -> Value:
    return tuple(f.ordered(node.elts))


@handles(ast.List)
def _list(f: Function, node: ast.List, name: str) -> Value:
    return storing.display(f, node, name)


@handles(ast.Lambda)
def _lambda(f: Function, node: ast.Lambda, name: str) -> Value:
    return Inner(node, f, f.frame)
