"""Which arrays does a kernel read or write: which of the pointers that it is handed are used?

A kernel passes its many arrays on to functions, most of which use only a few. A parameter
counts as used by a function unless all that happens to it is that it is an argument of a call whose
function does not use it.
"""

from __future__ import annotations

from collections.abc import Mapping

from societies.kerneltext.source import AmalgamatedText
from societies.localmem.clang import Kind, ParsedFunction, SyntaxNode, TranslationUnit
from societies.localmem.preprocess import preprocess


def arrays_used(
    source: AmalgamatedText, predefined: Mapping[str, str | None], kernels: set[str]
) -> dict[str, frozenset[str]]:
    """Return the names of the parameters that each of these kernels uses.

    ``source`` and ``predefined`` are those of `societies.localmem.plan`.
    """
    unit = TranslationUnit(preprocess(source, predefined))
    known: dict[str, frozenset[int]] = {}
    return {
        function.name: frozenset(
            function.parameters[place].name for place in _used(unit, function, known)
        )
        for function in unit.functions.values()
        if function.is_kernel and function.definition is not None and function.name in kernels
    }


def _used(
    unit: TranslationUnit, function: ParsedFunction, known: dict[str, frozenset[int]]
) -> frozenset[int]:
    """Return the places of the parameters that a function uses; OpenCL has no recursion."""
    if function.definition is None:
        return frozenset(range(len(function.declarations[0].type.argument_types())))
    if function.usr not in known:
        places = {one.variable: place for place, one in enumerate(function.parameters)}
        used: set[int] = set()
        _collect(unit, function.body, places, used, known)
        known[function.usr] = frozenset(used)
    return known[function.usr]


def _collect(
    unit: TranslationUnit,
    node: SyntaxNode,
    places: Mapping[int, int],
    used: set[int],
    known: dict[str, frozenset[int]],
) -> None:
    """Add the parameters that this part of a function uses."""
    if node.kind is Kind.DECL_REF_EXPR:
        if node.variable in places:
            used.add(places[node.variable])
        return
    callee = unit.function(node) if node.kind is Kind.CALL_EXPR else None
    if callee is None:
        for child in node.children:
            _collect(unit, child, places, used, known)
        return
    of_callee = _used(unit, callee, known)
    for place, argument in enumerate(node.children[1:]):
        if place in of_callee or _name(argument) is None:
            _collect(unit, argument, places, used, known)


def _name(node: SyntaxNode) -> SyntaxNode | None:
    """Return the name that an argument is, None if it is more than that."""
    while node.kind is Kind.UNEXPOSED_EXPR and len(node.children) == 1:
        node = node.children[0]
    return node if node.kind is Kind.DECL_REF_EXPR else None
