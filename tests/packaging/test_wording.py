"""Can every page be read in an editor, and is every sentence in words that a reader knows?"""

from __future__ import annotations

import bisect
import io
import itertools
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
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


WITH_GLOSSARY = """
add-a-phase analysis calibrate change-a-rule configuration configuration-economy model odd-economy
other-programs plots policies
reproduce results sweeps trace validate verified view what-can-be-asked
"""
"""Pages that use words of the economy."""


def test_pages_of_the_economy_lead_to_its_words():
    pages_of_economy = [ROOT / f"docs/{name}.md" for name in WITH_GLOSSARY.split()]
    begin = {page.name: page.read_text().split("\n## ")[0] for page in pages_of_economy}
    assert [name for name, text in begin.items() if "(glossary.md)" not in text] == []


PLAIN = {
    r"so (?:many|much)(?! (?:as|of the|more|less|other|that))": "n, `count`, the number of ...",
    r"of those that": "of the ... that",
    r"(?:what|that|those|whatever) (?:is|are) there": "what exists, is available or was recorded",
    r"nobody|somebody|anybody|everybody|whoever": "no agent, the caller, a user who, all",
    r"told": "reported, passed, shown",
    r"kept": "checkpointed, cached, retained, stored, adopted",
    r"anew|once more": "again",
    r"beside": "next to, compared with, concurrently",
    r"go(?:es|ing)? on with": "continue",
    r"one of its own": "its own ..., a separate ...",
    r"the like": "name the others, or leave the words out",
    r"in vain": "without use",
    r"lets? go": "release",
    r"lent": "borrowed",
    r"of the kind": "of kind ..., such",
    r"says? so": "reports it",
    r"go(?:es|ing)? on(?! with)": "continue",
    r"go(?:es)? along": "has a row for each ..., visits",
    r"(?:in|by) turns": "alternately, one after the other",
    r"(?:it|this|one|which|page|file) (?:is|was) there": "exists, is printed, is loaded",
}
"""Words of our own for things that have common names, and what to write instead."""

EXCEPTIONS = {
    "CONTRIBUTING.md": "no group",  # the user of Unix
    "benchmarks/two_cores.py": "beside",  # a column of recorded tables
    "tests/models/test_bam.py": "kept",  # a field of recorded runs
}
"""Texts in which a word means something else."""


NAMES = re.compile(
    r"(?:\w*_)?(?:kept|beside|told|lent|renew(?:ed)?|gentle|anew|taken_together"
    r"|whoever|nobody|somebody|anybody|everybody"
    r"|there(?!_(?:is|are|was|were|may|must|can|will|has|have)(?:_|$)))(?:_\w*)?"
    r"|_?(?:of_cop(?:y|ies)|by_tick)(?:_\w*)?",
    re.I,
)
"""Names with words of our own in any part: kept is checkpointed, cached, stored or retained, and
`there` is said only in "there is". `of_copies` and `by_tick` need a noun: `parameters_of_copies`.
"""


ROOMS = ("societies", "reference_py", "kernels", "tests", ".ci", "experiments", "benchmarks")
"""Folders with code."""

NOT_READ = "tests/packaging/test_wording.py"
"""It has the words themselves."""


def sentences(path: Path) -> str:
    """Return the text of a file with spaces for what is neither comment, string nor prose."""
    text = path.read_text()
    if path.suffix == ".py":
        spans = list(strings(text))
    elif path.suffix == ".md":
        code = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)\s]*\)", re.M | re.S)
        return code.sub(lambda found: re.sub(r"\S", " ", found[0]), text)
    else:
        comment = r"//[^\n]*|/\*.*?\*/" if path.suffix == ".cl" else r"#[^\n]*"
        spans = [found.span() for found in re.finditer(comment, text, re.S)]
    parts, last = [], 0
    for start, end in spans:
        parts += [re.sub(r"\S", " ", text[last:start]), text[start:end]]
        last = end
    return "".join(parts)


def names_of_tests(path: Path) -> list[str]:
    """Return the names of a file's tests in which words are of our own, with line and words."""
    found = []
    for match in re.finditer(r"^ *def test_(\w+)", path.read_text(), re.M):
        words = UNUSUAL.search(match[1].replace("_", " "))
        if words:
            line = match.string.count("\n", 0, match.start()) + 1
            found.append(f"{line}: '{words[0]}' in the name of a test")
    return found


def names_of_our_own(path: Path) -> list[str]:
    """Return the names in a file of code that `NAMES` describes, with their lines."""
    text = path.read_text()
    if path.suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        words = [(one.start[0], one.string) for one in tokens if one.type == tokenize.NAME]
    else:
        plain = re.sub(r"//.*", "", text).split("\n")
        words = [(i, word) for i, line in enumerate(plain, 1) for word in re.findall(r"\w+", line)]
    return [f"{line}: {word}" for line, word in words if NAMES.fullmatch(word)]


