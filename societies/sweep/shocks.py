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

    Raises ConfigError if the workload has no interventions, or a shock is none.
    """
    if "interventions" not in type(config).model_fields:
        raise ConfigError(f"{option('shock')}: {config.workload} has no interventions")
    data = config.model_dump(mode="json")
    if replicates is not None:
        data["replicates"] = replicates
    before = data["interventions"]
    names = [_name(row, shocks) for row in range(1, len(shocks) + 1)]
    own = [_interventions(data, config, *of) for of in zip(shocks, names, strict=True)]
    policies = [before, *([*before, *one] for one in own)]
    return {"base": data, "vary": {"grid": {"interventions": policies}}}


def sweep_of_shocks(config: Any, shocks: Sequence[Any], replicates: int | None = None) -> Sweep:
    """Return `study_of_shocks` as a sweep whose mistakes are named by the shock."""
    sweep = load_sweep(study_of_shocks(config, shocks, replicates))
    (factor,) = sweep.factors

    def place(row: int, key: str) -> Origin:
        return Origin((row,), _name(row, shocks), names=True)

    return replace(sweep, factors=[replace(factor, place=place)])


def _name(row: int, shocks: Sequence[Any]) -> str:
    """Return the name of a shock for messages, numbered from 1 if there are several."""
    return f"{option('shock')} {row}" if len(shocks) > 1 else option("shock")


def _interventions(data: Mapping[str, Any], config: Any, shock: Any, name: str) -> list[Any]:
    """Return the interventions of a shock: one, or one for each tick on which it happens.

    Parameters
    ----------
    data, config : the base as plain data, and as a configuration
    shock : as the user wrote it
    name : of the shock, for messages
    """

    def wrong(text: str) -> ConfigError:
        return ConfigError(f"{name}: {text}")

    named = workload(config.workload)
    clock, copies = named.clock, plural(named.copies)
    if not isinstance(shock, Mapping):
        raise ConfigError(f"{name} {worded(shock)}: expected an intervention, {{{clock}: ...}}")
    when = shock.get(clock)
    if not isinstance(when, Mapping):
        return [dict(shock)]
    kinds, lasts = {*when} - {LASTS}, when.get(LASTS)
    if kinds not in ({RANDOM}, {GIVEN}):
        raise wrong(
            f"{clock}: expected a number, {{{RANDOM}: [FIRST, LAST]}} or "
            f"{{{GIVEN}: [A, B, ...]}}, either with {LASTS}: N or without"
        )
    if shock.get("remove"):
        raise wrong(f"{clock}: a removal happens to all {copies} at once: name one")
    (kind,) = kinds
    ticks = when[kind]
    for word, values in ((kind, ticks), *(() if lasts is None else ((LASTS, [lasts]),))):
        whole = isinstance(values, list) and all(type(one) is int for one in values)
        if not whole or not values or min(values) < (word == LASTS):
            least = int(word == LASTS)
            raise wrong(
                f"{clock}.{word}: expected whole numbers from {least} on, "
                f"got {values if word == kind else lasts}"
            )
    if kind == RANDOM and (len(ticks) != 2 or ticks[0] > ticks[1]):
        raise wrong(f"{clock}.{RANDOM}: expected [FIRST, LAST], got {ticks}")
    if max(ticks) >= named.ticks(config):
        raise wrong(f"{clock}.{kind}: must be before the last {clock}, {named.ticks(config)}")
    for word in ("until", copies):
        if shock.get(word):
            more = f"; say how long with {LASTS}: N in {clock}" if word == "until" else ""
            raise wrong(f"{word}: is not for shocks of different {plural(clock)}{more}")
    first = named.first(config)
    of: dict[int, list[int]] = {}
    for number in range(first, first + data["replicates"]):
        own = np.random.default_rng([data["seed"], number])
        at = ticks[(number - first) % len(ticks)]
        at = int(own.integers(ticks[0], ticks[1] + 1)) if kind == RANDOM else at
        of.setdefault(at, []).append(number)
    rest = {word: value for word, value in shock.items() if word != clock}
    rest["label"] = worded(json.dumps([{**rest, **when}]))
    return [
        {clock: at, **({} if lasts is None else {"until": at + lasts}), **rest, copies: numbers}
        for at, numbers in sorted(of.items())
    ]
