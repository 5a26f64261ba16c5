"""Which file holds the blurred picture of a run, and how is it written?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from societies.errors import OutputError, override
from societies.output import ResultFile
from societies.physics.picture_files import is_ours, kind_of, unwritable, write
from societies.words import plural
from societies.workload.declare.contents import SeriesAndDetail
from societies.workload.declare.fields import State
from societies.workload.running.report import RunReport


def described(config: Any) -> str:
    """Return a description of the image: "photo.jpg, 640 x 480 pixels, 3 channels"."""
    frames, channels, rows, columns = config.source.planes.shape
    name = config.image or "the test picture"
    counts = [("channel", channels), *([("frame", frames)] if frames > 1 else [])]
    said = [f"{n} {word if n == 1 else plural(word)}" for word, n in counts]
    return ", ".join([name, f"{columns} x {rows} pixels", *said])


def kind_written(config: Any) -> list[tuple[str, str]]:
    """Return a row that says why the blurred picture is a PNG, if its image is not."""
    if not config.becomes_png:
        return []
    frames = " with frames" if kind_of(Path(config.image)) else ""
    ending = Path(config.image).suffix
    image = f"a picture that ends in {ending}" if ending else "one without an ending"
    return [("kind of picture", f"PNG: {image}{frames} is read, but not written")]


def require_picture(config: Any, results: Path) -> None:
    """Raise OutputError if the picture cannot be written or would replace a foreign file."""
    path = config.picture_path(results)
    problem = unwritable(path, config.image)
    if not problem and path.exists() and not is_ours(path):
        problem = f"{path} exists, and it is not known that Societies wrote it"
    if problem:
        name = f"NAME{path.suffix if kind_of(path) else '.png'}"
        raise OutputError(f"{problem}\nchoose another picture: {override(f'out={name}')}")


class WithPicture(SeriesAndDetail):
    """Contents of the file of a run that also write the picture."""

    def attributes(self) -> dict[str, str | int]:
        """Return the title, with a description of the image, and the sides of the picture."""
        _, channels, rows, columns = self.config.source.planes.shape
        title = f"{self.workload.name}, {self.config.kind}, {described(self.config)}"
        return {"title": title, "channels": channels, "rows": rows, "columns": columns}

    def begin(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Refuse to replace a file that Societies did not write, also if a run is resumed."""
        require_picture(self.config, file.path)

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the final fields, and the picture."""
        super().finish(file, tick, state)
        source = self.config.source
        path = self.config.picture_path(file.path)
        write(path, state()["picture"], source.alpha, source.metadata)


class PictureReport(RunReport):
    """The report of a run, with the path of the picture."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of every run, and the path of the picture."""
        path = str(self.config.picture_path(self.path))
        return [*super().rows, ("picture", path), *kind_written(self.config)]
