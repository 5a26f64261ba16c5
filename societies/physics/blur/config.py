"""Which keys does the YAML file of a blur have, with which units, ranges and meanings?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import ClassVar, Literal

from reference_py.physics.blur.parameters import Parameters, pattern
from societies.config.model import Conflict, Interval, Section, WorkloadConfig, key, shape
from societies.errors import ConfigError
from societies.physics.picture_files import ANIMATED, WRITTEN, kind_of, left_out, unwritable
from societies.physics.pictures import Picture, picture_in
from societies.workload.declare.config import MOST_TICKS, checkpoints
from societies.workload.declare.naming import parameters_of

LARGEST_SIDE = 32_768
LARGEST_RADIUS = 4000
LARGEST_BOX = 1000
"""Largest radius of a box of bytes: its sums are exact in 32 bits."""

FUSED_RADIUS = 16
"""Largest radius of the form `fused`, which holds sums along rows in local memory."""

ARITHMETICS = {
    "neighbours": ("float", "seed"),
    "box": ("bytes", "float"),
    "gaussian": ("float",),
}
"""Possible numbers of planes between passes, by kind of blur; the first is the default."""


class BlurRecord(Section):
    """What is recorded in the file, and how often."""

    detail: int = key(0, "Record the planes every this many passes; 0: never", "pass", ge=0)
    checkpoint: Interval = checkpoints("pass", "the planes")


class BlurConfig(WorkloadConfig):
    """A picture that is blurred."""

    workload: Literal["blur"] = key("blur", "What the file configures")
    image: str | None = key(
        None,
        "Picture that is blurred, of any kind that Pillow reads; it is never changed. Default: a "
        "test picture of width x height pixels",
    )
    width: int = shape(640, "Columns of the test picture", "pixels", ge=1, le=LARGEST_SIDE)
    height: int = shape(480, "Rows of the test picture", "pixels", ge=1, le=LARGEST_SIDE)
    out: str | None = key(
        None,
        "File of the blurred picture; default: next to the image, with -blurred after its name, as "
        "PNG where its kind is not written; or that of the results, ending in .png, for the test "
        "picture",
    )
    kind: Literal["neighbours", "box", "gaussian"] = shape(
        "neighbours",
        "What a pixel becomes: the mean of its direct neighbours, of a square, or a Gaussian blur",
    )
    passes: int = key(1, "How often the picture is blurred", "1", ge=0, le=MOST_TICKS)
    radius: int | None = shape(
        None,
        "Of box and gaussian: pixels that a window reaches to each side; default: 1 of box, four "
        "sigma of gaussian",
        "pixels",
        ge=0,
        le=LARGEST_RADIUS,
    )
    sigma: float | None = shape(
        None, "Of gaussian: standard deviation; default: 1", "pixels", gt=0, le=1000
    )
    border: Literal["available", "replicate", "reflect", "mirror", "wrap", "constant"] | None = (
        shape(
            None,
            "Value of pixels beyond the border: nothing (of neighbours and box), the last one, "
            "the picture reflected with or without its last pixel, its other side, or 0; default: "
            "available of neighbours, else mirror",
        )
    )
    arithmetic: Literal["float", "bytes", "seed"] | None = shape(
        None,
        "Numbers between passes: with fractions, bytes that are rounded (of box), or "
        "bytes that are cut off (of neighbours), as in the original; default: bytes of box, else "
        "float",
    )
    frames: Literal["first", "all"] = key("first", "Which frames of an animation are blurred")
    variant: Literal["auto", "fused", "separate"] = shape(
        "auto",
        "Of gaussian and of box with fractions, form of the kernels, with the same results: rows "
        "and columns in one launch, up to radius 16, or in two; auto: in one where it is possible",
    )
    record: BlurRecord = key(BlurRecord, "What is recorded in the file, and how often")

    picture_endings: ClassVar[Collection[str]] = WRITTEN

    @property
    def source(self) -> Picture:
        """The picture that is blurred."""
        if self.image is None:
            return Picture(pattern(self.width, self.height), None)
        return picture_in(self.image, every_frame=self.frames == "all")

    @property
    def window(self) -> int:
        """Pixels that a window reaches to each side."""
        if self.kind == "neighbours":
            return 1
        if self.radius is not None:
            return self.radius
        return 1 if self.kind == "box" else math.floor(4.0 * self.deviation + 0.5)

    @property
    def deviation(self) -> float:
        """Standard deviation of a Gaussian blur."""
        return 1.0 if self.sigma is None else self.sigma

    @property
    def stored_as(self) -> str:
        """Kind of numbers that planes hold between passes."""
        return self.arithmetic or ARITHMETICS[self.kind][0]

    def parameters(self) -> Parameters:
        """Return the parameters that the reference takes."""
        fused = self.window <= FUSED_RADIUS and self.variant != "separate"
        return parameters_of(
            Parameters,
            self,
            image=self.source.planes,
            radius=self.window,
            sigma=self.deviation,
            border=self.border or ("available" if self.kind == "neighbours" else "mirror"),
            arithmetic=self.stored_as,
            variant="fused" if fused else "separate",
        )

    def inputs(self) -> dict[str, str]:
        """Return the file of the picture, if one is given."""
        return {} if self.image is None else {"image": self.image}

    def picture_path(self, results: Path, image: int = 0) -> Path:
        """Return the file of the blurred picture."""
        if self.out is not None:
            return Path(self.out)
        if self.image is None:
            return results.with_suffix(".png")
        path = Path(self.image)
        # The name includes the image's ending, so that the pictures of x.ppm and x.png differ.
        ending = f"{path.suffix or '.picture'}.png" if self.becomes_png else path.suffix
        return path.with_name(f"{path.stem}-blurred{ending}")

    @property
    def becomes_png(self) -> bool:
        """Whether the blurred picture is a PNG because the image's kind cannot be written."""
        if self.out is not None or self.image is None:
            return False
        kind = kind_of(Path(self.image))
        return not kind or (kind not in ANIMATED and len(self.source.planes) > 1)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield keys of other kinds of blur, unreadable images, and unwritable pictures."""
        yield from self._of_kinds()
        if self.image is not None:
            try:
                yield from self._of_image(self.source)
            except ConfigError as error:
                yield Conflict(("image",), str(error))
        if self.out is not None and (problem := unwritable(Path(self.out), self.image)):
            yield Conflict(("out",), problem)

    def _of_image(self, found: Picture) -> Iterator[Conflict]:
        for name in ("width", "height"):
            if name in self.given:
                yield Conflict((name,), "of the test picture; the image has its own size")
        if max(found.planes.shape[2:]) > LARGEST_SIDE:
            message = f"{self.image} has more than {LARGEST_SIDE} pixels along a side"
            yield Conflict(("image",), message)
        if len(found.planes) > 1 and self.out is not None:
            kind = kind_of(Path(self.out))
            if kind and kind not in ANIMATED:
                message = f"{kind} has no frames; the image has {len(found.planes)}"
                yield Conflict(("out",), message, (("frames",),))

    def _of_kinds(self) -> Iterator[Conflict]:
        kind = self.kind
        if self.sigma is not None and kind != "gaussian":
            yield Conflict(("sigma",), f"{kind} has no sigma; set sigma: null", (("kind",),))
        if self.radius is not None and kind == "neighbours":
            yield Conflict(("radius",), "neighbours has no radius; set radius: null", (("kind",),))
        if kind == "gaussian" and self.border == "available":
            message = "gaussian needs a pixel everywhere; available is for neighbours and box"
            yield Conflict(("border",), message, (("kind",),))
        if self.arithmetic is not None and self.arithmetic not in ARITHMETICS[kind]:
            available = " or ".join(ARITHMETICS[kind])
            message = f"{kind} has no arithmetic {self.arithmetic}; choose {available}"
            yield Conflict(("arithmetic",), message, (("kind",),))
        if kind == "box" and self.stored_as == "bytes" and self.window > LARGEST_BOX:
            message = f"a box of bytes has a radius of {LARGEST_BOX} at most; set arithmetic: float"
            yield Conflict(("radius",), message, (("kind",), ("arithmetic",)))
        if self.variant == "fused" and self.window > FUSED_RADIUS:
            message = f"fused takes a radius up to {FUSED_RADIUS}; this is {self.window}"
            yield Conflict(("variant",), message, (("radius",), ("sigma",), ("kind",)))
        separable = kind == "gaussian" or self.stored_as == "float"
        if self.variant != "auto" and (kind == "neighbours" or not separable):
            message = "only gaussian, and box with arithmetic: float, have two forms"
            yield Conflict(("variant",), message, (("kind",), ("arithmetic",)))

    def warnings(self) -> Iterator[Conflict]:
        """Yield parts of the image that are lost, and a recording interval that is too long."""
        if self.image is not None:
            for lost in self.source.lost:
                yield Conflict(("image",), f"{self.image} has {lost}")
            if self.source.has_more and "frames" not in self.model_fields_set:
                message = f"{self.image} has more frames; the first is blurred; set frames: all"
                yield Conflict(("frames",), message)
            kind = kind_of(self.picture_path(Path()))
            if left := left_out(kind, self.source):
                yield Conflict(("out",), f"{kind} has no {' and no '.join(left)}; left out")
        if self.record.detail > self.passes:
            message = f"{self.record.detail} passes are more than the run has ({self.passes})"
            yield Conflict(("record", "detail"), f"{message}: nothing of this is recorded")
