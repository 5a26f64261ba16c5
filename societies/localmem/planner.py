"""Which steps does planning have? Preprocess, parse, find allocations, walk, rewrite."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from societies.kerneltext.source import AmalgamatedText
from societies.localmem.clang import Kind, ParsedFunction, TranslationUnit
from societies.localmem.frames import LocalFrame, StackBlock
from societies.localmem.planned import Allocation, CallSite, FunctionPlan, KernelPlan, PlannedText
from societies.localmem.preprocess import preprocess
from societies.localmem.rewrite import rewritten
from societies.localmem.stack import FREE, MALLOC, frame_of


def make_plan(
    source: AmalgamatedText, predefined: Mapping[str, str | None], leaks: str, checks: bool
) -> PlannedText:
    """Plan a text; see `societies.localmem.plan`."""
    preprocessed = preprocess(source, predefined)
    if not re.search(rf"\b(?:{MALLOC}|{FREE})\b", preprocessed.text):
        return PlannedText(source)  # only in parts that are not compiled, or in unused macros
    unit = TranslationUnit(preprocessed)
    frames = _frames(unit, leaks)
    kernels = [f for f in unit.functions.values() if f.is_kernel and f.definition is not None]
    warnings: tuple[str, ...] = ()
    if checks:
        from societies.localmem.checks import require_all_come, reuse_warnings

        allocating = [kernel for kernel in kernels if kernel.usr in frames]
        require_all_come(unit, allocating, frames)
        warnings = reuse_warnings(unit, allocating, frames)
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
    return PlannedText(result, plans, functions, warnings)


def _frames(unit: TranslationUnit, leaks: str) -> dict[str, LocalFrame]:
    """Return the frames of all functions that allocate or call one that does."""
    by_name: dict[str, list[ParsedFunction]] = {}
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


def _callees_first(
    unit: TranslationUnit, by_name: Mapping[str, list[ParsedFunction]]
) -> list[ParsedFunction]:
    """Return the functions in an order in which each comes after those that it calls.

    The names in a body are found quickly and are nearly always calls. The syntax trees are searched
    only if, by these names, functions call each other in a circle.
    """

    def named(function: ParsedFunction) -> list[ParsedFunction]:
        names = sorted(function.words & by_name.keys())
        return [callee for name in names for callee in by_name[name]]

    def called(function: ParsedFunction) -> list[ParsedFunction]:
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
    functions: Sequence[ParsedFunction], callees: Callable[[ParsedFunction], list[ParsedFunction]]
) -> tuple[list[ParsedFunction], list[ParsedFunction]]:
    """Return the functions, callees first, and the functions of a circle of calls, if any."""
    ordered: list[ParsedFunction] = []
    way: list[ParsedFunction] = []
    circle: list[ParsedFunction] = []

    def visit(function: ParsedFunction) -> None:
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

    done: set[ParsedFunction] = set()
    for function in functions:
        visit(function)
    return ordered, circle


def _calls(function: ParsedFunction, callee: ParsedFunction) -> bool:
    """Return whether a function refers to another: the name may also be that of a variable."""
    return any(
        function.unit.function(node) is callee
        for node in function.body.walk()
        if node.kind is Kind.DECL_REF_EXPR and node.name == callee.name
    )


def _path(unit: TranslationUnit, frame: LocalFrame) -> tuple[CallSite, ...]:
    return tuple(CallSite(name, unit.places.at(site)) for name, site in frame.path())


def _allocations(unit: TranslationUnit, blocks: list[StackBlock]) -> tuple[Allocation, ...]:
    return tuple(Allocation(unit.places.at(b.site), b.bytes, b.alignment, b.offset) for b in blocks)


def _kernel_plan(unit: TranslationUnit, kernel: ParsedFunction, frame: LocalFrame) -> KernelPlan:
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
