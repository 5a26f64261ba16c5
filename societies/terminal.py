"""How do commands write to a terminal: tables on stdout, warnings and activities on stderr?"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from societies.errors import printable
from societies.words import plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SECONDS_BETWEEN_LINES = 10.0
"""Time between lines on the current activity if stderr is not a terminal."""


def warn(text: str) -> None:
    """Write a warning on stderr."""
    print(f"warning: {printable(text)}", file=sys.stderr)


def open_console(*, stderr: bool = False) -> Console:
    """Return a console for stdout or stderr; its library is imported only for this."""
    from rich.console import Console

    return Console(stderr=stderr)


def print_rows(rows: Sequence[tuple[str, str]], console: Console) -> None:
    """Print names and values in two columns; values are not wrapped, so grep finds them."""
    from rich.markup import escape

    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        label = f"[dim]{escape(name.ljust(width))}[/]"
        console.print(f"{label}  {escape(printable(value))}", highlight=False, soft_wrap=True)


def table_of(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    left: Collection[str] = (),
    wrap: Collection[str] = (),
    **style: Any,
) -> Table:
    """Return a table of rich whose texts are printed as they are, brackets included.

    Parameters
    ----------
    rows : a cell for each column: a text, or what rich draws
    left : columns that are aligned at the left; the others are at the right
    wrap : columns whose texts may be wrapped
    style : options of `rich.table.Table`
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    own = {"title_justify": "left", "title_style": "bold", "box": box.SIMPLE, **style}
    table = Table(title=escape(title) or None, **own)
    for name in columns:
        justify: Any = "left" if name in left else "right"
        table.add_column(escape(name), justify=justify, no_wrap=name not in wrap)
    for row in rows:
        table.add_row(*(escape(cell) if isinstance(cell, str) else cell for cell in row))
    return table


@contextmanager
def doing(first: str, clock: str) -> Iterator[Callable[[int, int | None, str], None]]:
    """Show the current activity and its progress; without a terminal, a line every ten seconds.

    The number of ticks is None if it is not known.

    A thread writes, so that users also see it while a kernel is built for a long time.
    """
    console = open_console(stderr=True)
    if console.is_terminal:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Bar(*columns, console=console, transient=True) as bar:
            task = bar.add_task(first, total=None)
            yield lambda done, ticks, what: bar.update(
                task, completed=done, total=ticks, description=what
            )
        return
    now, ended, began = first, threading.Event(), time.monotonic()

    def note(done: int, ticks: int | None, what: str) -> None:
        nonlocal now
        of = "" if ticks is None else f" of {ticks}"
        now = f"{what} ({done}{of} {plural(clock)} done)"

    def write() -> None:
        while not ended.wait(SECONDS_BETWEEN_LINES):
            print(f"{time.monotonic() - began:.0f} s: {now}", file=sys.stderr, flush=True)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield note
    finally:
        ended.set()
        writer.join()
