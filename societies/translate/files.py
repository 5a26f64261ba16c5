"""How is a file of Python that a user names imported? Again if it changed, with clear errors."""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from pydantic import PydanticUserError

from societies.config.files import note_carried_out
from societies.inputs import Stamp, nearest_file, read_text, shown, stamp
from societies.translate.messages import TranslationError
from societies.translate.source import LARGEST_FILE
from societies.translate.tests_of_rules import TESTS, tested


class PlugInError(TranslationError):
    """A rule's file or function cannot be used."""

    def __init__(self, text: str) -> None:
        super().__init__("", 0, "", text)
        self.args = (text,)


def load_module(path: Path, prefix: str = "", *, tests: bool = False) -> ModuleType:
    """Import a file that a user names; again if it has changed.

    ``tests``: put into it and its neighbours (`societies.translate.tests_of_rules`).

    Raises
    ------
    TranslationError
        If there is no such file, or it does not import, with the line.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "no such file"
        near = nearest_file(path, ".py")
        also = f"; did you mean '{near}'?" if near else ""
        raise PlugInError(f"{prefix}{shown(path)}: {what}{also}")
    found = path.resolve()
    return _imported(found, shown(path), stamp(found), tests)


@lru_cache(maxsize=64)
def _imported(path: Path, name: str, _of: Stamp, with_tests: bool) -> ModuleType:
    text = read_text(path, LARGEST_FILE)
    digest = hashlib.sha256(f"{path} {text}".encode()).hexdigest()[:8]
    module_name = f"{path.stem}_{digest}"
    loader = (_Tested if with_tests else SourceFileLoader)(module_name, str(path))
    spec = spec_from_file_location(module_name, path, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module
    try:
        with _neighbours(path.parent, with_tests):
            loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
        for frame, number in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename == str(path):
                line = number
        said = getattr(error, "msg", None) if isinstance(error, SyntaxError) else error
        what = f"does not import: {type(error).__name__}: {said}"
        lines = text.split("\n")
        if isinstance(error, PydanticUserError):
            what, line = _of_keys(error, lines, line or 1)
        source = lines[line - 1].strip() if line and line <= len(lines) else ""
        what = f"{name}:{line}: {what}" if line else f"{name}: {what}"
        raise PlugInError(f"{what}\n    {source}" if source else what) from error
    note_carried_out(path)
    return module


class _Tested(SourceFileLoader):
    """Imports a file with tests put into it."""

    def get_code(self, fullname: str) -> CodeType:
        tree = tested(read_text(Path(self.path), LARGEST_FILE), self.path)
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(TESTS)
        super().exec_module(module)


class _TestedNeighbours:
    """Finds files of a folder, to be imported with tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        file = self.folder / f"{name}.py"
        loader = _Tested(name, str(file))
        return spec_from_file_location(name, file, loader=loader) if file.is_file() else None


def _of_keys(error: PydanticUserError, lines: Sequence[str], line: int) -> tuple[str, int]:
    """Return what is wrong with the keys of a class that begins in a line, and in which line."""
    found = re.search(r"['`](\w+)", error.message)
    key = found[1] if found else ""
    for number, text in enumerate(lines[line:], line + 1):
        if re.match(rf"\s+{key}\s*=", text) and error.code == "model-field-missing-annotation":
            return f"the key {key} has no type: write {key}: int = ..., or float, or bool", number
    return f"does not import: {error.message}", line


@contextmanager
def _neighbours(folder: Path, with_tests: bool) -> Iterator[None]:
    """Let a file import its neighbours by name, without leaving them to other folders."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    finder = _TestedNeighbours(folder)
    if with_tests:
        sys.meta_path.insert(sys.meta_path.index(PathFinder), finder)
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.meta_path.remove(finder)
        with suppress(ValueError):
            sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).parent == folder:
                del sys.modules[name]
