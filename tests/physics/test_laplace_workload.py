"""Is Laplace's equation declared right: do its engines agree, does it end, is nonsense refused?"""

import hashlib
import json
import os
import threading
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

import societies
from societies.errors import OutputError
from societies.output import opening
from societies.output.checkpoints import checksum
from societies.output.layout import LAYOUT_VERSION
from societies.output.positions import beginning
from societies.physics.laplace import WORKLOAD, rounded_up
from societies.physics.laplace.config import LaplaceConfig
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

ORACLE = Path(__file__).resolve().parents[1] / "data" / "physics" / "laplace.json"
RECTANGLES = ({"rows": (2, 3), "columns": (4, 9)}, {"rows": (3, 5), "columns": (5, 5), "value": -2})


def config_of(**settings):
    return LaplaceConfig(workload="laplace", **settings)


def engines(device, config, copies=1):
    p = WORKLOAD.parameters(config)
    return (
        DeviceEngine(WORKLOAD, p, device, copies=copies),
        ReferenceEngine(WORKLOAD, p, copies=copies),
    )


def compared(engine):
    state = engine.state()
    return {name: state[name] for name, one in engine.fields.items() if one.compared}


CASES = {
    "seed's plate": {"side": 12},
    "the seed's form": {"side": 12, "variant": "seed"},
    "heat between rectangles": {
        "rows": 9,
        "columns": 14,
        "method": "heat",
        "ratio": 0.2,
        "conductor": RECTANGLES,
        "border": (1.0, 0.5, 0.25, -1),
    },
    "double": {"side": 50, "precision": "double"},
}


@pytest.mark.parametrize("copies", [1, 5])
@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_both_engines_agree_after_every_step(device, settings, copies):
    config = config_of(tolerance=2e-2, check_every=3, record={"series": 2}, **settings)
    first, second = engines(device, config, copies)
    first.start(), second.start()
    ended = None
    for tick in range(1, 200):
        for mine, theirs in zip(first.steps(tick), second.steps(tick), strict=True):
            first.step(mine, tick), second.step(theirs, tick)
            for (name, one), other in zip(
                compared(first).items(), compared(second).values(), strict=True
            ):
                assert one.dtype == other.dtype and one.tobytes() == other.tobytes(), (tick, name)
        assert first.ended() == second.ended()
        if ended is None:
            ended = first.ended()
        elif tick > ended + 3:  # which changes nothing
            break
    assert ended is not None and ended % 3 == 0
    assert (first.state()["ended"] == ended).all()
    first.finish(), second.finish()
    assert first.state()["sum"].tolist() == second.state()["sum"].tolist()
    assert (first.state()["residual"] > 0).all()
    assert first.hash() == second.hash()


def test_a_plate_has_made_the_step_that_ends_it(device):
    """Both engines carry out the rest of that step, and nothing after it."""
    expected = json.loads(ORACLE.read_text())["n=32 tolerance=0.0001 check_every=50"]
    config = config_of(side=32, tolerance=1e-4)
    for engine in engines(device, config):
        engine.start()
        for first in range(1, 501, 50):
            engine.run_ticks(first, first + 49)
        assert engine.ended() == expected["steps"]
        assert hashlib.sha256(engine.state()["phi"][0].tobytes()).hexdigest() == expected["phi"]
        said = WORKLOAD.why_ended(config, engine.state())
        assert (
            said == "no cell changed by more than 8.905e-05 V; the solution is about 0.017 V away"
        )


def test_a_change_that_rounding_hides_is_not_taken_for_the_solution():
    said = WORKLOAD.why_ended(config_of(side=32, steps=9), {"change": np.zeros(1, np.float32)})
    assert said.endswith("in single precision the solution stays up to 1.2e-05 V away")
    config = config_of(side=32, steps=9, precision="double", border=-10.0)
    assert "in double precision" in WORKLOAD.why_ended(config, {"change": np.full(1, 1e-16)})
    assert "is about 3.9e-13 V away" in WORKLOAD.why_ended(config, {"change": np.full(1, 2e-15)})


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.000925645, "0.0009257"), (8.904934e-05, "8.905e-05"), (0.25, "0.25"), (0.0, "0")],
)
def test_a_bound_is_not_rounded_below_what_it_bounds(value, said):
    assert rounded_up(value) == said


