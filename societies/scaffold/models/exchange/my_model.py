"""The Boltzmann wealth model: what random payments alone do to equal agents."""

from typing import Literal

from societies.model import (
    Count,
    DailyConfig,
    Field,
    Model,
    Rng,
    Series,
    falls,
    key,
    random_permutation,
    value,
)


class MyModelConfig(DailyConfig):
    """Keys of the YAML file; days, seed, replicates and record are those of every model."""

    workload: Literal["my_model"]
    agents: int = key(500, "Number of agents", "agents", ge=1, le=10_000)
    money: int = key(100, "Money of every agent at the start", "units", ge=1, le=100_000)
    amount: int = value(10, "What one agent pays another when they meet", "units", ge=1, le=100_000)


def begin(config, society, day):
    """Give every society a random stream of its own, by its number."""
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
    total = sum(society.money)
    society.series = {
        "gini": gini(society.money, total),
        "richest": float(max(society.money)),
        "poor": float(sum(money < config.amount for money in society.money)),
        "total": float(total),
    }


def gini(money, total):
    """Return the Gini coefficient: the sum of all pairs' differences over n times the total."""
    n = len(money)
    differences = sum((2 * i + 1 - n) * x for i, x in enumerate(sorted(money)))
    return float(differences) / (float(n) * float(total))


class MyModel(Model):
    """What a society remembers, which phases make a day, and what is reported."""

    name, summary = "my_model", "agents with equal money pay each other at random"
    config, start, day = MyModelConfig, ("begin",), ("exchange", "report")

    def sizes(self, p):
        """Return the length of every dimension."""
        return {"agent": p.agents}

    def fields(self, p):
        """Return what a society remembers from day to day."""
        money = Field(("agent",), "int32", "units", "money of an agent", within=(0, None),
                      initial=p.money, recorded=True)  # fmt: skip
        return {
            "money": money,
            "stream": Field((), "uint64", "1", "random stream", within=(1, "last state")),
        }

    def series(self, p):
        """Return what is reported of every society and day."""
        return {
            "gini": Series("1", "Gini coefficient of money"),
            "richest": Series("units", "money of the richest agent"),
            "poor": Series("agents", "agents that have less than they would have to pay"),
            "total": Series("units", "money of all agents together"),
        }

    def counts(self, p):
        """Return what `societies verify` counts."""
        return {"payments": Count(("exchange",), falls("money"), "units paid, net")}


WORKLOAD = MyModel()
