"""How does a model respond to shocks, as a table, as plain data and as a figure?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from typing import TYPE_CHECKING, Any

from societies.analysis.drawing import GREY, coloured, finished, new_panels, titled
from societies.analysis.effect_table import digits
from societies.analysis.effects import for_json, opened_by_label
from societies.analysis.labels import unused
from societies.analysis.responses import LEVELS, NUMBERS, asymmetry, irf, shocks_of
from societies.config.problems import quoted
from societies.errors import ConfigError, EffectWarning, option
from societies.terminal import table_of
from societies.words import counted, plural
from societies.workload.drawing.figure import INTERVAL, LEVEL, handles_of, leave_out, words
from societies.workload.drawing.lettering import legend_above

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases

ENDS = ("", "_low", "_high")
"""Endings of the names of a response and of the ends of its interval."""


def responses_of(
    files: Sequence[str | PathLike[str]],
    variables: str | Sequence[str] | None = None,
    *,
    base: str | None = None,
    after: int | None = None,
    **options: Any,
) -> dict[str, xr.Dataset]:
    """Return the impulse responses of all results or points of files, by label; see `irf`."""
    with ExitStack() as stack:
        opened = {name: stack.enter_context(one) for name, one in opened_by_label(files).items()}
        return responses(opened, variables, base=base, after=after, **options)


def responses(
    opened: Mapping[str, xr.Dataset],
    variables: str | Sequence[str] | None,
    *,
    base: str | None = None,
    after: int | None = None,
    size: float | Sequence[float] = 1.0,
    **options: Any,
) -> dict[str, xr.Dataset]:
    """Return the impulse responses of all results but the base, by label.

    With a size for each of several shocks, also return the `asymmetry` of each shock and the first.
    """
    cases, ticks = shocks_of(opened, base, after)
    first = next(iter(cases.values()))
    sizes = [size] if isinstance(size, int | float) else list(size)
    if len(sizes) not in (1, len(ticks)):
        raise ConfigError(
            f"{option('size')}: {counted(len(sizes), 'size')} for "
            f"{counted(len(ticks), 'shock')}; give one, or one for each"
        )
    each = dict(zip(ticks, sizes * (len(ticks) if len(sizes) == 1 else 1), strict=True))
    found = {}
    for label, tick in ticks.items():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", EffectWarning)
            own = irf(first, cases[label], variables, after=tick, size=each[label], **options)
        found[label] = own
        for one in said:
            warnings.warn(f"{label}: {one.message}", one.category, stacklevel=2)
    shock, *others = ticks
    for label in others if len(sizes) > 1 else ():
        if ticks[label] != ticks[shock]:
            raise ConfigError(
                f"{option('size')}: responses per unit of several shocks are compared if they "
                f"happen at once; {quoted(shock)} and {quoted(label)} do not. Give one size"
            )
        found[unused(f"{label} less {shock}", found)] = asymmetry(
            first,
            cases[shock],
            cases[label],
            variables,
            after=ticks[shock],
            sizes=(each[shock], each[label]),
            **options,
        )
    return found


def as_dict(found: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """Return impulse responses as plain data: an entry for each shock, state and variable."""
    entries = []
    for label, data in found.items():
        for state in data.state.values:
            for name in data["variable"].values:
                own = data.sel(state=state, variable=name)
                numbers: dict[str, Any] = {}
                for key in (f"{key}{end}" for key in (*NUMBERS, *LEVELS) for end in ENDS):
                    values = own[key].values
                    numbers[key] = list(map(for_json, values)) if values.ndim else for_json(values)
                about = {"shock": label, "state": str(state), "variable": str(name)}
                horizon = own.horizon.values.tolist()
                entries.append({**about, "pairs": int(own.pairs), "horizon": horizon, **numbers})
    return entries


def responses_table(found: Mapping[str, xr.Dataset]) -> Any:
    """Return a table of rich with the peak, half-life and cumulative response of every shock."""
    first = next(iter(found.values()))
    clock, level = first.attrs["clock"], f"{100 * first.attrs['level']:g} %"
    columns = ["shock", "state", "variable", "peak", level, f"{plural(clock)} after"]
    columns += ["half-life", level, "cumulative", level, "twins"]
    rows = []
    for one in as_dict(found):
        texts = {f"{key}{end}": digits(one[f"{key}{end}"]) for key in NUMBERS for end in ENDS}
        total = {end: digits(one[f"cumulative{end}"][-1]) for end in ENDS}
        row = [words(one[key], 40) for key in ("shock", "state", "variable")]
        row += [texts["peak"], f"{texts['peak_low']} to {texts['peak_high']}", texts["peak_at"]]
        row += [texts["half_life"], f"{texts['half_life_low']} to {texts['half_life_high']}"]
        row += [total[""], f"{total['_low']} to {total['_high']}", str(one["pairs"])]
        rows.append(row)
    return table_of(columns, rows, left=columns[:3])


def draw_irf(
    cases: Cases,
    *,
    variables: Sequence[str] = (),
    base: str = "",
    response: str = "level",
    after: int = -1,
    horizon: int = 0,
    by: str = "",
    states: int = 2,
    size: list[float] | None = None,
    level: float = LEVEL,
) -> Any:
    """Draw the impulse responses of a study of shocks: mean differences of twins with their bands.

    Parameters
    ----------
    cases : results (one for each point of a study); the first is the base
    variables : default: the headline variables of the workload
    base : label of the result or point without the shock
    response : level, relative or cumulative
    after : tick at whose end the shock happens; -1: that of the first intervention that the
        base lacks
    horizon : number of ticks after the shock; 0: all
    by : variable by whose value on the tick of the shock societies are divided into states
    states : number of states
    size : size of all shocks, or of each; if of each, differences of responses per unit are drawn
        as well
    level : of the intervals
    """
    if response not in LEVELS:
        raise ConfigError(
            f"{option('response', response)}: choose one of {', '.join(map(quoted, LEVELS))}"
        )
    options: dict[str, Any] = {"horizon": horizon or None, "by": by or None, "states": states}
    options |= {"size": size or 1.0, "after": None if after < 0 else after, "level": level}
    found = responses(cases, list(variables) or None, base=base or None, **options)
    lines = {
        f"{label}{f', {state}' if state != 'all' else ''}": data.sel(state=state)
        for label, data in found.items()
        for state in data.state.values
        if by == "" or state != "all"
    }
    first = next(iter(found.values()))
    figure, panels = new_panels(first.sizes["variable"])
    per = "" if {*(size or [1.0])} == {1.0} else " per unit of the shock"
    for axes, name in zip(panels, first["variable"].values, strict=True):
        for label, colour, own in coloured(lines):
            one = own.sel(variable=name)
            low, high = one[f"{response}_low"], one[f"{response}_high"]
            axes.plot(one.horizon, one[response], color=colour, label=words(label))
            axes.fill_between(one.horizon, low, high, color=colour, alpha=0.22, linewidth=0)
        axes.axhline(0, color=GREY, linewidth=0.8)
        unit = str(first["unit"].sel(variable=name).values)
        axes.set_title(titled(str(name), str(first["meaning"].sel(variable=name).values)))
        said = "share" if response == "relative" else "" if unit == "1" else unit
        axes.set_ylabel(said if response == "relative" or not per else f"{said} per unit".strip())
        axes.set_xlabel(f"{plural(first.attrs['clock'])} after the shock")
    twins = " or ".join(map(str, sorted({int(one.pairs) for one in lines.values()})))
    line, band = f"mean of {twins} twins", f"{100 * level:g} % interval (bootstrap)"
    entries = panels[0].get_legend_handles_labels()[0]
    legend_above(figure, [entries, handles_of(line, band, INTERVAL)])
    leave_out(figure, f"{response} response{per}: {line}, {band}")
    return finished(figure, cases, "", legend=False, marks=False, along=False)
