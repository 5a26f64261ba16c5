"""Have all forms of a step the same bits, also several steps in one launch? Does sor converge?"""

import numpy as np
import pytest
from marks import thorough_but

from societies.physics.laplace import DEPTH, WORKLOAD
from societies.physics.laplace.config import LaplaceConfig
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

BARS = ({"rows": (2, 3), "columns": (2, 4)}, {"rows": (3, 4), "columns": (4, 4), "value": -2})


def config_of(**settings):
    return LaplaceConfig(workload="laplace", **settings)


def ran(config, device=None, copies=1, **more):
    """Return the state after the whole run."""
    p = WORKLOAD.parameters(config)
    if device is None:
        engine = ReferenceEngine(WORKLOAD, p, copies=copies)
    else:
        engine = DeviceEngine(WORKLOAD, p, device, copies=copies, **more)
    engine.start()
    for first in range(1, WORKLOAD.ticks(config) + 1, 50):
        engine.run_ticks(first, min(first + 49, WORKLOAD.ticks(config)))
        if engine.ended() is not None:
            break
    engine.finish()
    return engine.state()


def same(found, expected):
    for name in ("phi", "change", "ended", "sum", "residual"):
        assert found[name].tobytes() == expected[name].tobytes(), name


SIZES = [(17, 17), (200, 200), (333, 333), (120, 5)]


@pytest.mark.parametrize("shape", thorough_but([(200, 200)], SIZES))
@pytest.mark.parametrize("variant", ["tiled", "deep"])
def test_tiles(device, variant, shape):
    """Steps whose number is no multiple of a launch's, on plates smaller and larger than tiles."""
    rows, columns = shape
    bars = BARS if min(shape) > 5 else "none"
    edges = (1.0, -0.5, 0.25, 2.0)
    common = {"rows": rows, "columns": columns, "conductor": bars, "border": edges, "steps": 29}
    for settings in ({}, {"method": "heat", "ratio": 0.2, "precision": "double"}):
        often = {"check_every": 11, "record": {"series": 13}}
        config = config_of(variant=variant, **settings, **common, **often)
        expected = ran(config_of(**settings, **common, **often))
        same(ran(config, device, copies=2), {k: np.repeat(v, 2, 0) for k, v in expected.items()})


@pytest.mark.parametrize("variant", thorough_but(["deep"], ["tiled", "deep", "seed"]))
def test_the_end_is_found_at_the_same_step(device, variant):
    common = {"side": 32, "tolerance": 4e-3, "steps": 400, "check_every": 10}
    expected = ran(config_of(**common))
    assert 0 < expected["ended"][0] < 400
    same(ran(config_of(variant=variant, **common), device), expected)


def test_a_launch_of_several_steps_ends_where_something_is_looked_at():
    config = config_of(side=9, steps=47, check_every=20, variant="deep", record={"detail": 9})
    p = WORKLOAD.parameters(config)
    made, done = [], 0
    for tick in range(1, 48):
        for step in WORKLOAD.schedule(p, tick, {}):
            if step.phase in ("sweep", "deep"):
                steps = step.arguments.get("steps", 1)
                assert 1 <= steps <= DEPTH["deep"]
                done += steps
                made.append(tick)
                assert done == tick, "a step is left out, or made twice"
    assert done == 47
    assert {9, 18, 19, 20, 27, 36, 39, 40, 45, 47} <= set(made)
    assert len(made) < 20


@pytest.mark.parametrize("depth", [1, 8, 24])
@pytest.mark.parametrize("detail", [0, 9])
def test_no_tick_with_steps_is_left_out(depth, detail):
    config = config_of(
        side=9, steps=97, check_every=20, variant="deep", depth=depth,
        record={"series": 15, "detail": detail},
    )  # fmt: skip
    p = WORKLOAD.parameters(config)
    busy = [tick for tick in range(1, 98) if [*WORKLOAD.schedule(p, tick, {})]]
    for first, last in ((1, 97), (1, 50), (23, 61), (40, 40)):
        expected = [tick for tick in busy if first <= tick <= last]
        assert [*WORKLOAD.busy(p, first, last)] == expected


@pytest.mark.parametrize("items", thorough_but([5], [1, 5, 64, 256]))
def test_every_workgroup(device, items):
    for settings in ({"variant": "deep"}, {"method": "sor", "omega": 1.5}):
        config = config_of(side=21, steps=9, **settings)
        same(ran(config, device, work_items=items), ran(config))


@pytest.mark.parametrize("shape", thorough_but([(17, 24)], [(6, 6), (17, 24), (3, 70), (64, 64)]))
@pytest.mark.parametrize("precision", ["single", "double"])
def test_over_relaxation(device, shape, precision):
    rows, columns = shape
    bars = BARS if min(shape) > 5 else "none"
    config = config_of(
        rows=rows, columns=columns, conductor=bars, border=(1.0, 0.5, 0.25, -1.0), steps=21,
        method="sor", precision=precision, check_every=4,
    )  # fmt: skip
    same(ran(config, device, copies=2), {k: np.repeat(v, 2, 0) for k, v in ran(config).items()})


@pytest.mark.parametrize("method", thorough_but(["sor"], ["sor", "jacobi"]))
def test_the_solution_is_that_of_sparse_matrices(device, method):
    sparse = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    config = config_of(
        side=24, method=method, precision="double", tolerance=1e-14, steps=20_000, check_every=20
    )
    state = ran(config, device)
    p = WORKLOAD.parameters(config)
    held = WORKLOAD.fields(p)["phi"].initial(p)
    free = WORKLOAD.fields(p)["free"].initial(p)
    number = np.full(free.shape, -1)
    number[free] = np.arange(free.sum())
    system, right = sparse.lil_matrix((free.sum(), free.sum())), np.zeros(free.sum())
    for row, column in np.argwhere(free):
        at = number[row, column]
        system[at, at] = 4.0
        for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if free[r, c]:
                system[at, number[r, c]] = -1.0
            else:
                right[at] += held[r, c]
    solved = linalg.spsolve(system.tocsc(), right)
    assert abs(state["phi"][0][free] - solved).max() < 1e-12
    assert state["ended"][0] > 0 and state["residual"][0] < 1e-11


def test_over_relaxation_takes_the_fewest_steps(device):
    common = {"side": 40, "tolerance": 1e-6, "steps": 5000, "check_every": 5}
    steps = {
        method: int(ran(config_of(method=method, **common), device)["ended"][0])
        for method in ("sor", "jacobi")
    }
    assert 0 < 15 * steps["sor"] < steps["jacobi"]
    assert config_of(method="sor", side=40, steps=1).relaxation == pytest.approx(
        2 / (1 + np.sin(np.pi / 39)), rel=1e-11
    )


@pytest.mark.parametrize(
    ("message", "settings"),
    [
        ("jacobi has no omega", {"omega": 1.5}),
        ("sor has no form deep", {"method": "sor", "variant": "deep"}),
        ("the form rows has no depth", {"depth": 4}),
        ("24 or less|less than or equal to 24", {"variant": "deep", "depth": 25}),
        ("more than the 12", {"variant": "deep", "depth": 13, "precision": "double"}),
        ("less than 2", {"method": "sor", "omega": 2.0}),
        ("greater than 0", {"method": "sor", "omega": 0.0}),
    ],
)
def test_nonsense_is_refused(message, settings):
    with pytest.raises(ValueError, match=message):
        config_of(side=20, steps=1, **settings)
