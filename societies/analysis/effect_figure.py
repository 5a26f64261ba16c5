"""How are effects drawn: the paired differences between results and a base, over time?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from societies.analysis.drawing import (
    GREY,
    coloured,
    finished,
    label_panel,
    legend_inside,
    new_panels,
    range_of,
    titled,
)
from societies.analysis.effects import cases_of_effects, effect
from societies.analysis.intervals import require_level
from societies.analysis.pairs import compared
from societies.errors import EffectWarning
from societies.workload.drawing.figure import (
    INTERVAL,
    LEVEL,
    leave_out,
    line_with_band,
    meaning,
    words,
)

if TYPE_CHECKING:
    from societies.analysis.drawing import Cases


def draw_effect(
    cases: Cases,
    *,
    variables: Sequence[str] = (),
    bands: str = INTERVAL,
    base: str = "",
    level: float = LEVEL,
) -> Any:
    """Draw the differences between results and a base, society by society, over time.

    Parameters
    ----------
    cases : results (one for each point of a study); the first is the base
    variables : default: the headline variables of the workload
    bands : kind of the bands, which belong to the mean difference over the pairs
    base : label of the result or point that is the base
    level : of the intervals
    """
    require_level(level)
    every = cases_of_effects(cases, base or None)
    name, first = next(iter(every.items()))
    others = {label: data for label, data in every.items() if label != name}
    notes: list[str] = []
    found = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", EffectWarning)
        for label, _, data in coloured(others):
            found[label] = compared(first, data, list(variables) or None)
            notes += [f"{label}: {one.message}" for one in said]
            said.clear()
    labels = next(iter(found.values())).labels
    figure, panels = new_panels(len(labels))
    for place, axes in enumerate(panels):
        for label, colour, data in coloured(others):
            own = found[label]
            if own.paired:
                values = own.other[place] - own.base[place]
                pasts = own.pasts[0]
                line_with_band(
                    axes, own.ticks, values, colour, bands, label, pasts=pasts, level=level
                )
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EffectWarning)
                apart = effect(first, data, [labels[place].partition("[")[0]], level=level)
            one = apart.sel(variable=labels[place])
            axes.plot(own.ticks, one.effect, color=colour, label=label)
            axes.fill_between(own.ticks, one.low, one.high, color=colour, alpha=0.22, linewidth=0)
        axes.axhline(0, color=GREY, linewidth=0.8)
        own = next(iter(found.values()))
        unit, title = own.units[place], titled(labels[place], own.meanings[place])
        label_panel(axes, first, title, "" if unit == "1" else unit)
    if len(others) == 1:
        legend_inside(panels[0])
    leave_out(figure, words(f"difference to {name or 'the first'}, society by society"))
    for note in notes:
        leave_out(figure, note)
    pairs = [own.other.shape[1] for own in found.values() if own.paired]
    several = max(pairs, default=0) > 1
    explained = meaning("pair", range_of(pairs), bands, level) if several else None
    return finished(figure, others, bands, explained=explained)
