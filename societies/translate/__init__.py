"""How does a rule in Python become OpenCL C? By walking its syntax tree.

A construct is translated if its meaning in Python can be had exactly; otherwise it is refused, with
the line and what to write instead. docs/rules-in-python.md has the language.
"""

from societies.translate import builtin, expressions, loops, statements, truth
from societies.translate.declared import Declared
from societies.translate.kernels import TranslatedPhase
from societies.translate.messages import RuleError, TranslationError
from societies.translate.plugins import PlugIn
from societies.translate.source import Site, files_of, rules_sha256
from societies.translate.unit import TranslatedProgram, phase_parameters

LANGUAGE = (builtin, expressions, loops, statements, truth)
"""Modules that register what they translate."""

__all__ = [
    "Declared",
    "PlugIn",
    "RuleError",
    "Site",
    "TranslatedPhase",
    "TranslatedProgram",
    "TranslationError",
    "files_of",
    "phase_parameters",
    "rules_sha256",
]
