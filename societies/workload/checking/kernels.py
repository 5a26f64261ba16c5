"""Which OpenCL C carries out the phases of a configuration?"""

from __future__ import annotations

from typing import Any

from societies.config.problems import suggestion
from societies.errors import ConfigError
from societies.workload.declare.protocol import Workload


def kernel_text(workload: Workload[Any, Any], config: Any, phase: str | None) -> str:
    """Return the text of a phase's kernels, or of those of all phases.

    Raises
    ------
    ConfigError
        If the workload has no such phase.
    """
    p = workload.parameters(config)
    phases = workload.phases(p, 1)
    if phase is not None and phase not in phases:
        near = suggestion(phase, phases)
        raise ConfigError(f"no phase '{phase}'{near} (known: {', '.join(phases)})")
    names = list(phases) if phase is None else [phase]
    texts = dict.fromkeys(workload.kernel_text(p, name) for name in names)
    return "\n".join(text for text in texts if text)
