"""What are the effects of several policies, as a table and as plain data?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from societies.analysis.effects import (
    cases_of_effects,
    effect,
    opened_by_label,
    records,
    since_first_difference,
    text_of_first,
)
from societies.analysis.selecting import with_ticks
from societies.errors import EffectWarning
from societies.terminal import table_of
from societies.workload.drawing.figure import words

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Effects:
    """The effects of several results or points, compared with one base.

    Attributes
    ----------
    base : label of the base
    found : effects by label (`societies.analysis.effect`)
    warnings : warnings of results without pairs and of policies that change nothing
    """

    base: str
    found: dict[str, xr.Dataset]
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        entries = [one for label, found in self.found.items() for one in _entries(label, found)]
        firsts = {label: int(found.attrs["first"]) for label, found in self.found.items()}
        paired = {label: bool(found.attrs["paired"]) for label, found in self.found.items()}
        return {"base": self.base, "paired": paired, "first": firsts, "effects": entries}


def effects_of(
    files: Sequence[str | PathLike[str]],
    *,
    base: str | None = None,
    variables: str | Sequence[str] | None = None,
    ticks: str | None = "",
    each: bool = False,
    level: float = 0.95,
) -> Effects:
    """Return the effects of all results or points of files, compared with a base.

    Parameters
    ----------
    files : results, or a study; the first result or point is the base unless ``base`` names another
    ticks : ticks whose mean is compared; "": all from the first that differs; None: an effect for
        each tick
    each : an effect for each of ``ticks`` instead of their mean
    """
    with ExitStack() as stack:
        opened = {name: stack.enter_context(one) for name, one in opened_by_label(files).items()}
        cases = cases_of_effects(opened, base)
        first, *others = cases
        window: Any = since_first_difference(cases) if ticks == "" else ticks
        if ticks == "" and window is None:
            window = slice(None)
        result = Effects(first, {})
        for label in others:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", EffectWarning)
                of, over = (cases[first], cases[label]), None if each else window
                found = effect(*of, variables, window=over, level=level)
                result.found[label] = with_ticks(found, ticks or None)
            result.warnings.extend(f"{label}: {one.message}" for one in said)
        return result


def _entries(label: str, found: xr.Dataset) -> list[dict[str, Any]]:
    """Return the `records` of an effect with its label and the units of the variables."""
    units = dict(zip(found["variable"].values, map(str, found["unit"].values), strict=True))
    return [
        {"case": label, "variable": one["variable"], "unit": units[one["variable"]], **one}
        for one in records(found)
    ]


def effects_table(effects: Effects) -> Any:
    """Return a table of rich for each result or point that is compared with the base."""
    from rich.console import Group

    return Group(*(_table(effects.base, label, one) for label, one in effects.found.items()))


def _table(base: str, label: str, own: xr.Dataset) -> Any:
    window, clock = own.attrs.get("window"), own.attrs["clock"]
    said = text_of_first(int(own.attrs["first"]), clock, bool(own.attrs["paired"]))
    over = f", mean of {clock} {window}" if window else ""
    level = f"{100 * own.attrs['level']:g} %"
    columns = ["variable", *([] if window else [clock]), words(base, 16), "effect", "relative"]
    columns += [f"{level} (bootstrap)", f"{level} (t)", "se", "se unpaired", "ratio", "pairs"]
    rows = []
    for one in _entries(label, own):
        number = {key: digits(value) for key, value in one.items() if key not in _TEXTS}
        unit = "" if one["unit"] == "1" else f" [{one['unit']}]"
        relative = "-" if one["relative"] is None else f"{100 * one['relative']:+.2f} %"
        ends = [f"{number[f'{k}low']} to {number[f'{k}high']}" for k in ("", "t_")]
        row = [f"{one['variable']}{unit}", *([] if window else [str(one[clock])])]
        row += [number["base"], number["effect"], relative, *ends]
        row += [number["se"], number["se_unpaired"], number["precision"], str(one["pairs"])]
        rows.append(row)
    return table_of(columns, rows, left=["variable"], title=f"{label}: {said}{over}")


_TEXTS = ("case", "variable", "unit", "window")


def digits(value: float | None) -> str:
    """Return a number with four digits, or a dash if it is missing."""
    return "-" if value is None else f"{value:.4g}"
