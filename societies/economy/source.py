"""Which macros and accessors do the economy's kernels get from a configuration?

Kernels use ``held(agent, resource)`` and ``P(min_surplus)``; this module generates the OpenCL text
that defines both. Accessors follow from the table of the state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from reference_py.economy.devices import DEVICE_TYPES, SOURCES, TYPES
from reference_py.economy.measures import COMPARED, TOPS, compared, measure_names, measured
from reference_py.economy.parameters import (
    LOSE,
    RANDOM_INDEX,
    REMOVE_AGENT,
    REMOVE_RESOURCE,
    DeviceParameters,
    Parameters,
)
from reference_py.economy.state import NO_AGENT, Array, arrays, links, partners_remembered
from reference_py.economy.streams import PURPOSE_COUNT, PURPOSES
from reference_py.economy.tables import EffortCurve, UtilityCurve
from reference_py.primitives.rng import STREAM_GAP
from societies.economy import memory
from societies.economy.ensemble import SHOCK_TABLE, Ensemble
from societies.economy.series import columns_of, entries, series_table
from societies.workload.declare.fields import series_columns
from societies.workload.running.faults import FAULT, FAULT_MEANING
from societies.workload.values.keys import VALUE_TABLE, shape_macros, value_macros, value_rows

DISTRIBUTIONS = ("utility", "three_days", "total", "extracted", "minutes", "total_before")
"""Quantities that are compared between agents: macros ``OF_...`` in the order of this list."""

MOMENTS = ("sum", "gini", "median")
"""Statistics stored for each of these quantities: macros ``MOMENT_...``."""

_C_TYPES = {"int32": "int", "float64": "real", "uint8": "uchar", "uint64": "ulong"}
_LENGTHS = {
    "agent": "AGENTS",
    "resource": "RESOURCES",
    "owner": "(AGENTS + 1)",
    "purpose": "PURPOSES",
    "shock": "SHOCK_SLOTS",
    "round": "ROUND_SLOTS",
    "series": "SERIES",
    "measure": "MEASURES_OF_A_SOCIETY",
    "device_type": "TYPES",
    "source": "SOURCES",
    "memory": "PARTNERS_REMEMBERED",
    "device_round": "DEVICE_ROUND_SLOTS",
    "price": "PRICE_MEMORY",
    "memory_day": "PARTNER_MEMORY",
    "production_day": "PRODUCTION_MEMORY",
    "component": "COMPONENT_SLOTS",
    "link": "LINKS",
}


def constant_tables(p: Parameters) -> dict[str, NDArray[np.generic]]:
    """Return the constant arrays of the kernels by the name of the kernel parameter."""
    if isinstance(p, Ensemble):
        return {**p.curves(), **p.rows(0)}
    found: dict[str, NDArray[np.generic]] = {
        "group_of_agent_table": np.array(p.group_of_agent, np.int32),
        "marginal_table": _joined([curve.marginal for curve in p.utility_curves]),
        "total_table": _joined([curve.total for curve in p.utility_curves]),
        "utility_start_table": _starts(utility_lengths(p.utility_curves)),
        "utility_length_table": np.array(utility_lengths(p.utility_curves), np.uint32),
        "utility_curve_table": np.array(p.utility_curve_of, np.uint32),
        **_effort_tables("effort", p.effort_curves, p.effort_curve_of),
        "max_experience_table": np.array([curve.max_experience for curve in p.effort_curves]),
        "consumption_threshold_table": np.array(p.consumption_threshold, np.uint64),
        "trade_power_table": np.array(p.trade_power),
    }
    if p.endowed:
        found["endowment_table"] = np.array(p.endowment, np.int32)
    if p.policies:
        found["transfer_share_table"] = np.array(p.transfer_share)
    if p.devices is not None:
        curves = p.devices.effort_curves
        found |= {
            "effort_total_table": _joined([curve.total for curve in p.effort_curves]),
            "making_total_table": _joined([curve.total for curve in curves]),
            **_effort_tables("making", curves, p.devices.effort_curve_of),
            "max_making_experience_table": np.array([curve.max_experience for curve in curves]),
            "device_trade_power_table": np.array(p.devices.trade_power),
            "inventiveness_table": np.array(p.devices.inventiveness),
        }
    return found


def utility_lengths(curves: Sequence[UtilityCurve]) -> list[int]:
    """Return the number of units in each utility table."""
    return [len(curve.marginal) for curve in curves]


def _effort_tables(
    name: str, curves: Sequence[EffortCurve], curve_of: Sequence[Sequence[int]]
) -> dict[str, NDArray[np.generic]]:
    lengths = [len(curve.minutes) for curve in curves]
    return {
        f"{name}_table": _joined([curve.minutes for curve in curves]),
        f"{name}_start_table": _starts(lengths),
        f"{name}_length_table": np.array(lengths, np.uint32),
        f"{name}_curve_table": np.array(curve_of, np.uint32),
    }


def _joined(tables: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    return np.concatenate([np.array(table, np.float64) for table in tables])


def loop_bounds(p: Parameters) -> dict[str, int]:
    """Return the bounds of loops that work-items share, as arguments of every kernel.

    The bounds are known when the kernels are built, but PoCL 3.0 miscompiles
    ``for (i = lid; i < 1; i += lanes)`` before a barrier if the 1 is a constant: some shapes would
    give wrong results or crash (tests/primitives/test_collective.py).
    """
    found = {
        "agents": p.agents,
        "resources": p.resources,
        "leaves": memory.leaves(p),
        "menu_size": p.menu_size,
    }
    return found | {"links": links(p)} if p.network else found


def device_means() -> dict[str, list[str]]:
    """Return the series of devices that are means of real numbers, by the field of the state.

    The series are numbered across fields; ``FIRST_...`` is the number of a field's first series.
    """
    return {
        "minutes_with": [f"minutes_{name}" for name in SOURCES],
        "making_minutes": [f"minutes_making_{name}" for name in DEVICE_TYPES],
        "device_stock": [f"devices_held_{name}" for name in DEVICE_TYPES],
        "overtime": ["overtime"],
    }


def macros(p: Parameters) -> dict[str, int | float]:
    """Return the configuration as macros: ``P_...`` are values, others are shapes and choices."""
    found: dict[str, int | float] = {
        **shape_macros(p.shapes),
        **_of_parameters(p),
        "ALL_ALONE": 1,  # on a CPU: kernels/primitives/real.cl, phases.py
        "PAIRS": max(1, p.agents // 2),  # must not be 0; a single agent has no meetings
        "LEAVES": memory.leaves(p),
        "LEVELS": memory.leaves(p).bit_length() - 1,
        "GROUPS": p.groups,
        "PURPOSES": PURPOSE_COUNT,
        "DEVICES": int(p.devices is not None),
        "DISTRIBUTIONS": len(DISTRIBUTIONS),
        "MOMENTS": len(MOMENTS),
        "SHOCKS": len(p.shocks),
        "SHOCK_SLOTS": max(1, len(p.shocks)),
        "ROUND_SLOTS": max(1, p.rounds),
        "CANDIDATES": memory.candidates(p),
        "CANDIDATE_LIMIT": memory.CANDIDATES_IN_LOCAL_MEMORY,
        "ROW_LIMIT": memory.extraction_rows(p)[0],
        "EXTRACTION_ROWS": memory.extraction_rows(p)[1],
        "EXTRACTION_SLOTS": memory.extraction_slots(p),
        "EXTRACTION_AHEAD": int(memory.extraction_ahead(p)),
        "EXTRACTION_FRONT": int(memory.extraction_front(p)),
        "EXTRACTION_IN_STEP": memory.extraction_in_step(p),
        "UNITS_AHEAD": memory.UNITS_AHEAD,
        "STATISTICS_AT_ONCE": int(memory.statistics_at_once(p)),
        "MEETINGS_IN_STEP": memory.meetings_in_step(p),
        "MEETING_LANES": memory.MEETING_LANES,
        "REMOVE_RESOURCE": REMOVE_RESOURCE,
        "REMOVE_AGENT": REMOVE_AGENT,
        "RANDOM_INDEX": RANDOM_INDEX,
        "LOSE": LOSE,
        **_device_macros(p),
        **_measure_macros(p),
        "POLICIES": int(p.policies),
        "SYNCHRONIZES": int(p.synchronizes),
        "NETWORK": int(p.network),
        **({"LINKS": links(p), "NO_TAKER": NO_AGENT} if p.network else {}),
        **{f"RULE_{name.replace('.', '_').upper()}": 1 for name in p.rules},
        **_numbered("OF_", DISTRIBUTIONS),
        **_numbered("MOMENT_", MOMENTS),
        **{f"PURPOSE_{name.upper()}": number for name, number in PURPOSES.items()},
        "SERIES": len(columns_of(p)),
        **{f"SERIES_{name}": number for number, name in enumerate(columns_of(p))},
    }
    return found


def _of_parameters(p: Parameters) -> dict[str, int | float]:
    """Return values, and macros that omit code if all societies have the same parameters.

    For an ensemble no macro depends on parameter values, so all ensembles share the kernels: 0
    curves means any number of curves.
    """
    if isinstance(p, Ensemble):
        switches = dict.fromkeys(("TABLED", "NEAR_BEST_BAND", "UNEQUAL_POWERS"), 1)
        return {**switches, "UTILITY_CURVES": 0, "EFFORT_CURVES": 0}
    return {
        **value_macros(p.values),
        "TABLED": 0,
        "UTILITY_CURVES": len(p.utility_curves),
        "UTILITY_LENGTH": len(p.utility_curves[0].marginal),
        "EFFORT_CURVES": len(p.effort_curves),
        "EFFORT_LENGTH": len(p.effort_curves[0].minutes),
        "NEAR_BEST_BAND": int(p.near_best_band > 0.0),
        "UNEQUAL_POWERS": int(len(set(p.trade_power)) > 1),
    }


def _device_macros(p: Parameters) -> dict[str, int | float]:
    """Return what holds for devices; types and sources are numbered as in the state."""
    if p.devices is None:
        return {}
    return {
        **_numbered("", DEVICE_TYPES),
        "TYPES": TYPES,
        "DEVICE_MEANS": sum(map(len, device_means().values())),
        **_firsts(device_means()),
        "SOURCES": len(SOURCES),
        "INVENTION_ORDER_LIMIT": memory.INVENTION_ORDER_LIMIT,
        "TOOLS_ONLY": int(p.devices.tools_only),
        "PRICE_MEMORY": p.device_memory,
        "PARTNER_MEMORY": p.device_memory,
        "PARTNERS_REMEMBERED": partners_remembered(p),
        "MEMORIES_FIT": int(memory.memories_fit(p)),
        "DEVICE_ROUND_SLOTS": max(1, p.device_rounds),
        "NO_AGENT": NO_AGENT,
        "COMPONENT_SLOTS": p.component_slots,
        **_of_device_parameters(p, p.devices),
    }


def _measure_macros(p: Parameters) -> dict[str, int | float]:
    """Return the macros for the economic measures: their number and their positions."""
    if not p.measures:
        return {}
    names = measure_names(p)
    firsts = ["income_median", "gini_income", "top_share_income_0", "price_mean"]
    firsts += ["group_income_0"] if p.groups > 1 else []
    return {
        "MEASURES_OF_A_SOCIETY": len(names),
        "COMPARED": len(compared(p)),
        "COMPARED_OF_GROUPS": len(COMPARED),
        "TOPS": len(TOPS),
        "NUMERAIRE": -1 if p.numeraire is None else p.numeraire,
        **_numbered("MEASURED_", measured(p)),
        "QUANTITIES": len(measured(p)),
        **{f"FIRST_{name.upper()}": names.index(name) for name in firsts},
    }


def _of_device_parameters(p: Parameters, devices: DeviceParameters) -> dict[str, int | float]:
    """Return macros that omit code if all societies have the same parameters of devices."""
    if isinstance(p, Ensemble):
        return {"MAKING_CURVES": 0, "UNEQUAL_DEVICE_POWERS": 1}
    return {
        "MAKING_CURVES": len(devices.effort_curves),
        "MAKING_LENGTH": len(devices.effort_curves[0].minutes),
        "UNEQUAL_DEVICE_POWERS": int(len(set(devices.trade_power)) > 1),
    }


def _numbered(prefix: str, names: Sequence[str]) -> dict[str, int | float]:
    return {f"{prefix}{name.upper()}": number for number, name in enumerate(names)}


def _firsts(families: Mapping[str, list[str]]) -> dict[str, int]:
    """Return the number of each family's first member."""
    starts = np.cumsum([0, *map(len, families.values())]).tolist()
    return {f"FIRST_{name.upper()}": start for name, start in zip(families, starts, strict=False)}


