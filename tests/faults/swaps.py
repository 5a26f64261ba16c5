"""Move data of result files and studies together with their checksums: is every move reported?

A flip changes data, and their checksum does not fit them any more. A lost or misdirected write of a
disk does something else: a row stands where another one should, or is gone, and its checksum with
it. One of these happens to a copy of a file:

- two rows of a variable, of a table or of a study change places, with their checksums;
- one of them is copied over the other, with its checksum;
- a row gets fill values, and its checksum zeros;
- two variables of the same size change places, with their checksums;
- two checkpoints change places; one comes from another run of the same shape;
- a row, a variable or a record of a commit comes from another run of the same shape;
- a piece of any size changes places with another piece, or is copied over it.

What is wrong is decided as in `flips.py`.

    python tests/faults/swaps.py --swaps 300 --seed 1
    python tests/faults/swaps.py --swaps 300 --seed 1 --what studies
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import flips

import societies
from societies import config_from_dict, sweep
from societies.errors import OutputError, SocietiesError
from societies.output.opening import is_study
from societies.output.stored_seal import Seal, StudySeal, find
from societies.output.study_layout import CHECKSUM, ERROR, PLACES, STATUS, WALL_TIME

Piece = tuple[int, int]
"""First byte and number of bytes."""
Unit = list[Piece]
"""Pieces of a file that are moved together: data, and the checksum of these data."""


class Pieces:
    """Finds what can be moved in a file.

    Parameters
    ----------
    path : of an intact file
    """

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            found = find(descriptor)
        finally:
            os.close(descriptor)
        assert found is not None
        self.seal: Seal | StudySeal = found

    def row(self, name: str, at: int, axis: int = 0) -> Unit:
        """Return the pieces of a dataset at one position of an axis."""
        extent = self.seal.extents[name]
        inner = math.prod(extent.shape[axis + 1 :]) * extent.dtype.itemsize
        outer = math.prod(extent.shape[:axis])
        step = inner * extent.shape[axis]
        return [(extent.offset + i * step + at * inner, inner) for i in range(outer)]

    def whole(self, name: str) -> Unit:
        """Return a dataset as the only piece."""
        extent = self.seal.extents[name]
        return [(extent.offset, extent.nbytes)]

    def rows(self, chance: random.Random) -> tuple[list[Unit], list[bytes]]:
        """Return the rows of something at random with their checksums, and an empty row."""
        if isinstance(self.seal, StudySeal):
            fills = {name: bytes.fromhex(fill) for name, fill in self.seal.variables.items()}
            fills |= {STATUS: b"\0", CHECKSUM: b"\0", ERROR: b"\0"}
            fills |= {WALL_TIME: bytes.fromhex("000000000000f87f")}
            fills |= {PLACES.format(table): b"\0" for table in self.seal.tables}
            return self._along(dict.fromkeys(fills, 0), fills)
        along = [name for name, one in self.seal.series.items() if one.axis is not None]
        tables = [f"events/{name}" for name in self.seal.tables if self.seal.fills]
        name = chance.choice([*along, *tables, "checksums/commits", "provenance/sessions"])
        if name.startswith("events/"):
            table = name.removeprefix("events/")
            columns = zip(self.seal.tables[table], self.seal.fills[table], strict=True)
            fills = {f"{name}/{one}": bytes.fromhex(fill) for one, fill in columns}
            return self._along(dict.fromkeys([*fills, f"checksums/{name}"], 0), fills)
        if name not in along:
            return self._along({name: 0}, {})
        series = self.seal.series[name]
        axes = {name: series.axis or 0, f"checksums/{name}": 0}
        return self._along(axes, {name: bytes.fromhex(series.fill)})

    def _along(
        self, axes: dict[str, int], fills: dict[str, bytes]
    ) -> tuple[list[Unit], list[bytes]]:
        first = next(iter(axes))
        count = self.seal.extents[first].shape[axes[first]]
        rows = [
            [piece for name, axis in axes.items() for piece in self.row(name, at, axis)]
            for at in range(count)
        ]
        empty = (
            [
                fills.get(name, b"\0") * (nbytes // len(fills.get(name, b"\0")))
                for name, axis in axes.items()
                for _, nbytes in self.row(name, 0, axis)
            ]
            if count
            else []
        )
        return rows, empty

    def twins(self, chance: random.Random) -> list[Unit]:
        """Return datasets of the same size at random, each with its checksums."""
        if isinstance(self.seal, StudySeal):
            units = [self.whole(name) for name in (*self.seal.variables, WALL_TIME)]
        elif chance.random() < 0.3:
            units = [
                [
                    p
                    for name in sorted(self.seal.extents)
                    if name.startswith(start)
                    for p in self.whole(name)
                ]
                for start in (f"checkpoint/{slot}/" for slot in range(self.seal.slots))
            ]
        else:
            names = self.seal.series
            units = [self.whole(name) + self.whole(f"checksums/{name}") for name in names]
        like = [nbytes for _, nbytes in chance.choice(units)]
        return [one for one in units if [nbytes for _, nbytes in one] == like]


def read(content: bytes | bytearray, unit: Unit) -> list[bytes]:
    """Return the bytes of pieces."""
    return [bytes(content[at : at + nbytes]) for at, nbytes in unit]


def write(content: bytearray, unit: Unit, pieces: Sequence[bytes]) -> None:
    """Overwrite pieces."""
    for (at, nbytes), one in zip(unit, pieces, strict=True):
        assert len(one) == nbytes
        content[at : at + nbytes] = one


def move(content: bytearray, pieces: Pieces, other: bytes | None, chance: random.Random) -> str:
    """Move something in a file; return what was moved, "" if there was nothing to move.

    ``other`` is another file of the same shape: every dataset is in the same place.
    """
    kinds = ["swapped", "copied", "lost", "twins swapped", "any swapped", "any copied"]
    kind = chance.choice([*kinds, *(["foreign", "foreign twin"] if other else [])])
    if kind.startswith("any"):
        nbytes = chance.choice([1, 4, 8, 64, 512, 4096])
        first, second = ([(chance.randrange(len(content) - nbytes), nbytes)] for _ in "ab")
        empty: list[bytes] = []
    elif "twin" in kind:
        units = pieces.twins(chance)
        first, second = chance.choice(units), chance.choice(units)
    else:
        units, empty = pieces.rows(chance)
        if not units:
            return ""
        first, second = chance.choice(units), chance.choice(units)
    one, two = read(content, first), read(content, second)
    if kind.startswith("foreign"):
        assert other is not None
        write(content, first, read(other, first))
    elif kind == "lost":
        write(content, first, empty)
    else:
        write(content, second, one)
        if "swapped" in kind and first != second:
            write(content, first, two)
    return f"{kind}, bytes {first[0]} and {second[0]}"


def swap_pieces(
    path: Path, swaps: int, seed: int, other: Path | None = None
) -> tuple[Counter[str], list[str]]:
    """Move something in copies of a file, ``swaps`` times; return the outcomes, and what is wrong.

    A move that changes no byte is not counted.
    """
    chance, whole, study = random.Random(seed), path.read_bytes(), is_study(path)
    says: Callable[[Path], Any] = flips.study_contents if study else flips.everything
    judge: Callable[[Path, Any], tuple[str, str]] = flips.study_outcome if study else flips.outcome
    pieces, foreign = Pieces(path), None
    if other is not None and Pieces(other).seal.extents == pieces.seal.extents:
        foreign = other.read_bytes()
    copy = path.with_name(f"swapped-{path.name}")
    copy.write_bytes(whole)
    before = says(copy)
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    while outcomes.total() < swaps:
        changed = bytearray(whole)
        what = move(changed, pieces, foreign, chance)
        if changed == whole:
            continue
        copy.write_bytes(changed)
        try:
            kind, said = judge(copy, before)
        except (OutputError, AssertionError) as error:
            kind, said = "wrong", f"{type(error).__name__}: {error}"
        except SocietiesError as error:
            kind, said = "wrong", f"reported only later: {error}"
        if kind == "wrong":
            wrong.append(f"{path.name}, {what}: {said}")
        outcomes[kind] += 1
    return outcomes, wrong


def make_pairs(folder: Path, what: str) -> list[tuple[Path, Path | None]]:
    """Return the files of `flips.py`, the first of them with another run of the same shape."""
    other = folder / "other.h5"
    if what == "studies":
        files = flips.make_studies(folder)
        base = {**flips.STUDY["base"], "seed": 2**63 + 2}
        sweep.run({**flips.STUDY, "base": base}, out=other, device="reference", batch=3)
    else:
        files = flips.make_files(folder)
        config = config_from_dict({**flips.CONFIG, "seed": 2})
        societies.run(config, device="reference", out=other)
    return [(files[0], other), *((one, None) for one in files[1:])]


def main() -> int:
    """Make the files, move pieces of them, print the summary; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--swaps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--what", choices=["runs", "studies"], default="runs")
    options = parser.parse_args()
    began, total, failures = time.perf_counter(), Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        pairs = make_pairs(Path(folder), options.what)
        for number, (path, other) in enumerate(pairs):
            count = options.swaps // len(pairs) + (number < options.swaps % len(pairs))
            outcomes, wrong = swap_pieces(path, count, options.seed + number, other)
            print(f"{path.name}: {path.stat().st_size} bytes, {count} moves: {dict(outcomes)}")
            total, failures = total + outcomes, failures + wrong
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"{total.total()} moves, seed {options.seed}: {dict(total)}", end="; ")
    print(f"{len(failures)} wrong; {time.perf_counter() - began:.0f} s")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
