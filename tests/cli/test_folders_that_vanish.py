"""What does a command say if a folder that it needs is missing, was removed, or is a file?"""

import os
import sys

import pytest

from societies.errors import OutputError
from societies.output.files import MAKING, READING, explained


@pytest.mark.skipif(sys.platform == "win32", reason="the current folder cannot be removed there")
def test_the_current_folder_was_removed(tmp_path, monkeypatch, shell):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    os.rmdir(gone)
    code, _, err = shell("capture", "economy/quickstart", "--phase", "extraction")
    said = "the current folder no longer exists; change to another folder\n"
    assert (code, err) == (4, said)


def test_a_file_that_hdf5_cannot_make_is_not_called_damaged(tmp_path):
    """A sweep's parts were merged into a folder that had been removed."""
    path = tmp_path / "m.h5"
    says = "Unable to synchronously create file (can't retrieve stat info for file)"
    expected = f"{path}: cannot write here ({says}). Choose another place with the argument out."
    with pytest.raises(OutputError) as found, explained(path, MAKING):
        raise RuntimeError(says)
    assert str(found.value) == expected
    with pytest.raises(OutputError, match="not a result file"), explained(path, READING):
        raise RuntimeError("Unable to synchronously open file")


def test_figures_cannot_be_reproduced_below_a_file(tmp_path, shell):
    (tmp_path / "file").write_text("")
    code, _, err = shell("reproduce", "7", "--small", "--out", str(tmp_path / "file" / "runs"))
    assert code == 4
    assert err.endswith("cannot write here: Not a directory. Choose another place with --out.\n")
