"""Which kernels run in a day, with how many workgroups and which working memory?

The phases are defined by the order of the day (`reference_py.economy.schedule`). The kernel of a
phase has the name of its reference function and is in the file of that function's module name in
``kernels/economy/``. A phase that only needs a workgroup for each agent needs no line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

from reference_py.economy import schedule
from reference_py.economy.devices import TYPES
from reference_py.economy.measures import COMPARED, measured
from reference_py.economy.parameters import Parameters
from reference_py.economy.streams import PURPOSE_COUNT
from societies.economy import memory, source
from societies.workload.declare.phases import Joined, Launch, Phase, Scratch, phase
from societies.workload.running.faults import require_no_fault

CREW_WORDS = 3
"""As in kernels/economy/crew.cl: words of a society, besides one for each agent."""

CLOCK = "day"
"""Name of the parameter of kernels and reference functions that receives the day's number."""


def phases(p: Parameters, societies: int) -> dict[str, Phase]:
    """Return every phase of a run with ``societies`` societies of these parameters, by name."""
    scheduled, agents = schedule.phases(p), societies * p.agents
    said = {name: one for name, one in _launched(p, societies).items() if name in scheduled}
    # The phases in `said` come first, in their order: a file is expanded where it is first
    # included, and that must happen before another file includes it inside an `#if`.
    rest = {name: phase(_file(scheduled[name]), agents) for name in scheduled if name not in said}
    noted = partial(require_no_fault, p.rule_sites, CLOCK, "society") if p.rule_sites else None
    return {name: _alone(one, noted) for name, one in (said | rest).items()}


def _alone(one: Phase, host: Callable[..., None] | None) -> Phase:
    """Return a phase whose workgroups have a single work-item on CPUs, which is faster.

    Kernels built for CPUs rely on it (``ALL_ALONE`` in kernels/primitives/real.cl).
    """
    return replace(
        one, launches=tuple(replace(x, alone_on_cpu=True) for x in one.launches), host=host
    )


def _file(function: Callable[..., None]) -> str:
    """Return the file of the kernel that corresponds to a reference function."""
    return f"economy/{function.__module__.rpartition('.')[2]}.cl"


