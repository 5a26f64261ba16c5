"""Write files as other programs may write them: are they read as they are meant, or refused?

Unlike `files_at_random.py`, which breaks good files, every file is put together at random from what
a format allows, so what it means is known without reading it: moves of a game, positions of atoms,
pixels, numbers of a table. What cannot be represented here (stones that are set up, boxes that are
no cubes, a key that is given twice) must be refused.

    python tests/faults/variants_at_random.py --kind sgf --count 300 --seed 1
"""

from __future__ import annotations

import argparse
import io
import random
import struct
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from societies.config.columns import read_columns
from societies.errors import ConfigError
from societies.games.havannah.game_record import record_of
from societies.physics.molecular_dynamics.atoms import read_atoms
from societies.physics.pictures import picture_in

SIZE = 4
"""Of the boards of the records."""

REFUSED = None
"""What a file means that must be refused."""

Case = tuple[str, bytes, Any]
"""End of the name, content, and what it means."""


# ---------------------------------------------------------------- records of games


def sgf(chance: random.Random) -> Case:
    """Return a record of a game of Havannah in the Smart Game Format."""
    cells = [f"{column}{row}" for column in "ABCD" for row in range(1, 5)]
    moves = chance.sample(cells, chance.randrange(1, 9))
    gap = chance.choice(["", "\n", "\r\n", " ", "\t\n", "\r"])
    bad = False
    root = [chance.choice(["SZ[4]", "SZ[ 4 ]", "SZ[04]", ""])]
    root += chance.sample(
        ["GM[21]", "FF[4]", "KM[6.5]", "HA[0]", "AP[a\\:b:1.0]", "C[(;W[A1\\]) \\\\]", "CA[UTF-8]",
         "PB[a]PW[b]", "US[]", "GN[x\\\ny]", "RE[W+]", "PL[W]", "SQ[A1][B2]", "GaMe[21]"],
        chance.randrange(5),
    )  # fmt: skip
    if chance.random() < 0.25:
        bad = True
        root.append(
            chance.choice(
                ["AB[A1]", "AW[A1][B2]", "AE[A1]", "PL[B]", "GM[1]", "SZ[4:5]", "SZ[5]", "HA[2]",
                 "AddBlack[A1]", "XX[1]", "SZ[]", "KM", "PL[2]", "GM[]"]
            )
        )  # fmt: skip
    chance.shuffle(root)
    if sum("SZ" in one for one in root) > 1 or sum("GM" in one for one in root) > 1:
        root = [one for one in root if one not in ("SZ[4]", "SZ[ 4 ]", "SZ[04]", "GM[21]")]
    nodes = []
    for number, move in enumerate(moves):
        colour = "WB"[number % 2]
        said = chance.choice([move, move, move.lower(), f" {move} "])
        name = chance.choice([colour, colour, {"W": "White", "B": "Black"}[colour]])
        also = chance.choice(["", "", "C[a: \\] ;(W\\[A2\\]) ]".replace(") ]", ")]"), "N[x]BM[1]"])
        nodes.append(f"{name}{gap}[{said}]{also}")
        if chance.random() < 0.05:
            nodes.append(chance.choice(["", "C[nothing]", "DM[1]"]))
    if chance.random() < 0.15:
        bad = True
        at, colour = len(moves), "WB"[len(moves) % 2]
        nodes.append(
            chance.choice(
                [f"{colour}[]", f"{colour}[pass]", f"{colour}[A1][B2]", f"{'BW'[at % 2]}[A1]",
                 "AB[A2]", "AE[A1]", f"{colour}[A1:B2]"]
            )
        )  # fmt: skip
    body = f"{gap};".join(nodes)
    text = f"(;{gap.join(root)}{gap};{body}"
    if chance.random() < 0.3:  # the first variation continues, the others do not matter
        extra = "WB"[len(moves) % 2]
        other = chance.choice(cells)
        text += f"(;{extra}[{other}])(;{extra}[A1]AB[C1]){gap}(;XX[1])"
        moves = [*moves, other]
    text += ")"
    if chance.random() < 0.3:
        text += gap + chance.choice(["(;GM[1]SZ[19];AB[aa])", "(;SZ[4];W[A1])(;)"])
    head = chance.choice(["", "", "", "\ufeff", "a mail\n\n", "\n\n"])
    meant = REFUSED if bad else [one.upper() for one in moves]
    return "sgf", (head + text + chance.choice(["", "\n", "\r\n\r\n"])).encode(), meant


def read_sgf(path: Path) -> Any:
    """Return the moves of a record in capitals."""
    return [one.upper() for one in record_of(str(path), SIZE).moves]


# ---------------------------------------------------------------- atoms


