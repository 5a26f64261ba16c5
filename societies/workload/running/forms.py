"""In which form is a report given, as text or as JSON?"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from societies.errors import ConfigError, option


def require_form(form: str) -> None:
    """Raise ConfigError unless `trace` can give its report in the form."""
    if form not in ("text", "json"):
        raise ConfigError(f"{option('form', form)}: choose text or json")


def in_form(form: str, found: Any, text: Callable[[Any], str] = str) -> str:
    """Return a report as text, or its ``data()`` as JSON; `require_form` comes before the work."""
    return json.dumps(found.data()) if form == "json" else text(found)
