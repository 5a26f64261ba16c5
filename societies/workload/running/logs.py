"""What do the ticks of a block leave on a device for the host? Logged fields and events."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.opencl import Device, DeviceArray
from societies.opencl.debug import translated_errors
from societies.opencl.staging import Staging
from societies.workload.declare.fields import Events, State
from societies.workload.running.bound import BoundPhases


class DeviceLogs:
    """The logs of a block of ticks on a device, which the host reads at once.

    Parameters
    ----------
    state : arrays of the state by name, (copy, ...)
    logged : names of the logged arrays
    events : lists of events by name
    ticks : largest number of ticks in a block

    Attributes
    ----------
    arguments : values of the parameters of kernels that write logs or events themselves
    copied : names of the logs that kernels of single phases do not write
    """

    def __init__(
        self,
        device: Device,
        state: Mapping[str, DeviceArray],
        logged: Iterable[str],
        events: Mapping[str, Events],
        ticks: int,
    ) -> None:
        self._state, self._kinds = state, events
        # One row more than ticks: a still valid one of an earlier block.
        self._logs = {
            name: device.zeros((ticks + 1, *state[name].shape), state[name].dtype)
            for name in logged
        }
        self.arguments: dict[str, Any] = {f"{name}_log": log for name, log in self._logs.items()}
        copies = next(iter(state.values())).shape[0]
        for name, kind in events.items():
            rows = ticks * kind.rows + 1  # so that a tick with too many shows (`require_events`)
            log = device.zeros((rows, copies, kind.columns), np.int32)
            count = device.zeros(copies, np.uint32)
            self.arguments |= {f"{name}_log": log, f"{name}_count": count, f"{name}_rows": rows}
        self._ran = 0
        self._staging = {name: Staging(device) for name in self._logs}
        # For each log: pairs of a tick of the block and the row that is valid from this tick on;
        # and the row that was copied in an earlier block, if it is still valid.
        self._rows: dict[str, list[tuple[int, int]]] = {name: [] for name in self._logs}
        self._carried: dict[str, int | None] = dict.fromkeys(self._logs)

    def bind(self, phases: BoundPhases) -> None:
        """Copy from now on what the phases write, except logs that their kernels write."""
        self._phases = phases
        self._by_kernels = {name for name in self._logs if f"{name}_log" in phases.parameters}
        self.copied = self._logs.keys() - self._by_kernels
        phases.written |= self._logs.keys()
        phases.of_host = ChainMap(phases.arrays, self.arguments)

    def begin(self, ticks: int) -> None:
        """Begin a block of ticks."""
        self._ran = ticks
        self.forget_events()
        for name in self.copied:
            # The last row is still valid if nothing has written the field since it was copied.
            carried = None if name in self._phases.written else self._rows[name][-1][1]
            self._carried[name] = carried
            self._rows[name] = [] if carried is None else [(0, carried)]

    def forget_events(self) -> None:
        """Empty the lists of events."""
        for name in self._kinds:
            self.arguments[f"{name}_count"].fill(0)

    def copy(self, row: int, ticks: int = 1) -> None:
        """Copy a tick's logged fields into the logs on the device; the host does not wait.

        Fields that no launch has written since the last copy are skipped, because a copy costs as
        much as a launch; so are those that a launch itself has logged, from this row on.
        """
        written, logged = self._phases.written, self._phases.logged
        if not written:
            return
        for name in logged:
            if row == 0:
                self._rows[name].clear()
            self._rows[name] += [(one, one) for one in range(row, row + ticks)]
        self._phases.logged = frozenset()
        for name in (self.copied & written) - logged:
            log = self._logs[name]
            array, rows, carried = self._state[name], self._rows[name], self._carried[name]
            place = len(rows)
            if carried is not None:
                place -= place <= carried  # do not overwrite the row of an earlier block
            rows.append((row, place))
            with translated_errors(f"keeping {name} of a tick"):
                log.set_row(place, array)
        written.clear()

    def fields(self, *, borrowed: bool = False) -> State:
        """Return the logged fields of the block: (copy, tick, ...).

        Borrowed logs are valid until logs are borrowed again.
        """
        return {name: self.field(name, borrowed=borrowed) for name in self._logs}

    def field(self, name: str, *, borrowed: bool = False) -> NDArray[Any]:
        """Return one logged field of the block: (copy, tick, ...); see `fields`."""
        log, place = self._logs[name], self._staging[name] if borrowed else None
        if name in self._by_kernels:
            return log.get(self._ran, place).swapaxes(0, 1)
        ticks, rows = np.array(self._rows[name], np.intp).T
        wanted = rows[np.searchsorted(ticks, np.arange(self._ran), side="right") - 1]
        logged = log.get(int(rows.max()) + 1, place)
        in_order = np.array_equal(wanted, np.arange(len(logged)))
        return (logged if in_order else logged[wanted]).swapaxes(0, 1)

    def events(self) -> dict[str, NDArray[np.int32]]:
        """Return the events of the block: a row has the copy's index and the columns."""
        found = {}
        for name, kind in self._kinds.items():
            counts = self.arguments[f"{name}_count"].get()
            rows = []
            if counts.any():
                log = self.arguments[f"{name}_log"].get(int(counts.max()))
                copy, row = np.nonzero(np.arange(len(log)) < counts[:, np.newaxis])
                rows = [np.column_stack([copy.astype(np.int32), log[row, copy]])]
            found[name] = sorted_by_tick(rows, kind.columns)
        return found


def sorted_by_tick(rows: list[NDArray[np.int32]], columns: int = 0) -> NDArray[np.int32]:
    """Return all rows sorted by tick; rows of a tick stay in the order of the copies."""
    if not rows:
        return np.empty((0, columns + 1), np.int32)
    table = np.concatenate(rows)
    return table[np.argsort(table[:, 1], kind="stable")]
