"""How is the state at the end of a block read, once, and hashed while it is read?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from numpy.typing import NDArray

from societies.beside import beside
from societies.workload.engines import Engine
from societies.workload.fields import Field, State, hash_array

Named = tuple[str, NDArray[Any]]


class SeenState:
    """The state as it is when it is first asked for, copied once."""

    def __init__(self, engine: Engine, fields: Mapping[str, Field]) -> None:
        self._engine, self._fields = engine, fields
        self._state: State | None = None
        self._reading: Future[tuple[State, Future[str]]] | None = None

    def __call__(self) -> State:
        """Return a copy of every array of the state."""
        if self._state is None:
            self._state = self._reading.result()[0] if self._reading else self._engine.state()
        return self._state

    def begin(self) -> Future[tuple[State, Future[str]]]:
        """Begin to copy and to hash the state; until it is there the engine must not go on."""
        if self._reading is None:
            self._reading = beside(self._read)
        return self._reading

    def hashed(self) -> Future[str]:
        """Return the hash, which may take longer than the copy, on which this waits."""
        reading = self.begin()
        self._state, digest = reading.result()
        return digest

    def _read(self) -> tuple[State, Future[str]]:
        """Copy the arrays, of which those that are there are hashed while others are copied."""
        sha, late, running = hashlib.sha256(), list[Named](), Future[None]()
        running.set_result(None)
        state: State = {}
        for name, array in self._engine.each() if self._state is None else self._state.items():
            state[name] = array
            late.append((name, array))
            if running.done():
                running.result()
                running, late = beside(_add, sha, self._fields, late), []
        return state, beside(_end, running, sha, self._fields, late)


def _add(sha: Any, fields: Mapping[str, Field], arrays: Iterable[Named]) -> None:
    for name, array in arrays:
        hash_array(sha, fields, name, array)


def _end(
    before: Future[None], sha: Any, fields: Mapping[str, Field], arrays: Iterable[Named]
) -> str:
    before.result()
    _add(sha, fields, arrays)
    return str(sha.hexdigest())
