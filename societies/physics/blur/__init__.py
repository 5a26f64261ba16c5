"""What does the workload that blurs pictures declare?

The rules are in ``reference_py/physics/blur``, the kernels in ``kernels/physics/blur``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from reference_py.physics.blur.parameters import Parameters
from reference_py.physics.blur.weights import weights_of
from societies.physics.blur import figure
from societies.physics.blur.config import BlurConfig
from societies.workload import Field, Phase, Source, Step, Workload, phase
from societies.workload.declare.view import shown_by

FOLDER = "physics/blur"

BAND = 8
"""Rows per workgroup in kernels that treat every row separately."""

STRIP, STRIP_BAND = 1024, 64
"""Columns and rows per workgroup of a box blur of bytes."""

TILE, HEIGHT = 64, 96
"""Columns, and rows of sums, that a workgroup of the form ``fused`` holds in local memory."""


class Blur(Workload[BlurConfig, Parameters]):
    """Images of one size that are blurred in parallel, such as the frames of an animation."""

    name = "blur"
    summary = "pictures blurred by neighbours, boxes or Gaussians"
    config = BlurConfig
    clock, copies, work = "pass", "image", "pixel-pass"
    numpy, twins = True, "reference_py.physics.blur"
    figure = staticmethod(figure.figure)
    contents_class = "societies.physics.blur.picture:WithBlurredPicture"
    report_class = "societies.physics.blur.picture:BlurReport"
    view = shown_by("societies.physics.blur.view:BlurView")

    def count(self, config: BlurConfig) -> int:
        """Return the number of images: that of the frames, unless ``replicates`` is given."""
        return int(getattr(config, "replicates", len(config.source.planes)))

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the numbers of channels, rows and columns of the picture."""
        return {"channel": p.channels, "row": p.height, "column": p.width}

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the planes of an image, and the other arrays of a pass."""
        pixels, dtype = ("channel", "row", "column"), np.dtype(p.dtype).name
        within = None if p.whole else (0, 256)
        passing = partial(Field, pixels, checkpointed=False)
        fields = {
            "planes": Field(
                pixels,
                dtype,
                "1",
                "brightness of a pixel, 0 to 255",
                initial=lambda p: p.image,
                recorded=True,
                within=within,
            ),
            "next": passing(dtype, "1", "the same after the pass", compared=False),
            "picture": passing("uint8", "1", "brightness of a pixel at the end", final=True),
        }
        if _separable(p) and p.variant == "separate":
            fields["across"] = passing("float32", "1", "sums along the rows")
        return fields

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        planes = copies * p.channels
        bands, swap = -(-planes * p.height // BAND), (("planes", "next"),)

        def grid(wide: int, tall: int) -> int:
            return planes * -(-p.width // wide) * -(-p.height // tall)

        def one(name: str, groups: int, swaps: tuple[tuple[str, str], ...] = swap) -> Phase:
            launches = phase(f"{FOLDER}/{name}.cl", groups, alone_on_cpu=True).launches
            return Phase(launches, swaps)

        found = {
            "neighbours": one("neighbours", bands),
            "box": one("box", grid(STRIP, STRIP_BAND)),
            "rows": one("rows", bands, ()),
            "columns": one("columns", bands),
            "both": one("both", grid(TILE, max(1, HEIGHT - 2 * p.radius))),
        }
        used = {name: found[name] for name in _phases_of(p)}
        pixels = planes * p.height * p.width
        return used | {"rounding": phase(f"{FOLDER}/rounding.cl", global_size=pixels)}

    def schedule(self, p: Parameters, tick: int, seen: Any) -> tuple[Step, ...]:
        """Return the phases of a pass; tick 0 has none."""
        return _steps_of(*_phases_of(p)) if tick else ()

    def finish(self, p: Parameters) -> tuple[Step, ...]:
        """Return the step that rounds the planes to the picture."""
        return (Step("rounding"),)

    def source(self, p: Parameters) -> Source:
        """Return macros and weights; another picture size does not rebuild the kernels."""
        macros: dict[str, Any] = {
            "PLANES_ARE_WHOLE": p.whole,
            **self.macros(p, "radius", "kind", "border"),
            "BAND": STRIP_BAND if "box" in _phases_of(p) else BAND,
            "STRIP": STRIP,
            "TILE": TILE,
            "HEIGHT": HEIGHT,
        }
        if not p.whole:
            macros["NUM_IS_DOUBLE"] = False  # so that a device without subnormal singles is refused
        return Source(macros, arguments={"weights": weights_of(p)} if _separable(p) else {})

    def work_done(self, config: BlurConfig, ticks: int) -> float:
        """Return pixels times passes; a channel counts as a pixel."""
        return float(config.source.planes[0].size * ticks * self.count(config))

    def require_outputs(self, config: BlurConfig, results: Path) -> None:
        """Refuse, before the run starts, to replace a file that Societies did not write."""
        from societies.physics.picture_outputs import require_pictures

        require_pictures(config, results)

    def plan_rows(self, config: BlurConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return rows about the picture and the phases of a pass."""
        from societies.physics.blur.picture import image_text, kind_written

        rows = [("picture", image_text(config)), ("phases of a pass", ", ".join(_phases_of(p)))]
        if config.image is not None or config.out is not None:
            path = str(config.picture_path(Path()))  # does not depend on the file of results
            rows += [("blurred picture", path), *kind_written(config)]
        return rows


@cache
def _steps_of(*phases: str) -> tuple[Step, ...]:
    """Return a step for each phase."""
    return tuple(map(Step, phases))


def _separable(p: Parameters) -> bool:
    """Return whether a pass has sums along rows and then along columns."""
    return p.kind != "neighbours" and not p.whole


def _phases_of(p: Parameters) -> tuple[str, ...]:
    """Return the phases of a pass."""
    if p.kind == "neighbours":
        return ("neighbours",)
    if p.whole:
        return ("box",)
    return ("both",) if p.variant == "fused" else ("rows", "columns")


WORKLOAD = Blur()
