"""How are nouns, numbers and values of keys written in words, and lines of reports laid out?"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

WIDTH = 100
"""Most characters of a line of a report."""


def plural(noun: str) -> str:
    """Return the plural of a regular noun: days, batches, societies."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}{'es' if noun.endswith(('s', 'x', 'sh', 'ch')) else 's'}"


def one_of(noun: str) -> str:
    """Return a noun with its article: a day, an image; a unit."""
    return f"{'an' if noun[:1] in ('a', 'e', 'i', 'o') else 'a'} {noun}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: 1 day, 2 batches."""
    return f"{count} {noun if count == 1 else plural(noun)}"


def ranges(word: str, numbers: list[int]) -> str:
    """Return ascending numbers as a text with ranges: days 3 to 5, 9 and 2 more."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][1] + 1:
            groups[-1][1] = number
        else:
            groups.append([number, number])
    named = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in groups[:3])
    more = f" and {len(groups) - 3} more places" if groups[3:] else ""
    return f"{word}{'s' * (len(numbers) > 1)} {named}{more}"


def short(value: Any) -> str:
    """Return a value in words: of a series its first and last value, 2 for 2.0."""
    found = value.get("values", value) if isinstance(value, dict) else value
    if isinstance(found, list) and len(found) > 3:
        return f"{short(found[0])} to {short(found[-1])} ({len(found)} values)"
    return str(found).removesuffix(".0")


def worded(value: Any) -> str:
    """Return the value of a key in words.

    A study stores lists and sections as JSON. An entry of a list, such as an intervention, is named
    by its ``label`` or, without one, by its keys and values; an empty list is "none".
    """
    text = str(value)
    if not text.startswith(("[", "{")):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    entries = found if isinstance(found, list) else [found]
    if not entries:
        return "none"
    if not all(isinstance(one, dict) for one in entries):
        return text
    return "; ".join(dict.fromkeys(map(_entry, entries)))


def _entry(one: Mapping[str, Any]) -> str:
    if one.get("label"):
        return str(one["label"])
    pairs = [
        pair
        for name, value in one.items()
        for pair in (value.items() if isinstance(value, dict) else [(name, value)])
        if pair[1] not in ([], {}, None)
    ]
    return ", ".join(f"{name} {value}" for name, value in pairs)


def wrapped_lines(line: str, indent: str = "") -> list[str]:
    """Return the line in pieces of at most `WIDTH` characters."""
    inner = line.lstrip(" ")
    indent += " " * (len(line) - len(inner))
    return textwrap.wrap(
        inner,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a part of a report: an empty line, its title and its indented lines."""
    yield ""
    yield title
    for line in lines:
        yield from wrapped_lines(line, "  ")


def aligned(
    rows: Sequence[Sequence[str]], right: Callable[[int], bool] = lambda column: False
) -> Iterator[str]:
    """Yield rows as lines with aligned columns; ``right`` says which ones are right-justified."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if right(column) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
