"""Break tables at random: is every CSV either read right or refused in two lines, and quickly?

Tables of parameters are written in the forms that programs write (commas, semicolons, tabs, a
byte-order mark, quotation marks, spaces, empty lines and columns at the end), and then broken in a
few places. What is read must have the numbers that a plain reading of the text has.

    python tests/faults/tables_at_random.py --tables 1000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from societies.errors import ConfigError
from societies.workload.running.tables import table_of

SECONDS = 1.0
"""Processor time above which a table is a failure."""

KEYS = ["day_length", "trading.min_surplus", "utility.exponent", "groups.0.count"]
CELLS = [
    *("", " ", "x", "1,5", "1;5", "nan", "inf", "1e999", "1_000", "0x10", "\xb2", "\uff13", "1e-3"),
    *("'1'", '"1.5"', '"1', "true", "null", "\x00", "\x1b[2J", "9" * 400, "9" * 5000, "1.5.2", "="),
]
PIECES = [
    "\n",
    "\r\n",
    "\r",
    ",",
    ";",
    "\t",
    '"',
    "'",
    "\ufeff",
    "\x00",
    "\u2028",
    " ",
    "#",
    "\n\n",
]


def written(chance: random.Random) -> tuple[str, dict[str, list[float]]]:
    """Return a table as some program writes it, and what it says."""
    keys = chance.sample(KEYS, chance.randint(1, len(KEYS)))
    rows = [
        [chance.choice([chance.randint(1, 99), round(chance.uniform(0, 9), 3)]) for _ in keys]
        for _ in range(chance.randint(1, 6))
    ]
    comma, end = chance.choice(",,,;\t"), chance.choice(["\n", "\n", "\r\n"])
    mark, space = chance.choice(["", '"']), chance.choice(["", "", " "])
    more = chance.choice([0, 0, 1, 2]) if len(keys) > 1 else 0
    cells = [keys, *rows]
    lines = [(comma + space).join([f"{mark}{one}{mark}" for one in row] + [""] * more)
             for row in cells]  # fmt: skip
    after = chance.choice(["", end, end * 3, end + comma * (len(keys) - 1) + end])
    text = chance.choice(["", "", "\ufeff"]) + end.join(lines) + after
    return text, {key: [float(row[i]) for row in rows] for i, key in enumerate(keys)}


def broken(chance: random.Random, text: str) -> str:
    """Return a text with some cells, or some characters, changed."""
    for _ in range(chance.randint(1, 3)):
        kind = chance.randrange(4)
        at = chance.randrange(len(text) + 1)
        if kind == 0 and (numbers := list(re.finditer(r"[\d.]+", text))):
            chosen = chance.choice(numbers)
            text = text[: chosen.start()] + chance.choice(CELLS) + text[chosen.end() :]
        elif kind == 1:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at + chance.randint(1, 9) :]
        else:
            lines = text.split("\n")
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
            text = "\n".join(lines)
    return text


def plainly_read(text: str) -> list[list[float]] | None:
    """Return the columns of a text of numbers, divided by hand; None if it is not that plain."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace('"', "")
    lines = [line for line in text.split("\n") if line.strip(" ,;\t")]
    if not lines:
        return None
    divider = next((one for one in ",;\t" if one in lines[0]), ",")
    rows = [[cell.strip() for cell in line.split(divider)] for line in lines]
    keys = [key for key in rows[0] if key]
    try:
        return [[float(row[i]) for row in rows[1:]] for i in range(len(keys))]
    except (ValueError, IndexError):
        return None


def outcome(path: Path, text: str, expected: dict[str, list[float]] | None) -> tuple[str, str]:
    """Return whether a table is read, refused, or wrong, and what was said."""
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    began = time.process_time()
    try:
        table = table_of(path)
    except ConfigError as error:
        kind, said = "refused", str(error)
        if len(said.splitlines()) > 2 or len(said) > 400 or not said.startswith(str(path)):
            kind = "wrong"
        if expected is not None:
            kind = "wrong"
    except BaseException as error:  # whatever else it is, users would see a traceback
        kind, said = "wrong", f"{type(error).__name__}: {error}"
    else:
        found = [column.tolist() for column in table.columns.values()]
        right = plainly_read(text) if expected is None else list(expected.values())
        kind, said = ("read", "") if right in (None, found) else ("wrong", f"{found}, not {right}")
        if expected is not None and list(table.columns) != list(expected):
            kind, said = "wrong", f"{list(table.columns)}, not {list(expected)}"
    if time.process_time() - began > SECONDS:
        kind, said = "wrong", f"took {time.process_time() - began:.1f} s"
    return kind, said


def fuzz(folder: Path, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Read this number of tables, a quarter of them whole; return the outcomes and the failures."""
    chance, outcomes, wrong = random.Random(seed), Counter[str](), []
    path = folder / "t.csv"
    for number in range(count):
        text, said = written(chance)
        whole = number % 4 == 0
        if not whole:
            text = broken(chance, text)
        kind, message = outcome(path, text, said if whole else None)
        outcomes[kind] += 1
        if kind == "wrong":
            wrong.append(f"number {number}: {message}\n{text!r}")
    return outcomes, wrong


def main() -> int:
    """Break tables, print the summary; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, wrong = fuzz(Path(folder), options.tables, options.seed)
    print(*wrong[:5], sep="\n----\n", end="\n" if wrong else "")
    print(f"{sum(outcomes.values())} tables, seed {options.seed}: {dict(outcomes)}; "
          f"{time.perf_counter() - began:.0f} s")  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
