"""Is every fragment of the changelog one that towncrier finds, and short?"""

import re
import tomllib
from pathlib import Path

import pytest
from pages import pages

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
FOLDER = ROOT / SETTINGS["directory"]
KINDS = [kind["directory"] for kind in SETTINGS["type"]]


def problems(folder):
    """Return what is wrong with the fragments of a folder, by file."""
    found = {}
    for path in folder.iterdir():
        if path.name in SETTINGS["ignore"]:
            continue
        lines = path.read_text().strip().split("\n")
        if not re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(KINDS)})\.md", path.name):
            found[path.name] = f"its name is not SLUG.KIND.md, of a kind of {', '.join(KINDS)}"
        elif not lines[0] or len(lines) > 3:
            found[path.name] = "it has one to three lines"
        elif any(line.startswith(("#", "- ", "* ", "```", "    ")) for line in lines):
            found[path.name] = "it has plain lines: no heading, no list, no block"
    return found


def test_every_fragment_is_short_and_of_a_kind():
    assert problems(FOLDER) == {}
    assert all((FOLDER / name).is_file() for name in SETTINGS["ignore"])
    assert (ROOT / SETTINGS["template"]).is_file()
    assert "<!-- towncrier release notes start -->" in (ROOT / SETTINGS["filename"]).read_text()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("no-kind.md", "New.\n", "SLUG.KIND.md"),
        ("other.removed.md", "Gone.\n", "of a kind"),
        ("empty.added.md", "\n", "one to three"),
        ("long.added.md", "one\ntwo\nthree\nfour\n", "one to three"),
        ("heading.fixed.md", "## Fixed\nit\n", "plain"),
    ],
)
def test_a_wrong_fragment_is_found(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    (tmp_path / "right.added.md").write_text("Files can be\nmerged.\n")
    assert said in problems(tmp_path).pop(name)


def test_a_version_that_is_not_released_is_described_in_at_most_60_lines():
    sections = (ROOT / SETTINGS["filename"]).read_text().split("\n## ")[1:]
    unreleased = [one for one in sections if one.partition("\n")[0].endswith("(unreleased)")]
    assert all(len(one.strip().split("\n")) <= 60 for one in unreleased)


def test_fragments_are_no_pages():
    assert [name for name in pages() if "changes" in name] == ["docs/changes/README.md"]
