"""Do the forms of Laplace's kernels give every hash, at odd sizes, for CPUs and as for GPUs?

On a CPU a workgroup of these kernels is one work-item. What a GPU runs, with local memory and
barriers, is compiled here for the device of the tests, with workgroups of 1 to 256 work-items.
"""

from dataclasses import replace

import numpy as np
import pytest
from marks import in_turn, thorough_but
from test_laplace_forms import BARS, config_of, same
from test_laplace_reference import ORACLE, SEED, fields, sha256

from societies.physics.laplace import WORKLOAD
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

ITEMS = (1, 5, 64, 256)
LAUNCHES = [{}, *({"gpu": True, "work_items": items} for items in ITEMS)]
"""As on the device of the tests, and as on a GPU."""

VARIANTS = ("rows", "seed", "tiled", "deep")
FORMS = [(variant, launch) for variant in VARIANTS for launch in LAUNCHES]
QUICK = [(variant, launch) for variant in VARIANTS for launch in (LAUNCHES[0], LAUNCHES[2])]
ODD = [(3, 3), (3, 70), (6, 7), (121, 5), (67, 131)]
"""Smaller and larger than tiles and bands, and multiples of none."""


class AsOnGpu(type(WORKLOAD)):
    """The workload with kernels that are compiled as for a GPU, and further macros."""

    def __init__(self, macros=()):
        self._macros = dict(macros)

    def source(self, p):
        source = super().source(p)
        return replace(source, macros={**source.macros, "DEVICE_IS_CPU": False, **self._macros})


def after(config, device=None, copies=1, *, gpu=False, macros=(), **more):
    """Return the state at the end; without a device, of plain Python."""
    p = WORKLOAD.parameters(config)
    if device is None:
        engine = ReferenceEngine(WORKLOAD, p, copies=copies)
    else:
        engine = DeviceEngine(
            AsOnGpu(macros) if gpu else WORKLOAD, p, device, copies=copies, **more
        )
    engine.start()
    for first in range(1, WORKLOAD.ticks(config) + 1, 50):
        engine.run_ticks(first, min(first + 49, WORKLOAD.ticks(config)))
        if engine.ended() is not None:
            break
    engine.finish()
    return engine.state()


def shown(form):
    variant, launch = form
    return f"{variant} GPU {launch['work_items']}" if launch else variant


CASES = [*ORACLE, *SEED["phi"]]
SMALL = [case for case in CASES if fields(case)["n"] in (8, 16, 32)]
SHORT = in_turn(QUICK, SMALL, 2)[::2]
HASHES = [
    *in_turn(QUICK, SMALL, 2),
    *(pair for pair in in_turn(FORMS, CASES, 2) if pair not in in_turn(QUICK, SMALL, 2)),
]


@pytest.mark.parametrize("pair", thorough_but(SHORT, HASHES), ids=lambda p: f"{shown(p[0])} {p[1]}")
def test_every_hash(device, pair):
    """Also the step at which the run ends, and the change that ended it."""
    (variant, launch), case = pair
    words = fields(case)
    settings = {"side": int(words["n"]), "variant": variant}
    if "tolerance" in words:
        settings |= {"tolerance": words["tolerance"], "check_every": int(words["check_every"])}
    else:
        settings["steps"] = int(words["steps"])
    if "ratio" in words:
        settings |= {"method": "heat", "ratio": words["ratio"]}
    state = after(config_of(**settings), device, **launch)
    expected = ORACLE.get(case) or {"phi": SEED["phi"][case]}
    assert sha256(state["phi"][0]) == expected["phi"]
    if "steps" in expected:
        assert (state["ended"][0], state["change"][0]) == (expected["steps"], expected["change"])
    if "center" in expected:
        assert float(state["phi"][0, 8, 6]) == expected["center"]


