"""Which mistakes in the use of local memory does a plan not show?

A build leaves these checks out: they take as long as the plan itself, and their result is the same
on every device. `societies localmem` has them, and so do the tests of all kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from societies.errors import BuildError
from societies.localmem.clang import ParsedFunction, SyntaxNode, TranslationUnit
from societies.localmem.divergence import Divergence, DivergentCall
from societies.localmem.frames import LocalFrame
from societies.localmem.reuse import Reuse
from societies.localmem.stack import FREE, MALLOC


def require_all_come(
    unit: TranslationUnit, kernels: Sequence[ParsedFunction], frames: Mapping[str, LocalFrame]
) -> None:
    """Raise BuildError if some work-items of a group may not come to an allocation."""
    divergence = Divergence({MALLOC, FREE, *(frame.function.name for frame in frames.values())})
    for kernel in kernels:
        for finding in divergence.findings(kernel):
            raise _divergent(unit, kernel, finding)


def reuse_warnings(
    unit: TranslationUnit, kernels: Sequence[ParsedFunction], frames: Mapping[str, LocalFrame]
) -> tuple[str, ...]:
    """Return a message for each two allocations that share space without a barrier between."""
    reuse = Reuse(frames)
    for kernel in kernels:
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


def _divergent(unit: TranslationUnit, kernel: ParsedFunction, finding: DivergentCall) -> BuildError:
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


def _short(node: SyntaxNode) -> str:
    text = " ".join(node.text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."
