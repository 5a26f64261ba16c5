"""Is a picture the same to the bit in every form, with every tile, workgroup and launch?"""

from dataclasses import replace

import numpy as np
import pytest
from marks import thorough_but
from raytracer_scenes import (
    WHITTED,
    frame,
    picture_at_random,
    picture_of_a,
    same,
    seed_picture,
)

from societies.physics.raytracer import WORKLOAD, traced
from societies.physics.raytracer.layout import layout, morton
from societies.workload.running.engines import DeviceEngine


@pytest.mark.parametrize(
    "number",
    [pytest.param(i, marks=[] if i < 4 else [pytest.mark.thorough]) for i in range(200)],
)
def test_random_scenes(device, number):
    """Scattered, touching, nested, equal and huge spheres; rays that follow the axes."""
    p = picture_at_random(number)
    expected = frame(p)
    for form in ("brute", "tree"):
        assert same(frame(replace(p, form=form), device), expected), form


@pytest.mark.parametrize("form", ["brute", "tree"])
@pytest.mark.parametrize("work_items", thorough_but([3, 256], [1, 3, 32, 256]))
def test_the_workgroup_changes_nothing(device, work_items, form):
    p = replace(picture_of_a(24, 16, 2, 6), form=form)
    assert same(frame(p, device, work_items=work_items), frame(p))


@pytest.mark.parametrize("tile", thorough_but([8], [8, 64, 512]))
def test_the_tile_changes_nothing(device, tile):
    """A CPU takes all spheres by eights, with every tile; as on a GPU they go through it."""
    p = replace(seed_picture(4, (-2, 1.5, 2), (-0.5, 1.5, 2.5), 48, 32), tile=tile)
    assert same(as_on_a_gpu(p, device), frame(p))


def as_on_a_gpu(p, device, samples=1):
    """Return the state of kernels that are compiled as for a GPU."""

    class Elsewhere(type(WORKLOAD)):
        def source(self, p):
            source = super().source(p)
            return replace(source, macros={**source.macros, "DEVICE_IS_CPU": False})

    p = replace(p, float_image=True)
    engine = DeviceEngine(Elsewhere(), p, device)
    engine.start()
    engine.run_ticks(1, samples)
    return {name: array[0] for name, array in engine.state().items()}


@pytest.mark.parametrize("form", ["brute", "tree"])
@pytest.mark.parametrize("number", thorough_but([0, 5], [0, 2, 4, 5]))
def test_as_on_a_gpu(device, number, form):
    """Seed shading takes spheres through local memory in it, and boxes are met one by one."""
    p = replace(picture_at_random(number), form=form)
    assert same(as_on_a_gpu(p, device, p.samples), frame(p))


@pytest.mark.parametrize("rows", [1, 5, 16])
def test_launches_change_nothing(device, rows):
    p = replace(picture_of_a(24, 16, 1, 4), float_image=True)
    engine = DeviceEngine(WORKLOAD, p, device)
    engine.start()
    for step in traced(p, 0, rows):
        engine.step(step, 1)
    assert engine.state()["sum"].tobytes() == frame(p)["sum"].tobytes()


@pytest.mark.parametrize("side", [2, 3])
def test_a_progressive_picture_ends_as_the_one_shot_picture(device, side):
    """A caller that looks after each sample gets the same picture after the last one as a run.

    One that stops early gets the mean of the samples until then.
    """
    p = replace(picture_of_a(24, 16, side, 3), float_image=True)
    total = np.zeros((16, 24, 3), np.float32)
    engine = DeviceEngine(WORKLOAD, p, device)
    engine.start()
    for number in range(p.samples):
        for step in traced(p, number, 7):
            engine.step(step, number + 1)
        one = engine.state()["sum"][0]
        assert (one != total).any()
        total = one
    assert total.tobytes() == frame(p, device)["sum"].tobytes()
    early = frame(p, device, samples=2)["sum"]
    assert early.tobytes() == frame(p, samples=2)["sum"].tobytes()


def test_every_offset_is_used_once_and_the_first_few_are_spread():
    for side in (1, 2, 3, 5, 32):
        p = replace(WHITTED, side=side)
        offsets = [p.offset(number) for number in range(p.samples)]
        assert len(set(offsets)) == side * side
        assert {type(x) for pair in offsets for x in pair} == {np.float32}
        assert np.mean(offsets) == pytest.approx(0.5)
    assert [p.offset(n)[1] < 0.5 for n in range(2)] == [True, False]


# ---------------------------------------------------------------- the tree


def test_every_sphere_is_in_one_group_below_boxes_that_hold_it():
    rng = np.random.default_rng(5)
    for count in (0, 1, 8, 9, 64, 65, 513):
        spheres = np.column_stack([rng.normal(0, 5, (count, 3)), rng.uniform(0.1, 2, count)])
        spheres = spheres.astype(np.float32)
        made = layout(spheres, tree=True)
        numbers = made.numbers.ravel()
        assert sorted(numbers[numbers >= 0]) == list(range(count))
        for group, row in enumerate(made.numbers):
            for lane, number in enumerate(row):
                x, y, z, square = made.groups[group, :, lane]
                if number < 0:
                    assert square == -np.inf
                    continue
                assert spheres[number].tolist() == [x, y, z, pytest.approx(np.sqrt(square))]
                node = made.first_leaf + group
                while node:
                    of_node = made.bounds[(node - 1) // 8]
                    least = of_node[6]
                    assert least <= spheres[number, 3] and of_node[7] == np.float32(0.5) / least
                    box = made.boxes[(node - 1) // 8, :, (node - 1) % 8]
                    assert (of_node[:3] <= box[:3]).all() and (of_node[3:6] >= box[3:]).all()
                    assert (box[:3] < spheres[number, :3] - spheres[number, 3]).all()
                    assert (box[3:] > spheres[number, :3] + spheres[number, 3]).all()
                    node = (node - 1) // 8


def test_the_order_of_morton_keeps_neighbours_together():
    grid = np.array([(i, j, k) for i in range(8) for j in range(8) for k in range(8)], float)
    blocks = grid[np.argsort(morton(grid))].reshape(-1, 8, 3)
    assert (np.ptp(blocks, axis=1) == 1).all()
    assert len(set(morton(grid).tolist())) == 512


@pytest.mark.parametrize("shading", ["seed", "whitted"])
def test_what_rounding_lets_a_ray_hit_is_not_left_out(device, shading):
    """From afar rays hit what they miss by much; with 0.3 of the margins both pictures differ."""
    p = seed_picture(4, (-2, 1.5, 2), (-0.5, 1.5, 2.5), 32, 32)
    p = replace(p, shading=shading, camera=(-3000.0, 1.5, 1.5), view_width=0.003)
    expected = frame(replace(p, form="brute"), device)
    assert same(frame(replace(p, form="tree"), device), expected)
    assert same(as_on_a_gpu(replace(p, form="tree"), device), expected)
