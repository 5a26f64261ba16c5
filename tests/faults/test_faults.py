"""The short forms of the fault scripts: a few flips and kills on every run of the suite."""

import os

from flips import flip_bytes, make_files
from kills import kill

SEED = int(os.environ.get("SOCIETIES_TEST_SEED", "20240611"))


def test_no_flipped_byte_is_silently_wrong(tmp_path):
    for number, path in enumerate(make_files(tmp_path)):
        outcomes, wrong = flip_bytes(path, 12, SEED + number)
        assert wrong == []
        assert outcomes["told"] >= 4, outcomes


def test_a_kill_at_any_moment_leaves_a_consistent_file(tmp_path):
    seen, wrong = kill(6, SEED, tmp_path)
    assert wrong == []
    assert seen["kills"] >= 6 and seen["came through"] >= 1
