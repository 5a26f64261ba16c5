"""What is known of every planted mistake, as it is committed in this folder?

The list names those that are not killed, each with its verdict, and the functions in which mistakes
were planted with a digest of their source: one that is not named is killed if its function is what
it was, and not run if that was changed since or is new.
"""

import ast
import gzip
import json
from functools import cache
from hashlib import sha256
from pathlib import Path

from planting import file_of, source

LISTED = Path(__file__).parent / "verdicts.jsonl.gz"
NOT_RUN = "not run"


def listed(mutants) -> list[dict]:
    """Return the verdicts of the committed list on mutants, as rows of a log; none if not run."""
    named, seen = {}, set()
    if LISTED.exists():
        for line in gzip.decompress(LISTED.read_bytes()).splitlines():
            verdict, *name = json.loads(line)
            if verdict == "seen":
                seen.add(tuple(name))
            else:
                named[tuple(name)] = verdict
    found = {
        one.name: named.get(one.name, "killed" if _place(one) in seen else NOT_RUN)
        for one in mutants
    }
    return [{"name": n, "verdict": v, "by": None} for n, v in found.items() if v != NOT_RUN]


def write(mutants, verdicts: dict[tuple, str]) -> None:
    """Write the list: the mutants that there are, with the verdicts that there are, by name."""
    found = [(verdicts.get(one.name, NOT_RUN), *one.name) for one in mutants]
    rows = sorted(one for one in found if one[0] != "killed")
    rows += sorted({("seen", *_place(one)) for one in mutants})
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    LISTED.write_bytes(gzip.compress(text.encode(), mtime=0))


def _place(mutant):
    return mutant.module, mutant.function, _digests(mutant.module)[mutant.function]


@cache
def _digests(module):
    """Return a digest of the source of each outermost function or method.

    Comments and docstrings, in which no mistakes are planted, are left out of it.

    What is on the level of the module is a function without a name, of a class without its methods
    one by the name of the class, as in `planting`.
    """
    texts, tree = {}, ast.parse(file_of(module).read_text())
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body = [one for one in node.body if not _is_text(one)]

    def add(name, statements):
        for one in statements:
            inner = f"{name}.{one.name}" if name and hasattr(one, "name") else name
            if isinstance(one, ast.ClassDef):
                add(inner or one.name, one.body)
            elif isinstance(one, ast.FunctionDef):
                texts.setdefault(inner or one.name, []).append(source(one))
            else:
                texts.setdefault(name, []).append(source(one))

    add("", tree.body)
    return {name: sha256("\n".join(own).encode()).hexdigest()[:8] for name, own in texts.items()}


def _is_text(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
