"""Which study compares societies with twins that have a shock, each on a tick of its own if wanted?

A shock is an intervention. In place of the number of its tick it may say ``{random: [100, 400]}``:
then each society draws one of these ticks, by its number and the seed, so that all shocks with this
range happen to a society at once. Or it may say ``{given: [100, 200]}``: then societies have these
ticks in turn. ``lasts: 1`` is for how many ticks the values hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from societies.config.problems import Origin
from societies.errors import ConfigError, option
from societies.sweep.document import Sweep, load_sweep
from societies.words import plural, worded
from societies.workload.running.registry import workload

RANDOM, GIVEN, LASTS = "random", "given", "lasts"


def study_of_shocks(
    config: Any, shocks: Sequence[Any], replicates: int | None = None
) -> dict[str, Any]:
    """Return the sweep whose first point is the configuration; each other one has a shock as well.

    Raises
    ------
    ConfigError
        If the workload has no interventions, or a shock is none.
    """
    if "interventions" not in type(config).model_fields:
        raise _wrong(f"{config.workload} has no interventions")
    data = config.model_dump(mode="json")
    if replicates is not None and "replicates" in data:
        data["replicates"] = replicates
    before = data["interventions"]
    policies = [before, *([*before, *_interventions(data, config, one)] for one in shocks)]
    return {"base": data, "vary": {"grid": {"interventions": policies}}}


def sweep_of_shocks(config: Any, shocks: Sequence[Any], replicates: int | None = None) -> Sweep:
    """Return `study_of_shocks` as a sweep whose mistakes are named by the shock."""
    sweep = load_sweep(study_of_shocks(config, shocks, replicates))
    (factor,) = sweep.factors

    def place(row: int, key: str) -> Origin:
        if not row:
            return factor.place(row, key)
        number = f" {row}" if len(shocks) > 1 else ""
        return Origin((2, row), f"{option('shock')}{number}", names=True)

    return replace(sweep, factors=[replace(factor, place=place)])


def _wrong(text: str) -> ConfigError:
    return ConfigError(f"{option('shock')}: {text}")


def _interventions(data: Mapping[str, Any], config: Any, shock: Any) -> list[Any]:
    """Return the interventions of a shock: one, or one for each tick on which it happens."""
    named = workload(config.workload)
    clock, copies = named.clock, named.copies_plural
    if not isinstance(shock, Mapping):
        raise ConfigError(
            f"{option('shock')} {worded(shock)}: expected an intervention, {{{clock}: ...}}"
        )
    when = shock.get(clock)
    if not isinstance(when, Mapping):
        return [dict(shock)]
    kinds, lasts = {*when} - {LASTS}, when.get(LASTS)
    if kinds not in ({RANDOM}, {GIVEN}):
        raise _wrong(
            f"{clock}: expected a number, {{{RANDOM}: [FIRST, LAST]}} or "
            f"{{{GIVEN}: [A, B, ...]}}, either with {LASTS}: N or without"
        )
    if shock.get("remove") or "replicates" not in data:
        what = "a removal" if shock.get("remove") else f"an intervention of {config.workload}"
        raise _wrong(f"{clock}: {what} happens to all {copies} at once: name one")
    (kind,) = kinds
    ticks = when[kind]
    for name, values in ((kind, ticks), (LASTS, [1] if lasts is None else [lasts])):
        whole = isinstance(values, list) and all(type(one) is int for one in values)
        if not whole or not values or min(values) < (name == LASTS):
            least = int(name == LASTS)
            raise _wrong(
                f"{clock}.{name}: expected whole numbers from {least} on, "
                f"got {values if name == kind else lasts}"
            )
    if kind == RANDOM and (len(ticks) != 2 or ticks[0] > ticks[1]):
        raise _wrong(f"{clock}.{RANDOM}: expected [FIRST, LAST], got {ticks}")
    if max(ticks) >= named.ticks(config):
        raise _wrong(f"{clock}.{kind}: must be before the last {clock}, {named.ticks(config)}")
    for name in ("until", copies):
        if shock.get(name):
            more = f"; say how long with {LASTS}: N in {clock}" if name == "until" else ""
            raise _wrong(f"{name}: is not for shocks of different {plural(clock)}{more}")
    first = named.first(config)
    of: dict[int, list[int]] = {}
    for number in range(first, first + data["replicates"]):
        own = np.random.default_rng([data["seed"], number])
        at = ticks[(number - first) % len(ticks)]
        at = int(own.integers(ticks[0], ticks[1] + 1)) if kind == RANDOM else at
        of.setdefault(at, []).append(number)
    rest = {name: value for name, value in shock.items() if name != clock}
    rest["label"] = shock.get("label") or worded(json.dumps([{**rest, **when}]))
    return [
        {clock: at, **({} if lasts is None else {"until": at + lasts}), **rest, copies: numbers}
        for at, numbers in sorted(of.items())
    ]
