"""Which state is rendered next? Always the newest one; states that it has replaced are skipped.

`Mailbox` holds one state, which a newer one replaces. `Renderer` takes the newest state, delivers
its first picture, and continues with further pictures of this state until a newer one arrives. (If
a program renders every event in turn, it falls behind a moving mouse. If it drops events while it
renders, it may never show the last one.)

If a picture takes longer than `AIM` and the view has previews, a preview is delivered instead while
events arrive; `Share` determines its number of pixels. The whole picture follows after a pause.
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

A dragged mouse or slider sends events 16 ms apart; a hand sometimes rests a little longer.
"""

REST = 0.03
"""Seconds without an event after which a preview is followed by the whole picture.

Two events of a dragged mouse are closer together than that. If another event arrives nevertheless,
little time is lost: the whole picture is abandoned after one launch.
"""

AIM = 0.04
"""Most seconds for a picture while events arrive, if the view has previews.

It leaves time for the page to draw 20 pictures a second.
"""

LEAST_SHARE = 1 / 64
"""Smallest share of the pixels of a preview: an eighth of the rows and of the columns."""


class Closed(Exception):
    """Raised in a thread that waits for a state when the mailbox is closed."""


class Mailbox(Generic[S]):
    """Holds the newest state until it is taken; all methods may be called by any thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._states: deque[S] = deque(maxlen=1)
        self._before = self._put = -float("inf")
        self._closed = False

    def put(self, state: S) -> None:
        """Replace the state in the mailbox."""
        with self._condition:
            self._states.append(state)
            self._before, self._put = self._put, time.monotonic()
            self._condition.notify_all()

    def take(self) -> S:
        """Wait for a state and take it.

        Raises
        ------
        Closed
            If the mailbox is closed, even if it holds a state.
        """
        with self._condition:
            self._condition.wait_for(lambda: self._closed or self._states)
            if self._closed:
                raise Closed
            return self._states.popleft()

    @property
    def newer(self) -> bool:
        """Whether the mailbox holds a state, or is closed."""
        return self._closed or bool(self._states)

    def moving(self, apart: float, ago: float) -> bool:
        """Whether events are arriving.

        This holds if the last two came within ``apart`` seconds, and the last one less than ``ago``
        seconds ago.
        """
        with self._condition:
            return self._put - self._before < apart and time.monotonic() - self._put < ago

    def rest(self, seconds: float) -> bool:
        """Wait until the last state was put ``seconds`` ago; return False if a newer one came."""
        with self._condition:
            left = self._put + seconds - time.monotonic()
            return not self._condition.wait_for(lambda: self.newer, max(left, 0.0))

    def close(self) -> None:
        """Close the mailbox and wake all waiting threads."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()


@dataclass(frozen=True)
class Numbered(Generic[S]):
    """A frame with its number.

    Numbers increase from 1. ``seconds`` counts from the previous frame of the same state, or from
    the time at which the state was taken.
    """

    number: int
    frame: Frame
    state: S
    seconds: float

    @property
    def whole(self) -> bool:
        """Whether the frame has all pixels, so that it is not a preview."""
        return self.frame.size is None


class Share:
    """Chooses the share of the pixels (1, 1/2, 1/4, ...) that can be computed in time.

    It uses the median time of the last few pictures, because a single one may wait until kernels
    are built. A share is not changed if it takes between 0.4 and 1 times ``aim``, so that the size
    does not change with every picture.
    """

    def __init__(self, aim: float) -> None:
        self._aim, self._share = aim, 1.0
        self._whole: deque[float] = deque(maxlen=5)

    def measured(self, seconds: float, share: float) -> None:
        """Record the duration of a picture with a share of the pixels."""
        self._whole.append(seconds / share)

    def now(self) -> float:
        """Return the share; 1 before anything was measured."""
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
    deliver : called with each frame; it may block until another frame is needed
    failed : called with an error of the view; rendering continues with the next state
    pause : seconds without events after which further pictures of a state follow the first
    rest : seconds without events after which the whole picture follows a preview
    aim : seconds above which previews are delivered while events arrive; infinity: no previews
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
        """Deliver the frames of a state until a newer state arrives."""
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
        """Deliver one preview, even if a newer state arrives meanwhile."""
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
        """Deliver frames until a newer state arrives; ``waits``: at least the first frame."""
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
    """Close an iterator if it has a method ``close``, as generators have."""
    end = getattr(frames, "close", None)
    if end is not None:
        end()
