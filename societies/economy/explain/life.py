"""How is an agent's life over many days recorded: wealth, income, production, trades and rank?

The society is run on any OpenCL device. The requested days are run step by step, and the agent's
holdings are compared before and after each step of a market. So nothing is replayed, and recording
a life takes little longer than the run. `report_life` writes it as a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.economy.devices import SOURCES
from reference_py.economy.parameters import Parameters
from societies.economy.config import EconomyConfig
from societies.economy.explain.agent_life import Day, Dealt, Life, Swapped
from societies.economy.explain.replay import parameters_of_one
from societies.economy.explain.trace import engine_before, require_agent
from societies.errors import ConfigError, option
from societies.opencl import Device
from societies.workload.declare.phases import Step
from societies.workload.declare.protocol import Setup
from societies.workload.running.engines import Engine
from societies.workload.running.progress import Advance


def days_of(text: str) -> tuple[int, int]:
    """Return the first and last day of a text such as ``1:300``.

    Raises
    ------
    ConfigError
        If the text does not have this form.
    """
    match = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ConfigError(f"{option('days', text)}: expected first:last, such as 1:300")
    return int(match[1]), int(match[2])


def resource_of(text: str, resources: int) -> int:
    """Return the resource of a text such as ``invention:21``.

    Raises
    ------
    ConfigError
        If the text does not have this form, or there is no such resource.
    """
    match = re.fullmatch(r"invention:(\d{1,9})", text)
    if not match or int(match[1]) >= resources:
        raise ConfigError(
            f"{option('without', text)}: expected invention:R, where R is a resource from 0 to "
            f"{resources - 1}"
        )
    return int(match[1])


def without_invention(config: EconomyConfig, resource: int) -> EconomyConfig:
    """Return the configuration in which no device of a resource is invented."""
    from societies.workload.running.registry import config_from_dict

    if config.devices == "none":
        raise ConfigError(f"{option('without')}: nothing is invented without devices")
    data: dict[str, Any] = config.model_dump(mode="json")
    data["invention"]["banned_of"] = resource
    found = config_from_dict(data)
    assert isinstance(found, EconomyConfig)
    return found


def life(
    setup: Setup[EconomyConfig, Parameters],
    *,
    days: str,
    agent: int,
    society: int | None = None,
    start: str | Path | None = None,
    device: str | Device = "auto",
    progress: Advance | None = None,
) -> Life:
    """Return an agent's life; parameters and errors as for `trace`, ``days`` is first:last."""
    workload, config = setup.workload, setup.config
    first, last = days_of(days)
    number = config.first_society if society is None else society
    require_agent(config, last, agent, number, word="days")
    record = config.record.model_copy(update={"measures": True, "numeraire": "any"})
    whole = workload.parameters(config.model_copy(update={"record": record}))
    p = parameters_of_one(whole, number)
    engine, begin, name = engine_before(setup, p, first, start, device, progress, last)
    reached = f"by days {begin + 1} to {last} on {name}"
    if begin:
        reached = f"from the checkpoint of day {begin} in {start}, {reached}"
    found = Life(
        p.agents, p.resources, number, agent, first, last, p.devices is not None, reached=reached
    )
    _live(engine, found, known=begin < first - 1, progress=progress)
    return found


def _live(engine: Engine, found: Life, *, known: bool, progress: Advance | None) -> None:
    """Run the requested days and record them; ``known``: the day before the first has measures."""
    agent = found.agent
    evening = _evening(engine, found.devices)
    wealth = evening["wealth"] if known else None
    if not evening["alive"][agent]:
        raise ConfigError(f"{option('agent', agent)}: was removed before day {found.first}")
    if wealth is not None:
        found.before = int(_ranks(evening)[agent]), float(wealth[agent])
    elif found.first == 1:
        wealth = np.zeros(found.agents)
    for day in range(found.first, found.last + 1):
        before = evening
        swaps: list[Swapped] = []
        deals: list[Dealt] = []
        for step, changed in _steps(engine, found, day):
            if step.phase == "trading":
                swaps += _swapped(agent, *changed)
            else:
                deals += _dealt(agent, step, *changed)
        evening = _evening(engine, found.devices)
        if not evening["alive"][agent]:
            found.removed_on = day
            break
        one = _day(found, day, before if wealth is not None else None, evening)
        one.swaps, one.deals = swaps, deals
        found.days.append(one)
        living = evening["alive"] > 0
        found.mean_wealth.append(float(evening["wealth"][living].mean()))
        wealth = evening["wealth"]
        if progress:
            progress(day, found.last)


EVENING = (
    *("alive", "wealth", "income", "income_extraction", "income_swaps", "utility_consumed"),
    *("extracted", "gain_per_minute"),
)
DEVICE_EVENING = (
    *("income_sales", "spending_devices", "wealth_stocks", "wealth_devices", "devices_made"),
    *("extracted_with", "invented_on", "inventor"),
)
SWAPS = ("held", "income_swaps", "partners")
DEALS = ("devices_sold", "income_sales", "spending_devices", "bought", "device_partners")


def _evening(engine: Engine, devices: bool) -> dict[str, NDArray[Any]]:
    """Return the arrays of the only society that are read every evening."""
    names = (*EVENING, *(DEVICE_EVENING if devices else ()))
    if "redistributed" in engine.fields:
        names = (*names, "redistributed")
    return _of_one(engine, names)


