"""Which state does a session show, which viewers are connected, and which of them controls it?

A session has one state, the renderer's newest frame, and viewers. The first viewer controls it, the
others watch; when the first one leaves, the next one controls. The renderer begins a frame when a
viewer has drawn the frame before the last one. So the next frame is computed while one is being
sent, and nothing is computed without viewers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from societies.errors import one_line
from societies.signals import COMPUTING
from societies.view import messages
from societies.view.renderer import Mailbox, Numbered, Renderer
from societies.workload.declare.view import Control, View

S = TypeVar("S")


class Viewer(Generic[S]):
    """A page that is connected.

    Attributes
    ----------
    wake : called, in any thread, when there may be something to send
    seq : number of its last message that the state takes into account
    sent, shown : numbers of the last frame sent to it, and of the last that it has drawn
    error, errors : the error that it shows, and the number of errors so far
    known : the series that it has received, see `shots.message`
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.seq = self.sent = self.shown = 0
        self.error, self.errors = "", 0
        self.known: dict[int, tuple[int, int, int]] = {}
        self._drag: tuple[int, S] | None = None
        self._news: Any = None

    def began(self, drag: int, state: S) -> S:
        """Return the state in which a drag began; it is ``state`` if the drag is a new one."""
        if self._drag is None or self._drag[0] != drag:
            self._drag = (drag, state)
        return self._drag[1]

    def inform(self, error: str) -> None:
        """Set the error that the viewer shows."""
        self.error, self.errors = error, self.errors + 1
        self.wake()

    def unsent(self, news: Any) -> bool:
        """Whether news differ from the last ones; if so, record them as sent."""
        if news == self._news:
            return False
        self._news = news
        return True


class Session(Generic[S]):
    """A view that is shown to viewers; every method but `close` returns at once.

    ``report`` is called with one line for each error of the view.
    """

    def __init__(self, view: View[S], report: Callable[[str], None]) -> None:
        self.view, self._report = view, report
        self.state: S = view.initial
        self.controls: list[Control] = list(view.controls(self.state))
        self.newest: Numbered[S] | None = None
        self.newest_whole: Numbered[S] | None = None
        self._mailbox: Mailbox[S] = Mailbox()
        self._changed = threading.Condition()
        self._viewers: list[Viewer[S]] = []
        self._states, self._closed = 0, False
        self._declared = self._declarations
        renderer = Renderer(view, self._mailbox, self._deliver, self._failed)
        self._thread = threading.Thread(target=renderer.run, name=COMPUTING, daemon=True)

    def start(self) -> None:
        """Begin to render."""
        self._mailbox.put(self.state)
        self._thread.start()

    def close(self) -> None:
        """Stop rendering at the next boundary between launches."""
        self._mailbox.close()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(5)

    def join(self, wake: Callable[[], None]) -> Viewer[S]:
        """Add a viewer."""
        viewer: Viewer[S] = Viewer(wake)
        with self._changed:
            self._viewers.append(viewer)
            self._changed.notify_all()
        self._wake()
        return viewer

    def leave(self, viewer: Viewer[S]) -> None:
        """Remove a viewer."""
        with self._changed:
            self._viewers.remove(viewer)
        self._wake()

    def receive(self, viewer: Viewer[S], text: str | bytes | None) -> None:
        """Process a message of a viewer.

        Raises
        ------
        Nonsense
            If the page never sends such a message.
        """
        message = messages.read(text)
        if message.kind == "shown":
            with self._changed:
                viewer.shown = max(viewer.shown, min(message.value, viewer.sent))
                self._changed.notify_all()
            viewer.wake()
            return
        began = self.state
        if message.kind == "drag":
            began = viewer.began(messages.drag_id(message), self.state)
        if not self.controlled_by(viewer):
            viewer.seq = message.seq
            viewer.wake()
            return
        try:
            event = messages.event(message, self.controls, began)
            state = self.view.take(self.state, event)
            controls = self.controls if state == self.state else list(self.view.controls(state))
        except messages.Nonsense:
            raise
        except messages.InvalidEvent as error:
            viewer.inform(str(error))
        except Exception as error:  # an error of the workload
            self._failed(error)
        else:
            if state != self.state:
                self.state, self.controls = state, controls
                self._states += 1
                self._mailbox.put(state)
                for one in self._viewers:
                    one.error = ""
        viewer.seq = message.seq
        self._wake()

    def controlled_by(self, viewer: Viewer[S]) -> bool:
        """Whether a viewer controls the session."""
        return bool(self._viewers) and self._viewers[0] is viewer

    @property
    def _declarations(self) -> int:
        """How many times a view whose controls change by themselves has read what they are."""
        return int(getattr(self.view, "declared", 0))

    def news(self, viewer: Viewer[S]) -> dict[str, Any] | None:
        """Return controls, error and other facts to send to a viewer; None if none has changed."""
        if self._declarations != self._declared:
            self._declared = self._declarations
            self.controls = list(self.view.controls(self.state))
        controls = self.controlled_by(viewer)
        states = self._declared, self._states
        now = (states, controls, len(self._viewers), viewer.errors, viewer.error, viewer.seq)
        if not viewer.unsent(now):
            return None
        return {
            "title": self.view.title,
            "controls": [messages.control_message(one) for one in self.controls],
            "controlling": controls,
            "viewers": len(self._viewers),
            "error": viewer.error,
            "seq": viewer.seq,
            "state": self._states,
        }

    def number_of(self, state: S) -> int:
        """Return the number of the newest state, counted from 0; -1 for an older state."""
        return self._states if state == self.state else -1

    def frame(self, viewer: Viewer[S]) -> Numbered[S] | None:
        """Return the newest frame if it is new to a viewer that has drawn the last one sent."""
        newest = self.newest
        if newest is None or newest.number == viewer.sent or viewer.shown < viewer.sent:
            return None
        viewer.sent = newest.number
        return newest

    def _deliver(self, one: Numbered[S]) -> None:
        """Offer a frame to all viewers; wait until one of them has drawn the frame before it."""
        self.newest = one
        if one.whole:
            self.newest_whole = one
        self._wake()
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._closed or any(viewer.shown >= one.number - 1 for viewer in self._viewers)
                )
            )

    def _failed(self, error: Exception) -> None:
        """Report an error of the view, and show it to all viewers."""
        text = one_line(error)
        self._report(text)
        for viewer in tuple(self._viewers):
            viewer.inform(text)

    def _wake(self) -> None:
        for viewer in tuple(self._viewers):
            viewer.wake()
