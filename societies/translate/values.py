"""What is known of a value while its rule is translated: its kind, its text in C, its bounds?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import ast

INT, REAL, BOOL, MAYBE, WORD, NONE = "int", "real", "bool", "int?", "word", "none"
"""Kinds of numbers: whole, real, truth value, whole or None, word of 64 bits, None."""

CTYPES = {INT: "long", REAL: "real", BOOL: "int", MAYBE: "long", WORD: "ulong", NONE: "long"}
"""Type in C of a variable of each kind."""

LISTED = {INT: "long", REAL: "real", BOOL: "long", MAYBE: "long", WORD: "ulong", NONE: "long"}
"""Type in C of an entry of a list: 8 bytes each, so that lists of any kind share scratch memory."""

READ, NAME, FIXED = 0, 1, 2
"""How long a number keeps its value: until anything is stored, until its variable is assigned
again, always."""

LEAST, MOST = -(2**63), 2**63 - 1
"""Bounds of a whole number on a device. The least one stands for None."""

FIELDS: dict[str, tuple[str, str, int | None, int | None]] = {
    "int8": ("char", INT, -(2**7), 2**7 - 1),
    "uint8": ("uchar", INT, 0, 2**8 - 1),
    "int16": ("short", INT, -(2**15), 2**15 - 1),
    "uint16": ("ushort", INT, 0, 2**16 - 1),
    "int32": ("int", INT, -(2**31), 2**31 - 1),
    "uint32": ("uint", INT, 0, 2**32 - 1),
    "int64": ("long", INT, LEAST + 1, MOST),
    "uint64": ("ulong", WORD, None, None),
    "float64": ("real", REAL, None, None),
}
"""Type in C, kind, least and largest value of each type of a field."""

LONGEST = 2**24
"""Largest upper bound of a number that is accepted as the maximal length of a list."""

CALLED = {
    INT: "a whole number",
    REAL: "a real number",
    BOOL: "a truth value",
    MAYBE: "a whole number or None",
    WORD: "the state of a random stream",
    NONE: "None",
}
"""How messages call each kind."""


@dataclass(frozen=True)
class Number:
    """A number, or a variable of numbers: its text in C, and what is known of it.

    Attributes
    ----------
    text : expression in C
    kind : `INT`, `REAL`, `BOOL`, `MAYBE`, `WORD` or `NONE`
    life : `READ`, `NAME` or `FIXED`
    low, high : bounds that the value never leaves; None: not known
    known : value, if it follows from the configuration and constants alone (a variable: if it never
        gets another value); None: not known
    literal : whether the text is the value of ``known`` written out
    offset : in a phase for each entry, the number minus the entry's index; None: not known
    line : line of the first assignment, if this is a variable
    """

    text: str
    kind: str
    life: int = READ
    low: int | None = None
    high: int | None = None
    known: int | float | None = None
    literal: bool = False
    line: int = 0
    offset: int | None = None

    @property
    def positive(self) -> bool:
        """Whether the number is never negative."""
        return self.low is not None and self.low >= 0

    @property
    def limits(self) -> tuple[int | None, int | None]:
        """Least and largest value, as far as they are known."""
        return (self.known, self.known) if isinstance(self.known, int) else (self.low, self.high)

    @property
    def most(self) -> int | None:
        """Largest value, if it follows from the configuration."""
        if isinstance(self.known, int):
            return self.known
        return self.high if self.high is not None and self.high <= LONGEST else None


@dataclass(frozen=True)
class Known:
    """An object that is known while translating and is no number: a word, None, a function."""

    value: Any


@dataclass(frozen=True)
class Settings:
    """The configuration, or a section of it."""

    value: Any
    path: str = ""


@dataclass(frozen=True)
class Society:
    """The copy whose state the rules read and change."""


@dataclass(frozen=True)
class Stream:
    """A random stream, with the text of its address in C."""

    address: str


@dataclass(frozen=True)
class EventList:
    """A list of events of the copy, to which rows can be appended."""

    name: str


@dataclass(frozen=True)
class Inner:
    """A function that is defined in a function, or a lambda."""

    node: ast.FunctionDef | ast.Lambda
    owner: Any
    frame: Any


@dataclass(frozen=True)
class Method:
    """A method of a list or a stream, before it is called."""

    owner: Value
    name: str


@dataclass(frozen=True)
class ListColumn:
    """One number of each entry of a list."""

    pointer: str
    ctype: str
    kind: str


@dataclass(frozen=True)
class List:
    """A list of numbers, of tuples of numbers, or of rows of numbers.

    Attributes
    ----------
    columns : one for a list of numbers; several for a list of tuples
    space : "field", "scratch", "private" or "table" (read only)
    length : text in C of the number of entries
    most : largest number of entries
    counter : text in C of the variable that holds the length, if the length can change
    base : text in C of the position of the first number, if it is not 0
    dims : lengths of the dimensions that are not indexed yet; () if only one is left
    lengths : pointer to the lengths of the rows, in a list of lists
    field : name of the field whose entries these are
    own : `Number.offset` of the first index if the list is a part of a field, for the race check
    bounded : whether the rule itself states the largest number of entries
    fresh : whether no variable refers to the list yet
    local : whether the list was made in the function that is translated
    low, high : bounds that whole numbers in it never leave
    """

    columns: tuple[ListColumn, ...]
    space: str
    length: str
    most: int
    counter: str = ""
    base: str = ""
    dims: tuple[int, ...] = ()
    lengths: str = ""
    field: str = ""
    own: int | None = None
    bounded: bool = False
    fresh: bool = False
    local: bool = False
    low: int | None = None
    high: int | None = None

    @property
    def kind(self) -> str:
        """Kind of the entries of a list of numbers."""
        return self.columns[0].kind

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of each number of an entry."""
        return tuple(column.kind for column in self.columns)

    @property
    def pairs(self) -> bool:
        """Whether the entries are tuples."""
        return len(self.columns) > 1

    @property
    def rows(self) -> bool:
        """Whether the entries are lists."""
        return len(self.dims) > 1

    @property
    def key(self) -> tuple[Any, ...]:
        """What the C text of a function depends on if it has this list as an argument."""
        types = tuple((column.ctype, column.kind) for column in self.columns)
        sizes = (self.most, self.dims, bool(self.counter), bool(self.lengths))
        return ("list", types, self.space, *sizes, self.field, self.own, self.bounded)


