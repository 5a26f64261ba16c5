"""How are the problems of a configuration located and described to the user?"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from societies.errors import ConfigError
from societies.words import counted

Path = tuple[str | int, ...]
"""Path of a value: ``("groups", 0, "count")``, shown to users as ``groups.0.count``."""

MOST_REPORTED = 50
"""Most problems of a configuration that are reported; it may have thousands."""

_LONGEST = 60
_SWITCH_WORDS = {"on", "off", "yes", "no", "y", "n"}


@dataclass(frozen=True)
class Origin:
    """Where a value was written: ``file.yaml:12:5``, ``--set a.b=c``, or nowhere (empty text).

    ``names`` says that the text names an entry of a list, whose path need not be shown then.
    """

    order: tuple[int, ...]
    text: str
    names: bool = False


@dataclass(frozen=True)
class Problem:
    """One line of a `ConfigError`."""

    place: Origin
    path: Path
    message: str

    def __str__(self) -> str:
        what = f"{dotted(self.path)}: {self.message}" if self.path else self.message
        return f"{self.place.text}  {what}" if self.place.text else what


def config_error(problems: Iterable[Problem], more: int = 0) -> ConfigError:
    """Return one error with a line for each problem, in the order of the file.

    At most `MOST_REPORTED` are listed, followed by the number of the others. ``more`` is a number
    of further problems that are not in ``problems``.
    """
    found = sorted(dict.fromkeys(problems), key=lambda problem: problem.place.order)
    more += len(found[MOST_REPORTED:])
    rest = [f"and {counted(more, 'more problem')}"] if more else []
    return ConfigError("\n".join([*map(str, found[:MOST_REPORTED]), *rest]))


def first_reason(error: ConfigError, key: str) -> str:
    """Return the first line of an error without its place and, if it is about ``key``, the key."""
    return str(error).partition("\n")[0].rpartition("  ")[2].removeprefix(f"{key}: ")


def dotted(path: Path) -> str:
    """Return ``groups.0.count``; a part that is no plain word is quoted, without line breaks."""
    return ".".join(
        str(part) if isinstance(part, int) or re.fullmatch(r"[\w-]{1,60}", part) else quoted(part)
        for part in path
    )


def quoted(text: str) -> str:
    """Return the text in quotes, on one line, shortened."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")


def described(value: Any, written: str | None = None) -> str:
    """Return a value in a few characters, as in ``got 3``; ``written``: a number as typed."""
    match value:
        case None:
            return "nothing"
        case str():
            return quoted(value)
        case list() | tuple():
            return "a list"
        case dict():
            return "a section"
        case bool():
            text = written or str(value).lower()
        case int() if abs(value) >= 10**_LONGEST:
            text = written or "a number of more than 60 digits"
        case _:
            text = written or str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest known word, or nothing."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean '{by_lower[near[0]]}'?" if near else ""


def plain_words(error: Any, written: str | None = None) -> str:
    """Return one of pydantic's errors (an item of ``ValidationError.errors()``) in plain words."""
    value, limits = error["input"], error.get("ctx", {})
    got = f", got {described(value, written)}"
    match error["type"]:
        case "missing":
            return "is missing"
        case "int_type":
            return f"expected a whole number{got}{_number_hint(value)}"
        case "float_type" if isinstance(value, int) and not isinstance(value, bool):
            return f"must be below 1e308{got}"
        case "float_type":
            return f"expected a number{got}{_number_hint(value)}"
        case "finite_number":
            return f"must be a finite number{got}"
        case "bool_type":
            hint = str(value).lower() in _SWITCH_WORDS | {"true", "false"}
            return f"expected true or false{got}" + (" (write true or false)" if hint else "")
        case "string_type":
            return f"expected text{got}"
        case "too_short" | "too_long" if "field_type" in limits:
            least = error["type"] == "too_short"
            most = limits["min_length"] if least else limits["max_length"]
            bound = f"at {'least' if least else 'most'} {most}"
            return f"must have {bound} entries, has {limits['actual_length']}"
        case "tuple_type" | "list_type":
            return f"expected a list{got}"
        case "model_type" | "dict_type":
            below = "; indent its keys below it, or leave it out" if value is None else ""
            return f"expected a section of 'key: value' lines{got}{below}"
        case "literal_error":
            known = re.findall(r"'([^']*)'", limits["expected"])
            choice = f"one of {', '.join(known)}" if len(known) > 1 else f"'{known[0]}'"
            near = suggestion(value, known) if isinstance(value, str) else ""
            return f"expected {choice}{got}{near}"
        case "greater_than_equal":
            return f"must be at least {_limit(limits['ge'])}{got}"
        case "greater_than":
            return f"must be more than {_limit(limits['gt'])}{got}"
        case "less_than_equal":
            return f"must be at most {_limit(limits['le'])}{got}"
        case "less_than":
            return f"must be less than {_limit(limits['lt'])}{got}"
        case "multiple_of":
            return f"must be a multiple of {_limit(limits['multiple_of'])}{got}"
        case _:
            return str(error["msg"])


def _limit(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _number_hint(value: Any) -> str:
    """Return a hint why a value that looks like a number is text."""
    if not isinstance(value, str):
        return ""
    if re.fullmatch(r"[-+]?\d[\d_, ]*[_, ][\d_, ]*", value):
        return " (write digits only)"
    if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", value):
        return " (text; remove the quotes)"
    return ""
