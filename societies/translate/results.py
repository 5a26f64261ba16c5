"""What do functions return? Numbers, tuples and lists; None where nothing is returned."""

from __future__ import annotations

import ast

from societies.translate import storing
from societies.translate.function import Function
from societies.translate.messages import WRITE_REAL
from societies.translate.values import (
    BOOL,
    CALLED,
    CTYPES,
    INT,
    MAYBE,
    NOTHING,
    REAL,
    Known,
    List,
    Value,
    bare,
    common_kind,
)


def returns_number(f: Function, node: ast.expr | None, at: ast.AST) -> None:
    """Translate ``return`` in a function of the module."""
    value: Value = Known(None) if node is None else f.expression(node)
    result = f.instance.result
    if isinstance(value, Known) and value.value is None and f.fact("kind", "return") is None:
        if result is None:
            f.emit("return;")
            f.nothing = True
            return
        f.learn(("kind", "return"), MAYBE)
    if isinstance(value, List):
        if result is not None and not isinstance(result, List):
            f.error(at, "returns a list here and a number elsewhere", "Return one kind of value.")
        storing.returned(f, value, at)
        return
    if isinstance(value, tuple):
        numbers = [f.number(one, at) for one in value]
        kinds = tuple(one.kind for one in numbers)
        if result is not None and result != kinds:
            f.error(at, "returns a tuple of other kinds than elsewhere", WRITE_REAL)
        f.instance.result = kinds
        made = structure(f, kinds)
        f.emit(f"return ({made}){{{', '.join(bare(one.text) for one in numbers)}}};")
        return
    number = f.number(value, at)
    kind = f.fact("kind", "return") or number.kind
    if isinstance(result, str) and result != number.kind:
        both = common_kind(result, number.kind)
        if both is None:
            what = f"returns {CALLED[number.kind]} here and {CALLED[result]} elsewhere"
            f.error(at, what, "Return one kind of number everywhere: write 0.0 instead of 0.")
        kind = both
        if kind != result:
            f.learn(("kind", "return"), kind)
    elif result is not None and not isinstance(result, str):
        f.error(at, "returns a number here and something else elsewhere")
    if kind == MAYBE and number.kind == REAL:
        f.error(at, "returns None elsewhere, and a real number here",
                "Return a truth value and a number: return True, x.")  # fmt: skip
    if f.nothing and kind != MAYBE:
        f.learn(("kind", "return"), MAYBE)
    f.instance.result = kind
    f.emit(f"return {bare(number.text)};")


def end_of_function(f: Function) -> None:
    """End a function whose last statement may be reached: it returns None."""
    if f.frame.assigned is None or f.instance.result is None:
        return
    result = f.instance.result
    if result in (INT, BOOL):
        f.learn(("kind", "return"), MAYBE)
    if result != MAYBE:
        f.error(f.frame.node, "the function ends without a result on some way through it",
                "Return a value at its end.")  # fmt: skip
    f.emit(f"return {NOTHING.text};")


def structure(f: Function, kinds: tuple[str, ...]) -> str:
    """Return the type in C of a tuple of numbers."""
    name = "tuple_of_" + "_".join(kind.replace("?", "") for kind in kinds)
    members = " ".join(f"{CTYPES[kind]} _{i};" for i, kind in enumerate(kinds))
    f.unit.structures[name] = f"typedef struct {{ {members} }} {name};"
    return name
