"""A model with as little as a model needs: a number that goes up or down every day."""

from typing import Literal

from societies.model import DailyConfig, Field, Model, Rng, Series, value


class MyModelConfig(DailyConfig):
    """Keys of the YAML file; days, seed, replicates and record are those of every model."""

    workload: Literal["my_model"]
    step: int = value(1, "How far the number goes in a day", "units", ge=0, le=1000)


def begin(config, society, day):
    """Give every society a random stream of its own, by its number."""
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()


def walk(config, society, day):
    """Go up or down, as chance has it."""
    rng = Rng.load(society.stream)
    society.position += config.step if rng.below(2) == 0 else -config.step
    society.stream = rng.pack()
    society.series = {"place": float(society.position)}


class MyModel(Model):
    """What a society remembers, which phases make a day, and what is reported."""

    name, summary = "my_model", "a random walk"
    config, start, day = MyModelConfig, ("begin",), ("walk",)

    def sizes(self, p):
        """Return the length of every dimension: there is none."""
        return {}

    def fields(self, p):
        """Return what a society remembers from day to day."""
        return {
            "position": Field((), "int64", "units", "where the walk is"),
            "stream": Field((), "uint64", "1", "random stream", within=(1, "last state")),
        }

    def series(self, p):
        """Return what is reported of every society and day."""
        return {"place": Series("units", "where the walk is")}


WORKLOAD = MyModel()