def _launched(p: Parameters, societies: int) -> dict[str, Phase]:
    """Return the phases that are launched differently from one workgroup for each agent."""
    agents, pairs = societies * p.agents, societies * (p.agents // 2)
    scores = Scratch((pairs, memory.scores_in_global_memory(p)))
    # kernels/economy/menu.cl, menu_t: a real for each resource, two, and at most half a word for
    # each resource twice, in whole reals
    menu = p.resources + 2 + (p.resources + 1) // 2
    menus = {"menus": Scratch((agents, menu), shared="menus", cached=True)}
    meetings = {"scores": replace(scores, shared="scores"), **menus}

    def opens(
        first: str, steps: tuple[str, ...], market: Launch, *more: Launch, on_cpu: bool | None
    ) -> Phase:
        """Return the first phase of a market; one launch can carry out all its steps."""
        own = {"crews": Scratch((societies, CREW_WORDS + p.agents), "uint32", shared="crews")}
        whole = replace(market, scratch={**market.scratch, **own}, alone_on_cpu=True)
        joined = Joined(steps, whole, on_cpu, ordered=True) if pairs and steps else None
        return Phase((Launch(f"economy/{first}.cl", societies), *more), joined=joined)

    found = {
        "seed_streams": phase(
            "economy/streams.cl",
            global_size=societies * (p.agents + 1) * PURPOSE_COUNT,
            arguments={"societies": societies},
        ),
        "extraction": _extraction(p, societies),
        "matching": opens(
            "matching",
            ("trading",) * p.rounds,
            Launch("economy/trading.cl", pairs, "resource_market", scratch=meetings),
            on_cpu=None,
        ),
        "trading": _resource_trade(p, pairs, Launch("economy/trading.cl", pairs, scratch=meetings)),
        "end_day": phase("economy/end_day.cl", agents),
        "agent_statistics": Phase(_of_agents(p, societies)),
        "society_statistics": Phase(_of_societies(p, societies)),
        "consumption": phase("economy/consumption.cl", agents),
    }
    if p.futures:
        found["seed_futures"] = found["seed_streams"]
    if p.synchronizes:
        found["synchronize_draws"] = found["seed_streams"]
    if p.measures:
        found |= {
            "agent_measures": Phase(_of_agents_measures(p, societies)),
            "society_measures": Phase(_of_measures(p, societies)),
        }
    if p.policies:
        found |= {
            "collect_taxes": Phase(_of_policies(p, societies, "collect_taxes", "fill_fund")),
            "pay_transfers": Phase(_of_policies(p, societies, "pay_transfers", "reduce_fund")),
        }
    if p.shocks:
        found |= {
            "draw_shocks": phase("economy/shocks.cl", societies),
            "shocks": phase("economy/shocks.cl", agents, each=("shock", partial(_due, p))),
        }
    if p.devices is not None:
        # kernels/economy/benefit.cl, used_t: 64 bytes for each resource of an agent
        # kernels/economy/appraisals.cl, appraisal_t: two reals and a byte for each resource
        known = 2 * p.resources + (p.resources + 7) // 8
        valued = {
            "uses": Scratch((agents, p.resources, 8), shared="uses"),
            "appraisals": Scratch((agents, known), shared="appraisals", cached=True),
        }
        found |= {
            "start_day": phase("economy/start_day.cl", agents),
            "open_device_market": opens(
                "open_device_market",
                ("device_matching", "device_trading") * p.device_rounds,
                Launch("economy/device_trading.cl", pairs, "device_market", scratch=valued | menus),
                Launch(
                    "economy/open_device_market.cl",  # its text comes with that of own use
                    kernel="appraise",
                    global_size=agents * p.resources,
                    scratch=valued,
                    arguments={"all_agents": agents},
                    on_cpu=False,
                ),
                on_cpu=True,
            ),
            "device_matching": phase(
                "economy/device_matching.cl",
                societies,
                items=memory.ITEMS_AT_ONCE if memory.memories_fit(p) else 0,
            ),
            "device_trading": phase("economy/device_trading.cl", pairs, scratch=valued | menus),
            "own_use": phase("economy/own_use.cl", agents, scratch=valued),
            "production": phase("economy/production.cl", agents),
            "invention": phase(
                "economy/invention.cl",
                societies,
                scratch={
                    "orders": Scratch((societies * memory.orders_in_global_memory(p),), "uint32")
                },
            ),
        }
    return found


def _extraction(p: Parameters, societies: int) -> Phase:
    """Return the forms of extraction for CPUs and for GPUs with few and with many agents."""
    agents = societies * p.agents
    reals = memory.extraction_in_global_memory(p)

    def several(kernel: str, most: int, more: int = 0) -> Launch:
        rows = Scratch((agents, reals + more * p.resources))
        together = memory.extraction_together(p, societies, most)
        return Launch(
            f"economy/{kernel}.cl",
            -(-agents // together),
            kernel,
            scratch={"rows": rows},
            arguments={"all_agents": agents, "together": together},
        )

    usual = several("extraction", memory.extraction_slots(p))
    if memory.extraction_at_once(p, societies):
        return _at_once(p, societies, usual)
    many = few = usual
    if in_step := memory.extraction_in_step(p):
        many = several("extraction_in_step", in_step, memory.REALS_OF_A_UNIT)
    if memory.extraction_front(p):
        file, kernel = "economy/extraction_front.cl", "extraction_by_front"
        few = Launch(file, agents, kernel, scratch=many.scratch)
    if many is few:
        return Phase((usual,))
    on_gpu = replace(many, together=few, on_cpu=False)
    return Phase((replace(usual, on_cpu=True), on_gpu))


def _at_once(p: Parameters, societies: int, usual: Launch) -> Phase:
    """Return the form of extraction for GPUs with few agents.

    Without trade an agent's day ends with extraction, and its statistics follow in the same launch.
    """
    own = Launch(
        "economy/day_without_trade.cl",
        societies * p.agents,
        "extraction_at_once",
        memory.ITEMS_AT_ONCE,
        on_cpu=False,
    )
    return Phase(
        (replace(usual, on_cpu=True), own),
        joined=Joined(("end_day", "agent_statistics"), replace(own, kernel="day_without_trade")),
    )


def _resource_trade(p: Parameters, pairs: int, alone: Launch) -> Phase:
    """Return a round of the resource market; a GPU holds many meetings in step."""
    several = memory.meetings_in_step(p)
    if not several or not memory.many_pairs(p, pairs):
        return Phase((alone,))
    many = replace(
        alone,
        groups=-(-pairs // several),
        kernel="meetings",
        items=several * memory.MEETING_LANES,
        arguments={"all_pairs": pairs},
        on_cpu=False,
    )
    return Phase((replace(alone, on_cpu=True), many))


def _of_agents(p: Parameters, societies: int) -> tuple[Launch, ...]:
    """Return the launches that sum up the day of every agent."""
    agents = societies * p.agents
    own = Launch("economy/statistics.cl", agents, "agent_statistics")
    holdings = Launch("economy/device_statistics.cl", agents * TYPES, "device_holdings")
    return (own, holdings) if p.devices is not None else (own,)


def _of_societies(p: Parameters, societies: int) -> tuple[Launch, ...]:
    """Return the launches that compute the day's series."""
    kernel = partial(Launch, "economy/statistics.cl")
    of_devices = partial(Launch, "economy/device_statistics.cl")
    compared = len(source.DISTRIBUTIONS)
    rows = Scratch((societies, compared, p.agents))
    moments = Scratch((societies, compared, len(source.MOMENTS)), shared="moments")
    usual = True if memory.statistics_at_once(p) else None  # on CPUs alone, or everywhere
    launches = [
        kernel(
            societies * compared,
            "distributions",
            scratch={"samples": rows, "works": rows, "moments": moments},
            on_cpu=usual,
        )
    ]
    if p.devices is not None:
        means = societies * sum(map(len, source.device_means().values()))
        launches += [
            of_devices(societies * TYPES, "device_knowledge"),
            of_devices(means, "device_means", scratch={"amounts": Scratch((means, p.agents))}),
            of_devices(societies, "device_statistics"),
        ]
    if p.policies:
        launches.append(kernel(societies, "policy_statistics"))
    if p.groups > 1:
        utilities = Scratch((societies * p.groups, p.agents))
        groups = Launch("economy/group_statistics.cl", societies * p.groups, "group_statistics")
        launches.append(replace(groups, scratch={"utilities": utilities}))
    launches.append(
        kernel(societies, "society_statistics", scratch={"moments": moments}, on_cpu=usual)
    )
    if usual:
        file, items = "economy/society_at_once.cl", memory.ITEMS_AT_ONCE
        launches.append(Launch(file, societies, "society_at_once", items, on_cpu=False))
    return tuple(launches)


def _of_agents_measures(p: Parameters, societies: int) -> tuple[Launch, ...]:
    """Return the launches that compute the economic measures of every agent."""
    kernel = partial(Launch, "economy/measures.cl")
    agents, row = societies * p.agents, Scratch((societies, p.agents))
    costs = Scratch((agents, 0 if p.devices is None else TYPES * p.resources))
    value = kernel(societies, "value_minutes", scratch={"samples": row, "works": row})
    close = kernel(agents, "agent_measures", scratch={"costs": costs})
    return (close,) if p.devices is None else (value, close)


def _of_policies(p: Parameters, societies: int, first: str, then: str) -> tuple[Launch, ...]:
    """Return a launch for every agent, and one that brings the fund up to date."""
    kernel = partial(Launch, "economy/policies.cl")
    return (kernel(societies * p.agents, first), kernel(societies, then))


def _of_measures(p: Parameters, societies: int) -> tuple[Launch, ...]:
    """Return the launches that compute the economic measures of every society."""
    kernel = partial(Launch, "economy/measures.cl")
    quantities = len(measured(p))
    rows = Scratch((societies * quantities, p.agents))
    of_groups = societies * len(COMPARED) * p.groups
    members = {"works": Scratch((of_groups, p.agents))}
    return (
        kernel(societies * quantities, "compare_agents", scratch={"samples": rows, "works": rows}),
        *([kernel(of_groups, "compare_groups", scratch=members)] if p.groups > 1 else []),
        kernel(societies, "market_prices"),
    )


def _due(p: Parameters, day: int) -> list[int]:
    """Return the indices of the shocks at the end of a day."""
    return [i for i, shock in enumerate(p.shocks) if shock.day == day]


def reference(p: Parameters) -> dict[str, Callable[..., None]]:
    """Return the function that runs each phase in plain Python, by the phase's name.

    It is called with parameters, society and day, and with all arguments of the step by keyword; it
    passes on those that the reference function has parameters for.
    """
    return {name: _called(function) for name, function in schedule.phases(p).items()}


def _called(function: Callable[..., None]) -> Callable[..., None]:
    asked = list(signature(function).parameters)[2:]

    def run(p: Parameters, society: Any, day: int, **arguments: int) -> None:
        numbers = {CLOCK: day, **arguments}
        function(p, society, **{name: numbers[name] for name in asked})

    return run
