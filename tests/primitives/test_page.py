"""Is docs/primitives.md complete, and do its examples work as written?"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/primitives.md").read_text()
PLAIN = ("real", "group", "num")
"""Files of names only: types, and who works."""

FILES = sorted(
    path for path in (ROOT / "kernels/primitives").glob("*.cl") if path.stem not in PLAIN
)


@pytest.mark.ci
def test_examples_run_as_written():
    """Each by itself; every file but varray.cl, which has no state in Python, has one."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    for path in FILES:
        assert any(f"primitives/{path.name}" in block for block in blocks) or path.stem == "varray"
    for block in blocks:
        exec(block, {})


def test_every_file_has_a_section_and_a_twin():
    assert len(FILES) >= 9
    for path in FILES:
        assert re.search(rf"^## {path.stem}$", PAGE, re.M), path
        assert (ROOT / "reference_py/primitives" / f"{path.stem}.py").exists()


def test_every_collective_function_is_described_or_inner():
    """Inner ones are called by others of the same file only."""
    inner = {"select_extreme", "select_random", "select_k", "scan_up", "sort_entries"}
    inner |= {"reduce_extreme_local", "reduce_extreme_global"}
    inner |= {"tree_totals_local", "tree_totals_global"}
    for path in FILES:
        names = set(re.findall(r"^COLLECTIVE \w+ (\w+)\(", path.read_text(), re.M))
        missing = {name for name in names - inner if not re.search(rf"\b{name}\b", PAGE)}
        assert not missing, path
