"""What does dieharder say of a sequence of words? One test at a time, bytes counted."""

import csv
import fcntl
import io
import os
import subprocess
import termios
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

PIPE_BYTES = 1 << 20
_SHOW = ("test_name", "ntuple", "tsamples", "psamples", "pvalues", "assessment", "no_whitespace")
_DEFAULT_NTUPLES = {200: range(1, 13), 201: range(2, 6), 202: range(2, 6), 203: range(33)}


@dataclass(frozen=True)
class Test:
    """One of dieharder's tests: its number and, where it has one, the size of tuples or the lag."""

    number: int
    ntuple: int | None = None

    @property
    def options(self) -> list[str]:
        """Return the options of the command line that choose it."""
        return ["-d", str(self.number)] + (["-n", str(self.ntuple)] if self.ntuple else [])


def tests(*numbers: int, **ntuples: range) -> list[Test]:
    """Return tests by number, those with tuples in all the sizes that ``dieharder -a`` takes."""
    return [
        Test(number, ntuple)
        for number in numbers
        for ntuple in ntuples.get(f"of_{number}", _DEFAULT_NTUPLES.get(number, [None]))
    ]


class Pipe:
    """A sequence of words that dieharder reads one test after the other, none read twice."""

    def __init__(self, blocks: Iterator[np.ndarray]):
        self._blocks = blocks
        self._left = memoryview(b"")

    def run(self, test: Test, psamples: int | None = None) -> list[dict[str, object]]:
        """Run one test on the next words; return a row for each p-value.

        The row holds dieharder's own columns, the bytes that it read, and the seconds it took.
        Bytes written to the pipe but not read by the end of the test are not counted, and lost.
        """
        command = ["dieharder", "-g", "200", "-c", ",", *test.options]
        command += ["-p", str(psamples)] if psamples else []
        for flag in _SHOW:
            command += ["-D", flag]
        read_end, write_end = os.pipe()
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        began = time.perf_counter()
        child = subprocess.Popen(command, stdin=read_end, stdout=subprocess.PIPE, text=True)
        writer = _Writer(self, write_end, child)
        writer.start()
        output, _ = child.communicate()
        seconds = time.perf_counter() - began
        writer.ended.set()
        unread = 0
        while writer.is_alive() or _waiting(read_end):  # it may wait for room in the pipe
            unread += len(os.read(read_end, _waiting(read_end)))
        writer.join()
        os.close(read_end)
        if writer.error is not None:
            raise writer.error
        if child.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}: {output}")
        read = writer.written - unread
        return [row | {"bytes": read, "seconds": round(seconds, 1)} for row in _rows(output)]

    def next_bytes(self) -> memoryview:
        """Return the next bytes of the sequence, at most a pipe full."""
        if not self._left:
            self._left = memoryview(next(self._blocks)).cast("B")
        result, self._left = self._left[:PIPE_BYTES], self._left[PIPE_BYTES:]
        return result


class _Writer(threading.Thread):
    """Fills the pipe until the reader has ended."""

    def __init__(self, pipe: Pipe, write_end: int, child: subprocess.Popen[str]):
        super().__init__()
        self.pipe, self.write_end, self.child = pipe, write_end, child
        self.ended = threading.Event()
        self.written = 0
        self.error: Exception | None = None

    def run(self) -> None:
        """Write; an error in the drawing of the words ends the reader too."""
        try:
            while not self.ended.is_set():
                self.written += os.write(self.write_end, self.pipe.next_bytes())
        except Exception as error:
            self.error = error
            self.child.kill()
        finally:
            os.close(self.write_end)


def _waiting(read_end: int) -> int:
    """Return the bytes in the pipe."""
    return int.from_bytes(fcntl.ioctl(read_end, termios.FIONREAD, bytes(4)), "little")


def _rows(output: str) -> list[dict[str, object]]:
    names = ("test", "ntuple", "tsamples", "psamples", "p_value", "assessment")
    rows = [
        dict(zip(names, map(str.strip, line), strict=True))
        for line in csv.reader(io.StringIO(output))
        if len(line) == len(names) and line[-1].strip() in ("PASSED", "WEAK", "FAILED")
    ]
    if not rows:
        raise RuntimeError(f"dieharder gave no p-value: {output}")
    return rows
