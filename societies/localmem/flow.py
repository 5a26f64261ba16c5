"""In which order do the statements of a function run, with branches, loops and early exits?

`Flow` walks a body with some state, which a subclass says how to copy, join and carry round a loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from societies.localmem.clang import DECLARATIONS, Kind, SyntaxNode


@dataclass
class FlowState:
    """What a walk carries: ``live`` is False once the end of a path is passed."""

    live: bool = True

    def copy(self) -> Self:
        """Return an independent copy."""
        return replace(self)

    def become(self, other: Self) -> None:
        """Take over everything from another state."""
        vars(self).update(vars(other))


S = TypeVar("S", bound=FlowState)

_LOOPS = frozenset({Kind.FOR_STMT, Kind.WHILE_STMT, Kind.DO_STMT})
_LABELS = frozenset({Kind.CASE_STMT, Kind.DEFAULT_STMT})


class _Exits(Generic[S]):
    """The states at each ``break`` and ``continue`` of a loop or switch."""

    def __init__(self, is_loop: bool) -> None:
        self.is_loop = is_loop
        self.breaks: list[S] = []
        self.continues: list[S] = []


def is_choice(node: SyntaxNode) -> bool:
    """Return whether it is ``?:``, ``&&`` or ``||``, of which a part may not be carried out."""
    if node.kind is Kind.BINARY_OPERATOR:
        return node.between(*node.children) in ("&&", "||")
    return node.kind is Kind.CONDITIONAL_OPERATOR


class Flow(ABC, Generic[S]):
    """A walk through one function; a subclass defines the value of an expression."""

    def __init__(self) -> None:
        self._exits: list[_Exits[S]] = []
        self._switches: list[tuple[S, bool]] = []  # state before the labels, value of the condition

    # what a subclass decides -----------------------------------------------------------------

    @abstractmethod
    def expression(self, node: SyntaxNode, state: S) -> bool:
        """Carry out an expression; return what `branches` needs to know of a condition."""

    @abstractmethod
    def branches(self, node: SyntaxNode, states: Sequence[S], value: bool) -> S:
        """Join the ends of the branches of a condition with this value."""

    @abstractmethod
    def again(self, node: SyntaxNode, head: S, end: S) -> S | None:
        """Return the state for another iteration of a loop; None: it would find nothing new."""

    def enter(self, condition: SyntaxNode, value: bool) -> None:
        """Record that the statements that follow depend on a condition with this value."""

    def leave(self) -> None:
        """Record that they no longer do."""

    def enter_loop(self, state: S) -> object:
        """Return what `leave_loop` needs of the state before a loop or switch."""
        return None

    def next_round(self, condition: SyntaxNode, state: S, value: bool) -> None:
        """Record that work-items for which the condition is ``value`` enter another iteration."""

    def end_round(self, state: S) -> None:
        """Record the end of a loop's body, which is also reached by ``continue``."""

    def leave_loop(self, state: S, before: object) -> None:
        """Record the end of a loop or switch."""

    def leave_early(self, node: SyntaxNode, state: S) -> None:
        """Record a ``break``, ``continue`` or ``return``, after its value."""

    def choice(self, node: SyntaxNode, state: S) -> bool:
        """Carry out ``?:``, ``&&`` or ``||``; return whether one of the parts gave True."""
        condition, *rest = node.children
        value = self.expression(condition, state)
        self.enter(condition, value)
        parts = rest if len(rest) > 1 else [None, *rest]  # the right side of && may be left out
        ends = [state.copy() for _ in parts]
        found = [
            part is not None and self.expression(part, end)
            for part, end in zip(parts, ends, strict=True)
        ]
        self.leave()
        state.become(self.branches(node if len(rest) > 1 else rest[0], ends, value))
        return value or any(found)

    # statements --------------------------------------------------------------------------------

    def statement(self, node: SyntaxNode, state: S) -> S:
        """Carry out a statement and return the state behind it."""
        kind = node.kind
        if kind is Kind.COMPOUND_STMT or kind is Kind.DECL_STMT:
            for child in node.children:
                state = self.statement(child, state)
            return state
        if kind is Kind.IF_STMT:
            return self._if(node, state)
        if kind in _LOOPS:
            return self._loop(node, state)
        if kind is Kind.SWITCH_STMT:
            return self._switch(node, state)
        if kind is Kind.RETURN_STMT:
            for child in node.children:
                self.expression(child, state)
            return self._left(node, state)
        if kind is Kind.BREAK_STMT:
            state = self._left(node, state)
            if self._exits:
                self._exits[-1].breaks.append(state.copy())
            return state
        if kind is Kind.CONTINUE_STMT:
            state = self._left(node, state)
            loops = [e for e in self._exits if e.is_loop]
            if loops:
                loops[-1].continues.append(state.copy())
            return state
        if kind in _LABELS and self._switches:
            start, value = self._switches[-1]
            reached = [start.copy(), state] if state.live else [start.copy()]
            state = self.branches(node, reached, value)
        if kind in _LABELS or kind is Kind.LABEL_STMT:
            return self.statement(node.children[-1], state) if node.children else state
        if kind is Kind.NULL_STMT:
            return state
        if kind in DECLARATIONS:
            self.declaration(node, state)
            return state
        self.expression(node, state)
        return state

    def declaration(self, node: SyntaxNode, state: S) -> None:
        """Carry out a declaration."""
        value = initial_value(node)
        if value is not None:
            self.expression(value, state)

    def _left(self, node: SyntaxNode, state: S) -> S:
        state = state.copy()
        self.leave_early(node, state)
        state.live = False
        return state

    def _if(self, node: SyntaxNode, state: S) -> S:
        condition, then, *rest = node.children
        value = self.expression(condition, state)
        self.enter(condition, value)
        ends = [self.statement(then, state.copy())]
        ends.append(self.statement(rest[0], state.copy()) if rest else state)
        self.leave()
        return self.branches(node, ends, value)

    def _switch(self, node: SyntaxNode, state: S) -> S:
        condition, body = node.children[0], node.children[-1]
        value = self.expression(condition, state)
        before = self.enter_loop(state)
        self.enter(condition, value)
        self._exits.append(_Exits(is_loop=False))
        start, current = state.copy(), state.copy()
        current.live = False
        self._switches.append((start, value))
        current = self.statement(body, current)
        self._switches.pop()
        ends = [current, *self._exits.pop().breaks]
        if not _has_default(body):
            ends.append(start)
        self.leave()
        end = self.ends(node, ends, value)
        self.leave_loop(end, before)
        return end

    def ends(self, node: SyntaxNode, states: Sequence[S], value: bool) -> S:
        """Join the ways out of a loop or switch; those left by ``break`` live on behind it."""
        return self.branches(node, [states[0], *map(self._revived, states[1:])], value)

    def _loop(self, node: SyntaxNode, state: S) -> S:
        start, condition, step, body = loop_parts(node)
        if start is not None:
            state = self.statement(start, state)
        before = self.enter_loop(state)
        tested_last = node.kind is Kind.DO_STMT
        head: S | None = state
        while head is not None:
            current = head.copy()
            exits: _Exits[S] = _Exits(is_loop=True)
            leaving: S | None = None
            if condition is not None and not tested_last:
                value = self.expression(condition, current)
                leaving = current.copy()
                self.next_round(condition, current, value)
            self._exits.append(exits)
            current = self.statement(body, current)
            self._exits.pop()
            rounds = [current, *(self._revived(s) for s in exits.continues)]
            current = self.branches(body, rounds, False)
            self.end_round(current)
            if step is not None:
                self.expression(step, current)
            if condition is not None and tested_last:
                value = self.expression(condition, current)
                leaving = current.copy()
                self.next_round(condition, current, value)
            head = self.again(node, head, current) if current.live else None
        if leaving is None:  # for (;;)
            leaving = state.copy()
            leaving.live = False
        end = self.ends(node, [leaving, *exits.breaks], False)
        self.leave_loop(end, before)
        return end

    def _revived(self, state: S) -> S:
        state = state.copy()
        state.live = True
        return state


