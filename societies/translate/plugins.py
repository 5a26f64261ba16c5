"""How does a user's function replace one of a model? It is loaded, checked and translated.

The function is pure: its result follows from its arguments alone. So it can stand in the middle of
a kernel that is written by hand.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from pathlib import Path
from types import FunctionType
from typing import Any

from societies.inputs import PYTHON_FUNCTION, read_text, shown
from societies.rule import REAL_NUMBER, WHOLE_NUMBER, WORD, Rule
from societies.translate.calls import translate_function
from societies.translate.declared import Declared
from societies.translate.files import PlugInError, load_module
from societies.translate.frames import Instance, Namespace
from societies.translate.function import Function
from societies.translate.messages import DICTIONARY, TEXT, RuleError, TranslationError
from societies.translate.names import in_c
from societies.translate.source import (
    LARGEST_FILE,
    SourceFile,
    definition,
    files_of,
    nodes_of,
    rules_sha256,
)
from societies.translate.tables import definitions
from societies.translate.tests_of_rules import (
    MOST_ROUNDS,
    TooManyRounds,
    bounded_rounds,
    within_64_bits,
)
from societies.translate.unit import TranslatedProgram
from societies.translate.values import CALLED, FIXED, INT, REAL, Known, Number, Value

_KINDS = {WHOLE_NUMBER: INT, REAL_NUMBER: REAL}
_CTYPES = {WHOLE_NUMBER: "long", REAL_NUMBER: "real"}

PURE = "The result of a rule follows from its arguments alone, and it changes nothing else."

_OF_MODELS = ("field", "Field", "config", "society")
"""Words of hints that are for models, whose rules have a state and a configuration."""

_INSTEAD = {
    DICTIONARY[0]: "Write if and elif, or a list indexed by numbers.",
    TEXT[0]: "Compare words with words, and numbers with numbers.",
}
"""Hints for rules, by the reasons whose hints are for models."""

LONGEST_LIST = 1024
"""Largest number of entries of a list in a rule: it is in private memory."""


@dataclass(frozen=True, eq=False)
class PlugIn:
    """A function of a user that replaces a function of a model.

    Attributes
    ----------
    rule : what it replaces
    text : how the user named it: ``FILE.py:FUNCTION``
    function : the function itself
    file : path of its file
    """

    rule: Rule
    text: str
    function: FunctionType
    file: Path

    def sha256(self) -> str:
        """Return the hash of the rule's text, without comments and docstrings."""
        return rules_sha256([self.function])

    def files(self) -> dict[str, str]:
        """Return the texts of all files that the function uses, by name."""
        found = files_of([self.function]).values()
        return {one.path.name: "\n".join(one.lines) for one in found}

    def called(self) -> Callable[..., Any]:
        """Return the function as the reference calls it, with all parameters by name.

        It raises `RuleError` if the function raises an error, returns another kind of value or goes
        through its loops too often.
        """
        function, rule = self.function, self.rule
        wanted = tuple(inspect.signature(function).parameters)
        kind: type | tuple[type, ...] = float if rule.result == REAL_NUMBER else int

        def carried_out(**values: Any) -> Any:
            given = {name: values[name] for name in wanted}
            try:
                with bounded_rounds():
                    result = within_64_bits(function(**given))
            except Exception as error:
                raise self._explained(error, given) from error
            if rule.table and isinstance(result, Real | Decimal) and not isinstance(result, bool):
                result = float(result)
            if type(result) is not kind:
                raise self._wrong(f"returns {result!r}, which is not {rule.result}", given)
            return result

        return carried_out

    def require_pure(self, result: float, **values: Any) -> None:
        """Raise RuleError unless another call with the same arguments has the same result."""
        again = self.called()(**values)
        if again != result:
            raise self.refused(f"returns {again!r} now and {result!r} before: {PURE}", **values)

    def refused(self, what: str, **values: Any) -> RuleError:
        """Return an error that says what is wrong with the function's result for some arguments."""
        wanted = inspect.signature(self.function).parameters
        return self._wrong(what, {name: values[name] for name in wanted if name in values})

    def translated(self, words: Mapping[str, str], sites: list[Any] | None = None) -> str:
        """Return the text of the function in OpenCL C, under the name that kernels call.

        Parameters
        ----------
        words : the word of each parameter of kind `WORD`
        sites : if given, every operation is tested, and its place is added to these; the function
            has a further parameter, where it notes the number of the first that goes wrong

        Raises
        ------
        TranslationError
            If it cannot be translated, is not pure, or returns another kind of value.
        """
        unit = TranslatedProgram(Declared({}, {}), checked=sites is not None)
        unit.sites = [] if sites is None else sites
        unit.private, unit.most_rounds, unit.pure = LONGEST_LIST, MOST_ROUNDS, self.rule.name
        node, file = definition(self.function)
        names = self.function.__globals__
        outside = Namespace(node, file, names, {}, Counter())
        caller = Function(unit, outside, unit.instance("caller"), {})
        values: dict[str, Value] = {}
        for name in inspect.signature(self.function).parameters:
            kind = self.rule.parameters[name]
            known = Known(words[name]) if kind == WORD else Number(name, _KINDS[kind], FIXED)
            values[name] = known
        if node.decorator_list:
            raise self._error(
                file, node, "a rule has no decorator", "Write the function without it."
            )
        name = in_c(f"{node.name}__{file.path.stem}")
        try:
            made = translate_function(caller, node, file, names, values, None, name, False)
        except TranslationError as error:
            state = any(word in error.hint for word in _OF_MODELS)
            hint = _INSTEAD.get(error.reason, PURE if state or not error.hint else error.hint)
            raise error.with_hint(self._shown(self.file.parent / error.file), hint) from None
        if made.result != _KINDS[self.rule.result]:
            raise self._other_result(made, node, file)
        if unit.scratch_words([made]):
            hint = f"A list in a rule has at most {LONGEST_LIST} entries."
            raise self._error(file, node, f"the lists of {node.name} are too long", hint)
        texts = [*definitions(unit.arguments), unit.text_of_functions([made]), ""]
        return "\n".join([*texts, self._shell(made, values, file, unit), ""])

    def _shown(self, path: Path) -> str:
        """Return the path of a file as the user named it, if it is the rule's."""
        return shown(self.text.rpartition(":")[0] if path == self.file else path)

    def _shell(
        self, made: Instance, values: Mapping[str, Value], file: SourceFile, unit: TranslatedProgram
    ) -> str:
        """Return the function that kernels call, with all parameters of the rule."""
        ctype = _CTYPES[self.rule.result]
        kinds = {name: kind for name, kind in self.rule.parameters.items() if kind != WORD}
        declared = [f"const {_CTYPES[kind]} {name}" for name, kind in kinds.items()]
        declared += ["__global int *fault"] * unit.checked
        given = [name for name in values if name in kinds]
        used = ["&steps" if name == "steps" else name for name in made.uses]
        steps = "steps" in made.uses
        call = f"{made.name}({', '.join([*given, *used])})"
        lines = [f"static {ctype} {self.rule.kernel}({', '.join(declared) or 'void'})", "{"]
        if steps:
            said = f"more than {MOST_ROUNDS:,} rounds of loops in {self.rule.name}"
            endless = unit.site(file, self.function.__code__.co_firstlineno, said)
            ended = "SOFT_NAN" if self.rule.result == REAL_NUMBER else "0"
            lines += [
                "    long steps = 0;",
                f"    const {ctype} result = {call};",
                *([f"    if (steps > {MOST_ROUNDS}) fail({endless}, fault);"] * unit.checked),
                f"    return steps > {MOST_ROUNDS} ? {ended} : result;",
            ]
        else:
            lines.append(f"    return {call};")
        return "\n".join([*lines, "}"])

    def _other_result(
        self, made: Instance, node: ast.FunctionDef, file: SourceFile
    ) -> TranslationError:
        if isinstance(made.result, str):
            found = CALLED[made.result]
        else:
            found = "nothing" if made.result is None else "more than one number"
        returns = [*nodes_of(ast.Return, node)]
        at = returns[-1] if returns else node
        hint = f"{self.rule.name} returns {self.rule.result}."
        if found == WHOLE_NUMBER:
            hint += " Write 1.0 for 1, or float(x)."
        return self._error(file, at, f"{node.name} returns {found}", hint)

    def _error(self, file: SourceFile, node: ast.AST, reason: str, hint: str) -> TranslationError:
        return file.error(node, reason, hint).with_hint(self._shown(file.path), hint)

    def _explained(self, error: Exception, given: Mapping[str, Any]) -> RuleError:
        """Return an error that says where in the user's files another one was raised."""
        path, line = self.file, self.function.__code__.co_firstlineno
        for frame, number in traceback.walk_tb(error.__traceback__):
            name = frame.f_code.co_filename
            if Path(name) == self.file or Path(name).parent == self.file.parent:
                path, line = Path(name), number
        said = f"{type(error).__name__}: {error}"
        if isinstance(error, TooManyRounds):
            name = self.rule.name
            said = f"the loops of {name} have more than {MOST_ROUNDS:,} rounds: bound them"
        return self._at(path, line, said, given)

    def _wrong(self, what: str, given: Mapping[str, Any]) -> RuleError:
        code = self.function.__code__
        return self._at(self.file, code.co_firstlineno, f"{code.co_name} {what}", given)

    def _at(self, path: Path, line: int, said: str, given: Mapping[str, Any]) -> RuleError:
        lines = read_text(path, LARGEST_FILE).split("\n")
        source = lines[line - 1].strip() if line <= len(lines) else ""
        values = ", ".join(f"{name}={value!r}" for name, value in given.items())
        where = f"{self._shown(path)}:{line}"
        return RuleError(f"{where}: {said}\n    {source}\n  in the rule {self.rule.name}({values})")


