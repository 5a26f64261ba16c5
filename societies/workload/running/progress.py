"""How is the progress of a run shown: as a bar in a terminal or a notebook, else not at all?"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from societies.terminal import open_console
from societies.words import plural
from societies.workload.declare.protocol import Setup
from societies.workload.running.request import Config, setup_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Advance = Callable[[int, int], None]
"""Called with (ticks done, ticks)."""

_SECONDS_BETWEEN_PICTURES = 0.2  # in a notebook, where each is sent to the browser


@contextmanager
def progress_bar(
    config: Config, device: object, *, notebook: bool = False
) -> Iterator[Advance | None]:
    """Show tick, copies, rate and remaining time on stderr if it is a terminal.

    With ``notebook`` they are shown below the cell if this runs in a notebook.
    """
    if notebook and "IPython" not in sys.modules:
        yield None  # without importing rich, a twentieth of the time until the first tick
        return
    console = open_console(stderr=True)
    if notebook:
        if not console.is_jupyter:
            yield None
            return
        from IPython.display import display

        bar = _bar(console)
        advance = _advance(bar, setup_of(config, called="progress_bar"), device)
        # Rich's own live display needs the package ipywidgets here; but every front end can
        # replace a picture that was displayed with an identifier.
        picture, shown = display(bar, display_id=True), time.monotonic()

        def advance_and_show(tick: int, ticks: int) -> None:
            nonlocal shown
            advance(tick, ticks)
            if tick == ticks or time.monotonic() - shown > _SECONDS_BETWEEN_PICTURES:
                picture.update(bar)
                shown = time.monotonic()

        yield advance_and_show
    elif console.is_terminal:
        with _bar(console) as bar:
            yield _advance(bar, setup_of(config, called="progress_bar"), device)
    else:
        yield None


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True)


def _advance(bar: Progress, setup: Setup[Any, Any], device: object) -> Advance:
    """Return the function that moves the bar; until its second call it shows why one waits."""
    shown, copies = setup.workload, setup.copies
    clock, clocks = shown.clock, plural(shown.clock)
    ensemble = "" if copies == 1 else f", {copies} {plural(shown.copies)}"
    first = f"the first {clock}" if device == "reference" else "building kernels"
    task = bar.add_task(first, total=None, rate="")
    calls, begun = 0, False

    def advance(tick: int, ticks: int) -> None:
        # Kernels are built until the first tick is done (some platforms finish the build at the
        # first launch). The rate is measured from then on; resumed ticks do not count either.
        nonlocal calls, begun
        calls += 1
        if calls == 1 and tick < ticks:
            return
        if not begun:
            begun = True
            bar.reset(task, total=None if shown.open_ended else ticks, completed=tick, rate="")
        speed = bar.tasks[0].speed
        bar.update(
            task,
            completed=tick,
            description=f"{clock} {tick}{'' if shown.open_ended else f' of {ticks}'}{ensemble}",
            rate=f"{speed:.3g} {clocks}/s" if speed else "",
        )

    return advance


SECONDS_BETWEEN_LINES = 30.0
"""Least time between the lines of a sweep if stderr is not a terminal."""


@contextmanager
def sweep_progress() -> Iterator[Callable[[Any], None]]:
    """Show the progress of a sweep on stderr: a bar, or occasional lines if not a terminal."""
    console = open_console(stderr=True)
    if not console.is_terminal:
        said = time.monotonic()

        def line(progress: Any) -> None:
            nonlocal said
            if time.monotonic() - said > SECONDS_BETWEEN_LINES:
                print(progress, file=sys.stderr, flush=True)
                said = time.monotonic()

        yield line
        return
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("building kernels", total=None)

        def advance(progress: Any) -> None:
            over = progress.done + progress.failed
            if over:
                bar.update(
                    task, total=progress.runs, completed=over, description=escape(str(progress))
                )

        yield advance
