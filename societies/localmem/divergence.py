"""Does every work-item of a group come to the calls that all of them must make together?

The planner asks this of allocations, tests/kernels of barriers.

A value is *varying* if work-items may see different ones: what `get_local_id` and atomics return,
what is read at a varying address or from a private variable that was given a varying value, or
was written where only some work-items come. Everything else is uniform: arguments of the kernel,
group ids, sizes, constants, and what is read from global or local memory at a uniform address.
Such a call must not depend on a varying condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from societies.localmem.clang import (
    LITERALS,
    Function,
    Kind,
    Node,
    TypeKind,
    in_local_memory,
    is_array,
    is_pointer,
    leads_to_private,
)
from societies.localmem.flow import Flow, initial_value
from societies.localmem.stack import MALLOC

_VARYING = re.compile(
    r"get_(local|global)(_linear)?_id|get_sub_group_(local_)?id|atom(ic)?_\w+|sub_group_\w+"
    r"|work_group_scan_\w+|get_max_sub_group_size|get_num_sub_groups"
)
_UNIFORM = re.compile(r"work_group_(all|any|broadcast|reduce_\w+)|(async_|wait_)\w+|barrier")
_LOADS = frozenset({Kind.UNARY_OPERATOR, Kind.ARRAY_SUBSCRIPT_EXPR, Kind.MEMBER_REF_EXPR})

ANYWHERE = 1 << 40
"""Stands for every variable whose address is taken: what a pointer read from memory leads to."""


class _State:
    """The varying variables at a point, and why some may have left the function, loop or round."""

    __slots__ = ("live", "loop_left", "returned", "round_left", "varying")

    def __init__(self, varying: set[int]):
        self.varying = varying
        self.live = True
        self.returned: Node | None = None
        self.loop_left: Node | None = None
        self.round_left: Node | None = None

    def copy(self) -> _State:
        other = _State(set())
        other.become(self)
        return other

    def become(self, other: _State) -> None:
        self.varying, self.live = set(other.varying), other.live
        self.returned, self.loop_left, self.round_left = other.left()

    def left(self) -> tuple[Node | None, Node | None, Node | None]:
        return self.returned, self.loop_left, self.round_left

    def join_left(self, other: _State) -> None:
        self.returned = self.returned or other.returned
        self.loop_left = self.loop_left or other.loop_left
        self.round_left = self.round_left or other.round_left

    def facts(self) -> tuple[object, ...]:
        return (frozenset(self.varying), *(node is not None for node in self.left()))


@dataclass(frozen=True)
class Finding:
    """A collective call that not all work-items may reach; ``calls`` lead from a kernel to it."""

    node: Node
    cause: Node
    calls: tuple[Node, ...]


@dataclass
class _Summary:
    """What a call does: ``written`` says which pointers' private targets become varying."""

    varying: bool
    written: tuple[bool, ...]
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class _Context:
    """How a function is called: which arguments vary, which private targets; ``some``: by whom.

    ``shared``: two arguments may lead to the same private variable.
    """

    function: str
    arguments: tuple[bool, ...]
    targets: tuple[bool, ...]
    some: bool
    shared: bool = False


class Divergence:
    """Looks for varying conditions over collective calls, from kernels down.

    Parameters
    ----------
    collective
        Names of the functions that all work-items must call together, with those that call them.
    """

    def __init__(self, collective: Set[str]):
        self.collective = collective
        self._known: dict[_Context, _Summary] = {}

    def findings(self, kernel: Function) -> list[Finding]:
        """Return the collective calls of a kernel, and below, that not all may reach."""
        uniform = (False,) * len(kernel.parameters)
        return self.summary(kernel, _Context(kernel.usr, uniform, uniform, False)).findings

    def summary(self, function: Function, context: _Context) -> _Summary:
        """Return what a function does when it is called in this way."""
        known = self._known.get(context)
        if known is None:
            known = self._known[context] = _Walk(self, function, context).run()
        return known


