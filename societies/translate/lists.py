"""Where do lists lie in memory, how are entries read, and what does assigning one do?"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import replace

from societies.config.problems import suggestion
from societies.translate.declared import keys_of
from societies.translate.function import Function
from societies.translate.messages import WRITE_REAL
from societies.translate.values import (
    BOOL,
    CALLED,
    FIELDS,
    INT,
    LISTED,
    MAYBE,
    NAME,
    NONE,
    READ,
    REAL,
    WORD,
    List,
    ListColumn,
    Number,
    Value,
    bare,
    parts_of,
    wide,
)

LARGEST_LIST = 2**28
"""Largest number of entries of a list."""


# -------------------------------------------------------------------- memory


def new(
    f: Function,
    name: str,
    kinds: Sequence[str],
    most: int,
    *,
    inner: int = 0,
    bounded: bool = False,
) -> List:
    """Make room for a list; its length is stored in a variable.

    Parameters
    ----------
    kinds : of the numbers of an entry
    most : largest number of entries
    inner : largest number of entries of each of its rows, of a list of lists
    """
    if most > LARGEST_LIST:
        f.error(None, f"a list of up to {most:,} entries", "Make its bound smaller.")
    c = f.cname(name or "list")
    size = max(most, 1) * max(inner, 1)
    space = "private" if size <= f.unit.private else "scratch"
    columns = []
    for i, kind in enumerate(kinds):
        pointer = c if i == 0 else f.cname(f"{c}_{i}")
        columns.append(ListColumn(pointer, LISTED[kind], kind))
        _room(f, space, LISTED[kind], pointer, size)
    lengths = ""
    if inner:
        lengths = f.cname(f"{c}_lengths")
        _room(f, space, "long", lengths, max(most, 1))
    n = f.cname(f"{c}_n")
    f.declared[n] = "long"
    dims = (max(most, 1), inner) if inner else ()
    return List(
        tuple(columns), space, n, most, n, dims=dims, lengths=lengths, bounded=bounded,
        fresh=True, local=True,
    )  # fmt: skip


def _room(f: Function, space: str, ctype: str, pointer: str, size: int) -> None:
    if space == "private":
        f.declared[f"{pointer}[{size}]"] = ctype
        return
    f.use("scratch", "__global long *scratch")
    f.use("stride", "const size_t stride")
    made = f.instance
    cast = "" if ctype == "long" else f"(__global {ctype} *)"
    place = f"{cast}(scratch + L(§{made.number}:{made.words}§))"
    f.declared[f"*const {pointer} = {place}"] = f"__global {ctype}"
    made.words += size


def flat(where: List, i: str = "0") -> str:
    """Return the position of an entry; ``i`` is an index into the first dimension that is left."""
    width = math.prod(where.dims[1:])
    inner = i if width == 1 else f"({i}) * {width}"
    if where.base:
        inner = where.base if inner in ("0", f"(0) * {width}") else f"{where.base} + {inner}"
    return f"L({inner})" if where.space == "scratch" else inner


def at(where: List, i: str, column: int = 0) -> str:
    """Return the text of a number of an entry, as something that can be assigned."""
    return f"{where.columns[column].pointer}[{flat(where, i)}]"


def get(f: Function, where: List, i: str, own: int | None = None) -> Value:
    """Return an entry by its index, which is within the list."""
    if where.rows:
        width = math.prod(where.dims[1:])
        base = f"{where.base} + ({i}) * {width}" if where.base else f"({i}) * {width}"
        length, counter = str(where.dims[1]), ""
        if where.lengths:
            inner = f"L({i})" if where.space == "scratch" else i
            length = counter = f"{where.lengths}[{inner}]"
        return replace(
            where, base=base, dims=where.dims[1:], length=length, counter=counter, lengths="",
            most=where.dims[1], own=where.own if own is None else own, fresh=False, local=False,
        )  # fmt: skip
    numbers = tuple(loaded(where, i, k) for k in range(len(where.columns)))
    return numbers if where.pairs else numbers[0]


def loaded(where: List, i: str, k: int) -> Number:
    """Return a number of an entry."""
    column, text = where.columns[k], at(where, i, k)
    if column.kind == INT and column.ctype != "long":
        text = f"(long){text}"
    if column.kind == BOOL:
        text = f"(int){text}"
    bounds = (where.low, where.high) if column.kind == INT else (None, None)
    return Number(text, column.kind, READ, *bounds)


def position(f: Function, i: Value, node: ast.AST) -> Number:
    """Return the number of an index as written: x[i][k] has two of them, and x[i, k] a tuple."""
    if isinstance(i, tuple):
        f.error(node, "two indices of a list", "Write x[i][k].")
    return f.number(i, node)


def index(f: Function, where: List, i: Number, node: ast.AST) -> str:
    """Return the text of an index of Python, which may be negative."""
    i = f.whole(i, node, "an index is {}", "Write int(...).")
    inside = i.positive and i.high is not None
    if inside and where.length.isdigit() and i.high < int(where.length):  # type: ignore[operator]
        return bare(i.text)
    if f.unit.checked:
        return f"checked_index({bare(wide(i))}, {where.length}, {f.site(node, 'an index is beyond the list')})"  # noqa: E501
    if i.positive:
        return bare(i.text)
    if i.literal:
        return f"{where.length} - {-int(i.known or 0)}"
    return f"wrapped({bare(wide(i))}, {where.length})"


def entry(f: Function, where: List, i: Number, node: ast.AST) -> Value:
    """Return an entry of a list by an index of Python."""
    own = where.own
    if where.field:
        first = len(where.dims) == len(f.unit.declared.fields[where.field].dims)
        own = i.offset if first else where.own
        if not where.rows:
            f.access(where.field, "read", own, node)
    text = index(f, where, i, node)
    if (where.rows and not text.isidentifier() and not text.isdigit()) or (
        where.rows and i.life == NAME
    ):
        text = f.constant(Number(text, INT)).text
    return get(f, where, text, own)


# -------------------------------------------------------------------- fields


def field_list(f: Function, name: str, node: ast.AST) -> List:
    """Return a field of the society; one without dimensions is a list of one number."""
    declared = f.unit.declared
    if name in declared.events:
        f.error(
            node, f"'{name}' is a list of events", f"Write society.{name}.append(...).", wrong=True
        )
    if name not in declared.fields:
        known = [one for one in declared.fields if one not in declared.hidden]
        near = suggestion(name, [*known, *declared.events])
        hint = f"Declared are {', '.join(known)}." if known else "The model declares no field."
        if name in keys_of(declared.settings):
            near, hint = "", f"It is a key of the configuration: config.{name}."
        if name in declared.series:
            near, hint = (
                "",
                f"It is a series: {declared.copies}.series = {{...}} assigns all of them.",
            )
        f.error(node, f"the {declared.copies} has no field '{name}'{near}", hint, wrong=True)
    one = declared.fields[name]
    if one.dtype not in FIELDS:
        f.error(node, f"the field '{name}' is {one.dtype}", "Use whole numbers or float64.")
    ctype, kind, low, high = FIELDS[one.dtype]
    dims = tuple(declared.lengths[dim] for dim in one.dims)
    pointer = f.use(f"state_{name}", f"__global {ctype} *state_{name}")
    length = str(dims[0]) if dims else "1"
    column = ListColumn(pointer, ctype, kind)
    return List((column,), "field", length, dims[0] if dims else 1, dims=dims, field=name,
                low=low, high=high)  # fmt: skip


def scalar_of(f: Function, where: List, node: ast.AST) -> Number:
    """Return the number of a field without dimensions."""
    f.access(where.field, "read", None, node)
    return loaded(where, "0", 0)


# -------------------------------------------------------------------- entries


def stored(f: Function, where: List, k: int, value: Number, node: ast.AST) -> str:
    """Return the text of a number as an entry of a list, or raise the error that it is none."""
    kind, ctype = where.columns[k].kind, where.columns[k].ctype
    what = f"the field '{where.field}'" if where.field else "the list"
    if kind == REAL and value.kind != REAL:
        f.error(node, f"{what} has real numbers and gets {CALLED[value.kind]}", WRITE_REAL)
    if kind == WORD or value.kind == WORD:
        if kind != value.kind:
            hint = "Declare the field as uint64." if kind != WORD else "Write rng.pack()."
            f.error(node, f"{what} gets {CALLED[value.kind]}", hint)
        return value.text
    if kind != REAL and value.kind == REAL:
        hint = "Write int(...), which cuts, or round(...)."
        f.error(node, f"{what} has whole numbers and gets a real one", hint)
    if value.kind in (MAYBE, NONE) and kind != MAYBE:
        hint = "Write int(...) if it is a number here; store -1, or begin with [None] * n, if not."
        if value.kind == NONE:
            hint = "A function without return gives None; store -1, or begin with [None] * n."
        f.error(node, f"{what} has whole numbers and gets {CALLED[value.kind]}", hint)
    if kind == BOOL and value.kind != BOOL:
        hint = "Begin with [0] * n, or write bool(...)."
        f.error(node, f"{what} has truth values and gets {CALLED[value.kind]}", hint)
    text = wide(value) if kind in (INT, MAYBE) and value.kind == BOOL else value.text
    if f.unit.checked and kind == INT and where.field and where.low is not None:
        inside = value.low is not None and value.high is not None
        if not (inside and where.low <= value.low and value.high <= where.high):  # type: ignore
            what = f"the number does not fit the field '{where.field}'"
            low, high = f"{where.low}L", f"{where.high}L"
            text = f"checked_within({bare(text)}, {low}, {high}, {f.site(node, what)})"
    return bare(text) if ctype in ("long", "real") else f"({ctype}){text}"


def texts(f: Function, where: List, value: Value, node: ast.AST) -> list[str]:
    """Return the texts of the numbers of an entry."""
    parts = parts_of(value)
    if len(parts) != len(where.columns):
        many = "one number" if len(where.columns) == 1 else f"{len(where.columns)} numbers"
        hint = "" if len(where.columns) > 1 else "Name the part: x[0]."
        f.error(node, f"the entries of the list have {many}, and this has {len(parts)}", hint)
    return [stored(f, where, k, f.number(one, node), node) for k, one in enumerate(parts)]


def move(f: Function, source: List, i: str, target: List, k: str) -> None:
    """Copy entry i of a list to entry k of another one."""
    for c in range(len(source.columns)):
        f.emit(f"{at(target, k, c)} = {at(source, i, c)};")


def copy(f: Function, source: List, target: List, length: str = "") -> None:
    """Copy all entries of a list into one that has room for them."""
    with f.loop(length or source.length) as k:
        if source.rows:
            inner, outer = get(f, source, k), get(f, target, k)
            assert isinstance(inner, List) and isinstance(outer, List)
            copy(f, inner, outer)
        else:
            move(f, source, k, target, k)
    if target.counter:
        f.emit(f"{target.counter} = {source.length};")


def copied(f: Function, source: List, name: str = "") -> List:
    """Return a new list with the entries of another one."""
    inner = source.dims[1] if source.rows else 0
    if len(source.dims) > 2:
        f.error(None, "a list of three dimensions is copied", "Copy its rows.")
    made = new(f, name, source.kinds, source.most, inner=inner)
    if source.rows and not source.lengths:  # a field, whose rows have a fixed length
        with f.loop(source.length) as k:
            row = get(f, made, k)
            assert isinstance(row, List)
            f.emit(f"{row.counter} = {inner};")
    copy(f, source, made)
    return made
