"""How does a workload show itself and take controls, without knowing where it is shown?

The optional member ``view`` of a workload returns a `View`: a state that controls change, and the
frames of a state. Whoever shows it (`societies.view`, a page in a browser) keeps the state, hands
every event to `View.take` and every new state to `View.frames`. The newest state wins: frames of an
older one that are still missing are never asked for. A view may also have previews, which are
shown while events come faster than its frames can be computed (`Previewing`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

if TYPE_CHECKING:
    from societies.config.model import WorkloadConfig

S = TypeVar("S")

LAUNCH_SECONDS = 0.02
"""Seconds of work between two frames after which a view is to yield, so that events are noticed."""

# ---------------------------------------------------------------------------------------- frames


@dataclass(frozen=True)
class Frame:
    """A picture of a state.

    Attributes
    ----------
    pixels : (row, column, 4) uint8, red, green, blue and alpha, row 0 on top; nobody changes it
        afterwards, so a view that reuses its buffer hands out a copy
    caption : one line about this picture: "sample 3 of 16"
    size : rows and columns of the picture of which this is a preview with fewer pixels; None: it
        is no preview
    """

    pixels: NDArray[Any]
    caption: str = ""
    size: tuple[int, int] | None = None


# -------------------------------------------------------------------------------------- controls


@dataclass(frozen=True)
class Mouse:
    """What the mouse does over the picture, in a few words each; "": nothing.

    Attributes
    ----------
    drag : "camera left, right, up, down": `Drag` events are wanted
    wheel : "camera forward, back": `Wheel` events are wanted
    """

    drag: str = ""
    wheel: str = ""


@dataclass(frozen=True)
class Slider:
    """A number between two others, that changes by steps: a whole number if all three are.

    Attributes
    ----------
    name : of the event; no two controls have the same
    label : what people read, with the unit
    value : what it is in this state
    least, most, step : range, and distance of the values from ``least`` on
    """

    name: str
    label: str
    value: float
    least: float
    most: float
    step: float


@dataclass(frozen=True)
class Choice:
    """One of several words.

    Attributes
    ----------
    name, label : as those of a slider
    value : the word of this state
    options : all words
    """

    name: str
    label: str
    value: str
    options: Sequence[str]


@dataclass(frozen=True)
class Button:
    """Something that happens when it is pressed.

    Attributes
    ----------
    name, label : as those of a slider
    """

    name: str
    label: str


Control = Mouse | Slider | Choice | Button

# ---------------------------------------------------------------------------------------- events


@dataclass(frozen=True)
class Drag(Generic[S]):
    """The mouse has moved with its button down.

    All of a drag is in its latest event, so the ones before may be lost.

    Attributes
    ----------
    began : the state in which the button went down
    x, y : where that was, in pixels of the picture from its left and upper edge
    dx, dy : how far the mouse is from there, in pixels to the right and down
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
    """A slider or a choice has another value, which is one of those that it may have.

    Attributes
    ----------
    name : of the control
    value : a number of a slider, a whole one (int) if its range and step are; a word of a choice
    """

    name: str
    value: float | str


@dataclass(frozen=True)
class Press:
    """A button was pressed.

    Attributes
    ----------
    name : of the button
    """

    name: str


Event = Drag[S] | Wheel | Change | Press

# ------------------------------------------------------------------------------------------ view


class View(Protocol[S]):
    """What is shown of a workload: a state, the events that change it, and its frames.

    A state is a value that never changes (a frozen dataclass) and holds all that controls decide.
    States are compared: an event whose state equals the one before costs nothing.

    `frames` alone touches the device, and is carried out by one thread at a time; everything else
    returns at once and may be asked for meanwhile, so it must not look at what `frames` changes.
    """

    @property
    def title(self) -> str:
        """What is shown, in a few words."""

    @property
    def initial(self) -> S:
        """The state to begin with."""

    def controls(self, state: S) -> Sequence[Control]:
        """Return the controls in the order in which they are shown, with this state's values."""

    def take(self, state: S, event: Event[S]) -> S:
        """Return the state after an event, which one of the controls of ``state`` asks for."""

    def frames(self, state: S) -> Iterator[Frame | None]:
        """Yield the pictures of a state, each better or later than the one before.

        None is yielded where no picture is ready yet but the rest may be given up: after every
        launch, which takes 30 ms at most. The first picture is always waited for; from then on a
        newer state closes the iterator at its next value. While events come in quick succession
        nothing follows the first picture. After the last picture the iterator ends, and nothing
        is computed until the state changes.
        """

    def configuration(self, state: S) -> WorkloadConfig:
        """Return the configuration whose run gives what this state shows."""


class Previewing(View[S], Protocol[S]):
    """A view whose pictures may be computed with fewer pixels, in about as much less time.

    Previews are shown while events come in quick succession and a frame takes longer than a page
    should wait. When they pause `frames` is asked for. Its first picture too is then given up when
    there is a newer state, since a preview of that one can be shown instead.
    """

    def preview(self, state: S, share: float) -> Iterator[Frame | None]:
        """Yield None where `frames` does, and then one picture of a state, a preview.

        Carried out as `frames` is, but always waited for.

        Parameters
        ----------
        state : what is to be seen
        share : of the pixels of the first picture of `frames`, 1/2, 1/4, ... 1/64; it was found by
            measuring how long both take
        """
