"""Which keys of a configuration have an effect? Twins that differ by a small change of one key."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import numpy as np

from societies.analysis.effect_table import digits
from societies.analysis.effects import for_json
from societies.analysis.pairs import NEVER
from societies.config.document import read_text
from societies.config.model import INITIAL, TABULATED, VALUE
from societies.config.problems import first_reason
from societies.errors import ConfigError, option
from societies.study.simulate import Progress, Simulator, sweep_of
from societies.study.targets import load_targets
from societies.sweep.designs import unusable
from societies.sweep.document import Sweep
from societies.sweep.points import checked_points
from societies.terminal import table_of
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import contents_of
from societies.workload.running.varying import (
    field_of,
    found_key,
    leaves,
    unit_and_meaning,
    value_at,
)

CHANGE = 0.05
"""Relative change of a key."""

LARGEST = 1e6
"""Largest relative change."""


@dataclass(frozen=True)
class Matter:
    """The effect of a change of one key.

    Attributes
    ----------
    key, unit, before, after : the key and its two values
    first : first tick on which any series of any twin differs, -1 if none does
    moved : by series, mean difference of the twins on the last tick divided by the base's mean
    """

    key: str
    unit: str
    before: Any
    after: Any
    first: int
    moved: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        moved = {name: for_json(one) for name, one in self.moved.items()}
        return {**vars(self), "first": None if self.first == NEVER else self.first, "moved": moved}


def matter(
    config: str | os.PathLike[str] | Mapping[str, Any],
    *,
    set: Mapping[str, Any] | None = None,
    keys: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
    change: float = CHANGE,
    replicates: int = 4,
    device: str = "auto",
    progress: Progress | None = None,
) -> tuple[str, list[Matter], list[str]]:
    """Change each key a little in twins; return the differences and the keys left out.

    Parameters
    ----------
    config, set : configuration, and keys of it to change
    keys : keys to change, or KEY=VALUE; default: all keys whose values may differ within a launch,
        and all keys with a choice of words, of which every other word is tried
    variables : series; default: the headline variables of the workload
    change : relative change of a number, upwards or, where that is not allowed, downwards
    replicates : twins of each change

    Returns
    -------
    clock, a `Matter` for each change, keys that cannot be changed, with the reason
    """
    if not 0 < change <= LARGEST:
        raise ConfigError(f"{option('change', change)}: must be above 0, and at most {LARGEST:g}")
    sweep = sweep_of(config, set or {})
    data = sweep.base.model_dump()
    points: list[tuple[str, Any, Any]] = []
    left_out = []
    for said in _keys(type(sweep.base), data) if keys is None else keys:
        key, given, text = said.partition("=")
        if why := unusable(type(sweep.base), data, key, lambda _: ""):
            left_out.append(f"{key}: {why}")
            continue
        before = value_at(data, key)
        if given:
            tries = [[read_text(text, key).data]]
        else:
            tries = _changes(sweep.base, key, before, change)
        for others in tries:
            good, why = _valid(sweep, key, others)
            points += [(key, before, after) for after in good]
            if good:
                break
        else:
            left_out.append(f"{key}: {why if tries else 'has no value near it'}")
    if not points:
        raise ConfigError("no key can be changed: " + "; ".join(left_out[:3]))
    clock, copies = sweep.workload.clock, sweep.workload.copies
    recorded = {v.name: v for v in contents_of(Setup(sweep.workload, sweep.base)).variables()}
    usual = [name for name in sweep.workload.headlines() if name in recorded]
    usual = usual or [name for name, one in recorded.items() if {*one.dims} == {clock, copies}]
    chosen = usual if variables is None else list(variables)
    targets = load_targets({"statistics": {n: {"of": n, "statistic": "last"} for n in chosen}})[0]
    series: dict[tuple[int, int], Any] = {}

    def compute(names: list[str], rows: list[list[Any]], ids: list[int]) -> None:
        with Simulator(sweep, tuple(names), targets, replicates, device) as simulate:
            numbers = np.tile(np.arange(replicates, dtype=np.int64), (len(rows), 1))
            for runs, found in simulate.computed(rows, numbers, progress):
                for place, run in enumerate(runs):
                    series[ids[run // replicates], run % replicates] = found.isel(run=place)

    # Numbers share a launch with the base; every word is a program of its own.
    words = [i for i, (_, before, _) in enumerate(points) if type(before) not in (int, float)]
    names = list(dict.fromkeys(key for i, (key, _, _) in enumerate(points) if i not in words))
    numbers = [i for i in range(len(points)) if i not in words]
    base = [value_at(data, name) for name in names]
    rows = [
        [points[i][2] if n == points[i][0] else value_at(data, n) for n in names] for i in numbers
    ]
    compute(names, [base, *rows], [BASE, *numbers])
    for i in words:
        compute([points[i][0]], [[points[i][2]]], [i])
    found = []
    for i, (key, before, after) in enumerate(points):
        twins = [
            (series[BASE, r], series[i, r])
            for r in range(replicates)
            if (BASE, r) in series and (i, r) in series
        ]
        if not twins:
            left_out.append(f"{key}: its runs failed")
            continue
        unit = unit_and_meaning(type(sweep.base), key)[0]
        found.append(Matter(key, unit, before, after, *_compared(twins, chosen, clock)))
    return clock, found, left_out


def keys_to_change(config: Any, set: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the keys that `matter` changes, with their values."""
    base = sweep_of(config, set).base
    data = base.model_dump()
    return [(key, value_at(data, key)) for key in _keys(type(base), data)]


