"""Which function of the reference is the twin of a phase? That of its name.

A name means the same in the reference and the kernels, so the connection need not be declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import PurePath

from societies.workload.declare.phases import Phase


def twins_of(package: str, phases: Mapping[str, Phase]) -> dict[str, Callable[..., None]]:
    """Return the function of every phase in the reference.

    ``package`` may be a module that has all functions. Else the module of a phase has the name of
    the kernel file of its last launch, or without launches its own.

    Raises NotImplementedError if the module has no function with the name of a phase.
    """
    return {name: _twin(package, name, one) for name, one in phases.items()}


def _twin(package: str, name: str, phase: Phase) -> Callable[..., None]:
    module = package
    try:
        if hasattr(import_module(package), "__path__"):
            stem = PurePath(phase.launches[-1].file).stem if phase.launches else name
            module = f"{package}.{stem}"
        function: Callable[..., None] = getattr(import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name not in (package, module):
            raise  # the module exists, but something that it imports is missing
        raise NotImplementedError(
            f"phase {name} has no twin: no function {name} in {module}"
        ) from error
    return function
