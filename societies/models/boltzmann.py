"""The Boltzmann wealth model: random payments between equal agents create inequality.

After A. Dragulescu and V. M. Yakovenko, "Statistical mechanics of money" (2000). Money is
conserved, and its distribution becomes exponential.
"""

from typing import Literal

from societies.model import (
    Count,
    DailyConfig,
    Field,
    Model,
    Rng,
    Series,
    falls,
    initial,
    random_permutation,
    shape,
    value,
)


class BoltzmannConfig(DailyConfig):
    workload: Literal["boltzmann"]
    agents: int = shape(500, "Number of agents", "agents", ge=1, le=10_000)
    money: int = initial(100, "Money of every agent at the start", "units", ge=1, le=100_000)
    amount: int = value(10, "What one agent pays another when they meet", "units", ge=1, le=100_000)


def begin(config, society, day):
    """Give every agent the same money and every society its own random stream."""
    for agent in range(config.agents):
        society.money[agent] = config.money
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()


def exchange(config, society, day):
    """Pair the agents at random; the first of a pair pays the second, if it can."""
    rng = Rng.load(society.stream)
    order = random_permutation(rng, config.agents)
    for payer, payee in zip(order[::2], order[1::2], strict=False):
        if society.money[payer] >= config.amount:
            society.money[payer] -= config.amount
            society.money[payee] += config.amount
    society.stream = rng.pack()


def report(config, society, day):
    """Fill the day's series."""
    ascending = sorted(society.money)
    total = sum(ascending)
    rich = max(1, config.agents // 10)
    society.series = {
        "gini": gini(ascending, total),
        "top_tenth": float(sum(ascending[-rich:])) / float(total),
        "richest": float(ascending[-1]),
        "poor": float(sum(money < config.amount for money in ascending)),
        "total": float(total),
    }


def gini(ascending, total):
    """Return the Gini coefficient: the sum of differences of all pairs over n times the total."""
    n = len(ascending)
    differences = sum((2 * i + 1 - n) * x for i, x in enumerate(ascending))
    return float(differences) / (float(n) * float(total))


class Boltzmann(Model):
    """Equal agents that pay each other at random."""

    name, summary = "boltzmann", "agents with equal money pay each other at random"
    config, start, day = BoltzmannConfig, ("begin",), ("exchange", "report")

    def sizes(self, p):
        return {"agent": p.agents}

    def fields(self, p):
        return {
            "money": Field(("agent",), "int32", "units", "money of an agent", within=(0, None),
                           recorded=True),
            "stream": Field((), "uint64", "1", "random stream", within=(1, "last state")),
        }  # fmt: skip

    def series(self, p):
        return {
            "gini": Series("1", "Gini coefficient of money"),
            "top_tenth": Series("1", "share of all money that the richest tenth owns"),
            "richest": Series("units", "money of the richest agent"),
            "poor": Series("agents", "agents that have less than they would have to pay"),
            "total": Series("units", "money of all agents together"),
        }

    def counts(self, p):
        return {"payments": Count(("exchange",), falls("money"), "units paid, net")}


WORKLOAD = Boltzmann()
