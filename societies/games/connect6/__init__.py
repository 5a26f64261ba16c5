"""What does the workload that searches the game tree of Connect6 declare?

The rules are in ``reference_py/games/connect6``, the kernels in ``kernels/games/connect6``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from reference_py.copies import Copy
from reference_py.games.connect6.classes import ENTRIES, build_classes
from reference_py.games.connect6.parameters import Connect6Parameters
from reference_py.games.connect6.search import GAME
from reference_py.games.connect6.text import turn_text
from reference_py.games.connect6.wins import prove
from societies.games.connect6.config import Connect6Config
from societies.games.ngtsg.search import SearchWorkload
from societies.words import counted
from societies.workload import Field, Launch, Phase, Scratch, Step
from societies.workload.declare.naming import Imported

FILE = "games/connect6/search.cl"
CLASSES = "games/connect6/classes.cl"

LEAVES_ALONE = 2**19
"""Batches of at least this many leaves get one work-item per leaf on a GPU, not a workgroup: memory
latency is then hidden behind the other leaves (benchmarks/README.md)."""


class Connect6(SearchWorkload[Connect6Config, Connect6Parameters]):
    """Positions of Connect6 whose trees are searched in parallel."""

    name = "connect6"
    summary = "game-tree search of Connect6, node by node (NGTS-G)"
    config = Connect6Config
    rules, file = GAME, FILE
    together = True
    play = Imported("societies.games.connect6.play:play", of_setup=True)

    def fields(self, p: Connect6Parameters) -> Mapping[str, Field]:
        """Return the arrays of a search; a resumed search builds the table of classes again."""
        ready = Field((), "uint8", "1", "whether the table of classes is complete", constant=True)
        proven = {
            "win_in": Field(
                (), "int32", "turns", "turns of a proven win, or 0", final=True, none=0
            ),
            "win_turn": Field((), "uint32", "1", "how it begins", final=True, present="win_in"),
        }
        return {**super().fields(p), "ready": ready, **(proven if p.prover else {})}

    def phases(self, p: Connect6Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        ones = {"ones": Scratch((ENTRIES,), "uint8", shared="ones")}
        table = self.game_scratch(p)
        launch = partial(Launch, CLASSES, global_size=max(ENTRIES, copies), scratch=table | ones)
        threats = launch(kernel="all_threats", scratch=table)
        classes = Phase((threats, launch(kernel="best_more"), launch(kernel="build_classes")))
        prover = {"prove": Phase(host=partial(_prove, p))} if p.prover else {}
        return {"classes": classes, **prover, **super().phases(p, copies)}

    def game_scratch(self, p: Connect6Parameters) -> dict[str, Scratch]:
        """Return the table of classes, which serves all games."""
        return {"classes": Scratch((ENTRIES,), "uint8", shared="classes")}

    def schedule(self, p: Connect6Parameters, tick: int, seen: Any) -> Iterable[Step]:
        """Return the phases of a superstep; tick 0 builds the table of classes."""
        steps = super().schedule(p, tick, seen)
        if tick:
            return steps
        return [Step("classes"), *([Step("prove")] if p.prover else []), *steps]

    def reference(self, p: Connect6Parameters) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase."""
        own = {"classes": build_classes, **({"prove": prove} if p.prover else {})}
        return {**super().reference(p), **own}

    def game_macros(self, p: Connect6Parameters) -> dict[str, int | float | str | bool]:
        """Return the macros that set sizes of arrays or select code."""
        return {
            "SINGLES": f"{p.singles}u",
            "WIDTH": f"{p.width}u",
            **self.macros(p, "full_width"),
            "LEAVES_ALONE": p.most_leaves >= LEAVES_ALONE,
        }

    def small(self, p: Connect6Parameters, nodes: int) -> Connect6Parameters:
        """Return parameters for the CPU, without the prover, which has already run."""
        return replace(super().small(p, nodes), prover=0)

    def found_rows(self, config: Connect6Config, found: Any) -> list[tuple[str, str]]:
        """Return a row with the result of the prover."""
        if not config.prover:
            return []
        text = f"none in {counted(config.prover, 'turn')}"
        if found.win_in.notnull():
            turns = counted(int(found.win_in), "turn")
            text = f"in {turns}, beginning with {turn_text(int(found.win_turn))}"
        return [("win by threats", text)]

    def move_text(self, config: Connect6Config, move: int) -> str:
        """Return the points of a turn: J9I10."""
        return str(turn_text(move))

    def over_text(self, config: Connect6Config) -> str:
        """Return who has won the first game, or that its board is full."""
        from societies.games.connect6.game import Connect6Game

        return f"the game is over: {Connect6Game(config.games()[0]).result}"


def _prove(p: Connect6Parameters, arrays: Mapping[str, Any], tick: int) -> None:
    """Look for wins by threats on the host, as the reference does."""
    names = ("win_in", "win_turn")
    state = {name: arrays[name].get() for name in names}
    for game in range(len(state["win_in"])):
        copy = Copy(game, dict.fromkeys(names, 0))
        prove(p, copy, tick)
        for name in names:
            state[name][game] = getattr(copy, name)
    for name in names:
        arrays[name].set(state[name])


WORKLOAD = Connect6()
