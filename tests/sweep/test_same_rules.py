"""Do the processes that compute a study follow the rules of the one that runs it?"""

from pathlib import Path

import pytest
import yaml
from PIL import Image
from studies import BASE, SWEEP

import societies
from societies import sweep
from societies.errors import OutputError
from societies.output.study_inspection import sweep_of
from societies.sweep import batch, executors, prepare
from societies.sweep.document import load_sweep
from societies.workload.running import programs

MATCH = {"workload": "chess_match", "games": 2, "record": {"checkpoint": 0}}
UCI = [{"kind": "uci", "path": "sh -c false"}, {"kind": "random"}]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Return a sweep of two runs; sources are compared as in a process that computed nothing."""
    monkeypatch.setattr(batch, "_SAME_SOURCES", set())
    return {"base": {**BASE, "days": 1, "record": {}}, "vary": {"grid": {"day_length": [50, 60]}}}


def test_a_process_with_other_sources_is_refused(small, tmp_path, monkeypatch):
    """As a worker is that was installed from another commit under the same version."""
    here = prepare.prepared(load_sweep(small)).sources
    name = next(one for one in here if one.endswith("extraction.py"))
    monkeypatch.setattr(batch, "sources_of", lambda *_: {**here, name: "0" * 12})
    study = tmp_path / "s.h5"
    with pytest.raises(batch.WrongVersion) as error:
        sweep.run(small, out=study, device="reference")
    assert f"another text of the model's source {name} than" in str(error.value)
    assert "0 of 2 runs are done" in str(error.value)
    monkeypatch.undo()
    assert sweep.run(small, out=study, device="reference", resume=True).computed == 2


def test_every_batch_says_by_which_sources_it_was_made(small, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        executors.Here, "submit", lambda here, one: seen.append(one) or submit(here, one)
    )
    sweep.run(small, out=tmp_path / "s.h5", device="reference", batch=1)
    here = prepare.prepared(load_sweep(small)).sources
    assert len(seen) == 2 and all(one.sources == here and len(here) > 20 for one in seen)
    assert seen[0].part(0, 1).on("cpu").sources == here


submit = executors.Here.submit


def test_a_plan_of_a_sweep_lists_the_programs_that_its_points_name(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "list_path", lambda: tmp_path / "programs.txt")
    other = [{"kind": "uci", "path": "sh -c true"}, {"kind": "random"}]
    varied = {"grid": {"players": [UCI, other], "seed": [1, 2]}}
    rows = sweep.plan({"base": MATCH, "vary": varied}, device="reference", time_it=False).rows
    named = [text for label, text in rows if label == "program"]
    assert [text.partition(": ")[2].partition(": ")[0] for text in named] == [
        "sh -c false",
        "sh -c true",
    ]
    assert all(one.endswith("it is not in your list") for one in named)
    rows = sweep.plan(SWEEP, device="reference", time_it=False).rows
    assert "program" not in dict(rows)


def test_a_plan_of_a_run_lists_them_too(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "list_path", lambda: tmp_path / "programs.txt")
    rows = societies.plan(
        societies.config_from_dict({**MATCH, "players": UCI}), device="reference"
    ).rows
    assert "sh -c false: runs only with" in dict(rows)["program"]


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    """Return a sweep over two pictures, in the folder of which it is."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("a.png", "b.png", "c.png")):
        Image.new("L", (8, 6), 50 * number).save(name)
    base = {"workload": "blur", "image": "a.png", "passes": 1}
    return {"base": base, "vary": {"grid": {"image": ["a.png", "b.png"]}}}


def test_a_study_is_continued_from_any_folder_and_with_a_saved_sweep(
    pictures, tmp_path, monkeypatch
):
    """It was called one of another sweep, since paths differed."""
    sweep.run(pictures, out="s.h5", device="reference", part=(1, 2))
    sweep.run(pictures, out="whole.h5", device="reference")
    saved = yaml.safe_load(sweep_of(Path("s.h5")))
    assert saved["base"]["image"] == str(tmp_path / "a.png")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    Image.new("L", (8, 6), 255).save("b.png")  # of the same name, and not the one of the study
    assert sweep.run(saved, out="../s.h5", device="reference", part=(1, 2), resume=True).done == 1
    sweep.run(saved, out="t.h5", device="reference", part=(2, 2))
    sweep.merge(["../s.h5", "t.h5"], "m.h5")
    with societies.open_results("m.h5") as found, societies.open_results("../whole.h5") as wanted:
        assert (found.picture.values == wanted.picture.values).all()


@pytest.mark.parametrize("swapped", [False, True])
def test_a_study_whose_files_have_changed_is_not_continued(pictures, tmp_path, swapped):
    """Runs of two pictures stood in one study without a word."""
    sweep.run(pictures, out="s.h5", device="reference", part=(1, 2))
    (tmp_path / "a.png").rename("former.png")
    (tmp_path / ("b.png" if swapped else "c.png")).rename("a.png")
    (tmp_path / "former.png").rename("b.png" if swapped else "c.png")
    with pytest.raises(OutputError, match=r"the contents of a.png have changed"):
        sweep.run(pictures, out="s.h5", device="reference", part=(1, 2), resume=True)
    sweep.run(pictures, out="other.h5", device="reference", part=(2, 2))
    with pytest.raises(OutputError, match=r"other.h5: a.png has other contents than for s.h5"):
        sweep.merge(["s.h5", "other.h5"], "m.h5")
