"""How does one begin a model of one's own? `societies new NAME` copies and renames a small one.

The folder ``models`` has models of one file of Python, under the name ``my_model``. The folder
``template`` is a package with kernels written by hand; docs/write-a-workload.md walks through it.
"""

from __future__ import annotations

import keyword
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from societies.config.problems import described, suggestion
from societies.errors import ConfigError, OutputError
from societies.workload.running.registry import workload_names

TEMPLATE = Path(__file__).parent / "template"
MODELS = Path(__file__).parent / "models"

KERNEL = "kernel"
TEMPLATES = {
    "exchange": "agents with equal money pay each other at random",
    "market": "traders without intelligence shout in a double auction, one after another",
    "network": "agents adopt what enough of their neighbours have adopted, all at once",
    "minimal": "a random walk",
    KERNEL: "the model of exchange, as a package with kernels written by hand",
}
"""Templates by name, with what each model is about."""

_PACKAGE, _CLASS = "my_model", "MyModel"
_LONGEST_NAME = 60
_YAML_WORDS = ("null", "true", "false")


def write_workload(name: str, directory: Path | None = None, template: str = "exchange") -> Path:
    """Write the package of a new workload and return its folder.

    Raises ConfigError if the name cannot be used, the folder exists, or there is no such template.
    Raises OutputError if the folder cannot be written.

    Parameters
    ----------
    name : str
        Name of the workload, of the package and of the folder.
    directory : path, optional
        Where to put the folder; made if missing. Default: the current one.
    template : str
        One of `TEMPLATES`.
    """
    if reason := _objection(name):
        raise ConfigError(f"{described(name)} cannot be the name of a workload: {reason}")
    if template not in TEMPLATES:
        near = suggestion(template, TEMPLATES)
        raise ConfigError(f"no template '{template}'{near} (known: {', '.join(TEMPLATES)})")
    folder = (directory or Path()) / name
    try:
        folder.mkdir(parents=True)
        try:
            for place, source in template_files(template).items():
                target = folder / _renamed(place.as_posix(), name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(_renamed(source.read_text("utf-8"), name), "utf-8")
        except BaseException:  # so that the same command works once the disk has room
            shutil.rmtree(folder, ignore_errors=True)
            raise
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


def template_files(template: str = KERNEL) -> dict[Path, Path]:
    """Return the files of a template by their paths in it, without what tools leave behind."""
    folder = TEMPLATE if template == KERNEL else MODELS / template
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    if template != KERNEL:
        found[Path("pyproject.toml")] = MODELS / "pyproject.toml"
    return {
        place: path
        for place, path in found.items()
        if not any(part.startswith((".", "__pyc")) for part in place.parts)
    }


def _objection(name: str) -> str:
    """Return why a workload and a package cannot have this name; "" if they can."""
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
