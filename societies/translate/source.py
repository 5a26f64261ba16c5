"""Where is a rule written, and what is the hash of all rules of a model?

The hash is that of the syntax trees of all functions that the rules reach, without docstrings, and
of the constants of modules that they use. Comments and formatting do not change it, nor does the
version of Python.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from societies.inputs import read_text
from societies.translate.messages import TranslationError

N = TypeVar("N", bound=ast.AST)

LARGEST_FILE = 2**22
"""Bytes of a file of rules."""

_NOT_HASHED = {"ctx", "type_comment", "kind", "type_params", "annotation", "returns"}
_LIBRARY = "reference_py.primitives"


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A file of rules. Texts call it by ``name``, its module, wherever the file is."""

    path: Path
    name: str
    lines: tuple[str, ...]
    tree: ast.Module

    def line(self, number: int) -> str:
        """Return a line by its number from 1; "" if there is none."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    @cached_property
    def functions(self) -> dict[tuple[str, int], ast.FunctionDef]:
        """All functions of the file, by name and first line (that of a decorator if it has one)."""
        found: dict[tuple[str, int], ast.FunctionDef] = {}
        for node in nodes_of(ast.FunctionDef, self.tree):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            found.setdefault((node.name, first), node)
        return found

    def error(
        self, node: ast.AST, reason: str, hint: str = "", *, wrong: bool = False
    ) -> TranslationError:
        """Return the error that something cannot be translated; a part of a line is marked."""
        number = getattr(node, "lineno", 1)
        source, span = self.line(number), (0, 0)
        if isinstance(node, ast.expr):
            last = node.end_col_offset if node.end_lineno == number else None
            coded = source.encode()  # of which Python counts the bytes
            span = len(coded[: node.col_offset].decode()), len(coded[:last].decode())
        return TranslationError(
            self.path.name, number, source, reason, hint, span=span, wrong=wrong
        )


@lru_cache(maxsize=64)
def _parsed(path: Path, module: str, _changed: int) -> SourceFile:
    text = read_text(path, LARGEST_FILE)
    name = module.replace(".", "/") + ".py"
    return SourceFile(path, name, tuple(text.split("\n")), ast.parse(text))


Site = tuple[SourceFile, int, str]
"""A place that a checked build tests: file, line and what is wrong if the test fails."""


def definition(function: FunctionType) -> tuple[ast.FunctionDef, SourceFile]:
    """Return the syntax tree of a function, and the file that contains it.

    Raises
    ------
    TranslationError
        If the source is not found, because the function was made by `exec` or is a lambda.
    """
    path = inspect.getsourcefile(function)
    line, name = function.__code__.co_firstlineno, function.__name__
    if path is not None and Path(path).is_file():
        found = Path(path).resolve()
        file = _parsed(found, str(function.__module__), found.stat().st_mtime_ns)
        if (node := file.functions.get((name, line))) is not None:
            return node, file
    reason, hint = f"the source of {name} is not found", "Write the function with def, in a file."
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        reason, hint = f"{name} is written with async def: a rule waits for nothing", "Write def."
    raise TranslationError(Path(str(path)).name, line, "", reason, hint, wrong=True)


def without_docstring(node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    """Return the statements of a function or a class after its docstring."""
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def rules_sha256(functions: Iterable[FunctionType], classes: Iterable[type] = ()) -> str:
    """Return the hash of some rules and of all that they use.

    Parameters
    ----------
    functions : phases, and other functions whose results are results of the model
    classes : their methods and attributes count, too: what declares fields and their first values
    """
    hashed = hashlib.sha256()
    for text in sorted(_texts(functions, classes)):
        hashed.update(f"{text}\n".encode())
    return hashed.hexdigest()


def files_of(functions: Iterable[FunctionType]) -> dict[str, SourceFile]:
    """Return the files of some functions and of all functions that they use, by name."""
    found: dict[str, SourceFile] = {}
    for function in reached(functions):
        file = definition(function)[1]
        found[file.name] = file
    return dict(sorted(found.items()))


def reached(functions: Iterable[FunctionType]) -> Iterator[FunctionType]:
    """Yield some functions and all that they use, except those of the library of primitives."""
    waiting, seen = [inspect.unwrap(one) for one in functions], set()
    while waiting:
        function = waiting.pop()
        if function in seen or not isinstance(function, FunctionType):
            continue
        seen.add(function)
        yield function
        for value in _globals_of(function).values():
            if isinstance(value, FunctionType):
                one = inspect.unwrap(value)
                if not str(one.__module__).startswith(_LIBRARY) and _has_source(one):
                    waiting.append(one)


def _has_source(function: FunctionType) -> bool:
    """Return whether a function is a rule: written in a file that is no part of Python."""
    root = str(function.__module__).partition(".")[0]
    ours = root == "societies" and not function.__module__.startswith("societies.models.")
    return root not in sys.stdlib_module_names and root != "numpy" and not ours


def _globals_of(function: FunctionType) -> dict[str, Any]:
    """Return the names of modules that a function uses, with their values."""
    found = {}
    for name, attribute in _names_in(definition(function)[0]):
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if not attribute:
            found[name] = value
        elif isinstance(value, ModuleType) and hasattr(value, attribute):
            found[f"{name}.{attribute}"] = getattr(value, attribute)
    return found


def nodes_of(kind: type[N], *trees: ast.AST) -> Iterator[N]:
    """Yield the nodes of a kind in syntax trees."""
    for tree in trees:
        yield from (one for one in ast.walk(tree) if isinstance(one, kind))


@lru_cache(maxsize=1024)
def _names_in(function: ast.FunctionDef) -> list[tuple[str, str]]:
    """Return the names in a function, each once, and the attributes of names: (name, attribute)."""
    found: dict[tuple[str, str], None] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            found[node.id, ""] = None
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found[node.value.id, node.attr] = None
    return list(found)


def _texts(functions: Iterable[FunctionType], classes: Iterable[type]) -> set[str]:
    """Return the texts of all rules, of the constants that they use, and of what classes declare.

    The name of a module does not count: a file that gets another name has the same rules.
    """
    texts = set()
    for function in reached(functions):
        texts.add(f"{function.__qualname__}: {_text_of(definition(function)[0])}")
        for used, value in _globals_of(function).items():
            if isinstance(value, bool | int | float | str | tuple | list):
                texts.add(f"{used} = {value!r}")
    for one in classes:
        tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(one)))
        body = tree.body[0]
        assert isinstance(body, ast.ClassDef)
        for statement in without_docstring(body):
            if not _describes(statement):
                texts.add(_text(statement))
    return texts


_DESCRIPTIONS = {"name", "summary", "version", "work", "series", "counts", "figure", "trace"}
_DESCRIPTIONS |= {"view", "play", "work_done", "headlines", "export", "kernels", "by_hand"}
_DESCRIPTIONS |= {"left_out"}


def _describes(statement: ast.stmt) -> bool:
    """Return whether a statement of a class says nothing that results depend on."""
    if isinstance(statement, ast.FunctionDef):
        return statement.name in _DESCRIPTIONS
    if isinstance(statement, ast.Assign):
        names = nodes_of(ast.Name, *statement.targets)
        return all(one.id in _DESCRIPTIONS for one in names)
    return not isinstance(statement, ast.AnnAssign)


@lru_cache(maxsize=1024)
def _text_of(function: ast.FunctionDef) -> str:
    return _text(function)


def _text(node: object) -> str:
    """Return a syntax tree as text that does not depend on the version of Python."""
    if isinstance(node, ast.FunctionDef):
        inside = [node.name, node.args, without_docstring(node), node.decorator_list]
        return f"FunctionDef({', '.join(map(_text, inside))})"
    if isinstance(node, ast.AST):
        parts = [
            f"{name}={_text(value)}"
            for name, value in ast.iter_fields(node)
            if name not in _NOT_HASHED and value is not None and value != []
        ]
        return f"{type(node).__name__}({', '.join(parts)})"
    if isinstance(node, list):
        parts = [_text(one) for one in node]
        return f"[{', '.join(parts)}]"
    return repr(node)
