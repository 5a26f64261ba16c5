"""Sizes of a study's batches, on devices whose batches take a fixed time and some for each run."""

import pytest

from societies.sweep.batch_sizes import FIRST_BATCH, LONGEST, SECONDS_OF_BATCH, BatchSizes


def batches(fixed, each, count, noise=1.0):
    """Sizes and seconds of the first batches, every second one slower by a factor."""
    pace, found = BatchSizes(), []
    for number in range(count):
        size = pace.size
        seconds = (fixed + each * size) * (noise if number % 2 else 1.0)
        found.append((size, seconds))
        pace.add(size, seconds)
    return found


def test_the_first_batch_is_small():
    assert BatchSizes().size == FIRST_BATCH


@pytest.mark.parametrize("fixed", [4.0, 8.0, 20.0, 28.0])
def test_a_gpu_gets_batches_whose_fixed_part_is_a_quarter(fixed):
    """With 20 s of fixed time, batches had 30 runs for ever: each took ten times its share."""
    seconds = batches(fixed, 0.03, 8)[-1][1]
    assert fixed / seconds == pytest.approx(max(0.25, fixed / LONGEST), rel=0.1)
    assert seconds < LONGEST * 1.05


def test_a_fixed_part_of_minutes_is_at_most_half():
    assert batches(100.0, 0.1, 8)[-1][1] == pytest.approx(200.0, rel=0.1)


def test_time_that_does_not_grow_at_all_gives_the_largest_batches():
    sizes = [size for size, _ in batches(20.0, 0.0, 6)]
    assert sizes[-1] == 1 << 16


@pytest.mark.parametrize("each", [1e-4, 0.01, 0.36, 3.0])
@pytest.mark.parametrize("noise", [0.8, 1.0, 1.2])
def test_batches_of_a_cpu_take_as_long_as_intended(each, noise):
    for _, seconds in batches(0.0, each, 12, noise)[4:]:
        assert 0.3 * SECONDS_OF_BATCH < seconds < 2.5 * SECONDS_OF_BATCH or each == 1e-4
