"""Which workloads and which shipped configurations and sweeps are there to be run?"""

from __future__ import annotations

from societies.errors import ConfigError
from societies.paths import data_directory, shipped_configurations, shipped_sweeps
from societies.words import one_of
from societies.workload.registry import workload, workload_names


def rows() -> list[tuple[str, str]]:
    """Return a row for each workload, after it one for each of its configurations; then sweeps."""
    first = {name: _first_sentence(name) for name in shipped_configurations()}
    of = {name: _workload(name) for name in first}
    found = []
    for name in workload_names():
        try:
            one = workload(name)
            about = f"{one.summary}; a tick is {one_of(one.clock)}, a copy {one_of(one.copies)}"
        except ConfigError as error:  # of somebody else: the others are listed all the same
            about = str(error)
        found.append((name, about))
        found += [(f"  {config}", first[config]) for config in first if of[config] == name]
    sweeps = [(f"  {name}", _first_sentence(name)) for name in shipped_sweeps()]
    return [*found, ("sweeps", "what varies from run to run: societies sweep NAME"), *sweeps]


def _workload(name: str) -> str | None:
    from societies.workload.registry import named_workload

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
