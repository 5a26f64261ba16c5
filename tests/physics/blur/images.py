"""Images for the tests: blurred by the reference, and by the kernels in each of their forms."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from reference_py.physics.blur.parameters import Parameters, pattern
from societies.physics.blur import WORKLOAD
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "physics" / "blur.json").read_text())
IMAGE = pattern(64, 48)


def random_image(width, height, channels=1, seed=1):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 256, (1, channels, height, width), np.uint8)


class AsOnGpu(type(WORKLOAD)):
    """The workload with kernels that are compiled as for a GPU."""

    def source(self, p):
        source = super().source(p)
        return replace(source, macros={**source.macros, "DEVICE_IS_CPU": False})


def blurred(p, device=None, copies=1, *, gpu=False, **more):
    """Return the state after all passes; without a device, of plain Python."""
    if device is None:
        engine = ReferenceEngine(WORKLOAD, p, copies=copies)
    else:
        workload = AsOnGpu() if gpu else WORKLOAD
        engine = DeviceEngine(workload, p, device, copies=copies, **more)
    engine.start()
    for first in range(1, p.passes + 1, 50):
        engine.run_ticks(first, min(first + 49, p.passes))
    engine.finish()
    return {name: engine.state()[name] for name in ("planes", "picture")}


def of_oracle(name, variant="fused"):
    """Return the parameters of an oracle, and which array its hash is of."""
    words = dict(word.split("=") for word in name.split() if "=" in word)
    kind = name.split()[0]
    p = Parameters(
        IMAGE,
        kind,
        int(words.get("passes", 1)),
        int(words.get("radius", 6)),
        float(words.get("sigma", 1)),
        words["border"],
        "bytes" if kind == "box" else "float",
        variant,
    )
    return p, "planes" if "float32" in name else "picture"


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def same(found, expected):
    """Assert that two states have the same bits."""
    for name, array in found.items():
        assert array.dtype == expected[name].dtype and array.shape == expected[name].shape
        assert array.tobytes() == expected[name].tobytes(), name
