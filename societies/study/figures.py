"""How are validations drawn: bands of the targets, and violins of the seeds?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.drawing import new_panels, unit_label, with_foot
from societies.workload.drawing.figure import COLOURS, words

if TYPE_CHECKING:
    from societies.study.validation import Validation, Verdict

VERDICTS = {"PASS": "#2a9d5c", "WARN": "#d99a00", "FAIL": "#c8372d"}
MOST_PANELS = 80


def draw_validation(found: Validation) -> Any:
    """Draw a panel for each target: its band, and a violin of the seeds for each case."""
    by_name: dict[tuple[str, int], list[Verdict]] = {}
    for one in found.verdicts:
        by_name.setdefault((one.name, id(one.target)), []).append(one)
    shown = list(by_name.values())[:MOST_PANELS]
    figure, panels = new_panels(len(shown))
    figure.set_size_inches(figure.get_figwidth(), 0.9 + 1.9 * -(-len(shown) // 3))
    for axes, verdicts in zip(panels, shown, strict=True):
        _panel(axes, verdicts, found.level)
    note = f"Shaded: band of the target. Dot and bar: mean, {100 * found.level:g} % interval. "
    note += f"Score {found.score:.2f}."
    left = len(by_name) - len(shown)
    note += f" Left out: {left} statistics." if left else ""
    lost = sum(int((~np.isfinite(one.values)).sum()) for one in found.verdicts)
    note += f" Missing or infinite values left out: {lost}." if lost else ""
    return with_foot(figure, note)


def _panel(axes: Any, verdicts: list[Verdict], level: float) -> None:
    low, high = verdicts[0].as_dict()["band"]
    every = np.concatenate([one.values[np.isfinite(one.values)] for one in verdicts])
    known = [*every.tolist(), *(end for end in (low, high) if end is not None)]
    ends = (min(known, default=0.0), max(known, default=1.0))
    margin = 0.06 * (ends[1] - ends[0]) or 1e-6 + 0.05 * abs(ends[0])
    ends = (ends[0] - margin, ends[1] + margin)
    if low is not None and low == high:
        axes.axvline(low, color=COLOURS[2], linewidth=2, alpha=0.5)
    elif (low, high) != (None, None):
        begin, end = (ends[i] if one is None else one for i, one in enumerate((low, high)))
        axes.axvspan(begin, end, color=COLOURS[2], alpha=0.18, linewidth=0)
    for place, one in enumerate(reversed(verdicts)):
        good, colour = one.values[np.isfinite(one.values)], VERDICTS[one.verdict]
        if len(good) > 1 and np.ptp(good) > 0:
            body = axes.violinplot([good], [place], orientation="horizontal", showextrema=False)
            for part in body["bodies"]:
                part.set(facecolor=colour, alpha=0.45)
        if len(good):
            axes.plot([one.low, one.high], [place, place], color=colour, linewidth=2)
            axes.plot([one.mean], [place], "o", color=colour, markersize=4)
    axes.set_xlim(ends)
    labels = [f"{words(one.case, 18)} {one.verdict}".strip() for one in reversed(verdicts)]
    axes.set_yticks(range(len(verdicts)), labels, fontsize=7.5)
    axes.set_ylim(-0.8, len(verdicts) - 0.2)
    axes.locator_params(axis="x", nbins=5)
    axes.set_title(words(verdicts[0].name.replace("_", " "), 50))
    axes.set_xlabel(unit_label(verdicts[0].unit))
