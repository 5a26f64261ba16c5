"""What does the workload that plays matches of Havannah declare?

The host plays the games by the definition in ``reference_py/games/havannah/match.py``; the device
runs the playouts of many positions at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reference_py.copies import Copy
from reference_py.games.havannah import match as rules
from reference_py.games.havannah import start
from reference_py.games.havannah.match import MatchParameters
from societies.games.havannah import FOLDER
from societies.games.havannah.match_config import HavannahMatchConfig
from societies.games.matches import HostedMatch
from societies.workload.declare.naming import Imported

if TYPE_CHECKING:
    from societies.opencl import Device


class HavannahMatch(HostedMatch):
    """Two players and the games between them."""

    name = "havannah_match"
    summary = "matches of Havannah between two players, by playouts on a device"
    config = HavannahMatchConfig
    work = "game"
    within_time = "how many playouts there are in it"
    start_file, moves = f"{FOLDER}/start.cl", "cells in order, -2 for a swap"
    play = Imported("societies.games.havannah.play:play", of_setup=True)

    def players(self, p: MatchParameters, device: Device | None) -> list[Any]:
        """Return what runs the playouts of each player."""
        from societies.games.havannah.players import evaluator

        return [evaluator(device, p.size, one, p.stream_base) for one in p.players]

    def play_game(self, p: MatchParameters, copy: Copy, tick: int, players: Sequence[Any]) -> None:
        """Play and record a game."""
        rules.note(p, copy, *rules.play_game(p, copy.index, tick, players))

    def sizes(self, p: MatchParameters) -> dict[str, int]:
        """Return the largest number of moves of a game."""
        return {"move": p.most_moves}

    def reference(self, p: MatchParameters) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase."""
        return {"start": start.start, "game": rules.game}

    def plan_rows(self, config: HavannahMatchConfig, p: MatchParameters) -> list[tuple[str, str]]:
        """Return the board, and the names of the players."""
        swap = "with swap" if p.swap else "without swap"
        return [("board", f"size {p.size}, {swap}"), *super().plan_rows(config, p)]


WORKLOAD = HavannahMatch()
