"""Who carries out the phases: an OpenCL device or plain Python, behind the same few methods."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from societies.daily.config import DailyConfig
from societies.daily.model import SERIES, Model, State
from societies.device import Device, DeviceArray, get_all
from societies.device.debug import opencl, translated_errors

LOG_DAYS = 64
"""Days whose series are kept on the device before the host reads them."""

_WORKGROUP = 256


class Engine(Protocol):
    """What a run needs of whoever carries it out."""

    def start(self) -> None:
        """Put the societies where they are before day 1."""

    def step(self, phase: str, day: int) -> None:
        """Run one phase."""

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last (at most `LOG_DAYS`); (society, day, series) float64."""

    def state(self) -> State:
        """Return a copy of every array of the state."""

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the kept arrays of the state; all others are as before day 1."""


class DeviceEngine:
    """The societies of a model on an OpenCL device.

    Parameters
    ----------
    model : Model
    config : DailyConfig
    device : Device
    lanes : int, optional
        Work-items per workgroup; the results must not depend on it.

    Raises
    ------
    DeviceError
        If the kernels do not build or the arrays do not fit.
    """

    def __init__(
        self, model: Model, config: DailyConfig, device: Device, lanes: int | None = None
    ) -> None:
        self.model, self.config, self.device = model, config, device
        self.lanes = lanes or workgroup_size(device, max(model.sizes(config).values(), default=1))
        self._state: dict[str, DeviceArray] = {
            name: device.array(array) for name, array in model.initial_state(config).items()
        }
        self._log = device.zeros((LOG_DAYS, *self._state[SERIES].shape))
        self._launches = model.launches(device, config, self._state, self.lanes)

    def start(self) -> None:
        """Put the societies where they are before day 1."""
        for name, array in self.model.initial_state(self.config).items():
            self._state[name].set(array)
        for phase in self.model.start:
            self.step(phase, 0)

    def step(self, phase: str, day: int) -> None:
        """Run one phase."""
        self._launches[phase](day)

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last (at most `LOG_DAYS`); (society, day, series) float64."""
        for day in range(first, last + 1):
            for phase in self.model.day:
                self.step(phase, day)
            self._keep_series(day - first)
        log: NDArray[np.float64] = self._log.get()
        return log[: last - first + 1].transpose(1, 0, 2)

    def _keep_series(self, row: int) -> None:
        """Copy the day's series into the log, on the device: nothing waits."""
        series = self._state[SERIES]
        if series.nbytes:
            with translated_errors("keeping the series of a day"):
                opencl().enqueue_copy(
                    self.device.queue,
                    self._log.buffer,
                    series.buffer,
                    byte_count=series.nbytes,
                    dst_offset=row * series.nbytes,
                )

    def state(self) -> State:
        """Return a copy of every array of the state."""
        return get_all(self._state)

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the kept arrays of the state; all others are as before day 1."""
        initial = self.model.initial_state(self.config)
        for name, array in {**initial, **self.model.kept(state)}.items():
            self._state[name].set(array)


def workgroup_size(device: Device, items: int) -> int:
    """Return work-items per group: one for each of the items, in whole warps, at most 256."""
    step = max(8, device.warp if device.kind != "cpu" else 8)
    return min(_WORKGROUP, device.max_workgroup, -(-items // step) * step)


class ReferenceEngine:
    """The societies of a model in plain Python, the definition of every result.

    Parameters
    ----------
    model : Model
    config : DailyConfig
    """

    def __init__(self, model: Model, config: DailyConfig) -> None:
        self.model, self.config = model, config
        self._societies = self._unpack(model.initial_state(config))

    def start(self) -> None:
        """Put the societies where they are before day 1."""
        self._societies = self._unpack(self.model.initial_state(self.config))
        for phase in self.model.start:
            self.step(phase, 0)

    def step(self, phase: str, day: int) -> None:
        """Run one phase."""
        for society in self._societies:
            self.model.reference[phase](self.config, society, day)

    def run_days(self, first: int, last: int) -> NDArray[np.float64]:
        """Run days first to last; (society, day, series) float64."""
        rows = []
        for day in range(first, last + 1):
            for phase in self.model.day:
                self.step(phase, day)
            rows.append(self.state()[SERIES])
        return np.stack(rows, axis=1)

    def state(self) -> State:
        """Return a copy of every array of the state."""
        return {
            name: np.array([self._packed(society, name) for society in self._societies], f.dtype)
            for name, f in self.model.fields.items()
        }

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the kept arrays of the state; all others are as before day 1."""
        initial = self.model.initial_state(self.config)
        self._societies = self._unpack({**initial, **self.model.kept(state)})

    def _unpack(self, state: Mapping[str, NDArray[Any]]) -> list[Any]:
        societies = []
        for i in range(self.config.replicates):
            lists = {name: array[i].tolist() for name, array in state.items()}
            lists[SERIES] = dict(zip(self.model.series, lists[SERIES], strict=True))
            societies.append(SimpleNamespace(index=self.config.first_society + i, **lists))
        return societies

    def _packed(self, society: Any, name: str) -> Any:
        value = getattr(society, name)
        return [value[series] for series in self.model.series] if name == SERIES else value
