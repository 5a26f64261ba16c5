"""Which steps does planning have? Preprocess, parse, find allocations, walk, check, rewrite."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from societies.errors import BuildError
from societies.kerneltext.source import AmalgamatedText
from societies.localmem.clang import Function, Kind, SyntaxNode, TranslationUnit
from societies.localmem.divergence import Divergence, DivergentCall
from societies.localmem.frames import LocalFrame, StackBlock
from societies.localmem.planned import Allocation, CallSite, FunctionPlan, KernelPlan, PlannedText
from societies.localmem.preprocess import preprocess
from societies.localmem.reuse import Reuse
from societies.localmem.rewrite import rewritten
from societies.localmem.stack import FREE, MALLOC, frame_of


def make_plan(
    source: AmalgamatedText, predefined: Mapping[str, str | None], leaks: str
) -> PlannedText:
    """Plan a text; see `societies.localmem.plan`."""
    preprocessed = preprocess(source, predefined)
    if not re.search(rf"\b(?:{MALLOC}|{FREE})\b", preprocessed.text):
        return PlannedText(source)  # only in parts that are not compiled, or in unused macros
    unit = TranslationUnit(preprocessed)
    frames = _frames(unit, leaks)
    kernels = [f for f in unit.functions.values() if f.is_kernel and f.definition is not None]
    divergence = Divergence({MALLOC, FREE, *(frame.function.name for frame in frames.values())})
    for kernel in kernels:
        if kernel.usr in frames:
            for finding in divergence.findings(kernel):
                raise _divergent(unit, kernel, finding)
    result = source.copy()
    result.text = rewritten(unit, frames)
    functions = {
        frame.function.name: FunctionPlan(
            unit.places.at(frame.function.start),
            frame.requested,
            frame.reserved,
            frame.alignment,
            _path(unit, frame),
            _allocations(unit, frame.blocks),
        )
        for frame in frames.values()
        if not frame.function.is_kernel
    }
    plans = {k.name: _kernel_plan(unit, k, frames.get(k.usr) or LocalFrame(k)) for k in kernels}
    return PlannedText(result, plans, functions, _warnings(unit, kernels, frames))


def _frames(unit: TranslationUnit, leaks: str) -> dict[str, LocalFrame]:
    """Return the frames of all functions that allocate or call one that does."""
    by_name: dict[str, list[Function]] = {}
    for function in unit.functions.values():
        if function.definition is not None:
            by_name.setdefault(function.name, []).append(function)
    for name in (MALLOC, FREE):
        if name in by_name:
            raise unit.places.failure(
                by_name[name][0].start, f"{name} is the planner's: it cannot be defined here"
            )
    frames: dict[str, LocalFrame] = {}
    for function in _callees_first(unit, by_name):
        reaching = {MALLOC, FREE, *(frame.function.name for frame in frames.values())}
        if function.words & reaching:
            frame = frame_of(function, frames, leaks)
            if frame.blocks or frame.frees or frame.calls:
                frames[function.usr] = frame
    return frames


def _callees_first(unit: TranslationUnit, by_name: Mapping[str, list[Function]]) -> list[Function]:
    """Return the functions in an order in which each comes after those that it calls.

    Names in a body are quickly found and nearly always calls; only if they go round in a circle
    are the trees looked at.
    """

    def named(function: Function) -> list[Function]:
        names = sorted(function.words & by_name.keys())
        return [callee for name in names for callee in by_name[name]]

    def called(function: Function) -> list[Function]:
        return [callee for callee in named(function) if _calls(function, callee)]

    functions = [f for same in by_name.values() for f in same]
    ordered, circle = _ordered(functions, named)
    if circle:
        ordered, circle = _ordered(functions, called)
    if circle:
        names = " calls ".join(f.name for f in circle)
        message = f"recursion, which OpenCL does not have: {names}"
        raise unit.places.failure(circle[0].start, message)
    return ordered


def _ordered(
    functions: Sequence[Function], callees: Callable[[Function], list[Function]]
) -> tuple[list[Function], list[Function]]:
    """Return the functions, callees first, and a circle of them if there is one."""
    ordered: list[Function] = []
    way: list[Function] = []
    circle: list[Function] = []

    def visit(function: Function) -> None:
        if function in way:
            circle[:] = [*way[way.index(function) :], function]
        if circle or function in done:
            return
        way.append(function)
        for callee in callees(function):
            visit(callee)
        way.pop()
        done.add(function)
        ordered.append(function)

    done: set[Function] = set()
    for function in functions:
        visit(function)
    return ordered, circle


def _calls(function: Function, callee: Function) -> bool:
    """Return whether a function refers to another: the name may also be that of a variable."""
    return any(
        function.unit.function(node) is callee
        for node in function.body.walk()
        if node.kind is Kind.DECL_REF_EXPR and node.name == callee.name
    )


def _divergent(unit: TranslationUnit, kernel: Function, finding: DivergentCall) -> BuildError:
    node, source = finding.node, unit.places.source
    what = node.name if node.name in (MALLOC, FREE) else f"{node.name}, which allocates,"
    cause = unit.places.at(finding.cause.start)
    message = (
        f"{what} is called under a condition that may differ between work-items "
        f"({_short(finding.cause)}, {cause.shown(source)})"
    )
    if finding.calls:
        names = [kernel.name, *(call.name for call in finding.calls)]
        message += f", when called by {' > '.join(names)}"
    return unit.places.failure(node.start, message)


def _warnings(
    unit: TranslationUnit, kernels: list[Function], frames: Mapping[str, LocalFrame]
) -> tuple[str, ...]:
    """Return a message for each two allocations that share space without a barrier between."""
    reuse = Reuse(frames)
    for kernel in kernels:
        if kernel.usr in frames:
            reuse.summary(kernel)
    found = []
    for later, earlier in sorted(reuse.pairs):
        other = unit.places.at(earlier).shown(unit.places.source)
        message = (
            f"this may share its memory with the local_malloc at {other}: on some path no barrier "
            "lies between the last use of that one and the first use of this one"
        )
        found.append(str(unit.places.failure(later, message)))
    return tuple(found)


def _short(node: SyntaxNode) -> str:
    text = " ".join(node.text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _path(unit: TranslationUnit, frame: LocalFrame) -> tuple[CallSite, ...]:
    return tuple(CallSite(name, unit.places.at(site)) for name, site in frame.path())


def _allocations(unit: TranslationUnit, blocks: list[StackBlock]) -> tuple[Allocation, ...]:
    return tuple(Allocation(unit.places.at(b.site), b.bytes, b.alignment, b.offset) for b in blocks)


def _kernel_plan(unit: TranslationUnit, kernel: Function, frame: LocalFrame) -> KernelPlan:
    return KernelPlan(
        unit.places.at(kernel.start),
        frame.requested,
        frame.reserved,
        frame.rounded,
        kernel.static_bytes,
        frame.block_alignment,
        _path(unit, frame) if frame.reserved else (),
        _allocations(unit, frame.blocks),
    )
