"""What has an agent done so far? The text of the workload's `trace`, for the page of a run."""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from societies.errors import SocietiesError
from societies.opencl import Device
from societies.view.course import Change, Course, with_changes
from societies.workload import Setup, Workload

WAIT = 0.01
"""Seconds between two looks at whether a text is complete."""

MOST = 16
"""Most texts that are cached."""

Key = tuple[tuple[Change, ...], int, int, int]
"""Changes of the course, tick, agent and copy of a text."""


class Abandoned(Exception):
    """Raised in `trace` when another state of the page is asked for."""


class Lives:
    """Texts on the lives of agents, each computed in a thread that can be abandoned.

    ``setup`` is what is run, without changes, of a workload whose `trace` reports lives.
    """

    def __init__(self, setup: Setup[Any, Any], device: str | Device) -> None:
        self._setup, self._device = setup, device
        self._texts: OrderedDict[Key, str] = OrderedDict()

    @staticmethod
    def supported(workload: Workload[Any, Any]) -> bool:
        """Whether `trace` of a workload reports the life of an agent over several ticks."""
        trace = getattr(workload, "trace", None)
        return trace is not None and {"agent", "days"} <= {*inspect.signature(trace).parameters}

    def text(self, course: Course, agent: int, copy: int, *, playing: bool) -> str:
        """Return the text, or a line that says when it will be shown."""
        clock = self._setup.workload.clock
        if not course.tick:
            return f"Agent {agent} has not lived yet: go to {clock} 1."
        when = "shown when the run is paused" if playing else "being computed"
        waits = f"The life of agent {agent} from {clock} 1 on is {when} ..."
        return self._texts.get((course.changes, course.tick, agent, copy), waits)

    def computed(self, course: Course, agent: int, copy: int) -> Iterator[None]:
        """Compute the text on an agent up to the present tick, and yield meanwhile."""
        key = (course.changes, course.tick, agent, copy)
        if key in self._texts or not course.tick:
            return
        over, found = threading.Event(), [""]

        def progress(day: int, days: int) -> None:
            if over.is_set():
                raise Abandoned

        def tell() -> None:
            trace: Any = self._setup.workload.trace  # type: ignore[attr-defined]
            try:
                found[0] = trace(
                    with_changes(self._setup, course.changes),
                    agent=agent,
                    days=f"1:{course.tick}",
                    society=self._setup.first + copy,
                    device=self._device,
                    progress=progress,
                )
            except Abandoned:
                pass
            except SocietiesError as error:
                found[0] = str(error)

        thread = threading.Thread(target=tell, name="life", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(WAIT)
                yield None
        finally:
            over.set()
            thread.join()
        self._texts[key] = found[0]
        while len(self._texts) > MOST:
            self._texts.popitem(last=False)
