"""Is the public surface what it should be: about a dozen names, each documented?"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import societies

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/python-api.md").read_text()


def test_the_surface_is_small():
    assert 10 <= len(societies.__all__) <= 16
    assert len(set(societies.__all__)) == len(societies.__all__)


def test_every_name_exists_and_has_a_docstring():
    for name in societies.__all__:
        assert inspect.getdoc(getattr(societies, name)), name


def test_the_page_has_every_name_and_no_other():
    described = re.findall(r"^### `(\w+)", PAGE, re.M)
    assert sorted(described) == sorted(societies.__all__)


def test_the_page_shows_every_parameter_and_its_default():
    headings = re.findall(r"^### `(\w+)(?:`\n\n```python\n\1)?\(([^`]*)\)(?:`|\n```)$", PAGE, re.M)
    assert {*re.findall(r"^### `([a-z]\w+)", PAGE, re.M)} == {name for name, _ in headings}
    for name, parameters in headings:
        (shown,) = ast.parse(f"def {name}({parameters}): ...").body
        assert isinstance(shown, ast.FunctionDef)
        actual = inspect.signature(getattr(societies, name)).parameters.values()
        plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in actual]
        assert ast.unparse(shown.args) == ast.unparse(
            ast.parse(f"def {name}{inspect.Signature(plain)}: ...").body[0].args  # type: ignore[attr-defined]
        )


def test_a_class_name_stands_for_one_class():
    """Models that `societies new` writes are templates of one model, each with the same names."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "societies").rglob("*.py")):
        if "scaffold" not in path.parts:
            for name in re.findall(r"^\s*class (\w+)", path.read_text(), re.M):
                found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert len(found) > 400
    assert {name: files for name, files in found.items() if len(files) > 1} == {}
