"""What `societies info` says of whole, unfinished, damaged and foreign files."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from societies.errors import OutputError
from societies.output import Column, Coordinate, EventTable, ResultFile, Variable, inspect
from societies.output.layout import declare
from societies.output.stored_seal import MAGIC
from societies.output.trailing import add_hash

COPIES, STEPS = 3, 8
DECLARED = {
    "coordinates": [
        Coordinate("plate", np.arange(COPIES)),
        Coordinate("step", np.arange(1, STEPS + 1), "step"),
    ],
    "variables": [
        Variable("change", ("plate", "step"), np.float64, "K", "largest change"),
        Variable("cells", ("plate", "step"), np.int32, "cells", "cells that changed"),
        Variable("newest", ("plate",), np.int32, "1", "as of now", -1),
    ],
    "tables": [EventTable("swaps", (Column("step", "int64", "", "when"),), 6)],
    "attributes": {"title": "a plate", "workload": "laplace", "seed": 7},
    "state": {"t": ((COPIES, 4), np.float64)},
    "clock": "step",
    "copies": "plate",
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.h5"
    with ResultFile.create(path, declare(**DECLARED)) as file:
        for step in range(1, 6):
            file.write("change", np.full(COPIES, 1.0 / step), step=step - 1)
            file.write("cells", np.full(COPIES, step, np.int32), step=step - 1)
            file.append("swaps", {"step": np.full(step % 2, step)})
            file.write("newest", np.full(COPIES, step, np.int32))
            file.commit(step)
        file.checkpoint(5, {"t": np.full((COPIES, 4), 5.0)})
        file.log_session("from step 1 | a test")
    return path


def flipped(path, name, byte):
    with h5py.File(path) as file:
        at = file[name].id.get_offset() + byte
    content = bytearray(path.read_bytes())
    content[at] ^= 0x20
    path.write_bytes(content)


def test_a_file_says_what_it_is(path, shell):
    code, out, err = shell("info", str(path), "--check")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    for line in (
        "title a plate",
        "workload laplace",
        "state unfinished: complete up to step 5 of 8",
        "checkpoints of step 5",
        "variables change, cells, newest",
        "events 'swaps' 3",
        "written from step 1 | a test",
        "checksums as written, all of it",
    ):
        assert line in lines, out


@pytest.mark.parametrize(
    ("name", "byte", "says"),
    [
        ("change", 8 * (STEPS + 2), "'change', step 3, bytes"),
        ("cells", 4, "'cells', step 2, bytes"),
        ("newest", 2, "'newest', bytes"),
        ("events/swaps/step", 9, "events 'swaps', row 1, bytes"),
        ("ticks_committed", 1, "counter of complete steps, which says 8197, bytes"),
        ("checkpoint/0/state/t", 17, "checkpoint 0, of step 5, bytes"),
        ("checksums/change", 6, "'change', step 2, bytes"),
        ("provenance/sessions", 3, "record 0 of provenance/sessions, bytes"),
        ("provenance/sessions", 20 * 1024, "records 1 to 20 of provenance/sessions, bytes"),
        ("step", 16, "coordinate 'step', bytes"),
        ("provenance/seal/0", 30, "one of two seals (checksums), bytes"),
        ("provenance/seal/1", 30, "one of two seals (checksums), bytes"),
    ],
)
def test_what_is_damaged_and_where_and_what_is_good(path, shell, name, byte, says):
    flipped(path, name, byte)
    code, _, err = shell("info", str(path), "--check")
    assert code == 4
    damage, good = err.splitlines()
    assert damage.startswith(f"{path}: damaged: {says}"), err
    assert good.startswith("Still good: ") and "steps 1 to 5" in good, err
    count = 2 if "change" in name or name in ("cells", "newest") else 3
    assert f"{count} of 3 variables" in good
    assert ("checkpoint of step 5" in good) == ("checkpoint" not in name)


def test_a_name_or_an_attribute_is_damaged(path):
    content = path.read_bytes()
    path.write_bytes(content.replace(b"largest change", b"largest chance"))
    (damage,) = inspect(path).damages
    assert damage.what == "structure (names, attributes)"
    with pytest.raises(OutputError, match="damaged: structure"):
        ResultFile.resume(path)


def test_a_file_that_hdf5_cannot_open_is_still_recognised(path, shell):
    content = bytearray(path.read_bytes())
    content[:512] = bytes(512)
    path.write_bytes(content)
    with pytest.raises(OSError):
        h5py.File(path)
    code, out, err = shell("info", str(path))
    assert code == 4 and "a plate" in out
    assert "damaged: structure (names, attributes), bytes 0 to" in err
    assert "Still good: 3 of 3 variables (steps 1 to 5), the events 'swaps', checkpoint of" in err


def test_a_file_that_ends_too_early(path, shell):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    code, out, err = shell("info", str(path), "--check")
    assert code == 4 and "the end of the file is missing" in out
    assert f"bytes instead of {len(content)}" in err and "Still good: " in err


def test_without_seals_nothing_is_certain(path, shell):
    path.write_bytes(path.read_bytes().replace(MAGIC, bytes(len(MAGIC))))
    code, _, err = shell("info", str(path))
    assert code == 4 and "both seals" in err


def test_a_file_of_layout_1(shell):
    old = Path(__file__).resolve().parents[1] / "data" / "files" / "layout-1.h5"
    code, out, err = shell("info", str(old), "--check")
    assert (code, err) == (0, "")
    assert "complete: 12 days" in out and "none in this layout" in out


def test_series_of_a_reproduced_run_are_no_result(tmp_path):
    path = tmp_path / "series.nc"
    with h5py.File(path, "w") as file:
        file["gini"] = np.arange(3.0)
    add_hash(path)
    with pytest.raises(OutputError, match=r"not a result file of societies\. Name a file"):
        inspect(path)
    path.write_bytes(path.read_bytes().replace(b"gini", b"Gini"))
    with pytest.raises(OutputError, match="damaged: its bytes have another checksum"):
        inspect(path)


def test_a_run_that_ends_before_its_last_tick_is_complete(path):
    with ResultFile.resume(path) as file:
        assert file.ended == ""
        file.write("change", np.zeros(COPIES), step=5)
        file.end(6, "change 0 K is at most 1e-06 K")
        assert file.ended == "change 0 K is at most 1e-06 K"
    found = inspect(path, check=True)
    assert found.complete and found.damages == []
    reported = dict(found.rows)["state"]
    assert reported == "complete: ended at step 6 of 8: change 0 K is at most 1e-06 K"
    with ResultFile.resume(path) as file:
        assert (file.ticks_committed, file.ended) == (6, "change 0 K is at most 1e-06 K")


@pytest.mark.ci
def test_a_file_that_is_being_written_is_not_called_damaged(tmp_path):
    program = """
import sys, itertools, numpy as np
sys.path.insert(0, sys.argv[2])
from test_inspection import DECLARED, COPIES, STEPS
from societies.output import ResultFile
from societies.output.layout import declare
with ResultFile.create(sys.argv[1], declare(**DECLARED)) as file:
    print("made", flush=True)
    for step in range(1, STEPS + 1):
        for again in range(30):
            file.write("change", np.full(COPIES, 1.0 / step), step=step - 1)
            file.write("newest", np.full(COPIES, 30 * step + again, np.int32))
            file.commit(step)
            file.checkpoint(step, {"t": np.full((COPIES, 4), float(step))}, step)
    print("done", flush=True)
    sys.stdin.readline()
"""
    path = tmp_path / "live.h5"
    command = [sys.executable, "-c", program, path, str(Path(__file__).parent)]
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as writer:
        assert writer.stdout.readline() == b"made\n"
        for _ in range(15):
            found = inspect(path, check=True)
            assert found.damages == [], found.damages
        writer.stdout.readline()
        writer.stdin.close()
    assert inspect(path, check=True).complete
