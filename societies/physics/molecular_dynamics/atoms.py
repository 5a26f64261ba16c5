"""Where are the atoms of a file? Extended XYZ, and the layout of NIST's reference calculations.

Extended XYZ: the number of atoms; a line with ``Lattice="L 0 0 0 L 0 0 0 L"`` and ``Properties``;
a line for each atom. Of the properties ``pos`` and, if it is there, ``velo`` are read. Of several
such frames, as a trajectory has them, the last counts. NIST's layout: the three sides of the box;
the number of atoms; number, x, y, z of each, from the centre.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError
from societies.paths import data_directory, kind_unless_file

POSITIONS = "species:S:1:pos:R:3"
"""Properties of a file that does not name them."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """What a file says.

    Attributes
    ----------
    length : side of the box
    positions : (atom, axis) float64, from the corner of the box
    velocities : (atom, axis) float64, or None
    """

    length: float
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64] | None = None


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
        If it cannot be read, or is neither layout, with the line.
    """
    file = found(path)
    if kind := kind_unless_file(file):
        raise ConfigError(f"{path} is {kind}, not a file")
    try:
        stat = file.stat()
        return _read(path, file, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is no text") from None


@lru_cache(maxsize=4)
def _read(path: str, file: Path, changed: int, size: int) -> Atoms:
    lines = file.read_text(encoding="utf-8").splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) < 3:
        raise ConfigError(f"{path}: {len(lines)} lines are no atoms in a box")
    return _nist(path, lines) if len(lines[0].split()) == 3 else _extended_xyz(path, lines)


def _nist(path: str, lines: list[str]) -> Atoms:
    length = _cube(path, 1, np.diag(_numbers(path, 1, lines[0].split(), 3)))
    _count(path, 2, lines[1], len(lines) - 2)
    rows = [_numbers(path, i, line.split(), 4) for i, line in enumerate(lines[2:], start=3)]
    return Atoms(length, np.array(rows)[:, 1:] + length / 2.0)


def _extended_xyz(path: str, lines: list[str]) -> Atoms:
    before = _before_the_last_frame(lines)
    _count(path, before + 1, lines[before], max(len(lines) - before - 2, 0))
    at, first_atom = before + 2, before + 3
    said = _said(path, at, lines[before + 1])
    if "lattice" not in said:
        raise ConfigError(f'{path}:{at}: the box is missing: Lattice="L 0 0 0 L 0 0 0 L"')
    sides = _numbers(path, at, said["lattice"].split(), 9)
    length = _cube(path, at, np.array(sides).reshape(3, 3))
    origin = np.array(_numbers(path, at, said.get("origin", "0 0 0").split(), 3))
    places, columns = _columns(path, at, said.get("properties", POSITIONS))
    words = [line.split() for line in lines[before + 2 :]]
    for number, row in enumerate(words, start=first_atom):
        if len(row) != columns:
            raise ConfigError(f"{path}:{number}: expected {columns} words, got {len(row)}")

    def of(name: str) -> NDArray[np.float64]:
        first = places[name]
        rows = enumerate(words, start=first_atom)
        return np.array([_numbers(path, i, row[first : first + 3], 3) for i, row in rows])

    return Atoms(length, of("pos") - origin, of("velo") if "velo" in places else None)


def _before_the_last_frame(lines: list[str]) -> int:
    """Return how many lines stand before it: a frame follows where its number of atoms does."""
    before = 0
    while (count := _whole(lines[before])) is not None:
        following = before + count + 2
        if following >= len(lines) or _whole(lines[following]) is None:
            break
        before = following
    return before


def _said(path: str, at: int, line: str) -> dict[str, str]:
    try:
        pairs = (word.partition("=") for word in shlex.split(line))
    except ValueError as error:
        raise ConfigError(f"{path}:{at}: {str(error).lower()}") from None
    return {key.lower(): value for key, equals, value in pairs if equals}


def _columns(path: str, line: int, properties: str) -> tuple[dict[str, int], int]:
    """Return the first column of each property of three numbers, and how many columns there are."""
    parts, places, at = properties.split(":"), {}, 0
    for name, kind, count in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        width = _whole(count)
        if width is None:
            raise ConfigError(f"{path}:{line}: Properties: {count[:40]} is no number of columns")
        if kind == "R" and width == 3:
            places[{"vel": "velo", "velocities": "velo"}.get(name, name)] = at
        at += width
    if "pos" not in places:
        raise ConfigError(f"{path}:{line}: Properties have no pos:R:3")
    return places, at


def _count(path: str, number: int, line: str, there: int) -> None:
    count = _whole(line)
    if count is None:
        said = line.strip()[:40] or "an empty line"
        raise ConfigError(f"{path}:{number}: expected the number of atoms, got {said}")
    if count != there:
        raise ConfigError(f"{path}:{number}: {count} atoms are announced, {there} follow")


def _whole(text: str) -> int | None:
    """Return a number of at most 18 digits 0 to 9, None if it is another text."""
    digits = text.strip()
    # `int` takes no "²", which is a digit to Python, and no number of thousands of digits.
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None


def _cube(path: str, number: int, sides: NDArray[np.float64]) -> float:
    length = float(sides[0, 0])
    if not np.array_equal(sides, length * np.eye(3)) or length <= 0.0:
        raise ConfigError(f"{path}:{number}: the box is no cube along the axes")
    return length


def _numbers(path: str, number: int, words: list[str], count: int) -> list[float]:
    if len(words) != count:
        raise ConfigError(f"{path}:{number}: expected {count} numbers, got {len(words)}")
    numbers = []
    for word in words:
        try:
            numbers.append(float(word))
        except ValueError:
            raise ConfigError(f"{path}:{number}: expected a number, got {word[:40]}") from None
    if not np.isfinite(numbers).all():
        raise ConfigError(f"{path}:{number}: a number is not finite")
    return numbers
