"""How does Havannah play against a person or another program, on a board of any size?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reference_py.games.havannah.match import RANDOM, UCT, Strength
from reference_py.primitives.rng import STREAM_GAP, Rng
from societies.games.havannah.players import ChosenMove, chosen_move, evaluator
from societies.games.havannah.position import HavannahGame
from societies.workload.running.devices import chosen_device

if TYPE_CHECKING:
    from societies.games.havannah.match_config import HavannahMatchConfig
    from societies.opencl import Device


class Opponent:
    """The first player of a configuration, and the game that it plays, of any size."""

    def __init__(self, config: HavannahMatchConfig, device: str | Device = "auto") -> None:
        self.device, _, _ = chosen_device(device)
        self.strength: Strength = config.players[0].strength()
        self._base = config.stream_base
        self._stream, self._rng = 0, Rng.seed(config.stream_base, STREAM_GAP, 1)
        self._evaluates: dict[Any, Any] = {}
        self.game = HavannahGame(config.size, config.swap)

    def resize(self, size: int) -> None:
        """Begin a game on a board of another size."""
        self.game = HavannahGame(size, self.game.swap)

    def choice(self, strength: Strength | None = None) -> ChosenMove:
        """Return the move that the player, or a player of another strength, chooses."""
        strength = strength or self.strength
        place = self.game.size, replace(strength, playouts=0, seconds=0.0)
        if place not in self._evaluates:
            made = evaluator(self.device, self.game.size, strength, self._base)
            self._evaluates[place] = made
        found = chosen_move(self.game, strength, self._evaluates[place], self._rng, self._stream)
        self._stream = found.stream
        return found

    def hint(self) -> ChosenMove:
        """Return the move that the opponent would choose; UCT's if the opponent is random."""
        random = self.strength.kind == RANDOM
        return self.choice(replace(self.strength, kind=UCT) if random else self.strength)
