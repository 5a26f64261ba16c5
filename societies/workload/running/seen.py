"""How is the state at the end of a block copied only once, and its checksums computed meanwhile?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple

from numpy.typing import NDArray

from societies.background import in_background
from societies.output.checkpoints import Arriving, NotArrived, Sums, array_sum
from societies.workload.declare.fields import Field, State
from societies.workload.running.engines import Engine
from societies.workload.running.state import hash_array

Named = tuple[str, NDArray[Any]]


class Read(NamedTuple):
    """A copy of the state, with its hash and checksums, which may still be being computed."""

    state: State
    digest: Future[str] | None
    """Hash of the state; None if it was not requested."""
    sums: Future[dict[str, int]] | None
    """CRC-32 of each array that checkpoints hold; None without checkpoints."""


class SeenState:
    """The state at the moment when it is first requested, copied from the engine only once.

    The checksums for a checkpoint are computed only if ``saved`` is True.
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

    def begin(self, then: Callable[[State, Sums], None] | None = None) -> Future[Read]:
        """Start copying the state and computing its hash and checksums, in another thread.

        The engine must not continue before the result is available. If the state is to be saved,
        the thread first calls ``then`` with the arrays to save, which arrive while they are used,
        and with a function that waits for their checksums.
        """
        if self._reading is None:
            self._reading = in_background(self._read, True, then)
        return self._reading

    def read(self, *, hashed: bool = True) -> Read:
        """Wait for the copy, and return it with the futures of its hash and checksums."""
        found = self.begin().result() if hashed else self._read(False)
        self._state = found.state
        return found

    def _read(self, with_hash: bool, then: Callable[[State, Sums], None] | None = None) -> Read:
        """Copy the arrays to the host; those that have arrived are hashed during the next copy."""
        if then is None or not self._saved:
            return self._copied(with_hash, lambda *_: None)
        arriving, known = Arriving(), Future[Mapping[str, int]]()

        def arrived(name: str, array: NDArray[Any]) -> None:
            if self._fields[name].saved:
                arriving.add(name, array)

        then(arriving, known.result)
        complete = False
        try:
            read = self._copied(with_hash, arrived)
            complete = True
        finally:
            arriving.end(complete)
            if not complete:
                known.set_exception(NotArrived())
        assert read.sums is not None
        read.sums.add_done_callback(partial(_passed, known))
        return read

    def _copied(self, with_hash: bool, arrived: Callable[[str, NDArray[Any]], None]) -> Read:
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
        else:  # without the slow hash it is quicker to wait once for all arrays
            arrays = self._engine.each() if hashing else iter(self._engine.state().items())
        for name, array in arrays:
            state[name] = array
            arrived(name, array)
            for chain in chains:
                chain.add(name, array)
        digest = hashing.end(sha.hexdigest) if hashing else None
        return Read(state, digest, summing.end(lambda: sums) if summing else None)


def _passed(to: Future[Mapping[str, int]], done: Future[dict[str, int]]) -> None:
    """Give a future the result of another that is done."""
    if error := done.exception():
        to.set_exception(error)
    else:
        to.set_result(done.result())


class _Chain:
    """Calls a function with one array after the other, in another thread."""

    def __init__(self, function: Callable[[str, NDArray[Any]], None]) -> None:
        self._function = function
        self._late: list[Named] = []
        self._running = Future[Any]()
        self._running.set_result(None)

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Queue an array: the function is called with it after the arrays added before."""
        self._late.append((name, array))
        if self._running.done():
            self._running.result()
            self._running, self._late = in_background(self._call, self._late), []

    def end(self, result: Callable[[], Any]) -> Future[Any]:
        """Return a future of ``result()``, which is called after the last array is processed."""
        return in_background(self._end, self._running, self._late, result)

    def _call(self, arrays: list[Named]) -> None:
        for name, array in arrays:
            self._function(name, array)

    def _end(self, before: Future[Any], arrays: list[Named], result: Callable[[], Any]) -> Any:
        before.result()
        self._call(arrays)
        return result()