def test_another_engine_continues_from_a_state(device):
    """The mask is not part of it: it is made again."""
    config = config_of(side=20, steps=30)
    first, second = engines(device, config)
    first.start()
    first.run_ticks(1, 10)
    saved = {name: array for name, array in first.state().items() if first.fields[name].saved}
    assert sorted(saved) == ["change", "ended", "phi"]
    second.load(saved)
    second.run_ticks(11, 30)
    first.run_ticks(11, 30)
    assert first.hash() == second.hash()


def test_work_is_cells_times_steps():
    assert WORKLOAD.work_done(config_of(rows=10, columns=20, steps=5), 5) == 1000
    assert WORKLOAD.ticks(config_of(side=10, steps=7)) == 7


BAD = {
    "neither steps nor a tolerance": {},
    "need 6 x 6 cells; the plate has 5 x 9": {"rows": 5, "columns": 9, "steps": 1},
    "one number or four": {"border": (1.0, 2.0), "steps": 1},
    "below 1.18e-38": {"tolerance": 1e-39},
    "above 3.4e.38, the most that single holds": {"tolerance": 1e100},
    "0 to 2 are not inside the border: 1 to 198": {
        "conductor": ({"rows": (0, 2), "columns": (1, 1)},),
        "steps": 1,
    },
    "9 to 8 are not inside": {"conductor": ({"rows": (1, 1), "columns": (9, 8)},), "steps": 1},
    "less than or equal to 0.25": {"method": "heat", "ratio": 0.26, "steps": 1},
    "greater than 0": {"method": "heat", "ratio": 0.0, "steps": 1},
    "greater than or equal to 3": {"side": 2, "conductor": "none", "steps": 1},
    "finite number": {"border": np.inf, "steps": 1},
}


@pytest.mark.parametrize("message", BAD)
def test_nonsense_is_refused(message):
    with pytest.raises(ValidationError, match=message.replace("(", r"\(")):
        config_of(**BAD[message])


# ---------------------------------------------------------------- pictures


def test_bright_pixels_are_conductors(tmp_path):
    grey = np.zeros((6, 9), np.uint8)
    grey[1, 2], grey[2, 3:5], grey[4, 7] = 127, 128, 255
    Image.fromarray(grey).save(tmp_path / "plate.png")
    settings = {"rows": 6, "columns": 9, "steps": 1, "image": str(tmp_path / "plate.png")}
    p = WORKLOAD.parameters(config_of(conductor="none", **settings))
    assert (WORKLOAD.fields(p)["phi"].initial(p) == (grey > 127)).all()
    with pytest.raises(ValidationError, match="four cells in the middle would be held too"):
        config_of(**settings)


def test_a_run_with_another_picture_is_not_continued(tmp_path):
    """Half of the steps would be those of one plate, and half those of another."""
    bright = np.zeros((8, 8), np.uint8)
    bright[2, 2] = 255
    Image.fromarray(bright).save(tmp_path / "plate.png")
    settings = {"side": 8, "conductor": "none", "image": str(tmp_path / "plate.png")}
    config, out = config_of(steps=6, record={"checkpoint": 2}, **settings), tmp_path / "plate.h5"

    def stop(step, steps):
        if step >= 2:
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        societies.run(config, device="reference", out=out, progress=stop)
    Image.fromarray(bright[::-1]).save(tmp_path / "plate.png")
    before = out.read_bytes()
    with pytest.raises(OutputError, match="another file for image: ") as caught:
        societies.run(config, device="reference", out=out, resume=True)
    assert len(str(caught.value).splitlines()) == 2 and out.read_bytes() == before
    Image.fromarray(bright).save(tmp_path / "plate.png")
    assert societies.run(config, device="reference", out=out, resume=True).last_tick == 6


