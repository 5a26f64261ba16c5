"""How does a workload declare an interactive view, independent of the program that displays it?

The optional member ``view`` of a workload returns a `View`, which has states that controls change,
and frames of a state. The program that displays it (`societies.view`, a page in a browser) stores
the present state, and passes every event to `View.take` and every new state to `View.frames`. When
there is a newer state, the remaining frames of older ones are not requested any more. A view may
also have previews, which are shown while events come faster than frames (`Previewing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from societies.workload.declare.naming import object_named
from societies.workload.declare.protocol import Setup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from societies.config.model import WorkloadConfig
    from societies.opencl import Device

S = TypeVar("S")

LAUNCH_SECONDS = 0.02
"""Seconds of work after which a view should yield, so that new events are noticed."""

# ---------------------------------------------------------------------------------------- frames


@dataclass(frozen=True)
class Frame:
    """A picture of a state.

    Attributes
    ----------
    pixels : (row, column, 4) uint8, red, green, blue and alpha, row 0 on top; it must not change
        afterwards, so a view that reuses its buffer has to copy it
    caption : one line about this picture: "sample 3 of 16"
    size : rows and columns of the full picture if this is a preview with fewer pixels, else None
    """

    pixels: NDArray[Any]
    caption: str = ""
    size: tuple[int, int] | None = None


# -------------------------------------------------------------------------------------- controls


@dataclass(frozen=True)
class Mouse:
    """Descriptions of what the mouse does over the picture; "": nothing.

    Attributes
    ----------
    drag : if not empty, the view gets `Drag` events: "camera left, right, up, down"
    wheel : if not empty, the view gets `Wheel` events: "camera forward, back"
    """

    drag: str = ""
    wheel: str = ""


@dataclass(frozen=True)
class Slider:
    """A number in a range; it is a whole number if ``least``, ``most`` and ``step`` are.

    Attributes
    ----------
    name : name in events, unique among the controls
    label : displayed text, with the unit
    value : value in the present state
    least, most, step : range, and distance between neighbouring values, beginning with ``least``
    limits : least and largest number that may be typed, of any number of digits; None: those above
    """

    name: str
    label: str
    value: float
    least: float
    most: float
    step: float
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Choice:
    """A selection of one of several words.

    Attributes
    ----------
    name, label : as in `Slider`
    value : word of the present state
    options : all words
    """

    name: str
    label: str
    value: str
    options: Sequence[str]


@dataclass(frozen=True)
class Button:
    """A button that causes an event when it is pressed.

    Attributes
    ----------
    name, label : as in `Slider`
    """

    name: str
    label: str


Control = Mouse | Slider | Choice | Button

# ---------------------------------------------------------------------------------------- events


@dataclass(frozen=True)
class Drag(Generic[S]):
    """The mouse has moved with its button down.

    The latest event describes the whole drag, so earlier ones may be skipped.

    Attributes
    ----------
    began : state when the button was pressed
    x, y : position of the mouse then, in pixels of the picture from its left and upper edge
    dx, dy : distance of the mouse from this position, in pixels to the right and down
    """

    began: S
    x: float
    y: float
    dx: float
    dy: float


@dataclass(frozen=True)
class Wheel:
    """The wheel has turned.

    Attributes
    ----------
    turns : notches since the last event, positive away from the user; a fraction on a touchpad
    """

    turns: float


@dataclass(frozen=True)
class Change:
    """A slider or a choice has a new value, which is always an allowed one.

    Attributes
    ----------
    name : name of the control
    value : number of a slider (int if its range and step are whole), or word of a choice
    """

    name: str
    value: float | str


@dataclass(frozen=True)
class Press:
    """A button was pressed.

    Attributes
    ----------
    name : name of the button
    """

    name: str


Event = Drag[S] | Wheel | Change | Press


def after_change(state: S, event: Event[S]) -> S:
    """Return the state with the value of a changed control in the attribute of the same name."""
    if isinstance(event, Change) and hasattr(state, event.name):
        return replace(state, **{event.name: event.value})  # type: ignore[type-var]
    raise ValueError(f"no event of these controls: {event}")


# ------------------------------------------------------------------------------------------ view


class View(Protocol[S]):
    """An interactive view of a workload: states, the events that change them, and their frames.

    A state is an immutable value (a frozen dataclass) with all settings of the controls. States are
    compared: if an event leaves the state equal, nothing is computed.

    Only `frames` uses the device; one thread at a time runs it. All other methods return at once
    and may be called at the same time, so they must not read data that `frames` changes.
    """

    @property
    def title(self) -> str:
        """A few words that describe the view."""

    @property
    def initial(self) -> S:
        """The first state."""

    def controls(self, state: S) -> Sequence[Control]:
        """Return the controls in the order of display, with the values of a state."""

    def take(self, state: S, event: Event[S]) -> S:
        """Return the state after an event of one of the controls of ``state``."""

    def frames(self, state: S) -> Iterator[Frame | None]:
        """Yield the pictures of a state, each better or later than the one before.

        Yield None after every launch that completes no picture, so that the caller can stop; a
        launch takes at most 30 ms. The caller always waits for the first picture; after that it
        closes the iterator at the next value if there is a newer state. While events come in quick
        succession, the caller stops after the first picture. The iterator ends with the last
        picture, and nothing is computed until the state changes.
        """

    def configuration(self, state: S) -> WorkloadConfig | str:
        """Return the configuration, or its YAML, of a run with the results of this state."""


def shown_by(place: str) -> Callable[..., View[Any]]:
    """Return a member ``view`` whose views have the class ``MODULE:CLASS``, which is imported then.

    The class gets the workload, the configuration and the device as a `Setup`.
    """

    def view(self: Any, config: Any, *, device: str | Device = "auto") -> View[Any]:
        """Show what is computed, with controls that change it."""
        return object_named(place)(Setup(self, config).on(device))  # type: ignore[no-any-return]

    return view


class Previewing(View[S], Protocol[S]):
    """A view whose pictures can also be computed with fewer pixels, in accordingly less time.

    Previews are shown while events come in quick succession and a frame takes longer than a page
    should wait. When events pause, `frames` is called. The caller then does not wait for its first
    picture if there is a newer state, because it can show a preview of that state.
    """

    def preview(self, state: S, share: float) -> Iterator[Frame | None]:
        """Yield None after launches as `frames` does, and then one picture: the preview.

        One thread at a time runs this or `frames`; the caller always waits for the preview.

        Parameters
        ----------
        state : state to show
        share : 1/2, 1/4, ... 1/64 of the pixels of the first picture of `frames`; the caller
            derives it from the measured times of both
        """
