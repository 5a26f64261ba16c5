"""What the command ``societies`` does, and ``python -m societies``.

Little is imported up here: a Ctrl-C while the rest is being imported ends as well as a later one.
"""

import signal
import sys
from pathlib import Path

from societies.errors import Interrupted, interruption


def command() -> None:
    """Run the command line as a process of its own; it ends with the exit code."""
    try:
        from societies.cli import main

        main(own_process=True)
    except KeyboardInterrupt as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(interruption(error), file=sys.stderr)
        sys.exit(Interrupted.exit_code)


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
