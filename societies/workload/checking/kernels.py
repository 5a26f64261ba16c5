"""Which OpenCL C carries out the phases of a configuration?"""

from __future__ import annotations

from typing import Any

from societies.config.problems import suggestion
from societies.errors import ConfigError
from societies.kerneltext.source import amalgamate
from societies.workload.declare.phases import kernel_files
from societies.workload.declare.protocol import Setup


def kernel_text(setup: Setup[Any, Any], phase: str | None) -> str:
    """Return the text of a phase's kernels, or of those of all phases.

    Raises ConfigError if the workload has no such phase.
    """
    phases = setup.phases
    if phase is not None and phase not in phases:
        near = suggestion(phase, phases)
        raise ConfigError(f"no phase '{phase}'{near} (known: {', '.join(phases)})")
    names = list(phases) if phase is None else [phase]
    texts = dict.fromkeys(_text(setup, name) for name in names)
    return "\n".join(text for text in texts if text)


def _text(setup: Setup[Any, Any], name: str) -> str:
    """Return the text of the kernels of a phase, without files that they include."""
    text = setup.workload.kernel_text(setup.p, name)
    if text is None:
        files = kernel_files({name: setup.phases[name]})
        text = "\n".join(amalgamate([file]).own_text(file) for file in files)
    return text