def _of_one(engine: Engine, names: Iterable[str]) -> dict[str, Any]:
    """Return arrays of the only society."""
    return {name: array[0] for name, array in engine.arrays(*names).items()}


def _steps(engine: Engine, found: Life, day: int) -> Iterator[tuple[Step, tuple[Any, Any]]]:
    """Run a day; yield the rounds of markets with the arrays before and after."""
    watched = {"trading": SWAPS, "device_trading": DEALS}
    for step in engine.steps(day):
        names = watched.get(step.phase, ())
        before = _of_one(engine, names)
        engine.step(step, day)
        if names:
            after = _of_one(engine, names)
            if step.phase == "trading":
                order = before["partners"][step.arguments["market_round"]]
                before["partner"] = _partner(order, found.agent)
            else:
                before["partner"] = _partner(after["device_partners"], found.agent)
            yield step, (before, after)


def _partner(order: NDArray[Any], agent: int) -> int | None:
    """Return the partner of the agent: positions 0 and 1 meet, 2 and 3, and so on.

    It is None if the agent is the last of an odd number, or if the market did not open.
    """
    if agent not in order:
        return None
    place = order.tolist().index(agent)
    other = place + 1 - 2 * (place % 2)
    return int(order[other]) if other < len(order) else None


def _swapped(agent: int, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Swapped]:
    gained = float(after["income_swaps"][agent] - before["income_swaps"][agent])
    change = after["held"][agent].astype(np.int64) - before["held"][agent]
    if gained:
        given = {int(r): int(-change[r]) for r in np.flatnonzero(change < 0)}
        received = {int(r): int(change[r]) for r in np.flatnonzero(change > 0)}
        yield Swapped(before["partner"], given, received, gained)


def _dealt(
    agent: int, step: Step, before: dict[str, Any], after: dict[str, Any]
) -> Iterator[Dealt]:
    other = before["partner"]
    if other is None:
        return
    device_type = step.arguments["device_type"]
    for sold, seller, buyer in ((True, agent, other), (False, other, agent)):
        counts = [array["devices_sold"][seller, device_type] for array in (after, before)]
        if counts[0] > counts[1]:
            name = "income_sales" if sold else "spending_devices"
            util = float(after[name][agent] - before[name][agent])
            bought = tuple(int(r) for r in np.flatnonzero(after["bought"][buyer]))
            count = int(counts[0] - counts[1])
            yield Dealt(sold, device_type, count, bought, other, util)


def _ranks(evening: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    """Return each agent's rank by wealth among the living agents; 1 is the wealthiest."""
    wealth = np.where(evening["alive"] > 0, evening["wealth"], -np.inf)
    ranks: NDArray[np.int64] = 1 + (wealth[None, :] > wealth[:, None]).sum(axis=1)
    return ranks


def _changes(before: dict[str, NDArray[Any]], evening: dict[str, Any]) -> dict[str, Any]:
    """Return each agent's change of wealth by `PARTS`, as arrays (agent,)."""
    zero = np.zeros_like(evening["wealth"])
    devices = evening.get("wealth_devices", zero) - before.get("wealth_devices", zero)
    parts = {
        "extraction": evening["income_extraction"],
        "swaps": evening["income_swaps"],
        "sales": evening.get("income_sales", zero),
        "payments": -evening.get("spending_devices", zero),
        "redistribution": evening.get("redistributed", zero),
        "consumption": -evening["utility_consumed"],
        "devices": devices,
    }
    change = evening["wealth"] - before["wealth"]
    return {**parts, "other": change - sum(parts.values())}


def _day(
    found: Life, number: int, before: dict[str, NDArray[Any]] | None, evening: dict[str, Any]
) -> Day:
    agent = found.agent
    others = evening["alive"] > 0
    others[agent] = False
    changes = _changes(before, evening) if before is not None else {}
    ranks = _ranks(evening)
    day = Day(
        day=number,
        rank=int(ranks[agent]),
        wealth=float(evening["wealth"][agent]),
        wealth_devices=float(evening["wealth_devices"][agent]) if found.devices else 0.0,
        income=float(evening["income"][agent]),
        change={name: float(part[agent]) for name, part in changes.items()},
        mean={
            name: float(part[others].mean()) if others.any() else 0.0
            for name, part in changes.items()
        },
        extracted=_counts(evening["extracted"][agent]),
        sources={},
        gain_per_minute=float(evening["gain_per_minute"][agent]),
    )
    if before is not None and number > 1:
        was = _ranks(before)
        day.overtook = [
            int(a)
            for a in np.flatnonzero(others)
            if was[a] < was[agent] and ranks[a] > ranks[agent]
        ]
        day.overtaken_by = [
            int(a)
            for a in np.flatnonzero(others)
            if was[a] > was[agent] and ranks[a] < ranks[agent]
        ]
    if found.devices:
        used = evening["extracted_with"][agent].tolist()
        day.sources = {name: n for name, n in zip(SOURCES, used, strict=True) if n}
        made = evening["devices_made"][agent]
        day.made = {(int(t), int(r)): int(made[t, r]) for t, r in np.argwhere(made > 0)}
        new = (evening["invented_on"] == number) & (evening["inventor"] == agent)
        day.invented = [(int(t), int(r)) for t, r in np.argwhere(new)]
    return day


def _counts(units: NDArray[Any]) -> dict[int, int]:
    return {int(r): int(units[r]) for r in np.flatnonzero(units)}
