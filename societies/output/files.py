"""How does a complete file get its name in one step, and how is a failure explained to the user?"""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.errors import LACKING, OutputError, option
from societies.inputs import shown
from societies.output.lock import being_written, create, release

if TYPE_CHECKING:
    import h5py

# What HDF5 says when the file is open in another process, or otherwise in this one.
LOCKED = ("unable to lock file", "already open", "file locking flag")
MAKING, READING = "write here", "read this file"


def _elsewhere() -> str:
    return f"choose another place with {option('out')}"


@contextmanager
def explained(path: Path, doing: str) -> Iterator[None]:
    """Turn a failure of the operating system or of HDF5 into an OutputError about ``path``.

    h5py raises OSError, ValueError, RuntimeError or KeyError, whatever the cause; the number of
    the system's error is in the text.
    """
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise OutputError(_explanation(path, doing, error)) from error
    except (TypeError, IndexError, AttributeError, OverflowError, AssertionError) as error:
        if doing != READING:
            raise
        # A foreign file has values of another type or shape than those that a run writes.
        raise OutputError(_explanation(path, doing, error)) from error


def _explanation(path: str | Path, doing: str, error: Exception) -> str:
    path = shown(path)
    text = str(error)
    number = getattr(error, "errno", None)
    if number is None and (found := re.search(r"errno = (\d+)", text)):
        number = int(found[1])
    if number in LACKING:
        return f"{path}: {LACKING[number]}. Free some space or {_elsewhere()}."
    if number == errno.EFBIG:
        return (
            f"{path}: larger than the largest file allowed here. Raise the limit (ulimit -f) or "
            f"{_elsewhere()}."
        )
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{path}: no permission to {doing}. Change the permissions or {_elsewhere()}."
    if number == errno.EAGAIN or any(words in text for words in LOCKED):
        return (
            f"{path}: is open elsewhere, perhaps in a run that still writes it. "
            "Wait for that run or close the file, then try again."
        )
    if number in (errno.ENOENT, errno.ENOTDIR) and doing != MAKING:
        return f"{path}: does not exist. Check the path."
    if number == errno.EISDIR:
        return f"{path}: is a folder. Name a file in it."
    if number is not None and doing == READING:
        return f"{path}: cannot {doing}: {os.strerror(number)}. Try again, or name another file."
    if number is not None:
        return f"{path}: cannot {doing}: {os.strerror(number)}. {_elsewhere().capitalize()}."
    detail = text.splitlines()[0] if text else type(error).__name__
    if "file signature not found" in text:
        detail = "no HDF5 file"
    if doing != READING:
        return f"{path}: cannot {doing} ({detail}). {_elsewhere().capitalize()}."
    return f"{path}: not a result file of societies, or damaged ({detail}). Name another file."


LONGEST_NAME = 240
"""Longest file name in bytes that every file system accepts with our temporary suffix."""


def require_target(path: Path, nbytes: int, *, overwrite: bool) -> None:
    """Raise OutputError if a file of ``nbytes`` bytes obviously cannot be made at ``path``.

    This check only reports a problem early; making and placing the file may still fail.
    """
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise OutputError(
            f"{path.name[:40]}...: the name is too long. {_elsewhere().capitalize()}."
        )
    if not path.parent.is_dir():
        raise OutputError(
            f"{path}: the folder '{path.parent}' does not exist. Create it or {_elsewhere()}."
        )
    if path.is_dir():
        raise OutputError(
            f"{path}: is a folder, it is not a file. Give the name of a file with {option('out')}."
        )
    if os.path.lexists(path) and path.exists() and not path.is_file():
        raise OutputError(f"{path}: is not a file. Give the name of a file with {option('out')}.")
    if os.path.lexists(path):
        if not overwrite:
            raise already_exists(path, resumable=True)
        if being_written(path):
            raise being_written_elsewhere(path)
    require_space(path, nbytes, f"Free some space, record less, or {_elsewhere()}.")


def require_space(path: Path, nbytes: int, remedy: str) -> None:
    """Raise OutputError, with the remedy, if the disk of a path has too few free bytes."""
    disk = shutil.disk_usage(path.parent)
    if disk.total and nbytes > disk.free:  # some network file systems report nothing at all
        raise OutputError(
            f"{path}: the disk is full: {_size(nbytes)} needed, {_size(disk.free)} free. {remedy}"
        )


