"""Are atoms of other programs' files read as those programs mean them, or refused?"""

import decimal
import os
import time
from pathlib import Path

import numpy as np
import pytest
from md_boxes import after

from societies import config_from_dict
from societies.errors import ConfigError
from societies.physics.molecular_dynamics.atoms import read_atoms
from societies.workload.running.registry import load_config

DATA = Path(__file__).parents[2] / "data" / "companions"
GOOD = '2\nLattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3\nAr 1 1.1 1\nAr 3 3 3\n'
PLACES = [[1, 1.1, 1], [3, 3, 3]]


def atoms_of(folder, text):
    path = folder / "atoms.xyz"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_atoms(str(path))


def energy(path):
    given = {"workload": "molecular_dynamics", "atoms": str(path), "velocities": "zero"}
    settings = {"cutoff": 3.0, "form": "plain", "precision": "double", "steps": 0}
    found = after(config_from_dict({**given, **settings}).parameters(), 0)
    return found["u"].tolist(), found["x"].tolist()


def test_atoms_of_an_unwrapped_trajectory_have_the_energy_of_those_in_the_box():
    """They were put on the border of the box, in the reference, too."""
    assert energy(DATA / "unwrapped.xyz") == energy(DATA / "inside.xyz")


def test_whole_boxes_are_taken_away_in_decimal(tmp_path):
    """Of 30 atoms, up to a thousand million each way; in NIST's layout, and from an origin, too."""
    side, rng = decimal.Decimal("8.4"), np.random.default_rng(3)
    inside = [[decimal.Decimal(f"{x:.6f}") for x in row] for row in rng.uniform(0, 8.4, (30, 3))]
    boxes = rng.integers(-(10**9), 10**9, (30, 3)).tolist()
    moved = [
        [x + n * side for x, n in zip(row, ns, strict=True)]
        for row, ns in zip(inside, boxes, strict=True)
    ]

    def text(rows, more="", by=0):
        lattice = 'Lattice="8.4 0 0 0 8.4 0 0 0 8.4"'
        lines = [" ".join(["A", *(f"{x + by:f}" for x in row)]) for row in rows]
        return "\n".join(["30", f"{lattice} {more}", *lines])

    expected = atoms_of(tmp_path, text(inside)).positions
    assert (atoms_of(tmp_path, text(moved)).positions == expected).all()
    shifted = text(moved, 'Origin="100 100 100"', by=100)
    assert (atoms_of(tmp_path, shifted).positions == expected).all()
    rows = [f"1 {x:f} {y:f} {z:f}" for x, y, z in moved]
    nist = atoms_of(tmp_path, "\n".join(["8.4 8.4 8.4", "30", *rows])).positions
    assert ((nist >= 0) & (nist < 8.4)).all()
    assert np.abs(np.abs(nist - expected) - 4.2).max() < 1e-9


@pytest.mark.parametrize("place", ["-1e-300", "8", "16", "-8", "7.99999999999999999999", "8e15"])
def test_the_border_belongs_to_the_box_once(tmp_path, place):
    found = atoms_of(tmp_path, GOOD.replace("1 1.1 1", f"{place} 1.1 1")).positions[0]
    expected = float(decimal.Context(prec=700).remainder(decimal.Decimal(place), 8)) % 8
    assert found.tolist() == [expected if expected < 8 else 0.0, 1.1, 1.0]


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.encode("utf-16"),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.replace(" 1.1 ", "\t1.1  "),
        GOOD + "\n \n",
        GOOD + "\n" + GOOD,
        GOOD.replace("1.1", "1.1D+00"),
        GOOD.replace("1.1", "11.d-1"),
        GOOD.replace(" Prop", " Step=4 Time=1e-3 Prop"),
        GOOD.replace("R:3", "R:3 pbc='T T T'"),
        GOOD.replace("R:3", "R:3 pbc=[True, True, True]"),
        GOOD.replace('"8 0 0 0 8 0 0 0 8"', "[[8, 0, 0], [0, 8, 0], [0, 0, 8]]"),
        GOOD.replace('"8 0 0 0 8 0 0 0 8"', "{8 0 0 0 8 0 0 0 8}"),
        GOOD.replace("pos:R:3", "pos:R:3:charge:R:1").replace("\nAr", "\nAr").replace(
            "1 1.1 1", "1 1.1 1 0"
        ).replace("3 3 3", "3 3 3 0.0"),
    ],
)  # fmt: skip
def test_what_is_read_without_a_word(tmp_path, text):
    found = atoms_of(tmp_path, text)
    assert found.positions.tolist() == PLACES
    assert found.remarks == ()


