"""What does a page show of a result file? Its series and spreads by tick, without a device.

The file may still be written: while the page plays, it is read again whenever it has grown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from societies.errors import ConfigError, OutputError
from societies.output import open_results
from societies.view.run_view import FRAME, PACES, playing_controls
from societies.view.shots import NO_PIXELS, History, Pane, Shot
from societies.workload.declare.view import Change, Control, Press

POLL = 0.5
"""Seconds between two looks at whether a file has grown."""


@dataclass(frozen=True)
class Place:
    """A state of the page: what is shown, and whether it goes on."""

    playing: bool = False
    asked: int = 0
    pace: str = "20 a second"
    spread: str = ""
    copy: int = 0


class FileView:
    """The page of a result file, read-only; a `View` whose frames are scenes.

    Parameters
    ----------
    path : a result of `run`

    Raises
    ------
    ConfigError
        If the file has no series with a value for each tick, such as a study.
    OutputError
        If it is no result file, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._tick = path, 0
        self._stamp: tuple[int, int] | None = None
        self._read()

    def _read(self) -> None:
        """Read the file if it has changed."""
        stat = self._path.stat() if self._path.exists() else None
        stamp = (stat.st_mtime_ns, stat.st_size) if stat else (0, 0)
        if stamp == self._stamp:
            return
        with open_results(self._path) as data:
            self._clock, self._copies = str(data.attrs.get("clock")), str(data.attrs.get("copies"))
            names = [
                name for name, one in data.variables.items()
                if one.dims == (self._copies, self._clock) and one.dtype.kind in "fiu"
            ]  # fmt: skip
            if not names:
                raise ConfigError(
                    f"{self._path}: cannot be viewed: it has no series with a value for each tick"
                )
            arrays = [np.asarray(data[name].values, np.float64) for name in names]
            ticks, about = data[self._clock].values, [data[name].attrs for name in names]
            self._spreads = {
                str(name): one.load()
                for name, one in data.data_vars.items()
                if len(one.dims) == 3
                and one.dims[0] == self._copies
                and self._is_ticks(one.dims[1])
                and one.dims[2] == "agent"
                and one.dtype.kind in "fiu"
            }
            self._title = str(data.attrs.get("title", self._path.name))
            self.ticks = int(data.attrs.get("ticks", ticks.max(initial=0)))
        self._stamp, count = stamp, len(arrays[0])
        self._history = History(count, names, [0] * len(names), self.ticks)
        series = np.full((count, self.ticks, len(names)), np.nan)
        series[:, ticks - 1] = np.stack(arrays, axis=-1)
        last = int(ticks.max(initial=0))
        for tick in range(last):
            self._history.add(series[:, tick])
        self._units = [str(one.get("units", "1")) for one in about]
        self._meanings = [str(one.get("long_name", "")) for one in about]

    def _is_ticks(self, dim: Any) -> bool:
        return str(dim) == self._clock or str(dim).endswith(f"_{self._clock}")

    @property
    def title(self) -> str:
        """The title of the run, and its file."""
        return f"{self._path.name}: {self._title}"

    @property
    def initial(self) -> Place:
        """The last tick of the file."""
        return Place(asked=self._history.rows, spread=next(iter(self._spreads), ""))

    def controls(self, state: Place) -> Sequence[Control]:
        """Return the controls, with the values of a state."""
        counts = self.ticks, self._history.copies
        return playing_controls(state, self._clock, self._copies, *counts, tuple(self._spreads))

    def take(self, state: Place, event: Any) -> Place:
        """Return the state after an event."""
        now = self._tick if state.playing else state.asked
        if isinstance(event, Press):
            if event.name == "play":
                again = not state.playing and now >= self._history.rows == self.ticks
                return replace(state, playing=not state.playing, asked=0 if again else now)
            to = min(now + (1 if event.name == "one" else 10), self.ticks)
            return replace(state, playing=False, asked=to)
        if not isinstance(event, Change):
            return state
        if event.name == "tick":
            return replace(state, playing=False, asked=int(event.value))
        chosen: dict[str, Any] = {event.name: event.value}
        return replace(state, asked=now, **chosen)

    def configuration(self, state: Place) -> Any:
        """Return the configuration of the run.

        Raises
        ------
        OutputError
            If the file does not hold it.
        """
        from societies.config import read_text
        from societies.workload.declare.registry import config_from_dict

        with open_results(self._path) as data:
            text = data.attrs.get("configuration")
        if text is None:
            raise OutputError(f"{self._path}: does not hold its configuration")
        return config_from_dict(read_text(str(text), "configuration").data)

    def frames(self, state: Place) -> Iterator[Shot | None]:
        """Yield scenes of the chosen tick, or one after another while the page plays."""
        self._read()
        self._tick = min(state.asked, self._history.rows)
        yield self._shot(state)
        pace, began, done = PACES[state.pace], time.perf_counter(), 0
        shown = looked = began
        while state.playing and self._tick < self.ticks:
            now = time.perf_counter()
            if self._tick < self._history.rows and now >= began + done / pace:
                self._tick, done = self._tick + 1, done + 1
                if now - shown >= FRAME or self._tick == self._history.rows:
                    shown = now
                    yield self._shot(state)
                continue
            if self._tick >= self._history.rows and now - looked >= POLL:
                looked = now
                self._read()
            time.sleep(0.005)
            yield None

    def _shot(self, state: Place) -> Shot:
        tick, count = self._tick, self._history.copies
        copy = min(state.copy, count - 1)
        facts: dict[str, Any] = {"sha256": "", "ended": tick >= self.ticks, "changes": []}
        numbers = {}
        if state.spread in self._spreads and tick:
            one = self._spreads[state.spread]
            ticks = one[str(one.dims[1])].values
            rows = np.flatnonzero(ticks <= tick)
            if len(rows):
                values = np.asarray(one.values[copy, rows[-1]], np.float64)
                numbers["spread"] = np.sort(values[np.isfinite(values)]).astype(np.float32)
                facts["spread"] = {
                    "name": state.spread,
                    "unit": str(one.attrs.get("units", "1")),
                    "meaning": f"{one.attrs.get('long_name', state.spread)}, "
                    f"{self._clock} {ticks[rows[-1]]}",
                }
        return Shot(
            NO_PIXELS,
            f"{self._clock} {tick} of {self.ticks}",
            tick=tick,
            panes=(Pane(self._history, tick, facts, numbers),),
            facts={
                "clock": self._clock,
                "ticks": self.ticks,
                "names": list(self._history.names),
                "units": self._units,
                "meanings": self._meanings,
                "first": [],
                "copies": count,
                "copy": state.copy,
                "recorded": True,
            },
        )
