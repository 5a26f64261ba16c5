"""What is the reference handed: the parameters as plain numbers and lists."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from societies.economy.parameters import EffortCurve, Parameters
from societies.economy.state import (
    DEVICE_TYPES,
    PURPOSE_COUNT,
    PURPOSES,
    series_of,
    sizes,
    state_fields,
)
from societies.streams import STREAM_GAP


def plain(p: Parameters) -> SimpleNamespace:
    """Return the parameters as plain numbers and lists."""
    numbers = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(p).items()
    }
    numbers["utility_curves"] = [
        SimpleNamespace(marginal=c.marginal.tolist(), total=c.total.tolist(), floor=c.floor)
        for c in p.utility_curves
    ]
    numbers["effort_curves"] = _plain_curves(p.effort_curves)
    if p.device is not None:
        device = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(p.device).items()
        }
        device["effort_curves"] = _plain_curves(p.device.effort_curves)
        numbers["device"] = SimpleNamespace(**device, component_slots=p.device.component_slots)
    lengths = sizes(p)
    return SimpleNamespace(
        **numbers,
        stream_base=p.stream_base,
        stream_gap=STREAM_GAP,
        purposes=PURPOSES,
        purpose_count=PURPOSE_COUNT,
        series=list(series_of(p)),
        device_types=len(DEVICE_TYPES),
        device_names=DEVICE_TYPES,
        agent_fields={
            name: (_plain(field.initial, field.dtype), [lengths[dim] for dim in field.dims[1:]])
            for name, field in state_fields(p).items()
            if field.of_agent
        },
    )


def _plain_curves(curves: tuple[EffortCurve, ...]) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(
            minutes=c.minutes.tolist(), total=c.total.tolist(), max_experience=c.max_experience
        )
        for c in curves
    ]


def _plain(value: Any, dtype: str) -> int | float:
    return float(value) if dtype == "float64" else int(value)
