"""Does every work-item of a group reach the calls that all of them must make together?

The planner checks allocations in this way, and tests/kernels checks barriers.

A value is *varying* if work-items may see different ones: what `get_local_id` and atomics return,
what is read at a varying address or from a private variable that was given a varying value, or
was written where only some work-items arrive. Everything else is uniform: arguments of the kernel,
group ids, sizes, constants, and what is read from global or local memory at a uniform address.
Such a call must not depend on a varying condition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

from societies.localmem.clang import (
    LITERALS,
    Kind,
    ParsedFunction,
    SyntaxNode,
    in_local_memory,
    is_array,
    is_pointer,
    leads_to_private,
)
from societies.localmem.flow import Flow, FlowState, initial_value
from societies.localmem.pointers import (
    ANYWHERE,
    escaped_variables,
    holds_pointers,
    is_arrow,
    is_parameter,
    may_lead_to,
    pointer_type,
    reaches_private,
    targets_of,
    without_parentheses,
)
from societies.localmem.stack import MALLOC

_VARYING = re.compile(
    r"get_(local|global)(_linear)?_id|get_sub_group_(local_)?id|atom(ic)?_\w+|sub_group_\w+"
    r"|work_group_scan_\w+|get_max_sub_group_size|get_num_sub_groups"
)
_UNIFORM = re.compile(r"work_group_(all|any|broadcast|reduce_\w+)|(async_|wait_)\w+|barrier")


@dataclass
class _DivergenceState(FlowState):
    """The varying variables at a point, and why work-items may have left a loop or the function."""

    varying: set[int] = field(default_factory=set)
    returned: SyntaxNode | None = None
    loop_left: SyntaxNode | None = None
    round_left: SyntaxNode | None = None

    def copy(self) -> _DivergenceState:
        return replace(self, varying=set(self.varying))

    def left(self) -> tuple[SyntaxNode | None, SyntaxNode | None, SyntaxNode | None]:
        return self.returned, self.loop_left, self.round_left

    def join_left(self, other: _DivergenceState) -> None:
        self.returned = self.returned or other.returned
        self.loop_left = self.loop_left or other.loop_left
        self.round_left = self.round_left or other.round_left

    def facts(self) -> tuple[object, ...]:
        return (frozenset(self.varying), *(node is not None for node in self.left()))


@dataclass(frozen=True)
class DivergentCall:
    """A collective call that not all work-items may reach; ``calls`` lead from a kernel to it."""

    node: SyntaxNode
    cause: SyntaxNode
    calls: tuple[SyntaxNode, ...]


@dataclass
class _DivergenceSummary:
    """The effect of a call: ``written`` says which pointers' private targets become varying."""

    varying: bool
    written: tuple[bool, ...]
    findings: list[DivergentCall] = field(default_factory=list)


@dataclass(frozen=True)
class _Context:
    """How a function is called.

    Attributes
    ----------
    function : its name for libclang
    arguments, targets : whether each argument varies, and the private variable that it points to
    some : whether only some work-items may call it
    shared : whether two arguments may lead to the same private variable
    """

    function: str
    arguments: tuple[bool, ...]
    targets: tuple[bool, ...]
    some: bool
    shared: bool = False


class Divergence:
    """A search for varying conditions over collective calls, from kernels down.

    ``collective`` has the names of the functions that all work-items must call together, with those
    that call them.
    """

    def __init__(self, collective: Set[str]):
        self.collective = collective
        self._known: dict[_Context, _DivergenceSummary] = {}
        self._led: dict[tuple[str, bool], tuple[set[int], dict[int, set[int]]]] = {}

    def findings(self, kernel: ParsedFunction) -> list[DivergentCall]:
        """Return the collective calls of a kernel, and below, that not all may reach.

        A work-item that is alone in its workgroup (``reqd_work_group_size(1, 1, 1)``) is all.
        """
        if kernel.is_alone:
            return []
        uniform = (False,) * len(kernel.parameters)
        return self.summary(kernel, _Context(kernel.usr, uniform, uniform, False)).findings

    def summary(self, function: ParsedFunction, context: _Context) -> _DivergenceSummary:
        """Return the effect of a function that is called in this way."""
        known = self._known.get(context)
        if known is None:
            known = self._known[context] = _DivergenceWalk(self, function, context).run()
        return known

    def led(self, function: ParsedFunction, shared: bool) -> tuple[set[int], dict[int, set[int]]]:
        """Return a function's escaped variables, and to which its variables may lead."""
        known = self._led.get((function.usr, shared))
        if known is None:
            escaped = escaped_variables(function)
            known = escaped, targets_of(function, escaped, shared)
            self._led[function.usr, shared] = known
        return known