def with_column(name, first, second):
    text = GOOD.replace("pos:R:3", f"pos:R:3:{name}")
    return text.replace("1 1.1 1", f"1 1.1 1 {first}").replace("3 3 3", f"3 3 3 {second}")


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (GOOD.replace("0 8 0 0 0 8", "0 8 1e-9 0 0 8.000000001"), "differs from a cube by 1e-09"),
        (GOOD.replace("R:3", "R:3 units=metal"), ":2: not used of the file: units"),
        (GOOD.replace("Latt", "Größe=1 Latt").encode("latin-1"), ":2: not used of the file: größe"),
        (with_column("forces:R:3", "0 0 1", "0 0 2"), ":2: not used of the file: forces"),
        (with_column("mass:R:1", 39.948, 39.948), ":3: mass 39.948 is taken for the unit of mass"),
    ],
)
def test_what_is_said_of_what_is_not_used(tmp_path, text, remark):
    found = atoms_of(tmp_path, text)
    assert found.positions.tolist() == PLACES
    (said,) = found.remarks
    assert remark in said
    config = config_from_dict(
        {"workload": "molecular_dynamics", "atoms": str(tmp_path / "atoms.xyz"), "cutoff": 2.0}
    )
    assert said in [one.message for one in config.warnings()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ((DATA / "pbcF.xyz").read_text(), ':2: pbc="F F F": the box is periodic along all axes'),
        (GOOD.replace("R:3", 'R:3 pbc="T T F"'), ":2: pbc="),
        (GOOD.replace("Ar 3", "Kr 3"), ":4: atoms of several kinds (species Ar and Kr)"),
        (with_column("type:I:1", 1, 2), ":4: atoms of several kinds (type 1 and 2)"),
        (with_column("masses:R:1", 1, 2), ":4: atoms of several masses (1 and 2)"),
        (with_column("charge:R:1", 0, -1), ":4: charge: atoms have no charge here"),
        (with_column("vel:R:2", "0 0", "0 0"), ":2: Properties: velo:R:2 is not velo:R:3"),
        (with_column("pos:R:3", "1 1 1", "1 1 1"), ":2: Properties: pos is given twice"),
        (
            GOOD.replace("pos:R:3", "pos:R:3:id"),
            ":2: Properties: expected NAME:KIND:COLUMNS for each, got id at the end",
        ),
        (
            GOOD.replace("0 8 0 0", "0 8 0.01 0"),
            "is not a cube along the axes: it differs from one",
        ),
        (GOOD.replace("8 0 0 0 8 0 0 0 8", "-8 0 0 0 -8 0 0 0 -8"), ":2: the box is not a cube"),
        (GOOD.replace('0 8" P', "0 8 P"), ":2: Lattice="),
        (GOOD.replace("R:3", 'R:3 Lattice="9 0 0 0 9 0 0 0 9"'), ":2: Lattice is given twice"),
        (GOOD.replace("1.1", "inf"), ":3: a number is not finite"),
        (GOOD.replace("1.1", "1e999"), ":3: a number is not finite"),
        (GOOD.replace("1.1", "1_1"), ":3: expected a number, got 1_1"),
        (GOOD.replace("1.1", "\u0661"), ":3: expected a number, got \u0661"),
        (GOOD.replace("1.1", "1,1"), ":3: expected a number, got 1,1"),
        (GOOD.replace("1.1", "0x1"), ":3: expected a number, got 0x1"),
        (GOOD.replace("1.1", "****"), ":3: expected a number, got ****"),
        (GOOD.replace("1.1", "1e30"), "an atom is 1.25e+29 boxes away; at most 1e+15 are"),
        (GOOD.replace("s:S:1", "s:C:1"), ":2: Properties: species: C is not a kind (S, R, I or L)"),
        (GOOD.replace("1.1", "1" * 500), ":3: a number of 500 characters"),
        (GOOD.replace("2\n", "-2\n", 1), ":1: expected the number of atoms, got -2"),
        (GOOD.replace("2\n", "99999999999\n", 1), ":1: 99999999999 atoms are announced, 2 follow"),
        (GOOD.replace("Ar 3", "\nAr 3"), ":1: 2 atoms are announced, 3 follow"),
        ("\n" + GOOD, ":1: expected the number of atoms, got an empty line"),
        (GOOD.replace("2\n", "0\n", 1), ":1: there are no atoms"),
        (GOOD.encode("utf-16-le"), "is not text"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError) as error:
        atoms_of(tmp_path, text)
    assert message in str(error.value) and len(str(error.value).splitlines()) == 1


def test_a_second_line_of_any_length_is_read_in_a_moment(tmp_path):
    """400,000 characters took 12 seconds, and twice as many four times as long."""
    for more in ("a=1 b ", "x", '"', "[", "k={", "\\"):
        before = time.process_time()
        try:
            atoms_of(tmp_path, GOOD.replace("R:3", f"R:3 {more * (400_000 // len(more))}"))
        except ConfigError as error:
            assert len(str(error)) < 400
        assert time.process_time() - before < 5


def test_a_file_of_any_size_is_refused_at_once(tmp_path):
    """Its size is looked at before it is read."""
    path = tmp_path / "atoms.xyz"
    path.write_text(GOOD)
    os.truncate(path, 2**40)
    with pytest.raises(ConfigError, match="is larger than 2048 MiB, the most that is read"):
        read_atoms(str(path))


def test_velocities_that_are_not_used_are_reported(tmp_path):
    atoms_of(tmp_path, with_column("velo:R:3", "0 0 1", "0 0 2"))
    given = {"workload": "molecular_dynamics", "atoms": str(tmp_path / "atoms.xyz"), "cutoff": 2.0}
    said = [one.message for one in config_from_dict(given).warnings()]
    assert said == ["normal; those of the file of atoms are not used"]
    assert not [*config_from_dict({**given, "velocities": "file"}).warnings()]


def test_problems_of_other_keys_are_said_with_those_of_the_file():
    with pytest.raises(ConfigError) as error:
        load_config(
            "physics/molecular_dynamics/nist4", ["atoms=none.xyz", "form=shifted", "tail=true"]
        )
    assert "none.xyz" in str(error.value) and "belongs to form: plain" in str(error.value)
