"""Fashion on a network: agents adopt what enough of their neighbours have adopted."""

from typing import Literal

from societies.model import DailyConfig, Field, Model, Rng, Series, key, value


class MyModelConfig(DailyConfig):
    """Keys of the YAML file; days, seed, replicates and record are those of every model."""

    workload: Literal["my_model"]
    agents: int = key(400, "Number of agents, on a ring", "agents", ge=3, le=100_000)
    links: int = key(6, "Neighbours whom an agent looks at", "agents", ge=1, le=100)
    rewired: int = key(10, "Links of a hundred that lead anywhere", "percent", ge=0, le=100)
    threshold: int = value(2, "Neighbours who must have adopted before", "agents", ge=1, le=100)
    first: int = key(10, "Agents who adopt on their own, side by side", "agents", ge=1)


def begin(config, society, day):
    """Draw the network: the nearest on the ring, some links rewired to any agent."""
    rng = Rng.seed(config.stream_base, config.stream_gap, society.index)
    for agent in range(config.agents):
        for link in range(config.links):
            distance = link // 2 + 1
            step = distance if link % 2 == 0 else -distance
            other = (agent + step) % config.agents
            if rng.below(100) < config.rewired:
                other = rng.below(config.agents)
            society.neighbour[agent][link] = other
        if agent < config.first:
            society.adopted[agent] = 1


def look(config, society, day, agent):
    """Count the neighbours who have adopted: every agent alone, from the state before."""
    count = 0
    for other in society.neighbour[agent]:
        count += society.adopted[other]
    society.seen[agent] = count


def adopt(config, society, day, agent):
    """Adopt if enough neighbours have: a phase of its own, so that no agent is ahead of others."""
    if society.seen[agent] >= config.threshold:
        society.adopted[agent] = 1


def report(config, society, day):
    """Fill the day's series."""
    society.series = {"share": float(sum(society.adopted)) / float(config.agents)}


class MyModel(Model):
    """What a society remembers, which phases make a day, and what is reported."""

    name, summary = "my_model", "agents adopt what their neighbours have adopted"
    config, start, day = MyModelConfig, ("begin",), ("look", "adopt", "report")

    def sizes(self, p):
        """Return the length of every dimension."""
        return {"agent": p.agents, "link": p.links}

    def fields(self, p):
        """Return what a society remembers from day to day."""
        last = p.agents - 1
        return {
            "neighbour": Field(("agent", "link"), "int32", "agent", "whom an agent looks at",
                               within=(0, last)),
            "adopted": Field(("agent",), "int32", "1", "whether an agent has adopted",
                             within=(0, 1), recorded=True),
            "seen": Field(("agent",), "int32", "agents", "neighbours who have adopted",
                          within=(0, None)),
        }  # fmt: skip

    def series(self, p):
        """Return what is reported of every society and day."""
        return {"share": Series("1", "share of the agents who have adopted")}


WORKLOAD = MyModel()
