"""How are atoms read from a file, in extended XYZ or in the layout of NIST's references?

Extended XYZ: the number of atoms; a line with ``Lattice="L 0 0 0 L 0 0 0 L"`` and ``Properties``;
a line for each atom. Of the properties ``pos`` and, if present, ``velo`` are read. Of several such
frames, as in a trajectory, the last is read. NIST's layout: the three sides of the box;
the number of atoms; number, x, y, z of each, from the centre.

Atoms of an unwrapped trajectory may be whole boxes away from their positions in the box. They are
moved back in decimal arithmetic, so that no digit of the file is lost.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from societies.config.document import LONGEST_NUMBER
from societies.errors import ConfigError, shortened
from societies.inputs import Stamp, read_foreign, stamp, whole_number
from societies.paths import data_directory

POSITIONS = "species:S:1:pos:R:3"
"""Default of ``Properties``."""

CUBE = 1e-8
"""Allowed deviation of a box from a cube, relative to its side: other programs round."""


EXACT = decimal.Context(prec=2 * LONGEST_NUMBER, Emax=999_999, Emin=-999_999)

FARTHEST = 1e15
"""Most boxes between an atom and its position in the box; beyond, a double has no digits left."""

VELOCITIES = {"vel": "velo", "velocity": "velo", "velocities": "velo"}
KINDS = ("species", "element", "elements", "symbols", "type", "types", "z", "numbers")
"""Properties that give the kind of an atom; all atoms must be of one kind."""
MASSES = ("mass", "masses")
CHARGES = ("charge", "charges", "q", "initial_charges")
WITHOUT_EFFECT = ("lattice", "properties", "pbc", "origin", "step", "time", "energy")
"""Entries of the second line that are read, or do not concern the positions of atoms."""

_ENTRY = re.compile(
    r"""\s*([^\s="]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*'|\{[^}]*\}|
    \[(?:[^\[\]]|\[[^\[\]]*\])*\]|[^\s"'{\[]\S*))?""",
    re.VERBOSE,
)
"""A word of the second line: a key, and its value with or without quotes."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """Contents of a file of atoms.

    Attributes
    ----------
    length : side of the box
    positions : (atom, axis) float64, from the corner of the box, inside it
    velocities : (atom, axis) float64, or None
    remarks : a sentence for each part of the file that is ignored or reinterpreted
    """

    length: float
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64] | None = None
    remarks: tuple[str, ...] = ()


def found(path: str) -> Path:
    """Return the file: in the current folder, or among the shipped configurations."""
    here = Path(path)
    shipped = data_directory("configs") / "physics" / "molecular_dynamics" / path
    return shipped if not here.exists() and here.name == path and shipped.is_file() else here


def read_atoms(path: str) -> Atoms:
    """Return the atoms of a file.

    Raises
    ------
    ConfigError
        If the file cannot be read, has neither layout, or does not describe equal atoms in a
        periodic cube; the message names the line.
    """
    try:
        file = found(path)
        which = stamp(file)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be read: {said}") from error
    return _read(path, file, which)


@lru_cache(maxsize=4)
def _read(path: str, file: Path, _which: Stamp) -> Atoms:
    lines = read_foreign(file, path).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) < 3:
        raise ConfigError(f"{path}: {len(lines)} lines are not atoms in a box")
    return _nist(path, lines) if len(lines[0].split()) == 3 else _extended_xyz(path, lines)


def _nist(path: str, lines: list[str]) -> Atoms:
    words = lines[0].split()
    length, remarks = _cube(path, 1, np.diag(_numbers(path, 1, words, 3)))
    _count(path, 2, lines[1], len(lines) - 2)
    rows = [line.split() for line in lines[2:]]
    numbers = [_numbers(path, i, row, 4) for i, row in enumerate(rows, start=3)]
    positions = np.array(numbers)[:, 1:] + length / 2.0
    side = _exact(words[0])
    _wrap(path, positions, [row[1:] for row in rows], side, (EXACT.divide(side, 2),) * 3, length)
    return Atoms(length, positions, None, remarks)


def _extended_xyz(path: str, lines: list[str]) -> Atoms:
    before = _before_the_last_frame(lines)
    _count(path, before + 1, lines[before], max(len(lines) - before - 2, 0))
    at, first_atom = before + 2, before + 3
    said = _said(path, at, lines[before + 1])
    if "lattice" not in said:
        raise ConfigError(f'{path}:{at}: the box is missing: Lattice="L 0 0 0 L 0 0 0 L"')
    sides = said["lattice"].split()
    length, remarks = _cube(path, at, np.array(_numbers(path, at, sides, 9)).reshape(3, 3))
    _require_periodic(path, at, said.get("pbc"))
    corner = said.get("origin", "0 0 0").split()
    origin = np.array(_numbers(path, at, corner, 3))
    columns, count = _columns(path, at, said.get("properties", POSITIONS))
    words = [line.split() for line in lines[before + 2 :]]
    for number, row in enumerate(words, start=first_atom):
        if len(row) != count:
            raise ConfigError(f"{path}:{number}: expected {count} words, got {len(row)}")

    def of(name: str) -> NDArray[np.float64]:
        first, last = columns[name]
        rows = enumerate(words, start=first_atom)
        return np.array([_numbers(path, i, row[first:last], last - first) for i, row in rows])

    for name in columns:
        if name.lower() in (*KINDS, *MASSES, *CHARGES):
            remarks += _alike(path, first_atom, name, words, columns[name])
    used = ("pos", "velo", *KINDS, *MASSES, *CHARGES)
    unused = [name for name in columns if name.lower() not in used]
    unused += [name for name in said if name not in WITHOUT_EFFECT]
    if unused:
        named = ", ".join(map(shortened, unused[:8])) + (", ..." if len(unused) > 8 else "")
        remarks += (f"{path}:{at}: not used of the file: {named}",)
    positions = of("pos") - origin
    first = columns["pos"][0]
    shift = tuple(EXACT.minus(_exact(word)) for word in corner)
    _wrap(
        path, positions, [row[first : first + 3] for row in words], _exact(sides[0]), shift, length
    )
    return Atoms(length, positions, of("velo") if "velo" in columns else None, remarks)


def _wrap(
    path: str,
    positions: NDArray[np.float64],
    words: Sequence[Sequence[str]],
    side: decimal.Decimal,
    shift: Sequence[decimal.Decimal],
    length: float,
) -> None:
    """Move atoms outside the box into it by whole boxes, exactly, with the digits of the file."""
    outside = (positions < 0.0) | (positions >= length)
    farthest = float(np.abs(positions).max()) / length
    if farthest > FARTHEST:
        raise ConfigError(
            f"{path}: an atom is {farthest:.3g} boxes away; at most {FARTHEST:.0e} are"
        )
    for atom, axis in np.argwhere(outside).tolist():
        place = EXACT.remainder(EXACT.add(_exact(words[atom][axis]), shift[axis]), side)
        found = float(EXACT.add(place, side) if place < 0 else place)
        positions[atom, axis] = found if found < length else 0.0


def _before_the_last_frame(lines: list[str]) -> int:
    """Return the number of lines before the last frame; a frame begins with a number of atoms."""
    before = 0
    while (count := whole_number(lines[before])) is not None:
        following = before + count + 2
        while following < len(lines) and not lines[following].strip():
            following += 1  # empty lines between frames
        if following >= len(lines) or whole_number(lines[following]) is None:
            break
        before = following
    return before


def _said(path: str, at: int, line: str) -> dict[str, str]:
    """Return the entries of the second line, keys in lower case; skip words without a value."""
    said: dict[str, str] = {}
    end, line = 0, line.rstrip()
    while end < len(line):
        word = _ENTRY.match(line, end)
        if word is None or (word.end() < len(line) and not line[word.end()].isspace()):
            rest = line[end:].split()[0]
            raise ConfigError(
                f"{path}:{at}: {shortened(rest)} is no KEY=VALUE: a quote is missing?"
            )
        key, value = word[1].lower(), word[2]
        end = word.end()
        if value is None:
            continue
        if key in said:
            raise ConfigError(f"{path}:{at}: {shortened(word[1])} is given twice")
        if value[0] in "{[":
            value = re.sub(r"[\[\]{},]", " ", value)
        said[key] = value[1:-1] if value[0] in "\"'" else value
    return said


def _require_periodic(path: str, at: int, pbc: str | None) -> None:
    words = "T T T" if pbc is None else pbc
    periodic = [word.lower() in ("t", "true", "1") for word in words.split()]
    if len(periodic) != 3 or not all(periodic):
        raise ConfigError(
            f'{path}:{at}: pbc="{shortened(words)}": the box is periodic along all axes, "T T T"'
        )


def _columns(path: str, line: int, properties: str) -> tuple[dict[str, tuple[int, int]], int]:
    """Return the first and end column of each property, and the number of columns."""
    parts, places, at = properties.split(":"), dict[str, tuple[int, int]](), 0
    where = f"{path}:{line}: Properties"
    for name, kind, count in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        width = whole_number(count)
        if width is None:
            raise ConfigError(f"{where}: {shortened(count)} is not a number of columns")
        name = VELOCITIES.get(name.lower(), name)
        if kind not in ("S", "R", "I", "L"):
            raise ConfigError(
                f"{where}: {shortened(name)}: {shortened(kind)} is not a kind (S, R, I or L)"
            )
        if name in ("pos", "velo") and (kind not in ("R", "I") or width != 3):
            raise ConfigError(f"{where}: {name}:{shortened(kind)}:{width} is not {name}:R:3")
        if name in places or not name or not width:
            raise ConfigError(f"{where}: {shortened(name)} is given twice, or has no columns")
        places[name] = (at, at + width)
        at += width
    if len(parts) % 3:
        raise ConfigError(
            f"{where}: expected NAME:KIND:COLUMNS for each, got {shortened(parts[-1])} at the end"
        )
    if "pos" not in places:
        raise ConfigError(f"{where} have no pos:R:3")
    return places, at


def _alike(
    path: str, line: int, name: str, words: list[list[str]], place: tuple[int, int]
) -> tuple[str, ...]:
    """Refuse atoms that differ or are charged; return a remark about masses other than 1."""
    first, last = place
    values = [row[first:last] for row in words]
    other = next((i for i, value in enumerate(values) if value != values[0]), 0)
    if name.lower() in KINDS:
        if other:
            two = f"{shortened(' '.join(values[0]))} and {shortened(' '.join(values[other]))}"
            raise ConfigError(
                f"{path}:{line + other}: atoms of several kinds ({name} {two}); all are alike here"
            )
        return ()
    numbers = [_numbers(path, line + i, value, last - first) for i, value in enumerate(values)]
    if name.lower() in CHARGES:
        charged = next((i for i, one in enumerate(numbers) if any(one)), None)
        if charged is not None:
            raise ConfigError(f"{path}:{line + charged}: {name}: atoms have no charge here")
        return ()
    other = next((i for i, one in enumerate(numbers) if one != numbers[0]), 0)
    if other:
        two = f"{numbers[0][0]:g} and {numbers[other][0]:g}"
        raise ConfigError(
            f"{path}:{line + other}: atoms of several masses ({two}); all are alike here"
        )
    if numbers[0] == [1.0]:
        return ()
    return (f"{path}:{line}: {name} {numbers[0][0]:g} is taken for the unit of mass",)


def _count(path: str, number: int, line: str, following: int) -> None:
    count = whole_number(line)
    if count is None:
        said = shortened(line.strip()) or "an empty line"
        raise ConfigError(f"{path}:{number}: expected the number of atoms, got {said}")
    if not count:
        raise ConfigError(f"{path}:{number}: there are no atoms")
    if count != following:
        raise ConfigError(f"{path}:{number}: {count} atoms are announced, {following} follow")


def _cube(path: str, number: int, sides: NDArray[np.float64]) -> tuple[float, tuple[str, ...]]:
    """Return the side of a cube, and a remark if it is a cube only within rounding."""
    length = float(sides[0, 0])
    largest = float(np.abs(sides - length * np.eye(3)).max())
    if length <= 0.0 or not largest <= CUBE * length:
        raise ConfigError(
            f"{path}:{number}: the box is not a cube along the axes"
            + (f": it differs from one of side {length:g} by {largest:.3g}" if length > 0 else "")
        )
    if not largest:
        return length, ()
    off = f"the box differs from a cube by {largest:.3g}; its side is taken as {length:.17g}"
    return length, (f"{path}:{number}: {off}",)


def _numbers(path: str, number: int, words: Sequence[str], count: int) -> list[float]:
    if len(words) != count:
        raise ConfigError(f"{path}:{number}: expected {count} numbers, got {len(words)}")
    numbers = []
    for word in words:
        try:
            numbers.append(float(word if word.isascii() and "_" not in word else "none"))
        except ValueError:
            numbers.append(_of_fortran(path, number, word))
        if len(word) > LONGEST_NUMBER:
            raise ConfigError(f"{path}:{number}: a number of {len(word)} characters")
    if not np.isfinite(numbers).all():
        raise ConfigError(f"{path}:{number}: a number is not finite")
    return numbers


def _of_fortran(path: str, number: int, word: str) -> float:
    """Return a number such as 1.5D+00, which Fortran writes with a D."""
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)[dD][+-]?\d+", word, re.ASCII) is None:
        raise ConfigError(f"{path}:{number}: expected a number, got {shortened(word)}")
    return float(re.sub("[dD]", "e", word))


def _exact(word: str) -> decimal.Decimal:
    """Return a number with all digits of the file."""
    return EXACT.create_decimal(re.sub("[dD]", "e", word))
