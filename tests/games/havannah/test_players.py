"""Do players find what there is to find, play by the rules, and answer other programs?"""

import io
import random
import subprocess
import sys

import pytest
from havannah_oracles import whole
from typed import typed_game

from reference_py.games.havannah.board import board_of, name_of
from reference_py.games.havannah.match import Strength, leaf_parameters
from reference_py.games.havannah.parameters import EMPTY, WHITE
from reference_py.games.havannah.search import LOSS, OPEN, WIN, Search, TreeSearch, evaluation
from reference_py.primitives.rng import Rng
from societies import config_from_dict, open_results, run
from societies.errors import ConfigError
from societies.games.havannah.gtp import GtpEngine, serve
from societies.games.havannah.match import WORKLOAD
from societies.games.havannah.players import COUNTED, chosen_move, evaluator
from societies.games.havannah.position import HavannahGame, game_of
from societies.games.matches import played_games

KINDS = ("trees", "uct", "flat", "random")
WEAK = {"kind": "uct", "playouts": 32, "each": 4, "leaves": 4}
SMALL = {"workload": "havannah_match", "size": 3, "players": [WEAK, {"kind": "random"}]}


def choice(game, *, kind="uct", device=None, playouts=400, each=4, **more):
    strength = Strength(kind, playouts, each=each, leaves=8, nodes=256, **more)
    evaluate = evaluator(device, game.size, strength, 5)
    return chosen_move(game, strength, evaluate, Rng.seed(5, 1024, 7), 100)


@pytest.mark.parametrize("kind", ["trees", "uct", "flat"])
def test_a_win_in_one_is_taken(kind):
    assert choice(game_of(4, False, "A1 D4 A2 D3 A3 E4"), kind=kind).move == "A4"


def test_the_only_reply_is_found():
    """Black has to stop a bridge: all other replies lose."""
    found = choice(game_of(4, False, "A1 D4 A2 D3 A3"), playouts=2000, each=1)
    assert found.move == "A4"


@pytest.mark.parametrize("kind", KINDS)
def test_a_choice_is_the_same_on_a_device_and_in_python(device, kind):
    game = game_of(4, False, "D4 C3")
    assert choice(game, kind=kind) == choice(game, kind=kind, device=device)


def test_trees_say_how_much_was_played_and_where_streams_continue(device):
    """Numbers of a choice: playouts add up, the next move has other streams, RAVE another tree."""
    game = game_of(4, False, "D4 C3")
    plain = choice(game, kind="trees", device=device, playouts=500, each=2)
    rated = choice(game, kind="trees", device=device, playouts=500, each=2, rave=200.0)
    assert plain.playouts == rated.playouts == 512  # two trees, eight leaves of two at a time
    assert plain.stream == 100 + 512 and plain.best != rated.best
    assert rated == choice(game, kind="trees", playouts=500, each=2, rave=200.0)


@pytest.mark.parametrize("rave", [0.0, 50.0])
def test_trees_solve_positions_with_few_cells(device, rave):
    """What trees say for certain is what looking at every line says; nodes suffice for all."""
    generator, solved, board = random.Random(5), 0, board_of(3)
    strength = Strength("trees", each=1, leaves=64, trees=2, nodes=3000, rave=rave)
    keeper = evaluator(device, 3, strength, 1)
    while solved < 5:
        game = HavannahGame(3)
        while len(game.empty) > 6 and not game.is_over:
            game.play(name_of(board, generator.choice(game.empty)))
        if game.is_over:
            continue
        search = TreeSearch(game.stones, game.side, keeper, 0)
        for _ in range(400):
            if search.known != OPEN:
                break
            search.grow()
        assert search.known != OPEN and search.is_solved
        assert -search.known == value(list(game.moves))
        if search.known == LOSS:  # who is to move wins: the move that does is chosen
            assert value([*game.moves, name_of(board, search.best().cell)]) == LOSS
        solved += 1


def test_a_tree_that_is_full_continues_with_the_leaves_that_it_has(device):
    for where in (None, device):
        keeper = evaluator(where, 4, Strength("trees", each=1, leaves=200, nodes=3), 1)
        search = TreeSearch([EMPTY] * 37, WHITE, keeper, 0)
        search.grow()
        search.grow()
        assert search.visits == 800 and sum(move.visits for move in search.moves) == 800


def test_many_playouts_of_a_leaf_are_counted_on_the_device(device):
    """More than a few are not copied back one by one: the same counts, from batch to batch."""
    few, many = (evaluator(device, 4, Strength(each=n, leaves=2), 1) for n in (COUNTED - 1, 128))
    boards = [
        game_of(4, False, moves).stones for moves in ("D4", "D4 A1 D3", "A1 D4 A2 D3 A3 E4 A4")
    ]
    for streams in ([0, 500, 1000], [2000, 2500, 3000]):
        found = many(boards, [2, 2, 2], streams, 128)
        parts = [few(boards, [2, 2, 2], [s + k for s in streams], 32) for k in range(0, 128, 32)]
        for i in range(3):
            expected = (parts[0][i][0], *(sum(part[i][j] for part in parts) for j in (1, 2)))
            assert found[i] == expected


