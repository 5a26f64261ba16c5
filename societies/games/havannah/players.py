"""How does a device run playouts and hold the search trees of a player of Havannah?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reference_py.games.havannah.board import name_of
from reference_py.games.havannah.match import (
    FLAT_EACH,
    RANDOM,
    SWAP,
    TREES,
    UCT,
    Strength,
    choose,
    evaluates,
    leaf_parameters,
    tree_parameters,
)
from reference_py.games.havannah.playout import DRAW, RESULT, WON
from reference_py.primitives.rng import STREAM_GAP, Rng
from societies.games.havannah import WIDTH_ON_CPU, WORKLOAD, is_faster_offline
from societies.games.havannah.match_config import HavannahMatchConfig
from societies.games.havannah.position import SWAP as SWAP_NAME
from societies.games.havannah.position import HavannahGame
from societies.games.havannah.results import BEST
from societies.games.havannah.search import WORKLOAD as SEARCH
from societies.opencl import Device
from societies.workload.declare.phases import Step
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import DeviceEngine

COUNTED = 64
"""From this number of playouts per position on, the device counts results; fewer are copied."""

Evaluate = Callable[..., Sequence[tuple[bool, int, int]]]


class Leaves:
    """Runs random playouts of positions on a device.

    ``slots`` and ``each`` are the largest numbers of positions, and of playouts of each, at a time.
    The streams of the seed begin at ``stream_base``.
    """

    def __init__(self, device: Device, size: int, slots: int, each: int, stream_base: int) -> None:
        p = leaf_parameters(size, slots, each, stream_base)
        if is_faster_offline(device, size) and (device.kind != "cpu" or each >= WIDTH_ON_CPU):
            p = replace(p, winner="offline")
        self._p, self._slots, self._counts = p, slots, each >= COUNTED
        self._engine = DeviceEngine(WORKLOAD, p, device)
        self._none = np.zeros((1, slots), np.int64)

    def __call__(
        self,
        boards: Sequence[Iterable[int]],
        movers: Sequence[int],
        streams: Sequence[int],
        playouts: int,
    ) -> list[tuple[bool, int, int]]:
        """Return for each position whether the last move won, and the playouts won and drawn."""
        found: list[tuple[bool, int, int]] = []
        for first in range(0, len(boards), self._slots):
            now = slice(first, first + self._slots)
            found += self._some(boards[now], movers[now], streams[now], playouts)
        return found

    def _some(self, boards: Any, movers: Any, streams: Any, playouts: int) -> list[Any]:
        engine, count, cells = self._engine, len(boards), self._p.cells
        state = {
            "board": np.zeros((1, self._slots, cells), np.uint8),
            "next": np.ones((1, self._slots), np.uint8),
            "streams": np.zeros((1, self._slots), np.uint64),
        }
        stones = np.frombuffer(b"".join(map(bytes, boards)), np.uint8).reshape(count, cells)
        for name, given in zip(state, (stones, movers, streams), strict=True):
            state[name][0, :count] = given
        engine.put(state)
        engine.step(Step("begin"), 0)
        places = {"first_candidate": 0, "candidates_now": count, "skip": 0, "most": playouts}
        counts = self._counts and playouts == self._p.batch
        if counts:
            engine.put({"wins": self._none, "draws": self._none})
        engine.step(Step("play", "", places), 1)
        if counts:
            engine.step(Step("tally"), 1)
            back = engine.arrays("wins", "draws", "settled")
            won, drawn = (back[name][0, :count] for name in ("wins", "draws"))
        else:
            back = engine.arrays("outcomes", "settled")
            results = back["outcomes"][0, :count, :playouts] >> RESULT
            won, drawn = (results == WON).sum(axis=1), (results == DRAW).sum(axis=1)
        settled = back["settled"][0, :count] > 0
        return list(zip(settled.tolist(), won.tolist(), drawn.tolist(), strict=True))


class Trees:
    """Search trees of a player on a device, and playouts of positions outside the trees."""

    def __init__(self, device: Device, size: int, strength: Strength, stream_base: int) -> None:
        self._engine = DeviceEngine(SEARCH, tree_parameters(size, strength, stream_base), device)
        cells = 3 * size * (size - 1) + 1
        self._leaves = Leaves(device, size, cells, FLAT_EACH, stream_base)

    def __call__(self, *positions: Any) -> list[tuple[bool, int, int]]:
        """Run playouts of positions, as `Leaves` does."""
        return self._leaves(*positions)

    def plant(self, stones: Iterable[int], side: int, stream: int) -> None:
        """Begin new trees whose root is a position."""
        board = np.array([list(stones)], np.uint8)
        numbers = np.array([stream], np.uint64)
        self._engine.put({"board": board, "to_move": np.array([side], np.uint8), "stream": numbers})
        self._engine.step(Step("plant"), 0)

    def grow(self) -> tuple[list[int], list[int]]:
        """Play out some leaves of every tree; return the playouts and the proven result of each."""
        self._engine.step(Step("grow"), 1)
        found = self._engine.arrays("played", "solved")
        return found["played"][0].tolist(), found["solved"][0].tolist()

    def found(self) -> tuple[list[Any], ...]:
        """Return the playouts, points and proven result of each cell."""
        self._engine.step(Step("gather"), 1)
        names = ("playouts", "points", "certain")
        found = self._engine.arrays(*names)
        return tuple(found[name][0].tolist() for name in names)


def evaluator(device: Device | None, size: int, strength: Strength, stream_base: int) -> Evaluate:
    """Return the function or object that runs a player's playouts: on a device or in Python."""
    if strength.kind == RANDOM:
        return lambda *_: []
    if device is None:
        found: Evaluate = evaluates(size, strength, stream_base)
        return found
    if strength.kind == TREES:
        return Trees(device, size, strength, stream_base)
    cells = 3 * size * (size - 1) + 1
    return Leaves(device, size, max(strength.leaves, cells), strength.each, stream_base)


@dataclass(frozen=True)
class ChosenMove:
    """The chosen move, and statistics of the best moves.

    Attributes
    ----------
    move : the text of a cell, or swap
    best : (text, share of the playouts won, playouts) of up to five moves
    playouts : total number of playouts
    stream : number of the next stream
    """

    move: str
    best: tuple[tuple[str, float, int], ...]
    playouts: int
    stream: int


def chosen_move(
    game: HavannahGame, strength: Strength, evaluate: Evaluate, rng: Any, stream: int
) -> ChosenMove:
    """Return the move that a player chooses in a game that is not over."""
    swap = game.swap and len(game.moves) < 2
    move, search, after = choose(strength, game.stones, game.side, swap, evaluate, rng, stream)
    text = SWAP_NAME if move == SWAP else name_of(game.board, move)
    if search is None:
        return ChosenMove(text, (), 0, after)
    order = sorted(search.moves, key=lambda one: (one.cell != move, -one.visits, -one.rate))
    best = tuple((name_of(game.board, one.cell), one.rate, one.visits) for one in order[:BEST])
    return ChosenMove(text, best, int(search.visits), after)


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
