"""What does `societies verify` count, so that it can say which rules of the economy were tried?

A phase of the market changes arrays even if no agent trades, so a changed array does not show that
a rule was tried. Therefore the effects themselves (swaps, inventions, ...) are counted, separately
for each type of device, because each type takes different branches.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference_py.economy.devices import DEVICE_TYPES, EXTRACTING, SOURCES
from reference_py.economy.parameters import Parameters
from societies.economy.config.devices import A_DEVICE
from societies.workload.declare.fields import State
from societies.workload.declare.optional import Count, falls, rises
from societies.workload.declare.phases import Step as AnyStep

MADE_FASTER = {"tool": "tools", "machine": "machines"}
"""Types that can be made with a device, and the suffix of the series that records it."""


def part(step: AnyStep, day: int) -> str:
    """Return the name under which a step is counted; all rounds of a phase have the same name."""
    if step.phase == "shocks":
        return f"shocks (day {day})"
    device_type = step.arguments.get("device_type", -1)
    return f"{step.phase} ({DEVICE_TYPES[device_type]})" if device_type >= 0 else step.phase


def counted_quantities(p: Parameters) -> dict[str, Count]:
    """Return the quantities that are counted in societies with these parameters."""
    found = {
        "units extracted": Count(("extraction",), rises("held"), "units extracted"),
        "units consumed": Count(("consumption",), falls("held"), "units consumed"),
    }
    if p.trade:
        found["swaps"] = Count(("trading",), rises("deals"), "swaps", ("deals",))
        found["swaps of unequal amounts"] = Count(
            ("trading",), _unequal_swaps, "swaps of unequal amounts"
        )
        if p.groups > 1:
            groups = range(p.groups)
            found["units swapped between groups"] = Count(
                ("trading",),
                rises("units_sold_outside"),
                "units swapped between groups",
                tuple(f"group_units_traded_outside_{group}" for group in groups),
            )
    if p.policies:
        taxes = rises("fund")
        found["units taxed"] = Count(("collect_taxes",), taxes, "units taxed", ("units_taxed",))
        found["units transferred"] = Count(
            ("pay_transfers",), falls("fund"), "units transferred", ("units_transferred",)
        )
    if p.devices is not None:
        found |= _of_devices(p)
    return found


def _of_devices(p: Parameters) -> dict[str, Count]:
    """Return the quantities counted with devices, for each type that can be invented."""
    assert p.devices is not None
    found = {}
    for device_type, name in enumerate(DEVICE_TYPES):
        if p.devices.tools_only and name != "tool":
            continue
        what = A_DEVICE[device_type]
        found[f"inventing {what}"] = Count(
            ("invention",),
            _changes("invented_on", device_type),
            "inventions",
            (f"inventions_{name}",),
        )
        found[f"making {what}"] = Count(
            ("production",),
            _rises_of("devices_made", device_type),
            "devices made",
            (f"devices_made_{name}",),
        )
        if p.trade:
            found[f"selling {what}"] = Count(
                ("device_trading",),
                _rises_of("devices_sold", device_type),
                "devices sold",
                (f"devices_traded_{name}",),
            )
        if device_type in EXTRACTING:
            found[f"extracting with {what}"] = Count(
                ("extraction",),
                _present("extracted_with", SOURCES.index(name)),
                "units extracted with devices",
                (f"extraction_share_{name}",),
            )
        if name in MADE_FASTER and not p.devices.tools_only:
            found[f"making {what} with a device"] = Count(
                ("production",),
                _rises_of("made_with_device", device_type),
                "devices made with devices",
                (f"device_maker_share_{MADE_FASTER[name]}",),
            )
    found["making carried over to another day"] = Count(
        ("extraction",), _overtime, "times that making was carried over", ("overtime",)
    )
    return found


def _unequal_swaps(before: State, after: State) -> float:
    """Return half the number of agents whose number of units changed: each swap has two agents."""
    held = (after["held"] - before["held"]).sum(axis=2)
    return float(np.count_nonzero(held) / 2)


def _overtime(before: State, after: State) -> float:
    return float(np.count_nonzero(after["overtime"]))


def _rises_of(array: str, device_type: int) -> Callable[[State, State], float]:
    """Return a function: the increase of an array (society, agent, device_type, ...) for a type."""

    def of(before: State, after: State) -> float:
        return float(np.maximum(after[array] - before[array], 0)[:, :, device_type].sum())

    return of


def _changes(array: str, device_type: int) -> Callable[[State, State], float]:
    """Return a function: the changed entries of an array (society, device_type, ...) for a type."""

    def of(before: State, after: State) -> float:
        return float(np.count_nonzero((after[array] != before[array])[:, device_type]))

    return of


def _present(array: str, source: int) -> Callable[[State, State], float]:
    """Return a function: the sum over agents of an array (society, agent, source) for a source.

    The phase sets the array again each day, so its values before the phase do not matter.
    """

    def of(before: State, after: State) -> float:
        return float(after[array][:, :, source].sum())

    return of
