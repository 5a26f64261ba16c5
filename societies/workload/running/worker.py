"""What does the process of one device do in a run on several devices? It computes some copies.

`societies.workload.running.several` starts it and sends requests to its standard input. Each is the
name of a method of `Worker` with its arguments; the answer goes to standard output. Large arrays
are not sent: both processes map the same memory (`societies.workload.running.shared`).
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies import signals
from societies.errors import DeviceError
from societies.workload.declare.protocol import Setup
from societies.workload.running.batches import engine_of
from societies.workload.running.registry import workload, workload_of_file
from societies.workload.running.shared import Order, SharedArrays


class Worker:
    """Copies of a run, on the device of this process; see the methods of `Engine`."""

    def begin(self, order: Order) -> tuple[str, dict[str, str], float]:
        """Build the kernels; return name and attributes of the device, and a block's seconds."""
        if order.model:
            workload_of_file(order.model)
        setup = Setup(workload(order.workload), pickle.loads(order.config))
        engine, name, facts = engine_of(setup, order.device, batch=order.batch, part=order.part)
        self._engine, self._shared = engine, SharedArrays(order.descriptor, setup)
        self._own = slice(order.part.first, order.part.first + order.part.copies)
        self._received: dict[str, NDArray[Any]] = {}
        return name, facts, engine.block_seconds

    def start(self) -> None:
        """Set all copies to their state before the first tick."""
        self._engine.start()

    def receive(self, name: str, area: int) -> None:
        """Take an array of the state out of the shared memory, for `load`."""
        self._received[name] = self._shared.state(name, area)[self._own].copy()

    def load(self) -> None:
        """Replace the arrays of the state that were received."""
        self._engine.load(self._received)
        self._received = {}

    def send(self, name: str, area: int) -> None:
        """Copy an array of the state into an area of the shared memory."""
        self._shared.state(name, area)[self._own] = self._engine.arrays(name)[name]

    def run(self, first: int, last: int, area: int) -> dict[str, NDArray[np.int32]]:
        """Run whole ticks, copy their logs into an area, and return their events."""
        self._engine.run_ticks(first, last)
        for name, log in self._engine.logs(borrowed=True).items():
            self._shared.log(name, area)[: last - first + 1, self._own] = log.swapaxes(0, 1)
        return self._engine.events()

    def finish(self) -> None:
        """Run the steps after the last tick."""
        self._engine.finish()


def main() -> None:
    """Answer requests until standard input ends, as it does when the other process ends."""
    signals.ignore()  # the other process handles them
    warnings.simplefilter("ignore")  # it has shown them
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    worker = Worker()
    while True:
        try:
            name, arguments = pickle.load(requests)
        except EOFError:
            os._exit(0)  # what it holds is freed sooner without Python
        try:
            answer = getattr(worker, name)(*arguments)
        except Exception as error:
            answer = _sendable(error)
        try:
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
        except BrokenPipeError:
            return


def _sendable(error: Exception) -> Exception:
    """Return an error that the other process can read, with the traceback as a note."""
    try:
        error.add_note(traceback.format_exc())
        pickle.loads(pickle.dumps(error))
    except Exception:
        return DeviceError(f"{type(error).__name__}: {error}")
    return error
