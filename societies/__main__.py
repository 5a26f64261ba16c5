"""What the command ``societies`` does, and ``python -m societies``.

Little is imported up here: a signal while the rest is being imported ends as well as a later one.
"""

import sys
from pathlib import Path

from societies import signals
from societies.errors import interruption


def command() -> None:
    """Run the command line as a process of its own; it ends with the exit code."""
    signals.handle()
    try:
        from societies.cli import main

        main(own_process=True)
    except KeyboardInterrupt as error:
        signals.last_words()
        signals.say(interruption(error, sys.argv[1:]))
        sys.exit(signals.exit_code(signals.number_of(error)))


def _leave_out_current_folder() -> None:
    """Look for workloads where the command ``societies`` does.

    ``python -m`` searches the current folder first, of which anybody may be the author: what is
    installed or lies there would be found as a workload, or instead of a library.
    """
    if sys.flags.safe_path or not sys.path:
        return
    folder = sys.path.pop(0)
    if Path(folder).resolve() == Path(__file__).resolve().parents[1]:
        sys.path.append(folder)  # a checkout that is not installed has reference_py there


if __name__ == "__main__":
    _leave_out_current_folder()
    command()
