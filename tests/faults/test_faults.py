"""The short forms of the fault scripts: some of each on every run of the suite.

The scripts next to this one run them at length; their summaries are in README.md.
"""

import os
from pathlib import Path

import configurations_at_random
import files_at_random
import pytest
import societies_at_random
import tables_at_random
import variants_at_random
from flips import flip_bytes, make_files, make_studies
from kills import COMMANDS, kill, stop_some
from swaps import make_pairs, swap_pieces

SEED = int(os.environ.get("SOCIETIES_TEST_SEED", "20240611"))

STORED = Path(__file__).parents[1] / "data/files/study-layout-3.h5"

IN_TURN = {
    "TERM": ("run", "sweep"),
    "INT": ("run of steps", "fan"),
    "HUP": ("irf", "calibrate"),
    "KILL": ("run of games", "sweep in batches"),
}
"""Commands that a signal ends; by hundreds in `kills.py --signal`."""

SMALL = (18,)
"""Seeds of societies that are quickly compared; in them people trade and sell devices."""


@pytest.mark.thorough
@pytest.mark.parametrize("make", [make_files, make_studies])
def test_no_flipped_byte_is_silently_wrong(tmp_path, make):
    for number, path in enumerate(make(tmp_path)):
        outcomes, wrong = flip_bytes(path, 12, SEED + number)
        assert wrong == []
        assert outcomes["reported"] >= 4, outcomes


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["runs", "studies"])
def test_nothing_that_is_moved_is_silently_wrong(tmp_path, what):
    for number, (path, other) in enumerate(make_pairs(tmp_path, what)):
        outcomes, wrong = swap_pieces(path, 12, SEED + number, other)
        assert wrong == []
        assert outcomes["reported"] >= 8, outcomes


def test_nothing_that_is_moved_in_a_study_is_silently_wrong(tmp_path):
    path = tmp_path / "study.h5"
    path.write_bytes(STORED.read_bytes())
    outcomes, wrong = swap_pieces(path, 6, SEED)
    assert wrong == []
    assert outcomes["reported"] >= 4, outcomes


@pytest.mark.parametrize("kind", variants_at_random.KINDS)
def test_a_file_of_another_program_is_read_as_it_is_meant(tmp_path, kind):
    outcomes, wrong = variants_at_random.compare(kind, 200, 1, tmp_path)
    assert wrong == []
    assert min(outcomes["read"], outcomes["refused"]) > 15, outcomes


@pytest.mark.ci
def test_a_kill_at_any_moment_leaves_a_consistent_file(tmp_path):
    seen, wrong = kill(6, SEED, tmp_path)
    assert wrong == []
    assert seen["kills"] >= 6 and seen["came through"] >= 1


@pytest.mark.ci
@pytest.mark.parametrize(
    "name", ["TERM", *(pytest.param(one, marks=pytest.mark.thorough) for one in [*IN_TURN][1:])]
)
def test_a_command_that_a_signal_stopped_continues_to_the_same_file(name):
    seen, wrong = stop_some(name, [[*COMMANDS].index(one) for one in IN_TURN[name]], SEED)
    assert wrong == []
    assert seen.total() == 2


def test_every_broken_configuration_is_refused_in_plain_words(tmp_path):
    outcomes, wrong = configurations_at_random.fuzz(tmp_path, 250, seed=2)
    assert wrong == []
    assert outcomes["refused"] > 100
    assert outcomes["valid"] > 5


def test_every_broken_table_is_read_right_or_refused_in_plain_words(tmp_path):
    outcomes, wrong = tables_at_random.fuzz(tmp_path, 250, seed=2)
    assert wrong == []
    assert outcomes["refused"] > 80
    assert outcomes["read"] > 80


@pytest.mark.thorough
def test_societies_at_random_are_the_same_on_device_and_reference():
    found = [societies_at_random.compare(seed, "auto") for seed in SMALL]
    assert {one["difference"] for one in found} == {""}
    assert all("refused" not in one for one in found)
    assert any(one["trades"] for one in found)
    assert any(one["sales"] for one in found)


@pytest.mark.thorough
def test_a_society_at_random_is_the_same_in_the_form_for_gpus():
    """With more work-items than resources; of the size with which PoCL was wrong."""
    (seed,) = SMALL
    found = societies_at_random.compare(seed, "auto", 16)
    assert found["difference"] == "" and found["sales"] and found["resources"] < 16


@pytest.mark.parametrize("kind", ["sgf", "xyz", "pictures"])
def test_every_broken_file_is_read_right_or_refused(tmp_path, kind):
    outcomes, wrong = files_at_random.fuzz(kind, 150, SEED, tmp_path)
    assert wrong == []
    assert outcomes["refused"] > 50 and outcomes["read"] > 15
