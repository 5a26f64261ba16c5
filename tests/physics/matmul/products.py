"""Products for the tests: of the reference, and of the kernels in each of their forms."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from reference_py.physics.matmul.parameters import Parameters
from societies.physics.matmul import WORKLOAD
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "physics" / "matmul.json").read_text())
FORMS = {
    "naive": {},
    "tiled": {"tile": 16},
    "blocked": {},
    "vector": {},
    "wide": {},
}


def of_form(p, form, **more):
    """Return the parameters of a product in a form of the kernels."""
    return replace(p, variant=form, **{**FORMS[form], **more})


def engine_of(p, device=None, copies=1, **more):
    """Return who has carried out the product once; without a device, plain Python."""
    if device is None:
        engine = ReferenceEngine(WORKLOAD, p, copies=copies)
    else:
        engine = DeviceEngine(WORKLOAD, p, device, copies=copies, **more)
    engine.start()
    engine.run_ticks(1, 1)
    return engine


def product(p, device=None, **more):
    """Return C of a product."""
    return engine_of(p, device, **more).state()["C"][0]


def given(a, b, **settings):
    """Return the parameters of a product of two matrices."""
    a, b = np.asarray(a), np.asarray(b)
    return Parameters(*a.shape, b.shape[1], a=a, b=b, **settings)


def sized(name, **settings):
    """Return the parameters of an oracle: "17x31x5"."""
    return Parameters(*map(int, name.split("x")), **settings)


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def same(found, expected):
    """Assert that two arrays have the same bits, whatever NaN they hold."""
    assert found.dtype == expected.dtype and found.shape == expected.shape
    bits = np.uint32 if found.dtype == np.float32 else np.uint64
    equal = (found.view(bits) == expected.view(bits)) | (np.isnan(found) & np.isnan(expected))
    assert equal.all(), np.argwhere(~equal)[:3].tolist()
