"""Can the values of a checkpoint have been written by a run?

Kernels use the values of a checkpoint as indices, loop bounds and states of random streams without
further checks: an impossible value could make them access any memory, or never end. A checksum
does not help, because an attacker who changes the values can also change the checksum. So a model
declares the range of every field, and a checkpoint is checked before it is copied to a device.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from societies.errors import OutputError, option
from societies.words import one_of

Limit = float | str | None
"""A number, the name of a limit that depends on the configuration, or None for no limit."""

Within = tuple[Limit, Limit]
"""The least and the largest value; real numbers must also be finite."""


@dataclass(frozen=True)
class Expected:
    """Requirements for one array of a checkpoint.

    Attributes
    ----------
    shape, dtype : as declared
    within : least and largest value; None: any value
    some : whether each copy (society, plate) must have an entry that is not 0
    """

    shape: tuple[int, ...]
    dtype: DTypeLike
    within: Within | None = None
    some: bool = False


def require_state(
    path: object,
    when: str,
    state: Mapping[str, NDArray[Any]],
    expected: Mapping[str, Expected],
    limits: Mapping[str, ArrayLike],
    copies: str = "society",
) -> None:
    """Raise OutputError unless a checkpoint has exactly the expected arrays with allowed values.

    Parameters
    ----------
    path : path of the file
    when : tick of the checkpoint, in the workload's word: day 6
    state, expected : by name
    limits : values of the named limits; an array is broadcast along the field's last dimensions
    copies : the workload's word for a copy
    """
    for name in sorted(state.keys() ^ expected.keys()):
        where = "is missing" if name in expected else "is not of this configuration"
        raise OutputError(
            f"{path}: the checkpoint of {when} is not one that this version writes: "
            f"'{name}' {where}\n"
            "an older file can be read and plotted, not resumed; run it again into another one, "
            f"with {option('out')}"
        )
    for name, array in state.items():
        field = expected[name]
        dtype = np.dtype(field.dtype)
        if array.shape != field.shape or array.dtype != dtype:
            stored, wanted = f"{array.dtype} {array.shape}", f"{dtype} {field.shape}"
            raise refusal(path, when, f"'{name}' is {stored}, it should be {wanted}")
        if field.within is not None:
            _require_within(path, when, name, array, field.within, limits)
        if field.some and not array.reshape(len(array), -1).any(axis=1).all():
            raise refusal(path, when, f"'{name}' is 0 everywhere in {one_of(copies)}")


def _require_within(
    path: object,
    when: str,
    name: str,
    array: NDArray[Any],
    within: Within,
    limits: Mapping[str, ArrayLike],
) -> None:
    low, high = (limits[limit] if isinstance(limit, str) else limit for limit in within)
    wrong = np.zeros(array.shape, bool) if array.dtype.kind != "f" else ~np.isfinite(array)
    if low is not None:
        wrong |= array < low
    if high is not None:
        wrong |= array > high
    if wrong.any():
        place = np.unravel_index(int(wrong.argmax()), wrong.shape)
        at = f"{name}[{', '.join(str(int(i)) for i in place)}]"
        least = "" if low is None else f" from {_plain(low, wrong.shape, place)}"
        most = "" if high is None else f" to {_plain(high, wrong.shape, place)}"
        value = array[place].item()
        allowed = f"{least}{most}".strip() or "finite numbers"
        raise refusal(path, when, f"{at} is {value}, possible is {allowed}")


def _plain(limit: ArrayLike, shape: tuple[int, ...], place: tuple[Any, ...]) -> int | float:
    value: int | float = np.broadcast_to(np.asarray(limit), shape)[place].item()
    return int(value) if math.isfinite(value) and value == int(value) else value


def refusal(path: object, when: str, why: str) -> OutputError:
    """Return the error for a checkpoint that no run can have written."""
    return OutputError(
        f"{path}: the checkpoint of {when} is not one that a run wrote: {why}\n"
        f"do not continue with this file; run it again into another one, with {option('out')}"
    )
