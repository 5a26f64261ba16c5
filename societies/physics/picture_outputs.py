"""How does a run write pictures next to its file of results, and report where they are?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import OutputError, override
from societies.output import ResultFile
from societies.physics.picture_files import is_ours, unwritable
from societies.workload.declare.fields import State
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.report import RunReport


class WithPicture(SeriesAndDetail):
    """Contents of the file of a run that also write the picture of each copy.

    A configuration has a method ``picture_path(results, copy)``, its key ``image``, if it has one,
    is the picture that is changed, and ``picture_endings`` are the endings that ``out`` may have.
    """

    def begin(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Refuse to replace a file that Societies did not write, also if a run is resumed."""
        require_pictures(self.config, file.path, self.setup.copies)

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the final fields, and the picture."""
        super().finish(file, tick, state)
        self.write_pictures(file.path, state()["picture"])

    def write_pictures(self, results: Path, pictures: NDArray[np.uint8]) -> None:
        """Write the pictures of all copies next to the file of results."""
        raise NotImplementedError


def require_pictures(config: Any, results: Path, copies: int = 1) -> None:
    """Raise OutputError if a picture cannot be written or would replace a foreign file."""
    for copy in range(copies):
        path = config.picture_path(results, copy)
        problem = unwritable(path, getattr(config, "image", None), config.picture_endings)
        if not problem and path.exists() and not is_ours(path):
            problem = f"{path} exists, and it is not known that Societies wrote it"
        if problem:
            name = f"NAME{path.suffix if path.suffix in config.picture_endings else '.png'}"
            raise OutputError(f"{problem}\nchoose another picture: {override(f'out={name}')}")


class PictureReport(RunReport):
    """The report of a run, with the path of the picture, or of the first and the last."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table of every run, and the path of the picture."""
        ends = (0, self.workload.count(self.config) - 1)
        first, last = (self.config.picture_path(self.path, copy) for copy in ends)
        word, more = ("picture", "") if first == last else ("pictures", f" to {last.name}")
        return [*super().rows, (word, f"{first}{more}")]
