"""Is a game played by the rules, against the search, with every answer a player may type?"""

import pytest
from typed import typed_game

from reference_py.games.kalah import rules
from reference_py.games.kalah.descend import minimax
from reference_py.games.kalah.parameters import BOTTOM, TOP, Parameters
from societies import config_from_dict
from societies.errors import ConfigError
from societies.games.kalah import WORKLOAD
from societies.games.kalah.play import Match
from societies.workload import Setup

SMALL = {"workload": "kalah", "pits": 3, "stones": 3, "depth": 3}
P = Parameters(3, 3)


def played(answers="", *, device="reference", settings=SMALL, **options):
    """Return what is printed, and how the game ended."""
    config = config_from_dict(settings)
    return typed_game(WORKLOAD, config, answers.split(";"), width=40, device=device, **options)


@pytest.mark.parametrize("device", ["reference", "auto"])
def test_a_whole_game(device):
    """Both sides by the search: the end is what the moves found one after the other lead to."""
    match = Match(Setup(WORKLOAD, config_from_dict(SMALL)).on(device))
    board, side, moves = [3, 3, 3, 0] * 2, TOP, 0
    while not match.is_over:
        found, expected = match.hint(), minimax(P, board, side, 3)
        cell = rules.pits_of(P, side).start + found.pit - 1
        assert (cell, found.score) == (expected.pit, expected.score)
        board, side, _ = rules.play(P, board, side, cell)
        match.move(found.pit)
        assert (match.board, match.side) == (board, side)
        moves += 1
    assert moves > 4 and sum(match.totals) == 18 and match.pits == []
    while match.undo():
        moves -= 1
    assert moves == 0 and match.board == [3, 3, 3, 0] * 2


def test_moves_that_are_given():
    text, end = played(moves="1")
    assert "BOTTOM empties pit 1" in text and "TOP empties pit" in text
    assert end == "the moves are used up; BOTTOM is to move"
    assert max(map(len, text.splitlines())) <= 40


def test_a_game_to_its_end():
    board = {"board": [0, 0, 1, 8, 0, 0, 2, 7], "to_move": "bottom"}
    text, end = played(moves="3", settings={**SMALL, **board})
    assert end == "a tie: TOP 9, BOTTOM 9"
    assert "BOTTOM empties pit 3" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moves": "7"}, r"moves='7': pit 7 is not a move of BOTTOM \(moves: "),
        ({"moves": "1,x"}, "moves='1,x': pits, counted from 1"),
        ({"side": "left"}, "side='left': top or bottom"),
    ],
)
def test_what_is_no_move(options, message):
    with pytest.raises(ConfigError, match=message):
        played(**options)


def test_what_may_be_typed():
    text, end = played("hint;level 2;level 9;undo;what;4;1;undo;2;q", side="bottom")
    assert "worth" in text and "2 plies" in text
    assert "after 1 ply\n" in played("level 1;hint;q", side="bottom")[0]
    assert "level 9: 1 to 3 plies" in text
    assert "a pit, counted in the direction of" in text  # a word that is none
    assert "pit 4 is not a move of BOTTOM" in text
    assert end == "the game was left"


def test_the_end_of_the_input_leaves_the_game():
    assert played("")[1] == "the game was left"


def test_nothing_to_take_back():
    for first in ("top", "bottom"):  # the search has moved first, or no side has moved
        text, _ = played("undo;q", side="bottom", settings={**SMALL, "to_move": first})
        assert "there is nothing to take back" in text


def test_a_level_needs_a_number():
    assert ": 1 to 3 plies" in played("level;q", side="bottom")[0]


def test_a_board_of_any_size_fits_forty_columns():
    for pits in (1, 6, 8):
        config = config_from_dict({"workload": "kalah", "pits": pits, "stones": 12, "depth": 1})
        drawn = Match(Setup(WORKLOAD, config).on("reference")).drawn()
        assert max(map(len, drawn.splitlines())) <= 40


def test_kernels_are_built_once(device):
    match = Match(Setup(WORKLOAD, config_from_dict(SMALL)).on(device))
    first = match.hint()
    program = match._engine.program
    match.move(first.pit)
    assert match.hint().depth == 3 and match._engine.program is program
    assert match.side in (TOP, BOTTOM)
