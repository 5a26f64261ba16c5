"""Connect6, searched: what is declared of it.

The rules are in ``reference_py/games/connect6``, the kernels in ``kernels/games/connect6``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reference_py.games.connect6.classes import ENTRIES, build_classes
from reference_py.games.connect6.parameters import Connect6Parameters
from reference_py.games.connect6.search import GAME
from reference_py.games.connect6.text import turn_text
from reference_py.games.ngtsg.parameters import NO_MOVE
from societies.games.connect6.config import Connect6Config
from societies.games.ngtsg.search import SearchWorkload
from societies.workload import Field, Launch, Phase, Scratch, Step

FILE = "games/connect6/search.cl"
CLASSES = "games/connect6/classes.cl"


class Connect6(SearchWorkload[Connect6Config, Connect6Parameters]):
    """Positions of Connect6 whose trees are searched side by side."""

    name = "connect6"
    summary = "game-tree search of Connect6, node by node (NGTS-G)"
    config = Connect6Config
    rules, file = GAME, FILE

    def parameters(self, config: Connect6Config) -> Connect6Parameters:
        """Return what the reference is handed of a search."""
        return config.parameters()

    def fields(self, p: Connect6Parameters) -> Mapping[str, Field]:
        """Return the arrays of a search; a search that is resumed makes the table again."""
        ready = Field((), "uint8", "1", "whether the table of classes is there", constant=True)
        return {**super().fields(p), "ready": ready}

    def phases(self, p: Connect6Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        ones = {"ones": Scratch((ENTRIES,), "uint8", shared="ones")}
        every: dict[str, Any] = {"global_size": max(ENTRIES, copies)}
        classes = Phase((
            Launch(CLASSES, kernel="all_threats", scratch=self.game_scratch(p), **every),
            Launch(CLASSES, kernel="best_more", scratch={**self.game_scratch(p), **ones}, **every),
            Launch(
                CLASSES, kernel="build_classes", scratch={**self.game_scratch(p), **ones}, **every
            ),
        ))  # fmt: skip
        return {"classes": classes, **super().phases(p, copies)}

    def game_scratch(self, p: Connect6Parameters) -> dict[str, Scratch]:
        """Return the table of classes, which serves all games."""
        return {"classes": Scratch((ENTRIES,), "uint8", shared="classes")}

    def schedule(self, p: Connect6Parameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the phases of a superstep; before the first one the table is made."""
        if not tick:
            yield Step("classes")
        yield from super().schedule(p, tick, seen)

    def reference(self, p: Connect6Parameters) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase."""
        return {**super().reference(p), "classes": build_classes}

    def game_macros(self, p: Connect6Parameters) -> dict[str, int | float | str | bool]:
        """Return what sizes arrays of the kernels or chooses code."""
        return {
            "SINGLES": f"{p.singles}u",
            "WIDTH": f"{p.width}u",
            "FULL_WIDTH": p.full_width,
        }

    def move_text(self, config: Connect6Config, move: int) -> str:
        """Return the points of a turn: J9I10."""
        return "none" if move == NO_MOVE else turn_text(move)


WORKLOAD = Connect6()