def header(p: Parameters) -> str:
    """Return OpenCL text: parameter lists and accessors of the state and the tables."""
    lookups = p.lookups() if isinstance(p, Ensemble) else value_rows(p.values)
    lines = [*lookups, f"#define STREAM_GAP {STREAM_GAP:#x}UL"]
    fields = arrays(p)
    if p.rule_sites:
        noted = Array((), "int32", "1", FAULT_MEANING, (0, None), of_agent=False)
        fields = {**fields, FAULT: noted}
    state = [f"__global {_C_TYPES[f.dtype]} *state_{name}" for name, f in fields.items()]
    state += [f"const uint {name}" for name in loop_bounds(p)]
    names = [*(f"state_{name}" for name in fields), *loop_bounds(p)]
    tabled = constant_tables(p)
    if tabled.pop(VALUE_TABLE, None) is not None:  # also read by functions without other tables
        state.append(f"__global const real *{VALUE_TABLE}")
        names.append(VALUE_TABLE)
    applies = tabled.pop(SHOCK_TABLE, None) is not None
    if applies:
        state.append(f"__global const int *{SHOCK_TABLE}")
        names.append(SHOCK_TABLE)
    lines.append(_define("STATE_PARAMETERS", state))
    lines.append(_define("STATE", names))
    lines += [_accessor(name, field) for name, field in fields.items()]
    kinds = {"int32": "int", "uint32": "uint", "uint64": "ulong", "float64": "real"}
    constant = [f"__global const {kinds[a.dtype.name]} *{name}" for name, a in tabled.items()]
    lines.append(_define("TABLE_PARAMETERS", constant))
    lines.append(_define("TABLES", list(tabled)))
    if p.shocks:
        rows = [f"{{{s.remove}, {s.index}, {s.holdings}}}" for s in p.shocks]
        lines.append(_define("SHOCK_LIST", ["{" + ", ".join(rows) + "}"]))
        which = f"{SHOCK_TABLE}[society * SHOCKS + (i)]" if applies else "1"
        lines.append(f"#define SHOCK_APPLIES(i) {which}")
    if p.measures:
        parts = ", ".join(top.hex() for top in TOPS)
        lines.append(f"__constant double top_parts[{len(TOPS)}] = {{{parts}}};")
    lines += _series_tables(p)
    lines += _resets(fields)
    # where kernels of a checked build hand rules the place to note what goes wrong
    lines.append(f"#define FAULT_PARAMETER{' , __global int *fault' * bool(p.rule_sites)}")
    lines.append(f"#define FAULT_OF(place){' , place' * bool(p.rule_sites)}")
    if p.rule_text:
        lines.append(f"#define CHECKED {int(bool(p.rule_sites))}")
        lines += ['#include "translate/python.cl"', p.rule_text]
    return "\n".join(lines) + "\n"


