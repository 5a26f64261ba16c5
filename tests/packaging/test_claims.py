"""Do the tests exist that pages name, and the places at which mistakes are planted by hand?"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/design/testing.md",)
NAMED = re.compile(r"`([\w/]*\.py|)(?:::(\w+))?`")


@cache
def functions(path):
    tree = ast.parse(path.read_text())
    return {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


@pytest.mark.parametrize("page", PAGES)
def test_tests_that_a_page_names_exist(page):
    """A test that is named without its file is of the file named before it."""
    path, missing, count = None, [], 0
    for file, name in NAMED.findall((ROOT / page).read_text()):
        if file:
            places = ROOT / "tests" / file, ROOT / file
            path = next((one for one in places if one.is_file()), None)
        count += bool(name)
        if path is None or (name and name not in functions(path)):
            missing.append((file, name))
    assert not missing and count > 50


def test_the_table_of_what_is_protected_has_every_folder_of_tests():
    _, _, text = (ROOT / PAGES[0]).read_text().partition("## What is protected")
    table, _, _ = text.partition("\n## ")
    folders = {path.parent for path in (ROOT / "tests").glob("*/**/test_*.py")}
    tops = {path.relative_to(ROOT / "tests").parts[0] for path in folders}
    assert sorted(one for one in tops if f"`{one}/" not in table) == []


def test_mistakes_planted_by_hand_have_their_place(monkeypatch):
    """A mistake whose place is gone is planted nowhere; so it is with a survivor's reason."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "tests" / "mutation"), *sys.path])
    import by_hand
    import mutated
    import run
    from planting import file_of

    gone = [
        name
        for name, file, before, *_ in by_hand.MISTAKES
        if before not in (ROOT / file).read_text()
    ]
    single, whole = run.explained()
    explained = {name[0] for name in (*single, *whole)}
    left_out = (*mutated.DRAWN, *mutated.LAUNCHED, *mutated.ON_A_DEVICE)
    gone += [name for name in (*explained, *left_out) if not file_of(name).is_file()]
    tests = [one.partition("::")[0] for one in mutated.TESTS]
    tests += [test for *_, own in by_hand.MISTAKES for test in own]
    assert not gone + [one for one in tests if not (ROOT / one).exists()]
