"""How do functions of a user become tables of utility and of effort?

Such a rule is any Python: the host calls it once for every entry, before the first day, and device
and reference read the same numbers. Curves without a rule are those of `societies.economy.curves`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from reference_py.economy.tables import LONGEST_TABLE, EffortCurve, UtilityCurve
from societies.economy import curves
from societies.economy.curves import EffortTables, UtilityTables, starts
from societies.economy.double_double import Doubles
from societies.economy.exact_sums import running_sums
from societies.workload.running.plugged import Plugged

if TYPE_CHECKING:
    from societies.opencl import Device
    from societies.translate import PlugIn

Key = tuple[float, ...]
"""The numbers of a curve (`curves.UtilityKey`, `curves.EffortKey`), and the resource if the rule
has that parameter."""

UTILITY, EFFORT = "utility.marginal", {"extraction": "extraction.effort", "device": "device.effort"}
"""Names of the rules; of effort by the section of the configuration that has its numbers."""


class Curves:
    """Curves of a configuration: those of its rules, else the built-in ones."""

    def __init__(self, rules: Plugged) -> None:
        self._rules = rules.functions

    def of_resources(self, rule: str, keys: Sequence[Key]) -> list[Key]:
        """Return the keys of all resources, which differ by resource if the rule asks for it."""
        one = self._rules.get(rule)
        if one is None or "resource" not in inspect.signature(one.function).parameters:
            return list(keys)
        return [(*key, resource) for resource, key in enumerate(keys)]

    def utility_tables(
        self, keys: Sequence[Key], largest_holding: int, device: Device | None = None
    ) -> UtilityTables:
        """Return the tables of some utility curves, as `curves.utility_tables` does.

        Raises
        ------
        RuleError
            If marginal utility is no finite number, rises, is at once not above the floor, or does
            not fall to the floor within `LONGEST_TABLE` units.
        """
        one = self._rules.get(UTILITY)
        if one is None:
            return curves.utility_tables([(a, b, c) for a, b, c in keys], largest_holding, device)
        parts = [_marginal(one, key, largest_holding) for key in keys]
        lengths = [len(part) for part in parts]
        sums = [np.concatenate([[0.0], running_sums(part)]) for part in parts]
        floor = np.array([key[2] for key in keys])
        joined = np.concatenate(parts), np.concatenate(sums)
        return UtilityTables(starts(lengths), np.array(lengths, np.uint32), floor, *joined)

    def utility_curve(self, key: Key, largest_holding: int) -> UtilityCurve:
        """Return one utility curve as the reference has it."""
        if UTILITY not in self._rules:
            scale, exponent, floor = key
            return curves.utility_curve(scale, exponent, floor, largest_holding)
        return self.utility_tables([key], largest_holding).curve(0)

    def effort_tables(self, section: str, keys: Sequence[Key]) -> EffortTables:
        """Return the tables of some effort curves.

        ``section`` is ``extraction``, or ``device`` for making devices.

        Raises
        ------
        RuleError
            If an effort is no finite number, or less than the key ``min_effort``.
        """
        one = self._rules.get(EFFORT[section])
        if one is None:
            built_in = [(a, b, c) for a, b, c in keys]
            if section == "extraction":
                return curves.resource_effort_tables(built_in)
            return curves.device_effort_tables(built_in)
        parts = [_minutes(one, section, key) for key in keys]
        lengths = [len(part) for part in parts]
        sums = [np.concatenate([[0.0], running_sums(part[:-1])]) for part in parts]
        most = np.array([key[2] for key in keys])
        joined = np.concatenate(parts), np.concatenate(sums)
        return EffortTables(starts(lengths), np.array(lengths, np.uint32), *joined, most)

    def effort_curve(self, section: str, key: Key) -> EffortCurve:
        """Return one effort curve as the reference has it."""
        if EFFORT[section] not in self._rules:
            high, low, most = key
            make = curves.resource_effort if section == "extraction" else curves.device_effort
            return make(high, low, most)
        return self.effort_tables(section, [key]).curve(0)


@lru_cache(maxsize=256)
def _marginal(one: PlugIn, key: Key, largest_holding: int) -> Doubles:
    """Return the utility of units 1, 2, ..., as long as it is above the floor."""
    scale, exponent, floor, *resource = key
    given = {"scale": scale, "exponent": exponent, "resource": resource[0] if resource else 0}
    call, found = one.called(), [math.inf]
    for unit in range(1, largest_holding + 2):
        value = call(unit=unit, **given)
        if not math.isfinite(value):
            raise one.refused(f"returns {value}", unit=unit, **given)
        if value > found[-1]:
            less = f"{found[-1]!r} of the unit before"
            raise one.refused(f"returns {value!r}, which is more than {less}", unit=unit, **given)
        if value <= floor:
            break
        found.append(value)
        if len(found) > LONGEST_TABLE:
            said = f"needs a table of more than {LONGEST_TABLE:,} units; raise utility.min_marginal"
            raise one.refused(said, **given)
    if len(found) == 1:
        said = f"returns {value!r}, which is not above utility.min_marginal ({floor:g})"
        raise one.refused(said, unit=1, **given)
    one.require_pure(found[1], unit=1, **given)
    return np.array(found[1:])


@lru_cache(maxsize=256)
def _minutes(one: PlugIn, section: str, key: Key) -> Doubles:
    """Return the minutes at experience 0, 1, ... up to the largest, which hold ever after."""
    high, low, most, *resource = key
    given = {"max_effort": high, "min_effort": low, "max_experience": most}
    given["resource"] = resource[0] if resource else 0
    call, found = one.called(), []
    for experience in range(math.ceil(most) + 1):
        value = call(experience=experience, **given)
        if not low <= value < math.inf:
            said = f"returns {value!r}; {section}.min_effort is {low:g}, and no effort is less"
            raise one.refused(said, experience=experience, **given)
        found.append(value)
    one.require_pure(found[0], experience=0, **given)
    return np.array(found)
