"""What are the parameters of copies whose values differ? Those that all share, and those of each.

Kernels read values by ``P(name)`` from a table with a row for each copy, so that another value
needs no new kernels. The columns are the keys that a configuration declares with
`societies.config.model.value`, and further numbers that follow from them (`Workload.derived`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cached_property
from inspect import getattr_static
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from societies.config.model import VALUE, Section
from societies.lazily import np
from societies.workload.values.keys import VALUE_TABLE, Number, Row, table_lookups, table_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

P = TypeVar("P")


def value_names(model: type[Section]) -> Iterator[str]:
    """Yield the symbol of every key of a configuration that is declared as a value."""
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        if extra.get("kind") == VALUE:
            yield str(extra.get("symbol", name))
        elif isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from value_names(field.annotation)


def values_of(p: Any, names: Sequence[str]) -> dict[str, Number | Row]:
    """Return the parameters of these names; those with several numbers are rows."""
    found = {name: getattr(p, name) for name in names}
    return {
        name: tuple(np.asarray(one, np.float64).tolist()) if np.ndim(one) else one
        for name, one in found.items()
    }


class OfCopies(Generic[P]):
    """What a workload declares of copies whose parameters differ; the defaults follow from keys."""

    config: ClassVar[type[Any]]
    copies: ClassVar[str]
    derived: ClassVar[tuple[str, ...]] = ()
    """Numbers among the parameters that depend on keys declared as values. Kernels read them, too,
    by ``P(name)``."""

    def values(self) -> tuple[str, ...]:
        """Return the parameters that may differ between copies, in the order of their table."""
        return (*value_names(self.config), *self.derived)

    def lookups(self, p: P) -> str:
        """Return the header with which kernels read ``P(name)`` from ``value_table``.

        A variable named after a copy (``society``) must hold the index of the copy.
        """
        one = values_of(parameters_of_copy(p, 0, 0), self.values())
        return "\n".join([*table_lookups(one, self.copies), ""])

    def parameters_of_copy(self, p: P, place: int, tick: int) -> P:
        """Return the parameters of the copy with index ``place`` in a tick, for the reference."""
        return parameters_of_copy(p, place, tick)  # type: ignore[no-any-return]

    def parameters_of_copies(self, p: P, tick: int) -> Mapping[str, NDArray[Any]]:
        """Return, for a tick, the kernel arguments that have an entry per copy: (copy, ...).

        Default: the table of values, from which kernels read ``P(name)``.
        """
        names = self.values()
        if not names:
            return {}
        return {VALUE_TABLE: rows_of(p, lambda one: table_row(values_of(one, names)), tick)}

    def changes(self, p: P) -> Sequence[int]:
        """Return the ticks after which parameters of copies change, ascending."""
        return p._points.after if isinstance(p, Copies) else ()

    def settled(self, p: P) -> Mapping[str, tuple[int, ...]]:
        """Return arrays in which the first steps decide what a later removal does, and where.

        In these arrays copies with the same number may differ before their removals do.
        """
        return {}


class Copies:
    """Parameters of copies, some of which differ between them.

    An attribute that is the same in all copies is an attribute here, too. Reading another one
    raises an AttributeError, so that sizes, phases and schedule cannot depend on it. All own names
    begin with an underscore, because parameters may have any other name.

    Parameters
    ----------
    points : the configuration of each copy in each stretch of time
    make : function of a configuration that returns its parameters
    """

    def __init__(self, points: Any, make: Callable[[Any], Any]) -> None:
        self._points, self._made = points, [make(config) for config in points.configs]
        first, *others = [vars(one) for one in self._made]
        self._differ = {
            name for name in first if not all(_same(first[name], one[name]) for one in others)
        }

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that all copies share; properties and methods see this object."""
        if name.startswith("__") or name in self._differ:
            raise AttributeError(
                f"{name} may differ between copies: lengths and phases cannot depend on it"
            )
        one = self._made[0]
        found = getattr_static(type(one), name, None)
        if isinstance(found, FunctionType):
            return MethodType(found, self)
        if isinstance(found, property):
            made = found.__get__(self)
        elif isinstance(found, cached_property):
            made = found.func(self)
        else:
            made = getattr(one, name)
        vars(self)[name] = made
        return made


def parameters_of_copy(p: Any, place: int, tick: int) -> Any:
    """Return the parameters of a copy in a tick; ``place`` is its index in the ensemble."""
    if not isinstance(p, Copies):
        return p
    return p._made[p._points.of[p._points.stretch(tick), place]]


def rows_of(p: Any, make: Callable[[Any], Any], tick: int) -> NDArray[Any]:
    """Return ``make`` of the parameters of each copy in a tick; one row if all copies are alike."""
    made = p._made if isinstance(p, Copies) else [p]
    rows = np.array([make(one) for one in made])
    return rows[p._points.of[p._points.stretch(tick)]] if isinstance(p, Copies) else rows


def initial_of(p: Any, make: Callable[[Any], Any], dims: int) -> Any:
    """Return ``make(p)``; of copies with different results one for each: (copy, ...).

    ``dims``: number of dimensions of one copy's array, to which results with fewer broadcast.
    """
    if not isinstance(p, Copies):
        return make(p)
    made = first, *others = [np.asarray(make(one)) for one in p._made]
    if all(np.array_equal(first, one) for one in others):
        return first
    rows = np.stack(made)[p._points.of[0]]
    return rows.reshape(len(rows), *[1] * (dims + 1 - rows.ndim), *rows.shape[1:])


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal; arrays and dataclasses are compared by content."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if is_dataclass(one):
        mine, theirs = vars(one), vars(other)
        return mine.keys() == theirs.keys() and all(_same(mine[k], theirs[k]) for k in mine)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
