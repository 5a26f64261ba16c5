"""Is docs/change-a-rule.md true: do its changes apply, and do device and reference still agree?"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from clones import cloned, societies
from pages import blocks

PAGE = "docs/change-a-rule.md"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder with what the page changes, as a clone has it."""
    cloned(tmp_path)
    for block in blocks(PAGE):
        if block.file:
            (tmp_path / block.file).write_text(block.text)
    return tmp_path


def apply(clone: Path, name: str, *more: str) -> None:
    words = ["git", "apply", *more, name]
    # Not as a part of a repository that the folder may lie in.
    alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(clone.parent)}
    subprocess.run(words, cwd=clone, env=alone, check=True, capture_output=True)


@pytest.mark.ci
def test_the_changes_of_the_page_apply(clone):
    before = societies(clone, "check", "arithmetic.yaml", "--set", "trading.price=arithmetic")
    assert before.returncode == 2
    assert "got 'arithmetic'" in before.stderr
    apply(clone, "price.diff")
    after = societies(clone, "check", "arithmetic.yaml", "--set", "trading.price=arithmetic")
    assert after.returncode == 0, after.stderr
    apply(clone, "price.diff", "--reverse")
    apply(clone, "mean.diff")


def test_the_changes_apply_wherever_the_rule_stands(clone):
    """Lines above may come and go: a change by line numbers alone would land somewhere else."""
    kernel = clone / "kernels/economy/bargaining.cl"
    kernel.write_text("// one line\n// and another\n" + kernel.read_text())
    apply(clone, "price.diff")
    assert "    return 1.0;\n#elif PRICE == PRICE_ARITHMETIC\n" in kernel.read_text()


@pytest.mark.thorough
def test_device_and_reference_agree_about_the_new_rules(clone):
    (shown,) = [b.text for b in blocks(PAGE) if b.language == "text"]
    was = societies(clone, "verify", "arithmetic.yaml").stdout
    apply(clone, "price.diff")
    same = societies(clone, "verify", "arithmetic.yaml").stdout
    assert same == was  # an unchanged configuration has its results of before
    price = societies(clone, "verify", "arithmetic.yaml", "--set", "trading.price=arithmetic")
    assert price.stdout.startswith(shown)
    assert price.stdout != was
    assert "swaps of unequal amounts" in price.stdout.splitlines()[1]
    apply(clone, "price.diff", "--reverse")
    apply(clone, "mean.diff")
    assert societies(clone, "verify", "arithmetic.yaml").stdout == price.stdout
