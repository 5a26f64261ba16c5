"""Which workloads, configurations and sweeps can be run?"""

from __future__ import annotations

from societies.errors import ConfigError
from societies.paths import data_directory, shipped_configurations, shipped_sweeps
from societies.words import one_of
from societies.workload.running.registry import workload, workload_names


def workload_rows() -> list[tuple[str, str]]:
    """Return a row for each workload, followed by its configurations, room by room; then sweeps.

    The economy comes first, then our other models, then those of other packages, games and physics.
    """
    first = {name: _first_sentence(name) for name in shipped_configurations()}
    of = {name: _workload(name) for name in first}
    rooms: dict[str, list[tuple[str, str]]] = {room: [] for room in ROOMS}
    for name in workload_names():
        try:
            one = workload(name)
            about = f"{one.summary}; a tick is {one_of(one.clock)}, a copy {one_of(one.copies)}"
            room = _room(type(one).__module__)
        except ConfigError as error:  # a fault in another package must not stop the list
            about, room = str(error), OTHER
        rooms[room].append((name, about))
        rooms[room] += [(f"  {config}", first[config]) for config in first if of[config] == name]
    sweeps = [(f"  {name}", _first_sentence(name)) for name in shipped_sweeps()]
    found = [row for rows_of_room in rooms.values() for row in rows_of_room]
    return [*found, ("sweeps", "what varies from run to run: societies sweep NAME"), *sweeps]


OTHER = "other packages"
ROOMS = ("economy", "models", OTHER, "games", "physics")
"""Rooms of workloads in the order of the list."""


def _room(module: str) -> str:
    """Return the room of a workload by the module that defines it."""
    package, *inner = module.split(".")
    return inner[0] if package == "societies" and inner and inner[0] in ROOMS else OTHER


def _workload(name: str) -> str | None:
    from societies.workload.running.registry import named_workload

    return named_workload(data_directory("configs") / f"{name}.yaml")


def _first_sentence(name: str) -> str:
    """Return the first sentence of the comment with which a shipped configuration begins."""
    text = (data_directory("configs") / f"{name}.yaml").read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").strip())
    sentence, stop, _ = " ".join(lines).partition(". ")
    return sentence + ("." if stop else "")
