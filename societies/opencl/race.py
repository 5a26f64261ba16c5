"""Which mistakes does Oclgrind find in kernels? Races, divergence, bounds, uninitialised values.

Oclgrind is an OpenCL device that interprets kernels, work-item by work-item, and checks every
access to memory. With ``SOCIETIES_DEBUG=race`` all kernels of this package run on it. At its end
the process prints the findings, and its exit code is 3 if there are any (Oclgrind's own is always
0). `recording` returns the findings of a part of a program.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from societies.errors import DeviceError

INSTALL = "apt install oclgrind (Debian, Ubuntu), or see github.com/jrprice/Oclgrind"
NOT_INSTALLED = f"SOCIETIES_DEBUG=race needs Oclgrind: {INSTALL}"

RACE, DIVERGENCE, BOUNDS, UNINITIALISED, OTHER = (
    "race",
    "divergence",
    "bounds",
    "uninitialised",
    "other",
)
"""Kinds of findings: two work-items access the same memory, a barrier is not reached by all, an
access outside an array, a value that was never written, and everything else from Oclgrind."""

_SETTINGS = {
    "OCLGRIND_DATA_RACES": "1",
    "OCLGRIND_UNIFORM_WRITES": "1",  # equal values written by several work-items count too
    "OCLGRIND_UNINITIALIZED": "1",
    "OCLGRIND_NUM_THREADS": "1",  # the same log every time
    "OCLGRIND_MAX_ERRORS": "10000",  # nothing is logged beyond
}
_RUNTIME = "liboclgrind-rt-icd"
_FOLDERS = ("/usr/lib/oclgrind", "/usr/local/lib/oclgrind", "/usr/local/lib", "/usr/lib64")
_SHOWN = 3
_FULL = "suppressing further errors"

_KINDS = (
    (re.compile(r"data race"), RACE),
    (re.compile(r"divergence"), DIVERGENCE),
    (re.compile(r"^Invalid|exceeds static array size|out of bounds"), BOUNDS),
    (re.compile(r"uninitiali[sz]ed", re.IGNORECASE), UNINITIALISED),
)
_KERNEL = re.compile(r"^\s*Kernel:\s*(\S+)", re.MULTILINE)
_ENTITY = re.compile(r"Global\(([\d,]+)\) Local\(([\d,]+)\) Group\(([\d,]+)\)")
_PLACE = re.compile(r"^\s*At line (\d+)(?: \(column (\d+)\))? of (.+):$", re.MULTILINE)
_SPACE = re.compile(r"\b(global|local|constant|private) memory")

Rows = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class SourceLine:
    """A line of a kernel file; ``text`` is empty if the file is not known."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f": {self.text}" if self.text else "")


@dataclass(frozen=True)
class OclgrindFinding:
    """One mistake that Oclgrind found.

    Attributes
    ----------
    kind : str
        `RACE`, `DIVERGENCE`, `BOUNDS`, `UNINITIALISED` or `OTHER`.
    message : Oclgrind's own first line
    kernel : name of the kernel, empty for a mistake outside kernels
    space : str
        ``global``, ``local``, ``private``, ``constant`` or empty.
    items : work-items, as ``global id / local id / group``; two for a race
    places : lines of the source; two for a race (they may be the same)
    """

    kind: str
    message: str
    kernel: str
    space: str
    items: tuple[str, ...]
    places: tuple[SourceLine, ...]

    def __str__(self) -> str:
        where = " and ".join(dict.fromkeys(str(place) for place in self.places)) or "no line known"
        return f"{self.kernel or 'outside kernels'}: {self.message}: {where}"


# ---------------------------------------------------------------- starting


def race_mode(value: str | None = None) -> bool:
    """Return whether ``SOCIETIES_DEBUG`` is ``race``."""
    given = os.environ.get("SOCIETIES_DEBUG", "") if value is None else value
    return given.strip() == "race"


def runtime() -> Path | None:
    """Return Oclgrind's OpenCL library, or None if its command is not on the PATH."""
    command = shutil.which("oclgrind")
    if command is None:
        return None
    own = [Path(command).resolve().parent.parent / "lib"]
    for folder in [*(f / "oclgrind" for f in own), *own, *map(Path, _FOLDERS)]:
        for suffix in (".so", ".dylib"):
            if (folder / f"{_RUNTIME}{suffix}").is_file():
                return folder / f"{_RUNTIME}{suffix}"
    return None


def prepare() -> None:
    """Set Oclgrind's environment variables before OpenCL is loaded; report at the process's end."""
    if _log.path is not None:
        return
    library = runtime()
    if library is not None:  # otherwise a package may have registered it
        os.environ["OCL_ICD_VENDORS"] = str(library)
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    if "OCLGRIND_LOG" not in os.environ:
        handle, name = tempfile.mkstemp(prefix="societies-race-", suffix=".log")
        os.close(handle)
        os.environ["OCLGRIND_LOG"] = name
    _log.path = Path(os.environ["OCLGRIND_LOG"])
    _log.process = os.getpid()
    atexit.register(_report)


def watch(cl: Any) -> None:
    """Make pyopencl record every kernel that it launches."""
    enqueue = cl.enqueue_nd_range_kernel

    def noted(queue: Any, kernel: Any, global_size: Any, local_size: Any, *more: Any) -> Any:
        _log.launched.setdefault(kernel.function_name, set()).add(math.prod(local_size or ()))
        return enqueue(queue, kernel, global_size, local_size, *more)

    cl.enqueue_nd_range_kernel = noted


