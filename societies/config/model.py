"""What is a configuration made of: frozen sections of keys, each with a unit, range and meaning.

A workload describes its configuration as a subclass of `WorkloadConfig`. What one key may be is
said by its type and limits; what several keys may be together is said by `conflicts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    Strict,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from societies.config.problems import Path, dotted, quoted

LARGEST_INTEGER = 2**31 - 1  # kernels count in 32 bits
SMALLEST_REAL = 1e-12  # of what must be positive
LARGEST_REAL = 1e12  # far beyond any use, and sums of products stay far below infinity

VALUE, SHAPE, TABULATED = "value", "shape", "tabulated"
"""What `value`, `shape` and `tabulated` say of a key. Shapes are the same in all copies of a
launch; the others may differ between copies."""

CONFLICTS_LATER = {"conflicts": "later"}
"""Validation context of the loader, which asks for `conflicts` itself to report all at once."""


class Section(BaseModel):
    """A group of keys: nothing unknown, no conversion between types, no change afterwards."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, validate_default=True
    )

    @model_serializer(mode="wrap")
    def _leave_out_what_is_not_given(self, handler: SerializerFunctionWrapHandler) -> Any:
        return {name: value for name, value in handler(self).items() if value is not None}


@dataclass(frozen=True)
class Conflict:
    """A contradiction between keys.

    Attributes
    ----------
    path : the key that is reported
    needs : all other keys that must be valid for the message to make sense
    """

    path: Path
    message: str
    needs: tuple[Path, ...] = ()

    def depends_on(self, invalid: Iterable[Path]) -> bool:
        """Return whether a needed key, or something inside or around one, is invalid."""
        return any(
            _within(self.path, wrong)
            or any(_within(need, wrong) or _within(wrong, need) for need in self.needs)
            for wrong in invalid
        )


def _within(path: Path, around: Path) -> bool:
    return path[: len(around)] == around


class WorkloadConfig(Section):
    """Base of every configuration; ``workload`` names what runs it."""

    workload: str
    _table: Any = PrivateAttr(default=None)
    _numbers: Any = PrivateAttr(default=None)

    @property
    def table(self) -> Any:
        """The table (`societies.workload.running.tables.Table`) of parameters by copy, or None."""
        return self._table

    @property
    def numbers(self) -> Any:
        """Number of each copy, (copy,) int64, where they do not follow each other; or None."""
        return self._numbers

    def conflicts(self) -> Iterator[Conflict]:
        """Yield every contradiction between keys that are valid each by itself."""
        yield from ()

    def conflicts_in_turn(self, configs: Sequence[Any]) -> Iterator[Conflict]:
        """Yield contradictions of parameters that a copy has in turn, as interventions change them.

        Each configuration by itself has none.
        """
        yield from ()

    def warnings(self) -> Iterator[Conflict]:
        """Yield what is valid but probably not meant: a key that has no effect in this run."""
        yield from ()

    def inputs(self) -> dict[str, str]:
        """Return the files that the run reads besides, by key; a changed one is another run."""
        return {}

    @model_validator(mode="after")
    def _refuse_conflicts(self, info: ValidationInfo) -> WorkloadConfig:
        if info.context is not CONFLICTS_LATER:
            lines = [f"{dotted(c.path)}: {c.message}" for c in self.conflicts()]
            if lines:
                raise PydanticCustomError("conflict", "{lines}", {"lines": "\n".join(lines)})
        return self


def key(default: Any, meaning: str, unit: str | None = None, **limits: Any) -> Any:
    """Return the field of one key: its default (``...``: required), meaning, unit and limits.

    A required key carries ``examples``: the first stands in for a wrong value while the other
    keys are checked against each other.
    """
    return _field(default, meaning, unit, {}, limits)


def value(
    default: Any, meaning: str, unit: str | None = None, *, symbol: str | None = None, **limits: Any
) -> Any:
    """Return the field of a number: kernels read ``P(symbol)``, the reference ``p.symbol``.

    A section of numbers is a row: ``symbol[i]`` and ``p.symbol[i]``. The symbol is the key's own
    name unless another is given.
    """
    return _field(default, meaning, unit, {"kind": VALUE, "symbol": symbol}, limits)


def shape(
    default: Any, meaning: str, unit: str | None = None, *, symbol: str | None = None, **limits: Any
) -> Any:
    """Return the field of a key that sizes arrays or chooses code.

    Kernels have it as the macro ``SYMBOL``, the reference as ``p.symbol``. Of a choice between
    words ``SYMBOL`` is the number, and ``SYMBOL_WORD`` the number of each word.
    """
    return _field(default, meaning, unit, {"kind": SHAPE, "symbol": symbol}, limits)


def tabulated(default: Any, meaning: str, unit: str | None = None, **limits: Any) -> Any:
    """Return the field of a number of which the host makes tables; it may differ between copies."""
    return _field(default, meaning, unit, {"kind": TABULATED}, limits)


def accepts(model: type[BaseModel], name: str, value: Any) -> bool:
    """Return whether a key by itself takes a value, so that a message may advise it."""
    field = model.model_fields[name]
    kind: Any = Annotated[field.annotation, field]
    try:
        TypeAdapter(kind, config=ConfigDict(strict=True)).validate_python(value)
    except ValidationError:
        return False
    return True


def _field(
    default: Any, meaning: str, unit: str | None, extra: dict[str, Any], limits: dict[str, Any]
) -> Any:
    said = {name: one for name, one in {"unit": unit, **extra}.items() if one is not None}
    return Field(default, description=meaning, json_schema_extra=said, **limits)


def _number_or_list(value: Any) -> str:
    return "list" if isinstance(value, list | tuple) else "number"


def _auto_or_never(word: str) -> str:
    if word not in ("auto", "never"):
        message = "expected a whole number, auto or never, got {word}"
        raise PydanticCustomError("interval", message, {"word": quoted(word)})
    return word


Interval = Annotated[
    Annotated[Annotated[int, Field(ge=0, le=LARGEST_INTEGER)], Tag("number")]
    | Annotated[Literal["auto", "never"], BeforeValidator(_auto_or_never), Tag("word")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "number"),
]
"""Every so many ticks; 0 or ``never``: not at all; ``auto``: as suits the size."""

T = TypeVar("T")

Auto = Annotated[
    Annotated[T, Tag("value")] | Annotated[Literal["auto"], Tag("word")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "value"),
]
"""A value, or ``auto``: as the meaning of the key says."""

ListOf = Annotated[tuple[T, ...], Strict(False)]  # YAML has lists, a frozen configuration tuples

PerResource = Annotated[
    Annotated[T, Tag("number")] | Annotated[ListOf[T], Tag("list")],
    Discriminator(_number_or_list),
]
"""One number for all resources, or a list with one number per resource."""