def test_small_boards_are_solved_from_positions_with_few_cells(device):
    """What a search says for certain is what looking at every line says.

    Batches have more leaves than the positions have moves, so leaves are chosen several times
    before it is known that the game ends with them.
    """
    generator, solved = random.Random(3), 0
    board = board_of(3)
    for _ in range(12):
        game = HavannahGame(3)
        while len(game.empty) > 6 and not game.is_over:
            game.play(name_of(board, generator.choice(game.empty)))
        if game.is_over:
            continue
        search = Search(game.stones, game.side, evaluator_of(3, device), 0, 1, 64, 0.7)
        for _ in range(400):
            if search.known != OPEN:
                break
            search.grow()
        assert search.known != OPEN
        solved += 1
        # the root's own value is seen by who moved to it
        assert -search.known == value(list(game.moves))
    assert solved > 4


def evaluator_of(size, device):
    return evaluator(device, size, Strength(each=1, leaves=64), 1)


def value(moves):
    """Return 1, 0 or -1: what a position is worth to who is to move, by looking at every line."""
    game = game_of(3, False, " ".join(moves))
    if game.reasons:
        return LOSS
    if game.is_over:
        return 0
    return max(-value([*moves, name_of(game.board, cell)]) for cell in game.empty)


def test_black_swaps_a_strong_opening_and_not_a_weak_one(device):
    """Of size 3 the corners win and all else loses."""
    known = whole("havannah-solved-3.json")["value"]
    board = board_of(3)
    for cell, expected in ((0, "swap"), (4, None)):
        assert known[cell] == (1 if expected else -1)
        game = game_of(3, True, name_of(board, cell))
        found = choice(game, device=device, playouts=6000, each=8)
        assert (found.move == "swap") == (expected == "swap")


def test_evaluation_of_a_won_position_draws_nothing():
    p = leaf_parameters(3, 1, 5, 1)
    stones = [EMPTY] * 19
    for cell in (0, 1, 2):
        stones[cell] = WHITE
    assert evaluation(p)([stones], [2], [0], 5) == [(True, 5, 0)]
    assert WIN == 1


def test_games_of_a_match_are_games(tmp_path):
    path = tmp_path / "match.h5"
    players = [{**WEAK, "playouts": 20}, {"kind": "random"}]
    report = run(
        config_from_dict({**SMALL, "games": 4, "opening": 1, "players": players}), out=path
    )
    assert dict(report.rows)["games"] == "4, each player began half"
    with open_results(path) as results:
        games = list(played_games(results))
    board = board_of(3)
    for one in games:
        texts = ["swap" if move == -2 else name_of(board, move) for move in one.moves]
        game = game_of(3, True, " ".join(texts))
        assert game.is_over
        winner = 0 if not game.reasons else (1 if game.side == 2 else -1)  # 1: White
        assert one.margin == (winner if one.beginner == 0 else -winner)
    assert games[0].moves[0] == games[1].moves[0]


def played(answers="", settings=SMALL, **options):
    """Return what is printed, and how the game ended."""
    config = config_from_dict(settings)
    return typed_game(WORKLOAD, config, answers.split(";"), device="reference", **options)


def test_play():
    text, end = played("?;hint;Z9;a1;undo;a1;a1;q")
    assert "a cell such as D4" in text and "no cell of a board of size 3" in text
    assert "Black plays" in text and "% of" in text and end == "the game was left"
    assert "has a stone on it" in text
    assert played("")[1] == "the game was left"
    text, end = played(moves="B2", side="black")
    assert text.index("White plays") < text.index("Black plays")
    assert end == "the moves are used up; Black is to move"
    assert "there is nothing to take back" in played("undo;q")[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moves": "A9"}, "moves='A9': A9: no cell"),
        ({"side": "left"}, "side='left': white or black"),
        ({"protocol": "uci"}, "protocol='uci': gtp"),
    ],
)
def test_what_play_refuses(options, message):
    with pytest.raises(ConfigError, match=message):
        played(**options)


def test_trees_play_a_match_with_swap(tmp_path):
    """The opening is rated move by move, as other players do, and the games are games."""
    tree = {"kind": "trees", "playouts": 60, "leaves": 15, "nodes": 200, "rave": 100.0}
    settings = {**SMALL, "games": 2, "players": [tree, {"kind": "random"}]}
    config = config_from_dict(settings)
    assert "UCT in 2 trees with RAVE, 60 playouts a move" in WORKLOAD.names(config)[0]
    report = run(config, out=tmp_path / "match.h5")
    again = run(config, out=tmp_path / "reference.h5", device="reference")
    assert dict(report.rows)["state sha256"] == dict(again.rows)["state sha256"]


