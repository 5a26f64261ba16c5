"""What is a configuration made of? Of frozen sections of keys with a unit, a range and a meaning.

A workload describes its configuration as a subclass of `WorkloadConfig`. The type and limits of a
key say which values it may have; `conflicts` says which combinations of keys are invalid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
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

From0 = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
From1 = Annotated[int, Field(ge=1, le=LARGEST_INTEGER)]

VALUE, SHAPE, TABULATED, INITIAL = "value", "shape", "tabulated", "initial"
"""Kinds of keys that `value`, `shape`, `tabulated` and `initial` declare. A shape has the same
value in all copies of a launch; the others may differ between copies."""

USUAL = "usual"
"""Limit of a key that says in which range a slider changes it, if that does not follow from its
value: least and most. A word instead of the most: the last of as many as that key says, from 0."""

CONFLICTS_LATER = {"conflicts": "later"}
"""Validation context of the loader, which calls `conflicts` itself to report all problems."""

KEY = "key"
"""In the context of an error of a whole section: the key that it is about."""


class Section(BaseModel):
    """A group of keys: no unknown keys, no conversion between types, no change afterwards."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        defer_build=True,  # most sections are only validated as a part of another one
    )

    @model_validator(mode="after")
    def _refuse_what_devices_cannot_hold(self) -> Section:
        """Refuse whole numbers of more than 64 bits; of more than 53 in what tables hold by copy.

        Limits of a key are mostly narrower.
        """
        large = [name for name, one in vars(self).items() if type(one) is int and abs(one) > 2**53]
        for name in large:
            extra = type(self).model_fields[name].json_schema_extra
            varies = isinstance(extra, dict) and extra.get("kind") in (VALUE, TABULATED, INITIAL)
            number = getattr(self, name)
            if varies or not -(2**63) <= number < 2**64:
                message = "must be at most {most} in size, got {number}"
                said = {KEY: name, "most": "2**53" if varies else "64 bits", "number": str(number)}
                raise PydanticCustomError("whole", message, said)
        return self

    @model_serializer(mode="wrap")
    def _leave_out_what_is_not_given(self, handler: SerializerFunctionWrapHandler) -> Any:
        return {name: value for name, value in handler(self).items() if value is not None}


Label = Annotated[str, Field(min_length=1, max_length=120)]
"""A name in figures and tables."""
LABEL = "label"
"""Key of such a name: of a configuration, an intervention or a point. It changes no result."""


@dataclass(frozen=True)
class Conflict:
    """A contradiction between keys.

    Attributes
    ----------
    path : the key to report
    message : text after the key
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
    """Base of every configuration; ``workload`` is the name of the workload that it is for."""

    workload: str
    model: str | None = Field(
        None,
        description="File of Python with the workload, in the folder of this file: my_model.py",
    )
    label: Label | None = Field(None, description="Name of the run in figures and tables")
    _table: Any = PrivateAttr(default=None)
    _numbers: Any = PrivateAttr(default=None)
    _applies: Any = PrivateAttr(default=None)

    @property
    def table(self) -> Any:
        """Parameters by copy (`societies.workload.running.tables.ValueTable`), or None."""
        return self._table

    @property
    def numbers(self) -> Any:
        """Number of each copy, (copy,) int64, if the numbers are not consecutive; else None."""
        return self._numbers

    @property
    def applies(self) -> Any:
        """Whether an intervention concerns a copy: (intervention, copy) bool; None: they say it."""
        return self._applies

    def conflicts(self) -> Iterator[Conflict]:
        """Yield every contradiction between keys that are each valid alone."""
        yield from ()

    def conflicts_in_turn(self, configs: Sequence[Any]) -> Iterator[Conflict]:
        """Yield contradictions between successive configurations of a copy.

        Interventions change a configuration during a run. Each one alone has no contradictions.
        """
        yield from ()

    def warnings(self) -> Iterator[Conflict]:
        """Yield valid settings that are probably not intended: a key without effect in this run."""
        yield from ()

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield keys and sections whose values have no effect in this run at any time, and why."""
        yield from ()

    def asleep(self) -> Iterator[tuple[str, str]]:
        """Yield keys without effect as long as other keys have their present values, and why."""
        yield from ()

    @property
    def given(self) -> set[str]:
        """Keys whose value is not their default.

        One that has its default may come from a configuration that was saved with all keys.
        """
        fields = type(self).model_fields
        return {one for one in self.model_fields_set if getattr(self, one) != fields[one].default}

    def inputs(self) -> dict[str, str]:
        """Return further files that the run reads, by key; if one changes, it is another run."""
        return {}

    def files(self) -> list[Path]:
        """Return the keys that name files of data or programs, for which see `inputs`."""
        return [(key,) for key in self.inputs()]

    @model_validator(mode="after")
    def _refuse_conflicts(self, info: ValidationInfo) -> WorkloadConfig:
        if info.context is not CONFLICTS_LATER:
            lines = [f"{dotted(c.path)}: {c.message}" for c in self.conflicts()]
            if lines:
                raise PydanticCustomError("conflict", "{lines}", {"lines": "\n".join(lines)})
        return self


