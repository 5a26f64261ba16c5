"""Which messages do the page and the server exchange? JSON texts, and frames as bytes.

The page sends a JSON object with the number ``seq`` of its message and one of ``shown`` (the number
of the frame that it has drawn), ``drag``, ``wheel``, ``change`` with ``value``, and ``press``. The
server sends JSON objects with the controls, and frames. A frame is the length of a JSON header (4
bytes, little endian), the header, padded to a multiple of four bytes, and the pixels or the WebP
file.
"""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from societies.numbers import is_finite
from societies.view.renderer import Numbered
from societies.workload.declare.view import (
    Button,
    Change,
    Choice,
    Control,
    Drag,
    Event,
    Mouse,
    Press,
    Slider,
    Wheel,
)

S = TypeVar("S")

MOST_TURNS = 100.0
"""Most notches of a wheel in one message; no hand is faster."""

FARTHEST = 1e6
"""Largest distance of the mouse from the picture in pixels."""

WEBP = {"quality": 90, "method": 2}
"""Quality (of 100) and effort: the default effort of 4 takes twice as long, for files that are only
4 percent smaller."""


class Nonsense(Exception):
    """Raised for a message that the page never sends; ``str(error)`` says why in one line."""


class InvalidEvent(Exception):
    """Raised for an event that no control of the present state accepts."""


@dataclass(frozen=True)
class Message:
    """A message of the page.

    Attributes
    ----------
    seq : its number; the server sends controls with the last number that they take into account
    kind : one of ``shown``, ``drag``, ``wheel``, ``change``, ``press``
    value : value of this key in the message
    to : the new value of a changed control
    """

    seq: int
    kind: str
    value: Any
    to: Any = None


def read(text: str | bytes | None) -> Message:
    """Parse a message of the page.

    Raises
    ------
    Nonsense
        If the page never sends such a message.
    """
    if not isinstance(text, str):
        raise Nonsense("bytes where the page sends text")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Nonsense("no JSON") from None
    if not isinstance(found, dict):
        raise Nonsense("no object")
    kinds = [kind for kind in ("shown", "drag", "wheel", "change", "press") if kind in found]
    if len(kinds) != 1:
        raise Nonsense("not one event")
    seq = found.get("seq", 0)
    if type(seq) is not int or (kinds == ["shown"] and type(found["shown"]) is not int):
        raise Nonsense("a value that is not a number")
    return Message(seq, kinds[0], found[kinds[0]], found.get("value"))


def drag_id(message: Message) -> int:
    """Return the number of a drag.

    Raises
    ------
    Nonsense
        If the message has no such number.
    """
    value = message.value
    if not isinstance(value, dict) or type(value.get("id")) is not int:
        raise Nonsense("a drag without a number")
    return int(value["id"])


def event(message: Message, controls: Sequence[Control], began: S) -> Event[S]:
    """Return the event that a message stands for.

    ``controls`` are those of the present state; ``began`` is the state in which a drag began.

    Raises
    ------
    Nonsense
        If a value is not a finite number.
    InvalidEvent
        If the present state has no such control.
    """
    mouse = next((one for one in controls if isinstance(one, Mouse)), Mouse())
    if message.kind == "drag":
        if not mouse.drag:
            raise InvalidEvent("nothing can be dragged")
        places = [_number(message.value.get(name), FARTHEST) for name in ("x", "y", "dx", "dy")]
        return Drag(began, *places)
    if message.kind == "wheel":
        if not mouse.wheel:
            raise InvalidEvent("the wheel does nothing")
        return Wheel(_number(message.value, MOST_TURNS))
    named = {one.name: one for one in controls if not isinstance(one, Mouse)}
    control = named.get(message.value) if isinstance(message.value, str) else None
    if message.kind == "press":
        if not isinstance(control, Button):
            raise InvalidEvent("there is no such button now")
        return Press(control.name)
    if isinstance(control, Slider):
        return Change(control.name, _on_scale(control, _number(message.to)))
    if isinstance(control, Choice):
        if message.to not in control.options:
            raise InvalidEvent(f"{control.label} has no such choice now")
        return Change(control.name, message.to)
    raise InvalidEvent("there is no such control now")


def _number(value: Any, most: float = math.inf) -> float:
    """Return a finite number, clipped to the range from ``-most`` to ``most``."""
    if is_finite(value):
        return max(-most, min(float(value), most))
    raise Nonsense("a value that is not a number")


def _on_scale(slider: Slider, value: float) -> float:
    """Return the nearest value of a slider: an int if its range and step are ints."""
    parts = (slider.least, slider.most, slider.step)
    whole = all(isinstance(part, int) for part in parts)
    least, most = slider.limits or (slider.least, slider.most)
    value = max(least, min(value, most))
    if slider.limits:
        return round(value) if whole else value
    steps = round((value - slider.least) / slider.step)
    if whole:
        return slider.least + steps * slider.step
    # Round to ten digits after that of the step, so that -30 + 30123 * 0.001 is 0.123.
    digits = max(0, 10 - math.floor(math.log10(slider.step)))
    return min(round(slider.least + steps * slider.step, digits), slider.most)


def control_message(control: Control) -> dict[str, Any]:
    """Return a control as it is sent to the page."""
    return {"kind": type(control).__name__.lower(), **asdict(control)}


def frame(one: Numbered[Any], *, raw: bool, state: int = 0) -> bytes:
    """Return a frame as it is sent to the page, with its pixels or a WebP file.

    ``state`` is the number of the state that it shows, -1 if that is not the newest state.
    """
    rows, columns = one.frame.pixels.shape[:2]
    header: Mapping[str, Any] = {
        "number": one.number,
        "width": columns,
        "height": rows,
        "size": one.frame.size or (rows, columns),
        "whole": one.whole,
        "caption": one.frame.caption,
        "seconds": one.seconds,
        "webp": not raw,
        "state": state,
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    pixels = np.ascontiguousarray(one.frame.pixels)
    data = pixels.data.cast("B") if raw else picture(one, "WEBP")
    return b"".join((struct.pack("<I", len(text)), text, data))


def picture(one: Numbered[Any], kind: str) -> bytes:
    """Return a frame as an image file, PNG or WEBP, without the alpha channel."""
    from PIL import Image

    file = io.BytesIO()
    pixels = one.frame.pixels[:, :, :3]
    Image.fromarray(pixels).save(file, kind, **(WEBP if kind == "WEBP" else {}))
    return file.getvalue()
