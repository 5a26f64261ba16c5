"""Break files of atoms, records of games and pictures at random: are they read right, or refused?

Each case is a good file in which bytes are flipped, cut out or doubled, lines and words exchanged,
or the encoding is another. A file is *refused* by one or two lines of text, or *read*; what is read
is compared with a second, simple reader that is written here. That reader takes less than the
program does: where it has nothing to say the case is *read alone*. Wrong is a traceback, more than
a second of processor time, and anything read that the second reader reads in another way.

    python tests/faults/files_at_random.py --kind sgf --count 1000 --seed 1
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from reference_py.games.havannah.board import board_of, cell_of
from societies.errors import ConfigError
from societies.games.havannah.game_record import record_of
from societies.games.havannah.position import game_of
from societies.physics.laplace.image import bright_cells
from societies.physics.molecular_dynamics.atoms import read_atoms
from societies.physics.pictures import picture_in

LONGEST = 1.0
"""Seconds of the processor for a file."""

SIZE = 4
"""Of the boards of the records."""

SGF = (
    "(;FF[4]GM[21]SZ[4]PB[one]PW[two]C[a \\] b (;]\n;W[D4];B[C3];W[E4];B[B2])\n",
    "(;SZ[4];W[D4]C[first];B[swap](;W[C3];B[F1])(;W[A1]))",
    "(;GM[21]SZ[4]KM[0];White[A1];Black[G4]LB[A1:x][A2:y];W[c2]\n;B[d5];W[resign])",
    "D4, C3 E4\nB2\n",
)
"""Records; of the second kind, with a swap."""

COMMENT = 'Lattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3'


def atoms_texts() -> list[str]:
    """Return files of atoms: plain, with velocities, a trajectory, NIST's layout."""
    chance = random.Random(1)
    rows = [[chance.uniform(-20, 20) for _ in range(6)] for _ in range(9)]
    plain = "".join("Ar {:.6f} {:.6f} {:.6f}\n".format(*row[:3]) for row in rows)
    moving = "".join("Ar {:.6f} {:.6f} {:.6f} {:.3f} {:.3f} {:.3f}\n".format(*row) for row in rows)
    frame = f'9\n{COMMENT} pbc="T T T"\n{plain}'
    nist = "".join("{} {:.6f} {:.6f} {:.6f}\n".format(i + 1, *rows[i][:3]) for i in range(9))
    return [
        frame,
        f'9\n{COMMENT}:velo:R:3 pbc="T T T" Step=4\n{moving}',
        frame + frame.replace(".", ".1"),
        f"8 8 8\n9\n{nist}",
    ]


def pictures() -> list[tuple[str, bytes]]:
    """Return small pictures of many kinds, by the ends of their names."""
    chance = np.random.default_rng(1)
    grey = chance.integers(0, 256, (9, 12), dtype=np.uint8)
    colours = chance.integers(0, 256, (9, 12, 3), dtype=np.uint8)
    clear = np.dstack([colours, chance.integers(0, 2, (9, 12), dtype=np.uint8) * 255])
    deep, real = grey.astype(np.uint16) * 200, (grey / 255).astype(np.float32)
    found = []
    for array, kinds in (
        (grey, ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP", "PPM", "TGA")),
        (colours, ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP", "PPM")),
        (clear, ("PNG", "TIFF", "GIF", "WEBP")),
        (deep, ("PNG", "TIFF", "PPM")),
        (real, ("TIFF",)),
    ):
        for kind in kinds:
            file = io.BytesIO()
            Image.fromarray(array).save(file, format=kind)
            found.append((kind.lower(), file.getvalue()))
    frames = [Image.fromarray(np.roll(clear, i, axis=1)) for i in range(3)]
    for kind in ("PNG", "GIF", "WEBP", "TIFF"):
        file = io.BytesIO()
        frames[0].save(file, format=kind, save_all=True, append_images=frames[1:], duration=50)
        found.append((kind.lower(), file.getvalue()))
    return found


def broken(content: bytes, chance: random.Random, *, text: bool) -> bytes:
    """Return a file that has been changed in one to three places."""
    changes: list[Callable[[bytes, random.Random], bytes]] = [flip, cut, double, end]
    if text:
        changes += [exchange_lines, exchange_words, other_word, encode, drop_line]
    for _ in range(chance.choice((1, 1, 2, 3))):
        content = chance.choice(changes)(content, chance)
    return content


def flip(content: bytes, chance: random.Random) -> bytes:
    """Change a byte."""
    if not content:
        return content
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ chance.randrange(1, 256)]) + content[at + 1 :]


