"""Are moves of all games taken back and read from their texts in the same way?"""

import numpy as np
import pytest

from societies import load_config
from societies.errors import ConfigError
from societies.games.chess.game import ChessGame
from societies.games.connect6.config import Connect6PositionConfig
from societies.games.connect6.game import Connect6Game
from societies.games.havannah.position import HavannahGame
from societies.games.kalah import WORKLOAD
from societies.games.kalah.play import Match
from societies.workload import Setup


def kalah():
    return Match(Setup(WORKLOAD, load_config("games/kalah/quickstart")).on("reference"))


def connect6():
    return Connect6Game(Connect6PositionConfig(black="", white=""))


GAMES = {
    "chess": (ChessGame, lambda game: [game.text(move) for move in game.legal()]),
    "connect6": (connect6, lambda game: ["J10", "A1B2", "C3 D4", "E5F6", "S19S18"]),
    "havannah": (
        lambda: HavannahGame(4, True),
        lambda game: ["swap", "A1", "B2", "C3", "D4", "E5"],
    ),
    "kalah": (kalah, lambda game: [str(pit) for pit in game.pits]),
}
"""How a game begins, and texts of which some are moves."""


@pytest.mark.parametrize("name", GAMES)
def test_moves_are_taken_back_and_replayed(name):
    begin, words = GAMES[name]
    game, rng = begin(), np.random.default_rng(3)
    assert not game.undo() and not any(map(game.has_moved, (0, 1, 2)))
    seen, texts = [], []
    while len(texts) < 12 and not game.result:
        some, before = rng.permutation(words(game)), (game.side, game.drawn())
        for word in map(str, some):
            try:
                move = game.read(word)
            except ConfigError:
                continue
            texts.append(game.text(move))
            game.push(move)
            assert game.has_moved(before[0])
            seen.append(before)
            break
        else:
            break
    assert len(texts) >= 5 and len(game.moves) == len(texts)
    again = begin().replay(texts)
    assert (again.side, again.drawn(), again.moves) == (game.side, game.drawn(), game.moves)
    for before in reversed(seen):
        assert game.undo() and (game.side, game.drawn()) == before
    assert not game.undo() and not game.moves
    with pytest.raises(ConfigError, match=r"move 2: .*Z9"):
        begin().replay([texts[0], "Z9"])
