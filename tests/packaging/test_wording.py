"""Can every page be read in an editor, and is every sentence in words that a reader knows?"""

from __future__ import annotations

import re
from pathlib import Path

from pages import FENCE, pages

ROOT = Path(__file__).resolve().parents[2]

MOST_CHARACTERS = 140
"""Of a line of a page. Tables, headings, images and blocks of code cannot be broken."""

WRITTEN_BY_SCRIPTS = ("/results/", "scenarios/comparison.md")
"""Pages that a script of an experiment writes."""


def too_wide(text: str) -> list[int]:
    """Return the numbers of a page's lines that are too long though they could be broken."""
    blank = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    unbreakable = re.compile(r" *(\||#|!\[|<!--)")
    return [
        number
        for number, line in enumerate(blank.split("\n"), 1)
        if len(line) > MOST_CHARACTERS and not unbreakable.match(line)
    ]


def test_no_line_of_a_page_is_too_long():
    fragments = (ROOT / "docs/changes").glob("*.md")
    names = {*pages(), *(path.relative_to(ROOT).as_posix() for path in fragments)}
    found = [
        f"{name}:{number}"
        for name in sorted(names)
        if not any(part in name for part in WRITTEN_BY_SCRIPTS)
        for number in too_wide((ROOT / name).read_text())
    ]
    assert not found, f"more than {MOST_CHARACTERS} characters: {found}"


def test_lines_that_are_too_long_are_found():
    long = "word " * 40
    page = f"# {long}\n\n{long}\n| {long} |\n```sh\n{long}\n```\n- {long}\nword\n"
    assert too_wide(page) == [3, 8]
