"""Which state is rendered next? The newest one, whatever came before it: the latest event wins.

`Mailbox` holds one state, which a newer one replaces. `Renderer` is the only one that renders: it
takes the newest state, delivers its first picture, and goes on to the further ones while no newer
state has come. A program that answers every event in turn is late by as many frames as the mouse
has moved, and one that drops events while it renders may never show the last.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from societies.workload.view import Frame, View

S = TypeVar("S")

PAUSE = 0.1
"""Seconds without an event after which more than the first picture of a state is rendered.

A dragged mouse or slider sends events 16 ms apart, and a hand rests a little longer now and then.
"""


class Closed(Exception):
    """Raised to whoever waits for a mailbox that is closed."""


class Mailbox(Generic[S]):
    """Holds the newest state until it is taken; all methods may be called by any thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._states: deque[S] = deque(maxlen=1)
        self._put = -float("inf")
        self._closed = False

    def put(self, state: S) -> None:
        """Replace the state that is there."""
        with self._condition:
            self._states.append(state)
            self._put = time.monotonic()
            self._condition.notify_all()

    def take(self) -> S:
        """Wait for a state and take it.

        Raises
        ------
        Closed
            If the mailbox is closed, whatever it holds.
        """
        with self._condition:
            self._condition.wait_for(lambda: self._closed or self._states)
            if self._closed:
                raise Closed
            return self._states.popleft()

    @property
    def newer(self) -> bool:
        """Whether there is a state to take, or no more is to be done."""
        return self._closed or bool(self._states)

    def rest(self, seconds: float) -> bool:
        """Wait until so many seconds have passed since the last state was put; False: one came."""
        with self._condition:
            left = self._put + seconds - time.monotonic()
            return not self._condition.wait_for(lambda: self.newer, max(left, 0.0))

    def close(self) -> None:
        """Let nobody wait any more."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()


class Queue(Mailbox[S]):
    """A mailbox that keeps every state, for comparison: each is rendered in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self._states = deque()


@dataclass(frozen=True)
class Numbered(Generic[S]):
    """A frame with its number.

    Attributes
    ----------
    number : from 1; a later frame has a larger one
    frame : Frame
    state : the state that it shows
    seconds : from the frame before of the same state, or from when the state was taken
    """

    number: int
    frame: Frame
    state: S
    seconds: float


class Renderer(Generic[S]):
    """Renders the states of a mailbox, one frame at a time, in the thread that calls `run`.

    Parameters
    ----------
    view : View
    mailbox : Mailbox
    deliver : called with each frame; it may wait until there is use for another one
    failed : called with an error of the view; the next state is rendered all the same
    pause : seconds without events after which further pictures of a state follow the first
    """

    def __init__(
        self,
        view: View[S],
        mailbox: Mailbox[S],
        deliver: Callable[[Numbered[S]], None],
        failed: Callable[[Exception], None],
        pause: float = PAUSE,
    ) -> None:
        self._view, self._mailbox = view, mailbox
        self._deliver, self._failed, self._pause = deliver, failed, pause
        self._number = 0

    def run(self) -> None:
        """Render until the mailbox is closed."""
        while True:
            try:
                state = self._mailbox.take()
            except Closed:
                return
            try:
                self._render(state)
            except Exception as error:  # one of the workload's or the device's
                self._failed(error)

    def _render(self, state: S) -> None:
        """Deliver the frames of a state until there is a newer one."""
        first, began = True, time.perf_counter()
        frames: Iterator[Frame | None] = self._view.frames(state)
        try:
            for frame in frames:
                if frame is not None:
                    now = time.perf_counter()
                    self._number += 1
                    self._deliver(Numbered(self._number, frame, state, now - began))
                    if first and not self._mailbox.rest(self._pause):
                        return
                    first, began = False, time.perf_counter()
                if not first and self._mailbox.newer:
                    return
        finally:
            close = getattr(frames, "close", None)  # an iterator need not be a generator
            if close is not None:
                close()


def delay_after_burst(
    view: View[S], states: list[S], *, interval: float = 1 / 60, newest_only: bool = True
) -> float:
    """Return how long after the last of many states its first frame is there.

    Parameters
    ----------
    view : View
    states : as events give them one after another, each unlike the one before
    interval : seconds from one to the next, as a dragged mouse sends them
    newest_only : whether a newer state replaces one that waits (`Mailbox`); else each is rendered
        in its turn (`Queue`)

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    Exception
        Whatever the view raises.
    """
    mailbox: Mailbox[S] = Mailbox() if newest_only else Queue()
    shown = threading.Event()
    errors: list[Exception] = []
    times: list[float] = []

    def deliver(one: Numbered[S]) -> None:
        if one.state == states[-1] and not times:
            times.append(time.perf_counter())
            shown.set()

    def failed(error: Exception) -> None:
        errors.append(error)
        shown.set()

    thread = threading.Thread(target=Renderer(view, mailbox, deliver, failed).run)
    thread.start()
    try:
        begin = time.perf_counter()
        for number, state in enumerate(states):
            time.sleep(max(0.0, begin + number * interval - time.perf_counter()))
            mailbox.put(state)
        last = time.perf_counter()
        shown.wait()
    finally:
        mailbox.close()
        thread.join()
    if errors:
        raise errors[0]
    return times[0] - last