# ---------------------------------------------------------------- loading


def split(text: str) -> tuple[str, str] | None:
    """Return file and function of a rule's text; None if it is no such text."""
    found = PYTHON_FUNCTION.fullmatch(text)
    return (found["file"], found["function"]) if found else None


def load_plug_in(rule: Rule, text: str) -> PlugIn:
    """Load the function that a text names, and check its parameters.

    Raises
    ------
    TranslationError
        If the file is missing or does not import, the function is missing, or its parameters are
        not those of the rule.
    """
    parts = split(text)
    if parts is None:
        reason = f"rules.{rule.name}: expected FILE.py:FUNCTION, got {text!r}"
        raise PlugInError(reason)
    path = Path(parts[0])
    module = load_module(path, f"rules.{rule.name}: ", tests=True)
    function = getattr(module, parts[1], None)
    if not isinstance(function, FunctionType):
        found = {name: one for name, one in vars(module).items() if isinstance(one, FunctionType)}
        known = [name for name, one in found.items() if one.__module__ == module.__name__]
        near = difflib.get_close_matches(parts[1], known, n=1)
        also = f"; did you mean '{near[0]}'?" if near else ""
        what = "is no function" if hasattr(module, parts[1]) else "no such function"
        if hasattr(function, "__wrapped__"):
            what, also, near = "has a decorator: write the function without it", "", [parts[1]]
        listed = f" (functions: {', '.join(known)})" if known and not near else ""
        reason = f"{shown(path)}: {parts[1]}: {what}{also}{listed}"
        raise PlugInError(f"{reason}\n  It is named by rules.{rule.name}.")
    _require_signature(rule, function, path)
    return PlugIn(rule, text, function, path.resolve())


