"""What of a run does a page draw while it runs? A workload declares it in a few lines.

Without a declaration the page draws every series, and the numbers of every agent of which there is
one each. A model adds a network, a grid, or the keys that deserve a slider (`Workload.scene`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from societies.config.model import WorkloadConfig
    from societies.workload.declare.fields import Field

C = TypeVar("C", bound="WorkloadConfig")
P = TypeVar("P")


MOST_NODES = 300
"""Agents that a network shows; of more only the spread is drawn."""


@dataclass(frozen=True)
class Links:
    """Who gave how much to whom in a tick.

    Attributes
    ----------
    title : a few words
    taker : field (node, link) with the node at the other end of each link, -1: none
    weight : field (node, link) with the width of each link
    size, colour : fields (node, ...) with the size of a node and with its colour; of a field with
        more dimensions than one, the sum is the size, and the place of the largest is the colour
    """

    title: str
    taker: str
    weight: str
    size: str
    colour: str


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
    network : Links, if agents are drawn as one
    grid : Grid, if there is one
    steer : value keys that are offered first, whose change needs no other program; (): all keys
    """

    series: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    alive: str = ""
    network: Links | None = None
    grid: Grid | None = None
    steer: tuple[str, ...] = ()


class Watched(Generic[C, P]):
    """What a page shows of a run."""

    name: ClassVar[str]

    def scene(self, p: P) -> Scene:
        """Return what a page draws. Default: series and the spread over agents."""
        return Scene()

    def watched(self, config: C) -> C:
        """Return the configuration with what the scene needs recorded; results stay the same."""
        return config


def spread_fields(fields: Mapping[str, Field], scene: Scene) -> list[str]:
    """Return the fields whose distribution can be drawn: one number for each of several agents."""
    if scene.spread:
        return list(scene.spread)
    first = next((one.dims[0] for one in fields.values() if len(one.dims) == 1), "")
    return [
        name
        for name, one in fields.items()
        if one.dims == (first,) and one.dtype != "uint64" and not one.constant and not one.logged
    ]


def as_numbers(field: Field, values: Any) -> Any:
    """Return the values of a field as real numbers, NaN where the field declares no value."""
    import numpy as np

    numbers = np.asarray(values, np.float64)
    return numbers if field.none is None else np.where(values == field.none, np.nan, numbers)
