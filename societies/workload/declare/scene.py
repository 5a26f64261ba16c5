"""What does a page draw of a run while it runs? A workload declares it in a few lines.

Without a declaration the page draws every series, and every field with one number per agent.
A model adds a network, a grid, or the keys that deserve a slider (`Workload.scene`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from societies.config.model import WorkloadConfig

C = TypeVar("C", bound="WorkloadConfig")
P = TypeVar("P")


MOST_NODES = 300
"""Agents that a network shows one by one; more are drawn as one circle for each colour."""


@dataclass(frozen=True)
class Links:
    """Who gave how much to whom in a tick.

    Attributes
    ----------
    title : a few words
    taker : field (node, link) with the node at the other end of each link, -1: none
    weights : fields (node, link) with the width of each link, by displayed name; the first is shown
        first
    size : field (node, ...) with the size of a node, summed over further dimensions
    colours : numbers of the colours of nodes, by displayed name; the first is shown first. A number
        for each node, or a field (node, ...): the index of the largest value in its further
        dimensions is the colour
    table : table of events of a result with the same links, in columns ``giver``, ``taker`` and
        those of ``columns``; "": results have none
    columns : columns of ``table``, by the words of ``weights``
    """

    title: str
    taker: str
    weights: Mapping[str, str]
    size: str
    colours: Mapping[str, str | Sequence[int]]
    table: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Policy:
    """A button that changes a run from the next tick on.

    Attributes
    ----------
    label : text of the button; ``{}`` becomes the number that is chosen
    values : new values by key; None becomes the number that is chosen. A key ``remove.X`` removes
        the X with this number by an intervention
    count : how many numbers there are to choose from; 0: it takes no number
    """

    label: str
    values: Mapping[str, Any]
    count: int = 0


@dataclass(frozen=True)
class Grid:
    """A field of cells, drawn as a picture.

    Attributes
    ----------
    title : a few words
    field : field (row, column), (cell,) or (cell, kind); of the last the sum over kinds is drawn
    columns : number of cells in a row; 0: the field has rows and columns
    """

    title: str
    field: str
    columns: int = 0


@dataclass(frozen=True)
class Scene:
    """What a page draws of a run.

    Attributes
    ----------
    series : names of the series that are shown first; (): the first six
    spread : fields with one number for each agent, whose distribution can be chosen; (): all
    alive : field that is not 0 for agents that take part; "": all do
    living : series that counts them, which the page writes next to the tick; "": none
    network : Links, if agents are drawn as one
    grid : Grid, if there is one
    steer : value keys that are offered first; a change of them needs no new kernels; (): all keys
    policies : buttons, by name
    numbered : what the number of a policy counts: "resource"
    """

    series: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    alive: str = ""
    living: str = ""
    network: Links | None = None
    grid: Grid | None = None
    steer: tuple[str, ...] = ()
    policies: Mapping[str, Policy] = field(default_factory=dict)
    numbered: str = ""


class Watched(Generic[C, P]):
    """What a page shows of a run."""

    name: ClassVar[str]

    def scene(self, p: P) -> Scene:
        """Return what a page draws. Default: series and the spread over agents."""
        return Scene()

    def watched(self, config: C) -> C:
        """Return the configuration with what the scene needs recorded; results stay the same."""
        return config
