"""How does a figure fit a column of a journal? By a width and font sizes for print."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from societies.errors import ConfigError, option
from societies.workload.drawing.figure import NUMBER_OF_MARK
from societies.workload.drawing.lettering import characters, columns_of, fit, wrapped

INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0}
"""Inches of each unit of a width."""
NARROWEST, WIDEST = 4 / 2.54, 60 / 2.54
"""Inches between which a width must lie: less has no room for a panel, more is a poster."""
SMALLEST, LARGEST = 7.0, 9.0
"""Font sizes in points: journals ask for 7 to 9 at the printed width."""
DOTS_PER_INCH = 300
"""Of a PNG for print; least that journals accept for pictures."""
_PANEL = 2.1
"""Least inches of a panel with its labels. Fewer panels are drawn in a row if they would be
narrower."""
_LOWEST, _HIGHEST = 1.7, 2.4
"""Least and most inches of the height of a panel with its title and labels."""
_TICKS = 0.4
"""Inches of the numbers and the label below a panel."""
_LINE = 1.35 / 72
"""Inches of a line of text, for each point of its font size."""


def inches_of(width: str) -> float:
    """Return a width like ``8.5cm``, ``85 mm`` or ``3.3in`` in inches.

    Raises ConfigError if it is not a number with one of the three units, or not between 4 and 60
    cm.
    """
    found = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+) ?(cm|mm|in)", str(width).strip().lower())
    if not found:
        raise ConfigError(
            f"{option('width', width)}: is not a width. Write a number and cm, mm or in: 8.5cm"
        )
    inches = float(found[1]) * INCHES[found[2]]
    if not NARROWEST <= inches <= WIDEST:
        raise ConfigError(
            f"{option('width', width)}: a figure is from 4 to 60 cm wide "
            "(a column of a journal is about 8.5cm, a page 17cm)"
        )
    return inches


def resize(figure: Any, inches: float) -> None:
    """Give a finished figure a width, fonts of 7 to 9 points, and as many panels in a row as fit.

    The panels keep about their proportions. Legends of the figure move above the panels. The figure
    must have matplotlib's constrained layout.
    """
    width, height = figure.get_size_inches()
    grids = [spec.get_gridspec() for axes in figure.axes if (spec := axes.get_subplotspec())]
    rows, columns = grids[0].get_geometry() if grids else (1, 1)
    panel = (height / rows) / (width / columns)
    rows, columns = _arrange(figure, rows, columns, max(1, min(columns, int(inches / _PANEL))))
    tall = max(panel * inches / columns, _LOWEST)
    tall = min(tall, _HIGHEST) if rows > 1 else tall
    _shrink_fonts(figure, inches / columns, tall)
    foot = _wrap_foot(figure, inches)
    legends = _removed_legends(figure)
    title = _wrap_title(figure, inches)
    head = title + _height_of(legends, inches)
    height = rows * tall + foot + head
    figure.set_size_inches(inches, height)
    figure.set_dpi(DOTS_PER_INCH)
    # Title and legend stand in a strip of their own: the layout would draw them on each other.
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - head / height))
    if legends.entries:
        _draw_legend(figure, legends, inches, 1 - title / height)
    for axes in figure.axes:
        for text in (axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label):
            text.set_text(" ".join(text.get_text().split()))
    fit(figure, 0.75)


def remove_foot(figure: Any) -> None:
    """Remove the small print at the foot of a figure and the numbers that it explains."""
    for axes in figure.axes:
        for text in [one for one in axes.texts if one.get_gid() == NUMBER_OF_MARK]:
            text.remove()
    if figure._supxlabel is not None:
        figure._supxlabel.remove()
        figure._supxlabel = None


def _arrange(figure: Any, rows: int, columns: int, most: int) -> tuple[int, int]:
    """Put at most ``most`` panels in a row; return the numbers of rows and columns."""
    placed = {axes: spec for axes in figure.axes if (spec := axes.get_subplotspec())}
    alone = all(len(spec.rowspan) == len(spec.colspan) == 1 for spec in placed.values())
    same = len({spec.get_gridspec().get_geometry() for spec in placed.values()}) <= 1
    if most == columns or not (alone and same):
        return rows, columns
    cells = sorted({spec.num1 for spec in placed.values()})
    rows = -(-len(cells) // most)
    grid = figure.add_gridspec(rows, most)
    for axes, spec in placed.items():
        place = cells.index(spec.num1)
        axes.set_subplotspec(grid[place // most, place % most])
    return rows, most


def _shrink_fonts(figure: Any, panel: float, tall: float) -> None:
    """Give all texts 7 to 9 points, and the legends of panels as many columns as fit."""
    from matplotlib.text import Text

    for axes in figure.axes:
        axes.tick_params(which="both", labelsize=SMALLEST)
        if (legend := axes.get_legend()) is not None:
            labels = [text.get_text() for text in legend.get_texts()]
            legend.set_ncols(min(legend._ncols, columns_of(labels, panel - 0.4, SMALLEST)))
            place = legend.get_bbox_to_anchor().transformed(axes.transAxes.inverted())
            if place.y0 < 0:  # it stands below the panel, and its distance is for larger panels
                below = (place.x0 + place.width / 2, -_TICKS / (tall - 2 * _TICKS))
                legend.set_bbox_to_anchor(below, axes.transAxes)
    for text in figure.findobj(Text):
        text.set_fontsize(min(max(0.75 * text.get_fontsize(), SMALLEST), LARGEST))


def _wrap_foot(figure: Any, inches: float) -> float:
    """Wrap the small print; return its height in inches."""
    if (foot := figure._supxlabel) is None:
        return 0.0
    most = characters(inches - 0.1, SMALLEST)
    foot.set_text("\n".join(wrapped(line, most) for line in foot.get_text().split("\n")))
    return float((foot.get_text().count("\n") + 1) * SMALLEST * _LINE)


def _wrap_title(figure: Any, inches: float) -> float:
    """Wrap the title at the upper edge; return its height in inches."""
    title = figure._suptitle
    if title is None or not title.get_text().strip():
        return 0.0
    title.set_text(wrapped(title.get_text(), characters(inches - 0.1, LARGEST)))
    title.set(in_layout=False, y=0.995, va="top")
    return float((title.get_text().count("\n") + 1) * LARGEST * _LINE + 0.05)


class _Legends(NamedTuple):
    """Entries and titles of the legends of a figure."""

    entries: list[tuple[Any, str]]
    title: str


def _removed_legends(figure: Any) -> _Legends:
    """Remove the legends of the figure, and return their entries row by row."""
    drawn, entries = list(figure.legends), []
    for legend in drawn:
        of_one = [*zip(legend.legend_handles, legend.get_texts(), strict=True)]
        rows = -(-len(of_one) // legend._ncols)  # a legend fills column after column
        for handle, text in (one for row in range(rows) for one in of_one[row::rows]):
            if label := " ".join(text.get_text().split()):
                entries.append((handle, label))
    title = " ".join(" ".join(legend.get_title().get_text().split()) for legend in drawn).strip()
    for legend in drawn:
        legend.remove()
    return _Legends(entries, title)


def _lines_of(legends: _Legends, inches: float) -> tuple[list[str], str, int]:
    """Return the labels and the title of a legend, wrapped, and its number of columns."""
    labels = [label for _, label in legends.entries]
    columns, most = columns_of(labels, inches - 0.1, SMALLEST), characters(inches - 0.7, SMALLEST)
    if columns == 1:
        labels = [wrapped(label, most) for label in labels]
    return labels, wrapped(legends.title, most) if legends.title else "", columns


def _height_of(legends: _Legends, inches: float) -> float:
    """Return the height of a legend in inches."""
    if not legends.entries:
        return 0.0
    labels, title, columns = _lines_of(legends, inches)
    lines = sum(label.count("\n") + 1 for label in labels) if columns == 1 else 0
    lines = lines or -(-len(labels) // columns)
    return (lines + len(title.splitlines())) * 1.5 * SMALLEST / 72 + 0.12


def _draw_legend(figure: Any, legends: _Legends, inches: float, top: float) -> None:
    """Draw a legend below the title."""
    labels, title, columns = _lines_of(legends, inches)
    drawn = figure.legend(
        handles=[handle for handle, _ in legends.entries],
        labels=labels,
        loc="upper left",
        bbox_to_anchor=(0, top),
        ncols=columns,
        fontsize=SMALLEST,
        title=title or None,
        title_fontsize=SMALLEST,
        alignment="left",
        borderaxespad=0.2,
    )
    drawn.set_in_layout(False)
