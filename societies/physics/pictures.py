"""Which pixels and metadata does the file of a picture hold?

Pillow reads the file. Grey pictures stay grey; all others become red, green and blue. Opacity
(alpha) is read separately. A picture is turned according to its EXIF orientation. Of channels with
more than 8 bits the upper 8 are read, whatever the brightness of the picture, so that the frames of
an animation, and darker pictures of the same scene, stay comparable.
"""

from __future__ import annotations

import logging
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError
from societies.inputs import Stamp, stamp
from societies.paths import kind_unless_file

if TYPE_CHECKING:
    from PIL import Image

ORIENTATION_TAG = 0x0112
"""EXIF tag of the orientation of a picture."""

MOST_FRAMES = 10_000
PLAUSIBLE, PIXELS_OF_A_BYTE = 2**24, 10_000
"""Most pixels of a frame in any file, and per byte of a larger file: no kind compresses better.
A damaged file may announce more pixels, and decoding them would take seconds."""
ANIMATED = ("AVIF", "GIF", "PNG", "TIFF", "WEBP")
"""Kinds of animations; frames of other kinds may be thumbnails or other views."""

REFUSED = ("EPS", "WMF")
"""Kinds that Pillow decodes by other programs or by the operating system."""

TURNED: dict[Any, Callable[[NDArray[Any]], NDArray[Any]]] = {
    2: lambda pixels: pixels[:, ::-1],
    3: lambda pixels: pixels[::-1, ::-1],
    4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: pixels[::-1].swapaxes(0, 1),
    7: lambda pixels: pixels[::-1, ::-1].swapaxes(0, 1),
    8: lambda pixels: pixels.swapaxes(0, 1)[::-1],
}  # fmt: skip
"""Functions that turn pixels (row, column, ...) for each EXIF orientation."""

SIDEWAYS = (5, 6, 7, 8)
"""Orientations that turn rows into columns."""

SPACES = {1: b"GRAY", 3: b"RGB "}
"""Name of the colour space in an ICC profile, by number of channels."""

PHOTOMETRIC_TAG, WHITE_IS_ZERO = 262, 0
"""TIFF tag and value for "larger numbers are darker"; Pillow inverts only pictures of bytes."""


@dataclass(frozen=True)
class Metadata:
    """Metadata of a picture, which are copied to the blurred picture.

    Attributes
    ----------
    durations : milliseconds of each frame; empty for a single frame
    plays : how often an animation is shown, 0: without end; None: not given by its kind
    has_cover : whether the first frame is shown only by programs that show no animations
    profile : ICC profile of the colours, or None
    resolution : pixels per inch across and down, or None
    gamma : PNG's chunks ``gAMA``, ``cHRM`` and ``sRGB``, by name
    """

    durations: tuple[float, ...] = ()
    plays: int | None = None
    has_cover: bool = False
    profile: bytes | None = None
    resolution: tuple[float, float] | None = None
    gamma: tuple[tuple[bytes, bytes], ...] = ()


