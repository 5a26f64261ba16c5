"""What is in the file of a picture, and how is a blurred one written beside it?

Pillow reads and writes. Grey pictures stay grey; all others become red, green and blue. The opacity
of a pixel (alpha) is kept and not blurred. A picture is turned as its EXIF orientation says.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, OutputError
from societies.paths import kind_unless_file
from societies.version import package_version

if TYPE_CHECKING:
    from PIL import Image

SOFTWARE = "Societies"
SOFTWARE_TAG = 0x0131
"""Of EXIF: the program that wrote a picture."""

BMP_MARK, BMP_RESERVED = b"Soci", slice(6, 10)
"""What is written into the bytes of a BMP's header that are left to the program that writes it."""

MOST_FRAMES = 10_000

REFUSED = ("EPS", "WMF")
"""Kinds for which Pillow starts other programs, or the system's."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture as it is blurred.

    Attributes
    ----------
    planes : (frame, channel, row, column) uint8; one channel for grey, three for colours
    alpha : (frame, row, column) uint8, or None
    lost : what the file has more than bytes, and how it is read; empty if it has bytes
    seconds : how long each frame is shown, in milliseconds; empty for a single one
    """

    planes: NDArray[np.uint8]
    alpha: NDArray[np.uint8] | None
    lost: str
    durations: tuple[int, ...] = ()


def read(path: str | Path, *, every_frame: bool) -> Picture:
    """Return the picture of a file: its first frame, or all of them.

    Raises
    ------
    ConfigError
        If it cannot be read, or is larger than Pillow takes.
    """
    kind = kind_unless_file(path)
    if kind is not None:
        raise ConfigError(f"{path} is {kind}, not a file")
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None
    return _read(str(path), every_frame, changed)


@lru_cache(maxsize=2)
def _read(path: str, every_frame: bool, _changed: int) -> Picture:
    from PIL import Image, UnidentifiedImageError

    Image.init()
    kinds = [kind for kind in Image.OPEN if kind not in REFUSED]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of entries that say nothing about the pixels
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=kinds) as image:
                frames, durations, lost = [], [], ""
                for frame in _frames(image):
                    lost = lost or _lost(frame)  # once loaded, nothing tells
                    frames.append(_channels(frame))
                    durations.append(int(frame.info.get("duration", 0)))
                    if not every_frame or len(frames) == MOST_FRAMES:
                        break
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        most = Image.MAX_IMAGE_PIXELS
        raise ConfigError(f"{path} has more than {most:,} pixels, the most that are read") from None
    except UnidentifiedImageError:
        raise ConfigError(f"{path} is no picture, or of an unknown kind") from None
    except (OSError, SyntaxError, ValueError, RuntimeError, EOFError, MemoryError) as error:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        said = said.splitlines()[0]
        raise ConfigError(f"{path} cannot be read: {said}") from None
    if len({one.shape for one in frames}) != 1:
        frames = [_with_alpha(one, max(map(len, frames))) for one in frames]
    if len({one.shape for one in frames}) != 1:
        raise ConfigError(f"{path} has frames of several sizes; set frames: first")
    stacked = np.stack(frames)
    colours = stacked.shape[1] - (stacked.shape[1] + 1) % 2
    alpha = stacked[:, -1] if colours < stacked.shape[1] else None
    planes = np.ascontiguousarray(stacked[:, :colours])
    return Picture(planes, alpha, lost, tuple(durations) if len(frames) > 1 else ())


def _frames(image: Image.Image) -> Iterator[Image.Image]:
    """Yield the frames of a picture; of a kind that Pillow does not look for frames in, itself."""
    from PIL import ImageSequence

    frame = None
    for frame in ImageSequence.Iterator(image):
        yield frame
    if frame is None:
        yield image


def _channels(frame: Image.Image) -> NDArray[np.uint8]:
    """Return a frame as (channel, row, column): grey or colours, and alpha as the last channel."""
    from PIL import ImageOps

    turned = ImageOps.exif_transpose(frame)
    if turned.mode.startswith("I") or turned.mode == "F":
        return _grey(np.asarray(turned))[None]
    has_alpha = turned.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in turned.info
    grey = turned.mode in ("1", "L", "LA", "La")
    mode = ("LA" if grey else "RGBA") if has_alpha else ("L" if grey else "RGB")
    pixels = np.asarray(turned.convert(mode))
    return np.ascontiguousarray(np.moveaxis(np.atleast_3d(pixels), 2, 0))


