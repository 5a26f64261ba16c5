"""Does a notebook show how far a run is?"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import societies

pytest.importorskip("nbclient", reason="needs nbclient: pip install -e '.[test]'")
pytest.importorskip("ipykernel", reason="needs ipykernel: pip install -e '.[test]'")

# The client has warnings of its own; a process keeps them apart from these tests.
EXECUTE = """
import json, sys
import nbformat
from nbclient import NotebookClient

cells = [nbformat.v4.new_code_cell(text) for text in json.loads(sys.argv[1])]
book = nbformat.v4.new_notebook(cells=cells)
updates = []
class Client(NotebookClient):
    def process_message(self, msg, cell, index):
        if msg["msg_type"] in ("display_data", "update_display_data"):
            updates.append(msg["content"]["data"]["text/plain"])
        return super().process_message(msg, cell, index)
Client(book, timeout=300, kernel_name="python3").execute()
print(json.dumps({"cells": [cell.outputs for cell in book.cells], "updates": updates}))
"""


def executed(folder, *cells):
    """Return the outputs of each cell, and every text that was displayed on the way."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(societies.__file__).parents[1]),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, json.dumps(cells)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout.splitlines()[-1])
    return reported["cells"], reported["updates"]


@pytest.mark.ci
def test_a_run_shows_a_bar_below_its_cell_alone(tmp_path):
    small = "{'workload': 'economy', 'agents': 4, 'resources': 3, 'days': 40, 'replicates': 2}"
    cells, updates = executed(
        tmp_path,
        "import societies",
        f"config = societies.config_from_dict({small})",
        "report = societies.run(config, device='reference', out='run.h5')",
        "societies.run(config, device='reference', out='own.h5', progress=lambda day, days: None)"
        ".days",
    )
    assert cells[:2] == [[], []]
    (bar,) = cells[2]  # one output, replaced again and again
    assert bar["output_type"] == "display_data"
    assert "day 40 of 40, 2 societies" in bar["data"]["text/plain"]
    assert "days/s" in bar["data"]["text/html"]
    assert "the first day" in updates[0]
    assert len(updates) >= 2
    assert [output["output_type"] for output in cells[3]] == ["execute_result"]
    assert (tmp_path / "run.h5").is_file()
