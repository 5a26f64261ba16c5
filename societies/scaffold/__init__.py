"""How does one begin a workload of one's own? `societies new NAME` copies and renames a small one.

The folder ``template`` is a package that runs, the Boltzmann wealth model under the name
``my_model``; docs/write-a-workload.md walks through it.
"""

from __future__ import annotations

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from societies.errors import ConfigError, OutputError
from societies.workload.declare.registry import workload_names

TEMPLATE = Path(__file__).parent / "template"
_PACKAGE, _CLASS = "my_model", "MyModel"
_LONGEST_NAME = 60
_YAML_WORDS = ("null", "true", "false")


def write_workload(name: str, directory: Path | None = None) -> Path:
    """Write the package of a new workload and return its folder.

    Parameters
    ----------
    name : str
        Name of the workload, of the package and of the folder.
    directory : path, optional
        Where to put the folder; made if missing. Default: the current one.

    Raises
    ------
    ConfigError
        If the name cannot be used, or the folder exists.
    OutputError
        If the folder cannot be written.
    """
    _require_usable(name)
    folder = (directory or Path()) / name
    try:
        folder.mkdir(parents=True)
        for source in template_files():
            target = folder / _renamed(source.as_posix(), name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_renamed((TEMPLATE / source).read_text("utf-8"), name), "utf-8")
    except FileExistsError:
        raise ConfigError(
            f"{folder}: exists already and was not touched. Choose another name or --out."
        ) from None
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be written: {error.strerror or error}. Choose another place with "
            "--out."
        ) from error
    return folder


def template_files() -> list[Path]:
    """Return the files of the template, relative to it, without what tools leave there."""
    files = (path.relative_to(TEMPLATE) for path in TEMPLATE.rglob("*") if path.is_file())
    return sorted(
        path for path in files if not any(part.startswith((".", "__pyc")) for part in path.parts)
    )


def _require_usable(name: str) -> None:
    """Raise ConfigError unless a workload and a package can have this name."""
    reason = _objection(name)
    if reason:
        raise ConfigError(f"'{name}' cannot be the name of a workload: {reason}")


def _objection(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?", name):
        return "a name has letters, digits and underscores, begins with a letter, as in my_model"
    if len(name) > _LONGEST_NAME:
        return f"it has more than {_LONGEST_NAME} characters"
    if keyword.iskeyword(name):
        return "it is a word of Python"
    if name.lower() in _YAML_WORDS:
        return "it is a word of YAML"
    if name in workload_names():
        return "there is a workload of this name"
    if name in sys.stdlib_module_names:
        return "it is a module of Python"
    spec = find_spec(name)
    if spec is not None and spec.origin is not None:  # None: a mere folder
        return "there is a module of this name"
    return ""


def _renamed(text: str, name: str) -> str:
    """Return a text, or a path, of the template under the new name."""
    words = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    return text.replace(_PACKAGE, name).replace(_CLASS, words)
