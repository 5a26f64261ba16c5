"""What do the innermost loops of a kernel wait for, by the machine code that a GPU ran?

    python experiments/physics/opencl_cuda/machine_code.py FILE.csv ...

A file is what `ncu --import R.ncu-rep --page source --csv --print-source sass` prints of a kernel.
For each innermost loop with a tenth of the samples or more: its instructions, its reads, its round
trips, and in which share of samples a warp waited for what. Round trips are how often a turn of the
loop has to wait as long as a read takes, if that is always the same and all else takes no time: a
compiler that asks for more reads before it needs the first has fewer.
"""

import csv
import re
import sys
from pathlib import Path

from ptx import without_loops

TURNS = 20
REGISTER = re.compile(r"\bR(\d+)(\.64)?")
READ = re.compile(r"LD[GS]\S*")
NOTHING = ("ST", "BRA", "ISETP", "BAR", "PLOP")
"""Instructions without a register for their result."""


def instructions(file):
    """Return the rows of a kernel's machine code: address, instruction, counts."""
    lines = Path(file).read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith('"Address"'))
    rows = list(csv.DictReader(lines[first:]))
    for row in rows:
        row["Address"], row["Source"] = int(row["Address"], 16), " ".join(row["Source"].split())
    return rows


def innermost(rows):
    """Return the loops that have no other one within, each as its rows."""
    places = {row["Address"]: place for place, row in enumerate(rows)}
    back = []
    for place, row in enumerate(rows):
        to = re.search(r"\bBRA 0x([0-9a-f]+)", row["Source"])
        first = places.get(int(to[1], 16), place + 1) if to else place + 1
        if first <= place:
            back.append((first, place))
    return [rows[first : last + 1] for first, last in without_loops(back)]


def registers(instruction):
    """Return the opcode, the registers written and those read."""
    text = re.sub(r"^@!?U?P\d+ ", "", instruction)
    opcode, _, rest = text.partition(" ")
    named = []
    for number, wide in REGISTER.findall(rest):
        named += [int(number), *([int(number) + 1] if wide else [])]
    if not named or opcode.startswith(NOTHING):
        return opcode, [], named
    many = 4 if ".128" in opcode else 2 if ".64" in opcode or "WIDE" in opcode else 1
    return opcode, [named[0] + i for i in range(many)], named[1:]


def round_trips(loop):
    """Return how many reads in a row a turn of a loop waits for."""
    now, ready, ends = 0, {}, []
    for _ in range(TURNS):
        for row in loop:
            opcode, written, used = registers(row["Source"])
            now = max([now, *(ready.get(one, 0) for one in (*used, *written))])
            ready.update(dict.fromkeys(written, now + bool(READ.match(opcode))))
        ends.append(now)
    return (ends[-1] - ends[TURNS // 2 - 1]) / (TURNS // 2)


def samples(rows):
    """Return in how many samples a warp was in these rows."""
    return sum(int(row["# Samples"] or 0) for row in rows)


def waits(loop):
    """Return the share of samples by what was waited for, most first."""
    whole, found = samples(loop), {}
    for name in loop[0]:
        if name.startswith("stall_") and "Not Issued" not in name:
            found[name.removeprefix("stall_")] = sum(int(row[name] or 0) for row in loop) / whole
    return sorted(found.items(), key=lambda one: -one[1])


def main(files):
    """Print what the loops of some files wait for."""
    for file in map(Path, files):
        rows = instructions(file)
        for loop in innermost(rows):
            if samples(loop) < samples(rows) / 10:
                continue
            reads = sum(bool(READ.match(registers(row["Source"])[0])) for row in loop)
            said = ", ".join(f"{name} {share:.0%}" for name, share in waits(loop)[:4])
            print(
                f"{file.stem}: {len(loop)} instructions, {reads} reads, "
                f"{round_trips(loop):g} round trips; {said}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
