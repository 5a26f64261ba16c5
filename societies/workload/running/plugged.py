"""Which rules does a configuration replace? Their functions, loaded and checked, and their hash.

The functions are loaded when the parameters are made: neither reading a configuration nor reading a
file of results executes any.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from societies.config.files import SECTION
from societies.config.model import Section
from societies.rule import WORD, Rule
from societies.workload.declare.rules import RulesSection
from societies.workload.running.ensembles import once

if TYPE_CHECKING:
    from societies.translate.plugins import PlugIn

LONGEST_TEXT = 60_000
"""Characters of rules in an attribute of a file: HDF5 stores at most 64 KiB."""


@dataclass(frozen=True, eq=False)
class Plugged:
    """The rules that a configuration replaces, loaded and checked."""

    functions: Mapping[str, PlugIn]

    def __bool__(self) -> bool:
        return bool(self.functions)

    @property
    def translated(self) -> Plugged:
        """The rules that devices carry out, too: all but those whose results the host tabulates."""
        return Plugged({n: one for n, one in self.functions.items() if not one.rule.table})

    @property
    def reference(self) -> dict[str, Callable[..., Any]]:
        """Function of every replaced rule, as the reference calls it."""
        return {name: one.called() for name, one in self.functions.items()}

    @property
    def sha256(self) -> str:
        """Hash of the texts of all rules, without comments; "" if none is replaced."""
        return sha256_of(self.functions.items()) if self else ""

    def described(self) -> list[str]:
        """Return a line for each rule, which names the file whose Python is carried out."""
        return [
            f"rule {name}: {one.function.__name__} of {one.text.rpartition(':')[0]}, whose Python "
            "is carried out"
            for name, one in self.functions.items()
        ]


def rule_attributes(rules: Iterable[Plugged]) -> dict[str, str]:
    """Return the attributes of a file of results: hash and text of some rules."""
    found = [pair for one in rules for pair in one.functions.items()]
    if not found:
        return {}
    texts: dict[str, str] = {}
    for _, one in found:
        texts |= one.files()
    named = [f"# {name} is {one.function.__name__}" for name, one in found]
    whole = "\n".join([*named, *(f"# {name}\n{text}" for name, text in sorted(texts.items()))])
    cut = whole if len(whole) <= LONGEST_TEXT else f"{whole[:LONGEST_TEXT]}..."
    return {"rules_sha256": sha256_of(found), "rules": cut}


def sha256_of(functions: Iterable[tuple[str, PlugIn]]) -> str:
    """Return the hash of some rules."""
    rows = [f"{name} {one.sha256()}" for name, one in functions]
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()


def plugged(rules: Mapping[str, Rule], config: Any) -> Plugged:
    """Return the rules that a configuration replaces; their files are imported.

    Raises TranslationError if a file or function is missing, does not import, or cannot be a rule.
    """
    if not replaces_any(config):
        return Plugged({})
    return once(config, "rules", lambda _: _plugged(rules, config))


def replaces_any(config: Any) -> bool:
    """Return whether a configuration replaces a rule."""
    section = getattr(config, SECTION, None)
    return isinstance(section, RulesSection) and any(texts_of(section))


def _plugged(rules: Mapping[str, Rule], config: Any) -> Plugged:
    from societies.translate.plugins import load_plug_in

    found: dict[str, PlugIn] = {}
    for name, text in texts_of(getattr(config, SECTION)):
        one = load_plug_in(rules[name], text)
        if not one.rule.table:
            one.translated(
                chosen_words(one.rule, config)
            )  # a rule that cannot be is refused at once
        found[name] = one
    return Plugged(found)


def chosen_words(rule: Rule, config: Any) -> dict[str, str]:
    """Return the word of each parameter of a rule that is a word."""
    value = config
    for part in rule.key.split(".") if rule.key else ():
        value = getattr(value, part)
    return {name: str(value) for name, kind in rule.parameters.items() if kind == WORD}


def texts_of(section: Section, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield name and text of every rule that is replaced."""
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from texts_of(value, (*path, name))
        elif value is not None:
            yield ".".join((*path, name)), value
