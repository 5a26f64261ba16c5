"""How is a running workload shown in a browser and controlled from it?

`show` serves one page with a picture and controls. `renderer` decides which state is rendered next,
`session` which viewers are connected and which one controls, and `server` talks to the browser. The
page knows pictures, sliders, choices, buttons and a mouse, and nothing about workloads; the types
that connect the two are in `societies.workload.declare.view`.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from societies.errors import ConfigError
from societies.view.following import following
from societies.view.listening import LOOPBACK, PORT, Listening, listen
from societies.workload.declare.view import View

__all__ = [
    "LOOPBACK",
    "PORT",
    "Listening",
    "following",
    "listen",
    "require_packages",
    "show",
    "show_file",
    "show_run",
]

PACKAGES = ("starlette", "uvicorn", "websockets")
"""What the extra ``view`` installs."""


def require_packages() -> None:
    """Raise ConfigError if the packages of the extra ``view`` are not installed."""
    for name in PACKAGES:
        try:
            import_module(name)
        except ImportError:
            raise ConfigError(
                f"the page needs the package {name}: pip install 'societies[view]'"
            ) from None


def show(
    view: View[Any],
    listening: Listening,
    *,
    report: Callable[[str], None],
    browser: bool = False,
    raw: bool | None = None,
    opened: Callable[[], None] = lambda: None,
) -> None:
    """Serve a view until Ctrl-C.

    Parameters
    ----------
    view : the view to show
    listening : socket and address, from `listen`
    report : called with one line for each error, by any thread; serving continues
    browser : whether to open the page in a browser, if this machine has a display
    raw : whether frames are sent as pixels; None: as pixels on this machine, as WebP elsewhere
    opened : called once when the page can be opened

    Raises
    ------
    ConfigError
        If a package is missing.
    """
    require_packages()
    from societies.view.server import serve
    from societies.view.session import Session

    def begin() -> None:
        opened()
        if browser and _display():
            webbrowser.open(listening.address)

    serve(Session(view, report), listening, report=report, opened=begin, raw=raw)


def show_run(config: Any, *, device: str = "auto") -> View[Any]:
    """Return the page of a run of any workload: its series, and what can be changed on the way."""
    from societies.view.run_view import RunView
    from societies.workload.running.request import setup_of

    return RunView(setup_of(config, called="view"), device)


def show_file(path: Path) -> View[Any]:
    """Return the page of a result file, read-only."""
    from societies.view.file_view import FileView

    return FileView(path)


def _display() -> bool:
    """Whether a browser would have a window of its own, rather than this terminal."""
    named = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(named) or sys.platform in ("darwin", "win32")