class _Walk(Flow[_State]):
    def __init__(self, whole: Divergence, function: Function, context: _Context):
        super().__init__()
        self._whole, self._function, self._context = whole, function, context
        self._conditions: list[Node | None] = []
        self._varying_result = False
        self._ends: list[_State] = []
        self._findings: dict[tuple[int, ...], Finding] = {}
        self._escaped = _escaped(function)
        self._targets = _targets(function, self._escaped, context.shared)

    def run(self) -> _Summary:
        state = _State(set())
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
        return _Summary(self._varying_result, written, list(self._findings.values()))

    # who is here -------------------------------------------------------------------------------

    def _why(self, state: _State) -> Node | None:
        """Return the condition for which only some work-items may be here, or None."""
        for node in (*reversed(self._conditions), state.round_left, state.loop_left):
            if node is not None:
                return node
        return state.returned

    def _some(self, state: _State) -> bool:
        return self._context.some or self._why(state) is not None

    def enter(self, condition: Node, value: bool) -> None:
        self._conditions.append(condition if value else None)

    def leave(self) -> None:
        self._conditions.pop()

    def enter_loop(self, state: _State) -> object:
        before = (state.loop_left, state.round_left)
        state.loop_left = state.round_left = None
        self._conditions.append(before[0] or before[1])  # whom they kept away is away still
        return before

    def next_round(self, condition: Node, state: _State, value: bool) -> None:
        if value:
            state.loop_left = state.loop_left or condition

    def end_round(self, state: _State) -> None:
        state.round_left = None

    def leave_loop(self, state: _State, before: object) -> None:
        self._conditions.pop()
        assert isinstance(before, tuple)
        state.loop_left, state.round_left = before

    def leave_early(self, node: Node, state: _State) -> None:
        why = self._why(state)
        if node.kind is Kind.RETURN_STMT:
            state.returned = state.returned or why
            self._ends.append(state.copy())
        elif node.kind is Kind.BREAK_STMT:
            state.loop_left = state.loop_left or why
        else:
            state.round_left = state.round_left or why

    def branches(self, node: Node, states: Sequence[_State], value: bool) -> _State:
        live = [s for s in states if s.live]
        joined = (live or states)[0].copy()
        for other in live[1:]:
            joined.varying |= other.varying
        # where all took the same branch, those who left in the other one are not missing here
        for other in states if value else live:
            joined.join_left(other)
        return joined

    def again(self, node: Node, head: _State, end: _State) -> _State | None:
        joined = self.branches(node, [head, end], True)
        return None if joined.facts() == head.facts() else joined

    # values --------------------------------------------------------------------------------------

    def declaration(self, node: Node, state: _State) -> None:
        if node.kind is not Kind.VAR_DECL:
            return
        value = initial_value(node)
        varies = self.expression(value, state) if value is not None else False
        if not in_local_memory(node.type):
            self._assign_variable(node.variable, varies, state)

    def statement(self, node: Node, state: _State) -> _State:
        if node.kind is Kind.RETURN_STMT and node.children:
            varies = self.expression(node.children[0], state)
            self._varying_result |= varies or self._some(state)
            return self._left(node, state)
        return super().statement(node, state)

    def _assign_variable(self, variable: int, varies: bool, state: _State) -> None:
        if varies or self._some(state):
            state.varying.add(variable)
        else:
            state.varying.discard(variable)

    def expression(self, node: Node, state: _State) -> bool:
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
                return self._shortened(children, state, node)
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
            value = self.expression(children[0], state)
            self.enter(children[0], value)
            ends = [state.copy(), state.copy()]
            results = [self.expression(c, e) for c, e in zip(children[1:], ends, strict=True)]
            self.leave()
            state.become(self.branches(node, ends, value))
            return value or any(results)
        elif kind is Kind.ARRAY_SUBSCRIPT_EXPR:
            address = self._any(children, state)
            return address or self._load(children[0], state)
        elif _is_arrow(node):
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

    def _any(self, nodes: Sequence[Node], state: _State) -> bool:
        """Carry out all of some expressions; return whether one of them varies."""
        return sum([self.expression(node, state) for node in nodes]) > 0

    def _shortened(self, children: list[Node], state: _State, node: Node) -> bool:
        value = self.expression(children[0], state)
        right = state.copy()
        self.enter(children[0], value)
        other = self.expression(children[1], right)
        self.leave()
        state.become(self.branches(node, [state, right], value))
        return value or other

    def _variable(self, node: Node, state: _State) -> bool:
        if in_local_memory(node.type) or (is_array(node.type) and leads_to_private(node.type)):
            # the address of an array is the same for all; its values are not loaded here
            return _is_parameter(node) and node.variable in state.varying
        return node.variable in state.varying

    def _unary(self, node: Node, state: _State) -> bool:
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

    def _address(self, node: Node, state: _State) -> bool:
        """Return whether the address of an object varies."""
        node = _bare(node)
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

    def _load(self, pointer: Node, state: _State) -> bool:
        """Return whether what a uniform pointer leads to varies."""
        if not leads_to_private(_pointer_type(pointer)):
            return False
        roots = self._reached(pointer)
        return not roots or any(root in state.varying for root in roots)

    def _reached(self, pointer: Node) -> set[int]:
        """Return the variables that a pointer may lead to."""
        roots = _roots(pointer, self._targets)
        return (roots | self._escaped) - {ANYWHERE} if ANYWHERE in roots else roots

    def _handed_over(self, argument: Node) -> set[int]:
        """Return the variables that a function may reach from an argument."""
        roots = self._reached(argument)
        return roots | self._escaped if _holds_pointers(argument.type) else roots

    def _assign(self, target: Node, varies: bool, state: _State, whole: bool) -> None:
        """Give a value to what an expression names; ``whole``: nothing of the old one is left."""
        target = _bare(target)
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
        elif kind is Kind.UNARY_OPERATOR or _is_arrow(target):
            address = self.expression(children[0], state)
            self._store(children[0], varies or address, state)
        elif children:  # a member, or components of a vector
            self._assign(children[0], varies, state, whole=False)

    def _store(self, pointer: Node, varies: bool, state: _State) -> None:
        if (varies or self._some(state)) and leads_to_private(_pointer_type(pointer)):
            state.varying |= self._reached(pointer)

    # calls ---------------------------------------------------------------------------------------

    def _call(self, node: Node, state: _State) -> bool:
        arguments = node.children[1:]
        varies = [self.expression(argument, state) for argument in arguments]
        private = [_reaches_private(argument.type) for argument in arguments]
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

    def _find(self, node: Node, cause: Node, calls: tuple[Node, ...]) -> None:
        key = (node.start, *(call.start for call in calls))
        self._findings.setdefault(key, Finding(node, cause, calls))


