"""Which values are in a YAML file, and on which line and column is each?

PyYAML's parser gives events with positions. The values are resolved here by the core rules of
YAML 1.2: ``1e-3`` is a number, and ``on``, ``off``, ``yes``, ``no`` are text. Features that a
configuration never needs are refused: tags, anchors and aliases, several documents, repeated keys.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import yaml
from yaml.reader import Reader

from societies.config.problems import Origin, Path, Problem, config_error, quoted
from societies.errors import ConfigError

LARGEST_FILE = 4 * 2**20
DEEPEST_NESTING = 20
MOST_VALUES = 50_000
LONG_TEXT = 2**14
"""Length in characters above which libyaml parses a text. It is ten times as fast as PyYAML's own
parser, but its messages say less."""
LONGEST_NUMBER = 400  # characters; no double needs more, and Python refuses 4300 digits anyway

_NULL = re.compile(r"null|Null|NULL|~|")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_LEADING_ZERO = re.compile(r"([-+]?)0+([1-9][0-9]*)")
_BASED_INTEGER = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass
class Document:
    """Plain data and, for every path in it, where its key and its value were written.

    Attributes
    ----------
    data : plain data: dict, list, str, int, float, bool, None
    keys, values : positions of keys and of values, by path
    written : numbers as they were typed, by path
    problems : problems found so far
    unusable : paths of values that could not be read; ``data`` holds None for them
    """

    data: Any = None
    keys: dict[Path, Origin] = field(default_factory=dict)
    values: dict[Path, Origin] = field(default_factory=dict)
    written: dict[Path, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unusable: set[Path] = field(default_factory=set)

    def place(self, path: Path, *, of_key: bool = False) -> Origin:
        """Return the position of a value (or its key), or of the nearest value around it."""
        if of_key and path in self.keys:
            return self.keys[path]
        for length in range(len(path), -1, -1):
            if path[:length] in self.values:
                return self.values[path[:length]]
        return Origin((0,), "")

    def problem(self, path: Path, message: str) -> Problem:
        """Return a problem of the value at a path."""
        return Problem(self.place(path), path, message)

    def error(self, path: Path, message: str) -> ConfigError:
        """Return the error for a single problem of the value at a path."""
        return config_error([self.problem(path, message)])

    def refuse(self, path: Path, message: str) -> None:
        """Add a problem, and mark the value at this path as unusable."""
        self.problems.append(self.problem(path, message))
        self.unusable.add(path)

    def below(self, name: str, under: str = "") -> Document:
        """Return a section of the document as a document of its own, with the same positions.

        With ``under`` the section is the value of this key.
        """
        at = (under,) if under else ()

        def of(table: Mapping[Any, Any]) -> dict[Any, Any]:
            return {(*at, *path[1:]): one for path, one in table.items() if path[:1] == (name,)}

        data = copy.deepcopy(self.data[name])
        data = {under: data} if under else data
        return Document(data, of(self.keys), of(self.values), of(self.written))

    def forget(self, path: Path) -> None:
        """Drop the positions of a path and of everything below it."""
        for table in (self.keys, self.values, self.written):
            for known in [p for p in table if p[: len(path)] == path]:
                del table[known]


def read_text(text: str, name: str) -> Document:
    """Return the document in a YAML text; problems begin with ``name:line:column``.

    Raises
    ------
    ConfigError
        If the text is not YAML, or uses parts of YAML that a configuration must not have.
    """

    def failure(line: int, column: int, message: str) -> ConfigError:
        return config_error([Problem(_place(name, line, column), (), message)])

    if strange := Reader.NON_PRINTABLE.search(text):
        before = text[: strange.start()]
        line = before.count("\n") + 1
        column = strange.start() - (before.rfind("\n") + 1) + 1
        character = f"#x{ord(strange[0]):04x}"
        raise failure(line, column, f"is not text: it has the character {character}")
    try:
        return _Composer(text, name).document()
    except yaml.MarkedYAMLError as error:
        raise failure(*(_misplaced(text, error) or _not_yaml(error))) from None


def from_mapping(mapping: Mapping[str, Any]) -> Document:
    """Return a document for data without a file; its positions only give an order."""
    document = Document()
    document.data = _copy(document, mapping, (), count())
    return document


def plain_scalar(text: str) -> str | int | float | bool | None:
    """Return the value of an unquoted scalar by the core schema of YAML 1.2 (section 10.3.2).

    Raises ValueError if it is a number of more than `LONGEST_NUMBER` characters.
    """
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER:
        return int(text)
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return bool(_TRUE.fullmatch(text))
    integer, based = _INTEGER.fullmatch(text), _BASED_INTEGER.fullmatch(text)
    if (integer or based or _FLOAT.fullmatch(text)) and len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number of {len(text)} digits is too long")
    if integer:
        return int(text)
    if based:
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SPECIAL_FLOAT.fullmatch(text):
        return float(text.replace(".", ""))
    return text


class _Composer:
    """Makes a document from the events of a text, and refuses features that are not needed."""

    def __init__(self, text: str, name: str) -> None:
        self._name, self._values = name, 0
        self._events = _events(text)

    def document(self) -> Document:
        """Return the document of the text."""
        document, events = Document(), self._events
        next(events)  # the stream begins
        if isinstance(next(events), yaml.DocumentStartEvent):
            document.data = self._node(document, next(events), ())
            next(events)  # the document ends
            after = next(events)
            if not isinstance(after, yaml.StreamEndEvent):
                raise yaml.MarkedYAMLError(problem=SECOND, problem_mark=after.start_mark)
        return document

    def _node(self, document: Document, event: Any, path: Path) -> Any:
        """Return the value that begins with an event, and record the positions of its parts."""
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem=f"alias *{event.anchor}", problem_mark=mark)
        if event.anchor is not None:
            raise yaml.MarkedYAMLError(problem=f"anchor &{event.anchor}", problem_mark=mark)
        if event.tag is not None:
            raise yaml.MarkedYAMLError(problem=f"tag {event.tag}", problem_mark=mark)
        if len(path) >= DEEPEST_NESTING:
            message = f"is nested more than {DEEPEST_NESTING} levels deep"
            raise yaml.MarkedYAMLError(problem=message, problem_mark=mark)
        self._values += 1
        if self._values > MOST_VALUES:
            message = f"has more than {MOST_VALUES:,} values, {TOO_MANY}"
            raise yaml.MarkedYAMLError(problem=message, problem_mark=mark)
        document.values[path] = self._place(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(document, path)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                items.append(self._node(document, event, (*path, len(items))))
            return items
        return self._scalar(document, event, path)

    def _scalar(self, document: Document, event: Any, path: Path) -> Any:
        text = event.value
        if event.style:
            if _SURROGATE.search(text):
                document.refuse(path, "has half of a character (\\ud800 to \\udfff)")
                return None
            if "\0" in text:  # texts in a file of results end at it
                document.refuse(path, "has the character \\0, which no text may have")
                return None
            return text
        if zero := _LEADING_ZERO.fullmatch(text):
            message = f"{text}: programs differ on numbers that begin with 0 (octal?)"
            document.refuse(path, f"{message}; write {''.join(zero.groups())}")
            return None
        try:
            value = plain_scalar(text)
        except ValueError as error:
            document.refuse(path, str(error))
            return None
        if isinstance(value, int | float):
            document.written[path] = text
        return value

    def _mapping(self, document: Document, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            place, key = self._place(event), Document()
            name = self._node(key, event, (*path, "key"))
            problem = None
            if not isinstance(event, yaml.ScalarEvent):
                problem = Problem(place, path, "a key must be a plain word")
            elif name is None and key.unusable and event.style:
                problem = Problem(place, path, f"a key {key.problems[0].message}")
            elif (below := (*path, event.value)) in document.keys:
                first = document.keys[below].order[1]
                message = f"is given twice, first on line {first}; keep one of the two"
                problem = Problem(place, below, message)
            if problem:
                document.problems.append(problem)
                self._node(Document(), next(self._events), (*path, "value"))
            else:
                document.keys[below] = place
                result[event.value] = self._node(document, next(self._events), below)
        return result

    def _place(self, event: Any) -> Origin:
        return _place(self._name, event.start_mark.line + 1, event.start_mark.column + 1)


TOO_MANY = "the most that are read; write a long list of points as a CSV file"
SECOND = "a second document starts here; a configuration is one document"
_SURROGATE = re.compile("[\ud800-\udfff]")


def _events(text: str) -> Iterator[Any]:
    """Yield the events of a YAML text.

    Raises yaml.MarkedYAMLError if it is not YAML.
    """
    if len(text) > LONG_TEXT and yaml.__with_libyaml__:
        yield from yaml.parse(text, yaml.CSafeLoader)
        return
    parser = yaml.SafeLoader(text)
    try:
        while parser.check_event():
            yield parser.get_event()  # type: ignore[no-untyped-call]
    except (ValueError, OverflowError):  # of `chr`
        message = "found no character of this number: the last is \\U0010FFFF"
        raise yaml.MarkedYAMLError(problem=message, problem_mark=parser.get_mark()) from None


def _place(name: str, line: int, column: int) -> Origin:
    return Origin((0, line, column), f"{name}:{line}:{column}")


def _not_yaml(error: yaml.MarkedYAMLError) -> tuple[int, int, str]:
    """Return line, column and message of an error of syntax."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return line, column, _syntax_message(error)