def _grey(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return whole numbers of many bits, or real ones of 0 to 1 or to 255, as bytes."""
    if values.dtype.kind == "f":
        if np.isnan(values).any():
            raise ValueError("some of its pixels are no numbers")
        scaled = values * 255.0 if float(values.max(initial=0.0)) <= 1.0 else values
        rounded: NDArray[np.uint8] = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
        return rounded
    largest = int(values.max(initial=0))
    shift = max(8, largest.bit_length() - 8) if largest > 255 else 0
    bytes_of: NDArray[np.uint8] = np.clip(values.astype(np.int64) >> shift, 0, 255).astype(np.uint8)
    return bytes_of


def _lost(frame: Image.Image) -> str:
    """Return what a frame has more than bytes, and how it is read."""
    if frame.mode == "F":
        return "numbers with fractions; it is read as 8 bits, black to white from 0 to 1 or 255"
    tiles = getattr(frame, "tile", ()) or ()
    if frame.mode.startswith("I") or any(";16" in str(one) or _most(one) > 255 for one in tiles):
        return "more than 8 bits a channel; it is read as 8 bits"
    return ""


def _most(tile: Any) -> int:
    """Return the largest number of a PPM whose lines Pillow decodes itself; of others 0."""
    decoder, _, _, about = tile
    ppm = decoder.startswith("ppm") and isinstance(about, tuple)
    return int(about[-1]) if ppm and isinstance(about[-1], int) else 0


def _with_alpha(channels: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Return the channels of a frame among others that have more: colours, and all opaque."""
    colours = channels[:-1] if len(channels) in (2, 4) else channels
    alpha = channels[-1:] if len(channels) in (2, 4) else np.full_like(channels[:1], 255)
    wanted = 3 if count >= 3 else 1
    if len(colours) < wanted:
        colours = np.repeat(colours, 3, axis=0)
    return np.concatenate([colours, alpha] if count in (2, 4) else [colours])


def write(
    path: Path,
    planes: NDArray[np.uint8],
    alpha: NDArray[np.uint8] | None,
    durations: tuple[int, ...] = (),
) -> None:
    """Write a picture; the file is there as a whole or not at all.

    Parameters
    ----------
    planes : (frame, channel, row, column); several frames become an animation
    alpha : (frame, row, column), left out where the kind of file has none

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    from PIL import Image

    unfinished = path.with_name(f".{os.getpid()}.{path.name}")
    kind = kind_of(path)
    given = np.concatenate([planes, alpha[:, None]], axis=1) if alpha is not None else planes
    if kind in ("JPEG", "BMP"):
        given = planes  # they have no opacity
    frames = [Image.fromarray(_pixels(one)) for one in given]
    options: dict[str, Any] = {}
    if kind in ("PNG", "JPEG", "TIFF", "WEBP"):
        exif = Image.Exif()
        exif[SOFTWARE_TAG] = f"{SOFTWARE} {package_version()}"
        options["exif"] = exif
    if kind == "GIF":
        options["comment"] = f"{SOFTWARE} {package_version()}"
    if kind == "JPEG":
        options |= {"quality": 95, "subsampling": 0}
    if kind == "WEBP":
        options["lossless"] = True
    if len(frames) > 1:
        options |= {"save_all": True, "append_images": frames[1:]}
        if any(durations):
            options["duration"] = list(durations)
    try:
        frames[0].save(unfinished, format=kind, **options)
        if kind == "BMP":
            with open(unfinished, "r+b") as file:
                file.seek(BMP_RESERVED.start)
                file.write(BMP_MARK)
        os.replace(unfinished, path)
    except (OSError, ValueError) as error:
        unfinished.unlink(missing_ok=True)
        said = error.strerror if isinstance(error, OSError) else None
        raise OutputError(f"{path} cannot be written: {said or error}") from None


def _pixels(channels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return (channel, row, column) as Pillow takes it: (row, column) or (row, column, channel)."""
    return channels[0] if len(channels) == 1 else np.ascontiguousarray(np.moveaxis(channels, 0, 2))


WRITTEN = {
    ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF", ".tiff": "TIFF",
    ".bmp": "BMP", ".webp": "WEBP", ".gif": "GIF",
}  # fmt: skip
"""Kinds of pictures that are written, by the ends of their names."""

ANIMATED = ("GIF", "PNG", "TIFF", "WEBP")


def kind_of(path: Path) -> str:
    """Return the kind of picture that a file's name says; empty if it is none that is written."""
    return WRITTEN.get(path.suffix.lower(), "")


def is_ours(path: Path) -> bool:
    """Return whether `write` wrote a file."""
    from PIL import Image, UnidentifiedImageError

    try:
        with open(path, "rb") as file:
            head = file.read(BMP_RESERVED.stop)
        if head.startswith(b"BM"):
            return head[BMP_RESERVED] == BMP_MARK
        with Image.open(path, formats=list(set(WRITTEN.values()))) as image:
            comment = image.info.get("comment", b"")
            said = image.getexif().get(SOFTWARE_TAG) or (
                comment.decode("latin-1") if isinstance(comment, bytes) else comment
            )
            return str(said).startswith(SOFTWARE)
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError):
        return False


def unwritable(path: Path, source: str | None) -> str:
    """Return why a picture cannot be written there; empty if it can."""
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if path.exists():
        if source is not None and Path(source).exists() and path.samefile(source):
            return f"{path} is the picture that is blurred"
        if not path.is_file():
            return f"{path} is no regular file"
    if not kind_of(path):
        return f"{path} does not end in one of {', '.join(WRITTEN)}"
    if not os.access(path if path.exists() else folder, os.W_OK):
        return f"{path} cannot be written"
    return ""