PLAIN = Metadata()


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture as it is read.

    Attributes
    ----------
    planes : (frame, channel, row, column) uint8; one channel for grey, three for colours
    alpha : (frame, row, column) uint8, or None
    lost : remarks about parts of the file that are not read or are reduced
    metadata : metadata of the file
    has_more : whether more frames follow that were not read
    """

    planes: NDArray[np.uint8]
    alpha: NDArray[np.uint8] | None
    lost: tuple[str, ...] = ()
    metadata: Metadata = PLAIN
    has_more: bool = False


def picture_in(path: str | Path, *, every_frame: bool) -> Picture:
    """Return the picture of a file: its first frame, or all of them.

    Raises
    ------
    ConfigError
        If the file cannot be read, or is larger than Pillow allows.
    """
    if kind := kind_unless_file(path):
        raise ConfigError(f"{path} is {kind}, not a file")
    try:
        file = stamp(path)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be read: {said}") from None
    return _read(str(path), every_frame, file)


@lru_cache(maxsize=2)
def _read(path: str, every_frame: bool, _file: Stamp) -> Picture:
    from PIL import Image, UnidentifiedImageError

    Image.init()
    logging.getLogger("PIL").addHandler(logging.NullHandler())  # else Pillow prints its messages
    kinds = [kind for kind in Image.OPEN if kind not in REFUSED]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about entries that do not concern pixels
            with Image.open(path, formats=kinds) as image:
                return _picture(path, image, every_frame)
    except ConfigError:
        raise
    except Image.DecompressionBombError:
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise ConfigError(f"{path} has more than {most:,} pixels, the most that are read") from None
    except UnidentifiedImageError:
        raise ConfigError(f"{path} is not a picture, or of an unknown kind") from None
    except Exception as error:  # decoders raise errors of all kinds for damaged files
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ConfigError(f"{path} cannot be read: {said.splitlines()[0]}") from None


def _picture(path: str, image: Image.Image, every_frame: bool) -> Picture:
    """Return the picture of an open file."""
    frames: list[NDArray[Any]] = []
    durations: list[float] = []
    lost: tuple[str, ...] = ()
    sideways = negative = False
    size = Path(path).stat().st_size
    for frame in _frames(image):
        if len(frames) == MOST_FRAMES:
            raise ConfigError(f"{path} has more than {MOST_FRAMES:,} frames; set frames: first")
        if frame.width * frame.height > max(PLAUSIBLE, PIXELS_OF_A_BYTE * size):
            raise ValueError(f"{frame.width} x {frame.height} pixels in a file of {size} bytes")
        lost, bits = lost or _lost(frame), _bits(frame)  # unknown after loading
        negative, with_alpha = _is_negative(frame), _is_grey_with_alpha(frame)
        before = frame.getexif().get(ORIENTATION_TAG)
        frame.load()
        after = frame.getexif().get(ORIENTATION_TAG)  # Pillow may have turned a TIFF itself
        sideways = before in SIDEWAYS or after in SIDEWAYS
        pixels = _pixels_of(frame, bits)
        if with_alpha:
            pixels = pixels[:, :, [0, -1]]
        if after in TURNED:
            pixels = TURNED[after](pixels)
        frames.append(np.ascontiguousarray(np.moveaxis(np.atleast_3d(pixels), 2, 0)))
        durations.append(float(frame.info.get("duration", 0)))
        if not every_frame:
            break
    metadata = _metadata_of(image, tuple(durations) if len(frames) > 1 else (), sideways)
    if any(one.dtype != np.uint8 for one in frames):
        frames, white = _bytes_of(frames)
        lost = (f"numbers with fractions; it is read as 8 bits, black to white from 0 to {white}",)
    if negative:
        frames = [255 - one for one in frames]
    if len({one.shape for one in frames}) != 1:
        frames = [_with_alpha(one, max(map(len, frames))) for one in frames]
    if len({one.shape for one in frames}) != 1:
        raise ConfigError(f"{path} has frames of several sizes; set frames: first")
    stacked = np.stack(frames)
    colours = stacked.shape[1] - (stacked.shape[1] + 1) % 2
    alpha = stacked[:, -1] if colours < stacked.shape[1] else None
    planes = np.ascontiguousarray(stacked[:, :colours])
    if lost and not planes.any():
        lost = (f"{lost[0]}: all of it is black",)
    if metadata.profile is not None and metadata.profile[16:20] != SPACES[colours]:
        lost += ("a colour profile that is not for grey, red, green and blue; it is left out",)
        metadata = replace(metadata, profile=None)
    return Picture(planes, alpha, lost, metadata, not every_frame and _has_more(image))


def _frames(image: Image.Image) -> Iterator[Image.Image]:
    """Yield the frames of a picture, or the picture itself if Pillow finds no frames."""
    from PIL import ImageSequence

    frame = None
    for frame in ImageSequence.Iterator(image):
        yield frame
    if frame is None:
        yield image


def _has_more(image: Image.Image) -> bool:
    """Return whether a second frame follows in a kind of file for animations."""
    if image.format not in ANIMATED:
        return False
    try:
        image.seek(1)
    except EOFError:
        return False
    return True


def _metadata_of(image: Image.Image, durations: tuple[float, ...], sideways: bool) -> Metadata:
    """Return the metadata of a picture whose frames have been read."""
    info = image.info
    plays = None
    if durations and image.format in ("PNG", "WEBP"):
        plays = int(info.get("loop", 0))
    elif durations and image.format == "GIF":  # GIF counts repetitions; none given: once
        loop = info.get("loop")
        plays = 1 if loop is None else int(loop) + (loop > 0)
    resolution = None
    try:
        across, down = map(float, info["dpi"])
        if 1.0 < across <= 1e6 and 1.0 < down <= 1e6:  # 1: not given in a TIFF
            resolution = (down, across) if sideways else (across, down)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        pass  # no resolution, or not a number
    profile = info.get("icc_profile")
    gamma = []
    if image.format == "PNG":
        for name, entry in ((b"gAMA", "gamma"), (b"cHRM", "chromaticity")):
            if entry in info:
                numbers = np.rint(100_000 * np.atleast_1d(info[entry])).astype(int).tolist()
                gamma.append((name, struct.pack(f">{len(numbers)}I", *numbers)))
        if "srgb" in info:
            gamma.append((b"sRGB", bytes([info["srgb"]])))
    return Metadata(
        durations,
        plays,
        bool(durations and info.get("default_image")),
        profile if isinstance(profile, bytes) and profile else None,
        resolution,
        tuple(gamma),
    )


def _pixels_of(frame: Image.Image, bits: tuple[int, bool]) -> NDArray[Any]:
    """Return a frame as (row, column) or (row, column, channel), with alpha as the last channel.

    Numbers with fractions are float32, all others uint8.
    """
    if frame.mode == "F":
        return np.asarray(frame)
    if frame.mode.startswith("I"):
        values = np.asarray(frame).astype(np.int64)
        grey = _upper(values, *bits)
        clear = frame.info.get("transparency")
        if not isinstance(clear, int):
            return grey
        return np.dstack([grey, np.where(values == clear, 0, 255).astype(np.uint8)])
    frame = _with_clear(frame, bits[0])
    has_alpha = frame.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in frame.info
    grey_modes = ("1", "L", "LA", "La")
    mode = ("LA" if has_alpha else "L") if frame.mode in grey_modes else "RGBA"[: 3 + has_alpha]
    return np.asarray(frame.convert(mode))


def _with_clear(frame: Image.Image, bits: int) -> Image.Image:
    """Return a frame whose transparent value has the scale to which Pillow brought its pixels."""
    clear = frame.info.get("transparency")
    found = frame.copy() if bits in (2, 4, 16) and clear is not None else frame
    if isinstance(clear, int) and bits in (2, 4):
        found.info["transparency"] = clear * (255 // ((1 << bits) - 1))
    elif isinstance(clear, tuple) and bits == 16:
        del found.info["transparency"]
    return found


def _bits(frame: Image.Image) -> tuple[int, bool]:
    """Return the bits per number of a picture, and whether one of them is a sign."""
    said = " ".join(str(tile[-1]) for tile in getattr(frame, "tile", ()) or ())
    for few in (12, 2, 4):
        if re.search(rf";{few}\b", said):
            return few, False
    if frame.mode.startswith("I;16") or ";16" in said or frame.format == "PPM":
        return 16, re.search(";16B?S", said) is not None
    return 32, ";32N" not in said


def _upper(values: NDArray[np.int64], bits: int, signed: bool) -> NDArray[np.uint8]:
    """Return the upper 8 bits of whole numbers; 0 for negative ones."""
    whole = values if signed else values & ((1 << bits) - 1)
    upper: NDArray[np.uint8] = np.clip(whole >> (bits - signed - 8), 0, 255).astype(np.uint8)
    return upper


def _bytes_of(frames: list[NDArray[Any]]) -> tuple[list[NDArray[np.uint8]], int]:
    """Return frames of real numbers as bytes, and the number that stands for white."""
    real = [one for one in frames if one.dtype != np.uint8]
    if any(np.isnan(one).any() for one in real):
        raise ValueError("some of its pixels are not numbers")
    white = 1 if max(float(one.max(initial=0.0)) for one in real) <= 1.0 else 255
    return [
        one if one.dtype == np.uint8
        else np.clip(np.rint(one * (255.0 / white)), 0, 255).astype(np.uint8)
        for one in frames
    ], white  # fmt: skip


def _is_negative(frame: Image.Image) -> bool:
    """Return whether larger numbers are darker, in a TIFF of more than bytes."""
    tags = getattr(frame, "tag_v2", {})
    deep = frame.mode == "F" or frame.mode.startswith("I")
    return deep and tags.get(PHOTOMETRIC_TAG) == WHITE_IS_ZERO


def _is_grey_with_alpha(frame: Image.Image) -> bool:
    """Return whether a frame is grey with alpha of 16 bits, which Pillow shows as colours."""
    return any(str(tile[-1]).startswith("LA;16") for tile in getattr(frame, "tile", ()) or ())


def _lost(frame: Image.Image) -> tuple[str, ...]:
    """Return a remark if a frame of whole numbers has more than 8 bits per channel."""
    tiles = getattr(frame, "tile", ()) or ()
    if frame.mode.startswith("I") or any(";16" in str(one) or _most(one) > 255 for one in tiles):
        deep = "more than 8 bits a channel; it is read as 8 bits, the upper ones"
        # A colour of 16 bits a channel cannot be found among pixels of 8 bits.
        clear = ("a transparent colour, which is left out",)
        return (deep, *(clear if isinstance(frame.info.get("transparency"), tuple) else ()))
    return ()


def _most(tile: Any) -> int:
    """Return the largest number of a PPM that Pillow's own decoder reads; else 0."""
    decoder, _, _, about = tile
    ppm = decoder.startswith("ppm") and isinstance(about, tuple)
    return int(about[-1]) if ppm and isinstance(about[-1], int) else 0


def _with_alpha(channels: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Return a frame with ``count`` channels, as other frames have: colours and opaque alpha."""
    colours = channels[:-1] if len(channels) in (2, 4) else channels
    alpha = channels[-1:] if len(channels) in (2, 4) else np.full_like(channels[:1], 255)
    wanted = 3 if count >= 3 else 1
    if len(colours) < wanted:
        colours = np.repeat(colours, 3, axis=0)
    return np.concatenate([colours, alpha] if count in (2, 4) else [colours])