def xyz(chance: random.Random) -> Case:
    """Return atoms in extended XYZ: one or several frames, the last of which counts."""
    side = chance.choice([8.0, 8.0, 10.0, 6.25])
    count, bad = chance.randrange(1, 6), False
    end = chance.choice(["\n", "\r\n", "\n"])
    names = ["species", "pos"]
    names += chance.sample(["velo", "id", "force", "mass", "charge"], chance.randrange(3))
    chance.shuffle(names)
    widths = {"species": ("S", 1), "pos": ("R", 3), "velo": ("R", 3), "id": ("I", 1)}
    widths |= {"force": ("R", 3), "mass": ("R", 1), "charge": ("R", 1)}
    properties = ":".join(f"{name}:{widths[name][0]}:{widths[name][1]}" for name in names)
    lattice = [[side if i == j else 0.0 for j in range(3)] for i in range(3)]
    pbc = chance.choice(['pbc="T T T"', "pbc={T T T}", "PBC='1 1 1'", ""])
    wrong = ""
    if chance.random() < 0.3:
        bad = True
        wrong = chance.choice(
            ["cuboid", "sheared", "no box", "not periodic", "species", "count", "charge", "no pos",
             "columns", "not a number", "negative"]
        )  # fmt: skip
    if wrong == "cuboid":
        lattice[2][2] *= 2
    if wrong == "sheared":
        lattice[1][0] = 1
    if wrong == "negative":
        lattice = [[-one for one in row] for row in lattice]
    if wrong == "not periodic":
        pbc = chance.choice(['pbc="T T F"', "pbc=F", 'pbc="F F F"', 'pbc="T T"'])
    if wrong == "no pos":
        properties = properties.replace("pos", "posn")
    if wrong == "charge" and "charge" not in names:
        wrong = "count"

    def number(value: Fraction) -> str:
        text = f"{float(value):.6f}"
        exponent = f"{float(value) / 10:.7f}"
        return chance.choice([text, text, f"{exponent}D+01", f"{exponent}d1", f"{exponent}E1"])

    def frame(last: bool) -> tuple[str, list[list[Fraction]]]:
        rows, where = [], []
        for atom in range(count):
            place = [Fraction(chance.randrange(-30 * 10**6, 30 * 10**6), 10**6) for _ in "xyz"]
            where.append([one % Fraction(str(side)) for one in place])
            cells: list[str] = []
            for name in names:
                if name == "pos":
                    cells += map(number, place)
                elif name == "species":
                    cells.append("Kr" if wrong == "species" and last and atom else "Ar")
                elif name == "charge":
                    cells.append("1.0" if wrong == "charge" and last else "0.0")
                elif name == "mass":
                    cells.append("1.0")
                elif name == "id":
                    cells.append(str(atom + 1))
                else:
                    cells += [f"{chance.uniform(-1, 1):.3f}" for _ in range(3)]
            if wrong == "columns" and last:
                cells.append("7")
            if wrong == "not a number" and last:
                at = sum(widths[one][1] for one in names[: names.index("pos")])
                cells[at] = chance.choice(["nan", "inf", "1_0", "x", "1,5", "0x10"])
            rows.append(chance.choice([" ", "\t", "   "]).join(cells) + chance.choice(["", " "]))
        mark = chance.choice(['"', "'"])
        numbers = " ".join(str(one) for row in lattice for one in row)
        box = [] if wrong == "no box" else [f"Lattice={mark}{numbers}{mark}"]
        words = [*box, f"Properties={properties}", pbc, chance.choice(["", "Time=0.5", "Step=3"])]
        chance.shuffle(words)
        said = count + 1 if wrong == "count" and last else count
        lines = [f"{chance.choice(['', ' '])}{said}", " ".join(filter(None, words)), *rows]
        return end.join(lines) + end, where

    frames = [frame(last) for last in [False] * chance.choice([0, 0, 1, 2]) + [True]]
    text = chance.choice(["", end]).join(one for one, _ in frames)
    text += chance.choice(["", end, f"{end} {end}\t{end}"])
    if wrong == "species" and count == 1:
        bad = False
    meant = REFUSED if bad else (side, [[float(x) for x in row] for row in frames[-1][1]])
    return "xyz", text.encode(), meant


def read_xyz(path: Path) -> Any:
    """Return the side of the box and the positions, rounded to the digits of the files."""
    found = read_atoms(str(path))
    assert ((found.positions >= 0) & (found.positions < found.length)).all()
    return found.length, found.positions.tolist()


# ---------------------------------------------------------------- pictures