def _series_tables(p: Parameters) -> list[str]:
    """Return the tables of those series that a kernel indexes (by type, source, group)."""
    of = (p.devices is not None, p.groups)
    table, places = series_table(*of), {name: i for i, name in enumerate(columns_of(p))}
    found = series_columns({n: one for n, one in table.items() if one.dims}, entries(*of))
    if p.devices is not None:
        found["device_means"] = [*chain.from_iterable(device_means().values())]
    return [
        f"__constant uint series_of_{name}[{len(columns)}] = "
        f"{{{', '.join(str(places[one]) for one in columns)}}};"
        for name, columns in found.items()
    ]


def _resets(fields: Mapping[str, Array]) -> list[str]:
    """Return macros that give an agent's entries of every array their initial values.

    There is a macro for each combination of dimensions: ``RESET_AGENT``, ``RESET_AGENT_RESOURCE``
    (of resource ``r``) and so on. Index variables other than ``r`` are named like the dimensions.
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


def _accessor(name: str, field: Array) -> str:
    """Return a macro such as held(agent, resource); it uses the variable `society` in scope."""
    place = "(size_t)society"
    for dim in field.dims:
        place = f"({place} * {_LENGTHS[dim]} + ({dim}))"
    return f"#define {name}({', '.join(field.dims)}) state_{name}[{place}]"


def _define(name: str, parts: list[str]) -> str:
    return f"#define {name} {', '.join(parts)}"


def _starts(lengths: list[int]) -> NDArray[np.uint32]:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.uint32)
