"""Which kernels is a day made of: how many workgroups each has, and the memory in which it works.

`phases` is the only place where a phase is registered. A new one needs a line here, its kernel in
``kernels/economy/``, its function of the same name in the file of the same name in
``reference_py/economy/``, and its place in the day (`societies.economy.schedule`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any

from societies.economy import source
from societies.economy.parameters import Parameters
from societies.economy.schedule import day_schedule
from societies.economy.state import DEVICE_TYPES, PURPOSE_COUNT, series_of
from societies.workload.phases import (
    Launch,
    Phase,
    Scratch,
    kernel_files,
    launches_of,
    phase,
    scratch_bytes,
)

LOG_DAYS = 64
"""Days whose series are kept on the device before the host reads them."""

CLOCK = "day"
"""Parameter of kernels and of the reference's functions that is handed the number of the day."""

CHANGING = ("row", "market_round", "device_type")
"""Further parameters that change from step to step; ``row`` is the day's place in the logs."""


def phases(p: Parameters) -> dict[str, Phase]:
    """Return every phase that a society of these parameters has, by name."""
    societies, d = p.societies, p.device
    agents, pairs = societies * p.agents, societies * (p.agents // 2)
    scores = Scratch((pairs, source.scores_in_global_memory(p)))
    rows = Scratch((agents, source.extraction_in_global_memory(p)))
    streams = {
        "societies": societies,
        "first_society": p.first_society,
        "stream_base": p.stream_base,
    }
    # With a single work-item for each workgroup these phases are faster on CPUs.
    alone = {"alone_on_cpu": True}

    found = {
        "seed_streams": phase(
            "economy/streams.cl",
            global_size=societies * (p.agents + 1) * PURPOSE_COUNT,
            arguments=streams,
        ),
        "extraction": phase("economy/extraction.cl", agents, scratch={"rows": rows} if d else {}),
        "matching": phase("economy/matching.cl", societies),
        "trading": phase("economy/trading.cl", pairs, scratch={"scores": scores}),
        "end_day": phase("economy/end_day.cl", agents, **alone),
        "refresh_values": phase("economy/end_day.cl", agents),
        "agent_statistics": Phase(_of_agents(p)),
        "society_statistics": Phase(_of_societies(p)),
        "consumption": phase("economy/consumption.cl", agents),
    }
    if p.shocks:
        found |= {
            "draw_shocks": phase("economy/shocks.cl", societies),
            "shocks": phase("economy/shocks.cl", agents, each=("shock", partial(_due, p))),
        }
    if d is not None:
        found |= {
            "start_day": phase("economy/start_day.cl", agents, **alone),
            "open_device_market": phase("economy/open_device_market.cl", societies, **alone),
            "device_matching": phase("economy/device_matching.cl", societies, **alone),
            "device_trading": phase("economy/device_trading.cl", pairs, **alone),
            "own_use": phase("economy/own_use.cl", agents, **alone),
            "production": phase("economy/production.cl", agents, **alone),
            "invention": phase(
                "economy/invention.cl",
                societies,
                scratch={
                    "invention_log": Scratch(
                        (societies, LOG_DAYS * p.agents, 4 + d.component_slots),
                        "int32",
                        shared="invention_log",
                    ),
                    "invention_count": Scratch((societies,), "uint32", shared="invention_count"),
                    "orders": Scratch((source.orders_in_global_memory(p),), "uint32"),
                },
                arguments={"log_rows": LOG_DAYS * p.agents},
                **alone,
            ),
        }
    return found


def _of_agents(p: Parameters) -> tuple[Launch, ...]:
    """Return what adds up the day of every agent."""
    kernel = partial(Launch, "economy/statistics.cl")
    agents = p.societies * p.agents
    holdings = kernel(agents * len(DEVICE_TYPES), "device_holdings")
    return (kernel(agents, "agent_statistics"), *([holdings] if p.device is not None else []))


def _of_societies(p: Parameters) -> tuple[Launch, ...]:
    """Return what fills the day's series, the kernel that logs them last."""
    kernel = partial(Launch, "economy/statistics.cl")
    societies, types, groups = p.societies, len(DEVICE_TYPES), len(p.trade_power)
    compared = len(source.DISTRIBUTIONS)
    rows = Scratch((societies, compared, p.agents))
    moments = Scratch((societies, compared, len(source.MOMENTS)), shared="moments")
    launches = [
        kernel(
            societies * compared,
            "distributions",
            scratch={"samples": rows, "works": rows, "moments": moments},
        )
    ]
    if p.device is not None:
        means = societies * sum(map(len, source.device_means().values()))
        known = Scratch((societies, LOG_DAYS, types, p.resources), "int32", shared="knowing_log")
        launches += [
            kernel(
                societies * types,
                "device_knowledge",
                scratch={"knowing_log": known},
                arguments={"rows": LOG_DAYS},
            ),
            kernel(means, "device_means", scratch={"amounts": Scratch((means, p.agents))}),
            kernel(societies, "device_statistics"),
        ]
    if groups > 1:
        utilities = Scratch((societies * groups, p.agents))
        launches.append(
            kernel(societies * groups, "group_statistics", scratch={"utilities": utilities})
        )
    log = Scratch((societies, LOG_DAYS, len(series_of(p))), shared="day_log")
    launches.append(
        kernel(
            societies,
            "society_statistics",
            scratch={"moments": moments, "day_log": log},
            arguments={"rows": LOG_DAYS},
        )
    )
    return tuple(launches)


def _due(p: Parameters, day: int) -> list[int]:
    """Return the shocks of the end of a day."""
    return [i for i, shock in enumerate(p.shocks) if shock.day == day]


def files(p: Parameters) -> list[str]:
    """Return the files of the kernels that a society of these parameters needs."""
    return kernel_files(phases(p))


def working_bytes(p: Parameters) -> int:
    """Return the bytes on the device in addition to the state: tables, scratch memory and logs."""
    tables = sum(array.nbytes for array in source.tables(p).values())
    return tables + scratch_bytes(phases(p))


def launches_per_day(p: Parameters) -> int:
    """Return the kernels launched on day 1."""
    return launches_of(phases(p), day_schedule(p, 1), 1)


def reference(table: Mapping[str, Phase]) -> dict[str, Callable[..., None]]:
    """Return what carries out each phase in plain Python, by name.

    It is called with parameters, society and day, and by name with all that a step carries; the
    function of the reference is handed what it has parameters for.
    """
    return {name: _function(name, one) for name, one in table.items()}


def _function(name: str, one: Phase) -> Callable[..., None]:
    module = PurePosixPath(one.launches[-1].file).stem
    function: Callable[..., None] = getattr(import_module(f"reference_py.economy.{module}"), name)
    wanted = list(inspect.signature(function).parameters)[2:]

    def run(p: Any, society: Any, day: int, **arguments: int) -> None:
        values = {CLOCK: day, **arguments}
        function(p, society, **{one: values[one] for one in wanted})

    return run
