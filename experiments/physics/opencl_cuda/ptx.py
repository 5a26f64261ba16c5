"""How many instructions of each class has a kernel in PTX?

    python experiments/physics/opencl_cuda/ptx.py FILE.ptx ...

prints those of the innermost loops of files of one kernel each.
"""

import re
import sys
from collections import Counter
from pathlib import Path

_ENTRY = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?(\w+)")
_INSTRUCTION = re.compile(r"\s*(?:@!?%\w+\s+)?([a-z]\w*(?:\.[\w:]+)*)(?=[\s;])")
_LABEL = re.compile(r"(\$\w+):")
_TARGET = re.compile(r"(\$\w+)")

CLASSES = {
    "arithmetic": """abs add addc clz copysign div dp2a dp4a ex2 fma lg2 mad mad24 madc max min mul
        mul24 neg popc rcp rem rsqrt sad sin cos sqrt sub subc tanh testp""",
    "logic and shift": """and bfe bfi bfind bmsk brev cnot fns lop3 not or prmt shf shl shr szext
        xor""",
    "data movement": """atom cvt cvta isspacep ld ldu mov pack prefetch prefetchu red shfl st
        activemask match vote""",
    "flow": """bar barrier bra brx call exit fence membar nanosleep ret selp set setp slct trap
        griddepcontrol""",
}
_CLASS = {word: name for name, words in CLASSES.items() for word in words.split()}


def class_of(opcode):
    """Return the class of an opcode such as ``ld.global.f32``."""
    return _CLASS.get(opcode.partition(".")[0], "other")


def opcodes(ptx):
    """Return how often each kernel of a text has each opcode."""
    found, current = {}, None
    for line in ptx.splitlines():
        text = line.partition("//")[0]
        if entry := _ENTRY.search(text):
            current = found.setdefault(entry[1], Counter())
        elif current is not None and (one := _INSTRUCTION.match(text)):
            current[one[1]] += 1
    return {name: count for name, count in found.items() if count}


def innermost(ptx):
    """Return the opcodes of every loop of a kernel that has no loop within, first to last."""
    body, places = [], {}
    for line in ptx.splitlines():
        text = line.partition("//")[0].strip()
        if label := _LABEL.fullmatch(text):
            places[label[1]] = len(body)
        elif one := _INSTRUCTION.match(text):
            body.append((one[1], text))
    back = [
        (places[to[1]], place)
        for place, (opcode, text) in enumerate(body)
        if opcode.startswith("bra") and (to := _TARGET.search(text))
        if places.get(to[1], place + 1) <= place
    ]
    return [
        Counter(opcode for opcode, _ in body[first : last + 1])
        for first, last in without_loops(back)
    ]


def without_loops(loops):
    """Return the loops, by their first and last line, within which no other one is; in order."""
    return [
        (first, last)
        for first, last in sorted(loops)
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in loops)
    ]


def main(files):
    """Print how many instructions the innermost loops of the kernels of some files have."""
    for file in map(Path, files):
        for number, loop in enumerate(innermost(file.read_text()), 1):
            most = ", ".join(f"{opcode} {count}" for opcode, count in loop.most_common(8))
            print(f"{file.stem}, loop {number}: {loop.total()} instructions: {most}")


if __name__ == "__main__":
    main(sys.argv[1:])
