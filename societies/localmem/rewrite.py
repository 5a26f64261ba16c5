"""How does the plan become text? One block in each kernel, a parameter in functions that use it.

Every change is an insertion or a replacement within a line; so lines stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from societies.localmem.clang import SyntaxNode, TranslationUnit
from societies.localmem.frames import LocalFrame

BLOCK = "societies_local_memory"
"""The name of the block in kernels, and of the parameter that leads to a part of it."""

HIDDEN = f"{BLOCK}_hidden"
"""A number that is 0, and that no compiler knows to be 0."""

Edit = tuple[int, int, str]


def rewritten(unit: TranslationUnit, frames: Mapping[str, LocalFrame]) -> str:
    """Return the text with every allocation at its place.

    Raises
    ------
    BuildError
        If a function is declared in a form that cannot be given a parameter.
    """
    edits: list[Edit] = []
    for frame in frames.values():
        function = frame.function
        if not function.is_kernel:
            edits += [_parameter(unit, end) for end in function.name_ends()]
        elif frame.reserved:
            start = function.body.start + 1
            edits.append((start, start, _block(frame)))
        for node, block in frame.allocations:
            edits.append(_replaced(node, f"((__local void *)({_at(frame, block.offset)}))"))
        edits += [_replaced(node, "((void)0)") for node in frame.frees]
        for node, _, base in frame.calls:
            comma = ", " if len(node.children) > 1 else ""
            edits.append((node.end - 1, node.end - 1, comma + _at(frame, base)))
    data = unit.data
    for start, end, text in sorted(edits, reverse=True):
        data = data[:start] + text.encode() + data[end:]
    return data.decode()


def _block(frame: LocalFrame) -> str:
    """Return the declaration of a kernel's block.

    Clang puts the block itself in place of the parameter of a function that is not inlined and that
    is always handed the same address. PoCL 3.0 looks for the block in the kernel only: such a
    function then crashes, or its compiler does. So its address is hidden from the compiler.
    """
    place = f"[{frame.reserved}] __attribute__((aligned({frame.block_alignment})))"
    if not _calls_noinline(frame):
        return f" __local uchar {BLOCK}{place};"
    whole = f"{BLOCK}_whole"
    return (
        f" __local uchar {whole}{place}; volatile uint {HIDDEN} = 0;"
        f" __local uchar *{BLOCK} = {whole} + {HIDDEN};"
    )


def _calls_noinline(frame: LocalFrame) -> bool:
    return any(
        callee.function.is_noinline or _calls_noinline(callee) for _, callee, _ in frame.calls
    )


def _at(frame: LocalFrame, offset: int) -> str:
    """Return the address of a byte of the function's part."""
    if frame.function.is_kernel and not frame.reserved:
        return "(__local uchar *)0"  # sizes of 0 only
    return f"{BLOCK} + {offset}"


def _replaced(node: SyntaxNode, text: str) -> Edit:
    return node.start, node.end, text + "\n" * node.text.count("\n")


def _parameter(unit: TranslationUnit, name_end: int) -> Edit:
    """Return the change of a declaration whose name ends here."""
    data = unit.data
    start = name_end
    while data[start : start + 1].isspace():
        start += 1
    if data[start : start + 1] != b"(":
        raise unit.places.failure(
            name_end, "this function allocates: declare it as `result name(parameters)`"
        )
    end, depth = start, 0
    while True:
        depth += {b"(": 1, b")": -1}.get(data[end : end + 1], 0)
        if not depth:
            break
        end += 1
    inside = data[start + 1 : end].decode()
    if inside.strip() in ("", "void"):
        return start + 1, end, f"__local uchar *{BLOCK}" + "\n" * inside.count("\n")
    return end, end, f", __local uchar *{BLOCK}"
