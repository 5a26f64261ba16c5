"""Does a rule in Python stay within what a device carries out? Tests are put into its file.

Python's whole numbers have no end, those of a device have 64 bits. A rule that leaves them has one
result in the reference and another on a device, and nothing shows it if both happen to lead to the
same choice. So every result is tested: an operation, a call, a value of a list. And a loop may
never end: the rounds of all loops of a call are counted, here as on a device (`Writer.round`).
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

LEAST, MOST = -(2**63), 2**63 - 1

MOST_ROUNDS = 100_000
"""Rounds of all loops of a call, after which a device ends it and the reference raises an error."""


class _Rounds(threading.local):
    left = float("inf")  # outside of calls, as when the file is imported, there may be any number


_rounds = _Rounds()


class TooManyRounds(Exception):
    """The loops of a call have more than `MOST_ROUNDS` rounds."""


@contextmanager
def bounded_rounds() -> Iterator[None]:
    """Raise TooManyRounds at the first round beyond `MOST_ROUNDS` of what is carried out inside."""
    _rounds.left = MOST_ROUNDS
    try:
        yield
    finally:
        _rounds.left = _Rounds.left


def another_round() -> bool:
    """Count a round of a loop."""
    _rounds.left -= 1
    if _rounds.left < 0:
        raise TooManyRounds
    return True


def count_rounds(values: Iterable[Any]) -> Iterable[Any]:
    """Return what a function of Python goes through; if that is a range, its rounds are counted."""
    return (i for i in values if another_round()) if type(values) is range else values


def within_64_bits(value: Any) -> Any:
    """Return a value; raise OverflowError if it is a whole number of more than 64 bits."""
    if type(value) is int and not LEAST <= value <= MOST:
        raise OverflowError(f"a whole number of {value.bit_length()} bits; a device has 64")
    return value


TESTS = {f"__{one.__name__}__": one for one in (within_64_bits, another_round, count_rounds)}
"""The tests by the names that they have in a file into which they are put."""

COUNTED = f"__{another_round.__name__}__"
"""Name in a file whose rounds are counted."""

_OF_RANGES = {"sum", "min", "max", "any", "all"}


def tested(text: str, path: str) -> ast.Module:
    """Return the tree of a file with tests of every result and every round of a loop."""
    tree: ast.Module = _Tests().visit(ast.parse(text, path))
    return ast.fix_missing_locations(tree)


def _call(test: Any, at: ast.AST, *arguments: ast.expr) -> ast.Call:
    name = ast.copy_location(ast.Name(f"__{test.__name__}__", ast.Load()), at)
    return ast.copy_location(ast.Call(name, list(arguments), []), at)


class _Tests(ast.NodeTransformer):
    def _tested(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        return _call(within_64_bits, node, node)

    visit_BinOp = visit_UnaryOp = _tested

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Test the result; count the rounds of a function that goes through a range."""
        named = isinstance(node.func, ast.Name) and node.func.id in _OF_RANGES
        if named and len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
            made = self.visit(node.args[0])
            node.args = [_call(count_rounds, made, made)]
            node.keywords = [self.visit(one) for one in node.keywords]
            return _call(within_64_bits, node, node)
        return self._tested(node)

    def _loop(self, node: ast.For | ast.While) -> ast.stmt:
        self.generic_visit(node)
        count = ast.copy_location(ast.Expr(_call(another_round, node)), node)
        node.body.insert(0, count)
        return node

    visit_For = visit_While = _loop

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        """Count the rounds of a comprehension by a condition that always holds."""
        self.generic_visit(node)
        node.ifs.insert(0, _call(another_round, node.target))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Test a value that is read; one that is written is tested before or when it is read."""
        if isinstance(node.ctx, ast.Load):
            return self._tested(node)
        self.generic_visit(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Write ``x += y`` as ``x = x + y`` if x is a name, so that the result can be tested."""
        if not isinstance(node.target, ast.Name):
            self.generic_visit(node)
            return node
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(before, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], self._tested(value)), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Leave annotations as they are."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def _as_it_is(self, node: ast.pattern) -> ast.pattern:
        return node

    visit_MatchValue = visit_MatchMapping = _as_it_is

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """Test what a function carries out, and nothing in its signature."""
        node.body = [self.visit(one) for one in node.body]
        return node
