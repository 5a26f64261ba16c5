"""What of a declaration follows from names: twins of phases, parameters from keys, macros of words.

A name means the same in the configuration, in the reference and in the kernels, so none of these
has to be said a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
    package : such as "reference_py.physics.laplace"; a module that is no package has all functions
    phases : by name; the module is named as the file of the last launch, or as the phase without

    Raises
    ------
    NotImplementedError
        If a phase has no function of its name there.
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
            raise  # something else is missing, which the module imports
        raise NotImplementedError(
            f"phase {name} has no twin: no function {name} in {module}"
        ) from error
    return function


def parameters_of(kind: type[T], config: Any, **others: Any) -> T:
    """Return parameters whose attributes are the keys of the same name.

    Parameters
    ----------
    kind : a dataclass
    config : its keys, and properties of its class, are taken by their names
    others : attributes that are something else; what is in neither has its default
    """
    names = {one.name for one in fields(kind) if one.init} - set(others)  # type: ignore[arg-type]
    there = {*type(config).model_fields, *_properties(type(config))}
    return kind(**{name: getattr(config, name) for name in names & there}, **others)


def _properties(kind: type[Any]) -> set[str]:
    return {name for name in dir(kind) if isinstance(getattr(kind, name, None), property)}


def word_macros(symbol: str, word: str, words: Iterable[str]) -> dict[str, bool]:
    """Return for each word whether it is the chosen one, by the macro ``SYMBOL_IS_WORD``."""
    return {f"{symbol}_IS_{one.upper()}": one == word for one in words}
