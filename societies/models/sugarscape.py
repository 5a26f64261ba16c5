"""Sugar and spice: agents on a grid gather both, need both, and trade with their neighbours.

After J. M. Epstein and R. Axtell, "Growing artificial societies" (1996), chapter IV, rules G1, M
and T. No agent sets the price, but all prices approach 1. Trade lets more agents survive.
"""

import math
from typing import Literal

from societies import model
from societies.model import DailyConfig, Field, Series, initial, key, random_permutation, shape
from societies.model.grids import neighbour, rate, welfare

SIDE, FREE = 50, -1
CELLS = SIDE * SIDE  # of a torus, row by row
HILLS = ((35, 15), (15, 35), (15, 15), (35, 35))  # of sugar, of sugar, of spice, of spice


class SugarscapeConfig(DailyConfig):
    workload: Literal["sugarscape"]
    agents: int = shape(200, "Agents at the start", "agents", ge=1, le=CELLS)
    vision: int = initial(5, "Farthest that an agent sees; drawn from 1 on", "cells", ge=1, le=25)
    needs: int = initial(5, "Most that it needs of a good; drawn from 1 on", "units", ge=1, le=9)
    trade: bool = key(True, "Whether neighbours trade")


def begin(config, society, day):
    """Put the goods on their hills, and place agents with 25 to 50 units of each good."""
    rng = model.Rng.seed(config.stream_base, config.stream_gap, society.index)
    cells = random_permutation(rng, CELLS)
    for cell in range(CELLS):
        for hill, (row, column) in enumerate(HILLS):
            far = (cell // SIDE - row) ** 2 + (cell % SIDE - column) ** 2
            most = sum(far < limit for limit in (25, 100, 225, 400))
            society.most[cell][hill // 2] = max(most, society.most[cell][hill // 2])
            society.land[cell][hill // 2] = society.most[cell][hill // 2]
    for agent in range(config.agents):
        society.cell[agent], society.occupant[cells[agent]] = cells[agent], agent
        society.sees[agent] = 1 + rng.below(config.vision)
        for good in range(2):
            society.held[agent][good] = float(25 + rng.below(26))
            society.need[agent][good] = 1 + rng.below(config.needs)
    society.stream = rng.pack()


def grow(config, society, day, cell):
    """Let a unit of each good grow back in every cell, up to its capacity."""
    for good in range(2):
        society.land[cell][good] = min(society.most[cell][good], society.land[cell][good] + 1)


def act(config, society, day):
    """Let agents in random order move, gather, eat and trade."""
    rng = model.Rng.load(society.stream)
    trades, total, squares = 0, 0.0, 0.0
    for agent in random_permutation(rng, config.agents):
        if society.sees[agent] > 0:  # it has not starved
            move(society, agent, random_permutation(rng, 4))
        if society.sees[agent] > 0 and config.trade:
            for step in random_permutation(rng, 4):
                other = society.occupant[neighbour(society.cell[agent], SIDE, step, 1)]
                price = swap(society, agent, other) if other != FREE else 0.0
                while price > 0.0:
                    trades, total = trades + 1, total + model.soft_log(price)
                    squares += model.soft_log(price) * model.soft_log(price)
                    price = swap(society, agent, other)
    mean = total / float(max(1, trades))
    society.series = {
        "agents": float(sum(sees > 0 for sees in society.sees)),
        "trades": float(trades),
        "log_price": mean,
        "log_price_sd": math.sqrt(max(0.0, squares / float(max(1, trades)) - mean * mean)),
    }
    society.stream = rng.pack()


def move(society, agent, order):
    """Move to the visible free cell of highest welfare, the nearest of equals; eat or starve."""
    here, held, need = society.cell[agent], society.held[agent], society.need[agent]
    society.occupant[here], best, goal = FREE, -1.0, here
    for far in range(society.sees[agent] + 1):
        for step in order:
            cell = neighbour(here, SIDE, step, far)
            if society.occupant[cell] == FREE:
                sugar, spice = society.land[cell][0], society.land[cell][1]
                found = welfare(need, held[0] + float(sugar), held[1] + float(spice))
                if found > best:
                    best, goal = found, cell
    for good in range(2):
        held[good] += float(society.land[goal][good] - need[good])
        society.land[goal][good] = 0
    society.cell[agent], alive = goal, min(held[0], held[1]) > 0.0
    society.occupant[goal] = agent if alive else FREE
    society.sees[agent] = society.sees[agent] if alive else 0


def swap(society, agent, other):
    """Trade once at the geometric mean of both rates if both gain; return the price, else 0."""
    a, b = society.held[agent], society.held[other]
    mine, theirs = society.need[agent], society.need[other]
    before, others = rate(mine, a[0], a[1]), rate(theirs, b[0], b[1])
    price = math.sqrt(before * others)
    sign = 1.0 if before > others else -1.0  # the agent buys sugar, or sells it
    sugar, spice = sign * max(1.0, 1.0 / price), sign * max(1.0, price)
    a0, a1, b0, b1 = a[0] + sugar, a[1] - spice, b[0] - sugar, b[1] + spice
    if min(a0, a1, b0, b1) <= 0.0 or sign * (rate(mine, a0, a1) - rate(theirs, b0, b1)) < 0.0:
        return 0.0  # too little is held, or the rates would cross
    gain = welfare(mine, a0, a1) - welfare(mine, a[0], a[1])
    if min(gain, welfare(theirs, b0, b1) - welfare(theirs, b[0], b[1])) <= 0.0:
        return 0.0
    a[0], a[1], b[0], b[1] = a0, a1, b0, b1
    return price


class Sugarscape(model.Model):
    """Agents, sugar and spice on a torus of 50 x 50."""

    name, summary = "sugarscape", "agents on a grid gather sugar and spice, and trade them"
    config, start, day = SugarscapeConfig, ("begin",), ("grow", "act")

    def sizes(self, p):
        return {"agent": p.agents, "cell": CELLS, "good": 2}

    def fields(self, p):
        goods, own = ("cell", "good"), ("agent", "good")
        return {
            "most": Field(goods, "int8", "units", "capacity of a cell", within=(0, 4)),
            "land": Field(goods, "int8", "units", "sugar and spice of a cell", within=(0, 4)),
            "occupant": Field(("cell",), "int16", "index", "its agent", initial=-1, recorded=True),
            "cell": Field(("agent",), "int16", "index", "where it is", within=(0, CELLS - 1)),
            "sees": Field(("agent",), "int8", "cells", "vision; 0: starved", within=(0, 25)),
            "need": Field(own, "int8", "units", "needed each day", within=(0, 9)),
            "held": Field(own, "float64", "units", "sugar and spice of an agent", recorded=True),
            "stream": Field((), "uint64", "1", "random stream", within=(1, "last state")),
        }

    def scene(self, p):
        grid = model.Grid("Sugar and spice of each cell", "land", SIDE)
        return model.Scene(grid=grid, spread=("sees",), alive="sees", living="agents")

    def series(self, p):
        return {
            "agents": Series("agents", "agents that are alive"),
            "trades": Series("1", "trades"),
            "log_price": Series("1", "mean logarithm of the price, spice for sugar"),
            "log_price_sd": Series("1", "standard deviation of the logarithm of the price"),
        }


WORKLOAD = Sugarscape()
