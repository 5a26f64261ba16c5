"""Are defaults, ranges and units of all keys those that the documentation promises?

A page says what a key may be; a change of a bound or a default in the code breaks that promise
and every configuration that leaves the key out.
"""

import re
import runpy
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@cache
def tables():
    return runpy.run_path(str(ROOT / "docs/tables.py"))["TABLES"]


@cache
def documented():
    """Return the tables of all pages, by name."""
    found = {}
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text()
        for name, table in re.findall(r"<!-- begin: ([\w-]+) -->\n(.*?)\n<!-- end: \1", text, re.S):
            found[name] = table
    return found


@pytest.mark.parametrize("name", ["configuration-economy", "state", "variables"])
def test_what_a_page_promises_is_so(name):
    assert "\n".join(tables()[name]()).split("\n") == documented()[name].split("\n")
