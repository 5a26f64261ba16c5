"""A workload of a few numbers, each of which can be worked out by hand; a run takes milliseconds.

Society n adds ``pace`` (x 2 in its second cell) and ``n`` to its cells every day. On a day that its
number divides (n + 2, so that 0 has some), it notes a milestone. It has what an economy has, too:
interventions and tables, removals that are drawn before the first day, series that are known a day
later, details, events and permanent checkpoints.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any, Literal

import pytest

from societies.config.model import ListOf, Section, key, shape, value
from societies.workload import Events, Field, Phase, Series, Source, Step, Workload
from societies.workload.declare.config import DailyConfig, RecordConfig
from societies.workload.running import registry
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.ensembles import removing
from societies.workload.running.points import intervention_conflicts, points_of

LIMIT = 1e6


class Change(Section):
    day: int = key(..., "Day after which values change", "day", ge=0, examples=[0])
    set: dict[str, Any] = key({}, "New values by key", examples=[{"pace": 2.0}])
    societies: ListOf[int] = key((), "Societies that change; empty: all", "index")
    remove: Literal["cell"] | None = key(None, "Removes the second cell")


class Goal(Section):
    bonus: float = value(0.0, "What a milestone brings", "units", ge=0)


class TalliesRecord(RecordConfig):
    milestones: bool = key(True, "Whether milestones are recorded")
    series: int = key(1, "Record series every this many days", "day", ge=1)


class TalliesConfig(DailyConfig):
    """Societies that count."""

    workload: Literal["tallies"] = key("tallies", "What the file configures")
    cells: int = shape(2, "Number of cells", "cells", ge=1, le=9)
    pace: float = value(1.0, "What is added every day", "units", gt=0, le=LIMIT)
    end: int = key(0, "Day on which all end, 0: none", "day", ge=0)
    goal: Goal = key(Goal(), "What happens at milestones")
    interventions: ListOf[Change] = key((), "Which values change, and when")
    record: TalliesRecord = key(TalliesRecord(), "What is recorded in the file")

    def conflicts(self) -> Iterator[Any]:
        yield from super().conflicts()
        yield from intervention_conflicts(self)


class Contents(SeriesAndDetail):
    """The default contents, with milestones if they are recorded."""

    def tables(self):
        wanted = self.config.record.milestones
        return [replace(one, rows=3) for one in super().tables() if wanted]  # becomes longer


class Tallies(Workload):
    name, summary, config = "tallies", "counts", TalliesConfig
    clock, copies, work = "day", "society", "cell-day"
    contents_class = "tallies:Contents"
    numbered = True

    def sizes(self, p):
        return {"cell": p.cells}

    def fields(self, p):
        tally = Field(("cell",), "float64", "units", "units", within=(0, "most"))
        fields = {
            "tally": replace(tally, recorded=True, final=True),
            "gone": Field(("cell",), "int32", "day", "day of removal", within=(0, None)),
            "count": Field((), "int32", "1", "milestones", within=(0, None), logged=True),
            "weight": Field(("cell",), "float64", "1", "weight", initial=1, constant=True),
            "passing": Field((), "float64", "1", "between phases", checkpointed=False),
            "scribble": Field(
                (), "int32", "1", "of no meaning", checkpointed=False, compared=False
            ),
        }
        if p.end:
            fields["ended"] = Field((), "int64", "day", "day of the end", initial=-1)
        return fields

    def series(self, p):
        return {
            "total": Series("units", "units in all cells"),
            "carried": Series("units", "units with which the next day begins", lag=1),
        }

    def events(self, p):
        return {"milestones": Events(2, 1, {"tally": ("units", "units in the first cell")})}

    def phases(self, p, copies):
        return {name: Phase() for name in ("begin", "grow", "note", "close")}

    def schedule(self, p, tick, seen):
        return [Step(one) for one in (("grow", "note") if tick else ("begin",))]

    def finish(self, p):
        return [Step("close")]

    def source(self, p):
        return Source()

    def parameters(self, config):
        return config

    def limits(self, p, tick):
        return {"most": LIMIT}

    def changes(self, p):
        points = points_of(p)
        return points.after if points else ()

    def parameters_of_copy(self, p, place, tick):
        points = points_of(p)
        if not points:
            return p
        removals = tuple(one for one, of in removing(p) if of is None or of[place])
        own = points.configs[points.of[points.stretch(tick), place]]
        return own.model_copy(update={"interventions": removals})

    def settled(self, p):
        return {"gone": ()}

    def reference(self, p):
        def begin(p, s, day):
            s.weight = [c + 1.0 for c in range(len(s.weight))]
            for one in p.interventions:
                if one.remove:
                    s.gone[-1] = one.day

        def grow(p, s, day):
            s.passing = sum(s.tally)
            for c, weight in enumerate(s.weight):
                if not s.gone[c] or day <= s.gone[c]:
                    s.tally[c] += p.pace * weight + s.index

        def note(p, s, day):
            if day % (s.index + 2) == 0:
                s.count += 1
                s.tally[0] += p.goal.bonus
                s.milestones.append((day, int(s.tally[0])))
            s.series = {"total": sum(s.tally), "carried": s.passing}
            if day == getattr(p, "end", 0) != 0:
                s.ended = day

        def close(p, s, day):
            assert day == -1
            s.passing = -1.0

        return {"begin": begin, "grow": grow, "note": note, "close": close}


WORKLOAD = Tallies()


def install(patch):
    """Let the registry have the workload, until the patches are undone."""
    own, before = EntryPoint("tallies", "tallies:WORKLOAD", registry.GROUP), registry._installed
    patch.setattr(registry, "_installed", lambda places: {**before(places), "tallies": own})


@contextmanager
def installed():
    """Install the workload for a fixture that many tests share."""
    with pytest.MonkeyPatch.context() as patch:
        install(patch)
        yield


def config(**settings):
    """Return a configuration of two societies, for as long as the workload is installed."""
    return registry.config_from_dict(
        {"workload": "tallies", "days": 8, "replicates": 2, **settings}
    )


def tally(number, day, pace=1.0, cells=2):
    """Return what the cells of a society hold at the end of a day, without a goal."""
    return [day * (pace * (c + 1) + number) for c in range(cells)]
