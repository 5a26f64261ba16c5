"""What do the workloads that play matches between node-by-node searches declare?

The host plays the games by a game's own definition in ``reference_py/games``; the device searches
for moves. This module is independent of any game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from reference_py.copies import Copy
from reference_py.games.ngtsg import start
from societies.games.matches import HostedMatch
from societies.games.ngtsg.players import SEARCH
from societies.workload import Field

if TYPE_CHECKING:
    from societies.opencl import Device


class SearchedMatch(HostedMatch):
    """Base of the workloads for matches between two players that search game trees.

    Attributes
    ----------
    rules : module with ``play_game`` and ``note`` of a game
    most_moves : largest number of moves of a game
    """

    work = "node"
    counted_by = "searched"
    numpy = True
    start_file = "games/ngtsg/start.cl"
    contents_class = "societies.games.ngtsg.results:MatchContents"
    rules: ClassVar[ModuleType]
    most_moves: ClassVar[int]

    def position(self, config: Any) -> dict[str, str]:
        """Return attributes of the file that give the first position of games."""
        raise NotImplementedError

    def choice(self, p: Any, player: Any, device: Device | None) -> Any:
        """Return the function that chooses a player's moves, on a device or in plain Python."""
        if player.kind != SEARCH:
            return None
        from societies.games.ngtsg.searcher import player_keys

        return self.searching(player, player_keys(player, p.leaves, p.branches), device)

    def searching(self, player: Any, keys: Mapping[str, Any], device: Device | None) -> Any:
        """Return that function of a player that searches; ``keys`` are of its configuration."""
        raise NotImplementedError

    def sizes(self, p: Any) -> dict[str, int]:
        """Return the numbers of moves of a game (at most) and of players."""
        return {"move": self.most_moves, "player": 2}

    def fields(self, p: Any) -> Mapping[str, Field]:
        """Return the fields that are recorded for a game."""
        ends = ", ".join(f"{i} {end}" for i, end in enumerate(self.ends))
        return {
            **super().fields(p),
            "end": Field((), "uint8", "1", f"how the game ended: {ends}", logged=True),
            "searched": Field(("player",), "int64", "nodes", "nodes visited", logged=True),
        }

    def players(self, p: Any, device: Device | None) -> list[Any]:
        """Return the functions that choose the moves of the players."""
        return [self.choice(p, player, device) for player in p.players]

    def play_game(self, p: Any, copy: Copy, tick: int, players: Sequence[Any]) -> None:
        """Play and record a game."""
        self.rules.note(copy, *self.rules.play_game(p, copy.index, tick, players))

    def reference(self, p: Any) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase; players search in plain Python, too."""
        game = self.game(p)
        return {"start": start.start, "game": lambda p, copy, tick: game(copy, tick, None)}
