"""What did a tick change? The method `trace` of every model in one file."""

from __future__ import annotations

from typing import Any, cast

from societies.workload import Setup
from societies.workload.running.forms import in_form, require_form


class Traceable:
    """What `societies trace` asks of a model."""

    def trace(
        self,
        config: Any,
        *,
        tick: int = 1,
        entry: int | None = None,
        copy: int | None = None,
        form: str = "text",
        device: Any = "auto",
        progress: Any = None,
    ) -> str:
        """Return a text on what each phase of a tick changed.

        Parameters
        ----------
        tick : int
            The tick, such as a day, from 1.
        entry : int, optional
            Only entries of this index, such as an agent, from 0, and events that hold this number.
        copy : int, optional
            The number of the copy, such as a society; default: the first.
        form : str
            text or json.
        """
        from societies.model.tracing import trace

        require_form(form)
        setup = Setup(cast(Any, self), config)
        one = trace(setup, tick=tick, entry=entry, copy=copy, device=device, progress=progress)
        return in_form(form, one)
