"""What do the economy's kernels see of a configuration: macros, and accessors from the state table.

Kernels write ``held(agent, resource)`` and ``P(min_surplus)``; this module makes the text that
gives both a meaning.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from societies.economy.parameters import (
    LOSE,
    RANDOM_INDEX,
    REMOVE_AGENT,
    REMOVE_RESOURCE,
    DeviceParameters,
    Parameters,
)
from societies.economy.state import (
    DEVICE_TYPES,
    PURPOSE_COUNT,
    PURPOSES,
    SOURCES,
    Field,
    group_families,
    series_of,
    state_fields,
)
from societies.streams import STREAM_GAP

DISTRIBUTIONS = ("utility", "three_days", "total", "extracted", "minutes", "total_before")
"""Quantities that are compared between agents: macros ``OF_...`` in the order of this list."""

MOMENTS = ("sum", "gini", "median")
"""What is kept of each of them: macros ``MOMENT_...``."""

_C_TYPES = {"int32": "int", "float64": "real", "uint8": "uchar", "uint64": "ulong"}
_LENGTHS = {
    "agent": "AGENTS",
    "resource": "RESOURCES",
    "owner": "(AGENTS + 1)",
    "purpose": "PURPOSES",
    "shock": "SHOCK_SLOTS",
    "round": "ROUND_SLOTS",
    "series": "SERIES",
    "device_type": "TYPES",
    "source": "SOURCES",
    "partner": "AGENTS",
    "price": "PRICE_MEMORY",
    "memory_day": "PARTNER_MEMORY",
    "production_day": "PRODUCTION_MEMORY",
    "component": "COMPONENT_SLOTS",
}
PRICES = {"geometric": 0, "inverse_geometric": 1, "unit": 2}


def tables(p: Parameters) -> dict[str, NDArray[np.generic]]:
    """Return the constant arrays of the kernels by the name of their parameter."""
    marginal_lengths = p.table_lengths
    effort_lengths = [len(curve.minutes) for curve in p.effort_curves]
    found: dict[str, NDArray[np.generic]] = {
        "group_of_agent_table": p.group_of_agent,
        "marginal_table": np.concatenate([curve.marginal for curve in p.utility_curves]),
        "total_table": np.concatenate([curve.total for curve in p.utility_curves]),
        "utility_start_table": _starts(marginal_lengths),
        "utility_length_table": np.array(marginal_lengths, dtype=np.uint32),
        "utility_curve_table": p.utility_curve_of.astype(np.uint32),
        "effort_table": np.concatenate([curve.minutes for curve in p.effort_curves]),
        "effort_start_table": _starts(effort_lengths),
        "effort_length_table": np.array(effort_lengths, dtype=np.uint32),
        "effort_curve_table": p.effort_curve_of.astype(np.uint32),
        "max_experience_table": np.array([curve.max_experience for curve in p.effort_curves]),
        "consumption_threshold_table": p.consumption_threshold,
        "trade_power_table": p.trade_power,
    }
    if p.device is not None:
        curves = p.device.effort_curves
        lengths = [len(curve.minutes) for curve in curves]
        found |= {
            "effort_total_table": np.concatenate([curve.total for curve in p.effort_curves]),
            "making_table": np.concatenate([curve.minutes for curve in curves]),
            "making_total_table": np.concatenate([curve.total for curve in curves]),
            "making_start_table": _starts(lengths),
            "making_length_table": np.array(lengths, dtype=np.uint32),
            "making_curve_table": p.device.effort_curve_of.astype(np.uint32),
            "max_making_experience_table": np.array([curve.max_experience for curve in curves]),
            "device_trade_power_table": p.device.trade_power,
            "inventiveness_table": p.device.inventiveness,
        }
    return found


def counts(p: Parameters) -> dict[str, int]:
    """Return the bounds of loops that work-items share, as arguments of every kernel.

    They are known when the kernels are built, but PoCL 3.0 miscompiles
    ``for (i = lid; i < 1; i += lanes)`` before a barrier if the 1 is a constant: some shapes would
    give wrong results or crash (tests/primitives/test_collective.py).
    """
    return {
        "agents": p.agents,
        "resources": p.resources,
        "leaves": leaves(p),
        "menu_size": p.menu_size,
    }


def leaves(p: Parameters) -> int:
    """Return the leaves of the tree over resources: a power of two."""
    return 1 << (p.resources - 1).bit_length()


def device_means() -> dict[str, list[str]]:
    """Return the series of devices that are means of real numbers, by the field of the state.

    Their quantities are numbered one after the other; ``FIRST_...`` is the first of a field.
    """
    return {
        "minutes_with": [f"minutes_{name}" for name in SOURCES],
        "making_minutes": [f"minutes_making_{name}" for name in DEVICE_TYPES],
        "device_stock": [f"devices_held_{name}" for name in DEVICE_TYPES],
        "overtime": ["overtime"],
    }


def series_families(p: Parameters) -> dict[str, list[str]]:
    """Return series that a kernel reaches by an index (type, source, group), in its order."""
    found = {"hhi": [f"hhi_{quarter}" for quarter in range(5)]}
    if p.device is not None:
        found["extraction_share"] = [f"extraction_share_{name}" for name in SOURCES]
        for family in ("devices_made", "devices_traded", "devices_known", "inventions"):
            found[family] = [f"{family}_{name}" for name in DEVICE_TYPES]
        found["device_means"] = [name for names in device_means().values() for name in names]
    return found | group_families(p.device is not None, len(p.trade_power))


def candidates(p: Parameters) -> int:
    """Return the most swaps that are ever ranked at once in a meeting.

    A ranking is extended only while fewer than ``attempts`` swaps were queued, so before it the
    product of the two sale lists is below ``attempts`` and their sum at most ``attempts``; each
    list then grows by a menu at most.
    """
    grown = p.menu_size * p.menu_size + p.menu_size * p.attempts + p.attempts
    return min(grown, p.resources * p.resources)


CANDIDATES_IN_LOCAL_MEMORY = 512

INVENTION_ORDER_LIMIT = 4096
"""Agents whose order of invention fits local memory."""

ROW_LIMIT, DEVICE_ROW_LIMIT = 512, 256
"""Resources whose extraction fits local memory, without and with devices."""

EXTRACTION_ROWS, DEVICE_EXTRACTION_ROWS = 3, len(SOURCES) + 4
"""Reals that extraction keeps of a resource beyond that (kernels/economy/extraction.cl)."""


def scores_in_global_memory(p: Parameters) -> int:
    """Return the reals that each meeting needs in global memory for the scores of candidates."""
    count = candidates(p)
    return 0 if count <= CANDIDATES_IN_LOCAL_MEMORY else 2 * count


def extraction_in_global_memory(p: Parameters) -> int:
    """Return the reals that extraction needs in global memory for each agent."""
    limit, rows = _extraction_rows(p)
    return rows * p.resources if p.resources > limit else 0


def _extraction_rows(p: Parameters) -> tuple[int, int]:
    """Return the most resources whose rows fit local memory, and the reals of each resource."""
    if p.device is None:
        return ROW_LIMIT, EXTRACTION_ROWS
    return DEVICE_ROW_LIMIT, DEVICE_EXTRACTION_ROWS


def orders_in_global_memory(p: Parameters) -> int:
    """Return the numbers of agents that the inventions of a society need in global memory."""
    return 0 if p.agents <= INVENTION_ORDER_LIMIT else p.agents


def macros(p: Parameters) -> dict[str, int | float]:
    """Return the configuration as macros: ``P_...`` are values, the others shapes and choices."""
    values: dict[str, int | float] = {
        "AGENTS": p.agents,
        "PAIRS": max(1, p.agents // 2),  # of a lone agent, which meets nobody: any number but 0
        "RESOURCES": p.resources,
        "LEAVES": leaves(p),
        "LEVELS": leaves(p).bit_length() - 1,
        "GROUPS": len(p.trade_power),
        "UTILITY_CURVES": len(p.utility_curves),
        "UTILITY_LENGTH": p.table_lengths[0],
        "EFFORT_CURVES": len(p.effort_curves),
        "EFFORT_LENGTH": len(p.effort_curves[0].minutes),
        "PURPOSES": PURPOSE_COUNT,
        "DEVICES": int(p.device is not None),
        "SERIES": len(series_of(p)),
        "DISTRIBUTIONS": len(DISTRIBUTIONS),
        **{f"OF_{name.upper()}": number for number, name in enumerate(DISTRIBUTIONS)},
        "MOMENTS": len(MOMENTS),
        **{f"MOMENT_{name.upper()}": number for number, name in enumerate(MOMENTS)},
        "SHOCKS": len(p.shocks),
        "SHOCK_SLOTS": max(1, len(p.shocks)),
        "ROUNDS": p.rounds,
        "ROUND_SLOTS": max(1, p.rounds),
        "ATTEMPTS": p.attempts,
        "MENU_SIZE": p.menu_size,
        "CANDIDATES": candidates(p),
        "CANDIDATE_LIMIT": CANDIDATES_IN_LOCAL_MEMORY,
        "ROW_LIMIT": _extraction_rows(p)[0],
        "EXTRACTION_ROWS": _extraction_rows(p)[1],
        "NEAR_BEST_BAND": int(p.near_best_band > 0.0),
        "UNEQUAL_POWERS": int(len(set(p.trade_power.tolist())) > 1),
        "PRICE": PRICES[p.price],
        "REMOVE_RESOURCE": REMOVE_RESOURCE,
        "REMOVE_AGENT": REMOVE_AGENT,
        "RANDOM_INDEX": RANDOM_INDEX,
        "LOSE": LOSE,
        "P_day_length": p.day_length,
        "P_min_marginal": p.utility_curves[0].floor,
        "P_min_surplus": p.min_surplus,
        "P_daily_experience_penalty": p.daily_experience_penalty,
        "P_near_best_band": p.near_best_band,
    }
    if p.device is not None:
        values |= _device_macros(p.device)
    values |= {f"PRICE_{name.upper()}": number for name, number in PRICES.items()}
    values |= {f"PURPOSE_{name.upper()}": number for name, number in PURPOSES.items()}
    values |= {f"SERIES_{name}": number for number, name in enumerate(series_of(p))}
    return values


def _device_macros(d: DeviceParameters) -> dict[str, int | float]:
    """Return what holds for devices; types and sources are numbered as in the state."""
    return {
        **{name.upper(): number for number, name in enumerate(DEVICE_TYPES)},
        "TYPES": len(DEVICE_TYPES),
        "DEVICE_MEANS": sum(map(len, device_means().values())),
        **_firsts(device_means()),
        "SOURCES": len(SOURCES),
        "INVENTION_ORDER_LIMIT": INVENTION_ORDER_LIMIT,
        "TOOLS_ONLY": int(d.tools_only),
        "DEVICE_ATTEMPTS": d.attempts,
        "PRICE_MEMORY": d.memory,
        "PARTNER_MEMORY": d.memory,
        "PRODUCTION_MEMORY": d.production_memory,
        "RESOURCES_IN_TOOL": d.resources_in_tool,
        "COMPONENTS": d.components,
        "COMPONENT_SLOTS": d.component_slots,
        "MAKING_CURVES": len(d.effort_curves),
        "MAKING_LENGTH": len(d.effort_curves[0].minutes),
        "UNEQUAL_DEVICE_POWERS": int(len(set(d.trade_power.tolist())) > 1),
        "P_days_to_hold": d.days_to_hold,
        "P_inventor_experience": d.inventor_experience,
        "P_min_held_experience": d.min_held_experience,
        "P_daily_decay": d.daily_decay,
        "P_tool_probability": d.tool_probability,
        "P_device_probability": d.device_probability,
        "P_min_held": d.min_held,
        "P_min_made_for_device_maker": d.min_made_for_device_maker,
    }


def _firsts(families: Mapping[str, list[str]]) -> dict[str, int]:
    """Return the number of each family's first member."""
    starts = np.cumsum([0, *map(len, families.values())]).tolist()
    return {f"FIRST_{name.upper()}": start for name, start in zip(families, starts, strict=False)}


