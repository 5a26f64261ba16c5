"""Which published figures can be reproduced, from which runs, and at which cost?

Each figure of Haney, Haarsma and Ditta (2016) has a folder in ``experiments/economy/paper`` with
``figure.yaml``: title, runs, variables, cost, numbers of recorded runs. The other experiments are
scripts of a clone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from societies.errors import ConfigError
from societies.paths import data_directory
from societies.words import counted

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


def chosen(numbers: Sequence[str]) -> list[Figure]:
    """Return the figures of these numbers, each once.

    Raises
    ------
    ConfigError
        If one of them does not exist.
    """
    known, found = figures(), {}
    for text in numbers:
        number = int(text) if text.isdecimal() else -1
        if number not in known:
            there = f"{min(known)} to {max(known)}"
            raise ConfigError(
                f"there is no figure or experiment '{text}'\n"
                f"figures are {there}, experiments {', '.join(EXPERIMENTS)}; "
                "`societies reproduce` lists them"
            )
        found[number] = known[number]
    return list(found.values())


@dataclass(frozen=True)
class Experiment:
    """A script of a clone that repeats the measurements of a publication.

    Attributes
    ----------
    script : path in the repository, and its fixed arguments
    out : option that names the folder of its results
    device : option that names the device; "" if it has none
    title : what it repeats
    cost : on the machine of its README
    """

    script: tuple[str, ...]
    out: str
    title: str
    cost: str
    device: str = "--device"

    def words(self, out: Path, device: str) -> list[str]:
        """Return the arguments of Python that carry it out."""
        script, *rest = self.script
        where = [self.out, str(out)] if self.out else []
        return [script, *rest, *([self.device, device] if self.device else []), *where]


EXPERIMENTS = {
    "scenarios": Experiment(
        ("experiments/economy/scenarios/run.py",), "--out",
        "51 series of six scenarios against recorded runs of the paper's program",
        "30 min on two cores",
    ),
    "bam": Experiment(
        ("experiments/models/bam/targets.py", "--seeds", "100"), "--out",
        "225 statistics of BAM against an independent implementation", "an hour on two cores", "",
    ),
    "kalah": Experiment(
        ("experiments/games/kalah/run.py",), "--out",
        "Kalah: seconds by depth and by split (Kloosterman 2013)", "10 min on two cores",
    ),
    "havannah": Experiment(
        ("experiments/games/havannah/run.py", "--all"), "--results",
        "Havannah: seven experiments and what followed (Werner 2012)", "12 min on two cores",
    ),
    "ngtsg": Experiment(
        ("experiments/games/ngtsg/run.py", "--minutes", "2"), "--results",
        "Connect6 and chess searched node by node (Li and others): tables and figures 5 to 14",
        "15 min on a GPU",
    ),
    "molecular_dynamics": Experiment(
        ("experiments/physics/molecular_dynamics/run.py",), "--out",
        "Lennard-Jones atoms: figures 4 to 7 and the averages of a gas", "10 min on two cores",
    ),
    "raytracer": Experiment(
        ("experiments/physics/raytracer/run.py",), "--out",
        "rays by spheres, forms and workgroups", "10 min on two cores",
    ),
    "opencl_cuda": Experiment(
        ("experiments/physics/opencl_cuda/run.py", "--devices", "gpu", "cuda"), "--results",
        "four programs through OpenCL and CUDA: figures 1 to 8", "3 min on an NVIDIA GPU", "",
    ),
    "randomness": Experiment(
        ("experiments/randomness/battery.py",), "--out",
        "random draws against dieharder and exact counts", "an hour on two cores",
    ),
}  # fmt: skip


def rows() -> list[tuple[str, str]]:
    """Return a row for each figure and each experiment: its name; title and cost."""
    of_paper = [
        (
            str(one.number),
            f"{one.title}; {counted(len(one.runs), 'run')}; "
            f"{one.cost['cpu']} on two cores, {one.cost['gpu']} on an H100",
        )
        for one in figures().values()
    ]
    others = [(name, f"{one.title}; {one.cost}") for name, one in EXPERIMENTS.items()]
    return [
        *of_paper,
        ("all", "all figures; runs that several of them need are carried out once"),
        *others,
    ]
