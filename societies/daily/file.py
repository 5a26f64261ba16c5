"""What goes into the file of such a model: its series, and its state on the days of detail."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.daily.config import DailyConfig
from societies.daily.model import Model
from societies.output import Coordinate, ResultFile, Variable
from societies.output.checkpoints import slots
from societies.output.files import require_allowed, require_target
from societies.output.layout import declare
from societies.output.provenance import origin
from societies.output.ranges import Expected, require_state
from societies.streams import LAST_STATE

DETAIL_DAY = "detail_day"


class Contents:
    """Coordinates, variables and checkpoint of a configuration's file, and the writing of days.

    Parameters
    ----------
    model : Model
    config : DailyConfig
    """

    def __init__(self, model: Model, config: DailyConfig) -> None:
        self.model, self.config = model, config
        every = config.record.detail
        self.detail_days = range(every, config.days + 1, every) if every else range(0)
        self._detail = {
            name: field
            for name, field in model.state.items()
            if field.recorded and self.detail_days
        }

    def coordinates(self) -> list[Coordinate]:
        """Return the coordinates of the file."""
        config = self.config
        societies = np.arange(config.first_society, config.first_society + config.replicates)
        days = np.arange(1, config.days + 1)
        result = [
            Coordinate("society", societies, "", "number of the society"),
            Coordinate("day", days, "day", "day, counted from 1"),
        ]
        if self._detail:
            detail = np.array(self.detail_days)
            result.append(Coordinate(DETAIL_DAY, detail, "day", "day on which detail is recorded"))
        sizes = self.model.sizes(config)
        for dim in dict.fromkeys(dim for field in self._detail.values() for dim in field.dims):
            result.append(Coordinate(dim, np.arange(sizes[dim]), "", f"number of the {dim}"))
        return result

    def variables(self) -> list[Variable]:
        """Return the variables of the file."""
        series = [
            Variable(name, ("society", "day"), "float64", s.unit, s.meaning)
            for name, s in self.model.series.items()
        ]
        detail = [
            Variable(name, ("society", DETAIL_DAY, *f.dims), f.dtype, f.unit, f.meaning)
            for name, f in self._detail.items()
        ]
        return [*series, *detail]

    def checkpoint(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Return shape and type of the arrays of a checkpoint."""
        model, config = self.model, self.config
        return {n: (model.shape(f, config), f.dtype) for n, f in model.fields.items() if f.kept}

    def require_checkpoint(self, path: Path, day: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Raise OutputError unless a state read from a file can be one of this configuration."""
        model, config = self.model, self.config
        expected = {
            name: Expected(model.shape(field, config), field.dtype, field.within)
            for name, field in model.fields.items()
            if field.kept
        }
        limits = {f"{dim}s - 1": length - 1 for dim, length in model.sizes(config).items()}
        require_state(path, day, state, expected, {**limits, "last state": LAST_STATE})

    def results_bytes(self) -> int:
        """Return the bytes of all variables."""
        lengths = {c.name: len(c.values) for c in self.coordinates()}
        return sum(
            int(np.prod([lengths[dim] for dim in v.dims])) * np.dtype(v.dtype).itemsize
            for v in self.variables()
        )

    def require_room(self, path: Path, *, overwrite: bool) -> None:
        """Raise OutputError if the file plainly cannot be made, before any work is done."""
        layout = declare(
            self.coordinates(),
            self.variables(),
            {},
            self.checkpoint(),
            ticks=self.config.days,
            slots=slots(self.config.record.checkpoint),
        )
        nbytes = layout.nbytes_on_disk
        require_target(path, nbytes, overwrite=overwrite)
        require_allowed(path, nbytes)

    def create(self, path: Path, facts: dict[str, str], *, overwrite: bool) -> ResultFile:
        """Make the file; ``facts`` are attributes that tell the device."""
        model, config = self.model, self.config
        sizes = {f"{dim}s": length for dim, length in model.sizes(config).items()}
        shape = " x ".join(f"{length} {name}" for name, length in sizes.items())
        return ResultFile.create(
            path,
            coordinates=self.coordinates(),
            variables=self.variables(),
            attributes={
                "title": f"{model.name}, {shape}" if shape else model.name,
                **sizes,
                **origin(config, model.version),
                **facts,
            },
            state=self.checkpoint(),
            ticks=config.days,
            slots=slots(config.record.checkpoint),
            overwrite=overwrite,
        )

    def write_series(self, file: ResultFile, first: int, series: NDArray[np.float64]) -> None:
        """Write the series of days from ``first`` on, (society, day, series) float64."""
        days = slice(first - 1, first - 1 + series.shape[1])
        for i, name in enumerate(self.model.series):
            file.write(name, series[:, :, i], day=days)

    def write_detail(self, file: ResultFile, day: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Write what is recorded of the state on a day of detail."""
        for name in self._detail:
            file.write(name, state[name], **{DETAIL_DAY: self.detail_days.index(day)})
