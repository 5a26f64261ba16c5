"""What is a rule of a model, which users may replace by a function of their own?

A model declares its rules here, without `societies.translate`, which only replaced rules need.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

WORD, WHOLE_NUMBER, REAL_NUMBER = "a word", "a whole number", "a real number"
"""Kinds of parameters and results of rules, as messages and lists call them."""


@dataclass(frozen=True)
class Rule:
    """A function of a model that users may replace.

    Attributes
    ----------
    name : such as ``trading.price``; it is a key of the section ``rules`` of the configuration
    function : the reference's function, with its docstring
    meaning : one sentence
    parameters : kind of each parameter by name; a function of a user may leave out some
    result : kind of the result
    key : key of the configuration whose word chooses between built-in rules, and which a parameter
        of kind `WORD` receives; "": none
    table : whether the host makes a table of the function's results before the first tick: it is
        never translated, may use all of Python, and may leave a real number as it finds it (a
        whole number, `decimal.Decimal`, one of NumPy)
    """

    name: str
    function: Callable[..., Any]
    meaning: str
    parameters: Mapping[str, str]
    result: str
    key: str = ""
    table: bool = False

    @property
    def kernel(self) -> str:
        """Name of the function in kernels."""
        return f"rule_{self.name.replace('.', '_')}"

    @property
    def signature(self) -> str:
        """How a function with all parameters is called."""
        return f"{self.name.rpartition('.')[2]}({', '.join(self.parameters)})"

    def described(self) -> str:
        """Return some lines: signature, meaning, kinds, and the function of the reference."""
        kinds: dict[str, list[str]] = {}
        for name, kind in self.parameters.items():
            kinds.setdefault(kind, []).append(name)
        listed = "; ".join(f"{', '.join(names)}: {kind}" for kind, names in kinds.items())
        file = self.function.__module__.replace(".", "/") + ".py"
        doc = (inspect.getdoc(self.function) or "").split("\n\n")
        lines = [
            f"{self.name}=FILE.py:FUNCTION",
            f"    def {self.signature}",
            *textwrap.wrap(self.meaning, 92, initial_indent="    ", subsequent_indent="    "),
            f"    {listed}; result: {self.result}",
            *(["    carried out before the first tick, and may use all of Python"] * self.table),
            f"    built in: {self.function.__name__} of {file}",
            *(textwrap.indent(part, "        ") for part in doc),
        ]
        return "\n".join(lines)
