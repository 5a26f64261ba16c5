"""Does a rule in Python stay within the whole numbers that a device has?

Python's whole numbers have no end, those of a device have 64 bits. A rule that leaves them has one
result in the reference and another on a device, and nothing shows it if both happen to lead to the
same choice. So the file of a rule is compiled with a test of every result: an operation, a call, a
value of a list.
"""

from __future__ import annotations

import ast
from typing import Any

LEAST, MOST = -(2**63), 2**63 - 1
TEST = "__within_64_bits__"
"""Name of the test in a module that was compiled with it."""


def within_64_bits(value: Any) -> Any:
    """Return a value; raise OverflowError if it is a whole number of more than 64 bits."""
    if type(value) is int and not LEAST <= value <= MOST:
        raise OverflowError(f"a whole number of {value.bit_length()} bits; a device has 64")
    return value


def tested(text: str, path: str) -> ast.Module:
    """Return the tree of a file, in which every result passes through the test."""
    tree: ast.Module = _Tests().visit(ast.parse(text, path))
    return ast.fix_missing_locations(tree)


class _Tests(ast.NodeTransformer):
    def _tested(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        name = ast.Name(TEST, ast.Load())
        return ast.copy_location(ast.Call(name, [node], []), node)

    visit_BinOp = visit_UnaryOp = visit_Call = _tested

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

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.pattern:
        """Leave patterns as they are."""
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.pattern:
        """Leave patterns as they are."""
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """Test what a function carries out, and nothing in its signature."""
        node.body = [self.visit(one) for one in node.body]
        return node