def launched() -> dict[str, set[int]]:
    """Return the kernels launched in this process, with the sizes of their workgroups."""
    return _log.launched


# ---------------------------------------------------------------- reading the log


class _Log:
    """The log of this process, and the kernel files to which its lines refer."""

    def __init__(self) -> None:
        self.path: Path | None = None
        self.process = 0
        self.rows: dict[str, Sequence[str]] = {}
        self.launched: dict[str, set[int]] = {}

    def text(self) -> str:
        if self.path is None:
            return ""
        with contextlib.suppress(OSError):
            return self.path.read_text(encoding="utf-8", errors="replace")
        return ""

    def of_file(self, name: str) -> Sequence[str]:
        """Return the lines of a kernel file; ``name`` may be only the last part of its path."""
        if name not in self.rows:
            name = next((known for known in self.rows if known.endswith(f"/{name}")), name)
        return self.rows.get(name, ())


_log = _Log()


def remember(lines: Mapping[str, Sequence[str]]) -> None:
    """Store the lines of a program's files, so that findings can show them."""
    _log.rows.update(lines)


def read_log(text: str, rows: Rows | None = None) -> list[OclgrindFinding]:
    """Return the findings of a log of Oclgrind in order, without repetitions.

    Parameters
    ----------
    text : contents of the log. Findings of several work-items at the same lines count once.
    rows
        Function that returns the lines of a file by name; default: files of the programs built so
        far. (The lines in the log cannot be used: Oclgrind counts them in the amalgamated text.)
    """
    found: dict[tuple[object, ...], OclgrindFinding] = {}
    for message in re.split(r"\n(?=\S)", text.strip("\n")):
        if message.strip():
            finding = _finding(message, rows or _log.of_file)
            key = (finding.kind, finding.kernel, finding.space, finding.places)
            found.setdefault(key if finding.places else (*key, finding.message), finding)
    return list(found.values())


def _finding(message: str, rows: Rows) -> OclgrindFinding:
    first = message.split("\n", 1)[0].strip()
    kernel = _KERNEL.search(message)
    space = _SPACE.search(first)
    return OclgrindFinding(
        kind=next((kind for form, kind in _KINDS if form.search(first)), OTHER),
        message=re.sub(r" address 0x[0-9a-f]+", "", first),
        kernel=kernel[1] if kernel else "",
        space=space[1] if space else "",
        items=tuple(" / ".join(ids) for ids in _ENTITY.findall(message)),
        places=tuple(
            SourceLine(file, int(line), _row(rows(file), int(line)))
            for line, _, file in _PLACE.findall(message)
        ),
    )


def _row(rows: Sequence[str], line: int) -> str:
    return rows[line - 1].strip() if 0 < line <= len(rows) else ""


def findings() -> list[OclgrindFinding]:
    """Return everything found in this process so far.

    Raises
    ------
    DeviceError
        If the process was not started with ``SOCIETIES_DEBUG=race``.
    """
    _require_race_mode()
    return read_log(_log.text())


@contextmanager
def recording() -> Iterator[list[OclgrindFinding]]:
    """Collect the findings inside the block; the list is filled at its end.

    ::

        with recording() as found:
            program.my_kernel(..., global_size=64, local_size=8).wait()
        assert not found, found[0]

    The block must wait for all kernels that were launched before or inside it. Findings still count
    for the exit code of the process.

    Raises
    ------
    DeviceError
        If the process was not started with ``SOCIETIES_DEBUG=race``.
    """
    _require_race_mode()
    found: list[OclgrindFinding] = []
    before = _log.text()
    try:
        yield found
    finally:
        found.extend(read_log(_log.text()[len(before) :]))
        if _FULL in before:
            found.append(
                OclgrindFinding(OTHER, "the log was full before: nothing is known", "", "", (), ())
            )


def _require_race_mode() -> None:
    if race_mode():
        prepare()
    if _log.path is None:
        raise DeviceError("no races are recorded here: set SOCIETIES_DEBUG=race before the start")


# ---------------------------------------------------------------- reporting


def summary(found: Sequence[OclgrindFinding], log: Path | str, kernels_run: int) -> str:
    """Return the lines that are printed at the end of a command."""
    if not found and not kernels_run:
        return "SOCIETIES_DEBUG=race: no kernel was run"
    if not found:
        return f"SOCIETIES_DEBUG=race: Oclgrind found nothing in {kernels_run} kernels"
    kernels = sorted({f.kernel for f in found if f.kernel})
    where = f" in {', '.join(kernels)}" if kernels else ""
    count = f"{len(found)} finding{'s' * (len(found) > 1)}"
    rows = [f"SOCIETIES_DEBUG=race: {count}{where}; log: {log}"]
    rows += [f"    {finding}" for finding in found[:_SHOWN]]
    if len(found) > _SHOWN:
        rows.append(f"    and {len(found) - _SHOWN} more")
    return "\n".join(rows)


def _report() -> None:
    """Print the findings, and set the exit code if there are any."""
    if _log.path is None or _log.process != os.getpid():  # not in a child made by fork
        return
    found = read_log(_log.text())
    sys.stdout.flush()
    print(summary(found, _log.path, len(_log.launched)), file=sys.stderr, flush=True)
    if found:
        os._exit(DeviceError.exit_code)  # the only way to change the exit code this late
    if _log.path.name.startswith("societies-race-"):
        with contextlib.suppress(OSError):
            _log.path.unlink()
