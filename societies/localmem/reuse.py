"""Is there a barrier between the uses of two allocations that share space?

Memory that is freed may be allocated again under another name; the planner puts no barrier between.
So a work-item that runs ahead would write the new block while another still reads the old one. What
is found is a warning: whether it matters depends on who uses which bytes. Aliases are followed
through variables and parameters of the same function, not through memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from societies.localmem.clang import (
    LOCAL_SPACE,
    Kind,
    ParsedFunction,
    SyntaxNode,
    evaluate,
    is_pointer,
)
from societies.localmem.flow import Flow, FlowState, initial_value, is_choice
from societies.localmem.frames import LocalFrame, StackBlock
from societies.localmem.stack import FREE, MALLOC

_BARRIERS = frozenset({"barrier", "work_group_barrier", "alone_in_order"})
"""The last is that of a work-item alone (kernels/primitives/group.cl), which needs none."""
_LOCAL_FENCE = 1


class Part(NamedTuple):
    """The bytes of an allocation, from the base of the function that looks at them."""

    site: int
    start: int
    end: int

    def moved(self, base: int) -> Part:
        """Return it as seen from a caller."""
        return Part(self.site, self.start + base, self.end + base)

    def meets(self, other: Part) -> bool:
        """Return whether it shares bytes with another allocation."""
        return self.site != other.site and self.start < other.end and other.start < self.end


class SharedSpace(NamedTuple):
    """Two allocations that share space: the one used later, and the one used before."""

    later: int
    earlier: int


@dataclass
class _ReuseState(FlowState):
    """What has happened since the last barrier.

    ``used``: live blocks (sites) and parameters (minus their number, less 1) in use since then;
    ``freed``: parts that were used and freed; ``clashes``: for new blocks the freed parts that they
    meet; ``fresh``: there may have been no barrier since the function began.
    """

    blocks: tuple[StackBlock, ...] = ()
    used: frozenset[int] = frozenset()
    freed: frozenset[Part] = frozenset()
    clashes: frozenset[SharedSpace] = frozenset()
    fresh: bool = True


class _ReuseSummary(NamedTuple):
    """What a call does to its caller's memory.

    ``early`` and ``late`` are parts and parameters used before the first and after the last barrier
    on some path; ``synchronises``: there is a barrier on every path.
    """

    early: frozenset[Part]
    early_parameters: frozenset[int]
    late: frozenset[Part]
    late_parameters: frozenset[int]
    synchronises: bool


class Reuse:
    """A search for pairs of allocations without a barrier between their uses."""

    def __init__(self, frames: Mapping[str, LocalFrame]):
        self.frames = frames
        self.pairs: dict[SharedSpace, None] = {}
        self._known: dict[str, _ReuseSummary] = {}

    def summary(self, function: ParsedFunction) -> _ReuseSummary:
        """Return what a call of a function does; `pairs` grows by those inside it."""
        known = self._known.get(function.usr)
        if known is None:
            known = self._known[function.usr] = _ReuseWalk(self, function).run()
        return known


class _ReuseWalk(Flow[_ReuseState]):
    def __init__(self, whole: Reuse, function: ParsedFunction):
        super().__init__()
        self._whole, self._function = whole, function
        frame = whole.frames.get(function.usr) or LocalFrame(function)
        self._blocks = {node.start: block for node, block in frame.allocations}
        self._bases = {node.start: base for node, _, base in frame.calls}
        self._names = _names(function)
        self._left_by: list[_ReuseState] = []
        self._early: set[Part] = set()
        self._early_parameters: set[int] = set()

    def run(self) -> _ReuseSummary:
        end = self.statement(self._function.body, _ReuseState())
        ends = [s for s in (*self._left_by, end) if s.live]
        late: set[Part] = set()
        parameters: set[int] = set()
        for state in ends:
            late |= state.freed
            late |= {_part(b) for b in state.blocks if b.site in state.used}
            parameters |= {-1 - key for key in state.used if key < 0}
        return _ReuseSummary(
            frozenset(self._early),
            frozenset(self._early_parameters),
            frozenset(late),
            frozenset(parameters),
            all(not state.fresh for state in ends),
        )

    # flow ----------------------------------------------------------------------------------------

    def branches(self, node: SyntaxNode, states: Sequence[_ReuseState], value: bool) -> _ReuseState:
        live = [state for state in states if state.live] or [states[0]]
        return replace(
            live[0],
            used=frozenset().union(*(s.used for s in live)),
            freed=frozenset().union(*(s.freed for s in live)),
            clashes=frozenset().union(*(s.clashes for s in live)),
            fresh=any(s.fresh for s in live),
        )

    def again(self, node: SyntaxNode, head: _ReuseState, end: _ReuseState) -> _ReuseState | None:
        joined = self.branches(node, [head, end], False)
        return None if joined == head else joined

    def leave_early(self, node: SyntaxNode, state: _ReuseState) -> None:
        if node.kind is Kind.RETURN_STMT:
            self._left_by.append(state.copy())

    # events --------------------------------------------------------------------------------------

    def declaration(self, node: SyntaxNode, state: _ReuseState) -> None:
        value = initial_value(node)
        if value is not None:
            self._assigned(node, value, state)

    def _assigned(self, target: SyntaxNode, value: SyntaxNode, state: _ReuseState) -> None:
        """A value that goes into a pointer to local memory is not a use of that memory."""
        if _leads_to_local(target):
            for node in value.walk():
                if node.kind is Kind.CALL_EXPR:
                    self.expression(node, state)
                    break
        else:
            self.expression(value, state)

    def expression(self, node: SyntaxNode, state: _ReuseState) -> bool:
        kind, children = node.kind, node.children
        if kind is Kind.CALL_EXPR:
            self._call(node, state)
        elif kind is Kind.DECL_REF_EXPR:
            for key in self._names.get(node.variable, ()):
                self._use(key, state)
        elif kind is Kind.BINARY_OPERATOR and node.between(*children) == "=":
            if children[0].kind is Kind.DECL_REF_EXPR:
                self._assigned(children[0], children[1], state)
            else:
                self.expression(children[1], state)
                self.expression(children[0], state)
        elif is_choice(node):
            self.choice(node, state)
        elif kind in (Kind.COMPOUND_STMT, Kind.StmtExpr):
            for child in children:
                state.become(self.statement(child, state))
        elif kind is not Kind.CXX_UNARY_EXPR:
            for child in children:
                self.expression(child, state)
        return False

    def _use(self, key: int, state: _ReuseState) -> None:
        for pair in state.clashes:
            if pair.later == key:
                self._whole.pairs.setdefault(pair)
        if state.fresh:
            if key < 0:
                self._early_parameters.add(-1 - key)
            self._early |= {_part(b) for b in state.blocks if b.site == key}
        state.used |= {key}

    def _barrier(self, state: _ReuseState) -> None:
        state.become(_ReuseState(state.live, state.blocks, fresh=False))

    def _call(self, node: SyntaxNode, state: _ReuseState) -> None:
        name, arguments = node.name, node.children[1:]
        if name == MALLOC:
            self._allocate(node, state)
        elif name == FREE:
            self._free(state)
        elif name in _BARRIERS:
            flags = evaluate(arguments[0]) if arguments else None
            if flags is None or flags & _LOCAL_FENCE:
                self._barrier(state)
        else:
            function = node.unit.function(node)
            if function is None or function.definition is None:
                for argument in arguments:
                    self.expression(argument, state)
            else:
                self._enter(node, self._whole.summary(function), state)

    def _allocate(self, node: SyntaxNode, state: _ReuseState) -> None:
        block = self._blocks.get(node.start)
        if block is None:
            return
        part = _part(block)
        clashes = {SharedSpace(part.site, other.site) for other in state.freed if part.meets(other)}
        state.blocks = (*state.blocks, block)
        state.used -= {part.site}
        state.clashes = frozenset(p for p in state.clashes if p.later != part.site) | clashes

    def _free(self, state: _ReuseState) -> None:
        if not state.blocks:
            return
        *rest, block = state.blocks
        state.blocks = tuple(rest)
        if block.site in state.used:
            state.freed |= {_part(block)}

    def _enter(self, node: SyntaxNode, callee: _ReuseSummary, state: _ReuseState) -> None:
        passed: dict[int, set[int]] = {}
        for number, argument in enumerate(node.children[1:]):
            if _leads_to_local(argument):
                passed[number] = self._keys(argument)
                for inner in argument.walk():
                    if inner.kind is Kind.CALL_EXPR:
                        self.expression(inner, state)
                        break
            else:
                self.expression(argument, state)
        base = self._bases.get(node.start, 0)
        for number in callee.early_parameters:
            for key in passed.get(number, ()):
                self._use(key, state)
        early = {part.moved(base) for part in callee.early}
        for part in early:
            for other in state.freed:
                if part.meets(other):
                    self._whole.pairs.setdefault(SharedSpace(part.site, other.site))
        if state.fresh:
            self._early |= early
        if callee.synchronises:
            self._barrier(state)
        state.freed |= {part.moved(base) for part in callee.late}
        for number in callee.late_parameters:
            state.used |= passed.get(number, set())

    def _keys(self, value: SyntaxNode) -> set[int]:
        return set().union(
            *(
                self._names.get(node.variable, ())
                for node in value.walk()
                if node.kind is Kind.DECL_REF_EXPR
            )
        )


def _part(block: StackBlock) -> Part:
    return Part(block.site, block.offset, block.end)


def _leads_to_local(node: SyntaxNode) -> bool:
    kind = node.type
    return is_pointer(kind) and bool(kind.get_pointee().get_address_space() == LOCAL_SPACE)


def _names(function: ParsedFunction) -> dict[int, set[int]]:
    """Return for each variable the blocks (sites) and parameters that it may lead to."""
    names: dict[int, set[int]] = {}
    for number, node in enumerate(function.parameters):
        if _leads_to_local(node):
            names[node.variable] = {-1 - number}
    pairs: list[tuple[int, SyntaxNode]] = []
    for node in function.body.walk():
        if node.kind is Kind.VAR_DECL and _leads_to_local(node):
            value = initial_value(node)
            if value is not None:
                pairs.append((node.variable, value))
        elif node.kind is Kind.BINARY_OPERATOR and node.between(*node.children) == "=":
            target = node.children[0]
            if target.kind is Kind.DECL_REF_EXPR and _leads_to_local(target):
                pairs.append((target.variable, node.children[1]))
    changed = True
    while changed:
        changed = False
        for variable, value in pairs:
            known = names.setdefault(variable, set())
            found: set[int] = set()
            for node in value.walk():
                if node.kind is Kind.CALL_EXPR and node.name == MALLOC:
                    found.add(node.start)
                elif node.kind is Kind.DECL_REF_EXPR and _leads_to_local(node):
                    found |= names.get(node.variable, set())
            if not found <= known:
                known |= found
                changed = True
    return names
