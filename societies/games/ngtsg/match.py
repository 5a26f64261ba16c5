"""Matches between players who search game trees: what is declared of them.

The games are played on the host, by a game's own definition in ``reference_py/games``; moves are
searched on the device. This module knows no game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from reference_py.games.ngtsg import start
from societies.games.matches import MatchWorkload, played_on_host
from societies.workload import Field, Phase, Source, Step, phase

if TYPE_CHECKING:
    from societies.opencl import Device
    from societies.workload.declare.protocol import Contents


class SearchedMatch(MatchWorkload):
    """Two players and the games between them, of a game that a search plays.

    Attributes
    ----------
    rules : module with ``ENDS``, ``play_game`` and ``note`` of a game
    most_moves : of a game
    moves : what an entry of the recorded moves means
    """

    work = "node"
    counted_by, timed = "searched", True
    numpy = True
    rules: ClassVar[ModuleType]
    most_moves: ClassVar[int]
    moves: ClassVar[str]

    @property
    def ends(self) -> Sequence[str]:
        """How games may end, as the field `end` numbers them."""
        return tuple(self.rules.ENDS)

    def parameters(self, config: Any) -> Any:
        """Return the parameters of a match that the reference takes."""
        return config.parameters()

    def names(self, config: Any) -> Sequence[str]:
        """Return the names of the two players."""
        return [one.name() for one in config.players]

    def position(self, config: Any) -> dict[str, str]:
        """Return attributes of the file that say from which position games begin."""
        raise NotImplementedError

    def choice(self, p: Any, player: Any, device: Device | None) -> Any:
        """Return who chooses the moves of a player, on a device or in plain Python."""
        raise NotImplementedError

    def sizes(self, p: Any) -> dict[str, int]:
        """Return the most moves of a game, and players."""
        return {"move": self.most_moves, "player": 2}

    def fields(self, p: Any) -> Mapping[str, Field]:
        """Return the fields that are recorded for a game."""
        ends = ", ".join(f"{i} {end}" for i, end in enumerate(self.ends))
        moves = f"{self.moves}, -1 after the end"
        return {
            "number": Field((), "uint32", "index", "number of the match", checkpointed=False),
            **self.record_fields("1", self.moves),
            "moves": Field(("move",), "int16", "1", moves, initial=-1, logged=True),
            "end": Field((), "uint8", "1", f"how the game ended: {ends}", logged=True),
            "searched": Field(("player",), "int64", "nodes", "nodes visited", logged=True),
        }

    def _game(self, p: Any) -> Callable[[Any, int, Device | None], None]:
        """Return what plays and records the game of a match; players are made for the first one."""
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

    def schedule(self, p: Any, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a game."""
        if tick:
            yield Step("start")
            yield Step("game")

    def source(self, p: Any) -> Source:
        """Return the macro of the only kernel."""
        return Source({"MOST_MOVES": self.most_moves})

    def reference(self, p: Any) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase; searches are those of the reference, too."""
        game = self._game(p)
        return {"start": start.start, "game": lambda p, copy, tick: game(copy, tick, None)}

    def contents(self, config: Any) -> Contents:
        """Return what the file holds: the games, and who played from which position."""
        from societies.games.ngtsg.match_contents import MatchContents

        return MatchContents(self, config)

    def plan_rows(self, config: Any, p: Any) -> list[tuple[str, str]]:
        """Return the names of the players."""
        first, second = self.names(config)
        return [("players", f"{first} against {second}")]