def key(default: Any, meaning: str, unit: str | None = None, **limits: Any) -> Any:
    """Return the field of one key: its default (``...``: required), meaning, unit and limits.

    The default of a section may be its class, which stands for the section with all its defaults. A
    required key has ``examples``: the first replaces an invalid value while the other keys are
    checked against each other.
    """
    return _field(default, meaning, unit, {}, limits)


def value(
    default: Any, meaning: str, unit: str | None = None, *, symbol: str | None = None, **limits: Any
) -> Any:
    """Return the field of a number: kernels read ``P(symbol)``, the reference ``p.symbol``.

    A section of numbers is read as a row: ``symbol[i]`` and ``p.symbol[i]``. The symbol is the
    name of the key unless another is given.
    """
    return _field(default, meaning, unit, {"kind": VALUE, "symbol": symbol}, limits)


def shape(
    default: Any,
    meaning: str | None = None,
    unit: str | None = None,
    *,
    symbol: str | None = None,
    nearly: str | None = None,
    **limits: Any,
) -> Any:
    """Return the field of a key that sizes arrays or chooses code.

    Kernels read it as the macro ``SYMBOL``, the reference as ``p.symbol``. If the key is a choice
    between words, ``SYMBOL`` is the number of the chosen word, ``SYMBOL_WORD`` that of any word.
    ``nearly`` says what has nearly the same effect and may change during a run. Without a meaning
    here the text below the key is it, in a class with pydantic's ``use_attribute_docstrings``.
    """
    said = {"kind": SHAPE, "symbol": symbol, "nearly": nearly}
    return _field(default, meaning, unit, said, limits)


def tabulated(default: Any, meaning: str, unit: str | None = None, **limits: Any) -> Any:
    """Return the field of a number from which the host makes tables; it may differ by copy."""
    return _field(default, meaning, unit, {"kind": TABULATED}, limits)


def initial(default: Any, meaning: str, unit: str | None = None, **limits: Any) -> Any:
    """Return the field of a key that is read before the first tick only; it may differ by copy."""
    return _field(default, meaning, unit, {"kind": INITIAL}, limits)


def accepts(model: type[BaseModel], name: str, value: Any) -> bool:
    """Return whether a value is valid for a key alone, so that a message may suggest it."""
    try:
        in_type(model, name, value)
    except ValidationError:
        return False
    return True


def in_type(model: type[BaseModel], name: str, value: Any) -> Any:
    """Return a value in the type of a key: 1.0 for 1 if the key is a real number.

    Raises pydantic.ValidationError if the value is not valid for the key alone.
    """
    return _strict(model, name).validate_python(value)


@cache
def _strict(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    field = model.model_fields[name]
    kind: Any = Annotated[field.annotation, field]
    return TypeAdapter(kind, config=ConfigDict(strict=True))


def _field(
    default: Any,
    meaning: str | None,
    unit: str | None,
    extra: dict[str, Any],
    limits: dict[str, Any],
) -> Any:
    extra = {"unit": unit, USUAL: limits.pop(USUAL, None), **extra}
    said = {name: one for name, one in extra.items() if one is not None}
    if isinstance(default, type) and issubclass(default, Section):
        default = default.model_construct()  # builds no validator of the section
    return Field(default, description=meaning, json_schema_extra=said, **limits)


def _number_or_list(value: Any) -> str:
    return "list" if isinstance(value, list | tuple) else "number"


def _auto_or_never(word: str) -> str:
    if word not in ("auto", "never"):
        message = "expected a whole number, auto or never, got {word}"
        raise PydanticCustomError("interval", message, {"word": quoted(word)})
    return word


Interval = Annotated[
    Annotated[From0, Tag("number")]
    | Annotated[Literal["auto", "never"], BeforeValidator(_auto_or_never), Tag("word")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "number"),
]
"""An interval in ticks; 0 or ``never``: not at all; ``auto``: depends on the size."""

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