@pytest.mark.ci
def test_names_are_words_of_the_field():
    paths = [
        path
        for folder in ROOMS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".cl") and path != ROOT / NOT_READ
    ]
    found = [
        f"{path.relative_to(ROOT)}:{one}"
        for path in sorted(paths)
        for one in names_of_our_own(path)
    ]
    assert not found, "\n".join(found)


def test_names_of_our_own_are_found(tmp_path):
    texts = {
        "a.py": 'def _kept(told_by): "kept"\nunbesides = 1\n',
        "b.cl": "int anew; // told\n",
        "c.py": "is_there = days_kept_now = test_there_is_one = by_tick = rows_by_tick = 1\n",
    }
    found = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        found += names_of_our_own(tmp_path / name)
    assert found == [
        "1: _kept",
        "1: told_by",
        "1: anew",
        "1: is_there",
        "1: days_kept_now",
        "1: by_tick",
    ]


def strings(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each comment and string of a Python file begins and ends."""
    starts = list(itertools.accumulate(map(len, text.splitlines(keepends=True)), initial=0))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield (
                starts[token.start[0] - 1] + token.start[1],
                starts[token.end[0] - 1] + token.end[1],
            )


def joined(text: str) -> str:
    """Return a text of equal length in which the lines of a comment or paragraph are joined."""
    return BREAK.sub(lambda found: " " * len(found[0]), text)


BREAK = re.compile(r"(?<=[\w,])\"?\s*\n\s*(?:#|//|f?\")? ?")
"""Where a line of words ends and the next one begins."""

UNUSUAL = re.compile(rf"(?<![\w./-])(?:{'|'.join(PLAIN).replace(' ', ' +')})(?![\w/-]|\.\w)", re.I)


PLACE = re.compile(
    r"(?<!\bis )(?<!\bare )\bthere\b(?! +(?:is|are|was|were|may|must|can|will|has|have)\b)", re.I
)
"""`there` as the name of a place, which messages and comments say by its name."""


def places_without_name(path: Path) -> list[str]:
    """Return line and text for each `PLACE` of a file."""
    if not PLACE.search(joined(path.read_text())):
        return []
    text = joined(sentences(path))
    lines = list(itertools.accumulate(map(len, path.read_text().splitlines(True)), initial=0))
    return [
        f"{bisect.bisect(lines, one.start())}: '{text[one.start() - 20 : one.end()]}' -> where"
        for one in PLACE.finditer(text)
    ]


def unusual(path: Path, allowed: str = "") -> list[str]:
    """Return line, words and what to write instead, for each of `PLAIN` that a file has."""
    text = path.read_text()
    if not UNUSUAL.search(joined(text)):
        return []
    text = sentences(path)
    lines = list(itertools.accumulate(map(len, text.splitlines(keepends=True)), initial=0))
    found = []
    for match in UNUSUAL.finditer(joined(text)):
        words = " ".join(match[0].split())
        if words.lower() != allowed:
            (instead,) = [new for old, new in PLAIN.items() if re.fullmatch(old, words, re.I)]
            found.append(f"{bisect.bisect(lines, match.start())}: '{words}' -> {instead}")
    return found


@pytest.mark.ci
def test_words_are_those_of_the_field():
    names = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "hatch_build.py"}
    for folder in ("docs", "configs", *ROOMS):
        names |= {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.*")}
    found = [
        f"{name}:{one}"
        for name in sorted(names - {NOT_READ})
        if name.endswith((".py", ".md", ".cl", ".yaml"))
        for one in unusual(ROOT / name, EXCEPTIONS.get(name, ""))
    ]
    found += [
        f"{name}:{one}"
        for name in sorted(names)
        if name.endswith(".py") and name.startswith(("societies/", "reference_py/"))
        for one in places_without_name(ROOT / name)
    ]
    tests = sorted(name for name in names if name.endswith(".py") and name.startswith("tests/"))
    found += [f"{name}:{one}" for name in tests for one in names_of_tests(ROOT / name)]
    assert not found, "\n".join(found)


def test_words_of_our_own_are_found(tmp_path):
    texts = {
        "a.py": '"""Return so many\n\n    days."""\nnobody = 1  # Whoever\n# of those\n# that\n',
        "b.md": "Run it anew, `anew`.\n\n```sh\nanew\n```\n[told](told.md)\n",
        "c.cl": "int told;  // what is\n// there\n",
    }
    found = {}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        found[name] = [one.partition(" ->")[0] for one in unusual(tmp_path / name)]
    assert found["a.py"] == ["1: 'so many'", "4: 'Whoever'", "5: 'of those that'"]
    assert found["b.md"] == ["1: 'anew'", "6: 'told'"]
    assert found["c.cl"] == ["1: 'what is there'"]
    (tmp_path / "d.py").write_text(
        "def test_old():\n    told = 1\n\ndef test_it_begins_anew(): pass\n"
    )
    (tmp_path / "e.py").write_text('"There is one"\n"Are there any?"\n"Write it\\n"\n"there."\n')
    assert [one[:2] for one in places_without_name(tmp_path / "e.py")] == ["4:"]
    assert names_of_tests(tmp_path / "d.py") == ["4: 'anew' in the name of a test"]
