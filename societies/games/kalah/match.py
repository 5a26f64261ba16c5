"""What does the workload that plays matches of Kalah declare?

Games are played on the device: for each move the device runs the search of the player to move, or
of both players if several matches run in parallel, and a kernel that makes the move. The host reads
one word per move.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from reference_py.games.kalah.match import FIRST, NO_PLAYER, SECOND
from reference_py.games.kalah.parameters import (
    BONZO,
    MOST_MOVES,
    MOST_PAIRS,
    PAIR_STREAMS,
    RANDOM,
    STREAM_GAP,
    MatchParameters,
    Player,
)
from societies.errors import SocietiesError
from societies.games.kalah import search
from societies.games.kalah.match_config import KalahMatchConfig
from societies.games.matches import MatchWorkload
from societies.workload import Block, Field, Phase, Source, Step, phase

GROWTH = 6.0
"""Assumed ratio of the times of searches to depth d + 1 and d. A deeper search that would not end
within the player's time is not begun."""

KINDS = {BONZO: 1, RANDOM: 2}
"""Numbers of the players without a search, as in kernels/games/kalah/match.cl."""


class KalahMatch(search.LevelSearch[KalahMatchConfig, MatchParameters], MatchWorkload):
    """Two players and the games between them."""

    name = "kalah_match"
    summary = "matches of Kalah between two players, each beginning half of the games"
    config = KalahMatchConfig
    work = "node"
    counted_by, timed = "searched", True
    step_arguments = (*search.STEP_ARGUMENTS, "player")

    def sizes(self, p: MatchParameters) -> dict[str, int]:
        """Return the numbers of cells, boards in memory, levels, players and moves of a game."""
        return {**search.sizes(p.searches), "cell": p.cells, "player": 2, "move": MOST_MOVES}

    def fields(self, p: MatchParameters) -> Mapping[str, Field]:
        """Return the boards of a search, the current game, and the fields recorded for it."""
        recorded = self.record_fields("stones", "cell that each move emptied")
        # `start` resets the moves of the previous game to -1, as they are before the first game.
        recorded["moves"] = replace(recorded["moves"], initial=-1)
        passing = partial(Field, checkpointed=False)
        asked = "who is asked for a move: 1 the first player, 2 the second, 4 chance, 0 no player"
        return {
            **search.board_fields(),
            **search.answer_fields(checkpointed=False),
            "board": passing(("cell",), "uint8", "stones", "the board of the game"),
            "to_move": passing((), "uint8", "1", "who is to move: 0 TOP, 1 BOTTOM"),
            "asked": passing((), "uint8", "1", asked, initial=FIRST | SECOND),
            "stream": passing((), "uint64", "1", "state of the random numbers"),
            "searched": Field(
                ("player",), "int64", "boards", "boards looked at for the moves made", logged=True
            ),
            **recorded,
        }

    def phases(self, p: MatchParameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        given = {"board_count": self.sizes(p)["board"]}

        def own(name: str) -> Phase:
            file = f"{search.FOLDER}/{name}.cl"
            return phase(file, global_size=copies, arguments=given)

        asks = {"ask": own("ask")} if p.searches else {}
        return {
            "start": own("start"),
            **asks,
            **search.phases(p.searches, copies),
            "move": own("move"),
        }

    def schedule(self, p: MatchParameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a game, move after move, until no player is asked for a move."""
        if not tick:
            return
        yield Step("start")
        for _ in range(MOST_MOVES):
            asked = set(np.unique(seen["asked"]).tolist())
            if asked == {NO_PLAYER}:
                return
            for number, player in enumerate(p.players):
                if player.searches and any(one & (FIRST, SECOND)[number] for one in asked):
                    yield from self._chosen(p, number, player, seen)
            yield Step("move")

    def _chosen(self, p: MatchParameters, number: int, player: Player, seen: Any) -> Iterator[Step]:
        """Yield the steps of a search for a move, to the player's depth or within its time."""
        own, began = p.search(player), time.perf_counter()
        for depth in range(1, player.depth + 1) if player.seconds else (player.depth,):
            before = time.perf_counter()
            yield Step("ask", f"player {number}", {"player": number})
            yield from search.steps(own, depth, seen)
            if player.seconds:
                int(seen["pit"].max())  # waits for the search
                now = time.perf_counter()
                if now - began + GROWTH * (now - before) > player.seconds:
                    return

    def source(self, p: MatchParameters) -> Source:
        """Return macros; other players, openings and seeds do not rebuild the kernels."""
        macros = {
            **self.macros(p, "pits", "empty_capture"),
            "MOST_MOVES": MOST_MOVES,
            "STREAM_GAP": STREAM_GAP,
            "PAIR_STREAMS": PAIR_STREAMS,
            "MOST_PAIRS": f"{MOST_PAIRS}ul",
            **search.macros(p.searches),
        }
        kinds = [KINDS.get(player.kind, 0) for player in p.players]
        return Source(macros, arguments={"first_kind": kinds[0], "second_kind": kinds[1]})

    def check(self, block: Block, p: MatchParameters) -> None:
        """Raise an error if a game did not end within `MOST_MOVES` moves."""
        if (block.logs["moves_made"] >= MOST_MOVES).any():
            raise SocietiesError(f"a game has not ended after {MOST_MOVES} moves")

    def plan_rows(self, config: KalahMatchConfig, p: MatchParameters) -> list[tuple[str, str]]:
        """Return the board, the names of the players, and the boards in memory."""
        most = max((cut.bounds[-1] for cut in search.cuts(p.searches)), default=0)
        return [
            ("board", f"{p.pits} pits a side, {p.stones} stones a pit"),
            *super().plan_rows(config, p),
            ("boards in flight", f"at most {most:,} of the last level of a match"),
        ]


WORKLOAD = KalahMatch()
