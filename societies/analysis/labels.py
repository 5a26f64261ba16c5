"""Which labels do the values of a key and the points of a study have in figures and tables?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count
from typing import Any

import numpy as np

from societies.words import worded
from societies.workload.drawing.figure import words

LONGEST = 48
"""Most characters of a label."""


def shorts(values: Iterable[Any]) -> list[str]:
    """Return a distinct label for each of the different values of a key.

    Numbers get as many digits as are needed to distinguish them. Long texts lose their common
    beginning. Of texts that are still equal, all but the first get a number.
    """
    values = list(values)
    if all(isinstance(value, float | np.floating) for value in values):
        digits = (4, 6, 9, 12, 17)
        tries = ([f"{value:.{count}g}" for value in values] for count in digits)
        return next(one for one in tries if len({*one}) == len(values))
    texts = [worded(value) for value in values]
    cut = [words(text, LONGEST) for text in texts]
    if len({*cut}) < len(values):
        least, most = min(texts), max(texts)
        same = next((i for i, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), 0)
        cut = [words(f"...{text[same:]}", LONGEST) for text in texts] if same > 8 else cut
    return distinct(cut)


def distinct(labels: Sequence[str]) -> list[str]:
    """Return distinct labels: a number is appended to a repeated one."""
    found: list[str] = []
    for label in labels:
        found.append(unused(label, {*found, *labels}) if label in found else label)
    return found


def unused(label: str, taken: Collection[str]) -> str:
    """Return the label, with a number appended if it is in ``taken``."""
    others = (f"{label} ({number})" for number in count(2))
    return next(one for one in chain([label], others) if one not in taken)


def different(values: Any) -> tuple[Any, Any]:
    """Return the different values of a key and, for each entry, the index of its value.

    Numbers are in ascending order, texts in order of first occurrence, which is that of the design.
    """
    found, first, of = np.unique(values, return_index=True, return_inverse=True)
    if found.dtype.kind in "iuf":
        return found, of.reshape(-1)
    order = np.argsort(first)
    return found[order], np.argsort(order)[of.reshape(-1)]
