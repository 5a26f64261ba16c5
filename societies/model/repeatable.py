"""Does a phase in plain Python have the same results in every run, engine and resumed file?"""

from __future__ import annotations

import ast
import builtins
import datetime
import os
import random
import sys
import uuid
from collections import deque
from collections.abc import Mapping, MutableMapping, MutableSequence, MutableSet
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from societies.translate.messages import NO_SUCH_MODULE, RANDOM, STATEMENTS
from societies.translate.source import definition, reached

_GENERATORS = (random.Random, np.random.RandomState, np.random.Generator, np.random.BitGenerator)
_SEEDED = (*_GENERATORS, np.random.SeedSequence)
_SYSTEM = (os.urandom, uuid.uuid1, uuid.uuid4, os.getpid, id, hash, random.SystemRandom)
"""Functions of which nothing says what they return in the next run."""

_NOW = {"now", "utcnow", "today"}
"""Methods of dates that say what time it is, and words with which NumPy does."""

_METHODS = {name for one in (list, dict, set, deque) for name in dir(one)}
_METHODS -= {name for one in (tuple, frozenset, MappingProxyType) for name in dir(one)}
"""Methods that change what they belong to."""


def require_repeatable(phase: FunctionType) -> None:
    """Raise TranslationError if a phase depends on more than its configuration and society.

    Global random generators, that of the system, and clocks differ from run to run. Variables of a
    module have one value for all societies and are not in checkpoints. A generator that the phase
    seeds itself is allowed.
    """
    for function in reached([phase]):
        node, file = definition(function)
        own = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
        own |= {one.id for one in names if isinstance(one.ctx, ast.Store)}
        known = {**vars(builtins), **function.__globals__}
        known = {name: one for name, one in known.items() if name not in own} | _imported(node)
        for part in ast.walk(node):
            value = _value(part, known)
            if isinstance(part, ast.Global) or _changes(part, known):
                raise file.error(part, *STATEMENTS[ast.Global], wrong=True)
            if isinstance(getattr(value, "__self__", None), _GENERATORS):
                raise file.error(part, *RANDOM, wrong=True)
            called, args = None, list[ast.expr]()
            if isinstance(part, ast.Call):
                called, args = _value(part.func, known), part.args
            if _is_clock(value) or (called is np.datetime64 and _NOW & {*map(_text, args)}):
                reason, hint = NO_SUCH_MODULE["time"]
                said = reason.format(name=ast.unparse(part))
                raise file.error(part, said, hint, wrong=True)
            if any(value is one for one in _SYSTEM) or _module_of(value) == "secrets":
                said = f"{ast.unparse(part)} differs from run to run"
                raise file.error(part, said, RANDOM[1], wrong=True)
            if isinstance(part, ast.Call) and _lacks_seed(part, called):
                said = f"{ast.unparse(part)} has no seed"
                raise file.error(part, said, RANDOM[1], wrong=True)


def _text(node: ast.AST) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _changes(part: ast.AST, known: Mapping[str, Any]) -> bool:
    """Return whether a part of a function changes a list or another object of its module."""
    owner: Any = part
    kinds: tuple[Any, ...] = (object,)
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
        if part.func.attr not in _METHODS:
            return False
        owner, kinds = part.func, (MutableSequence, MutableMapping, MutableSet)
    elif not isinstance(getattr(part, "ctx", None), ast.Store | ast.Del):
        return False
    while isinstance(owner, ast.Subscript | ast.Attribute):
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id in known and isinstance(known[owner.id], kinds)


def _module_of(value: Any) -> Any:
    return getattr(value, "__module__", "") if callable(value) else ""


def _is_clock(value: Any) -> bool:
    """Return whether a function says what time it is."""
    of = getattr(value, "__self__", None)
    dated = isinstance(of, type) and issubclass(of, datetime.date)
    return _module_of(value) == "time" or (dated and value.__name__ in _NOW)


def _lacks_seed(call: ast.Call, made: Any) -> bool:
    """Return whether a call makes a generator that takes its seed from the system."""
    if not (
        made is np.random.default_rng or (isinstance(made, type) and issubclass(made, _SEEDED))
    ):
        return False
    given = [*call.args, *(one.value for one in call.keywords)]
    return all(isinstance(one, ast.Constant) and one.value is None for one in given[:1])


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
        if isinstance(owner, (ModuleType, type, *_GENERATORS)):
            return getattr(owner, node.attr, None)
    return None
