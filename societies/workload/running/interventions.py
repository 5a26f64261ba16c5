"""How does a configuration get another intervention, for a branch or on the page of a run?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from societies.errors import ConfigError, option, override
from societies.workload.declare.varying import SHARED, SHARED_SHAPE


def with_values(config: Any, tick: int, values: Mapping[str, Any]) -> Any:
    """Return the configuration with an intervention that sets values at the end of a tick.

    Raises
    ------
    ConfigError
        If a value cannot be changed.
    """
    if "interventions" not in type(config).model_fields:
        raise ConfigError(
            f"{config.workload} has no key interventions: its values cannot be changed on the way"
        )
    from societies.workload.declare.registry import workload

    if "interventions" in {key.partition(".")[0] for key in values}:
        raise ConfigError(
            "interventions: a branch has those of CONFIG; write them there, or name the values "
            f"that change after {option('tick')}: {override('KEY=VALUE')}"
        )
    clock, own = workload(config.workload).clock, f"interventions.{len(config.interventions)}"
    try:
        return with_intervention(config, {clock: tick, "set": dict(values)})
    except ConfigError as error:  # the user gave values and no intervention: reword the message
        text = str(error).replace(f"{own}.set.", "")
        text = text.replace(f"{own}.{clock}: ", f"{option(clock)}: ")
        text = text.replace(SHARED, "stays as in the parent; only parameters of the model change")
        text = text.replace(SHARED_SHAPE, "it stays as in the parent")
        raise ConfigError(text.replace(f"{own}: ", "")) from None


def with_intervention(config: Any, intervention: Mapping[str, Any]) -> Any:
    """Return the configuration with another intervention, given as plain data."""
    from societies.workload.declare.registry import config_from_dict

    data = config.model_dump(mode="json")
    data["interventions"] = [*data["interventions"], dict(intervention)]
    changed = config_from_dict(data)
    changed._table = config.table
    return changed