def require_allowed(path: Path, nbytes: int) -> None:
    """Raise OutputError if this process may not write a file of ``nbytes`` bytes (``ulimit -f``).

    This too is checked early: under such a limit the compiler of a device may abort the process.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and nbytes > limit:
        with explained(path, MAKING):
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))


def already_exists(path: Path, *, resumable: bool) -> OutputError:
    """Return the error for the name of an existing file, which a command may continue."""
    resume, overwrite = option("resume", True), option("overwrite", True)
    remedy = f"Replace it with {overwrite} or"
    if resumable:
        remedy = f"Continue it with {resume}, replace it with {overwrite}, or"
    return OutputError(f"{path}: exists already and was not touched. {remedy} {_elsewhere()}.")


def being_written_elsewhere(path: Path) -> OutputError:
    """Return the error for a file that is to be replaced and that a run is writing."""
    return OutputError(f"{path}: another run is writing it. Wait until it ends or {_elsewhere()}.")


def temporary_name(path: Path) -> Path:
    """Return an unused name in the folder of the file, so that `place` only has to rename."""
    return behind_links(path).with_name(f"{path.stem[:60]}.{secrets.token_hex(4)}.partial")


def behind_links(path: Path) -> Path:
    """Return the path of the file to which symbolic links lead, if the path is one."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


CLAIMS = hasattr(os, "posix_fallocate")
"""Whether disk space can be reserved, which then reads as zeros; not on macOS."""


def claim(descriptor: int, nbytes: int) -> None:
    """Reserve disk space for a file, so that HDF5 itself never meets a full disk.

    If this fails, the system reports a plain error before any data exist. HDF5 does not report
    every failed write: those at the closing of a dataset are lost.

    Raises OSError if the disk has too little space, or files must not become that large.
    """
    if CLAIMS:
        os.posix_fallocate(descriptor, 0, nbytes)


def place(temporary: Path, path: Path, *, overwrite: bool) -> None:
    """Give the complete file ``temporary`` the name ``path`` in one step.

    If ``path`` is a symbolic link, the file that it leads to is replaced, and the link stays.
    Without ``overwrite`` the step fails if the name has been taken in the meantime: a hard link
    is never made over an existing name.

    Raises OutputError if ``path`` exists and ``overwrite`` is false. Raises OSError if the file
    system refuses.
    """
    try:
        if overwrite:
            path = behind_links(path)
            os.replace(temporary, path)
        else:
            try:
                os.link(temporary, path)
            except FileExistsError:
                raise
            except OSError:
                # A file system without hard links: claim the name first, then fill it.
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                os.replace(temporary, path)
            temporary.unlink(missing_ok=True)
    except FileExistsError as error:
        raise already_exists(path, resumable=True) from error
    with suppress(OSError):  # not every file system can flush a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def written(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Yield the name under which a file is written; it gets its own name when it is complete.

    So if two processes write the same file, the one that completes it last wins. The temporary file
    is locked: a process that makes another file of the same stem would remove it otherwise.
    """
    temporary, descriptor = create(lambda: temporary_name(path))
    try:
        yield temporary
        place(temporary, path, overwrite=overwrite)
    finally:
        release(descriptor)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


class _NeverFailing(io.FileIO):
    """A file that accepts whatever is written; ``failed`` is the first error of the system."""

    failed: OSError | None = None

    def write(self, data: Any) -> int:
        """Write the data, unless a write has failed before."""
        left = memoryview(data).cast("B")
        count = len(left)
        try:
            while left and self.failed is None:
                left = left[super().write(left) :]
        except OSError as error:
            self.failed = error
        return count

    def truncate(self, size: int | None = None) -> int:
        """Change the length of the file, unless a write has failed before."""
        try:
            return super().truncate(size) if self.failed is None else size or 0
        except OSError as error:
            self.failed = error
            return size or 0


@contextmanager
def file_for_hdf5(path: Path) -> Iterator[io.FileIO]:
    """Yield a new file in which HDF5 writes; if a write fails, raise its error after the body.

    HDF5 itself would print the error, and may crash while it closes a file that it cannot write.
    """
    with _NeverFailing(path, "w+b") as file:
        try:
            yield file
        except Exception:  # because data that were not written cannot be read again
            if file.failed is None:
                raise
        if file.failed is not None:
            raise file.failed


def abandon(file: h5py.File) -> None:
    """Close a file that could not be made, and leave it on the disk as a killed process would.

    HDF5 buffers what it failed to write, tries again when the file is closed, and may crash the
    process if that fails too. So its remaining writes are sent to the null device.
    """
    if not file.id.valid:
        return
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, file.id.get_vfd_handle())
        os.close(nowhere)
    with suppress(OSError, RuntimeError, ValueError):
        file.close()


def _size(nbytes: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000  # type: ignore[assignment]
    return f"{nbytes:.3g} TB"
