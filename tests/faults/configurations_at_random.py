"""Break configurations at random: is every one either valid or refused in plain words, and quickly?

Shipped configurations and generated ones are changed in a few places: values of other types and
sizes, keys misspelt, moved, doubled or dropped, text cut, shuffled, indented, YAML's own traps.

    python tests/faults/configurations_at_random.py --configurations 10000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

import societies
from societies.errors import ConfigError
from societies.paths import data_directory
from societies.workload.running.registry import workloads

SECONDS = 1.0
"""Processor time above which a configuration is a failure."""

VALUES: list[Any] = [
    *(0, 1, -1, 2, 7, 48, 2**31 - 1, 2**31, 2**63, 2**64, -(2**70), 10**400),
    *(0.0, -0.0, 0.5, 1e-13, 1e300, float("inf"), float("nan"), -1.5),
    *(True, False, None, "", "none", "all", "tools", "random", "geometric", "ü\u202e\x85"),
    *([], [1], [1.0] * 48, [[1]], {}, {"a": 1}, {"agents": 3}, ["on"], "1e-3", "0x10", "1_000"),
]
TEXTS = [
    *(": ", "\t", "- ", "&a ", "*a", "!!python/object:x ", "{", "}", "[", "]", "|", ">", "%", "@"),
    *("\x00", "\x07", "\ufeff", "\u2028", "é", "<<: ", "? ", "---\n", "...\n", "#", "'", '"'),
    *(
        "1e-3",
        "on",
        "0o17",
        "12:30:45",
        "~",
        ".inf",
        "2001-01-01",
        "=",
        "\r\n",
        "    ",
        "agents: 3\n",
    ),
]
LINE = re.compile(r"^(\S.*?:\d+:\d+  |\S+: |\S.*)")


def change_data(chance: random.Random, text: str) -> str:
    """Change the document as data: another value, a key misspelt, moved, dropped or added."""
    data = yaml.safe_load(text)
    for _ in range(chance.randint(1, 3)):
        place = data
        while True:
            inner = [v for v in (place.values() if isinstance(place, dict) else place)
                     if isinstance(v, dict | list) and v]  # fmt: skip
            if not inner or chance.random() < 0.4:
                break
            place = chance.choice(inner)
        if isinstance(place, list):
            place[chance.randrange(len(place))] = chance.choice(VALUES)
            continue
        key = chance.choice(list(place))
        kind = chance.randrange(5)
        if kind == 0:
            place[key] = chance.choice(VALUES)
        elif kind == 1:
            at = chance.randrange(len(str(key)) + 1)
            place[str(key)[:at] + chance.choice("abz_-. 1") + str(key)[at + 1 :]] = place.pop(key)
        elif kind == 2:
            del place[key]
        elif kind == 3:
            place[chance.choice(["trading", "groups", "shocks", "device", "record", "x"])] = (
                chance.choice(VALUES)
            )
        else:
            data[key] = chance.choice([place[key], *VALUES])
        if not place:
            break
    try:
        return yaml.dump(data, allow_unicode=True)
    except (yaml.YAMLError, RecursionError):
        return text


def change_text(chance: random.Random, text: str) -> str:
    """Change the document as text: cut, insert, double, swap, shift lines."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        to = min(len(text), at + chance.randint(1, 20))
        kind = chance.randrange(5)
        if kind == 0:
            text = text[:at] + chance.choice(TEXTS) + text[at:]
        elif kind == 1:
            text = text[:at] + text[to:]
        elif kind == 2:
            text = text[:at] + text[at:to] * chance.randint(2, 5) + text[to:]
        else:
            lines = text.split("\n")
            line = chance.randrange(len(lines))
            if kind == 3:
                lines[line] = " " * chance.randint(1, 4) + lines[line]
            else:
                lines.insert(chance.randrange(len(lines)), lines[line])
            text = "\n".join(lines)
    return text


CHANGES: list[Callable[[random.Random, str], str]] = [change_data, change_data, change_text]


def overrides(chance: random.Random) -> list[str]:
    """Return some overrides, most of them wrong."""
    keys = [
        "days",
        "agents",
        "trading.menu_size",
        "groups.0.count",
        "x.y",
        "",
        "record..agent",
        "=",
    ]
    return [
        f"{chance.choice(keys)}{chance.choice(['=', '', ' = ', '=='])}{chance.choice(VALUES)!r}"
        for _ in range(chance.choice([0, 0, 0, 1, 2]))
    ]


def outcome(path: Path, changes: list[str]) -> tuple[str, str]:
    """Return whether a configuration is valid, refused, or wrong, and what was said."""
    began = time.process_time()
    try:
        config = societies.load_config(path, changes)
    except ConfigError as error:
        kind, said = "refused", str(error)
        if not said.strip() or any(not LINE.match(line) for line in said.splitlines()):
            kind = "wrong"
        if any(ord(c) < 32 and c != "\n" for c in said) or "Traceback" in said:
            kind = "wrong"
    except BaseException as error:  # whatever else it is, users would see a traceback
        kind, said = "wrong", f"{type(error).__name__}: {error}"
    else:
        kind, said = "valid", ""
        list(config.warnings())
    if time.process_time() - began > SECONDS:
        kind, said = "wrong", f"took {time.process_time() - began:.1f} s"
    return kind, said


def fuzz(folder: Path, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Check ``count`` configurations; return the outcomes, and what went wrong."""
    workloads()  # imported before anything is timed
    chance = random.Random(seed)
    texts = [file.read_text("utf-8") for file in sorted(data_directory("configs").rglob("*.yaml"))]
    outcomes: Counter[str] = Counter()
    wrong = []
    path = folder / "broken.yaml"
    for number in range(count):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 2)):
            try:
                text = chance.choice(CHANGES)(chance, text)
            except (yaml.YAMLError, AttributeError, TypeError, IndexError, ValueError):
                text = change_text(chance, text)  # no longer a document that can be changed as data
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        changes = overrides(chance)
        kind, said = outcome(path, changes)
        outcomes[kind] += 1
        if kind == "wrong":
            wrong.append(f"number {number}, overrides {changes}: {said}\n{text}")
    return outcomes, wrong


def main() -> int:
    """Break configurations, print the summary; 1 if anything was wrong."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configurations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, wrong = fuzz(Path(folder), options.configurations, options.seed)
    print(*wrong[:5], sep="\n----\n", end="\n" if wrong else "")
    seconds = time.perf_counter() - began
    print(f"{sum(outcomes.values())} configurations, seed {options.seed}", end=": ")
    print(f"{dict(outcomes)}; {seconds:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
