"""Do all ways to find pairs give the same bits, whatever the launch, wherever atoms are?"""

from dataclasses import replace

import numpy as np
import pytest
from marks import in_turn, thorough_but
from md_boxes import VARIANTS, after, crystal, different, engine, placed

from reference_py.physics.molecular_dynamics import box as boxes
from reference_py.physics.molecular_dynamics.neighbours import neighbours
from reference_py.physics.molecular_dynamics.parameters import NONE
from reference_py.physics.molecular_dynamics.place import place_atoms
from societies.physics.molecular_dynamics import PART, WIDTH

LAUNCHES = {"as on a CPU": {}} | {
    f"as on a GPU, {n} work-items": {"gpu": True, "work_items": n} for n in (1, 5, 64, 256)
}
QUICK = ("as on a CPU", "as on a GPU, 5 work-items")
LONG = dict(in_turn(VARIANTS, [launch for launch in LAUNCHES if launch not in QUICK], 1))
"""In the thorough tests the variants take turns with other numbers of work-items."""


def launches(name):
    quick = QUICK if name in ("list", "particle") else QUICK[:1]
    return [
        pytest.param(name, launch, marks=[] if launch in quick else [pytest.mark.thorough])
        for launch in (*QUICK, LONG[name])
    ]


@pytest.fixture(scope="module")
def two_boxes():
    """Return parameters, and what the reference makes of them."""
    p = crystal(4, 0.4, cutoff=2.0, skin=0.2, rescaled=4, dt=0.005)
    return p, after(p, 10, copies=2, first=3)


@pytest.mark.parametrize(("variant", "launch"), [one for v in VARIANTS for one in launches(v)])
def test_all_variants_have_the_bits_of_the_reference(device, variant, launch, two_boxes):
    """Two boxes, of which the first is not box 0; forces add up to 0 exactly."""
    p, expected = two_boxes
    found = after(replace(p, variant=variant), 10, device, copies=2, first=3, **LAUNCHES[launch])
    assert different(expected, found) == []
    assert (found["F"].sum(axis=1) == 0).all()
    assert (found["F"] != 0).any()


def awkward(number, precision):
    """Return atoms at random and on the faces of cells, of odd numbers and crowded cells."""
    rng = np.random.default_rng(number)
    cells = int(rng.integers(3, 7))
    num = np.float32 if precision == "single" else np.float64
    length = float(num(cells * 1.0001 * 2.5 * rng.uniform(1.0, 1.2)))
    last = float(np.nextafter(num(length), num(0)))
    grid = np.stack(np.meshgrid(*[np.arange(0, length - 1.2, 1.25)] * 3), -1).reshape(-1, 3)
    x = grid[rng.permutation(len(grid))[: rng.integers(40, 200)]]
    x = x + rng.uniform(-0.1, 0.1, x.shape)
    faces = rng.random(x.shape) < 0.2
    x = np.where(faces, np.round(x * cells / length) * length / cells, x)
    x = np.where(rng.random(x.shape) < 0.05, rng.choice([0.0, last, -1e-9, length], x.shape), x)
    near = np.abs(x[:, None] - x[None])
    near = np.minimum(near, np.abs(near - length))
    r = np.sqrt((near**2).sum(-1)) + 9 * np.eye(len(x))
    keep = [i for i in range(len(x)) if (r[i, :i] > 0.75).all()]
    return placed(
        x[keep], length, speeds=rng.normal(size=(len(keep), 3)), precision=precision, dt=0.002,
        skin=0.01,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "precision"),
    thorough_but([(0, "double")], in_turn(range(6), ["double", "single"], 1), 2),
)
def test_atoms_anywhere(device, number, precision):
    """On faces of cells, at 0 and just below the length of the box, and outside before a step."""
    p = awkward(number, precision)
    expected = after(p, 3)
    assert (expected["overlap"] == NONE).all()
    for variant in VARIANTS[1:]:
        one = replace(p, variant=variant)
        assert one.cells >= 3
        assert different(expected, after(one, 3, device)) == [], variant


@pytest.mark.parametrize(
    "gpu", thorough_but([True], [False, True]), ids=["as on a CPU", "as on a GPU"]
)
def test_a_crowd_in_one_cell(device, gpu):
    """More atoms near each other than a list has room for; all others are far away."""
    side = np.arange(6) * 0.68
    x = np.stack(np.meshgrid(side, side, side), -1).reshape(-1, 3) + 4.0
    p = placed(x, 40.0, precision="single", variant="list", dt=1e-5)
    expected = after(replace(p, variant="all_pairs"), 2)
    made = engine(p, device, gpu=gpu)
    room = made.run_step.memory["list"].shape[-1]
    assert made.run_step.memory["lengths"].get().max() >= room
    made.run_ticks(1, 2)
    made.finish()
    assert different(expected, made.state()) == []
    assert different(expected, after(replace(p, variant="cell"), 2, device, gpu=gpu)) == []


