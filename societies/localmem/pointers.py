"""Which private variables of a function may a pointer lead to?

Variables have the numbers that `SyntaxNode.variable` gives them. Where a parameter leads, the
caller knows: it is stood for by the parameter's number, negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from societies.localmem.clang import (
    Kind,
    ParsedFunction,
    SyntaxNode,
    TypeKind,
    is_array,
    is_pointer,
    leads_to_private,
    once,
)
from societies.localmem.flow import initial_value

_LOADS = frozenset({Kind.UNARY_OPERATOR, Kind.ARRAY_SUBSCRIPT_EXPR, Kind.MEMBER_REF_EXPR})

ANYWHERE = 1 << 40
"""Stands for every variable whose address is taken: what a pointer read from memory leads to."""


def escaped_variables(function: ParsedFunction) -> set[int]:
    """Return the variables whose address is taken, and those that callers hand over."""
    escaped = {-n.variable for n in function.parameters if reaches_private(n.type)}
    for node in function.body.walk():
        if node.kind is Kind.UNARY_OPERATOR and node.text.startswith("&"):
            escaped |= _owners(node.children[0], {})
        elif node.kind in (Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR) and is_array(node.type):
            escaped |= _owners(node, {})
    return escaped - {ANYWHERE}


def targets_of(function: ParsedFunction, escaped: Set[int], shared: bool) -> dict[int, set[int]]:
    """Return for each variable the variables that it may lead to (of a parameter: minus itself).

    Pointers whose own address is taken may be changed unseen: they lead `ANYWHERE`.
    """
    targets: dict[int, set[int]] = {}
    parameters = [node.variable for node in function.parameters if reaches_private(node.type)]
    for variable in parameters:
        targets[variable] = {-other for other in parameters} if shared else {-variable}
        if variable in escaped:
            targets[variable].add(ANYWHERE)
    pairs = []
    for node in function.body.walk():
        if node.kind is Kind.VAR_DECL:
            if node.variable in escaped and reaches_private(node.type):
                targets[node.variable] = {ANYWHERE}
            value = initial_value(node)
            if value is not None:
                pairs.append((node.variable, value))
        elif node.kind is Kind.BINARY_OPERATOR and node.between(*node.children) == "=":
            inner = without_parentheses(node.children[0])
            while inner.kind is not Kind.DECL_REF_EXPR and inner.children:
                inner = without_parentheses(inner.children[0])
            if inner.kind is Kind.DECL_REF_EXPR and not is_array(inner.type):
                pairs.append((inner.variable, node.children[1]))
    pairs = [(variable, value) for variable, value in pairs if _may_lead(value)]
    changed = True
    while changed:
        changed = False
        for variable, value in pairs:
            known = targets.setdefault(variable, set())
            found = may_lead_to(value, targets)
            if not found <= known:
                known |= found
                changed = True
    return targets


def _may_lead(value: SyntaxNode) -> bool:
    """Return whether a value may hold the address of something private."""
    return any(
        node.kind is Kind.UNARY_OPERATOR
        or (node.kind is Kind.DECL_REF_EXPR and (is_array(node.type) or is_pointer(node.type)))
        for node in value.walk()
    )


def may_lead_to(value: SyntaxNode, targets: Mapping[int, set[int]]) -> set[int]:
    """Return the variables that the pointers in an expression may lead to, perhaps `ANYWHERE`."""
    if value.kind is Kind.DECL_REF_EXPR:
        found = set(targets.get(value.variable, ()))
        return (
            found | {value.variable} if is_array(value.type) and not is_parameter(value) else found
        )
    if value.kind is Kind.UNARY_OPERATOR and value.text.startswith("&"):
        return _owners(value.children[0], targets)
    if value.kind is Kind.MEMBER_REF_EXPR and is_array(value.type):
        return _owners(value, targets)
    found = set().union(*(may_lead_to(child, targets) for child in value.children))
    loaded = value.kind in _LOADS and (
        value.kind is not Kind.UNARY_OPERATOR or value.text.startswith("*")
    )
    if value.kind is Kind.CALL_EXPR:
        loaded = any(holds_pointers(argument.type) for argument in value.children[1:])
    if loaded and reaches_private(value.type):
        found.add(ANYWHERE)
    return found


def _owners(named: SyntaxNode, targets: Mapping[int, set[int]]) -> set[int]:
    """Return the variables that an expression may refer to, as a whole or in part."""
    named = without_parentheses(named)
    if named.kind is Kind.DECL_REF_EXPR:
        return {named.variable}
    if named.kind in (Kind.ARRAY_SUBSCRIPT_EXPR, Kind.UNARY_OPERATOR) or is_arrow(named):
        return may_lead_to(named.children[0], targets)
    return set().union(*(_owners(child, targets) for child in named.children))


def is_arrow(node: SyntaxNode) -> bool:
    """Return whether it is ``pointer->member``."""
    return (
        node.kind is Kind.MEMBER_REF_EXPR
        and bool(node.children)
        and is_pointer(node.children[0].type)
    )


def without_parentheses(node: SyntaxNode) -> SyntaxNode:
    """Return an expression without the parentheses around it."""
    while node.kind is Kind.PAREN_EXPR and node.children:
        node = node.children[0]
    return node


def pointer_type(node: SyntaxNode) -> object:
    """Return the type of a pointer or array before it became a plain pointer."""
    kind = node.type
    if not is_pointer(kind) and not is_array(kind) and node.children:
        return pointer_type(node.children[0])
    return kind


def is_parameter(node: SyntaxNode) -> bool:
    """Return whether it names a parameter; one that is written as an array is a pointer."""
    return node.declared is not None and node.declared.kind is Kind.PARM_DECL


@once
def reaches_private(kind: Any) -> bool:
    """Return whether a value of this type leads to private memory: a pointer, or what holds one."""
    if is_pointer(kind) or is_array(kind):
        return leads_to_private(kind) or holds_pointers(kind)
    return holds_pointers(kind)


@once
def holds_pointers(kind: Any) -> bool:
    """Return whether pointers to private memory may be read from what is at hand with a value."""
    if is_pointer(kind):
        return _is_reaching(kind.get_pointee().get_canonical())
    if is_array(kind):
        return _is_reaching(kind.element_type.get_canonical())
    return kind.kind is TypeKind.RECORD and _is_reaching(kind)


def _is_reaching(kind: Any) -> bool:
    """Return whether an object of this type has a pointer to private memory in it."""
    if is_pointer(kind):
        return leads_to_private(kind)
    if is_array(kind):
        return _is_reaching(kind.element_type.get_canonical())
    if kind.kind is not TypeKind.RECORD:
        return False
    return any(_is_reaching(part.type.get_canonical()) for part in kind.get_fields())
