"""Does a full disk refuse a study before it begins, and never harm an existing one?"""

import os

import pytest
from studies import SWEEP, same, without_room_for_events

from societies import sweep
from societies.errors import OutputError

pytestmark = [pytest.mark.mount, pytest.mark.xdist_group("sweeps")]

LARGE = 2000
"""Replicates of a study that no small disk holds."""


def fill(disk, leave=0):
    """Write a file until the disk is full, or has a number of bytes left."""
    with pytest.raises(OSError), (disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
    if leave:
        os.truncate(disk / "filler", (disk / "filler").stat().st_size - leave)


def test_a_study_that_has_no_room_is_refused_and_replaces_nothing(small_disk):
    fill(small_disk, 60_000)
    path = small_disk / "s.h5"
    path.write_bytes(b"precious")
    with pytest.raises(OutputError, match=r"s\.h5: .*(disk|free|room)") as caught:
        sweep.run(SWEEP, out=path, device="reference", overwrite=True)
    assert len(str(caught.value).splitlines()) <= 2
    assert path.read_bytes() == b"precious" and sorted(os.listdir(small_disk)) == ["filler", "s.h5"]


@pytest.mark.ci
def test_a_study_that_has_begun_ends_on_a_disk_that_is_full(small_disk, tmp_path):
    path = small_disk / "s.h5"
    sweep.run(
        SWEEP,
        out=path,
        device="reference",
        batch=6,
        progress=lambda now: now.done or fill(small_disk),
    )
    sweep.run(SWEEP, out=tmp_path / "straight.h5", device="reference")
    same(path, tmp_path / "straight.h5")


def test_a_study_that_has_no_room_to_grow_stays_as_it_is(small_disk):
    path = small_disk / "s.h5"
    sweep.run(SWEEP, out=path, device="reference")
    content = path.read_bytes()
    with pytest.raises(OutputError, match=r"s\.h5: .*(disk|free|room)") as caught:
        sweep.run(SWEEP, out=path, device="reference", resume=True, replicates=LARGE)
    assert len(str(caught.value).splitlines()) <= 2, caught.value
    assert path.read_bytes() == content and os.listdir(small_disk) == ["s.h5"]
    assert sweep.run(SWEEP, out=path, device="reference", resume=True).computed == 0


@pytest.mark.ci
def test_a_table_of_events_that_cannot_become_longer_loses_nothing(
    small_disk, tmp_path, monkeypatch
):
    """The file is made again for it, and the disk is full by then."""
    without_room_for_events(monkeypatch)
    path = small_disk / "s.h5"
    with pytest.raises(OutputError, match=r"s\.h5: .*(disk|free|room)") as caught:
        sweep.run(
            SWEEP,
            out=path,
            device="reference",
            batch=2,
            progress=lambda now: now.done or fill(small_disk),
        )
    assert len(str(caught.value).splitlines()) <= 2, caught.value
    os.unlink(small_disk / "filler")
    assert os.listdir(small_disk) == ["s.h5"]
    assert sweep.run(SWEEP, out=path, device="reference", resume=True).done == 24
    sweep.run(SWEEP, out=tmp_path / "straight.h5", device="reference")
    same(path, tmp_path / "straight.h5")