BASE = -1
"""Number of the point at which no key is changed."""


def _compared(
    twins: Sequence[Any], names: Sequence[str], clock: str
) -> tuple[int, dict[str, float]]:
    """Return the first tick on which twins differ, and how far each series has moved at the end.

    Ticks and other entries that only one of the twins has are not compared.
    """
    firsts, moved = [], {}
    for name in names:
        both = [one[name].sizes for one in twins[0]]
        least = {dim: slice(min(sizes[dim] for sizes in both)) for dim in both[0]}
        each = [[one[name].isel(least).transpose(clock, ...) for one in pair] for pair in twins]
        a, b = (np.stack(side).astype(float) for side in zip(*each, strict=True))
        differs = ~((a == b) | (np.isnan(a) & np.isnan(b)))
        ticks = differs.reshape(*differs.shape[:2], -1).any((0, 2))
        firsts += [int(twins[0][0][clock].values[ticks.argmax()])] if ticks.any() else []
        with np.errstate(all="ignore"):
            moved[name] = float(np.mean(b[:, -1] - a[:, -1]) / np.mean(np.abs(a[:, -1])))
    return min(firsts, default=NEVER), moved


def _keys(model: Any, data: Mapping[str, Any]) -> list[str]:
    """Return the keys that are values of the model, and choices between words."""
    return [
        key
        for key in leaves(data)
        if not key.startswith(("workload", "record."))
        and (
            found_key(model, data, key)[1] in (VALUE, TABULATED, INITIAL)
            or _words(field_of(model, key))
        )
    ]


def _words(annotation: Any) -> list[Any]:
    """Return the words between which a key chooses; none if it is no choice."""
    if annotation is bool:
        return [False, True]
    return list(get_args(annotation)) if get_origin(annotation) is Literal else []


def _changes(base: Any, key: str, before: Any, change: float) -> list[list[Any]]:
    """Return values near that of a key, the preferred ones first; all other words of a choice."""
    if type(before) in (bool, str):
        others = [word for word in _words(field_of(type(base), key)) if word != before]
        return [others] if others else []
    if type(before) is int:
        step = max(1, round(abs(before) * change))
        return [[before + step], [before - step]]
    if type(before) is float:
        far = abs(before) * change or change
        return [[before + far], [before - far]]
    return []


def _valid(sweep: Sweep, key: str, values: Sequence[Any]) -> tuple[list[Any], str]:
    good, why = [], ""
    for value in values:
        try:
            checked_points(sweep, [{key: value}])
            good.append(value)
        except ConfigError as error:
            why = first_reason(error, key)
    return good, why


def matter_table(clock: str, found: Sequence[Matter]) -> Any:
    """Return a table of rich, with the keys without effect at the end."""
    rows = []
    for one in sorted(found, key=lambda one: one.first == NEVER):
        first = "never" if one.first == NEVER else str(one.first)
        moved = [digits(for_json(100 * value)) for value in one.moved.values()]
        cells = [f"{x:.6g}" if isinstance(x, float) else str(x) for x in (one.before, one.after)]
        rows.append([one.key, *cells, first, *(f"{m} %" for m in moved)])
    columns = ("key", "from", "to", f"first {clock}", *found[0].moved)
    return table_of(columns, rows, left=["key"], wrap=columns)
