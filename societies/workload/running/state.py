"""What is the state of a run at first, which part does a checkpoint hold, and what is its hash?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from societies.errors import SocietiesError
from societies.lazily import np
from societies.workload.declare.fields import Field, State
from societies.workload.values.copies import initial_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def array_of(
    values: Any, name: str, dtype: Any, shape: Sequence[int] | None, where: str
) -> NDArray[Any]:
    """Return values of the reference as an array of the state; ``shape`` None: as it is.

    Raises SocietiesError if one does not fit the type, or there are more or fewer.
    """
    try:
        found = fitted(values, dtype)
        return found if shape is None else found.reshape(shape)
    except ValueError as error:
        raise SocietiesError(
            f"{where}: the field '{name}' ({np.dtype(dtype)}) cannot hold what was written: {error}"
        ) from error


def fitted(values: Any, dtype: Any) -> NDArray[Any]:
    """Return numbers as an array of a type; whole numbers stay what they are.

    Raises ValueError if one is no number of the type; the text says which, and where it is.
    """
    kind = np.dtype(dtype)
    whole = kind.kind in "iu"
    try:
        found = np.asarray(values)
    except ValueError:
        raise ValueError("rows of different lengths") from None
    if found.dtype.kind in ("iub" if whole else "iubf"):
        made = found.astype(kind)
        if not whole or (made == found).all():
            return made
    objects = np.array(values, object)
    for place, one in np.ndenumerate(objects):
        number, hint = isinstance(one, Real | np.bool_), ""
        if whole and number and not isinstance(one, Integral | np.bool_):
            hint = ": write int(...), which cuts, or round(...)"
        elif number and (not whole or np.iinfo(kind).min <= one <= np.iinfo(kind).max):
            continue
        plain = number or one is None or isinstance(one, str)
        shown = repr(getattr(one, "item", lambda one=one: one)()) if plain else type(one).__name__
        raise ValueError(f"{shown}{f' at {list(place)}' if place else ''}{hint}")
    try:
        return objects.astype(kind)
    except OverflowError as error:
        raise ValueError(str(error)) from None


def file_values(fields: Mapping[str, Field], name: str, state: State) -> NDArray[Any]:
    """Return an array of the state for the file, with NaN for entries that are not present.

    If the field has another one in `Field.present`, ``fields`` and ``state`` contain that, too.
    """
    values, flags = state[name], fields[name].present
    if not flags:
        return values
    present = state[flags] != (fields[flags].none or 0)
    present = present.reshape(present.shape + (1,) * (values.ndim - present.ndim))
    if (none := fields[name].none) is not None:
        present = present & (values != none)
    return np.where(present, values.astype(np.float64), np.nan)


def initial_state(
    fields: Mapping[str, Field],
    sizes: Mapping[str, int],
    copies: int,
    parameters: Any,
    places: NDArray[np.intp] | None = None,
) -> State:
    """Return the initial value of every array, before the first phase: (copy, ...).

    ``places`` has the index of each copy in the whole ensemble; None: they are its first ones.
    """
    return {
        name: np.broadcast_to(value, (copies, *fields[name].shape(sizes))).copy()
        for name, value in initial_values(fields, parameters, copies, places).items()
    }


def initial_values(
    fields: Mapping[str, Field],
    parameters: Any,
    copies: int,
    places: NDArray[np.intp] | None = None,
) -> State:
    """Return the initial value of each array before broadcasting: a number or a smaller array.

    The last row of an ensemble is repeated for copies beyond it.
    """
    rows = np.arange(copies) if places is None else places
    given = {
        name: initial_of(parameters, field.initial, len(field.dims))
        if callable(field.initial)
        else field.initial
        for name, field in fields.items()
    }
    begin = "at the beginning"
    values = {
        name: array_of(one, name, fields[name].dtype, None, begin) for name, one in given.items()
    }
    return {
        name: value[np.minimum(rows, len(value) - 1)]
        if value.ndim > len(fields[name].dims)
        else value
        for name, value in values.items()
    }


def checkpointed(fields: Mapping[str, Field], state: Mapping[str, NDArray[Any]]) -> State:
    """Return the arrays of a state that a checkpoint holds, in the order of the table."""
    return {name: state[name] for name, field in fields.items() if field.saved and name in state}


def state_hash(fields: Mapping[str, Field], state: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of the checkpointed arrays: names, types, shapes, little-endian bytes."""
    hashed = hashlib.sha256()
    for name, array in checkpointed(fields, state).items():
        hash_array(hashed, fields, name, array)
    return hashed.hexdigest()


def hash_array(hashed: Any, fields: Mapping[str, Field], name: str, array: NDArray[Any]) -> None:
    """Add an array of the state to a hash if it is checkpointed and compared."""
    if not (fields[name].saved and fields[name].compared):
        return
    little = np.ascontiguousarray(one_nan(array), dtype=array.dtype.newbyteorder("<"))
    hashed.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
    hashed.update(little.reshape(-1).view(np.uint8).data)


def one_nan(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in which each NaN has the same bits: IEEE 754 leaves them to the device."""
    missing = np.isnan(array)
    return np.where(missing, array.dtype.type(np.nan), array) if missing.any() else array
