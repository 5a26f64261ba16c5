"""What does a page show of a result file? Its series and spreads by tick, without a device.

The file may still be written: while the page plays, it is read again whenever it has grown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError
from societies.output import open_results
from societies.output.inspection import configuration, inspect
from societies.output.lock import being_written
from societies.output.opening import is_study
from societies.view.controls import (
    PACES,
    Playing,
    Speed,
    after_button,
    network_controls,
    playing_controls,
    windows,
)
from societies.view.course import WEEK
from societies.view.networks import largest, network, network_facts, summed
from societies.view.recorded import Recorded, declared
from societies.view.run_view import FRAME
from societies.view.shots import NO_PIXELS, History, Line, Pane, Shot, evenly
from societies.words import plural
from societies.workload.declare.view import Change, Control, Press

POLL = 0.5
"""Seconds between two looks at whether a file has grown."""


class FileView:
    """The page of a result file, read-only; a `View` whose frames are scenes.

    Attributes
    ----------
    ticks : of the whole run
    declared : how many times title, controls and their ranges were read: they change with the file

    Raises
    ------
    ConfigError
        If the file has no series with a value for each tick, such as a study.
    OutputError
        If it is no result file, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._tick, self.declared = path, 0, 0
        self._live = self._complete = False
        self._stamp: tuple[int, int] | None = None
        self._history, self._open = History(0, ()), ExitStack()
        self._declaration: Any = None
        self._read()

    def _read(self) -> None:
        """Read the file if it has changed, or if a run does not write it any more."""
        stat = self._path.stat() if self._path.exists() else None
        stamp = (stat.st_mtime_ns, stat.st_size) if stat else (0, 0)
        changed = stamp != self._stamp
        live = (changed or not self._complete) and being_written(self._path)
        if not changed and live == self._live:
            return
        with ExitStack() as stack:
            data = stack.enter_context(open_results(self._path))
            about = {"clock": "day", "copies": "society", **data.attrs}  # layout 1 has neither
            self._clock, self._copies = str(about["clock"]), str(about["copies"])
            series = {
                str(name): one.load()
                for name, one in data.variables.items()
                if one.dims[:2] == (self._copies, self._clock) and one.dtype.kind in "fiu"
                and one.ndim < 4 and "agent" not in one.dims
            }  # fmt: skip
            if not series and is_study(self._path):
                raise ConfigError(
                    f"{self._path}: is a study, which has no page: `societies plot` draws it"
                )
            if not series:
                raise ConfigError(
                    f"{self._path}: cannot be viewed: it has no series with a value for each tick"
                )
            ticks = data[self._clock].values
            entries = {str(dim): data[dim].values for dim in data.dims if dim in data.coords}
            self._recorded = {  # may have gigabytes: what is shown of them is read then
                str(name): one
                for name, one in data.data_vars.items()
                if one.dims[:1] == (self._copies,) and one.dims[2:3] == ("agent",) and one.ndim < 5
                and self._is_ticks(one.dims[1]) and one.dtype.kind in "fiu"
            }  # fmt: skip
            self._title = str(data.attrs.get("title", ""))
            self.ticks = int(data.attrs.get("ticks", ticks.max(initial=0)))
            self._numbers = data[self._copies].values
            attributes = dict(data.attrs)
            self._open.close()
            self._open = stack.pop_all()
        found = declared(self._path, attributes)
        self._scene, self._network, self._notes = found.scene, found.network, found.remarks
        self._title = found.title or self._title
        self._spreads = [name for name, one in self._recorded.items() if one.ndim == 3]
        lines, columns = [], []
        for name, one in series.items():
            unit, meaning = str(one.attrs.get("units", "1")), str(one.attrs.get("long_name", ""))
            values = one.values.reshape(*one.shape[:2], int(np.prod(one.shape[2:])))
            words = entries.get(str(one.dims[2]), range(values.shape[2])) if one.ndim > 2 else [""]
            for i, word in enumerate(words):
                own = f"{name}_{word}" if one.ndim > 2 else name
                lines.append(Line(name, own, unit, meaning))
                columns.append(values[:, :, i].astype(np.float64))
        rows = np.full((len(columns[0]), int(ticks.max(initial=0)), len(lines)), np.nan)
        rows[:, ticks - 1] = np.stack(columns, axis=-1)
        if not self._history.begins(lines, rows):
            self._history = History(len(rows), lines)  # a new one is sent to pages as a whole
        self._history.rows = max(0, self._history.rows - 1)  # it may lack values that have a lag
        for row in range(self._history.rows, rows.shape[1]):
            self._history.add(rows[:, row])
        self._complete = inspect(self._path).complete
        self._live = live and not self._complete
        self._stamp = stamp
        net = self._network.net if self._network else None
        declaration = (self._title, self.last, self._history.copies, tuple(self._spreads), net)
        if declaration != self._declaration:
            self._declaration = declaration
            self.declared += 1

    @property
    def last(self) -> int:
        """The last tick that can be asked for: that of the run, if it continues."""
        return self.ticks if self._live else self._history.rows

    def _fitted(self, state: Playing) -> Playing:
        """Return a state whose choices this file has: another one may have replaced it."""
        net = self._network.net if self._network else None

        def chosen(one: str, words: Sequence[str]) -> str:
            return one if one in words else next(iter(words), "")

        return replace(
            state,
            asked=min(state.asked, self.last),
            spread=chosen(state.spread, self._spreads),
            copy=min(state.copy, self._history.copies - 1),
            links=chosen(state.links, tuple(net.columns) if net else ()),
            window=chosen(state.window, windows(self._clock)[::-1]),
            colour=chosen(state.colour, tuple(net.colours) if net else ()),
        )

    def _is_ticks(self, dim: Any) -> bool:
        return str(dim) == self._clock or str(dim).endswith(f"_{self._clock}")

    @property
    def title(self) -> str:
        """The file, and what the page of its run is called."""
        return ": ".join(filter(None, (self._path.name, self._title)))

    @property
    def initial(self) -> Playing:
        """The last tick of the file; if a run is writing it, the page follows."""
        pace = list(PACES)[-1] if self._live else Playing.pace
        return self._fitted(Playing(playing=self._live, pace=pace, asked=self._history.rows))

    def controls(self, state: Playing) -> Sequence[Control]:
        """Return the controls, with the values of a state."""
        state, counts = self._fitted(state), (self.last, self._history.copies)
        found = playing_controls(state, self._clock, self._copies, *counts, self._spreads)
        return found + (
            network_controls(state, self._clock, self._network.net) if self._network else []
        )

    def take(self, state: Playing, event: Any) -> Playing:
        """Return the state after an event."""
        now = self._tick if state.playing else state.asked
        if isinstance(event, Press):
            over = now >= self._history.rows and not being_written(self._path)
            return after_button(state, event.name, now, self.last, over=over)
        if not isinstance(event, Change):
            return state
        if event.name == "tick":
            return replace(state, playing=False, asked=int(event.value))
        chosen: dict[str, Any] = {event.name: event.value}
        return replace(state, asked=now, **chosen)

    def configuration(self, state: Playing) -> str:
        """Return the configuration of the run, as `societies info --config` prints it."""
        return configuration(self._path)

    def frames(self, state: Playing) -> Iterator[Shot | None]:
        """Yield scenes of the chosen tick, or one after another while the page plays.

        As long as the file lacks ticks, it is read again whenever it has changed.
        """
        self._read()
        state = self._fitted(state)
        self._tick = min(state.asked, self._history.rows)
        yield self._shot(state)
        pace = Speed(PACES[state.pace])
        shown = looked = time.perf_counter()
        took = 0.0
        while not self._complete or (state.playing and self._goes_on):
            now, playing = time.perf_counter(), state.playing and self._tick < self._history.rows
            if playing and pace.left <= 0:
                self._tick += 1
                pace.done()
                if now - shown >= FRAME or self._tick == self._history.rows:
                    shown = now
                    yield self._shot(state)
                continue
            if not playing and now - looked >= max(POLL, 4 * took):
                before = self._stamp, self._live
                self._read()
                looked = time.perf_counter()
                took = looked - now
                if before != (self._stamp, self._live):
                    state = self._fitted(state)
                    self._tick = min(self._tick, self._history.rows)
                    yield self._shot(state)
            time.sleep(0.005 if state.playing else 0.02)
            yield None

    @property
    def _goes_on(self) -> bool:
        """Whether there is a tick after the one that is shown, or will be."""
        return self._tick < self._history.rows or self._live

    def _caption(self) -> str:
        """Return the tick that is shown, and up to which the file has them if it lacks the last."""
        shown = f"{self._clock} {self._tick} of {self.ticks}"
        rows = self._history.rows
        if rows == self.ticks:
            return shown
        if self._complete:
            return f"{shown} (the run ended on {self._clock} {rows})"
        more = "the run continues" if self._live else "resume the run to continue it"
        return f"{shown} (recorded up to {self._clock} {rows}; {more})"

    def _shot(self, state: Playing) -> Shot:
        tick, count = self._tick, self._history.copies
        copy = min(state.copy, count - 1)
        facts: dict[str, Any] = {"sha256": "", "ended": not self._goes_on, **self._notes}
        numbers: dict[str, NDArray[Any]] = {}
        if state.spread in self._spreads and tick:
            one = self._recorded[state.spread]
            meaning = f"{one.attrs.get('long_name', state.spread)}"
            facts["spread"] = {
                "name": state.spread,
                "unit": str(one.attrs.get("units", "1")),
                "meaning": f"{meaning}: not recorded up to {self._clock} {tick}",
            }
            if (found := self._newest(state.spread, copy, tick)) is not None:
                when, values = found
                numbers["spread"] = evenly(values)
                facts["spread"]["meaning"] = f"{meaning}, {self._clock} {when}"
        if self._network and tick:
            facts["network"], drawn = self._drawn(self._network, state, copy, tick)
            numbers |= drawn
        return Shot(
            NO_PIXELS,
            self._caption(),
            tick=tick,
            panes=(Pane(self._history, tick, facts, numbers),),
            facts={
                "clock": self._clock,
                "ticks": self.ticks,
                "first": list(self._scene.series),
                "living": self._scene.living,
                "copies": count,
                "copy": state.copy,
                "agent": -1,
                "recorded": True,
                "playing": state.playing and self._goes_on,
            },
        )

    def _newest(self, name: str, copy: int, tick: int) -> tuple[int, NDArray[Any]] | None:
        """Return the newest recorded tick up to ``tick`` and the values of a copy; None: none."""
        one = self._recorded[name]
        ticks = one[str(one.dims[1])].values
        rows = np.flatnonzero(ticks <= tick)
        if not len(rows):
            return None
        return int(ticks[rows[-1]]), np.asarray(one[copy, rows[-1]].values, np.float64)

    def _drawn(
        self, recorded: Recorded, state: Playing, copy: int, tick: int
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return words and numbers of the network: recorded links of the last ticks."""
        net, columns = recorded.net, recorded.columns
        span = 1 if state.window == windows(self._clock)[0] else WEEK
        days = [one for one in recorded.ticks if tick - span < one <= tick]
        of = columns[self._clock]
        mine = (columns[self._copies] == self._numbers[copy]) & np.isin(of, days)
        link = tuple(columns[one][mine] for one in ("giver", "taker", net.columns[state.links]))
        given = np.zeros(recorded.agents)
        np.add.at(given, link[0], link[2])
        sizes = self._of_agents(net.size, copy, tick)
        colour = net.colours[state.colour]
        hues = self._of_agents(colour, copy, tick) if isinstance(colour, str) else np.array(colour)
        size = given if sizes is None else summed(sizes)  # of an agent that was removed: NaN
        drawn = network(
            [link],
            np.nan_to_num(size),
            np.zeros(recorded.agents) if hues is None else largest(hues),
            np.isfinite(size),
        )
        facts = network_facts(net, state, recorded.agents, drawn)
        if len(days) < min(span, tick):
            recorded_of = ", ".join(map(str, days)) or "none"
            facts["title"] += f"; recorded {plural(self._clock)} of these: {recorded_of}"
        if sizes is None:
            facts["title"] = facts["title"].replace("what it holds", "what it gave")
        if hues is None:
            facts["title"] = facts["title"].replace(state.colour, "not recorded")
        return facts, drawn

    def _of_agents(self, name: str, copy: int, tick: int) -> NDArray[Any] | None:
        """Return the newest recorded values (agent, ...) of a field up to a tick; None: none."""
        for one in (name, f"agent_{name}"):
            if one in self._recorded and (found := self._newest(one, copy, tick)):
                return found[1]
        return None
