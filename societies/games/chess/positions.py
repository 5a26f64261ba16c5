"""How does a configuration give a position of chess, and which errors can it have?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reference_py.games.chess.fen import START, FenError, FenPosition, read_fen
from societies.config.model import Conflict
from societies.config.problems import Path
from societies.errors import shortened


def boards_of(fens: Sequence[str]) -> tuple[FenPosition, ...]:
    """Return the positions of some lines; ``start`` is where a game begins."""
    return tuple(read_fen(START if fen == "start" else fen) for fen in fens)


def position_conflicts(config: Any) -> Iterator[Conflict]:
    """Yield what is wrong with the keys ``fen`` and ``positions`` of a configuration."""
    yield from fen_conflicts(("fen",), config.fen)
    for i, fen in enumerate(config.positions):
        yield from fen_conflicts(("positions", i), fen)
    if config.positions and config.fen != "start":
        yield Conflict(("fen",), "positions are given as well", (("positions",),))


def fen_conflicts(path: Path, fen: str) -> Iterator[Conflict]:
    """Yield what is wrong with a line in Forsyth-Edwards notation."""
    try:
        boards_of([fen])
    except FenError as error:
        yield Conflict(path, shortened(str(error)))
