"""What the command ``societies`` does, and ``python -m societies``.

Little is imported up here: a signal while the rest is being imported ends as well as a later one.
"""

import os
import sys
from pathlib import Path

from societies import signals
from societies.errors import interruption


def command() -> None:
    """Run the command line as a process of its own; it ends with the exit code."""
    signals.handle()
    _open_standard_streams()
    try:
        from societies.cli import main

        main(own_process=True)
    except KeyboardInterrupt as error:
        signals.last_words()
        signals.say(interruption(error, sys.argv[1:]))
        sys.exit(signals.exit_code(signals.number_of(error)))


def _open_standard_streams() -> None:
    """Open what the shell has closed (``<&-``), as empty input and as output to nowhere.

    Else the next file that is opened would be the standard output, and texts would go into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        mode = "w" if number else "r"
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _leave_out_current_folder() -> None:
    """Look for workloads where the command ``societies`` does.

    ``python -m`` searches the current folder first, whose files may come from any user: what is
    installed or lies in it would be found as a workload, or instead of a library.
    """
    if sys.flags.safe_path or not sys.path:
        return
    folder = sys.path.pop(0)
    if Path(folder).resolve() == Path(__file__).resolve().parents[1]:
        sys.path.append(folder)  # a checkout that is not installed has reference_py there


if __name__ == "__main__":
    _leave_out_current_folder()
    command()
