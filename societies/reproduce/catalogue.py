"""Which published figures can be reproduced, from which runs, and at which cost?

Each figure of Haney, Haarsma and Ditta (2016) has a folder in ``experiments/economy/paper`` with
``figure.yaml``: title, runs, variables, cost, numbers of recorded runs. Other publications are in
``companions``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from societies.errors import ConfigError
from societies.paths import data_directory
from societies.reproduce import companions
from societies.words import counted

PAPER = "paper"
"""What means all figures of the paper."""

SOCIETIES = 100
"""Societies of each run, unless the caller wants another number."""
SMALL = {"agents": 12, "resources": 12, "days": 40, "replicates": 2, "record.checkpoint": "never"}
SMALL_SHOCK = 30
"""Settings with which all of it can be tried in minutes on a small device, and the day on which
the resource is then removed."""


@dataclass(frozen=True)
class Run:
    """A run that figures are drawn from.

    Attributes
    ----------
    name : of its files
    base : shipped configuration
    settings : keys that differ from it
    """

    name: str
    base: str
    settings: Mapping[str, Any]

    def overrides(self, societies: int, small: bool) -> list[str]:
        """Return what is set on the command line: ``key=value``, values as JSON, which is YAML."""
        # Devices by resource, recipes and inventors are of no use to these figures.
        settings = {"replicates": societies, "record.device": 0, **self.settings}
        if small:
            settings |= SMALL
            if "shocks" in settings:
                settings["shocks"] = [{**one, "day": SMALL_SHOCK} for one in settings["shocks"]]
        return [f"{key}={json.dumps(value)}" for key, value in settings.items()]


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Attributes
    ----------
    number : of the figure
    title : what it shows
    runs : what it is drawn from; none if it follows from the curves alone
    variables : of the runs' files that it needs
    cost : for 100 societies, by kind of device
    recorded : means of the recorded runs of the authors' program, by ``CASE.NAME`` of the target
    """

    number: int
    title: str
    runs: tuple[Run, ...]
    variables: tuple[str, ...]
    cost: Mapping[str, str]
    recorded: Mapping[str, float]


def figures() -> dict[int, Figure]:
    """Return all figures by number.

    Raises
    ------
    FileNotFoundError
        If the installation lacks their descriptions.
    """
    found = {}
    for path in sorted((data_directory("experiments") / "economy" / "paper").glob("*/figure.yaml")):
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
        runs = tuple(
            Run(name, one["base"], one.get("set", {})) for name, one in said.get("runs", {}).items()
        )
        number = int(path.parent.name.removeprefix("figure_"))
        found[number] = Figure(
            *(number, said["title"], runs, tuple(said.get("variables", ())), said["cost"]),
            said.get("recorded", {}),
        )
    return found


def figures_named(names: Sequence[str]) -> tuple[list[Figure], list[tuple[str, str]]]:
    """Return the figures, and the companions' parts, that some names mean, each once.

    Raises
    ------
    ConfigError
        If one of them does not exist.
    """
    known = figures()
    found: dict[int, Figure] = {}
    parts: dict[tuple[str, str], None] = {}
    for text in names:
        if text == PAPER:
            found |= known
        elif number := next((one for one in known if str(one) == text), 0):
            found[number] = known[number]
        elif some := companions.parts_of(text):
            parts |= dict.fromkeys(some)
        else:
            ending = re.search(r"0*(\d+)$", text)
            near = f"; did you mean '{ending[1]}'?" if ending and int(ending[1]) in known else ""
            raise ConfigError(
                f"there is no figure or experiment '{text}'{near}\n"
                f"figures are {min(known)} to {max(known)}, experiments "
                f"{', '.join(companions.COMPANIONS)}; `societies reproduce` lists them"
            )
    return list(found.values()), list(parts)


def figure_rows() -> list[tuple[str, str]]:
    """Return a row for each figure and each part of a companion: its name; title and cost."""
    of_paper = [
        (
            str(one.number),
            f"{one.title}; {counted(len(one.runs), 'run')}; "
            f"{one.cost['cpu']} on two cores, {one.cost['gpu']} on an H100",
        )
        for one in figures().values()
    ]
    shared = "all figures; runs that several of them need are carried out once"
    return [*of_paper, (PAPER, shared), *companions.companion_rows()]
