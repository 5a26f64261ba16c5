"""Do the examples of docs/other-calibrators.md run, and find the point of which the data are?

Packages that are not installed are skipped; ``SOCIETIES_REQUIRE_CALIBRATORS=1`` (set by
.ci/nightly) turns the skips into failures.
"""

import importlib
import os
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/other-calibrators.md").read_text()
EXAMPLES = re.findall(r"^## (.+?)$[^#]*?^```python\n(.*?)^```$", PAGE, re.M | re.S)


def test_the_page_has_an_example_of_each_package():
    assert [title for title, _ in EXAMPLES] == ["The model", "optuna", "black-it", "sbi", "pyABC"]


@pytest.mark.parametrize(
    ("title", "package"),
    [
        ("optuna", "optuna"),
        ("black-it", "black_it"),
        pytest.param("sbi", "sbi", marks=pytest.mark.ci),
        pytest.param("pyABC", "pyabc", marks=pytest.mark.ci),
    ],
)
@pytest.mark.filterwarnings("ignore:Maximum number of epochs:UserWarning")
def test_an_example_finds_the_true_point(title, package, tmp_path, monkeypatch):
    if os.environ.get("SOCIETIES_REQUIRE_CALIBRATORS"):
        importlib.import_module(package)
    else:
        pytest.importorskip(package, reason=f"{package} is missing: pip install '.[calibrators]'")
    monkeypatch.chdir(tmp_path)  # sbi and pyABC write files into the current folder
    found = {}
    for block in (dict(EXAMPLES)["The model"], dict(EXAMPLES)[title]):
        exec(block, found)
    away = (np.asarray(found["best"]) - [9.0, 2.4]) / (found["high"] - found["low"])
    assert np.abs(away).max() < 0.3
