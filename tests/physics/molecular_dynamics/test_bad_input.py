"""What is said of boxes that cannot be, of files that are none, and of runs that end badly?"""

from dataclasses import replace

import numpy as np
import pytest
from md_boxes import after, placed

import societies
from reference_py.physics.molecular_dynamics.parameters import NONE
from societies import config_from_dict
from societies.analysis.exporting import export
from societies.errors import ConfigError, SocietiesError
from societies.physics.molecular_dynamics import WORKLOAD
from societies.physics.molecular_dynamics.atoms import read_atoms

GOOD = '2\nLattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3\nAr 1 1 1\nAr 3 3 3\n'


def configured(**settings):
    return config_from_dict({"workload": "molecular_dynamics", "cells": 3, **settings})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cells": 2, "density": 0.8}, "less than twice the cutoff; cells: 3 would do"),
        (
            {"density": 0.8, "variant": "cell"},
            "variant: cell needs 3 cells along a side, each 2.5 wide or more; the box is 5.12993 "
            "long; cells: 5 would do",
        ),
        ({"density": 0.3, "variant": "list"}, "each 2.8 wide or more"),
        ({"cells": 20, "variant": "all_pairs"}, "all pairs of 32000 atoms would take very long"),
        ({"cells": 162}, "cells: must be at most 161, got 162"),
        ({"density": 0}, "density: must be more than 0, got 0"),
        ({"temperature": -1}, "temperature: must be at least 0, got -1"),
        ({"dt": 0}, "dt: must be more than 0, got 0"),
        ({"cutoff": -2}, "cutoff: must be at least 0.5, got -2"),
        ({"tail": True}, "tail: belongs to form: plain, not shifted_force"),
        ({"velocities": "file"}, "velocities: there is no file of atoms"),
        ({"velocities": "zero", "thermostat": "rescale"}, "atoms that rest cannot be scaled"),
        ({"replicates": 2**31 - 1}, "random streams are needed"),
        ({"atoms": "nowhere.xyz"}, "atoms: nowhere.xyz cannot be read: No such file"),
    ],
)
def test_configurations(settings, message):
    with pytest.raises(ConfigError) as error:
        configured(**settings)
    assert message in str(error.value)


def test_the_smallest_lattice_that_is_named_does():
    assert configured(cells=5, density=0.8, variant="cell").parameters().cells == 3
    with pytest.raises(ConfigError, match="cells: 5 would do"):
        configured(cells=4, density=0.8, variant="cell")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("2\n", "3\n", 1), ":1: 3 atoms are announced, 2 follow"),
        (GOOD + GOOD.replace("2\n", "3\n", 1), ":5: 3 atoms are announced, 2 follow"),
        (GOOD + GOOD.replace("Lattice", "Box"), ":6: the box is missing"),
        (GOOD + GOOD.replace("3 3 3", "3 3 nan"), ":8: a number is not finite"),
        (GOOD + "2\n", ":5: 2 atoms are announced, 0 follow"),
        (GOOD + "A 1 1 1\n", ":1: 2 atoms are announced, 3 follow"),
        (GOOD.replace("2\n", "two\n", 1), ":1: expected the number of atoms, got two"),
        (GOOD.replace("2\n", "\u00b2\n", 1), ":1: expected the number of atoms, got \u00b2"),
        (GOOD.replace("2\n", "\n", 1), ":1: expected the number of atoms, got an empty line"),
        (GOOD.replace("Lattice", "Box"), ":2: the box is missing"),
        (GOOD.replace("8 0 0 0 8", "8 0 0 0 9"), ":2: the box is not a cube"),
        (GOOD.replace("3 3 3", "3 3 nan"), ":4: a number is not finite"),
        (GOOD.replace("3 3 3", "3 3 x"), ":4: expected a number, got x"),
        (GOOD.replace("3 3 3", "3 3"), ":4: expected 4 words, got 3"),
        (
            GOOD.replace("pos:R:3", "pos:R:\u00b2"),
            ":2: Properties: \u00b2 is not a number of columns",
        ),
        (GOOD.replace("pos:R", "place:R"), ":2: Properties have no pos:R:3"),
        ("2\n", "1 lines are not atoms in a box"),
        ("8 8 8\n\u00b2\n1 1 1 1\n2 3 3 3\n", ":2: expected the number of atoms, got \u00b2"),
        ("8 8 8\n3\n1 1 1 1\n2 3 3 3\n", ":2: 3 atoms are announced, 2 follow"),
        ("8 8 8\n2\n1 1 1 1\n2 3 3\n", ":4: expected 4 numbers, got 3"),
    ],
)
def test_files_of_atoms(tmp_path, text, message):
    path = tmp_path / "atoms.xyz"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        read_atoms(str(path))
    assert str(error.value).endswith(message) or message in str(error.value)
    path.write_text(GOOD)
    assert read_atoms(str(path)).positions.tolist() == [[1, 1, 1], [3, 3, 3]]


