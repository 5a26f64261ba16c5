"""Does a phase in plain Python have the same results in every run, engine and resumed file?"""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from societies.translate.messages import NO_SUCH_MODULE, RANDOM, STATEMENTS
from societies.translate.source import definition, reached

_GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)


def require_repeatable(phase: FunctionType) -> None:
    """Raise TranslationError if a phase depends on more than its configuration and society.

    Generators and clocks that all share differ from run to run. Variables of a module have one
    value for all societies, in no checkpoint. A generator that the phase seeds itself is allowed.
    """
    for function in reached([phase]):
        node, file = definition(function)
        known = {**function.__globals__, **_imported(node)}
        for part in ast.walk(node):
            value = _value(part, known)
            if isinstance(part, ast.Global):
                raise file.error(part, *STATEMENTS[ast.Global], wrong=True)
            if isinstance(getattr(value, "__self__", None), _GENERATORS):
                raise file.error(part, *RANDOM, wrong=True)
            if callable(value) and getattr(value, "__module__", "") == "time":
                reason, hint = NO_SUCH_MODULE["time"]
                raise file.error(part, reason.format(name=ast.unparse(part)), hint, wrong=True)


def _imported(function: ast.FunctionDef) -> dict[str, Any]:
    """Return what a function imports itself, by name, of modules that are imported already."""
    found: dict[str, Any] = {}
    for part in ast.walk(function):
        if isinstance(part, ast.Import):
            for one in part.names:
                name = one.name if one.asname else one.name.partition(".")[0]
                found[one.asname or name] = sys.modules.get(name)
        elif isinstance(part, ast.ImportFrom):
            module = sys.modules.get(str(part.module))
            found |= {one.asname or one.name: getattr(module, one.name, None) for one in part.names}
    return found


def _value(node: ast.AST, known: Mapping[str, Any]) -> Any:
    """Return what a name, or an attribute of a module or generator, stands for; None: unknown."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, known)
        if isinstance(owner, (ModuleType, *_GENERATORS)):
            return getattr(owner, node.attr, None)
    return None
