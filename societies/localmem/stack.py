"""Where does every allocation of a function go, and how much does its largest path need?

Offsets are relative to the function's base, which its caller chooses. Allocations are last in,
first out, so the walk keeps a stack of the live blocks. What is live at the end of a function
is freed by it, unless the caller inherits it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from societies.errors import BuildError
from societies.localmem.clang import (
    Kind,
    ParsedFunction,
    SyntaxNode,
    TypeKind,
    evaluate,
    is_pointer,
    pointer_as_written,
)
from societies.localmem.flow import Flow, FlowState, is_choice
from societies.localmem.frames import DEFAULT_ALIGNMENT, LocalFrame, StackBlock, rounded_up

MALLOC, FREE = "local_malloc", "local_free"

_LARGEST = 1 << 31
_WRAPPERS = frozenset(
    {Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR, Kind.CSTYLE_CAST_EXPR, Kind.CONDITIONAL_OPERATOR}
)


def frame_of(function: ParsedFunction, frames: Mapping[str, LocalFrame], leaks: str) -> LocalFrame:
    """Return the frame of a function; those of the functions it calls are known.

    A function begins at a multiple of its largest alignment, and small blocks in front of a wide
    one leave a gap. So they are put as close before it as they can be without making the frame
    longer: then the blocks of a caller fit in front of them.

    Raises
    ------
    BuildError
        If allocations do not nest, or a size is not a constant.
    """
    best = StackWalk(function, frames, leaks).run()
    if function.is_kernel or not best.gap:
        return best
    step = best.alignment // 2
    while step:
        try:
            later = StackWalk(function, frames, leaks, best.start + step).run()
        except BuildError:  # paths that agree only where the function began before
            later = None
        if later is not None and later.reserved == best.reserved:
            best = later
        step //= 2
    return best


@dataclass
class _Stack(FlowState):
    blocks: tuple[StackBlock, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(b.bytes for b in self.blocks)

    @property
    def layout(self) -> tuple[tuple[int, int], ...]:
        return tuple((b.offset, b.bytes) for b in self.blocks)


class StackWalk(Flow[_Stack]):
    """A walk that works out the frame of one function, whose blocks begin at ``start``."""

    def __init__(
        self, function: ParsedFunction, frames: Mapping[str, LocalFrame], leaks: str, start: int = 0
    ):
        super().__init__()
        self._function, self._frames, self._inherit = function, frames, leaks == "inherit"
        self._unit = function.unit
        self._wanted: list[SyntaxNode] = []
        self._returned: list[tuple[SyntaxNode, _Stack]] = []
        self._heads: list[tuple[StackBlock, ...]] = []
        self.frame = LocalFrame(function, start)

    def run(self) -> LocalFrame:
        """Return the frame.

        Raises
        ------
        BuildError
            If allocations do not nest, or a size is not a constant.
        """
        body = self._function.body
        end = self.statement(body, _Stack())
        if end.live:
            self._returned.append((body, end))
        if self._inherit and not self._function.is_kernel and self._returned:
            self._leave_to_the_caller(self._returned[-1][1])
        elif is_pointer(self._function.definition.result_type.get_canonical()):
            self._require_nothing_live()
        return self.frame

    def _require_nothing_live(self) -> None:
        """Refuse a function that could return a pointer to memory that ends with it."""
        for _, end in self._returned:
            if end.blocks:
                block = end.blocks[-1]
                raise self._unit.places.failure(
                    block.site,
                    f"{self._function.name} returns a pointer, and {_bytes(block.bytes)} "
                    "allocated here end with it: free them before it returns, or leave them to "
                    'the caller (leaks="inherit")',
                )

    def _leave_to_the_caller(self, end: _Stack) -> None:
        for other, stack in self._returned:
            if stack.layout != end.layout:
                raise self._error(
                    other,
                    f"{self._function.name} leaves {_laid_out(stack, end)} to its caller here and "
                    f"{_laid_out(end, stack)} elsewhere",
                )
        self.frame.leak = end.blocks

    def _error(self, node: SyntaxNode, message: str) -> BuildError:
        return self._unit.places.failure(node.start, message)

    def declaration(self, node: SyntaxNode, state: _Stack) -> None:
        """Refuse a prototype in a body: the rewritten call would have one argument too many."""
        if node.kind is Kind.FUNCTION_DECL and node.cursor.get_usr() in self._frames:
            raise self._error(
                node, f"{node.name} allocates local memory: declare it outside of functions"
            )
        super().declaration(node, state)

    # expressions -----------------------------------------------------------------------------

    def expression(self, node: SyntaxNode, state: _Stack) -> bool:
        """Carry out the allocations of an expression."""
        kind, children = node.kind, node.children
        if kind is Kind.CALL_EXPR:
            self._call(node, state)
            return False
        if kind is Kind.DECL_REF_EXPR:
            self._no_address(node)
            return False
        if kind is Kind.CXX_UNARY_EXPR:
            self._sizeof(node)
            return False
        if kind is Kind.GOTO_STMT:
            raise self._error(node, "goto in a function that allocates local memory")
        wrapped = kind in _WRAPPERS
        if wrapped:
            self._wanted.append(node)
        if is_choice(node):
            self.choice(node, state)
        elif kind is Kind.COMPOUND_STMT or kind is Kind.StmtExpr:
            for child in children:
                state.blocks = self.statement(child, state).blocks
        elif kind is Kind.BINARY_OPERATOR and node.between(*children) == ",":
            waiting, self._wanted = self._wanted, []
            self.expression(children[0], state)
            self._wanted = waiting
            self.expression(children[1], state)
        elif wrapped:
            for child in children:
                self.expression(child, state)
        else:
            waiting, self._wanted = self._wanted, []
            for child in children:
                self.expression(child, state)
            self._wanted = waiting
        if wrapped:
            self._wanted.pop()
        return False

    def _sizeof(self, node: SyntaxNode) -> None:
        """Give a call inside a sizeof the argument too, although it is not carried out."""
        for inner in node.walk():
            if inner.kind is Kind.CALL_EXPR:
                if inner.name in (MALLOC, FREE):
                    raise self._error(inner, f"{inner.name} in a sizeof allocates nothing")
                function = self._unit.function(inner)
                if function is not None and function.usr in self._frames:
                    self.frame.calls.append((inner, self._frames[function.usr], 0))

    def _no_address(self, node: SyntaxNode) -> None:
        name = node.name
        function = self._unit.function(node)
        if name in (MALLOC, FREE) or (function is not None and function.usr in self._frames):
            if name in (MALLOC, FREE) and node.declared.kind is not Kind.FUNCTION_DECL:
                return
            raise self._error(
                node, f"{name} is used other than by calling it: the planner cannot follow that"
            )

    def _call(self, node: SyntaxNode, state: _Stack) -> None:
        callee, arguments = node.children[0], node.children[1:]
        wanted, self._wanted = self._wanted, []
        for argument in arguments:
            self.expression(argument, state)
        self._wanted = wanted
        if node.name == MALLOC:
            self._allocate(node, state)
        elif node.name == FREE:
            self._free(node, state)
        else:
            function = self._unit.function(node)
            if function is None:
                if node.declared is None:
                    self.expression(callee, state)
                return
            frame = self._frames.get(function.usr)
            if frame is not None:
                self._enter_function(node, frame, state)

    def _size(self, node: SyntaxNode) -> int:
        if len(node.children) != 2:
            raise self._error(node, f"{node.name} takes one argument, the number of bytes")
        size = evaluate(node.children[1])
        if size is None:
            raise self._error(
                node,
                f"the size of {node.name} is not known at build time: it must be made of "
                "constants, macros and sizeof",
            )
        if not 0 <= size < _LARGEST:
            shown = size - (1 << 64) if size >= 1 << 63 else size
            raise self._error(node, f"{node.name} of {_bytes(shown)} is out of range")
        return size

    def _alignment(self) -> int:
        largest = 0
        for wrapper in reversed(self._wanted):
            kind = pointer_as_written(wrapper.cursor.type)
            if not is_pointer(kind):
                break
            target = kind.get_pointee()
            if target.get_canonical().kind is not TypeKind.VOID:
                largest = max(largest, int(target.get_align()))
        return largest or DEFAULT_ALIGNMENT

    def _allocate(self, node: SyntaxNode, state: _Stack) -> None:
        size, alignment = self._size(node), self._alignment()
        offset = rounded_up(self._top(state), alignment)
        block = StackBlock(node.start, self._function.name, size, alignment, offset)
        state.blocks = (*state.blocks, block)
        frame = self.frame
        frame.allocations.append((node, block))
        frame.alignment = max(frame.alignment, alignment)
        self._reach(block.end, sum(state.sizes), node, None)

    def _free(self, node: SyntaxNode, state: _Stack) -> None:
        size = self._size(node)
        if not state.blocks:
            raise self._error(node, f"local_free of {_bytes(size)}, but nothing is allocated here")
        last = state.blocks[-1]
        if last.bytes != size:
            place = self._unit.places.at(last.site)
            raise self._error(
                node,
                f"local_free of {_bytes(size)}, but the latest local_malloc is of "
                f"{_bytes(last.bytes)} ({place.shown(self._unit.places.source)}): "
                "free in reverse order",
            )
        state.blocks = state.blocks[:-1]
        self.frame.frees.append(node)

    def _enter_function(self, node: SyntaxNode, callee: LocalFrame, state: _Stack) -> None:
        if callee.function.is_kernel:
            raise self._error(
                node, f"kernel {callee.function.name} allocates local memory, so it cannot be "
                "called from here: put its body into a function"
            )  # fmt: skip
        base = rounded_up(max(0, self._top(state) - callee.start), callee.alignment)
        frame = self.frame
        frame.calls.append((node, callee, base))
        frame.alignment = max(frame.alignment, callee.alignment)
        self._reach(base + callee.reserved, sum(state.sizes) + callee.requested, node, callee)
        state.blocks = (*state.blocks, *(b.moved(base, node.start) for b in callee.leak))

    def _top(self, state: _Stack) -> int:
        return max((b.end for b in state.blocks), default=self.frame.start)

    def _reach(self, end: int, requested: int, node: SyntaxNode, callee: LocalFrame | None) -> None:
        frame = self.frame
        if end > frame.reserved or frame.deepest == (0, None):
            frame.deepest = (node.start, callee)
        frame.reserved = max(frame.reserved, end)
        frame.requested = max(frame.requested, requested)

    # paths -------------------------------------------------------------------------------------

    def branches(self, node: SyntaxNode, states: Sequence[_Stack], value: bool) -> _Stack:
        """Require the same blocks at the same places at the ends of all branches."""
        live = [s for s in states if s.live]
        if not live:
            dead = states[0].copy()
            dead.live = False
            return dead
        for other in live[1:]:
            if other.sizes != live[0].sizes:
                raise self._error(
                    node,
                    f"one path ends here with {_listed(live[0].sizes)} allocated and another with "
                    f"{_listed(other.sizes)}: every path must free what it allocates",
                )
            if other.layout != live[0].layout:
                raise self._error(
                    node,
                    f"one path ends here with {_laid_out(live[0], other)} allocated and another "
                    f"with {_laid_out(other, live[0])}: allocate before the condition",
                )
        return live[0].copy()

    def again(self, node: SyntaxNode, head: _Stack, end: _Stack) -> _Stack | None:
        """Require that the body of a loop ends with the same allocated blocks as it began with."""
        if head.sizes != end.sizes:
            raise self._error(
                node,
                f"a round of this loop starts with {_listed(head.sizes)} allocated and ends with "
                f"{_listed(end.sizes)}: it must free what it allocates",
            )
        if head.blocks != end.blocks:
            raise self._error(
                node,
                f"a round of this loop ends with other blocks of {_listed(head.sizes)} than it "
                "starts with: allocate before the loop, and free behind it",
            )
        return None

    def enter_loop(self, state: _Stack) -> object:
        """Remember what is live before a loop or switch."""
        self._heads.append(state.blocks)
        return None

    def leave_loop(self, state: _Stack, before: object) -> None:
        """Forget it."""
        self._heads.pop()

    def leave_early(self, node: SyntaxNode, state: _Stack) -> None:
        """Remember what is live at a ``return``; a ``break`` leaves a loop as it was found."""
        if node.kind is Kind.RETURN_STMT:
            self._returned.append((node, state.copy()))
        elif node.kind is Kind.BREAK_STMT and state.live and self._exits[-1].is_loop:
            head = self._heads[-1]
            if state.blocks != head:
                raise self._error(
                    node,
                    f"this break leaves the loop with {_listed(state.sizes)} allocated, "
                    f"which began with {_listed([b.bytes for b in head])}: every path must free "
                    "what it allocates",
                )


def _bytes(count: int) -> str:
    return f"{count} byte{'' if count == 1 else 's'}"


def _laid_out(stack: _Stack, other: _Stack) -> str:
    """Return what is allocated, with offsets if only these tell it from another stack."""
    if stack.sizes != other.sizes:
        return _listed(stack.sizes)
    return f"{_listed(stack.sizes)} (offsets {', '.join(str(b.offset) for b in stack.blocks)})"


def _listed(sizes: Sequence[int]) -> str:
    return " + ".join(map(str, sizes)) + " bytes" if sizes else "nothing"
