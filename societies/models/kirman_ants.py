"""Ants between two sources of food, or traders between two opinions, that recruit each other.

After A. Kirman, "Ants, rationality, and recruitment" (1993). The number of ants at the first
source has a beta-binomial distribution with parameters (a, a), a = own (ants - 1) / convinced. For
a < 1 most ants are at one source, and at times nearly all change to the other.
"""

from typing import Literal

from societies.model import DailyConfig, Field, Model, Rng, Series, shape, value


class KirmanAntsConfig(DailyConfig):
    workload: Literal["kirman_ants"]
    ants: int = shape(100, "Number of ants", "ants", ge=2, le=100_000)
    own: float = value(0.002, "Probability that an ant changes on its own", "1", ge=0.0, le=0.5)
    convinced: float = value(0.99, "Probability that an ant follows one that it meets; with "
                             "`own` at most 1", "1", ge=0.0, le=1.0)  # fmt: skip
    meetings: int = value(100, "Meetings in a day", "meetings", ge=1, le=10_000_000)


def begin(config, society, day):
    """Place every ant at a random source."""
    rng = Rng.seed(config.stream_base, config.stream_gap, society.index)
    for ant in range(config.ants):
        society.source[ant] = rng.below(2)
    society.stream = rng.pack()


def meet(config, society, day):
    """Let randomly drawn ants, one after another, change their source or follow another ant."""
    rng = Rng.load(society.stream)
    changes = 0
    for _ in range(config.meetings):
        ant = rng.below(config.ants)
        other = (ant + 1 + rng.below(config.ants - 1)) % config.ants
        before = society.source[ant]
        chance = rng.uniform()
        if chance < config.own:
            society.source[ant] = 1 - before
        elif chance < config.own + config.convinced:
            society.source[ant] = society.source[other]
        changes += society.source[ant] != before
    share = float(sum(society.source)) / float(config.ants)
    society.series = {
        "share": share,
        "variance": (share - 0.5) * (share - 0.5),
        "changes": float(changes),
    }
    society.stream = rng.pack()


class KirmanAnts(Model):
    """Ants at two sources of food."""

    name, summary = "kirman_ants", "ants recruit each other to one of two sources of food"
    config, start, day = KirmanAntsConfig, ("begin",), ("meet",)

    def sizes(self, p):
        return {"ant": p.ants}

    def fields(self, p):
        return {
            "source": Field(("ant",), "int8", "1", "where an ant is: 0 or 1", within=(0, 1),
                            recorded=True),
            "stream": Field((), "uint64", "1", "random stream", within=(1, "last state")),
        }  # fmt: skip

    def series(self, p):
        return {
            "share": Series("1", "share of the ants at source 1 in the evening"),
            "variance": Series("1", "square of the distance of this share from 1/2"),
            "changes": Series("1", "changes of source in the day"),
        }


WORKLOAD = KirmanAnts()
