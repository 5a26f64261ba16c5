"""The economy: a society of self-interested agents that extract, barter and consume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from societies.economy.config import EconomyConfig
from societies.workloads import Workload

if TYPE_CHECKING:
    from societies.device.source import Source

__all__ = ["WORKLOAD", "EconomyConfig"]


def _run(config: EconomyConfig, **options: Any) -> Any:
    from societies.economy.run import run  # here, so that reading a configuration stays quick

    return run(config, **options)


def _plan(config: EconomyConfig, **options: Any) -> Any:
    from societies.economy.run import plan

    return plan(config, **options)


def _verify(config: EconomyConfig, **options: Any) -> Any:
    from societies.economy.run import verify

    return verify(config, **options)


def _capture(config: EconomyConfig, **options: Any) -> Any:
    from societies.economy.capture import capture

    return capture(config, **options)


def _trace(config: EconomyConfig, **options: Any) -> Any:
    from societies.economy.trace import trace

    return trace(config, **options)


def _source(config: EconomyConfig, macros: Mapping[str, Any]) -> Source:
    from societies.device.source import amalgamate
    from societies.economy import phases, source
    from societies.economy.parameters import parameters

    p = parameters(config)
    return amalgamate(phases.files(p), {**source.macros(p), **macros}, source.header(p))


WORKLOAD = Workload(
    name="economy",
    summary="agents extract, barter and consume resources",
    config_model=EconomyConfig,
    run=_run,
    plan=_plan,
    verify=_verify,
    capture=_capture,
    source=_source,
    trace=_trace,
)
