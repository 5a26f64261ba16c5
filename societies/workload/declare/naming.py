"""Which objects and parameters are found by their names?"""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from importlib import import_module
from inspect import Signature, signature
from typing import Any, TypeVar

from societies.workload.declare.protocol import Setup

T = TypeVar("T")


def object_named(place: str) -> Any:
    """Return what is called ``MODULE:NAME``; the module is imported now."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


class Imported:
    """A member of a workload in another module, which is imported when the member is first used.

    Parameters
    ----------
    place : ``MODULE:FUNCTION``
    of_setup : whether the member gets a configuration, and the function its `Setup`
    """

    def __init__(self, place: str, *, of_setup: bool = False) -> None:
        self._place, self._of_setup = place, of_setup

    def __get__(self, workload: object, kind: type) -> Any:
        """Return the function, or one that makes the setup of a workload's configuration."""
        if workload is None:
            return self
        function = object_named(self._place)
        if not self._of_setup:
            return function

        @wraps(function)
        def member(config: Any, **options: Any) -> Any:
            return function(Setup(workload, config), **options)  # type: ignore[arg-type]

        first, *others = signature(function).parameters.values()
        named = [first.replace(name="config"), *others]
        member.__signature__ = Signature(named)  # type: ignore[attr-defined]
        return member


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
