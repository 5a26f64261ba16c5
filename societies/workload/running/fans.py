"""How do copies of a run get the same past and different futures?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, OutputError, option
from societies.words import plural
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup

FAN = "fan"
"""Section with the tick and number of the futures of one past."""


def futures_of(saved: Mapping[str, Any], setup: Setup[Any, Any], path: Path, tick: int) -> int:
    """Return how many copies of a branch continue each copy of its parent; 0: it is no new fan.

    Raises OutputError if the branch is a fan of other copies than the parent has, or begins on
    another tick.
    """
    here = setup.config.model_dump(mode="json")
    fan = here.get(FAN) or {}
    if not fan.get("futures") or (saved.get(FAN) or {}).get("futures"):
        return 0
    count, clock = fan["futures"], setup.workload.clock
    if fan[clock] != tick:
        raise OutputError(
            f"{path}: the futures of {FAN} begin after {clock} {fan[clock]}, the branch after "
            f"{clock} {tick}; name the same {clock} in both"
        )
    for name in ("replicates", f"first_{setup.workload.copies}"):
        known = saved.get(name, 1 if name == "replicates" else 0)
        if here.get(name) != known * count:
            raise OutputError(
                f"{path}: has {name} {known}, so a branch with {count} futures of each has {name} "
                f"{known * count}, not {here.get(name)}\n"
                f"give a configuration with {name}: {known} and {option(FAN, count)}, or one with "
                f"{name}: {known * count} and the key {FAN}"
            )
    return int(count)


def repeated(state: State, futures: int) -> State:
    """Return a state that has every copy ``futures`` times, next to each other."""
    if futures < 2:
        return state
    return {name: np.repeat(values, futures, axis=0) for name, values in state.items()}


def of_futures(
    columns: Mapping[str, NDArray[Any]], copies: str, futures: int
) -> dict[str, NDArray[Any]]:
    """Return events in the same order, each repeated for every future of its copy."""
    if futures < 2 or copies not in columns:
        return {**columns}
    found = {name: np.repeat(values, futures, axis=0) for name, values in columns.items()}
    own = np.tile(np.arange(futures), len(columns[copies])).astype(found[copies].dtype)
    found[copies] = found[copies] * futures + own
    return found


def with_fan(config: Any, tick: int, futures: int) -> Any:
    """Return the configuration of a fan: each copy has ``futures`` futures after a tick.

    Raises ConfigError if the workload has no fans, or the configuration is one already.
    """
    from societies.workload.running.registry import config_from_dict, workload

    own = option(FAN, futures)
    if FAN not in type(config).model_fields:
        raise ConfigError(f"{own}: {config.workload} has no key {FAN}: its draws stay the same")
    if config.table is not None or getattr(config, FAN).futures:
        what = "is a fan already" if config.table is None else "has a table of parameters"
        raise ConfigError(f"{own}: the configuration {what}; take one that is not")
    named = workload(config.workload)
    if any(getattr(one, plural(named.copies), None) for one in config.interventions):
        raise ConfigError(
            f"{own}: an intervention is for some {plural(named.copies)} alone, whose numbers are "
            "others in a fan"
        )
    data, first = config.model_dump(mode="json"), f"first_{named.copies}"
    data[FAN] = {named.clock: tick, "futures": futures}
    return config_from_dict(data | {name: data[name] * futures for name in ("replicates", first)})
