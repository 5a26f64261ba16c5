"""How many instructions of each class has a kernel in PTX?"""

import re
from collections import Counter

_ENTRY = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?(\w+)")
_INSTRUCTION = re.compile(r"\s*(?:@!?%\w+\s+)?([a-z]\w*(?:\.[\w:]+)*)(?=[\s;])")

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