# private memory: what may a pointer lead to? ------------------------------------------------------


def _escaped(function: Function) -> set[int]:
    """Return the variables whose address is taken, and those that callers hand over."""
    escaped = {-n.variable for n in function.parameters if _reaches_private(n.type)}
    for node in function.body.walk():
        if node.kind is Kind.UNARY_OPERATOR and node.text.startswith("&"):
            escaped |= _owners(node.children[0], {})
        elif node.kind in (Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR) and is_array(node.type):
            escaped |= _owners(node, {})
    return escaped - {ANYWHERE}


def _targets(function: Function, escaped: Set[int], shared: bool) -> dict[int, set[int]]:
    """Return for each variable the variables that it may lead to (of a parameter: minus itself).

    Pointers whose own address is taken may be changed unseen: they lead `ANYWHERE`.
    """
    targets: dict[int, set[int]] = {}
    parameters = [node.variable for node in function.parameters if _reaches_private(node.type)]
    for variable in parameters:
        targets[variable] = {-other for other in parameters} if shared else {-variable}
        if variable in escaped:
            targets[variable].add(ANYWHERE)
    pairs = []
    for node in function.body.walk():
        if node.kind is Kind.VAR_DECL:
            if node.variable in escaped and _reaches_private(node.type):
                targets[node.variable] = {ANYWHERE}
            value = initial_value(node)
            if value is not None:
                pairs.append((node.variable, value))
        elif node.kind is Kind.BINARY_OPERATOR and node.between(*node.children) == "=":
            inner = _bare(node.children[0])
            while inner.kind is not Kind.DECL_REF_EXPR and inner.children:
                inner = _bare(inner.children[0])
            if inner.kind is Kind.DECL_REF_EXPR and not is_array(inner.type):
                pairs.append((inner.variable, node.children[1]))
    pairs = [(variable, value) for variable, value in pairs if _may_lead(value)]
    changed = True
    while changed:
        changed = False
        for variable, value in pairs:
            known = targets.setdefault(variable, set())
            found = _roots(value, targets)
            if not found <= known:
                known |= found
                changed = True
    return targets


