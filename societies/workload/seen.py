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
        self._reading: Future[State] | None = None
        self._hash: Future[str] | None = None

    def __call__(self) -> State:
        """Return a copy of every array of the state."""
        if self._state is None:
            self._state = self._reading.result() if self._reading else self._engine.state()
        return self._state

    def begin(self) -> None:
        """Begin to copy and to hash the state; until it is there the engine must not go on."""
        if self._reading is None:
            self._reading = beside(self._read)

    def hashed(self) -> Future[str]:
        """Return the hash, which may take longer than the copy, on which this waits."""
        self.begin()
        self()
        assert self._reading is not None
        self._reading.result()
        assert self._hash is not None
        return self._hash

    def _read(self) -> State:
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
        self._hash = beside(_end, running, sha, self._fields, late)
        return state


def _add(sha: Any, fields: Mapping[str, Field], arrays: Iterable[Named]) -> None:
    for name, array in arrays:
        hash_array(sha, fields, name, array)


def _end(
    before: Future[None], sha: Any, fields: Mapping[str, Field], arrays: Iterable[Named]
) -> str:
    before.result()
    _add(sha, fields, arrays)
    return str(sha.hexdigest())
