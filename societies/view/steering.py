"""Which value of a key is in force on a tick, and what is changed on the way of a run?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from societies.view.controls import Scale
from societies.view.course import REMOVE, Change
from societies.words import plural, short
from societies.workload.declare.view import Slider
from societies.workload.running.points import points_of, without_effect
from societies.workload.running.request import config_warnings
from societies.workload.running.varying import unit_and_meaning

EVENTS = ("shocks", "interventions")
"""Keys of a configuration with what happens on the way, each entry with its tick."""


def in_force(config: Any, tick: int, copy: int) -> Any:
    """Return the configuration with the values that one copy has on a tick."""
    points = points_of(config)
    return config if points is None else points.configs[points.of[points.stretch(tick), copy]]


def number_of(config: Any, key: str) -> float | None:
    """Return the value of a key; None if it is no number, such as a list with one per resource."""
    value = reduce(getattr, key.split("."), config)
    return value if type(value) in (int, float) else None


def value_slider(key: str, now: Any, scale: Scale) -> Slider | None:
    """Return the slider of a key with the value in force; None if that is a list of numbers."""
    if (value := number_of(now, key)) is None:
        return None
    unit, meaning = unit_and_meaning(type(now), key)
    label = f"{meaning} ({unit})" if unit and unit != "1" else meaning
    for why in without_effect(now.asleep(), [key]).values():
        label += f"; no effect {why}"
    return Slider("value", label, value, scale.least, scale.most, scale.step, scale.limits)


def page_notes(
    config: Any, changed: Any, chosen: Any, changes: Sequence[Change] = ()
) -> dict[str, Any]:
    """Return what the page says about a run besides its results.

    Parameters
    ----------
    config, changed : its configuration without and with the changes that were made on the page
    chosen : its workload

    Returns
    -------
    dict
        ``warnings`` of the changed configuration, and ``happenings``: tick, text, and whether it
        was changed on the page
    """
    found = [
        (int(one[chosen.clock]), text, False)
        for name in EVENTS
        for one in config.model_dump(mode="json").get(name, ())
        for text in _texts(one, chosen.clock, chosen.copies)
    ]
    for tick, key, value in changes:
        gone = key.removeprefix(REMOVE)
        text = f"{key} = {short(value)}" if gone == key else f"{gone} {value} removed"
        found.append((tick, text, True))
    found.sort(key=lambda one: one[0])  # those of a tick stay in order
    return {"happenings": found, "warnings": config_warnings(changed)}


def _texts(one: dict[str, Any], clock: str, copies: str) -> Iterator[str]:
    """Yield what an intervention or a shock changes, each with when and where."""
    where = [f"until {clock} {one['until']}"] if one.get("until") else []
    where += [f"of {one['group']}"] if one.get("group") else []
    for name, word in (("agents", "agent"), (plural(copies), copies)):
        if numbers := one.get(name):
            which = ", ".join(map(str, numbers))
            where.append(f"{word if len(numbers) == 1 else plural(word)} {which}")
    where += [f"“{one['label']}”"] if one.get("label") else []
    said = [f"{key} = {short(value)}" for key, value in (one.get("set") or {}).items()]
    said += [f"{one['remove']} {one['index']} removed"] if one.get("remove") else []
    yield from (", ".join([text, *where]) for text in said)