def gtp(lines, settings=SMALL):
    out = io.StringIO()
    serve(config_from_dict(settings), "reference", lines=lines, out=out)
    return out.getvalue()


def test_gtp():
    """Numbers come back, an answer ends with an empty line, and nothing is answered after quit."""
    lines = ["1 protocol_version", "name # ours", "", "# nothing", "boardsize 4", "clear_board"]
    lines += ["play w D4", "7 swap", "play white A1", "undo", "genmove w", "showboard", "play b Z1"]
    lines += ["play w", "time_settings 0 1 1", "time_settings x", "boardsize 99", "nonsense"]
    text = gtp([*lines, "quit", "name"])
    answers = text.split("\n\n")
    assert answers[0] == "=1 2" and answers[1] == "= Societies Havannah"
    assert answers[2:5] == ["=", "=", "="] and answers[5] == "=7"
    assert answers[6:8] == ["=", "="] and answers[8].startswith("= ")
    assert answers[9].startswith("= \nA") and "Black to move" in answers[9]
    assert answers[10].startswith("? Z1: no cell") and answers[11].startswith("? syntax error")
    assert answers[12] == "=" and answers[13].startswith("? syntax error")
    assert answers[14] == "? unacceptable size" and answers[15] == "? unknown command"
    assert answers[16:] == ["=", ""]


def test_two_hundred_commands_of_any_kind():
    """Every one is answered, malformed ones by an error, and none ends the server."""
    generator = random.Random(1)
    words = ["play", "genmove", "undo", "swap", "showboard", "boardsize", "clear_board", "w", "b"]
    words += ["A1", "C3", "3", "99999999999999999999", "-1", "nan", "known_command", "\x00", "ä"]
    words += ["time_settings", "list_commands", "version", "B2", "black", "a" * 2000, "pass"]
    lines = [" ".join(generator.choices(words, k=generator.randrange(1, 4))) for _ in range(200)]
    settings = {**SMALL, "players": [{"kind": "random"}] * 2}
    out, answered = io.StringIO(), 0
    server = GtpEngine(config_from_dict(settings), "reference")
    for line in lines:
        text = server.answer(line)
        answered += bool(text)
        assert not text or (text[0] in "=?" and text.endswith("\n\n"))
    serve(config_from_dict(settings), "reference", lines=[*lines, "9 quit"], out=out)
    assert out.getvalue().endswith("=9\n\n") and answered > 190


def test_nothing_follows_the_last_answer():
    """A program that reads answers is not sent an empty line beyond them."""
    settings = ["--set", "players=[{kind: random}, {kind: random}]", "--protocol", "gtp"]
    command = [sys.executable, "-m", "societies", "play", "games/havannah/play", *settings]
    for asked, answered in ((b"boardsize 4\nquit\n", b"=\n\n=\n\n"), (b"", b"")):
        done = subprocess.run(command, input=asked, capture_output=True)
        assert (done.stdout, done.returncode) == (answered, 0)


@pytest.mark.thorough
def test_a_game_between_two_processes():
    """Each is handed the other's moves, and both agree on the end."""
    settings = ["--set", "size=4", "--set", "players=[{kind: random}, {kind: random}]"]
    command = [sys.executable, "-m", "societies", "play", "games/havannah/play", *settings]
    more = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    pair = [
        subprocess.Popen([*command, "--protocol", "gtp", "--set", f"seed={seed}"], **more)
        for seed in (1, 2)
    ]

    def asked(one, line):
        one.stdin.write(f"{line}\n")
        one.stdin.flush()
        answer = []
        while (text := one.stdout.readline()) != "\n":
            assert text
            answer.append(text)
        return "".join(answer)[1:].strip()

    moves = 0
    while " has won by " not in (end := asked(pair[0], "showboard")) and "draw" not in end:
        colour = "wb"[moves % 2]
        move = asked(pair[moves % 2], f"genmove {colour}")
        played = "swap" if move == "swap" else f"play {colour} {move}"
        assert asked(pair[1 - moves % 2], played) == ""
        moves += 1
    assert moves > 5 and asked(pair[1], "showboard") == end
    assert asked(pair[1], "genmove w").startswith("the game is over")
    for one in pair:
        assert asked(one, "quit") == ""
        one.stdin.close()
        assert one.wait(60) == 0
        one.stdout.close()


def test_a_time_for_moves_cannot_be_repeated():
    config = config_from_dict(
        {"workload": "havannah_match", "players": [{"kind": "random"}, {"seconds": 0.1}]}
    )
    why = WORKLOAD.not_repeatable(config)
    assert why.startswith("players.1.seconds is a time for each move, and how many playouts")