RULES = [
    {},
    {"precision": "double"},
    {"method": "heat", "ratio": 0.2},
    {"method": "heat", "ratio": 0.2, "precision": "double"},
]
OVER = [{"method": "sor", "precision": precision} for precision in ("single", "double")]
SOME = [(RULES[1 + VARIANTS.index(form[0]) % 3], form) for form in QUICK[1::2]]
SOME += [(OVER[0], ("rows", LAUNCHES[2]))]
ALL = [
    (RULES[(place + number) % 4], (variant, launch))  # each variant has every rule
    for place, variant in enumerate(VARIANTS)
    for number, launch in enumerate(LAUNCHES)
]
ALL += [(rule, ("rows", launch)) for rule in OVER for launch in LAUNCHES]
ALL += [one for one in SOME if one not in ALL]


def named(one):
    return " ".join([*map(str, one[0].values()), shown(one[1])])


SIZES = {one: [ODD[place % 5]] for place, one in enumerate(map(named, ALL))}
SIZES |= {one: [*SIZES[one], ODD[place % 5 - 3]] for place, one in enumerate(map(named, SOME))}
"""A size for each form and rule in turn, for some two: kernels are compiled for each of them."""
SIZED = [(one, size) for one in ALL for size in SIZES[named(one)]]
FIRST = [(one, SIZES[named(one)][1]) for one in SOME]


@pytest.mark.parametrize(
    ("one", "size"),
    thorough_but(FIRST, SIZED, 2),
    ids=lambda of: named(of) if isinstance(of[0], dict) else f"{of[0]} x {of[1]}",
)
def test_every_odd_size(device, one, size):
    """Two plates at once; numbers of steps that are no multiple of those of a launch."""
    rule, (variant, launch) = one
    rows, columns = size
    config = config_of(
        rows=rows, columns=columns, conductor=BARS if min(rows, columns) > 5 else "none",
        border=(1.0, -0.5, 0.25, 2.0), steps=29, check_every=11, record={"series": 13}, **rule,
    )  # fmt: skip
    expected = {name: np.repeat(array, 2, 0) for name, array in after(config).items()}
    form = config.model_copy(update={"variant": variant})
    same(after(form, device, copies=2, **launch), expected)


STRIPS = in_turn([3, 1, 2, 8, 200], ["jacobi", "heat", "sor"], 1)


@pytest.mark.parametrize(("strip", "method"), thorough_but(STRIPS[:1], STRIPS, 2))
def test_every_length_of_strips(device, strip, method):
    """Rows that a work-item of the form `rows` takes on a GPU; columns by fours, and one by one."""
    for rows, columns in ((67, 132), (67, 131)):
        config = config_of(
            rows=rows, columns=columns, conductor="none", border=(1.0, -0.5, 0.25, 2.0),
            steps=12, check_every=5, method=method,
        )  # fmt: skip
        expected = {name: np.repeat(array, 2, 0) for name, array in after(config).items()}
        found = after(config, device, copies=2, gpu=True, work_items=64, macros={"STRIP": strip})
        same(found, expected)


GPU = {"gpu": True, "work_items": 64}


DEPTHS = [*(("single", n) for n in (1, 7, 23, 24)), *(("double", n) for n in (1, 9, 12))]


@pytest.mark.parametrize("launch", [{}, GPU], ids=["as it is", "as on a GPU"])
@pytest.mark.parametrize("one", thorough_but([("double", 9)], DEPTHS), ids=str)
def test_every_depth(device, one, launch):
    """Steps of a launch, as many as tiles have room for; rows that begin at fours, and others."""
    precision, depth = one
    config = config_of(
        rows=67, columns=132 - (depth + bool(launch)) % 2, conductor=BARS,
        border=(1.0, -0.5, 0.25, 2.0), steps=52, check_every=100, precision=precision,
        record={"series": 100},
    )  # fmt: skip
    form = config.model_copy(update={"variant": "deep", "depth": depth})
    expected = {name: np.repeat(array, 2, 0) for name, array in after(config).items()}
    same(after(form, device, copies=2, **launch), expected)