_KEY = re.compile(r" *(- +)*(?P<key>[^\s#:'\"\[\]{},-][^#:]*):(?P<value> .*|)$")
_LINE_OF_TEXT = re.compile(r" *[\w-]+( |:\S).*")


def _misplaced(text: str, error: yaml.MarkedYAMLError) -> tuple[int, int, str] | None:
    """Return line, column and message for a mistake of indentation or a missing colon.

    YAML parsers report the consequence of such a mistake ("mapping values are not allowed here"),
    often one line later. Returns None for other errors.
    """
    lines, problem, mark = text.splitlines(), error.problem or "", error.problem_mark
    if mark is None:
        return None
    if problem == "could not find expected ':'" and error.context_mark is not None:
        number = error.context_mark.line
        if number < len(lines) and _LINE_OF_TEXT.fullmatch(lines[number]):
            line = lines[number]
            message = f"{quoted(line.strip())}: expected 'key: value', with a colon and a space"
            return number + 1, _indent(line) + 1, message
        return None
    wrong = (
        "mapping values are not allowed here",
        "expected <block end>, but found '<block mapping start>'",
        "expected '<document start>', but found '<block mapping start>'",
    )
    found = _KEY.match(lines[mark.line]) if mark.line < len(lines) else None
    if problem not in wrong or found is None:
        return None
    indent, key = found.start("key"), quoted(found["key"].strip())[1:-1]
    above = [
        line
        for line in lines[: mark.line]
        if line.strip() and not line.lstrip().startswith("#") and _KEY.match(line)
    ]
    if not above:
        return None
    last = _KEY.match(above[-1])
    assert last is not None
    if problem == wrong[0]:
        if indent <= last.start("key") or mark.column != found.end("key"):
            if ": " in found["value"]:
                message = f"{key}: a text with ': ' in it must be in quotes"
                return mark.line + 1, found.start("value") + 2, message
            return None
        other = quoted(last["key"].strip())[1:-1]
        message = (
            f"{key}: is indented deeper than {other}, which is not a section: begin it in the same "
            f"column, {last.start('key') + 1}"
        )
        return mark.line + 1, indent + 1, message
    columns = sorted({_KEY.match(line).start("key") + 1 for line in above})  # type: ignore[union-attr]
    message = f"{key}: begins in column {indent + 1}, but the keys above in {_listed(columns)}"
    return mark.line + 1, indent + 1, message


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _listed(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def _syntax_message(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "cannot be read"
    if problem.startswith(("alias ", "anchor ", "tag ")):
        return f"{problem[:60]}: a configuration has no tags, anchors or aliases; write the value"
    if "maximum nesting depth" in problem:  # libyaml's own limit, met while it looks ahead
        return f"is nested more than {DEEPEST_NESTING} levels deep"
    if problem == SECOND or problem.startswith(("is nested", "has more than")):
        return problem
    if "'\\t'" in problem:
        return "is not valid YAML: there is a tab; indent with spaces"
    if error.context is None:
        return f"is not valid YAML: {problem}"
    mark = error.context_mark
    since = f" that starts on line {mark.line + 1}" if mark else ""
    return f"is not valid YAML: {problem} ({error.context}{since})"


def _copy(document: Document, value: Any, path: Path, order: count[int]) -> Any:
    """Return a plain copy of Python data; NumPy's numbers become Python's."""
    document.values[path] = document.keys[path] = Origin((0, next(order)), "")
    if len(path) > DEEPEST_NESTING:
        document.refuse(path[:1], f"is nested more than {DEEPEST_NESTING} levels deep")
        return None
    match value:
        case Mapping():
            return {
                str(key): _copy(document, item, (*path, str(key)), order)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_copy(document, item, (*path, i), order) for i, item in enumerate(value)]
        case float():  # also numpy.float64
            return float(value)
        case None | str() | bool() | int():
            return value
        case _ if hasattr(value, "tolist"):  # NumPy's other numbers, and its arrays
            return _copy(document, value.tolist(), path, order)
        case _:
            document.refuse(path, f"expected plain data, got {type(value).__name__}")
            return None
