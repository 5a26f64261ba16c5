"""Do the notebooks run from the first cell to the last, and print what they show?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import societies

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
INSTALL = '%pip install --quiet "societies[plot,study]"'

# The client has warnings of its own; a process keeps them apart from these tests.
EXECUTE = """
import json, sys
import nbformat
from nbclient import NotebookClient

book = nbformat.read(sys.argv[1], as_version=4)
book.cells[1].source = "pass"  # the installation, which needs the network
NotebookClient(book, timeout=600, kernel_name="python3").execute()
print(json.dumps(book))
"""


def cells(path: Path) -> list[dict[str, object]]:
    return json.loads(path.read_text())["cells"]  # type: ignore[no-any-return]


def said(cell: dict[str, object]) -> str:
    """Return the text that a cell prints."""
    outputs: list[dict[str, object]] = cell.get("outputs", [])  # type: ignore[assignment]
    texts = [one["text"] for one in outputs if one["output_type"] == "stream"]
    return "".join(text if isinstance(text, str) else "".join(text) for text in texts)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_its_installation_and_shows_no_noise(path):
    first, install, *others = cells(path)
    assert first["cell_type"] == "markdown"
    assert "".join(install["source"]) == INSTALL  # type: ignore[arg-type]
    assert not install["outputs"]
    outputs = [one for cell in others for one in cell.get("outputs", [])]  # type: ignore[attr-defined]
    assert outputs
    for one in outputs:
        assert one.get("name") != "stderr"
        assert "text/html" not in one.get("data", {})  # a bar of progress
    links = [link for cell in (first, *others) if cell["cell_type"] == "markdown"
             for link in re.findall(r"\]\(([^)#]+)", "".join(cell["source"]))]  # type: ignore[arg-type] # fmt: skip
    assert links
    assert not [link for link in links if not (path.parent / link).is_file()]


@pytest.mark.thorough
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, tmp_path):
    pytest.importorskip("nbclient", reason="needs nbclient: pip install -e '.[test]'")
    pytest.importorskip("ipykernel", reason="needs ipykernel: pip install -e '.[test]'")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(societies.__file__).parents[1]),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(path)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    executed = json.loads(done.stdout.splitlines()[-1])["cells"]
    for shown, found in zip(cells(path)[2:], executed[2:], strict=True):
        assert said(shown) == said(found)
        assert "stderr" not in [one.get("name") for one in found.get("outputs", [])]
    assert (tmp_path / "effect.pdf").is_file() == (path.stem == "policy")
