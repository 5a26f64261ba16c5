"""How does the command ``societies`` (or ``python -m societies``) start and end?

Little is imported at the top, so that signals during the other imports are handled as well.
"""

import gc
import os
import sys
from pathlib import Path

from societies import signals
from societies.errors import interruption


def command() -> None:
    """Run the command line in this process and end it with the exit code."""
    try:
        _command()
    except SystemExit as end:
        signals.leave(end.code)
        raise
    signals.leave(0)


def _command() -> None:
    try:
        signals.handle()
        _collect_later()
        _open_standard_streams()
        signals.watch()
        # To find plug-ins of its own, pydantic would read the data of all installed packages.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        # Else the threads of NumPy's OpenBLAS, one for each core, wait busily for 0.1 s.
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
        from societies.cli import main

        main(own_process=True)
    except KeyboardInterrupt as error:
        signals.last_words()
        signals.say(interruption(error, sys.argv[1:]))
        sys.exit(signals.exit_code(signals.number_of(error)))


def _collect_later(objects: int = 200_000) -> None:
    """Look for unreachable objects as usual only after `objects` objects have been made.

    Modules and a configuration make 60,000 to 130,000 objects, which stay. Looking through them
    again and again took a fourteenth of the processor time of short commands.
    """
    usual = gc.get_threshold()

    def first(phase: str, _: dict[str, int]) -> None:
        if phase == "stop":
            gc.callbacks.remove(first)
            gc.set_threshold(*usual)

    if gc.isenabled() and usual[0]:
        gc.callbacks.append(first)
        gc.set_threshold(max(objects, usual[0]), *usual[1:])


def _open_standard_streams() -> None:
    """Open standard streams that the shell has closed (``<&-``) on the null device.

    Else the next opened file would get the standard output's number, and texts would go into it.
    A standard output that was closed cannot be written: what is printed is lost, which is an error.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        mode = "w" if number else "r"
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _leave_out_current_folder() -> None:
    """Remove the current folder from the search path, as for the command ``societies``.

    ``python -m`` searches the current folder first. Its files may come from any user, and they
    would be imported as workloads or in place of libraries.
    """
    if sys.flags.safe_path or not sys.path:
        return
    folder = sys.path.pop(0)
    if Path(folder).resolve() == Path(__file__).resolve().parents[1]:
        sys.path.append(folder)  # a checkout that is not installed has reference_py in this folder


if __name__ == "__main__":
    _leave_out_current_folder()
    command()
