"""Which file holds the blurred picture of a run, and how is it written?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.physics import picture_outputs
from societies.physics.picture_files import kind_of, write
from societies.words import counted


def image_text(config: Any) -> str:
    """Return a description of the image: "photo.jpg, 640 x 480 pixels, 3 channels"."""
    frames, channels, rows, columns = config.source.planes.shape
    name = config.image or "the test picture"
    said = [name, f"{columns} x {rows} pixels", counted(channels, "channel")]
    return ", ".join([*said, *([counted(frames, "frame")] if frames > 1 else [])])


def kind_written(config: Any) -> list[tuple[str, str]]:
    """Return a row that says why the blurred picture is a PNG, if its image is not."""
    if not config.becomes_png:
        return []
    frames = " with frames" if kind_of(Path(config.image)) else ""
    ending = Path(config.image).suffix
    image = f"a picture that ends in {ending}" if ending else "one without an ending"
    return [("kind of picture", f"PNG: {image}{frames} is read, but not written")]


class WithBlurredPicture(picture_outputs.WithPicture):
    """Contents of the file of a run that also write the picture."""

    def attributes(self) -> dict[str, str | int]:
        """Return the title, with a description of the image, and the sides of the picture."""
        _, channels, rows, columns = self.config.source.planes.shape
        title = f"{self.workload.name}, {self.config.kind}, {image_text(self.config)}"
        return {"title": title, "channels": channels, "rows": rows, "columns": columns}

    def write_pictures(self, results: Path, pictures: NDArray[np.uint8]) -> None:
        """Write the picture; its frames are the images of the run."""
        source = self.config.source
        write(self.config.picture_path(results), pictures, source.alpha, source.metadata)


class BlurReport(picture_outputs.PictureReport):
    """The report of a run, with the path of the picture and why it is a PNG."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of every run, and the picture."""
        return [*super().rows, *kind_written(self.config)]