def header(p: Parameters) -> str:
    """Return OpenCL text: parameter lists and accessors of the state and the tables."""
    lines = [
        "#define P(name) P_##name",
        f"#define STREAM_GAP {STREAM_GAP:#x}UL",
    ]
    fields = state_fields(p)
    state = [f"__global {_C_TYPES[f.dtype]} *state_{name}" for name, f in fields.items()]
    state += [f"const uint {name}" for name in counts(p)]
    lines.append(_define("STATE_PARAMETERS", state))
    lines.append(_define("STATE", [*(f"state_{name}" for name in fields), *counts(p)]))
    lines += [_accessor(name, field) for name, field in fields.items()]
    arrays = tables(p)
    kinds = {"int32": "int", "uint32": "uint", "uint64": "ulong", "float64": "real"}
    constant = [f"__global const {kinds[a.dtype.name]} *{name}" for name, a in arrays.items()]
    lines.append(_define("TABLE_PARAMETERS", constant))
    lines.append(_define("TABLES", list(arrays)))
    if p.shocks:
        rows = [f"{{{s.remove}, {s.index}, {s.holdings}}}" for s in p.shocks]
        lines.append(_define("SHOCK_LIST", ["{" + ", ".join(rows) + "}"]))
    if p.device is not None:
        for name in ("factor", "lifetime", "experience_for_making"):
            values = ", ".join(value.hex() for value in getattr(p.device, name))
            lines.append(f"__constant double device_{name}[{len(DEVICE_TYPES)}] = {{{values}}};")
    places = {name: number for number, name in enumerate(series_of(p))}
    for family, names in series_families(p).items():
        values = ", ".join(str(places[name]) for name in names)
        lines.append(f"__constant uint series_of_{family}[{len(names)}] = {{{values}}};")
    lines += _resets(fields)
    return "\n".join(lines) + "\n"


