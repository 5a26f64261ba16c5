"""How is a picture file written, and how is a file recognized that Societies wrote?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.physics.pictures import PLAIN, Metadata, Picture
from societies.version import package_version

SOFTWARE = "Societies"
SOFTWARE_TAG = 0x0131
"""EXIF tag of the program that wrote a picture."""
RESOLUTION_TAGS = (0x011A, 0x011B, 0x0128)
"""EXIF tags of the pixels across and down per unit, and of the unit; 2 is the inch."""

BMP_MARK, BMP_RESERVED = b"Soci", slice(6, 10)
"""Mark in the bytes of a BMP header that the writing program may use freely."""
WRITTEN = {
    ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF", ".tiff": "TIFF",
    ".bmp": "BMP", ".webp": "WEBP", ".gif": "GIF",
}  # fmt: skip
"""Kinds of pictures that can be written, by endings of file names."""

ANIMATED = ("GIF", "PNG", "TIFF", "WEBP")
WITH_EXIF, WITHOUT_ALPHA = ("PNG", "JPEG", "TIFF", "WEBP"), ("JPEG", "BMP")


def write(
    path: Path,
    planes: NDArray[np.uint8],
    alpha: NDArray[np.uint8] | None,
    metadata: Metadata = PLAIN,
) -> None:
    """Write a picture atomically: an error leaves no partial file.

    Parameters
    ----------
    planes : (frame, channel, row, column); several frames become an animation
    alpha : (frame, row, column), left out where the kind of file has none
    metadata : written as far as the kind of file supports it

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    from PIL import Image

    from societies.output.files import MAKING, explained, written

    kind = kind_of(path)
    if kind == "GIF" and alpha is not None:
        alpha = np.where(alpha < 128, 0, 255).astype(np.uint8)  # a pixel is transparent or opaque
    given = np.concatenate([planes, alpha[:, None]], axis=1) if alpha is not None else planes
    if kind in WITHOUT_ALPHA:
        given = planes
    cover = metadata.has_cover and len(planes) > 1
    if cover and kind != "PNG":
        given = given[1:]
    frames = [Image.fromarray(_pixels(one)) for one in given]
    options = _options(kind, metadata)
    if kind == "GIF" and alpha is not None:
        options["disposal"] = 2  # else transparent pixels would show the previous frame
    if len(frames) > 1:
        options |= {"save_all": True, "append_images": frames[1:]}
        durations = metadata.durations[1:] if cover else metadata.durations
        if any(durations):
            options["duration"] = list(durations)
        if cover and kind == "PNG":
            options["default_image"] = True
        if kind == "GIF" and metadata.plays not in (None, 1):
            options["loop"] = max(metadata.plays - 1, 0)
        if kind in ("PNG", "WEBP") and metadata.plays is not None:
            options["loop"] = min(metadata.plays, 65_535)
    with explained(path, MAKING), written(path) as unfinished:
        frames[0].save(unfinished, format=kind, **options)
        if kind == "BMP":
            with open(unfinished, "r+b") as file:
                file.seek(BMP_RESERVED.start)
                file.write(BMP_MARK)


def _options(kind: str, metadata: Metadata) -> dict[str, Any]:
    """Return Pillow's options for a kind of file except those for frames."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    options: dict[str, Any] = {}
    if kind in WITH_EXIF:
        exif = Image.Exif()
        exif[SOFTWARE_TAG] = f"{SOFTWARE} {package_version()}"
        if kind == "WEBP" and metadata.resolution is not None:
            exif.update(zip(RESOLUTION_TAGS, (*metadata.resolution, 2), strict=True))
        options["exif"] = exif
        if metadata.profile is not None:
            options["icc_profile"] = metadata.profile
    if kind in ("PNG", "JPEG", "TIFF", "BMP") and metadata.resolution is not None:
        options["dpi"] = metadata.resolution
    if kind == "PNG":
        options["pnginfo"] = PngInfo()
        for name, content in metadata.gamma:
            options["pnginfo"].add(name, content)
    if kind == "GIF":
        options["comment"] = f"{SOFTWARE} {package_version()}"
    if kind == "JPEG":
        options |= {"quality": 95, "subsampling": 0}
    if kind == "WEBP":
        options["lossless"] = True
    return options


def left_out(kind: str, picture: Picture) -> list[str]:
    """Return the parts of a picture that a kind of file cannot hold."""
    metadata = picture.metadata
    return [
        *(["opacity"] if picture.alpha is not None and kind in WITHOUT_ALPHA else []),
        *(["colour profile"] if metadata.profile and kind not in WITH_EXIF else []),
        *(["resolution"] if metadata.resolution and kind == "GIF" else []),
    ]


def _pixels(channels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return (channel, row, column) as Pillow needs it: (row, column) or (row, column, channel)."""
    return channels[0] if len(channels) == 1 else np.ascontiguousarray(np.moveaxis(channels, 0, 2))


def kind_of(path: Path) -> str:
    """Return the kind of picture from a file's name; empty if this kind cannot be written."""
    return WRITTEN.get(path.suffix.lower(), "")


def is_ours(path: Path) -> bool:
    """Return whether a workload of Societies wrote a file."""
    from PIL import Image

    try:
        with open(path, "rb") as file:
            head = file.read(BMP_RESERVED.stop)
        if head.startswith(b"BM"):
            return head[BMP_RESERVED] == BMP_MARK
        with Image.open(path, formats=list(set(WRITTEN.values()))) as image:
            comment = image.info.get("comment", b"")
            said = [comment.decode("latin-1") if isinstance(comment, bytes) else comment]
            said += [image.info.get("Software"), image.getexif().get(SOFTWARE_TAG)]
            return any(str(one).startswith(SOFTWARE) for one in said)
    except Exception:  # decoders raise errors of all kinds for damaged files
        return False


def unwritable(path: Path, source: str | None = None, endings: Iterable[str] = WRITTEN) -> str:
    """Return why a picture cannot be written to a path; empty if it can.

    Parameters
    ----------
    source : picture from which it is made, which is never replaced
    endings : allowed endings of its name
    """
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if path.exists():
        if source is not None and Path(source).exists() and path.samefile(source):
            return f"{path} is the picture that is blurred"
        if not path.is_file():
            return f"{path} is {'a folder' if path.is_dir() else 'not a regular file'}"
    if path.suffix.lower() not in endings:
        found = list(endings)
        return f"{path} does not end in {'one of ' if len(found) > 1 else ''}{', '.join(found)}"
    if not os.access(path if path.exists() else folder, os.W_OK):
        return f"{path} cannot be written"
    return ""
