"""Is a file a result file of societies, and is its structure intact? HDF5 opens it only if so."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import h5py
import numpy as np

from societies.errors import OutputError, option
from societies.output import checkpoints, checksums, lock, seal
from societies.output.checksums import Commits
from societies.output.disk import Disk
from societies.output.layout import A_STUDY, OTHER_VERSION, SEALED, STUDY_ATTRIBUTE, require_ours
from societies.output.seal import Damage
from societies.output.stored_seal import Seal, StudySeal, find
from societies.output.study_layout import CHECKSUM, STUDY_VERSION
from societies.output.trust import opened, require_file
from societies.words import plural


def descriptor_of(path: Path, *, write: bool = False) -> int:
    """Open a regular file.

    Raises OutputError if reading it could wait for ever, as from a pipe. Raises OSError if it
    cannot be opened, or is a folder.
    """
    require_file(path)
    flags = (os.O_RDWR if write else os.O_RDONLY) | getattr(os, "O_BINARY", 0)
    # Opening a pipe would wait for a process at its other end.
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(number, os.strerror(number))
    return descriptor


@contextmanager
def reading(path: Path) -> Iterator[int]:
    """Open a regular file as `descriptor_of` does, until the end of the block."""
    descriptor = descriptor_of(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def reading_sealed(path: Path) -> Iterator[tuple[Disk, Seal]]:
    """Open a result file and check its structure as `sealed` does; refuse one without a seal."""
    with reading(path) as descriptor:
        found = sealed(path, descriptor, *SEALED)
        assert found is not None  # older layouts are refused
        yield found


def sealed(path: Path, descriptor: int, *known: int) -> tuple[Disk, Seal] | None:
    """Check the structure of a result file; return the raw file and its seal.

    Returns None if the file has an older layout, which has no seal.

    Raises OutputError if it is no result file, has none of the layouts ``known``, or its structure
    is damaged. Raises OSError if it cannot be read.
    """
    found = _found(path, descriptor, lambda file: require_ours(file, path, *known))
    if isinstance(found, StudySeal):
        raise OutputError(f"{path}: {A_STUDY}")
    if found is None:
        return None
    disk = found.disk(descriptor)
    if wrong := list(seal.damages(disk, found)):
        raise damaged(path, disk, found, wrong)
    return disk, found


def sealed_study(path: Path, descriptor: int) -> tuple[Disk, StudySeal] | None:
    """Check the structure of a study as `sealed` does that of a run's file."""
    found = _found(path, descriptor, lambda file: require_study(file, path))
    if isinstance(found, Seal):
        raise OutputError(_NO_STUDY.format(path))
    if found is None:
        return None
    disk = found.disk(descriptor)
    if wrong := list(seal.damages(disk, found)):
        runs = found.extents[CHECKSUM].shape[0]
        good = f"those of its {runs} runs that `societies info --check` does not name"
        raise _damaged(path, wrong, good, _restored())
    return disk, found


def _found(
    path: Path, descriptor: int, layout: Callable[[h5py.File], int]
) -> Seal | StudySeal | None:
    """Return the seal of a file; None if its layout, which a function returns, has no seal."""
    found = find(descriptor)
    if found is None:
        with opened(path) as file:
            if layout(file) >= SEALED[0]:
                raise OutputError(
                    f"{path}: damaged: both seals (checksums) are missing, so nothing in it is "
                    f"certain.\n{_restored()}"
                )
    return found


