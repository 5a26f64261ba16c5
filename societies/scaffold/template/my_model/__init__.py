"""The Boltzmann wealth model: what random payments alone do to equal agents."""

from pathlib import Path

from societies.workload import (
    Count,
    Field,
    Series,
    Source,
    Step,
    Workload,
    falls,
    phase,
    series_macros,
)

from my_model.config import MyModelConfig

KERNELS = Path(__file__).parent / "kernels"
START = ("seed_streams",)
DAY = ("exchange", "statistics")
"""Phases before the first day, and those of a day in order; kernels and twins have their names."""


class MyModel(Workload):
    """What is declared; running, resuming, verifying, capturing and timing follow from it."""

    name = "my_model"
    summary = "agents with equal money pay each other at random"
    version = "1"  # another one when, and only when, results change
    config = MyModelConfig
    clock, copies, work = "day", "society", "agent-day"
    numbered, twins = True, "my_model.reference"  # kernels read `society_numbers`

    def sizes(self, p):
        """Return the length of every dimension of the fields."""
        return {"agent": p.agents}

    def fields(self, p):
        """Return what a society remembers from day to day."""
        return {
            "money": Field(
                ("agent",),
                "int32",
                "units",
                "money of an agent",
                within=(0, None),
                initial=lambda p: p.money,
                recorded=True,
            ),
            "stream": Field(
                (), "uint64", "1", "state of the society's random stream", within=(1, "last state")
            ),
        }

    def series(self, p):
        """Return what is reported of every society and day."""
        return {
            "gini": Series("1", "Gini coefficient of money"),
            "richest": Series("units", "money of the richest agent"),
            "poor": Series("agents", "agents that have less than they would have to pay"),
            "total": Series("units", "money of all agents together"),
        }

    def phases(self, p, copies):
        """Return the kernels of every phase: their file, and one workgroup for each society."""
        file = KERNELS / "my_model.cl"
        return {name: phase(file, copies) for name in START + DAY}

    def schedule(self, p, tick, seen):
        """Return the phases of a day in order; of day 0, what happens before the first."""
        return [Step(name) for name in (DAY if tick else START)]

    def source(self, p):
        """Return the macros of the kernels, which shape arrays, and how they read values."""
        macros = {**self.macros(p, "agents"), **series_macros(self.columns(p))}
        return Source(macros, header=self.lookups(p), work_items="LANES")

    def counts(self, p):
        """Return what `societies verify` counts, as phases may run without anything to do."""
        return {"payments": Count(("exchange",), falls("money"), "units paid, net")}

    def work_done(self, config, ticks):
        """Return agent-days."""
        return ticks * config.replicates * config.agents


WORKLOAD = MyModel()
