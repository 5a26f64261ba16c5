"""How is one function translated? Its names, the text that it has so far, and what was learnt.

Expressions return values (`values`), statements emit lines of C. Whatever has effects, such as a
draw, becomes a statement of its own, in Python's order; what was read before it is then stored in a
constant first (`ordered`). So the order in which C works out an expression never matters.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from societies.config.problems import suggestion
from societies.translate.frames import Access, Again, Instance, Namespace
from societies.translate.messages import EXPRESSIONS, STATE, STATEMENTS, TEXT, too_large
from societies.translate.values import (
    BOOL,
    CALLED,
    CTYPES,
    FIXED,
    INT,
    LEAST,
    MAYBE,
    MOST,
    NONE,
    NOTHING,
    READ,
    REAL,
    WORD,
    EventList,
    Inner,
    Known,
    List,
    Method,
    Number,
    Settings,
    Society,
    Stream,
    Value,
    literal,
)
from societies.translate.writer import Writer


class Function(Writer):
    """Translates one function for one kind of arguments.

    ``facts`` is what earlier passes have learnt of its names.
    """

    def __init__(
        self, unit: Any, frame: Namespace, instance: Instance, facts: dict[Any, Any]
    ) -> None:
        super().__init__(unit, frame, instance)
        self.facts = facts
        self.frames = [frame]
        self.nothing = False  # whether a return without a value was met
        self.returned: Callable[[ast.expr | None, ast.AST], None] | None = None

    # ---------------------------------------------------------------- messages

    def error(
        self, node: ast.AST | None, reason: str, hint: str = "", *, wrong: bool = False
    ) -> NoReturn:
        """Raise the error that something cannot be translated; ``wrong``: nor be carried out."""
        raise self.frame.file.error(self.at(node), reason, hint, wrong=wrong)

    def learn(self, key: tuple[str, str], value: object) -> NoReturn:
        """Translate the function again, with what is known now of one of its names."""
        tagged = (*key, self.frame.node)
        if self.facts.get(tagged) == value:
            self.error(None, f"what '{key[1]}' is cannot be found out")
        self.facts[tagged] = value
        raise Again(self.facts)

    def fact(self, kind: str, name: str) -> Any:
        """Return what an earlier pass has learnt of a name; None: nothing."""
        return self.facts.get((kind, name, self.frame.node))

    # ---------------------------------------------------------------- names

    def lookup(self, name: str, node: ast.AST) -> Value:
        """Return what a name stands for."""
        frame = self.frame
        if name in frame.scope:
            if frame.assigned is not None and name not in frame.assigned:
                hint = f"Give '{name}' a value before, on every way to this line."
                self.error(node, f"'{name}' may have no value here", hint)
            return frame.scope[name]
        if frame.bindings[name]:
            hint = "Assign it before."
            if name in frame.names:
                hint = (
                    "It also names a constant of the module, which stays as it is: choose another."
                )
            self.error(node, f"'{name}' has no value yet", hint)
        if frame.outer is not None:
            found = self.around(frame.outer, name, node)
            if found is not None:
                return found
        if name in frame.names:
            return known(frame.names[name])
        if hasattr(builtins, name):
            return Known(getattr(builtins, name))
        near = suggestion(name, [*frame.scope, *frame.names])
        hint = "Define it in this file, or import it at the top."
        self.error(node, f"'{name}' is not known here{near}", hint, wrong=True)

    def around(self, outer: tuple[Function, Namespace], name: str, node: ast.AST) -> Value | None:
        """Return what a name stands for in the functions around; None: nothing."""
        frame = outer[1]
        if name in frame.scope:
            return self.captured(frame, name, self.frames[0].node, node)
        return self.around(frame.outer, name, node) if frame.outer is not None else None

    def captured(self, frame: Namespace, name: str, reader: ast.AST, node: ast.AST) -> Value:
        """Return a variable of a function around, which becomes a parameter of this one."""
        found = frame.seen_by(name, reader)
        if found is None:
            self.error(node, f"'{name}' may have no value when the function is called")
        if frame in self.frames or isinstance(found, Known | Settings | Society | Inner):
            return found
        place = f"{id(frame)} {name}"  # a name that Python cannot have
        place += f" {id(reader)}" if name in frame.hidden else ""
        if place not in self.frames[0].scope:
            self.instance.captures.append((frame, name, reader))
            declarations, value = self.parameter(name, found)
            if isinstance(found, Number) and isinstance(value, Number):
                value = replace(value, known=found.known)
            self.instance.parameters += declarations
            self.frames[0].scope[place] = value
        return self.frames[0].scope[place]

    def parameter(self, name: str, value: Value) -> tuple[list[str], Value]:
        """Return the declarations of a parameter in C, and what its name means inside."""
        c = self.cname(name)
        if isinstance(value, Stream):
            return [f"rng_t *{c}"], Stream(c)
        if isinstance(value, List):
            return self._list_parameter(c, value)
        assert isinstance(value, Number)
        low = 0 if value.positive else None
        made = Number(c, value.kind, FIXED, low, line=self.frame.node.lineno, offset=value.offset)
        return [f"const {CTYPES[value.kind]} {c}"], made

    def _list_parameter(self, c: str, value: List) -> tuple[list[str], List]:
        qualifier = self.unit.space(value.space)
        columns, declarations = [], []
        for i, column in enumerate(value.columns):
            pointer = c if i == 0 else self.cname(f"{c}_{i}")
            declarations.append(f"{qualifier}{column.ctype} *{pointer}")
            columns.append(replace(column, pointer=pointer))
        if value.space == "scratch":
            self.use("stride", "const size_t stride")
        length, counter, lengths = value.length, "", ""
        if value.lengths:
            lengths = self.cname(f"{c}_lengths")
            declarations.append(f"{qualifier}long *{lengths}")
        if value.counter:
            inside = self.unit.space("scratch" if value.counter.startswith("*(") else "")
            name = self.cname(f"{c}_n")
            declarations.append(f"{inside}long *{name}")
            length = counter = f"(*{name})"
        elif not value.dims:
            length = self.cname(f"{c}_n")
            declarations.append(f"const long {length}")
        made = replace(
            value, columns=tuple(columns), length=length, counter=counter, lengths=lengths,
            base="", fresh=False, local=False,
        )  # fmt: skip
        return declarations, made

    def argument(self, value: Value, flat: Callable[[List], str]) -> list[str]:
        """Return the texts of an argument; ``flat`` gives the position of a list's first number."""
        if isinstance(value, Stream):
            return [value.address]
        if isinstance(value, List):
            base = flat(value) if value.base else ""
            texts = [f"{c.pointer} + {base}" if base else c.pointer for c in value.columns]
            if value.lengths:
                texts.append(value.lengths)
            if value.counter:
                texts.append(address(value.counter))
            elif not value.dims:
                texts.append(value.length)
            return texts
        assert isinstance(value, Number)
        return [value.text]

    # ---------------------------------------------------------------- syntax

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """Translate statements; those that are never reached are left out."""
        for node in nodes:
            if self.frame.assigned is None:
                return
            self.now = node
            if not isinstance(node, ast.Pass | ast.FunctionDef):
                self.emit(f"// {node.lineno}: {self.frame.file.line(node.lineno).strip()}")
            made = HANDLERS.get(type(node))
            if made is None:
                unknown = f"{type(node).__name__} cannot be translated", ""
                self.error(node, *STATEMENTS.get(type(node), unknown))
            made(self, node)

    def expression(self, node: ast.expr, name: str = "") -> Value:
        """Translate an expression; ``name`` is that of the variable that it is for."""
        made = HANDLERS.get(type(node))
        if made is None:
            unknown = f"{type(node).__name__} cannot be translated", ""
            self.error(node, *EXPRESSIONS.get(type(node), unknown))
        found: Value = made(self, node, name)
        return self.held(found, node) if isinstance(found, Number) else found

    def held(self, number: Number, node: ast.AST) -> Number:
        """Return a number; a whole one that is written out must be one that devices have."""
        if number.literal and isinstance(number.known, int) and not LEAST < number.known <= MOST:
            self.error(node, *too_large(number.known))
        return number

    def ordered(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """Work out several expressions from left to right, as Python does."""
        values: list[Value] = []
        for node in nodes:
            with self.aside() as lines:
                value = self.expression(node)
            if lines:
                values = [self.steady(one) for one in values]
                self.splice(lines)
            values.append(value)
        return values

    def steady(self, value: Value) -> Value:
        """Return a value that effects within the same expression cannot change."""
        if isinstance(value, Number) and value.life == READ:
            return self.constant(value)
        return tuple(map(self.steady, value)) if isinstance(value, tuple) else value

    def arguments(
        self, node: ast.Call, least: int, most: int, takes: str, names: Sequence[str] = ()
    ) -> dict[str, ast.expr]:
        """Return the arguments with names; raise an error if there are others, or too many."""
        named = {str(one.arg): one.value for one in node.keywords}
        if not least <= len(node.args) <= most or set(named) - set(names):
            self.error(node, *takes.split("|"))
        return named

    def whole(self, value: Value, node: ast.AST, reason: str, hint: str = "") -> Number:
        """Return a value that is a whole number, or raise an error; ``{}`` is what it is."""
        number = self.present(self.number(value, node), node)
        if number.kind not in (INT, BOOL):
            self.error(node, reason.format(CALLED[number.kind]), hint)
        return number

    def numbers(self, nodes: Sequence[ast.expr], node: ast.AST) -> list[Number]:
        """Work out several numbers from left to right."""
        return [self.number(value, node) for value in self.ordered(nodes)]

    def number(self, value: Value, node: ast.AST) -> Number:
        """Return a value as a number, or raise the error that it is none."""
        if isinstance(value, Number):
            return value
        if isinstance(value, Known):
            if value.value is None:
                return NOTHING
            if isinstance(value.value, bool | int | float):
                return literal(value.value)
            if isinstance(value.value, str):
                self.error(node, *TEXT)
            called = getattr(value.value, "__name__", repr(value.value))
            self.error(node, f"{called} stands where a number is needed")
        for kind, (called, hint) in NO_NUMBERS.items():
            if isinstance(value, kind):
                self.error(node, f"{called} stands where a number is needed", hint)
        self.error(node, "this is no number")

    def present(self, number: Number, node: ast.AST) -> Number:
        """Return a number that may be None as one that is not: None raises an error in Python."""
        if number.kind == WORD:
            self.error(node, *STATE)
        if number.kind not in (MAYBE, NONE):
            return number
        if self.unit.checked:
            text = f"checked_present({number.text}, {self.site(node, 'None is no number')})"
            return Number(text, INT, number.life)
        return replace(number, kind=INT, known=None, literal=False)

    def truth(self, node: ast.expr) -> Number | bool:
        """Work out whether an expression is true; a bool if that is known now."""
        made = TRUTHS.get(type(node))
        if made is not None:
            return made(self, node)
        return self.is_true(self.expression(node), node)

    def is_true(self, value: Value, node: ast.AST) -> Number | bool:
        """Return whether a value is true; a bool if that is known now."""
        if isinstance(value, Known):
            return bool(value.value)
        if isinstance(value, List):
            return Number(f"({value.length} != 0)", BOOL)
        number = self.number(value, node)
        if number.literal:
            return bool(number.known)
        if number.kind == BOOL:
            return number
        if number.kind == NONE:
            return False
        text = f"({number.text} != {'0.0' if number.kind == REAL else '0'})"
        if number.kind == MAYBE:
            text = f"({number.text} != NOTHING && {number.text} != 0)"
        return Number(text, BOOL, number.life)

    def called(self, value: Value) -> str:
        """Return how messages call a value."""
        if isinstance(value, Number):
            return CALLED[value.kind]
        return next(
            (name for kind, (name, _) in NO_NUMBERS.items() if isinstance(value, kind)), "no number"
        )

    def access(self, name: str, what: str, own: int | None, node: ast.AST) -> None:
        """Note an access to a field."""
        if name:
            self.instance.accesses.append(Access(name, what, own, self.frame.file, self.at(node)))


NO_NUMBERS: dict[type, tuple[str, str]] = {
    List: ("a list", "Write one of its entries, x[i], or a loop over them."),
    Inner: ("a function", "Call it: f(...)."),
    Method: ("a method", "Call it: ...()."),
    tuple: ("a tuple", "Name its parts: x[0], x[1]."),
    Stream: ("a random stream", "Write rng.below(n) to draw, and rng.pack() for its state."),
    EventList: ("a list of events", "Append to it; what was appended is read from the file."),
    Society: ("the society", "Write one of its fields: society.name."),
    Settings: ("the configuration", "Write one of its keys: config.name."),
}
"""What messages call values that are no numbers, and what to write instead."""

Handler = Callable[..., Any]
HANDLERS: dict[type[ast.AST], Handler] = {}
"""What translates each kind of statement and expression."""

TRUTHS: dict[type[ast.AST], Callable[[Function, Any], Number | bool]] = {}
"""What works out whether an expression of this kind is true."""


def handles(*kinds: type[ast.AST]) -> Callable[[Handler], Handler]:
    """Register a function that translates some kinds of statements or expressions."""

    def register(made: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(kinds, made))
        return made

    return register


def known(value: Any) -> Value:
    """Return an object of Python that is known while translating."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return literal(value)
    return Known(value)


def address(text: str) -> str:
    """Return the text of the address of a variable."""
    if text.startswith("(*") and text.endswith(")"):
        return text[2:-1]
    return f"&{text}"
