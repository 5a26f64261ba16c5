"""How is a noun written in the plural?"""

from __future__ import annotations


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
