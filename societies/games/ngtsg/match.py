"""What do the workloads that play matches between node-by-node searches declare?

The host plays the games by a game's own definition in ``reference_py/games``; the device searches
for moves. This module is independent of any game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from reference_py.games.ngtsg import start
from societies.games.matches import MatchWorkload, played_on_host
from societies.games.ngtsg.players import SEARCH
from societies.workload import Field, Phase, Source, phase

if TYPE_CHECKING:
    from societies.opencl import Device


class SearchedMatch(MatchWorkload):
    """Base of the workloads for matches between two players that search game trees.

    Attributes
    ----------
    rules : module with ``play_game`` and ``note`` of a game
    most_moves : largest number of moves of a game
    moves : meaning of an entry of the recorded moves
    """

    work = "node"
    counted_by, timed = "searched", True
    numpy = True
    contents_class = "societies.games.ngtsg.results:MatchContents"
    rules: ClassVar[ModuleType]
    most_moves: ClassVar[int]
    moves: ClassVar[str]

    def names(self, config: Any) -> Sequence[str]:
        """Return the names of the two players."""
        return [one.name() for one in config.players]

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
        moves = f"{self.moves}, -1 after the end"
        return {
            "number": Field((), "uint32", "index", "number of the match", checkpointed=False),
            **self.record_fields("1", self.moves),
            "moves": Field(("move",), "int16", "1", moves, initial=-1, none=-1, logged=True),
            "end": Field((), "uint8", "1", f"how the game ended: {ends}", logged=True),
            "searched": Field(("player",), "int64", "nodes", "nodes visited", logged=True),
        }

    def _game(self, p: Any) -> Callable[[Any, int, Device | None], None]:
        """Return the function that plays and records a game; its first call makes the players."""
        choices: list[Any] = []

        def game(copy: Any, tick: int, device: Device | None) -> None:
            if not choices:
                choices.extend(self.choice(p, player, device) for player in p.players)
            self.rules.note(copy, *self.rules.play_game(p, copy.index, tick, choices))

        return game

    def phases(self, p: Any, copies: int) -> Mapping[str, Phase]:
        """Return the kernel that begins a game, and the host function that plays it."""
        return {
            "start": phase("games/ngtsg/start.cl", global_size=copies),
            "game": played_on_host(self.fields(p), self._game(p)),
        }

    def source(self, p: Any) -> Source:
        """Return the macro of the only kernel."""
        return Source({"MOST_MOVES": self.most_moves})

    def reference(self, p: Any) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase; players search in plain Python, too."""
        game = self._game(p)
        return {"start": start.start, "game": lambda p, copy, tick: game(copy, tick, None)}

    def plan_rows(self, config: Any, p: Any) -> list[tuple[str, str]]:
        """Return the names of the players."""
        first, second = self.names(config)
        return [("players", f"{first} against {second}")]