def _span(content: bytes, chance: random.Random) -> tuple[int, int]:
    at = chance.randrange(len(content) + 1)
    return at, min(len(content), at + chance.choice((1, 1, 2, 5, 20)))


def cut(content: bytes, chance: random.Random) -> bytes:
    """Leave some bytes out."""
    a, b = _span(content, chance)
    return content[:a] + content[b:]


def double(content: bytes, chance: random.Random) -> bytes:
    """Have some bytes twice."""
    a, b = _span(content, chance)
    return content[:b] + content[a:]


def end(content: bytes, chance: random.Random) -> bytes:
    """Leave the end out."""
    return content[: chance.randrange(len(content) + 1)]


def exchange_lines(content: bytes, chance: random.Random) -> bytes:
    """Exchange two lines."""
    lines = content.split(b"\n")
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def drop_line(content: bytes, chance: random.Random) -> bytes:
    """Leave a line out, or have an empty one more."""
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    lines[at : at + 1] = [] if chance.random() < 0.5 else [lines[at], b""]
    return b"\n".join(lines)


def exchange_words(content: bytes, chance: random.Random) -> bytes:
    """Exchange two words or values."""
    words = re.split(rb"([\s\[\];()=:\"]+)", content)
    a, b = (2 * chance.randrange((len(words) + 1) // 2) for _ in range(2))
    words[a], words[b] = words[b], words[a]
    return b"".join(words)


OTHERS = (
    *(
        b"nan",
        b"-inf",
        b"1e999",
        b"1.5D+00",
        b"-7",
        b"0",
        b"999999999999",
        b"1_0",
        b"0x10",
        b"1e-400",
    ),
    *(b"AB", b"W", b"PL", b"", b"tt", b"Z9", b"pbc", b"F", b"Kr", b"mass", b"\\", b'"', b"(", b"]"),
)


def other_word(content: bytes, chance: random.Random) -> bytes:
    """Put another word in the place of one."""
    words = re.split(rb"([\s\[\];()=:\"]+)", content)
    words[2 * chance.randrange((len(words) + 1) // 2)] = chance.choice(OTHERS)
    return b"".join(words)


def encode(content: bytes, chance: random.Random) -> bytes:
    """Write the text in another way."""
    way = chance.randrange(5)
    if way == 0:
        return b"\xef\xbb\xbf" + content
    if way == 1:
        return content.decode("latin-1").encode("utf-16")
    if way == 2:
        return content.replace(b"\n", b"\r\n")
    if way == 3:
        return content.replace(b" ", b"\t")
    return content.replace(b"\n", b" \xe4\n", 2)


def _plain(content: bytes) -> str:
    """Return the text of a file."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    return content.decode("latin-1")


def second_sgf(content: bytes) -> list[str] | None:
    """Return the moves of a record as they stand in it, with a hand-made walk, letter by letter."""
    text = _plain(content)
    if "(" not in text:
        return text.replace(",", " ").upper().split()
    moves: list[str] = []
    name, at, started = "", text.index("("), False
    while at < len(text):
        letter = text[at]
        if letter == ")":
            return moves
        if letter == "[":
            value, at = "", at + 1
            while text[at] != "]":
                if text[at] == "\\":
                    at += 1
                value += text[at]
                at += 1
            key = "".join(one for one in name if one.isupper())
            if key in ("B", "W") and value.strip().lower() != "resign":
                moves.append(value.strip().upper())
            started = True
        elif letter in ";(" or letter.isspace():
            name = "" if not letter.isspace() or started else name
        elif started and letter.isalpha():
            name, started = letter, False
        else:
            name += letter
        at += 1
    return None


def second_xyz(content: bytes) -> tuple[list[float], int] | None:
    """Return coordinates of the last atom modulo the box, and how many atoms there are."""
    lines = re.split("\r\n|\r|\n", _plain(content))
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines[0].split()) == 3:
        side, count = float(lines[0].split()[0]), int(lines[1])
        last = [float(word) + side / 2 for word in lines[-1].replace("D", "e").split()[1:4]]
    else:
        head = max(i for i, line in enumerate(lines) if "attice" in line.replace("L", "l"))
        found = re.search(r'attice\s*=\s*["\'{\[]\s*(\S+)', lines[head])
        assert found is not None
        side, count = float(found[1].replace("D", "e").replace("d", "e")), int(lines[head - 1])
        names = re.search(r"roperties\s*=\s*\"?([^\s\"]+)", lines[head])
        words = (names[1] if names else "species:S:1:pos:R:3").split(":")
        place = sum(map(int, words[2 : 3 * words[::3].index("pos") : 3]))
        row = lines[-1].upper().replace("D", "E").split()[place : place + 3]
        last = [float(word) for word in row]
        if "rigin" in lines[head]:
            return None
    return [x % side for x in last], count


def try_sgf(path: Path, content: bytes) -> str:
    """Read a record and compare the moves; return the outcome."""
    found = record_of(str(path), SIZE)
    game = game_of(SIZE, True, " ".join(found.moves))  # refused where the moves are none
    second = second_sgf(content)
    board = board_of(SIZE)
    moves = [one if one.lower() == "swap" else cell_of(board, one) for one in game.moves]
    if second is None:
        return "wrong: the second reader finds no end"
    expected = [one.lower() if one == "SWAP" else cell_of(board, one) for one in second]
    return "read" if moves == expected else f"wrong: {game.moves}, and not {second}"


def try_xyz(path: Path, content: bytes) -> str:
    """Read atoms and compare the last of them; return the outcome."""
    found = read_atoms(str(path))
    inside = (found.positions >= 0) & (found.positions < found.length)
    if not inside.all():
        return "wrong: outside of the box"
    second = second_xyz(content)
    if second is None:
        return "read alone"
    last, count = second
    if count != len(found.positions):
        return f"wrong: {len(found.positions)} atoms, and not {count}"
    away = np.abs(found.positions[-1] - last) / found.length
    near = np.minimum(away, 1 - away).max() < 1e-6
    return "read" if near else f"wrong: {found.positions[-1]}, and not {last}"


def try_pictures(path: Path, content: bytes) -> str:
    """Read a picture for blurs and plates and compare its first frame; return the outcome."""
    found = picture_in(path, every_frame=False)
    every = picture_in(path, every_frame=True) if found.has_more else found
    first = every.planes[0, : len(found.planes[0])]
    if every.planes.shape[1] == found.planes.shape[1] and not found.lost:
        assert np.array_equal(first, found.planes[0]), "the first frame is another among all"
    planes = found.planes[0]
    try:
        bright_cells(path, planes.shape[1:])
    except ConfigError as error:
        if "bright at its border" not in str(error):
            return f"wrong: plates say {error}"
    with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(content)) as image:
        image.load()
        if found.lost or image.getexif().get(0x0112, 1) != 1:
            return "read alone"
        expected = np.moveaxis(np.atleast_3d(np.asarray(image.convert("RGB"))), 2, 0)
    return "read" if (planes == expected).all() else "wrong: other pixels"


def outcome(try_one: Callable[[Path, bytes], str], path: Path, content: bytes) -> str:
    """Return what became of a file: read, read alone, refused, or wrong and why."""
    path.write_bytes(content)
    before = time.process_time()
    try:
        kind = try_one(path, content)
    except ConfigError as error:
        lines = str(error).splitlines()
        bad = len(lines) > 2 or len(str(error)) > 400 or not str(error).isprintable()
        kind = f"wrong: said {error!s:.600}" if bad else "refused"
    except Exception as error:
        kind = f"wrong: {type(error).__name__}: {error!s:.200}"
    seconds = time.process_time() - before
    return kind if seconds < LONGEST else f"wrong: {seconds:.1f} s of processor time"


def fuzz(kind: str, count: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Break ``count`` files; return the outcomes, and what was wrong."""
    chance = random.Random(f"{kind} {seed}")
    good: list[tuple[str, bytes]]
    tries: dict[str, Any] = {"sgf": try_sgf, "xyz": try_xyz, "pictures": try_pictures}
    if kind == "pictures":
        good = pictures()
    else:
        texts = list(SGF) if kind == "sgf" else atoms_texts()
        good = [(kind, text.encode()) for text in texts]
    outcomes: Counter[str] = Counter()
    wrong = []
    for ending, content in good:  # as they are, all of them are read
        found = outcome(tries[kind], folder / f"good.{ending}", content)
        if found not in ("read", "read alone"):
            wrong.append(f"a good file: {found}")
    for number in range(count):
        ending, content = chance.choice(good)
        content = broken(content, chance, text=kind != "pictures")
        found = outcome(tries[kind], folder / f"{number}.{ending}", content)
        if found.startswith("wrong"):
            wrong.append(f"{number}: {found}: {content[:300]!r}")
        else:
            (folder / f"{number}.{ending}").unlink()
        outcomes[found.split(":")[0]] += 1
    return outcomes, wrong


def main() -> int:
    """Break files, print the summary; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=("sgf", "xyz", "pictures"), default="sgf")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    before = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, wrong = fuzz(options.kind, options.count, options.seed, Path(folder))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{options.count} files, {options.kind}, seed {options.seed}: {dict(outcomes)}", end="; ")
    print(f"{len(wrong)} wrong; {time.process_time() - before:.0f} s of the processor")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