def _resets(fields: Mapping[str, Field]) -> list[str]:
    """Return macros that give an agent's entries of every array their initial values.

    ``RESET_AGENT``, ``RESET_AGENT_RESOURCE`` (of resource ``r``) and so on, a macro for each
    combination of dimensions; further variables are named like the dimensions.
    """
    resets: dict[tuple[str, ...], list[str]] = {("agent",): [], ("agent", "resource"): []}
    for name, field in fields.items():
        if field.of_agent:
            place = ", ".join("r" if dim == "resource" else dim for dim in field.dims)
            resets.setdefault(field.dims, []).append(f"{name}({place}) = {field.initial:g};")
    return [
        f"#define RESET_{'_'.join(dims).upper()} {' '.join(texts)}"
        for dims, texts in resets.items()
    ]


def _accessor(name: str, field: Field) -> str:
    """Return a macro such as held(agent, resource); it uses the variable `society` in scope."""
    place = "(size_t)society"
    for dim in field.dims:
        place = f"({place} * {_LENGTHS[dim]} + ({dim}))"
    return f"#define {name}({', '.join(field.dims)}) state_{name}[{place}]"


def _define(name: str, parts: list[str]) -> str:
    return f"#define {name} {', '.join(parts)}"


def _starts(lengths: list[int]) -> NDArray[np.uint32]:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.uint32)