def test_a_pipe_is_no_picture(tmp_path):
    """Opening it for reading waits until a writer opens it."""
    os.mkfifo(tmp_path / "pipe.png")
    wake = threading.Timer(
        20, lambda: os.close(os.open(tmp_path / "pipe.png", os.O_RDWR | os.O_NONBLOCK))
    )
    wake.start()
    try:
        with pytest.raises(ValidationError, match="is a pipe, not a file"):
            config_of(side=8, steps=1, conductor="none", image=str(tmp_path / "pipe.png"))
    finally:
        wake.cancel()


def test_other_pictures_are_refused(tmp_path):
    def refused(message, name, side=8):
        with pytest.raises(ValidationError, match=message):
            config_of(side=side, steps=1, conductor="none", image=str(tmp_path / name))

    Image.new("L", (8, 9)).save(tmp_path / "size.png")
    Image.new("RGB", (8, 8), "white").save(tmp_path / "white.png")
    noise = np.random.default_rng(1).integers(0, 256, (64, 64), np.uint8)
    Image.fromarray(noise).save(tmp_path / "whole.png")
    whole = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.png").write_text("no picture")
    refused(r"has 9 x 8 pixels \(rows x columns\), the plate 8 x 8", "size.png")
    refused("bright at its border", "white.png")
    Image.new("L", (8, 8)).save(tmp_path / "program.eps")  # Pillow would start Ghostscript
    refused("cannot be read", "cut.png", 64)
    refused("of an unknown kind", "program.eps")
    refused("is not a picture", "text.png")
    refused("nowhere.png cannot be read: No such file or directory", "nowhere.png")
    refused("cannot be read: .*Is a directory", ".")


@pytest.mark.parametrize(
    ("field", "value"),
    [("ended", 1 << 62), ("ended", -7), ("ended", 1), ("phi", np.nan), ("change", -1.0)],
)
def test_a_checkpoint_that_no_run_wrote_is_refused(tmp_path, field, value):
    config, out = config_of(side=8, steps=6, record={"checkpoint": 2}), tmp_path / "plate.h5"

    def stop(step, steps):
        if step >= 4:
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        societies.run(config, device="reference", out=out, progress=stop)
    descriptor = opening.descriptor_of(out)
    disk, _ = opening.sealed(out, descriptor, LAYOUT_VERSION)
    os.close(descriptor)
    with h5py.File(out, "r+") as file:
        for number, slot in file["checkpoint"].items():
            slot[f"state/{field}"][...] = value
            state = {name: array[()] for name, array in slot["state"].items()}
            before = beginning(disk, f"checkpoint/{number}")
            slot["checksum"][...] = checksum(int(slot["tick"][()]), state, before=before)
    before = out.read_bytes()
    with pytest.raises(OutputError, match="is not one that a run wrote"):
        societies.run(config, device="reference", out=out, resume=True)
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("steps", "check", "series", "now", "later"),
    [
        (12, 50, 4, "change", "change"),
        (10, 5, 7, "change", "change of step 7"),
        (11, 4, 6, "change of step 8", "change of step 6"),
        (3, 4, 50, "", ""),
        (6, 4, 50, "change of step 4", ""),
    ],
)
def test_a_change_of_an_earlier_step_is_called_so(steps, check, series, now, later, tmp_path):
    """It stood under the last step; 0 V where none was looked at."""
    rules = {"side": 9, "steps": steps, "check_every": check}
    config = config_of(**rules, record={"series": series})
    exact = config_of(**rules | {"check_every": 1}, record={"series": 1})
    societies.run(exact, device="reference", out=tmp_path / "every.h5")
    with societies.open_results(tmp_path / "every.h5") as every:
        changes = every["change"].values[0]
    for called, resume in ((now, False), (later, True)):
        made = societies.run(config, device="reference", out=tmp_path / "a.h5", resume=resume)
        found = {name: value for name, value in made.rows if name.startswith("change")}
        step = int(called.rpartition(" ")[2]) if " " in called else steps
        assert found == ({called: f"{changes[step - 1]:.6g} V"} if called else {})
        assert made.final == ({"change": float(changes[step - 1])} if called else {})
