"""How is the state at the end of a block read, once, and summed up while it is read?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

from numpy.typing import NDArray

from societies.background import in_background
from societies.output.checkpoints import array_sum
from societies.workload.declare.fields import Field, State, hash_array
from societies.workload.running.engines import Engine

Named = tuple[str, NDArray[Any]]


class Read(NamedTuple):
    """A copy of the state, and what may take longer to find."""

    state: State
    digest: Future[str] | None
    """Its hash, if it is wanted."""
    sums: Future[dict[str, int]] | None
    """CRC-32 of each array that checkpoints hold, if there are checkpoints."""


class SeenState:
    """The state as it is when it is first asked for, copied once.

    It is summed up for a checkpoint only if it is ``saved``.
    """

    def __init__(self, engine: Engine, fields: Mapping[str, Field], *, saved: bool = True) -> None:
        self._engine, self._fields, self._saved = engine, fields, saved
        self._state: State | None = None
        self._reading: Future[Read] | None = None

    def __call__(self) -> State:
        """Return a copy of every array of the state."""
        if self._state is None:
            self._state = self._reading.result().state if self._reading else self._engine.state()
        return self._state

    def begin(self, then: Callable[[Read], None] | None = None) -> Future[Read]:
        """Begin to copy and to sum up the state; until it is there the engine must not go on.

        The thread that copies it then calls a function with the copy.
        """
        if self._reading is None:
            self._reading = in_background(self._read, True, then)
        return self._reading

    def read(self, *, hashed: bool = True) -> Read:
        """Return the copy, on which this waits, and what is found of it meanwhile."""
        found = self.begin().result() if hashed else self._read(False)
        self._state = found.state
        return found

    def _read(self, with_hash: bool, then: Callable[[Read], None] | None = None) -> Read:
        """Copy the arrays, of which those that are there are summed up while others are copied."""
        sha, sums = hashlib.sha256(), dict[str, int]()

        def hashed(name: str, array: NDArray[Any]) -> None:
            hash_array(sha, self._fields, name, array)

        def summed(name: str, array: NDArray[Any]) -> None:
            if self._fields[name].saved:
                sums[name] = array_sum(array)

        hashing = _Chain(hashed) if with_hash else None
        summing = _Chain(summed) if self._saved else None
        chains = [chain for chain in (hashing, summing) if chain]
        state: State = {}
        if self._state is not None:
            arrays = iter(self._state.items())
        else:  # waiting once for all is quicker, if what is slow need not begin early
            arrays = self._engine.each() if hashing else iter(self._engine.state().items())
        for name, array in arrays:
            state[name] = array
            for chain in chains:
                chain.add(name, array)
        digest = hashing.end(sha.hexdigest) if hashing else None
        read = Read(state, digest, summing.end(lambda: sums) if summing else None)
        if then is not None:
            then(read)
        return read


class _Chain:
    """A function called with one array after the other, in another thread."""

    def __init__(self, function: Callable[[str, NDArray[Any]], None]) -> None:
        self._function = function
        self._late: list[Named] = []
        self._running = Future[Any]()
        self._running.set_result(None)

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Have the function called with an array, after those before."""
        self._late.append((name, array))
        if self._running.done():
            self._running.result()
            self._running, self._late = in_background(self._call, self._late), []

    def end(self, result: Callable[[], Any]) -> Future[Any]:
        """Return what will hold a result, when the function has been called with every array."""
        return in_background(self._end, self._running, self._late, result)

    def _call(self, arrays: list[Named]) -> None:
        for name, array in arrays:
            self._function(name, array)

    def _end(self, before: Future[Any], arrays: list[Named], result: Callable[[], Any]) -> Any:
        before.result()
        self._call(arrays)
        return result()
