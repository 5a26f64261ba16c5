"""What does the workload that plays matches of Connect6 declare?

The host plays the games by the definition in ``reference_py/games/connect6/match.py``; the device
searches for turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from reference_py.games.connect6 import match as rules
from reference_py.games.connect6.geometry import POINTS
from reference_py.games.connect6.match import MatchParameters, Player
from societies.games.connect6.match_config import Connect6MatchConfig
from societies.games.matches import played_games
from societies.games.ngtsg.match import SearchedMatch
from societies.opencl import Device
from societies.workload import Field, Setup
from societies.workload.drawing.figure import require_copy


def write_turns(results: Any, path: Path, *, match: int = 0) -> None:
    """Write the games of a match, a line each: number, Black, White, who won, the turns.

    Parameters
    ----------
    match : int
        Which match of the file, from 0.
    """
    from societies.games.connect6.config import Connect6PositionConfig

    require_copy(results, match)
    facts = {name: str(text) for name, text in results.attrs.items()}
    names = facts["first_player"], facts["second_player"]
    begins: Any = facts["begins"]
    root = Connect6PositionConfig(black=facts["black"], white=facts["white"], to_move=begins).root()
    lines = []
    for record in played_games(results, match):
        black = record.beginner if facts["begins"] == "black" else 1 - record.beginner
        won = record.margin if black == 0 else -record.margin
        said = {1: "Black wins", 0: "draw", -1: "White wins"}[won]
        turns = " ".join(rules.turns_of(root, record.moves))
        lines.append(f"{record.game}\t{names[black]}\t{names[1 - black]}\t{said}\t{turns}\n")
    path.write_text("".join(lines), encoding="utf-8")


class Connect6Match(SearchedMatch):
    """Two players and the games between them."""

    name = "connect6_match"
    summary = "matches of Connect6 between two players"
    config = Connect6MatchConfig
    rules: ClassVar[ModuleType] = rules
    ends = rules.ENDS
    most_moves, time_for = POINTS, "turn"
    moves = "points of the stones in their order, 19 * row + column"
    export: ClassVar[Mapping[str, Callable[..., object]]] = {"turns": write_turns}

    def position(self, config: Connect6MatchConfig) -> dict[str, str]:
        """Return the position at which games begin, and the side to move."""
        begins = config.position().turn()
        return {"black": config.black, "white": config.white, "begins": begins}

    def fields(self, p: MatchParameters) -> Mapping[str, Field]:
        """Return the fields that are recorded for a game; its moves are single stones."""
        made = Field((), "int32", "stones", "stones of the game", logged=True)
        return {**super().fields(p), "moves_made": made}

    def searching(self, player: Player, keys: Mapping[str, Any], device: Device | None) -> Any:
        """Return the function that chooses a player's turns by the search."""
        from societies.games.connect6 import WORKLOAD as CONNECT6
        from societies.games.connect6.config import Connect6Config
        from societies.games.connect6.searcher import Connect6Searcher

        config = Connect6Config(width=player.width, prover=player.prover, **keys)
        searcher = Connect6Searcher(Setup(CONNECT6, config, device))

        def found(position: Any) -> tuple[int, int]:
            one = searcher.find(position, player.depth, player.seconds)
            return one.turn, one.nodes

        return found


WORKLOAD = Connect6Match()
