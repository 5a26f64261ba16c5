"""Which tests are about a module, by the names that they mention?

Quicker than finding out which statements every test reaches, and good enough for a part of the
mutants: a test comes first if it mentions what the module defines, then what is defined where that
is imported, then any other of the folder of the same name.
"""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from mutated import ROOMS
from planting import ROOT, file_of

WORD = re.compile(r"\w{4,}")
OWN, NEXT, FOLDER = 1.0, 0.1, 0.01
"""Weights of words that a module defines, of words that its importers define, and of a folder."""


def by_name(modules, tests):
    """Return, by module, how much each test is about it: a number above 0, by node id.

    Tests have the identifiers of pytest; the text of their function counts, then that of the file.
    """
    words = {name: _mentioned(name) for name in tests}
    found = {}
    for module in modules:
        near = found[module] = {}
        own, of_importers = _defined(file_of(module)), set()
        for importer in _importers()[_dotted(file_of(module))]:
            of_importers |= _defined(importer)
        room = module.split("/")[1] if "/" in module else "reference"
        for name, (of_test, of_file) in words.items():
            score = FOLDER * (name.split("/")[1] in (room, "reference"))
            for some, weight in ((own, OWN), (of_importers - own, NEXT)):
                score += weight * sum(min(of_test[word], 3) for word in some)
                score += 0.1 * weight * sum(word in of_file for word in some)
            if score:
                near[name] = score
    return found


@cache
def _defined(path):
    """Return the words by which a module is known: its own name and what its top level defines."""
    tree = ast.parse(path.read_text())
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = {path.stem, *(one.name for one in tree.body if isinstance(one, kinds))}
    return {name for name in names if len(name) > 3 and name != "__init__"}


@cache
def _importers():
    found = defaultdict(set)
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module:
                    found[node.module].add(path)
                    for one in node.names:
                        found[f"{node.module}.{one.name}"].add(path)
    return found


def _dotted(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def _functions(file):
    text = Path(ROOT / file).read_text()
    parts = {
        one.name: Counter(WORD.findall(ast.get_source_segment(text, one)))
        for one in ast.walk(ast.parse(text))
        if isinstance(one, ast.FunctionDef)
    }
    return parts, set(WORD.findall(text))


def _mentioned(name):
    file, _, function = name.partition("::")
    parts, whole = _functions(file)
    return parts.get(re.split(r"[\[]", function.rpartition("::")[2])[0], Counter()), whole