def _may_lead(value: Node) -> bool:
    """Return whether a value may hold the address of something private."""
    return any(
        node.kind is Kind.UNARY_OPERATOR
        or (node.kind is Kind.DECL_REF_EXPR and (is_array(node.type) or is_pointer(node.type)))
        for node in value.walk()
    )


def _roots(value: Node, targets: Mapping[int, set[int]]) -> set[int]:
    """Return the variables that the pointers in an expression may lead to, perhaps `ANYWHERE`."""
    if value.kind is Kind.DECL_REF_EXPR:
        found = set(targets.get(value.variable, ()))
        return (
            found | {value.variable} if is_array(value.type) and not _is_parameter(value) else found
        )
    if value.kind is Kind.UNARY_OPERATOR and value.text.startswith("&"):
        return _owners(value.children[0], targets)
    if value.kind is Kind.MEMBER_REF_EXPR and is_array(value.type):
        return _owners(value, targets)
    found = set().union(*(_roots(child, targets) for child in value.children))
    loaded = value.kind in _LOADS and (
        value.kind is not Kind.UNARY_OPERATOR or value.text.startswith("*")
    )
    if value.kind is Kind.CALL_EXPR:
        loaded = any(_holds_pointers(argument.type) for argument in value.children[1:])
    if loaded and _reaches_private(value.type):
        found.add(ANYWHERE)
    return found


def _owners(named: Node, targets: Mapping[int, set[int]]) -> set[int]:
    """Return the variables of which an expression may name a part."""
    named = _bare(named)
    if named.kind is Kind.DECL_REF_EXPR:
        return {named.variable}
    if named.kind in (Kind.ARRAY_SUBSCRIPT_EXPR, Kind.UNARY_OPERATOR) or _is_arrow(named):
        return _roots(named.children[0], targets)
    return set().union(*(_owners(child, targets) for child in named.children))


def _is_arrow(node: Node) -> bool:
    """Return whether it is ``pointer->member``."""
    return (
        node.kind is Kind.MEMBER_REF_EXPR
        and bool(node.children)
        and is_pointer(node.children[0].type)
    )


def _bare(node: Node) -> Node:
    while node.kind is Kind.PAREN_EXPR and node.children:
        node = node.children[0]
    return node


def _pointer_type(node: Node) -> object:
    """Return the type of a pointer or array before it became a plain pointer."""
    kind = node.type
    if not is_pointer(kind) and not is_array(kind) and node.children:
        return _pointer_type(node.children[0])
    return kind


def _is_parameter(node: Node) -> bool:
    """Return whether it names a parameter; one that is written as an array is a pointer."""
    return node.declared is not None and node.declared.kind is Kind.PARM_DECL


def _reaches_private(kind: Any) -> bool:
    """Return whether a value of this type leads to private memory: a pointer, or what holds one."""
    if is_pointer(kind) or is_array(kind):
        return leads_to_private(kind) or _holds_pointers(kind)
    return _holds_pointers(kind)


def _holds_pointers(kind: Any) -> bool:
    """Return whether pointers to private memory may be read from what is at hand with a value."""
    if is_pointer(kind):
        return _is_reaching(kind.get_pointee().get_canonical())
    if is_array(kind):
        return _is_reaching(kind.element_type.get_canonical())
    return kind.kind is TypeKind.RECORD and _is_reaching(kind)


def _is_reaching(kind: Any) -> bool:
    """Return whether an object of this type has a pointer to private memory in it."""
    if is_pointer(kind):
        return leads_to_private(kind)
    if is_array(kind):
        return _is_reaching(kind.element_type.get_canonical())
    if kind.kind is not TypeKind.RECORD:
        return False
    return any(_is_reaching(part.type.get_canonical()) for part in kind.get_fields())


def _is_const(node: Node) -> bool:
    return is_pointer(node.type) and bool(node.type.get_pointee().is_const_qualified())
