"""Which OpenCL C carries out the phases of a configuration?"""

from __future__ import annotations

from typing import Any

from societies.config.problems import suggestion
from societies.errors import ConfigError
from societies.workload.declare.protocol import Setup


def kernel_text(setup: Setup[Any, Any], phase: str | None) -> str:
    """Return the text of a phase's kernels, or of those of all phases.

    Raises
    ------
    ConfigError
        If the workload has no such phase.
    """
    phases = setup.phases
    if phase is not None and phase not in phases:
        near = suggestion(phase, phases)
        raise ConfigError(f"no phase '{phase}'{near} (known: {', '.join(phases)})")
    names = list(phases) if phase is None else [phase]
    texts = dict.fromkeys(setup.workload.kernel_text(setup.p, name) for name in names)
    return "\n".join(text for text in texts if text)
