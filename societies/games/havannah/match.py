"""What does the workload that plays matches of Havannah declare?

The host plays the games by the definition in ``reference_py/games/havannah/match.py``; the device
runs the playouts of many positions at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reference_py.games.havannah import match as rules
from reference_py.games.havannah import start
from reference_py.games.havannah.match import MatchParameters
from societies.games.havannah import FOLDER
from societies.games.havannah.match_config import HavannahMatchConfig, player_name
from societies.games.matches import MatchWorkload, played_on_host
from societies.workload import Field, Phase, Source, phase


class HavannahMatch(MatchWorkload):
    """Two players and the games between them."""

    name = "havannah_match"
    summary = "matches of Havannah between two players, by playouts on a device"
    config = HavannahMatchConfig
    work = "game"
    timed = True
    within_time = "how many playouts there are in it"

    def names(self, config: HavannahMatchConfig) -> Sequence[str]:
        """Return the names of the two players."""
        return [player_name(one) for one in config.players]

    def sizes(self, p: MatchParameters) -> dict[str, int]:
        """Return the largest number of moves of a game."""
        return {"move": p.most_moves}

    def fields(self, p: MatchParameters) -> Mapping[str, Field]:
        """Return the fields that are recorded for a game."""
        moves = "cells in order, -2 for a swap, -1 after the end"
        return {
            "number": Field((), "uint32", "index", "number of the match", checkpointed=False),
            **self.record_fields("1", moves),
            "moves": Field(("move",), "int16", "1", moves, initial=-1, none=-1, logged=True),
        }

    def phases(self, p: MatchParameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernel that begins a game, and the host function that plays it."""
        evaluates: list[Any] = []

        def game(copy: Any, tick: int, device: Any) -> None:
            from societies.games.havannah.players import evaluator

            if not evaluates:
                evaluates.extend(evaluator(device, p.size, one, p.stream_base) for one in p.players)
            rules.note(p, copy, *rules.play_game(p, copy.index, tick, evaluates))

        return {
            "start": phase(f"{FOLDER}/start.cl", global_size=copies),
            "game": played_on_host(self.fields(p), game),
        }

    def source(self, p: MatchParameters) -> Source:
        """Return the macro of the only kernel."""
        return Source({"MOST_MOVES": p.most_moves})

    def reference(self, p: MatchParameters) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase."""
        return {"start": start.start, "game": rules.game}

    def plan_rows(self, config: HavannahMatchConfig, p: MatchParameters) -> list[tuple[str, str]]:
        """Return the names of the players."""
        first, second = self.names(config)
        swap = "with swap" if p.swap else "without swap"
        return [("board", f"size {p.size}, {swap}"), ("players", f"{first} against {second}")]

    def play(
        self,
        config: HavannahMatchConfig,
        *,
        device: Any = "auto",
        moves: str = "",
        side: str = "white",
        protocol: str = "",
        console: Any = None,
    ) -> str:
        """Play a game against the first player; return how it ended.

        Parameters
        ----------
        moves : str
            Your moves in order, instead of asking, with commas: F6,swap,A1.
        side : str
            Which side is yours: white or black.
        protocol : str
            gtp: speak the Go Text Protocol on standard input and output instead.
        """
        from societies.games.havannah.play import play

        return play(config, device, moves, side, protocol, console)


WORKLOAD = HavannahMatch()
