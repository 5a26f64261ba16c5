"""How is a running workload shown in a browser, and controlled from there?

One page with a picture and controls: `show` serves it. `renderer` decides which state is rendered
next, `session` who looks and who controls, `server` is the way to the browser. The page knows
pictures, sliders, choices, buttons and a mouse, and nothing of any workload;
`societies.workload.declare.view` has the types between the two.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from importlib import import_module
from typing import Any

from societies.errors import ConfigError
from societies.view.listening import LOOPBACK, PORT, Listening, listen
from societies.workload.declare.view import View

__all__ = ["LOOPBACK", "PORT", "Listening", "listen", "require_packages", "show"]

PACKAGES = ("starlette", "uvicorn", "websockets")
"""What the extra ``view`` installs."""


def require_packages() -> None:
    """Raise ConfigError if the packages of the extra ``view`` are not there."""
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
    view : what is shown
    listening : where, as `listen` returns it
    report : called with one line for each error, by any thread; the page is served all the same
    browser : whether the page is opened in a browser, if there is a display
    raw : whether frames are sent as pixels; None: to viewers on this machine, as WebP to others
    opened : called once the page can be opened

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


def _display() -> bool:
    """Whether a browser would have a window of its own, rather than this terminal."""
    named = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(named) or sys.platform in ("darwin", "win32")