class _DivergenceWalk(Flow[_DivergenceState]):
    def __init__(self, whole: Divergence, function: ParsedFunction, context: _Context):
        super().__init__()
        self._whole, self._function, self._context = whole, function, context
        self._conditions: list[SyntaxNode | None] = []
        self._varying_result = False
        self._ends: list[_DivergenceState] = []
        self._findings: dict[tuple[int, ...], DivergentCall] = {}
        self._escaped, self._targets = whole.led(function, context.shared)

    def run(self) -> _DivergenceSummary:
        state = _DivergenceState()
        parameters = self._function.parameters
        for node, varies, target in zip(
            parameters, self._context.arguments, self._context.targets, strict=False
        ):
            if varies:
                state.varying.add(node.variable)
            if target:
                state.varying.add(-node.variable)
        self._ends.append(self.statement(self._function.body, state))
        written = tuple(
            any(-node.variable in end.varying for end in self._ends) for node in parameters
        )
        return _DivergenceSummary(self._varying_result, written, list(self._findings.values()))

    # which work-items are here -------------------------------------------------------------------

    def _why(self, state: _DivergenceState) -> SyntaxNode | None:
        """Return the condition for which only some work-items may be here, or None."""
        for node in (*reversed(self._conditions), state.round_left, state.loop_left):
            if node is not None:
                return node
        return state.returned

    def _some(self, state: _DivergenceState) -> bool:
        return self._context.some or self._why(state) is not None

    def enter(self, condition: SyntaxNode, value: bool) -> None:
        self._conditions.append(condition if value else None)

    def leave(self) -> None:
        self._conditions.pop()

    def enter_loop(self, state: _DivergenceState) -> object:
        before = (state.loop_left, state.round_left)
        state.loop_left = state.round_left = None
        self._conditions.append(before[0] or before[1])  # what they excluded stays excluded
        return before

    def next_round(self, condition: SyntaxNode, state: _DivergenceState, value: bool) -> None:
        if value:
            state.loop_left = state.loop_left or condition

    def end_round(self, state: _DivergenceState) -> None:
        state.round_left = None

    def leave_loop(self, state: _DivergenceState, before: object) -> None:
        self._conditions.pop()
        assert isinstance(before, tuple)
        state.loop_left, state.round_left = before

    def leave_early(self, node: SyntaxNode, state: _DivergenceState) -> None:
        why = self._why(state)
        if node.kind is Kind.RETURN_STMT:
            state.returned = state.returned or why
            self._ends.append(state.copy())
        elif node.kind is Kind.BREAK_STMT:
            state.loop_left = state.loop_left or why
        else:
            state.round_left = state.round_left or why

    def branches(
        self, node: SyntaxNode, states: Sequence[_DivergenceState], value: bool
    ) -> _DivergenceState:
        live = [s for s in states if s.live]
        joined = (live or states)[0].copy()
        for other in live[1:]:
            joined.varying |= other.varying
        # if all took the same branch, the other one excluded no work-item
        for other in states if value else live:
            joined.join_left(other)
        return joined

    def again(
        self, node: SyntaxNode, head: _DivergenceState, end: _DivergenceState
    ) -> _DivergenceState | None:
        joined = self.branches(node, [head, end], True)
        return None if joined.facts() == head.facts() else joined

    # values --------------------------------------------------------------------------------------

    def declaration(self, node: SyntaxNode, state: _DivergenceState) -> None:
        if node.kind is not Kind.VAR_DECL:
            return
        value = initial_value(node)
        varies = self.expression(value, state) if value is not None else False
        if not in_local_memory(node.type):
            self._assign_variable(node.variable, varies, state)

    def statement(self, node: SyntaxNode, state: _DivergenceState) -> _DivergenceState:
        if node.kind is Kind.RETURN_STMT and node.children:
            varies = self.expression(node.children[0], state)
            self._varying_result |= varies or self._some(state)
            return self._left(node, state)
        return super().statement(node, state)

    def _assign_variable(self, variable: int, varies: bool, state: _DivergenceState) -> None:
        if varies or self._some(state):
            state.varying.add(variable)
        else:
            state.varying.discard(variable)

    def expression(self, node: SyntaxNode, state: _DivergenceState) -> bool:
        kind, children = node.kind, node.children
        if kind in LITERALS or kind in (Kind.CXX_UNARY_EXPR, Kind.TYPE_REF, Kind.NULL_STMT):
            return False
        if kind is Kind.DECL_REF_EXPR:
            return self._variable(node, state)
        if kind is Kind.BINARY_OPERATOR:
            operator = node.between(*children)
            if operator == "=":
                varies = self.expression(children[1], state)
                self._assign(children[0], varies, state, whole=True)
                return varies
            if operator in ("&&", "||"):
                return self.choice(node, state)
            if operator == ",":
                self.expression(children[0], state)
                return self.expression(children[1], state)
        elif kind is Kind.COMPOUND_ASSIGNMENT_OPERATOR:
            varies = self.expression(children[1], state) | self.expression(children[0], state)
            self._assign(children[0], varies, state, whole=True)
            return varies
        elif kind is Kind.UNARY_OPERATOR:
            return self._unary(node, state)
        elif kind is Kind.CONDITIONAL_OPERATOR:
            return self.choice(node, state)
        elif kind is Kind.ARRAY_SUBSCRIPT_EXPR:
            address = self._any(children, state)
            return address or self._load(children[0], state)
        elif is_arrow(node):
            return self.expression(children[0], state) or self._load(children[0], state)
        elif kind is Kind.CALL_EXPR:
            return self._call(node, state)
        elif kind in (Kind.COMPOUND_STMT, Kind.StmtExpr):
            for child in children:
                state.become(self.statement(child, state))
            return self._some(state)
        elif kind is Kind.GOTO_STMT:
            state.returned = node
            return True
        return self._any(children, state)

    def _any(self, nodes: Sequence[SyntaxNode], state: _DivergenceState) -> bool:
        """Carry out all of some expressions; return whether one of them varies."""
        return sum([self.expression(node, state) for node in nodes]) > 0

    def _variable(self, node: SyntaxNode, state: _DivergenceState) -> bool:
        if in_local_memory(node.type) or (is_array(node.type) and leads_to_private(node.type)):
            # the address of an array is the same for all; its values are not loaded here
            return is_parameter(node) and node.variable in state.varying
        return node.variable in state.varying

    def _unary(self, node: SyntaxNode, state: _DivergenceState) -> bool:
        operand = node.children[0]
        operator = (
            node.unit.data[node.start : operand.start] + node.unit.data[operand.end : node.end]
        ).decode().strip()  # fmt: skip
        if operator == "&":
            return self._address(operand, state)
        if operator == "*":
            return self.expression(operand, state) or self._load(operand, state)
        varies = self.expression(operand, state)
        if operator in ("++", "--"):
            self._assign(operand, varies, state, whole=True)
        return varies

    def _address(self, node: SyntaxNode, state: _DivergenceState) -> bool:
        """Return whether the address of an object varies."""
        node = without_parentheses(node)
        if node.kind is Kind.ARRAY_SUBSCRIPT_EXPR:
            return self._any(node.children, state)
        if node.kind is Kind.DECL_REF_EXPR:
            return False
        if node.kind is Kind.UNARY_OPERATOR:  # &*p
            return self.expression(node.children[0], state)
        if node.kind is Kind.MEMBER_REF_EXPR and node.children:
            inner = node.children[0]
            return self.expression(inner, state) if is_pointer(inner.type) else self._address(
                inner, state
            )  # fmt: skip
        return self._any(node.children, state)

    def _load(self, pointer: SyntaxNode, state: _DivergenceState) -> bool:
        """Return whether what a uniform pointer leads to varies."""
        if not leads_to_private(pointer_type(pointer)):
            return False
        roots = self._reached(pointer)
        return not roots or any(root in state.varying for root in roots)

    def _reached(self, pointer: SyntaxNode) -> set[int]:
        """Return the variables that a pointer may lead to."""
        roots = may_lead_to(pointer, self._targets)
        return (roots | self._escaped) - {ANYWHERE} if ANYWHERE in roots else roots

    def _handed_over(self, argument: SyntaxNode) -> set[int]:
        """Return the variables that a function may reach from an argument."""
        roots = self._reached(argument)
        return roots | self._escaped if holds_pointers(argument.type) else roots

    def _assign(
        self, target: SyntaxNode, varies: bool, state: _DivergenceState, whole: bool
    ) -> None:
        """Give a value to what an expression names; ``whole``: nothing of the old one is left."""
        target = without_parentheses(target)
        kind, children = target.kind, target.children
        if kind is Kind.DECL_REF_EXPR:
            if in_local_memory(target.type):
                return
            if whole:
                self._assign_variable(target.variable, varies, state)
            elif varies or self._some(state):
                state.varying.add(target.variable)
        elif kind is Kind.ARRAY_SUBSCRIPT_EXPR:
            address = self._any(children, state)
            self._store(children[0], varies or address, state)
        elif kind is Kind.UNARY_OPERATOR or is_arrow(target):
            address = self.expression(children[0], state)
            self._store(children[0], varies or address, state)
        elif children:  # a member, or components of a vector
            self._assign(children[0], varies, state, whole=False)

    def _store(self, pointer: SyntaxNode, varies: bool, state: _DivergenceState) -> None:
        if (varies or self._some(state)) and leads_to_private(pointer_type(pointer)):
            state.varying |= self._reached(pointer)

    # calls ---------------------------------------------------------------------------------------

    def _call(self, node: SyntaxNode, state: _DivergenceState) -> bool:
        arguments = node.children[1:]
        varies = [self.expression(argument, state) for argument in arguments]
        private = [reaches_private(argument.type) for argument in arguments]
        handed = [
            self._handed_over(argument) if is_private else set()
            for argument, is_private in zip(arguments, private, strict=True)
        ]
        targets = [
            is_private and (not roots or not roots.isdisjoint(state.varying))
            for roots, is_private in zip(handed, private, strict=True)
        ]
        some = self._some(state)
        name = node.name
        function = node.unit.function(node)
        if name in self._whole.collective:
            why = self._why(state)
            if why is not None:
                self._find(node, why, ())
        if name == MALLOC:
            return False
        if function is None or function.definition is None:
            any_varies = any(varies) or any(targets)
            for argument, roots in zip(arguments, handed, strict=True):
                if (any_varies or some) and not _is_const(argument):
                    state.varying |= roots
            if _UNIFORM.fullmatch(name):
                return False
            return any_varies or bool(_VARYING.fullmatch(name))
        shared = len(set().union(*handed)) < sum(map(len, handed))
        context = _Context(function.usr, tuple(varies), tuple(targets), some, shared)
        summary = self._whole.summary(function, context)
        for roots, written in zip(handed, summary.written, strict=False):
            if written:
                state.varying |= roots
        for finding in summary.findings:
            if not some:  # else the call itself has been found
                self._find(finding.node, finding.cause, (node, *finding.calls))
        return summary.varying

    def _find(self, node: SyntaxNode, cause: SyntaxNode, calls: tuple[SyntaxNode, ...]) -> None:
        key = (node.start, *(call.start for call in calls))
        self._findings.setdefault(key, DivergentCall(node, cause, calls))


def _is_const(node: SyntaxNode) -> bool:
    return is_pointer(node.type) and bool(node.type.get_pointee().is_const_qualified())
