"""How do the copies of one run share several devices? One process computes on each device.

Threads of one process would wait for each other: a driver hands out launches under a lock of the
process (NVIDIA's holds it while a queue is full), and Python runs one thread at a time. Here the
processes send logs, events and, when it is requested, the state; one process has the file, so its
blocks, checkpoints and checksums are those of a run on one device, and so are all bits, because a
copy depends on no other.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import DeviceError, option
from societies.opencl import Device
from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup, Workload
from societies.workload.running.batches import OwnCopies
from societies.workload.running.devices import listed_devices, local_devices
from societies.workload.running.engines import Engine
from societies.workload.running.logs import sorted_by_tick
from societies.workload.running.registry import installed
from societies.workload.running.shared import LOG_AREAS, Order, SharedArrays
from societies.workload.running.state import checkpointed

LEAST_COPIES = 32
"""Copies that a GPU must get for a run to be split without being asked for: fewer keep a GPU busy
for not much longer than another process needs to start."""

SECONDS_TO_END = 10.0
"""Longest wait for a process that has nothing left to do."""


def shown(devices: Sequence[str], names: Sequence[str]) -> str:
    """Return devices as a text: their numbers, and how many there are of each name."""
    return f"{', '.join(devices)}: {_counted(names)}"


def _counted(names: Sequence[str]) -> str:
    return " and ".join(f"{names.count(one)} x {one}" for one in dict.fromkeys(names))


def devices_of(setup: Setup[Any, Any], device: str | Device) -> list[Any]:
    """Return the devices that the copies of a run are split over: one, or the names of several.

    A list like ``0:0,0:1`` is used in any case, as far as there are copies; ``auto`` and ``gpu``
    use all GPUs like the best one, if each gets at least `LEAST_COPIES`.
    """
    listed = listed_devices(device)
    most = setup.copies // (1 if listed else LEAST_COPIES)
    if isinstance(device, Device) or (most < 2 and not listed):
        return [device]
    return local_devices(device)[: most if _divisible(setup) else 1]


def _divisible(setup: Setup[Any, Any]) -> bool:
    """Return whether other processes can compute some of the copies, with the same results."""
    chosen = setup.workload
    return (
        os.name == "posix"  # other systems hand no open file to another process
        and (installed(chosen) or setup.config.model is not None)
        and not chosen.timed
        and type(chosen).fitted is Workload.fitted  # the length of no array depends on the device
        and not chosen.programs(setup.p)
    )


class Several(Engine):
    """An engine of all copies, which processes compute on a device each.

    Raises DeviceError if a device cannot be opened, or kernels do not build.

    Parameters
    ----------
    devices : names of the devices, one for each process; a name may occur several times
    batch : largest number of copies on a device at a time

    Attributes
    ----------
    name, facts : displayed name of the devices, and attributes for the file
    """

    def __init__(self, setup: Setup[Any, Any], devices: Sequence[str], batch: int) -> None:
        of = (setup.workload, setup.p, setup.first, setup.copies, setup.config.numbers)
        super().__init__(*of)
        self._lock = threading.RLock()  # another thread may read the state
        self._area, self._ticks = 0, 0
        self._running, self._unread = False, 0
        self._processes: list[_Process] = []
        self._memory = _shared_memory()
        try:
            self._shared = SharedArrays(self._memory.fileno(), setup)
            self._begin(setup, devices, batch, self._memory.fileno())
        except BaseException:
            self.close()
            raise

    def _begin(
        self, setup: Setup[Any, Any], devices: Sequence[str], batch: int, descriptor: int
    ) -> None:
        config, model = pickle.dumps(setup.config), setup.config.model
        for number, device in enumerate(devices):
            self._processes.append(_Process(device, devices, descriptor))
            first, stop = (setup.copies * at // len(devices) for at in (number, number + 1))
            part = OwnCopies(first, stop - first, len(devices), devices.count(device))
            order = Order(
                setup.workload.name,
                None if model is None else str(model),
                config,
                device,
                part,
                batch,
                descriptor,
            )
            self._processes[-1].part = part
            self._processes[-1].ask("begin", order)
        answers = self._answers()
        names = [facts["device"] for _, facts, _ in answers]
        self.name = shown(devices, names)
        self.facts = {**answers[0][1], "device": _counted(names)}
        self.block_seconds = max(seconds for _, _, seconds in answers)

    def _ask(self, name: str, *arguments: Any) -> None:
        """Let all processes carry out a method of `Worker`, and wait until all have."""
        with self._lock:
            self._wait()
            for process in self._processes:
                process.ask(name, *arguments)
            self._answers()

    def _answers(self) -> list[Any]:
        """Return the answers of all processes; raise the first error after all have answered."""
        answers = [process.answer() for process in self._processes]
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def _wait(self) -> None:
        """Wait for the ticks that were begun last, and take their events.

        Arrays that the caller of `each` did not read are awaited first.
        """
        with self._lock:
            for process in self._processes * self._unread:
                process.answer()
            self._unread = 0
            if not self._running:
                return
            self._running = False
            found = self._answers()
        for process, events in zip(self._processes, found, strict=True):
            for rows in events.values():
                rows[:, 0] += process.part.first
        self._events = {
            name: sorted_by_tick([events[name] for events in found], kind.columns)
            for name, kind in self._event_kinds.items()
        }

    def start(self) -> None:
        """Set all copies to their state before the first tick."""
        self._ask("start")

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the checkpointed arrays of the state."""
        self._wait()
        area = self._shared.free_area()
        for name, array in checkpointed(self.fields, state).items():
            self._shared.state(name, area)[...] = array
            self._ask("receive", name, area)
        self._ask("load")

    def run_ticks(self, first: int, last: int) -> None:
        """Begin to run whole ticks of all copies; the processes log them."""
        self._wait()
        self._area, self._ticks = (self._area + 1) % LOG_AREAS, last - first + 1
        for process in self._processes:
            process.ask("run", first, last, self._area)
        self._running = True

    def logs(self, *, borrowed: bool = False) -> State:
        """Return the logged fields of the last `run_ticks`: (copy, tick, ...)."""
        self._wait()
        logs = {name: self._shared.log(name, self._area) for name in self._shared.logged}
        own = {name: log[: self._ticks].swapaxes(0, 1) for name, log in logs.items()}
        return own if borrowed else {name: log.copy() for name, log in own.items()}

    def events(self) -> dict[str, NDArray[np.int32]]:
        """Return the events of the last `run_ticks`: a row has the copy's index and the columns."""
        self._wait()
        return self._events

    def finish(self) -> None:
        """Run the steps after the last tick."""
        self._ask("finish")

    def wait(self) -> None:
        """Wait until all launches and copies have completed."""
        self._wait()

    def arrays(self, *names: str) -> State:
        """Return copies of some arrays of the state."""
        return {name: array.copy() for name, array in self._sent(names)}

    def state(self) -> State:
        """Return a copy of every array of the state."""
        return dict(self.each())

    def each(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield names and arrays of `state` in the table's order, each as soon as it is copied.

        The processes write them into an area of the shared memory that nothing else uses.
        """
        return self._sent(tuple(self.fields))

    def _sent(self, names: tuple[str, ...]) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield arrays of the state while the processes copy those that follow."""
        with self._lock:
            self._wait()
            area, left = self._shared.free_area(), len(names)
            first = [self._shared.state(name, area) for name in names[:1]]  # keeps the area
            for process in self._processes:
                for name in names:
                    process.ask("send", name, area)
            try:
                for name in names:
                    left -= 1
                    self._answers()
                    yield name, self._shared.state(name, area)
            finally:
                self._unread = left  # not awaited here: a signal may end this, and a device hang
                del first

    def let_go(self, seconds: float) -> None:
        """Kill processes that have not answered for so long: who waits for one gets an error."""
        for process in self._processes:
            if time.monotonic() - process.awaited_since >= seconds:
                process.kill()

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.end()
        for process in self._processes:
            process.wait()
        self._memory.close()


class _Process:
    """A process that computes on one device (`societies.workload.running.worker`)."""

    part: OwnCopies
    awaited_since = math.inf
    """Since when, by `time.monotonic`, a thread has been waiting for an answer."""

    def __init__(self, device: str, devices: Sequence[str], descriptor: int) -> None:
        self._device, self._devices = device, devices
        program = (
            f"import sys; sys.path[:] = {sys.path!r}\nfrom {__package__}.worker import main\nmain()"
        )
        self._waiting = 0  # answers that must follow
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(descriptor,),
            start_new_session=True,  # Ctrl-C must not end it while it is being started
        )

    def ask(self, name: str, *arguments: Any) -> None:
        """Let the process carry out a method of `Worker`; `answer` must follow."""
        self._waiting += 1
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # `answer` reports it
            pickle.dump((name, arguments), self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()

    def answer(self) -> Any:
        """Return the result of the method, or the error that it raised."""
        assert self._process.stdout is not None
        self.awaited_since = time.monotonic()
        try:
            found = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            ended = self._process.wait()
            how = f"was ended by signal {-ended}" if ended < 0 else f"ended with exit code {ended}"
            found = DeviceError(f"its process {how}; is the host's memory full?")
        else:
            self._waiting -= 1
        finally:
            self.awaited_since = math.inf
        if type(found) is not DeviceError:
            return found
        others = [one for one in self._devices if one != self._device]
        hint = f"\nwithout it: {option('device', ','.join(others))}" if others else ""
        return DeviceError(f"device {self._device}: {found}{hint}").with_traceback(None)

    def kill(self) -> None:
        """End the process."""
        self._process.kill()

    def end(self) -> None:
        """Let the process end; at once if it is at work."""
        if self._waiting:
            self.kill()
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def wait(self) -> None:
        """Wait until the process has ended."""
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def _shared_memory() -> Any:
    """Return an open file without a name, whose bytes other processes can map.

    It is in memory where the system has such files (Linux), and counts as memory of the processes.
    """
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("societies"), "r+b")
    return tempfile.TemporaryFile()