def _png(
    samples: NDArray[Any], bits: int, kind: int, more: bytes = b"", *, interlaced: bool = False
) -> bytes:
    """Return a PNG of (row, column, channel) samples, written by hand (ISO/IEC 15948)."""

    def chunk(name: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + check

    def lines(part: NDArray[Any]) -> bytes:
        if not part.size:
            return b""
        flat = part.reshape(len(part), -1)
        if bits == 16:
            packed = flat.astype(">u2").view(np.uint8).reshape(len(flat), -1)
        elif bits == 8:
            packed = flat.astype(np.uint8)
        else:
            shifts = np.arange(bits - 1, -1, -1)
            ones = (flat[:, :, None] >> shifts & 1).astype(np.uint8).reshape(len(flat), -1)
            packed = np.packbits(ones, axis=1)
        return b"".join(b"\0" + row.tobytes() for row in packed)

    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2)]
        passes += [(0, 1, 2, 2), (1, 0, 2, 1)]
    data = b"".join(lines(samples[y::down, x::across]) for y, x, down, across in passes)
    height, width = samples.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, int(interlaced))
    content = chunk(b"IHDR", head) + more + chunk(b"IDAT", zlib.compress(data))
    return b"\x89PNG\r\n\x1a\n" + content + chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def picture(chance: random.Random) -> Case:
    """Return a picture; it means its channels (channel, row, column) and its alpha, or None."""
    draw = np.random.default_rng(chance.randrange(2**32))
    height, width = chance.randrange(1, 12), chance.randrange(1, 12)
    kind = chance.choice(["grey", "colours", "palette", "turned", "cmyk", "animated"])
    if kind in ("grey", "colours"):
        bits = chance.choice([1, 2, 4, 8, 16] if kind == "grey" else [8, 16])
        alpha = bits >= 8 and chance.random() < 0.5
        count = (1 if kind == "grey" else 3) + alpha
        samples = draw.integers(0, 1 << bits, (height, width, count))
        code = (0 if kind == "grey" else 2) + 4 * alpha
        content = _png(samples, bits, code, interlaced=chance.random() < 0.5)
        scaled = samples >> 8 if bits == 16 else samples * (255 // ((1 << bits) - 1))
        planes = np.moveaxis(scaled, 2, 0).tolist()
        meant = (planes[:-1], planes[-1]) if alpha else (planes, None)
        suffix = "png"
    elif kind == "palette":
        bits = chance.choice([1, 2, 4, 8])
        colours = draw.integers(0, 256, (1 << bits, 3), dtype=np.uint8)
        clear = draw.integers(0, 256, chance.randrange((1 << bits) + 1), dtype=np.uint8)
        samples = draw.integers(0, 1 << bits, (height, width, 1))
        more = _chunk(b"PLTE", colours.tobytes())
        more += _chunk(b"tRNS", clear.tobytes()) if len(clear) else b""
        content = _png(samples, bits, 3, more, interlaced=chance.random() < 0.5)
        opacity = np.full(1 << bits, 255)
        opacity[: len(clear)] = clear
        planes = np.moveaxis(colours[samples[:, :, 0]], 2, 0).tolist()
        meant = (planes, opacity[samples[:, :, 0]].tolist() if len(clear) else None)
        suffix = "png"
    else:
        array = draw.integers(0, 256, (height, width, 3), dtype=np.uint8)
        file = io.BytesIO()
        suffix, planes = "png", np.moveaxis(array, 2, 0)
        if kind == "turned":
            way = chance.randrange(1, 9)
            exif = Image.Exif()
            exif[0x0112] = way
            suffix = chance.choice(["png", "webp", "tiff"])
            more = {"lossless": True} if suffix == "webp" else {}
            Image.fromarray(array).save(file, suffix, exif=exif, **more)
            steps = {1: 0, 2: "h", 3: 2, 4: "v", 5: "t", 6: 3, 7: "a", 8: 1}[way]
            turned = {
                "h": array[:, ::-1],
                "v": array[::-1],
                "t": array.swapaxes(0, 1),
                "a": array[::-1, ::-1].swapaxes(0, 1),
            }
            found = turned[steps] if isinstance(steps, str) else np.rot90(array, steps)
            planes = np.moveaxis(found, 2, 0)
        elif kind == "cmyk":
            inks = draw.integers(0, 256, (height, width, 4))
            suffix = "tiff"
            Image.fromarray(inks.astype(np.uint8), "CMYK").save(file, suffix)
            light = (255 - inks[:, :, :3]) * (255 - inks[:, :, 3:]) / 255
            planes = np.moveaxis(light, 2, 0)
        else:
            suffix = chance.choice(["png", "webp"])
            frames = [Image.fromarray(np.roll(array, i, axis=0)) for i in range(3)]
            more = {"lossless": True} if suffix == "webp" else {}
            frames[0].save(file, suffix, save_all=True, append_images=frames[1:], **more)
        content, meant = file.getvalue(), (planes.tolist(), None)
    # The first frame of an animation may be whole, and all pixels in three quarters of a file.
    if kind != "animated" and chance.random() < 0.15:
        return suffix, content[: chance.randrange(len(content) // 2)], REFUSED
    return suffix, content, meant


def read_picture(path: Path) -> Any:
    """Return the channels and the alpha of the first frame."""
    found = picture_in(path, every_frame=False)
    return found.planes[0].tolist(), None if found.alpha is None else found.alpha[0].tolist()


# ---------------------------------------------------------------- tables


def table(chance: random.Random) -> Case:
    """Return a table of keys and values; it means its keys and its rows."""
    keys = chance.sample(["a", "b.c", "d_e", "f1", "g"], chance.randrange(1, 5))
    divider = chance.choice([",", ";", "\t"]) if len(keys) > 1 else ","
    rows, bad = [], False
    for _ in range(chance.randrange(1, 6)):
        rows.append([chance.choice([1, -7, 2.5, 1e-3, "word", "two words", True]) for _ in keys])

    def cell(value: Any) -> str:
        text = {True: "true"}.get(value, str(value)) if value is True else str(value)
        pad = chance.choice(["", "", " "])
        if chance.random() < 0.3:
            return f'{pad}"{text}"'
        return f"{pad}{text}{pad}"

    lines = [[cell(key) for key in keys], *([cell(one) for one in row] for row in rows)]
    if chance.random() < 0.35:
        bad, at = True, chance.randrange(1, len(lines))
        wrong = chance.choice(["comma", "twice", "short", "long", "quote", "empty", "null"])
        if wrong == "comma":
            lines[at][0] = '"1,5"' if divider == "," else "1,5"
        elif wrong == "twice":
            for line in lines:
                line.append(line[0])
        elif wrong == "short" and len(keys) > 1:
            lines[at].pop()
        elif wrong == "quote":
            lines[at][-1] = '"never closed'
        elif wrong == "empty" and len(keys) > 1:
            lines[at][0] = ""
        elif wrong == "null":
            lines[at][0] = "a\0b"
        else:
            lines[at].append("1")
    ends = chance.choice([["\n"], ["\r\n"], ["\n", "\r\n"], ["\r"]])
    text = "".join(divider.join(line) + chance.choice(ends) for line in lines)
    text += chance.choice(["", "", divider * (len(keys) - 1) + ends[0], ends[0] * 2])
    mark = chance.choice(["utf-8", "utf-8-sig", "utf-8-sig", "utf-16"])
    bad |= mark == "utf-16"
    return "csv", text.encode(mark), REFUSED if bad else (tuple(keys), [tuple(r) for r in rows])


def read_table(path: Path) -> Any:
    """Return keys and rows of a table."""
    found = read_columns(path, "copy")
    return found.keys, found.rows


KINDS: dict[str, tuple[Callable[[random.Random], Case], Callable[[Path], Any], float]] = {
    "sgf": (sgf, read_sgf, 0),
    "xyz": (xyz, read_xyz, 1e-9),
    "pictures": (picture, read_picture, 1.0),
    "tables": (table, read_table, 0),
}
"""Function that makes a file, function that reads it, and how far numbers may be off.

Of pictures only inks (CMYK) may be off, by rounding.
"""


def same(found: Any, meant: Any, off: float) -> bool:
    """Return whether what was read is what is meant."""
    if isinstance(meant, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(meant)
            and all(same(a, b, off) for a, b in zip(found, meant, strict=True))
        )
    if isinstance(meant, float) and off:
        return abs(found - meant) <= off * max(1.0, abs(meant))
    return bool(found == meant and type(found) is type(meant))


def compare(kind: str, count: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Write ``count`` files and read them; return the outcomes, and what was wrong."""
    chance = random.Random(f"{kind} {seed}")
    make, read_one, off = KINDS[kind]
    outcomes: Counter[str] = Counter()
    wrong = []
    for number in range(count):
        ending, content, meant = make(chance)
        path = folder / f"{number}.{ending}"
        path.write_bytes(content)
        try:
            found = read_one(path)
        except ConfigError as error:
            lines = str(error).splitlines()
            outcome = "refused" if len(lines) <= 2 and str(error).isprintable() else "wrong"
            if meant is not REFUSED:
                outcome = "wrong"
            found = str(error)
        except Exception as error:
            outcome, found = "wrong", f"{type(error).__name__}: {error}"
        else:
            good = meant is not REFUSED and same(found, meant, off)
            outcome = "read" if good else "wrong"
        if outcome == "wrong":
            wrong.append(f"{number}: {content[:300]!r} is {meant!s:.300}, read {found!s:.300}")
        outcomes[outcome] += 1
        path.unlink()
    return outcomes, wrong


def main() -> int:
    """Write files, read them, print the summary; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=list(KINDS), default="sgf")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    before = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, wrong = compare(options.kind, options.count, options.seed, Path(folder))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{options.count} files, {options.kind}, seed {options.seed}: {dict(outcomes)}", end="; ")
    print(f"{len(wrong)} wrong; {time.process_time() - before:.0f} s of the processor")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