def is_study(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a study, even a damaged one; False if it cannot be read."""
    damage = (OSError, KeyError, ValueError, RuntimeError)  # h5py raises any of them
    with suppress(*damage, OutputError):
        with reading(Path(path)) as descriptor:
            found = find(descriptor)
        if found is not None:
            return isinstance(found, StudySeal)
        with opened(path) as file:
            return STUDY_ATTRIBUTE in file.attrs
    return False


def require_study(file: h5py.File, path: Path) -> int:
    """Return the layout of an open study; raise OutputError if it is no study, or too new."""
    version = file.attrs.get(STUDY_ATTRIBUTE)
    if version is None:
        raise OutputError(_NO_STUDY.format(path))
    if not isinstance(version, int | np.integer) or not 1 <= version <= STUDY_VERSION:
        raise OutputError(
            f"{path}: is a study of layout {version}; this version of societies knows "
            f"{STUDY_VERSION}{OTHER_VERSION}"
        )
    return int(version)


_NO_STUDY = "{}: is not a study. Name a file that `societies sweep` wrote."


def _restored() -> str:
    return f"Restore the file from a copy, or run it again under another name ({option('out')})."


def damaged_runs(path: Path, wrong: Sequence[Damage], good: str) -> OutputError:
    """Return the error for a study with damaged runs, or a damaged status of runs."""
    resume = option("resume", True)
    remedy = f"Continue its sweep ({resume}), which repairs it, or restore the file from a copy."
    return _damaged(path, wrong, good, remedy)


def _damaged(path: Path, wrong: Sequence[Damage], good: str, remedy: str) -> OutputError:
    more = f" (and {len(wrong) - 1} more: societies info --check)" if wrong[1:] else ""
    return OutputError(f"{path}: damaged: {wrong[0]}{more}.\nStill good: {good}. {remedy}")


def require_whole(path: Path) -> None:
    """Check the structure of a result file before HDF5 opens it.

    Raises OutputError or OSError as `sealed` does.
    """
    with reading(path) as descriptor:
        sealed(path, descriptor)


def require_sound(path: Path, disk: Disk, found: Seal) -> tuple[Commits, list[Damage]]:
    """Compare all of a result file; return the record of its ticks, and damages that do no harm.

    What a killed run left unfinished is no damage.

    Raises OutputError if anything else is damaged.
    """
    commits = checksums.commits(disk, found)
    wrong = [one for one in checksums.damages(disk, found, commits) if not one.unfinished]
    if not all(one.harmless for one in wrong):
        raise damaged(path, disk, found, wrong)
    return commits, wrong


def damaged(path: Path, disk: Disk, found: Seal, wrong: Sequence[Damage]) -> OutputError:
    """Return the error for a damaged file: what, where, what is still good."""
    return _damaged(path, wrong, still_good(disk, found), _restored())


def still_good(disk: Disk, found: Seal, *, live: bool = False) -> str:
    """Check all of a damaged file; return which parts can be relied on, as text."""
    size = os.fstat(disk.descriptor).st_size
    lost = [name for name, one in found.extents.items() if one.end > size]
    if lost:
        within = [name for name in found.series if found.extents[name].end <= size]
        names = ", ".join(within) or "no variables"
        return f"nothing for certain; within the file are still {names}"
    state = checksums.commits(disk, found)
    wrong = checksums.damages(disk, found, state, live=live)
    bad = {one.what for one in wrong if not one.unfinished}
    series = [name for name in found.series if f"'{name}'" not in bad]
    days = f"{plural(found.clock)} 1 to {state.tick}" if state.tick else f"no {found.clock} yet"
    parts = [f"{len(series)} of {len(found.series)} variables ({days})"]
    parts += [f"the events '{name}'" for name in found.tables if f"events '{name}'" not in bad]
    slots = [
        str(tick)
        for slot, tick in checkpoints.ticks(disk, found.slots, state.tick).items()
        if f"checkpoint {slot}" not in bad
    ]
    if slots:
        parts.append(f"checkpoint{'s' * (len(slots) > 1)} of {found.clock} {' and '.join(slots)}")
    return ", ".join(parts)


def locked(path: Path) -> int:
    """Open a file for further writing and lock it; return the descriptor.

    Raises OutputError if another process is writing it. Raises OSError if it cannot be opened.
    """
    descriptor = descriptor_of(path, write=True)
    try:
        mine = lock.acquire(descriptor) and os.path.samestat(os.fstat(descriptor), os.stat(path))
    except BaseException:
        lock.release(descriptor)
        raise
    if not mine:  # or the name has been given to another file meanwhile
        os.close(descriptor)
        raise OutputError(
            f"{path}: is open elsewhere in a run that writes it. "
            "Wait for it to end or stop it, then try again."
        )
    return descriptor
