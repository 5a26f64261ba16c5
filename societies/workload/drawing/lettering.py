"""How do the texts of a figure fit? Labels are wrapped, and legends are arranged in rows.

Sizes of texts are estimated from their number of characters, without drawing them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

_PLAIN, _BOLD = 0.525, 0.6
"""Mean width of a character of DejaVu Sans in English text, as a share of the font size."""
_SIDES, _BELOW, _FOOT = 0.8, 1.0, 0.9
"""Inches left and right of a panel; above and below it, for titles and ticks; at the foot."""
_HANDLE = 0.6
"""Inches of an entry of a legend, without its text."""


def wrapped(text: str, most: int) -> str:
    """Return a text in lines of about equal length, with at most ``most`` characters.

    A line ends between words, but not before a number ("day 1"). A word that is longer than a line
    is split after ``.``, ``_``, ``/`` or ``-``, or else at the end of the line.
    """
    most = max(most, 4)
    pieces: list[tuple[str, str]] = []
    for word in re.sub(r"\s+(?=\d+\b)", "\0", " ".join(text.split())).split(" "):
        parts = [word] if len(word) <= most else re.split(r"(?<=[._/-])(?=.)", word)
        cut = [part[i : i + most] for part in parts for i in range(0, len(part), most)]
        pieces += [(" " if place == 0 else "", part) for place, part in enumerate(cut)]
    count = len(_filled(pieces, most))
    lines = next(one for width in range(1, most + 1) if len(one := _filled(pieces, width)) <= count)
    return "\n".join(lines).replace("\0", " ")


def _filled(pieces: Sequence[tuple[str, str]], most: int) -> list[str]:
    """Join pieces to lines; each piece comes with the separator before it."""
    lines = [""]
    for before, piece in pieces:
        if lines[-1] and len(lines[-1]) + len(before) + len(piece) > most:
            lines.append(piece)
        else:
            lines[-1] += (before if lines[-1] else "") + piece
    return lines


def characters(inches: float, size: float, *, bold: bool = False) -> int:
    """Return how many characters of a font size in points fit into ``inches``."""
    return int(inches * 72 / (size * (_BOLD if bold else _PLAIN)))


def fit(figure: Any, scale: float = 1.0) -> None:
    """Wrap titles and labels of all panels to the size of their panel.

    With smaller fonts the room that texts take around a panel is smaller: ``scale`` times.
    """
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        if spec is None:  # the colour bar next to a map
            continue
        grid = spec.get_gridspec()
        width = figure.get_figwidth() / grid.ncols - scale * _SIDES
        height = (figure.get_figheight() - scale * _FOOT) / grid.nrows - scale * _BELOW
        for text, inches in (
            (axes.title, width),
            (axes._left_title, width),
            (axes.xaxis.label, width),
            (axes.yaxis.label, height),
        ):
            bold = text.get_fontweight() == "bold"
            most = characters(inches, text.get_fontsize(), bold=bold)
            if len(text.get_text()) > most:
                text.set_text(wrapped(text.get_text(), most))


def columns_of(labels: Sequence[str], inches: float, size: float = 9.0) -> int:
    """Return how many columns of a legend fit into ``inches``."""
    for count in range(len(labels), 1, -1):
        rows = -(-len(labels) // count)  # entries of a legend fill column after column
        widest = [max(map(len, labels[i : i + rows])) for i in range(0, len(labels), rows)]
        if _width(widest, size) <= inches:
            return len(widest)
    return 1


def legend_above(figure: Any, rows: Sequence[Sequence[Any]], title: str = "") -> None:
    """Draw a legend above the panels.

    Parameters
    ----------
    figure : figure of matplotlib, with constrained layout
    rows : lists of handles with labels; each list begins a new line
    title : title of the legend
    """
    from matplotlib.lines import Line2D

    rows = [row for row in rows if row]
    if not rows:
        return
    room, size = figure.get_figwidth() - 0.3, 9.0
    for columns in range(max(map(len, rows)), 0, -1):
        cut = [row[i : i + columns] for row in rows for i in range(0, len(row), columns)]
        widest = [
            max(len(row[c].get_label()) for row in cut if c < len(row)) for c in range(columns)
        ]
        if columns == 1 or _width(widest, size) <= room:
            break
    # The panels keep their height.
    more_lines = len(cut) + bool(title)
    figure.set_figheight(figure.get_figheight() + 0.1 + more_lines * 1.5 * size / 72)
    blank = Line2D([], [], color="none", label=" ")
    handles = [row[c] if c < len(row) else blank for c in range(columns) for row in cut]
    more = {"title": title, "alignment": "left", "title_fontsize": size} if title else {}
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, fontsize=size, **more)


def _width(widest: Sequence[int], size: float) -> float:
    """Return the inches of a row of entries, from the number of characters of each."""
    return math.fsum(_HANDLE + count * size * _PLAIN / 72 for count in widest)
