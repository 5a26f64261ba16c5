"""Which parts of a declaration follow from names? Twins of phases, and parameters.

A name means the same in the configuration, the reference and the kernels, so the connection
between them need not be declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import PurePath
from typing import Any, TypeVar

from societies.workload.declare.phases import Phase

T = TypeVar("T")


def twins_of(package: str, phases: Mapping[str, Phase]) -> dict[str, Callable[..., None]]:
    """Return the function of every phase in the reference.

    Parameters
    ----------
    package : such as "reference_py.physics.laplace"; or a module that has all functions
    phases : by name; in a package, the function's module has the name of the kernel file of the
        last launch, or without launches that of the phase

    Raises
    ------
    NotImplementedError
        If the module has no function with the name of a phase.
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


def object_named(place: str) -> Any:
    """Return what is called ``MODULE:NAME``; the module is imported now."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def imported(place: str) -> Any:
    """Return a method that calls the function ``MODULE:NAME``, whose module is imported then.

    The function gets the arguments of the method except the workload.
    """

    def method(self: Any, *given: Any, **named: Any) -> Any:
        return object_named(place)(*given, **named)

    return method


def parameters_of(kind: type[T], config: Any, **others: Any) -> T:
    """Return parameters whose attributes have the values of the keys of the same name.

    Parameters
    ----------
    kind : dataclass of the parameters
    config : configuration, whose keys and properties are taken by name
    others : values of other attributes; attributes found in neither have their defaults
    """
    names = {one.name for one in fields(kind) if one.init} - set(others)  # type: ignore[arg-type]
    known = {*type(config).model_fields, *_properties(type(config))}
    return kind(**{name: getattr(config, name) for name in names & known}, **others)


def _properties(kind: type[Any]) -> set[str]:
    return {name for name in dir(kind) if isinstance(getattr(kind, name, None), property)}
