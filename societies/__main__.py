"""What the command ``societies`` does, and ``python -m societies``.

Little is imported up here: a Ctrl-C while the rest is being imported ends as well as a later one.
"""

import signal
import sys

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


if __name__ == "__main__":
    command()