def _require_signature(rule: Rule, function: FunctionType, path: Path) -> None:
    """Raise PlugInError unless a function takes parameters of the rule, by name."""
    code = function.__code__
    wants = f"{rule.name} takes {', '.join(rule.parameters)}; leave out what you do not need."
    for one in inspect.signature(function).parameters.values():
        near = difflib.get_close_matches(one.name, rule.parameters, n=1)
        also = f"; did you mean '{near[0]}'?" if near else ""
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            what = f"the parameter *{one.name} takes anything"
        elif one.kind is one.POSITIONAL_ONLY:
            what = f"the parameter '{one.name}' cannot be given by name"
        elif one.name not in rule.parameters:
            what = f"the rule has no parameter '{one.name}'{also}"
        elif one.default is not one.empty:
            what = f"the parameter '{one.name}' has a default, which would never be used"
        else:
            continue
        reason = f"{shown(path)}:{code.co_firstlineno}: {function.__name__}: {what}"
        raise PlugInError(f"{reason}\n  {wants}")
    waits = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    if inspect.isgeneratorfunction(function) or waits:
        what = "is written with async def: write def" if waits else "is a generator"
        reason = f"{shown(path)}:{code.co_firstlineno}: {function.__name__}: {what}"
        raise PlugInError(f"{reason}\n  Return {rule.result}.")
