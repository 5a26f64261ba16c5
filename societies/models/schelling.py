"""Segregation: agents move away if too few of their neighbours are like them.

After T. C. Schelling, "Dynamic models of segregation" (1971): mild preferences lead to
a segregation that no agent wants. The board is a torus and an agent has up to eight neighbours.
"""

from typing import Literal

from societies.model import (
    Bounded,
    DailyConfig,
    Field,
    Grid,
    Model,
    Rng,
    Scene,
    Series,
    initial,
    random_permutation,
    shape,
    value,
)

EMPTY, RED, GREEN = 0, 1, 2


class SchellingConfig(DailyConfig):
    workload: Literal["schelling"]
    side: int = shape(51, "Rows and columns of the board", "cells", ge=3, le=1000)
    density: int = initial(95, "Cells of a hundred that are inhabited", "percent", ge=1, le=99)
    wanted: int = value(30, "Neighbours of a hundred that must be alike, or an agent moves",
                        "percent", ge=0, le=100)  # fmt: skip


def begin(config, society, day):
    """Place agents of both kinds at random."""
    rng = Rng.seed(config.stream_base, config.stream_gap, society.index)
    for row in range(config.side):
        for column in range(config.side):
            if rng.below(100) < config.density:
                society.kind[row][column] = RED if rng.below(2) == 0 else GREEN
            else:
                society.kind[row][column] = EMPTY
    society.stream = rng.pack()


def look(config, society, day, row):
    """Count all and like neighbours of every agent in a row; rows do not depend on each other."""
    side = config.side
    for column in range(side):
        kind = society.kind[row][column]
        near, alike = 0, 0
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                other = society.kind[(row + down) % side][(column + right) % side]
                if kind != EMPTY and other != EMPTY and (down != 0 or right != 0):
                    near += 1
                    alike += other == kind
        society.near[row][column] = near
        society.alike[row][column] = alike


def move(config, society, day):
    """Move unhappy agents one after another, each to a random empty cell."""
    rng = Rng.load(society.stream)
    side = config.side
    empty, unhappy = Bounded(side * side), Bounded(side * side)
    agents, near, alike = 0, 0, 0
    for cell in random_permutation(rng, side * side):
        row, column = cell // side, cell % side
        if society.kind[row][column] == EMPTY:
            empty.append(cell)
            continue
        agents += 1
        near += society.near[row][column]
        alike += society.alike[row][column]
        if 100 * society.alike[row][column] < config.wanted * society.near[row][column]:
            unhappy.append(cell)
    for cell in unhappy:
        if len(empty) > 0:
            place = rng.below(len(empty))
            goal = empty[place]
            empty[place] = cell
            society.kind[goal // side][goal % side] = society.kind[cell // side][cell % side]
            society.kind[cell // side][cell % side] = EMPTY
    society.series = {
        "alike": float(alike) / float(max(1, near)),
        "happy": float(agents - len(unhappy)) / float(max(1, agents)),
        "moved": float(len(unhappy)),
    }
    society.stream = rng.pack()


class Schelling(Model):
    """Agents of two kinds on a board."""

    name, summary = "schelling", "agents move away if too few of their neighbours are like them"
    config, start, day = SchellingConfig, ("begin",), ("look", "move")

    def sizes(self, p):
        return {"row": p.side, "column": p.side}

    def fields(self, p):
        cells = ("row", "column")
        return {
            "kind": Field(cells, "int8", "1", "0: empty; 1, 2: an agent of this kind",
                          within=(0, 2), recorded=True),
            "near": Field(cells, "int8", "agents", "neighbours of an agent", within=(0, 8)),
            "alike": Field(cells, "int8", "agents", "those of its kind", within=(0, 8)),
            "stream": Field((), "uint64", "1", "random stream", within=(1, "last state")),
        }  # fmt: skip

    def scene(self, p):
        return Scene(grid=Grid("Agents of the two kinds, and empty cells", "kind"))

    def series(self, p):
        return {
            "alike": Series("1", "share of all neighbours that are alike, before agents move"),
            "happy": Series("1", "share of the agents that have enough neighbours like them"),
            "moved": Series("agents", "agents that were unhappy and moved"),
        }


WORKLOAD = Schelling()
