"""Which file holds the picture of a run, and how is it written? As PNG next to the results."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.raytracer.parameters import Parameters
from societies.errors import OutputError, override
from societies.output import ResultFile
from societies.physics.picture_files import SOFTWARE, is_ours
from societies.physics.raytracer.config import unwritable
from societies.version import package_version
from societies.words import plural
from societies.workload.declare.contents import SeriesAndDetail
from societies.workload.declare.fields import State
from societies.workload.running.report import RunReport


def picture_path(config: Any, results: Path, frame: int = 0) -> Path:
    """Return the file of a picture: ``out``, or the PNG next to the file of results."""
    path = Path(config.out) if config.out is not None else results.with_suffix(".png")
    return path if frame == 0 else path.with_stem(f"{path.stem}-{frame}")


def write_png(path: Path, pixels: NDArray[np.uint8], title: str) -> None:
    """Write a picture, (row, column, 3) uint8, atomically: an error leaves no partial file.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    about = PngInfo()
    about.add_text("Software", f"{SOFTWARE} {package_version()}")
    about.add_text("Title", title)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        Image.fromarray(pixels).save(unfinished, format="PNG", pnginfo=about)
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None


def seen(p: Parameters) -> str:
    """Return the counts of objects and lights as text: "9 objects, 1 light"."""
    counts = (("object", p.scene.objects), ("light", len(p.scene.lights)))
    return ", ".join(f"{n:,} {word if n == 1 else plural(word)}" for word, n in counts)


def require_pictures(config: Any, results: Path, frames: int) -> None:
    """Raise OutputError if a picture cannot be written or would replace a foreign file."""
    for frame in range(frames):
        path = picture_path(config, results, frame)
        problem = unwritable(path)
        if not problem and path.exists() and not is_ours(path):
            problem = f"{path} exists, and Societies did not write it"
        if problem:
            raise OutputError(f"{problem}\nchoose another picture: {override('out=NAME.png')}")


class WithPicture(SeriesAndDetail):
    """Contents of the file of a run that also write the picture next to it."""

    def attributes(self) -> dict[str, str | int]:
        """Return the title, with the counts of the scene, and the sides of the picture."""
        p = self._p
        title = f"{self.workload.name}, {p.width} x {p.height} pixels, {seen(p)}"
        return {"title": title, "rows": p.height, "columns": p.width}

    def begin(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Refuse to replace a file that Societies did not write, also if a run is resumed."""
        require_pictures(self.config, file.path, self.setup.copies)

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the final fields, and the picture."""
        super().finish(file, tick, state)
        for frame, pixels in enumerate(state()["picture"]):
            path = picture_path(self.config, file.path, frame)
            write_png(path, pixels, str(self.attributes()["title"]))


class PictureReport(RunReport):
    """The report of a run, with the path of the picture."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of every run, and the path of the picture."""
        return [*super().rows, ("picture", str(picture_path(self.config, self.path)))]
