"""Which file holds the picture of a run, and how is it written? As PNG next to the results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.raytracer.parameters import Parameters
from societies.output.files import MAKING, explained, written
from societies.physics import picture_outputs
from societies.physics.picture_files import SOFTWARE
from societies.version import package_version
from societies.words import counted


def write_png(path: Path, pixels: NDArray[np.uint8], title: str) -> None:
    """Write a picture, (row, column, 3) uint8.

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
    with explained(path, MAKING), written(path) as unfinished:
        Image.fromarray(pixels).save(unfinished, format="PNG", pnginfo=about)


def seen(p: Parameters) -> str:
    """Return the counts of objects and lights as text: "9 objects, 1 light"."""
    objects = f"{p.scene.objects:,} {'object' if p.scene.objects == 1 else 'objects'}"
    return f"{objects}, {counted(len(p.scene.lights), 'light')}"


class WithRenderedPicture(picture_outputs.WithPicture):
    """Contents of the file of a run that also write the picture next to it."""

    def attributes(self) -> dict[str, str | int]:
        """Return the title, with the counts of the scene, and the sides of the picture."""
        p = self._p
        title = f"{self.workload.name}, {p.width} x {p.height} pixels, {seen(p)}"
        return {"title": title, "rows": p.height, "columns": p.width}

    def write_pictures(self, results: Path, pictures: NDArray[np.uint8]) -> None:
        """Write the pictures of all frames."""
        for frame, pixels in enumerate(pictures):
            title = str(self.attributes()["title"])
            write_png(self.config.picture_path(results, frame), pixels, title)
