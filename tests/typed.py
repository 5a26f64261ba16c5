"""What does a person see who plays a game in a terminal, typing these lines?"""

import io

from rich.console import Console


def typed_game(workload, config, lines, *, width=60, **options):
    """Return what is shown of a game in which the lines are typed one by one, and its end."""
    left, shown = iter(lines), io.StringIO()
    console = Console(file=shown, width=width)

    def read(prompt=""):
        console.print(prompt)
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    console.input = read
    end = workload.play(config, console=console, **options)
    return shown.getvalue(), end
