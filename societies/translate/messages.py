"""What cannot be translated, and what can be written instead?"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from societies.errors import SocietiesError


class TranslationError(SocietiesError):
    """A rule cannot be translated: where, the line with a mark, and what to write instead.

    Attributes
    ----------
    file, line, source : where, and the line itself
    span : first character of the line that is meant, and the one after the last; none: all
    reason, hint : what is wrong at that place, and what to write instead
    wrong : whether it is wrong in Python as well, so that plain Python is no way out
    """

    exit_code = 2

    def __init__(
        self,
        file: str,
        line: int,
        source: str,
        reason: str,
        hint: str = "",
        *,
        span: tuple[int, int] = (0, 0),
        wrong: bool = False,
    ) -> None:
        self.file, self.line, self.reason, self.hint = file, line, reason, hint
        self.source, self.span, self.wrong = source, span, wrong
        lines = [f"{file}:{line}: {reason}", *marked(source, span)]
        lines += [f"  {hint}"] if hint else []
        super().__init__("\n".join(lines))

    def with_hint(self, file: str, hint: str) -> TranslationError:
        """Return the same error with another name of the file, and another hint."""
        return TranslationError(
            file, self.line, self.source, self.reason, hint, span=self.span, wrong=self.wrong
        )


def marked(source: str, span: tuple[int, int]) -> list[str]:
    """Return a line as messages show it; a part of it has a mark in a second line."""
    lines = [f"    {source.strip()}"] if source.strip() else []
    part = source[slice(*span)].rstrip()
    if part and part != source.strip():
        lines.append(f"    {' ' * len(source[: span[0]].lstrip())}{'^' * len(part)}")
    return lines


class RuleError(SocietiesError):
    """A rule raised an error, or computed what a device cannot hold: where, in which society."""


DICTIONARY = (
    "a dictionary has no place in a kernel",
    "Use a list or a field indexed by numbers; only society.series = {...} is written like this.",
)
SET = ("a set has no place in a kernel", "Use a list of 0 and 1, one for each agent.")
TEXT = (
    "a text has no place in a kernel",
    'Compare keys with words: config.rule == "fair".',
)
NUMPY = ("NumPy has no twin on devices", "Write a loop; sums and sorting are in societies.model.")
RANDOM = (
    "the module random is not reproducible on devices",
    "Write rng = Rng.load(society.stream), rng.below(n), and society.stream = rng.pack().",
)
UNKNOWN_MOST = "how many entries will the list have at most?"
BOUNDED = "Write {name} = Bounded(most), where `most` follows from the configuration."
FROM_CONFIG = (
    "how long the list becomes must follow from the configuration",
    "Write Bounded(most) and append, where `most` follows from the configuration.",
)
WRITE_REAL = "Write float(...), or 0.0 for 0."
WALKS = "Write enumerate(values) for places and values, zip(a, b) for the values of two lists."
APPEND_EACH = "Append the entries in a loop."
ASK_BEFORE = "Ask before: if count > 0: x = total / count."
NO_WAITING = "a rule waits for nothing"
TOO_LARGE = "a whole number of more than 64 bits", "Write it as a real number: 1e22."
STATE = (
    "the state of a random stream is no number",
    "Write rng = Rng.load(...), and draw from it; fields of whole numbers are int64.",
)
LOOP_ELSE = (
    "else of a loop cannot be translated",
    "Keep in a variable whether the loop broke off, and ask it after the loop.",
)
ATTRIBUTES = "Its attributes are fields of the society, indexed by agent."
_TABLE = "Fill a table in the configuration, on the host, and read its entries."
_SOFT = "Write soft_exp, soft_log or soft_pow of societies.model: the same bits everywhere."

STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("an error cannot be caught in a kernel", ASK_BEFORE),
    ast.Raise: ("a kernel cannot raise an error", "Write assert, which a checked build looks at."),
    ast.With: (
        "this with cannot be translated",
        "Only functions with @contextmanager and one yield can be; or write rng = Rng.load(...) "
        "before and ... = rng.pack() after.",
    ),
    ast.Import: ("an import inside a rule", "Import at the top of the file."),
    ast.ImportFrom: ("an import inside a rule", "Import at the top of the file."),
    ast.Global: (
        "a variable of the module cannot be changed",
        "What lasts from day to day is a field of the society.",
    ),
    ast.Nonlocal: ("a variable of the function around cannot be changed", "Return the new value."),
    ast.Delete: ("del cannot be translated", "Write values.pop(i)."),
    ast.ClassDef: ("a class cannot be translated", ATTRIBUTES),
    ast.Match: ("match cannot be translated", "Write if and elif."),
    ast.AsyncFunctionDef: (NO_WAITING, "Write def."),
}
EXPRESSIONS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Dict: DICTIONARY,
    ast.DictComp: DICTIONARY,
    ast.Set: SET,
    ast.SetComp: SET,
    ast.GeneratorExp: (
        "a generator stands alone",
        "Use it inside sum, min, max, any, all, sorted or list.",
    ),
    ast.Lambda: ("a lambda stands only as key= or as an argument", "Write def."),
    ast.JoinedStr: TEXT,
    ast.Yield: ("a rule is no generator", "Append to a list, and return it."),
    ast.YieldFrom: ("a rule is no generator", "Append to a list, and return it."),
    ast.Starred: ("* cannot be translated", APPEND_EACH),
    ast.NamedExpr: ("an assignment inside an expression", "Write it in a line of its own."),
    ast.Await: (NO_WAITING, "Call the function."),
    ast.Slice: ("a slice of several dimensions", "Write a comprehension: [row[k] for row in x]."),
}

_MULTIPLY = "Write a loop that multiplies."
_DISTANCE = "Write math.sqrt(x * x + y * y)."
_TURN = "Write x * (math.pi / 180.0), or the inverse."
_REST = "Write a % b of whole numbers; of real ones a - b * float(math.trunc(a / b))."
_OF_MATH = {
    "gcd": "Write a function with a loop: while b != 0: a, b = b, a % b.",
    "isqrt": "Write int(math.sqrt(n)), which is the same below 2**52.",
    "copysign": "Write math.fabs(x) if y >= 0.0 else -math.fabs(x).",
    "isclose": "Write abs(a - b) <= 1e-9 * max(abs(a), abs(b)).",
    "modf": "Write math.trunc(x), and x - float(math.trunc(x)).",
    **dict.fromkeys(("fmod", "remainder"), _REST),
    **dict.fromkeys(("hypot", "dist"), _DISTANCE),
    **dict.fromkeys(("radians", "degrees"), _TURN),
    **dict.fromkeys(("factorial", "comb", "perm", "prod", "lcm"), _MULTIPLY),
}
"""What to write instead of functions of the module math that could be computed exactly."""

FUNCTIONS: dict[Callable[..., Any] | type, tuple[str, str]] = {
    **{
        one: (f"math.{one.__name__} has other bits on every device", _SOFT)
        for one in (math.exp, math.log, math.log2, math.log10, math.pow)
    },
    pow: ("pow is not translated", "Write a ** b of whole numbers, soft_pow(x, y) of real ones."),
    math.fsum: ("math.fsum has no twin on devices", "Write reduce_sum(values)."),
    print: (
        "print has no place in a kernel",
        "Declare a Series, or a Field with recorded=True, and look at the file.",
    ),
    dict: DICTIONARY,
    **dict.fromkeys((set, frozenset), SET),
    **dict.fromkeys((str, repr), TEXT),
    open: ("files have no place in a kernel", "Read them in the configuration."),
    input: ("input has no place in a kernel", "Declare a key of the configuration."),
    map: ("map cannot be translated", "Write a comprehension or a loop."),
    filter: ("filter cannot be translated", "Write a comprehension with a condition."),
    **dict.fromkeys(
        (isinstance, type),
        ("a kernel does not ask for types", "Give every name one kind of number."),
    ),
    getattr: ("names of fields must be written out", "Write society.name."),
    setattr: ("names of fields must be written out", "Write society.name = ..."),
    eval: ("eval has no place in a kernel", "Write the expression."),
    exec: ("exec has no place in a kernel", "Write the statements."),
    divmod: ("divmod cannot be translated", "Write a // b and a % b."),
    **dict.fromkeys((iter, next), ("an iterator has no place in a kernel", "Write a loop.")),
    tuple: ("a tuple of unknown length has no place in a kernel", "Write list(...)."),
    super: ("a class has no place in a kernel", "Write a function."),
    **{
        one: (f"{one.__name__}(...) stands alone", "Write it in a loop, or in list(...).")
        for one in (range, zip, enumerate, reversed)
    },
    **{
        getattr(math, name): (f"math.{name} is not translated", hint)
        for name, hint in _OF_MATH.items()
    },
}

NO_SUCH_MODULE = {
    "numpy": NUMPY,
    "random": RANDOM,
    "math": ("{name} has other bits on every device", _TABLE),
    "statistics": ("{name} has no twin on devices", "Write reduce_sum(values) and a division."),
    "itertools": ("{name} has no twin on devices", "Write the loops."),
    "functools": ("{name} has no twin on devices", "Write a loop."),
    "collections": ("{name} has no place in a kernel", "Use a list or a field indexed by numbers."),
    "time": ("{name}: a rule knows no clock", "The number of the day is a parameter."),
}


def too_large(value: int) -> tuple[str, str]:
    """Return reason and hint of a whole number that a device does not have."""
    if abs(value) == 2**63:
        hint = "-2**63 stands for None: the least is -2**63 + 1."
        return f"{value} is no whole number of devices", hint
    return TOO_LARGE


def no_such_function(value: Any) -> tuple[str, str] | None:
    """Return reason and hint if a function of a library cannot be translated; None otherwise."""
    try:
        if value in FUNCTIONS:
            return FUNCTIONS[value]
    except TypeError:  # not hashable, so none of them
        return None
    owner = getattr(value, "__self__", None)
    for one in (value, owner, type(owner)):
        module = str(getattr(one, "__module__", None) or getattr(one, "__name__", "")).split(".")[0]
        if module in NO_SUCH_MODULE:
            reason, hint = NO_SUCH_MODULE[module]
            name = f"{module}.{getattr(value, '__name__', value)}"
            return reason.format(name=name), hint
    return None
