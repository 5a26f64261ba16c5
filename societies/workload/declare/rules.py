"""Which rules of a workload may a user replace, and which has a configuration replaced?

A workload lists its rules (`Workload.replaceable`), and its configuration has a section ``rules``
with a key for each. What replaces them is loaded when the parameters are made
(`societies.workload.running.plugged`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import PydanticCustomError

from societies.config.model import Section, key
from societies.config.problems import quoted, suggestion
from societies.inputs import PYTHON_FUNCTION


class RulesSection(Section):
    """A section of rules; it is left out of files if no rule is replaced."""

    @model_serializer(mode="wrap")
    def _leave_out_if_empty(self, handler: SerializerFunctionWrapHandler) -> Any:
        found = {name: value for name, value in handler(self).items() if value is not None}
        return found or None


def _function(*words: str) -> Callable[[str], str]:
    def checked(text: str) -> str:
        if PYTHON_FUNCTION.fullmatch(text):
            return text
        expected = "expected FILE.py:FUNCTION"
        expected += f" or one of {', '.join(words)}" if words else ""
        said = f"{expected}, got {quoted(text)}{suggestion(text, words)}"
        raise PydanticCustomError("rule", "{said}", {"said": said})

    return checked


def RuleText(*words: str) -> Any:
    """Return the type of a key of rules: a function of a file, or a word for a built-in rule."""
    return Annotated[str, AfterValidator(_function(*words))] | None


def rule_key(meaning: str) -> Any:
    """Return the field of a rule, which is not replaced by default."""
    return key(None, f"{meaning}: FILE.py:FUNCTION")