def listed_at(memory, place):
    """Return the list of a place on a CPU: a column of its slice (slices.cl)."""
    width = WIDTH["single"]
    widths, part = memory["widths"][0] >> 1, place // PART
    parts = memory["list"][0].reshape(-1, (PART + width) * memory["list"].shape[-1])
    before = widths[part * PART // width : place // width].sum() * width
    own = parts[part, before:][: widths[place // width] * width]
    return own.reshape(-1, width)[:, place % width]


def stepped(p, steps, device=None, **more):
    """Return the state after some steps of which no energies were computed."""
    made = engine(replace(p, series_every=1000), device, **more)
    made.run_ticks(1, steps)
    state = made.state()
    return {name: state[name] for name in ("x", "v", "F", "overlap")}


FORMS = [
    ("single", False, "plain"),
    ("double", False, "shifted_force"),
    ("single", True, "plain"),
    ("single", False, "shifted_force"),
    ("double", False, "plain"),
    ("single", True, "shifted_force"),
]


@pytest.mark.parametrize(("precision", "gpu", "form"), thorough_but(FORMS[:3], FORMS, 3))
def test_forces_without_energies(device, precision, gpu, form):
    """They are taken another way; terms that are ties of rounding are among them."""
    p = crystal(4, 0.4, cutoff=2.0, skin=0.2, dt=0.005, precision=precision, form=form)
    expected = stepped(p, 8)
    assert (expected["overlap"] == NONE).all()
    assert different(expected, stepped(replace(p, variant="list"), 8, device, gpu=gpu)) == []


@pytest.mark.parametrize(
    ("precision", "nearest", "gpu"),
    [
        ("single", 0.57, False),
        pytest.param("double", 0.57, False, marks=pytest.mark.thorough),
        pytest.param("single", 0.48, True, marks=pytest.mark.thorough),
    ],
    ids=["single", "double", "single, as on a GPU"],
)
def test_pairs_at_all_distances(device, precision, nearest, gpu):
    """From a force of more than 2^51 units on; every slice of lists has pairs that are close."""
    rng = np.random.default_rng(5)
    grid = np.stack(np.meshgrid(*[np.arange(1.0, 16.0, 3.5)] * 3), -1).reshape(-1, 3)
    way = rng.normal(size=grid.shape)
    way /= np.sqrt((way**2).sum(axis=1, keepdims=True))
    apart = np.linspace(nearest, 1.1, len(grid))[:, None]
    x = np.concatenate([grid, grid + apart * way])[rng.permutation(2 * len(grid))]
    p = placed(x, 18.0, precision=precision, dt=1e-5, speeds=rng.normal(size=x.shape))
    expected = stepped(p, 3)
    assert (expected["overlap"] == NONE).all()
    assert np.abs(expected["F"]).max() > 2**51
    assert different(expected, stepped(replace(p, variant="list"), 3, device, gpu=gpu)) == []


def test_cells_and_lists_hold_what_they_should(device):
    p = crystal(4, 0.4, cutoff=2.0, variant="list")
    made = engine(p, device)
    memory = {name: array.get() for name, array in made.run_step.memory.items()}
    x = boxes.wrapped(p, boxes.positions(p))
    order, home = memory["order"][0].tolist(), memory["cell"][0].tolist()
    for cell, atoms in enumerate(place_atoms(p, x)):
        assert atoms == {atom for atom, own in enumerate(home) if own == cell}
    assert [home[atom] for atom in order] == sorted(home)
    for place in range(0, p.atoms, 7):
        length = int(memory["lengths"][0, place])
        if device.kind == "cpu":
            listed = listed_at(memory, place)[:length] // (4 * x.itemsize)  # bytes of a place
            assert {order[other] for other in listed} == neighbours(p, x, order[place])
    assert memory["lengths"].min() > 0


def test_lists_are_made_again_when_atoms_have_moved(device):
    """And only then: a list that were never made again would miss pairs."""
    p = crystal(4, 0.4, cutoff=2.0, variant="list", dt=0.005, skin=0.3)
    made = engine(p, device)
    built = made.run_step.memory["built"]
    before, changed = built.get(), []
    for step in range(1, 31):
        made.run_ticks(step, step)
        now = built.get()
        changed.append(not np.array_equal(now, before))
        before = now
    assert 2 <= sum(changed) <= 15
    made.finish()
    assert different(after(replace(p, variant="all_pairs"), 30), made.state()) == []
