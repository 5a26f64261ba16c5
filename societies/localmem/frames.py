"""How much local memory does a function take, with what it calls, and where?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from societies.localmem.clang import ParsedFunction, SyntaxNode

DEFAULT_ALIGNMENT = 16
"""Alignment of an allocation that stays a ``void *``, so that its use does not say one."""


@dataclass(frozen=True)
class StackBlock:
    """An allocation at the byte ``site`` of the text, ``offset`` bytes from the base.

    ``via`` is the call that left it to the function, or None if the function allocated it.
    """

    site: int
    function: str
    bytes: int
    alignment: int
    offset: int
    via: int | None = None

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.bytes

    def moved(self, base: int, via: int) -> StackBlock:
        """Return it as seen from a caller that puts the function at ``base`` in a call."""
        return replace(self, offset=base + self.offset, via=via)


@dataclass
class LocalFrame:
    """What a function needs of local memory.

    ``reserved`` is the largest end of a block, in it or in what it calls, and ``requested`` the
    largest sum of live sizes; ``calls`` has the base of every call of an allocating function.
    Nothing lies below ``start``, so a caller's blocks may reach up to it.
    """

    function: ParsedFunction
    start: int = 0
    reserved: int = 0
    requested: int = 0
    alignment: int = 1
    allocations: list[tuple[SyntaxNode, StackBlock]] = field(default_factory=list)
    frees: list[SyntaxNode] = field(default_factory=list)
    calls: list[tuple[SyntaxNode, LocalFrame, int]] = field(default_factory=list)
    leak: tuple[StackBlock, ...] = ()
    deepest: tuple[int, LocalFrame | None] = (0, None)

    def path(self) -> list[tuple[str, int]]:
        """Return the functions on the way to the peak, each with the site that leads on."""
        site, callee = self.deepest
        return [(self.function.name, site), *(callee.path() if callee is not None else [])]

    @property
    def blocks(self) -> list[StackBlock]:
        """The allocations in the function itself."""
        return [block for _, block in self.allocations]

    @property
    def block_alignment(self) -> int:
        """Alignment of the block that a kernel declares."""
        return max(self.alignment, DEFAULT_ALIGNMENT)

    @property
    def rounded(self) -> int:
        """Bytes of the block that a kernel declares, rounded up to the default alignment."""
        return rounded_up(self.reserved, DEFAULT_ALIGNMENT)

    @property
    def gap(self) -> int:
        """Bytes that alignment costs."""
        return self.reserved - self.start - self.requested


def rounded_up(value: int, alignment: int) -> int:
    """Return the least multiple of the alignment that is no less."""
    return -(-value // alignment) * alignment
