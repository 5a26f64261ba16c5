"""Which keys of a configuration do the kernels and the reference get by name?

Those declared with `societies.config.value` or `societies.config.shape`: the macro for kernels and
the attribute for the reference follow from the declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from operator import attrgetter
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from societies.config.model import SHAPE, VALUE, Section

Number = bool | int | float
Row = tuple[Number, ...]


class ChosenWord(str):
    """A word, and the words among which it was chosen."""

    options: tuple[str, ...]

    def __new__(cls, word: str, options: tuple[str, ...]) -> ChosenWord:
        """Return the word, which is a string like any other."""
        made = super().__new__(cls, word)
        made.options = options
        return made


def values(config: Section) -> dict[str, Number | Row]:
    """Return the values by symbol, for keys declared as values; a section of numbers is a row."""
    return dict(_declared(config, VALUE))


def shapes(config: Section) -> dict[str, Number | ChosenWord]:
    """Return the values by symbol, for keys declared as shapes."""
    return dict(_declared(config, SHAPE))


def _declared(config: Section, kind: str) -> Iterator[tuple[str, Any]]:
    for symbol, section, name in symbols(config):
        field, extra = _fields(type(section))[name]
        if extra.get("kind") == kind:
            yield symbol, _number(getattr(section, name), field)


def symbols(config: Section) -> Iterator[tuple[str, Section, str]]:
    """Yield symbol, section and name of every value and shape.

    Raises TypeError if two keys have the same symbol.
    """
    seen = set()
    for symbol, section, name in _walk(config):
        if symbol in seen:
            raise TypeError(f"two keys are called {symbol}; give one of them another symbol")
        seen.add(symbol)
        yield symbol, section, name


def _walk(section: Section) -> Iterator[tuple[str, Section, str]]:
    for name, (_, extra) in _fields(type(section)).items():
        content = getattr(section, name)
        if extra.get("kind") in (VALUE, SHAPE):
            yield extra.get("symbol", name), section, name
        elif isinstance(content, Section):
            yield from _walk(content)


@cache
def _fields(section: type[Section]) -> dict[str, tuple[FieldInfo, Mapping[str, Any]]]:
    """Return the pydantic field and the declaration of each key."""
    return {
        name: (field, said if isinstance(said := field.json_schema_extra, dict) else {})
        for name, field in section.model_fields.items()
    }


def _number(content: Any, field: FieldInfo) -> Number | Row | ChosenWord:
    """Return the value of a key in its declared type: a default may be written 1 for 1.0."""
    if isinstance(content, Section):
        fields = _fields(type(content))
        return tuple(_number(getattr(content, name), one) for name, (one, _) in fields.items())  # type: ignore[misc]
    if isinstance(content, str):
        return ChosenWord(content, allowed_words(field.annotation))
    return float(content) if field.annotation is float else content


def allowed_words(annotation: Any) -> tuple[str, ...]:
    """Return the words that a key may be, or one of the types that it may have."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((words for one in get_args(annotation) if (words := allowed_words(one))), ())


def value_macros(values: Mapping[str, Number | Row]) -> dict[str, Number]:
    """Return ``P_symbol`` for every value that is a number."""
    return {f"P_{symbol}": n for symbol, n in values.items() if not isinstance(n, tuple)}


def value_rows(values: Mapping[str, Number | Row]) -> list[str]:
    """Return lines of OpenCL C: ``P(symbol)``, and a constant array for every row of values."""
    lines = ["#define P(name) P_##name"]
    for symbol, row in values.items():
        if isinstance(row, tuple):
            numbers = ", ".join(float(number).hex() for number in row)
            lines.append(f"__constant double {symbol}[{len(row)}] = {{{numbers}}};")
    return lines


VALUE_TABLE = "value_table"
"""Kernel parameter with a row of values for each copy of a launch."""


def table_columns(values: Mapping[str, Number | Row]) -> dict[str, int]:
    """Return the column of each value, or of the first number of a row of values."""
    lengths = [len(one) if isinstance(one, tuple) else 1 for one in values.values()]
    return dict(zip(values, accumulate(lengths, initial=0), strict=False))


def table_row(values: Mapping[str, Number | Row]) -> list[float]:
    """Return the values of one copy in the order of `table_columns`.

    Whole numbers are exact in double precision because they have at most 32 bits.
    """
    rows = (one if isinstance(one, tuple) else (one,) for one in values.values())
    return [float(number) for row in rows for number in row]


def table_rows(configs: Sequence[Section]) -> list[Any]:
    """Return `table_row` of the values of each configuration; all have the same keys.

    Only the first configuration is searched for its keys: there may be a hundred thousand.
    """
    read = attrgetter(*_leaves(configs[0]))
    return [read(config) for config in configs]


def _leaves(section: Section, above: str = "") -> Iterator[str]:
    """Yield the dotted name of every number of a value, in the order of `table_row`."""
    for name, (_, extra) in _fields(type(section)).items():
        content, path = getattr(section, name), f"{above}{name}"
        if extra.get("kind") == VALUE and isinstance(content, Section):
            yield from (f"{path}.{one}" for one in type(content).model_fields)
        elif extra.get("kind") == VALUE:
            yield path
        elif isinstance(content, Section) and extra.get("kind") != SHAPE:
            yield from _leaves(content, f"{path}.")


def table_lookups(values: Mapping[str, Number | Row], copy: str) -> list[str]:
    """Return lines of OpenCL C: ``P(symbol)`` and rows of values, read from the table.

    ``copy`` is the name of a variable in scope with the copy's index in the launch. The text
    depends only on names and types of the values, so it is the same for all tables.
    """
    columns = table_columns(values)
    width = len(table_row(values))
    lines = ["#define P(name) P_##name"]
    for symbol, one in values.items():
        place = f"{VALUE_TABLE}[(size_t){copy} * {width} + {columns[symbol]}]"
        if isinstance(one, tuple):
            lines.append(f"#define {symbol} (&{place})")
        else:
            kind = "" if isinstance(one, float) else "(int)"
            lines.append(f"#define P_{symbol} ({kind}{place})")
    return lines


def shape_of(model: type[Section], name: str, content: Any) -> Number | ChosenWord:
    """Return what a parameter is if the key of its name is declared as a shape.

    Raises TypeError if there is no such key, or it is not declared as a shape.
    """
    field, extra = _fields(model).get(name, (None, {}))
    if extra.get("kind") != SHAPE:
        raise TypeError(f"{model.__name__} declares no shape {name}")
    return _number(content, field)  # type: ignore[return-value,arg-type]


def shape_macros(shapes: Mapping[str, Number | str]) -> dict[str, Number]:
    """Return a macro for every shape, and one for every word of a choice."""
    macros: dict[str, Number] = {}
    for symbol, shape in shapes.items():
        name = symbol.upper()
        if isinstance(shape, ChosenWord):
            macros |= {f"{name}_{word.upper()}": i for i, word in enumerate(shape.options)}
            shape = shape.options.index(shape)
        assert not isinstance(shape, str), f"{symbol}: the words to choose from are not known"
        macros[name] = shape
    return macros