Value: TypeAlias = (
    "Number | Known | Settings | Society | Stream | EventList | Inner | Method | List "
    "| tuple[Value, ...]"
)


def literal(value: int | float | bool) -> Number:
    """Return a number whose text is exactly this value."""
    if isinstance(value, bool):
        return Number(str(int(value)), BOOL, FIXED, int(value), int(value), value, True)
    if isinstance(value, int):
        text = str(value) if abs(value) < 2**31 else f"{value}L"
        if value == LEAST:
            text = "NOTHING"
        elif value < 0:
            text = f"({text})"
        return Number(text, INT, FIXED, value, value, value, True)
    if math.isnan(value):
        return Number("SOFT_NAN", REAL, FIXED)
    if math.isinf(value):
        return Number("SOFT_INFINITY" if value > 0 else "(-SOFT_INFINITY)", REAL, FIXED)
    plain = value == int(value) and abs(value) < 1e15
    text = repr(value) if plain else value.hex()
    if math.copysign(1, value) < 0:
        text = f"({text})"
    return Number(text, REAL, FIXED, None, None, value, True)


NOTHING = Number("NOTHING", NONE, FIXED)


def parts_of(value: Value) -> tuple[Value, ...]:
    """Return the parts of a tuple; of anything else, the value itself."""
    return value if isinstance(value, tuple) else (value,)


def common_kind(*kinds: str) -> str | None:
    """Return the kind that holds numbers of all these kinds exactly; None: there is none."""
    found = set(kinds)
    if len(found) == 1:
        return kinds[0]
    if not found <= {INT, BOOL, MAYBE, NONE}:
        return None
    return MAYBE if found & {MAYBE, NONE} else INT


def wide(number: Number) -> str:
    """Return the text of a whole number or truth value as a ``long``.

    C computes with 32 bits where both operands are ``int``: numbers that are written out, truth
    values, and choices between them.
    """
    if number.literal:
        return number.text if number.text.endswith("L") else f"{number.text}L".replace(")L", "L)")
    return f"(long){number.text}" if number.kind == BOOL else number.text


def as_real(number: Number) -> str:
    """Return the text of a number as a real one."""
    if number.kind == REAL:
        return number.text
    if number.literal and number.known is not None:
        return literal(float(number.known)).text
    return f"(real){number.text}"


def bare(text: str) -> str:
    """Return a text without the parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for i, one in enumerate(text):
        depth += {"(": 1, ")": -1}.get(one, 0)
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]