def test_a_number_of_atoms_of_thousands_of_digits_is_none(tmp_path):
    """Python itself takes no such number."""
    path = tmp_path / "atoms.xyz"
    path.write_text(GOOD.replace("2\n", f"{'9' * 5000}\n", 1))
    with pytest.raises(ConfigError, match=r":1: expected the number of atoms, got 9{57}\.\.\.$"):
        read_atoms(str(path))


def test_an_exported_file_is_a_start(tmp_path):
    """The last step of a run, written and read again, has the same bits; and so continues."""
    config = configured(steps=4, record={"series": 1, "detail": 2}, density=0.3, cutoff=2.0)
    societies.run(config, out=tmp_path / "gas.h5", device="auto")
    results = societies.open_results(tmp_path / "gas.h5")
    for name, ticks in {"last.xyz": "4", "trajectory.xyz": None}.items():
        (path,) = export(tmp_path / "gas.h5", "xyz", tmp_path / name, ticks=ticks)
        assert path.read_text().count("Lattice") == (2 if ticks is None else 1)
        start = read_atoms(str(path))
        assert start.length == config.length
        assert (start.positions.astype(np.float32) == results.x.values[0]).all()
        assert (start.velocities.astype(np.float32) == results.v.values[0]).all()
    settings = {"atoms": str(path), "velocities": "file", "cutoff": 2.0, "steps": 2}
    again = config_from_dict({"workload": "molecular_dynamics", **settings})
    assert again.parameters().atoms == 108


def overlapping(tmp_path, gap):
    path = tmp_path / "near.xyz"
    path.write_text(GOOD.replace("3 3 3", f"1 1 {1 + gap}"))
    return {"workload": "molecular_dynamics", "atoms": str(path), "velocities": "zero"}


@pytest.mark.parametrize("steps", [0, 3])
@pytest.mark.parametrize("device", ["auto", "reference"])
def test_atoms_on_top_of_each_other(tmp_path, device, steps):
    config = config_from_dict({**overlapping(tmp_path, 0.25), "steps": steps})
    with pytest.raises(SocietiesError, match=r"^atoms 0 and 1 are 0.25 apart at step 0\n"):
        societies.run(config, out=tmp_path / "run.h5", device=device)


@pytest.mark.parametrize("device", ["auto", "reference"])
def test_energies_that_explode_keep_the_last_checkpoint(tmp_path, device):
    """A step that is far too long: the message names it, and the file has what was before."""
    settings = {"density": 0.9, "dt": 0.05, "steps": 400, "temperature": 30, "cells": 4}
    config = configured(**settings, record={"series": 1, "checkpoint": 2})
    path = tmp_path / "run.h5"
    with pytest.raises(SocietiesError, match=r"(apart at|box in) step \d+\n") as error:
        societies.run(config, out=path, device=device)
    assert "what was done before is in the file" in str(error.value)


def test_all_variants_stop_at_the_same_step(device):
    """A fast atom leaves the box at once, to both sides (of the right one it was put on the
    border); an overlap that is met on the way freezes the box."""
    x = [[1, 1, 1], [5, 5, 5], [9, 9, 9], [3, 3, 8]]
    for speed in (-1e6, 1e6, 37.0):
        speeds = [[0, 0, 0], [speed, 0, 0], [0, 0, 0], [0, 0, 0]]
        p = placed(x, 12.0, speeds=speeds, precision="single", dt=0.1)
        expected = after(p, 3)
        for variant in ("particle", "cell", "list"):
            found = after(replace(p, variant=variant), 3, device)
            assert all(
                found[name].tobytes() == expected[name].tobytes()
                for name in ("x", "F", "overlap", "failed")
            ), variant
        assert (int(expected["overlap"][0]) == 1) == (abs(speed) == 1e6)
        assert int(expected["failed"][0]) == (1 if abs(speed) == 1e6 else -1)
    assert NONE == 2**32 - 1


def test_the_figure_has_all_atoms_and_energies(tmp_path):
    config = configured(steps=4, record={"series": 1}, replicates=2, variant="all_pairs")
    societies.run(config, out=tmp_path / "gas.h5", device="reference")
    results = societies.open_results(tmp_path / "gas.h5")
    left, right, _ = WORKLOAD.figure(results, box=1).axes
    atoms = left.collections[0].get_offsets()
    assert (atoms == results.x.values[1, :, :2]).all()
    drawn = {line.get_label(): line.get_ydata().tolist() for line in right.lines}
    assert drawn["total energy"] == results.total_energy.values[1].tolist()
    assert len(drawn) == 3
    with pytest.raises(ConfigError, match="box"):
        WORKLOAD.figure(results, box=2)