def _has_default(body: SyntaxNode) -> bool:
    """Return whether a switch with this body has a ``default``, at any depth."""
    if body.kind is Kind.SWITCH_STMT:
        return False
    return body.kind is Kind.DEFAULT_STMT or any(map(_has_default, body.children))


def initial_value(node: SyntaxNode) -> SyntaxNode | None:
    """Return the expression that a declared variable starts with."""
    if node.kind is not Kind.VAR_DECL or not node.children:
        return None
    last = node.children[-1]
    before = node.unit.data[node.start : last.start].decode().rstrip()
    return last if before.endswith("=") else None


def loop_parts(
    node: SyntaxNode,
) -> tuple[SyntaxNode | None, SyntaxNode | None, SyntaxNode | None, SyntaxNode]:
    """Return start, condition, step and body of a loop; libclang leaves out what is missing."""
    children = node.children
    if node.kind is Kind.WHILE_STMT:
        return None, children[0], None, children[-1]
    if node.kind is Kind.DO_STMT:
        return None, children[-1], None, children[0]
    body = children[-1]
    text = node.unit.data[node.start : body.start].decode(errors="replace")
    marks, depth = [], 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1, "[": 1, "]": -1, "{": 1, "}": -1}.get(character, 0)
        if character == ";" and depth == 1:
            marks.append(node.start + len(text[:position].encode()))
    found: list[SyntaxNode | None] = [None, None, None]
    for child in children[:-1]:
        found[sum(child.start > mark for mark in marks)] = child
    return found[0], found[1], found[2], body
