"""Which state is rendered next? The newest one, whatever came before it: the latest event wins.

`Mailbox` holds one state, which a newer one replaces. `Renderer` is the only one that renders: it
takes the newest state, delivers its first picture, and goes on to the further ones while no newer
state has come. A program that answers every event in turn is late by as many frames as the mouse
has moved, and one that drops events while it renders may never show the last.

Where a picture takes longer than `AIM` and the view has previews, one of these is delivered instead
while events come: `Share` finds out of how many pixels. The whole picture follows when they pause.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from societies.workload.declare.view import Frame, View

S = TypeVar("S")

PAUSE = 0.1
"""Seconds without an event after which more than the first picture of a state is rendered.

A dragged mouse or slider sends events 16 ms apart, and a hand rests a little longer now and then.
"""

REST = 0.03
"""Seconds without an event after which a preview is followed by the whole picture.

Two events of a dragged mouse are nearer to each other. If another one comes all the same, little is
lost: the picture is given up after a launch.
"""

AIM = 0.04
"""Seconds that a picture takes at most while events come, if the view has previews.

It leaves time for the page to draw at 20 pictures a second.
"""

LEAST_SHARE = 1 / 64
"""Share of the pixels that a preview has at least: an eighth of the rows and columns."""


class Closed(Exception):
    """Raised to whoever waits for a mailbox that is closed."""


class Mailbox(Generic[S]):
    """Holds the newest state until it is taken; all methods may be called by any thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._states: deque[S] = deque(maxlen=1)
        self._before = self._put = -float("inf")
        self._closed = False

    def put(self, state: S) -> None:
        """Replace the state that is there."""
        with self._condition:
            self._states.append(state)
            self._before, self._put = self._put, time.monotonic()
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

    def moving(self, apart: float, ago: float) -> bool:
        """Whether events come: the last two within ``apart`` seconds, the last one not long ago."""
        with self._condition:
            return self._put - self._before < apart and time.monotonic() - self._put < ago

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

    @property
    def whole(self) -> bool:
        """Whether it has all pixels."""
        return self.frame.size is None


class Share:
    """Which share of the pixels can be computed in time? 1, 1/2, 1/4, ..., by what was measured.

    The median of the last few pictures decides, as one may wait for kernels to be built. A share
    that takes between 0.4 and 1 times as long as wanted stays, so that the size does not change
    with every picture.

    Parameters
    ----------
    aim : seconds that a picture takes at most
    """

    def __init__(self, aim: float) -> None:
        self._aim, self._share = aim, 1.0
        self._whole: deque[float] = deque(maxlen=5)

    def measured(self, seconds: float, share: float) -> None:
        """Take into account how long a picture of a share of the pixels has taken."""
        self._whole.append(seconds / share)

    def now(self) -> float:
        """Return the share: 1 as long as nothing is known."""
        if self._whole:
            whole = statistics.median_low(self._whole)
            while self._share > LEAST_SHARE and whole * self._share > self._aim:
                self._share /= 2
            while self._share < 1 and whole * self._share < 0.4 * self._aim:
                self._share *= 2
        return self._share


class Renderer(Generic[S]):
    """Renders the states of a mailbox, one frame at a time, in the thread that calls `run`.

    Parameters
    ----------
    view : View
    mailbox : Mailbox
    deliver : called with each frame; it may wait until there is use for another one
    failed : called with an error of the view; the next state is rendered all the same
    pause : seconds without events after which further pictures of a state follow the first
    rest : seconds without events after which the whole picture follows a preview
    aim : seconds above which previews are delivered while events come; infinite: none are
    """

    def __init__(
        self,
        view: View[S],
        mailbox: Mailbox[S],
        deliver: Callable[[Numbered[S]], None],
        failed: Callable[[Exception], None],
        pause: float = PAUSE,
        rest: float = REST,
        aim: float = AIM,
    ) -> None:
        self._view, self._mailbox = view, mailbox
        self._preview: Callable[[S, float], Iterator[Frame | None]] | None
        self._preview = getattr(view, "preview", None)  # of `Previewing`
        self._deliver, self._failed, self._pause, self._rest = deliver, failed, pause, rest
        self._share, self._given_up = Share(aim), False
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
        share = 1.0 if self._preview is None else self._share.now()
        moving = self._given_up or self._mailbox.moving(self._pause, self._rest)
        self._given_up = False
        if self._preview is not None and share < 1.0 and moving:
            try:
                self._deliver_preview(self._preview(state, share), state, share)
            except Exception as error:  # the whole picture may still be possible
                self._failed(error)
            if not self._mailbox.rest(self._rest):
                return
        self._deliver_whole(self._view.frames(state), state, waits=share == 1.0)

    def _deliver_preview(self, frames: Iterator[Frame | None], state: S, share: float) -> None:
        """Deliver one frame, which is waited for."""
        began = time.perf_counter()
        try:
            frame = next((one for one in frames if one is not None), None)
            if frame is not None:
                seconds = time.perf_counter() - began
                self._share.measured(seconds, share)
                self._deliver_one(frame, state, seconds)
        finally:
            close(frames)

    def _deliver_whole(self, frames: Iterator[Frame | None], state: S, *, waits: bool) -> None:
        """Deliver frames until there is a newer state; the first one too may be waited for."""
        first, began = True, time.perf_counter()
        try:
            for frame in frames:
                if frame is not None:
                    seconds = time.perf_counter() - began
                    if first:
                        self._share.measured(seconds, 1.0)
                    self._deliver_one(frame, state, seconds)
                    if first and not self._mailbox.rest(self._pause):
                        return
                    first, began = False, time.perf_counter()
                if not (first and waits) and self._mailbox.newer:
                    self._given_up = first
                    return
        finally:
            close(frames)

    def _deliver_one(self, frame: Frame, state: S, seconds: float) -> None:
        self._number += 1
        self._deliver(Numbered(self._number, frame, state, seconds))


def close(frames: Iterator[Frame | None]) -> None:
    """End an iterator, which need not be a generator."""
    end = getattr(frames, "close", None)
    if end is not None:
        end()


def delay_after_burst(
    view: View[S], states: list[S], *, interval: float = 1 / 60, newest_only: bool = True
) -> float:
    """Return how long after the last of many states its first whole frame is there.

    Parameters
    ----------
    view : View
    states : as events give them one after another, each unlike the one before
    interval : seconds from one to the next, as a dragged mouse sends them
    newest_only : whether a newer state replaces one that waits (`Mailbox`); else each is rendered
        in its turn (`Queue`), without previews

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
        if one.state == states[-1] and one.whole and not times:
            times.append(time.perf_counter())
            shown.set()

    def failed(error: Exception) -> None:
        errors.append(error)
        shown.set()

    aim = AIM if newest_only else float("inf")
    thread = threading.Thread(target=Renderer(view, mailbox, deliver, failed, aim=aim).run)
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
