"""Which quantity does a text such as ``rate - inflation`` name? Variables, numbers, + - * /."""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING, Any

from societies.config.problems import suggestion
from societies.errors import ConfigError
from societies.numbers import DECIMAL, is_finite

if TYPE_CHECKING:
    from collections.abc import Mapping

    import xarray as xr

_SIGNS = {
    ast.Add: (operator.add, "+"),
    ast.Sub: (operator.sub, "-"),
    ast.Mult: (operator.mul, "*"),
    ast.Div: (operator.truediv, "/"),
}


def parsed(text: str) -> ast.expr:
    """Return the tree of an expression.

    Raises ConfigError if it has anything but variables, numbers, ``+ - * /`` and parentheses.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ConfigError(f"'{text[:60]}' is no variable and no expression of variables") from None
    for node in ast.walk(tree):
        known = isinstance(node, ast.Name | ast.BinOp | ast.operator | ast.expr_context)
        # not 1_000 and 0x10, which other values of a document cannot be
        decimal = re.fullmatch(DECIMAL, str(ast.get_source_segment(text.strip(), node)))
        number = decimal and isinstance(node, ast.Constant) and is_finite(node.value)
        if not known and not number and not isinstance(node, ast.UnaryOp | ast.USub):
            raise ConfigError(f"'{text[:60]}': an expression has variables, numbers and + - * /")
        if isinstance(node, ast.BinOp) and type(node.op) not in _SIGNS:
            raise ConfigError(f"'{text[:60]}': an expression has variables, numbers and + - * /")
    if not any(isinstance(node, ast.Name) for node in ast.walk(tree)):
        raise ConfigError(f"'{text[:60]}' names no variable")
    return tree


def variables_in(text: str) -> list[str]:
    """Return the names of the variables in an expression."""
    found = [node.id for node in ast.walk(parsed(text)) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(found))


def quantity(text: str, data: xr.Dataset) -> tuple[xr.DataArray, str]:
    """Return the values of an expression as real numbers, and their unit.

    Raises ConfigError if the data lack a variable.
    """
    for name in variables_in(text):
        if name not in data.data_vars:
            near = suggestion(name, map(str, data.data_vars))
            raise ConfigError(f"there is no variable '{name}'{near}")
    try:
        values, unit = _value(parsed(text), data.data_vars)
    except ArithmeticError as error:  # of numbers alone
        raise ConfigError(f"'{text[:60]}': {error}") from None
    assert unit is not None, "a variable has a unit"
    return values, unit


def _value(node: ast.expr, data: Mapping[Any, Any]) -> tuple[Any, str | None]:
    """Return value and unit of a part of an expression; the unit of a number is None."""
    if isinstance(node, ast.Constant):
        return node.value, None
    if isinstance(node, ast.Name):
        return data[node.id].astype(float), str(data[node.id].attrs.get("units", "1"))
    if isinstance(node, ast.UnaryOp):
        value, unit = _value(node.operand, data)
        return -value, unit
    assert isinstance(node, ast.BinOp)
    (a, of_a), (b, of_b) = (_value(one, data) for one in (node.left, node.right))
    of, sign = _SIGNS[type(node.op)]
    return of(a, b), _unit(of_a, of_b, sign)


def _unit(a: str | None, b: str | None, sign: str) -> str | None:
    if a is None and b is not None and sign == "/":
        a = "1"
    if a is None or b is None:
        return a or b
    if sign in "+-":
        return a if a == b else f"{a}, {b}"
    if b == "1":
        return a
    if a == "1":
        return b if sign == "*" else f"1/{b}"
    return "1" if a == b and sign == "/" else f"{a} {sign} {b}"
