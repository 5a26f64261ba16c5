"""Is a game played, drawn and saved by the rules, and is every wrong answer reported?"""

import io
import random
import sys
import threading

import chess
import chess.engine
import chess.pgn
import pytest
from random_boards import boards
from typed import typed_game

from reference_py.games.chess.fen import write_fen
from reference_py.games.chess.match import can_mate
from reference_py.games.chess.search import MATE
from societies import config_from_dict
from societies.errors import ConfigError
from societies.games.chess import WORKLOAD
from societies.games.chess.game import ChessGame, pgn
from societies.games.chess.searcher import ChessSearcher, FoundMove
from societies.games.chess.uci import Uci
from societies.workload import Setup

SMALL = {"workload": "chess", "depth": 1, "batch": {"leaves": 64, "branches": 8}}
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"

ENDINGS = (
    "k7/p1p1p1p1/P1P1P1P1/8/8/p1p1p1p1/P1P1P1P1/K7 w - - 0 1",
    "8/8/8/3k4/3P4/3K4/8/8 w - - 0 1",
    "7k/5q2/8/8/8/8/8/R5K1 w - - 92 80",
)


def played(answers="", settings=SMALL, **options):
    """Return what is printed, and how the game ended; the search is the reference."""
    config = config_from_dict(settings)
    return typed_game(WORKLOAD, config, answers.split(";"), device="reference", **options)


def ended(*lines):
    """Return the answers to some lines of the protocol, which must not continue for ever."""
    answers = []
    thread = threading.Thread(target=lambda: answers.extend(spoken(*lines)), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    return answers


def spoken(*lines, settings=SMALL, device="reference"):
    """Return the answers to some lines of the protocol."""
    out = io.StringIO()
    Uci(
        Setup(WORKLOAD, config_from_dict(settings)), device, io.StringIO("\n".join(lines)), out
    ).run()
    return out.getvalue().splitlines()


def test_random_games_are_those_of_python_chess():
    """Moves as they are written in a score, draws and ends, clocks, and the saved game."""
    generator, ends = random.Random(8), set()
    for fen in (chess.STARTING_FEN, *ENDINGS) * 3:
        game, board = ChessGame(fen), chess.Board(fen)
        while game.score()[0] == "*" and len(game.moves) < 150:
            move = generator.choice(game.legal())
            made = chess.Move.from_uci(move.name(game.side))
            assert game.san(move) == board.san(made)
            if len(game.moves) % 20 == 0:
                assert game.read(game.san(move)) == game.read(made.uci()) == move
            game.push(move)
            board.push(made)
            assert write_fen(game.board).split()[4:] == board.fen().split()[4:]
            over = board.is_checkmate() or board.is_stalemate() or board.is_fifty_moves()
            over = over or board.is_repetition(3) or board.is_insufficient_material()
            assert (game.score()[0] != "*") == over, game.score()
        ends.add(game.score()[1])
        result = game.score()[0]
        text = pgn(game, [("White", "one")], result)
        read = chess.pgn.read_game(io.StringIO(text))
        assert [m.uci() for m in read.mainline_moves()] == [m.uci() for m in board.move_stack]
        assert read.headers["White"] == "one" and read.headers["Result"] == result
    assert len(ends - {""}) > 3, ends


def test_what_cannot_mate():
    for fen, expected in {
        "4k3/8/8/8/8/8/8/4K3": False,
        "4k3/8/8/8/8/8/8/4KN2": False,
        "4k3/8/8/8/8/8/8/4KB2": False,
        "4k3/8/8/8/8/8/8/3NKN2": True,
        "2b1k3/8/8/8/8/8/8/4KB2": False,
        "3bk3/8/8/8/8/8/8/4KB2": True,
        "4k3/8/8/8/8/8/P7/4K3": True,
    }.items():
        assert can_mate(ChessGame(f"{fen} w - - 0 1").board) == expected
        assert chess.Board(f"{fen} w - - 0 1").is_insufficient_material() == (not expected)


def test_quotes_in_tags():
    assert pgn(ChessGame(), [("White", 'a "b"')], "*").startswith('[White "a \\"b\\""]')


def test_a_game_from_another_position_is_saved_with_it():
    given, _ = boards(30, 9)
    for board in given:
        game = ChessGame(board.fen())
        game.push(game.legal()[0]) if game.legal() else None
        read = chess.pgn.read_game(io.StringIO(pgn(game, [], "*")))
        assert read.errors == [] and len([*read.mainline_moves()]) == len(game.moves)


def test_moves_that_are_given(tmp_path):
    text, end = played(moves="e4,Nf3", save=tmp_path / "game.pgn")
    assert "White: e4" in text and "Black: " in text
    assert end.startswith("the moves are used up; White is to move; written to")
    read = chess.pgn.read_game(io.StringIO((tmp_path / "game.pgn").read_text()))
    assert len([*read.mainline_moves()]) == 4 and read.headers["White"] == "player"


def test_a_game_to_its_end():
    text, end = played("Ra8#", {**SMALL, "fen": MATE_IN_ONE})
    assert end == "1-0: checkmate" and "8  R . . . . . k ." in text


def test_everything_that_may_be_typed():
    text, end = played("x;e2e5;?;m;h;l 99;l 2;u;e2e4;u;d4;q")
    assert "x is not a legal move of White" in text and "e2e5 is not a legal move" in text
    assert "level 99: 1 to 32 plies" in text and "there is nothing to take back" in text
    assert "after 1 ply\n" in text and "a3 a4 b3 b4" in text and "2 plies" in text
    assert end == "the game was left"
    assert played("")[1] == "the game was left"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"side": "red"}, "white or black"),
        ({"moves": "e2e5"}, "e2e5 is not a legal move of White"),
        ({"seconds": "-1"}, r"seconds='-1': 0\.001 to 3600 seconds a move"),
        ({"seconds": "0"}, r"seconds='0': 0\.001 to 3600 seconds a move"),
        ({"seconds": "3601"}, r"seconds='3601': 0\.001 to 3600 seconds a move"),
        ({"seconds": "nan"}, r"seconds='nan': 0\.001 to 3600 seconds a move"),
        ({"seconds": "x"}, r"seconds='x': 0\.001 to 3600 seconds a move"),
        ({"protocol": "xboard"}, "uci"),
    ],
)
def test_wrong_options(options, said):
    with pytest.raises(ConfigError, match=said):
        played(**options)


def moves_of(path):
    with path.open() as file:
        game = chess.pgn.read_game(file)
    return game.board().fen(), [move.uci() for move in game.mainline_moves()]


@pytest.mark.parametrize(
    ("fen", "moves", "end"),
    [
        ("start", "e4,Nf3", "the moves are used up; White is to move"),
        (MATE_IN_ONE, "Ra8", "1-0: checkmate"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 9", "a8=Q,Kd1", "the moves are used up; White is to move"),
    ],
)
def test_a_saved_game_is_replayed(fen, moves, end, tmp_path):
    """The moves of both sides, from the position of the file, and not from the configuration's."""
    first, second = tmp_path / "first.pgn", tmp_path / "second.pgn"
    played(settings={**SMALL, "fen": fen}, moves=moves, save=first)
    said = played(moves=str(first), side="black", save=second)[1]
    assert said == f"{end}; written to {second}"
    assert moves_of(first) == moves_of(second) and moves_of(first)[1]


def test_a_game_with_remarks_of_others_is_replayed(tmp_path):
    game = chess.pgn.read_game(io.StringIO("1. e4 {[%clk 1] good} 1... e5 $1 ; well\n2. Bc4 a6 *"))
    (tmp_path / "game.pgn").write_text(f"{game}\n% no move\n")
    shown, end = played(moves=str(tmp_path / "game.pgn"))
    assert end == "the moves are used up; White is to move"
    assert [line for line in shown.splitlines() if line[:7] in ("White: ", "Black: ")] == [
        *("White: e4", "Black: e5", "White: Bc4", "Black: a6")
    ]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_position_of_a_file_of_others_is_read(mark, tmp_path):
    """Behind a byte order mark, or after two blanks, it was left out without a word."""
    text = mark + f'[FEN  "{MATE_IN_ONE}"]\r\n\r\n1. Ra8# (1. Ra7 (1. Ra6) Kf8) 1-0\r\n'.encode()
    (tmp_path / "game.pgn").write_bytes(text)
    assert played(moves=str(tmp_path / "game.pgn"))[1] == "1-0: checkmate"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"1. e4 e5 2. e4 *", "e4 is not a legal move of White"),
        (b'[FEN "8/8 w - - 0 1"]\n\n1. e4 *', "moves='.*game.pgn': "),
        (f'[FEN "{MATE_IN_ONE}"]\n\n1. Ra8# Kf8'.encode(), "the game is over before Kf8"),
        (b"\0\1", "is not text"),
        (b"1. e4 * d4", "several games"),
        (b'[Event "a"]\n\n1. e4 *\n\n[Event "b"]\n\n1. d4 *', "several games"),
        (b"1. e4 (1. d4 d5", "parentheses that do not match"),
        (b'[Variant "Atomic"]\n\n1. e4 *', "a game of Atomic: only chess"),
        (None, "No such file"),
    ],
)
def test_a_file_that_cannot_be_replayed(text, said, tmp_path):
    at = tmp_path / "game.pgn"
    if text is not None:
        at.write_bytes(text)
    with pytest.raises(ConfigError, match=said):
        played(moves=str(at))


def test_a_file_is_not_overwritten(tmp_path):
    (tmp_path / "game.pgn").write_text("x")
    with pytest.raises(ConfigError, match="the file exists"):
        played(moves="e4", save=tmp_path / "game.pgn")


def test_a_game_that_could_not_be_saved_does_not_begin(tmp_path):
    """The file is written when the game is over: then it would be lost."""
    with pytest.raises(ConfigError, match="there is no folder"):
        played(moves="e4", save=tmp_path / "nowhere" / "game.pgn")


def test_the_protocol():
    answers = spoken(
        *("uci", "isready", "ucinewgame", "position startpos moves e2e4", "go depth 2", "d"),
        *("setoption name Batch value 32", "go movetime 1", "go perft 1"),
    )
    assert "uciok" in answers and "readyok" in answers
    best = [line for line in answers if line.startswith("bestmove")]
    assert len(best) == 2 and all(chess.Move.from_uci(line.split()[1]) for line in best)
    assert any(line.startswith("info depth 2 score cp ") for line in answers)
    assert "e7e5: 1" in answers and "Nodes searched: 20" in answers


def test_nonsense_is_answered_and_survived():
    answers = spoken(
        *("foo", "position", "position fen x", "position startpos moves e2e5 d2d4"),
        *(
            "setoption name Batch value many",
            "go depth x",
            "stop",
            "",
            f"position fen {MATE_IN_ONE}",
        ),
        *("go mate 1", "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go depth 3"),
    )
    said = [line for line in answers if line.startswith("info string")]
    assert "unknown command: foo" in said[0] and "startpos or fen" in said[1]
    assert "6 fields" not in said[2] and "1 fields" in said[2] and "e2e5 is not a legal" in said[3]
    assert "no such option" in said[4]
    assert "bestmove a1a8" in answers and any("score mate 1" in line for line in answers)
    assert answers[-1] == "bestmove (none)"


def test_a_file_of_commands_is_done_to_its_quit():
    answers = spoken("go depth 2", "go perft 1", "go depth 1", "stop", "quit", "go perft 2")
    assert any(line.startswith("info depth 2 ") for line in answers)
    assert answers.count("bestmove b1c3") == 2 and "Nodes searched: 20" in answers
    assert "Nodes searched: 400" not in answers
    assert not any("Nodes" in line for line in spoken("go infinite", "go perft 1", "quit"))


@pytest.mark.parametrize("endless", ["go infinite", "go"])
@pytest.mark.parametrize(
    ("after", "number"),
    [(("stop", "quit"), 2), (("stop", "go depth 1", "d", "quit"), 3), ((), 2), (("quit",), 2)],
)
def test_an_endless_search_after_another_one_ends(endless, after, number):
    """What stops it is read while the search before is under way."""
    answers = ended("go depth 1", endless, *after)
    assert sum(line.startswith("bestmove ") for line in answers) == number
    assert ("   a b c d e f g h" in answers) == ("d" in after)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("depth abc", "depth: abc"),
        ("depth 0", "depth: 0"),
        ("depth", "depth: nothing"),
        ("depth ٣", "depth: ٣"),
        pytest.param(f"depth {'9' * 5000}", "depth: 99999", id="many digits"),
        ("movetime -5", "movetime: -5"),
        ("movetime depth 1", "movetime: nothing"),
        ("nodes -1 wtime x", "wtime: x"),
        ("deep", "deep: "),
        ("depth abc winc 100", "depth: abc"),
        ("depth abc btime 1000", "depth: abc"),
    ],
)
def test_wrong_words_of_go(words, wrong):
    """They are named and ignored; if nothing else says how far, one ply is searched."""
    answers = ended(f"go {words}", "go depth 1", "quit")
    assert any(line.startswith(f"info string go: {wrong}") for line in answers)
    depths = [line for line in answers if line.startswith("info depth")]
    assert len(depths) == 2 and all(line.startswith("info depth 1 ") for line in depths)
    assert sum(line.startswith("bestmove ") for line in answers) == 2


def test_right_words_are_obeyed_though_another_is_wrong():
    answers = ended("go depth 2 movetime -5", "go wtime -50 btime 1000 winc 0 depth 2", "quit")
    (ignored,) = (line for line in answers if "ignored" in line)
    assert "movetime: -5" in ignored
    assert any(line.startswith("info depth 2 ") for line in answers)


def test_moves_that_are_to_be_searched():
    """Alone, among others, with a wrong one, until a stop; a mate is as far away as it is."""
    answers = ended(
        *("go depth 2 searchmoves a2a3", "go searchmoves h2h4 e2e5 a2a3 depth 2"),
        *("go searchmoves e2e5", "go movetime 1 searchmoves h2h4", "go searchmoves g1h3", "stop"),
        *(f"position fen {MATE_IN_ONE}", "go depth 2 searchmoves a1a7 a1a8", "quit"),
    )
    best = [line.split()[1] for line in answers if line.startswith("bestmove ")]
    assert best[0] == "a2a3" and best[1] in ("h2h4", "a2a3")
    assert best[3:] == ["h2h4", "g1h3", "a1a8"] and len(best) == 6
    wrong = [line for line in answers if "searchmoves: e2e5" in line and "ignored" in line]
    assert len(wrong) == 2 and any(" score mate 1 " in line for line in answers)


@pytest.mark.parametrize("deepening", [0, 2])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_best_among_all_moves_is_the_best_move(depth, deepening):
    config = config_from_dict({**SMALL, "depth": 3, "deepening": deepening})
    searcher = ChessSearcher(Setup(WORKLOAD, config).on("reference"))
    for fen in ("6k1/5ppp/8/8/8/8/1R6/R5K1 b - - 0 1", "k7/8/2K5/8/8/8/8/1R6 w - - 0 1"):
        game = ChessGame(fen)
        one = searcher.find(game.board, depth)
        among = searcher.find_among(game.board, game.legal(), depth)
        assert (among.value, among.depth) == (one.value, one.depth)
        worse = [move for move in game.legal() if move != among.move]
        assert searcher.find_among(game.board, worse, depth).value <= one.value


@pytest.mark.parametrize("word", ["x", "-1", "0", "", "2 3"])
def test_wrong_depths_of_perft(word):
    answers = spoken(f"go perft {word}")
    assert answers[0].startswith(f"info string go: perft: {word or 'nothing'}: ")
    assert "Nodes searched: 20" in answers


def test_a_position_with_a_wrong_word_is_not_taken():
    answers = spoken("position startpos move e2e4", "d", "position startpos moves e2e4", "d")
    assert answers[0].startswith("info string position: move: ")
    assert [line.split()[1] for line in answers if line.startswith("rnbq")] == ["b"]


@pytest.mark.parametrize(
    "wrong",
    [
        "position",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position startpos move e2e4",
        "position startpos moves e2e5",
    ],
)
@pytest.mark.parametrize("right", ["position startpos", "ucinewgame"])
def test_after_a_wrong_position_nothing_is_searched_until_there_is_another(wrong, right):
    """A program that sends it means another board than the one before."""
    answers = ended(
        *(f"position fen {MATE_IN_ONE}", wrong, "go depth 1", "go perft 1", "go infinite", "d"),
        *(right, "go perft 1", "go depth 1", "quit"),
    )
    best = [line for line in answers if line.startswith("bestmove ")]
    assert best[:2] == ["bestmove 0000"] * 2 and best[2] == "bestmove b1c3" and len(best) == 3
    said = [line.split()[2] for line in answers if "position was refused" in line]
    assert said == ["go:", "go:", "go:", "d:"]
    assert [line for line in answers if line.startswith("Nodes")] == ["Nodes searched: 20"]


def test_debug_is_a_known_command():
    assert spoken("debug on", "debug off") == []
    (said,) = spoken("debug maybe")
    assert said.startswith("info string debug: maybe: ")


def test_unknown_words_before_a_command_are_skipped():
    """The text of the protocol: an unknown word is ignored, and the rest of the line is parsed."""
    *unknown, ready = spoken("joho debug on", "joho foo isready")
    assert ready == "readyok" and len(unknown) == 2
    assert all("joho" in line for line in [*unknown, *spoken("joho")])
    answers = ended(
        "joho position startpos moves e2e4", "joho go perft 1", "joho quit", "go perft 2"
    )
    assert [line for line in answers if line.startswith("Nodes")] == ["Nodes searched: 20"]
    assert "e7e5: 1" in answers


def test_unknown_words_are_skipped_while_a_search_runs():
    answers = ended("go infinite", "joho isready", "joho stop", "go depth 1", "quit")
    assert answers.index("readyok") < answers.index("bestmove b1c3")
    assert len([line for line in answers if line.startswith("bestmove")]) == 2


def test_scores():
    assert FoundMove(None, 25_000, 1, 1, 1).score == "cp 50"
    assert FoundMove(None, MATE - 1, 1, 1, 1).score == "mate 1"
    assert FoundMove(None, MATE - 3, 1, 1, 1).score == "mate 2"
    assert FoundMove(None, 2 - MATE, 1, 1, 1).score == "mate -1"


def test_a_deeper_search_finds_what_one_search_finds(device):
    """Depth after depth in engines that stay, from another position each time."""
    searcher = ChessSearcher(Setup(WORKLOAD, config_from_dict(SMALL)).on(device))
    for moves in ([], ["e2e4"], ["e2e4", "e7e5"]):
        board = ChessGame(chess.STARTING_FEN).replay(moves).board
        found = [searcher.find(board, depth, each=lambda _: None) for depth in (1, 2)]
        again = ChessSearcher(Setup(WORKLOAD, config_from_dict(SMALL)).on("reference")).find(
            board, 2
        )
        assert (found[1].move, found[1].value) == (again.move, again.value)


def test_a_program_plays_against_it():
    """python-chess starts it as it starts any engine."""
    command = [sys.executable, "-m", "societies", "play", "games/chess/play", "--protocol", "uci"]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=120) as engine:
        board = chess.Board()
        for depth in (1, 2):
            result = engine.play(board, chess.engine.Limit(depth=depth))
            board.push(result.move)
        info = engine.analyse(chess.Board(MATE_IN_ONE), chess.engine.Limit(time=0.2))
        assert info["score"].white() == chess.engine.Mate(1)


def test_options_of_the_search():
    """Each is offered with its value, changes the search, and is refused where it is wrong."""
    settings = {**SMALL, "rounds": [1], "batch": {"leaves": 64, "branches": 8, "near_root": [1]}}
    answers = spoken(
        *("uci", "setoption name Rounds value 1 5", "setoption name deepening value 1"),
        *("setoption name Aspiration value 60000", "setoption name Near Root value 1 4"),
        *("setoption name Principal Variation value true", "setoption name Batch value 32"),
        *("uci", f"position fen {MATE_IN_ONE}", "go depth 2"),
        *("setoption name Rounds value <empty>", "setoption name Near Root value", "uci"),
        settings=settings,
    )
    options = [line.removeprefix("option name ") for line in answers if line.startswith("option")]
    names = ("Rounds", "Near Root")
    of = [[line for line in options if line.startswith(f"{name} type")] for name in names]
    assert [line.split("default ")[1] for line in of[0]] == ["1", "1 5", "<empty>"]
    assert [line.split("default ")[1] for line in of[1]] == ["1", "1 4", "<empty>"]
    assert "Principal Variation type check default true" in options
    assert "Deepening type spin default 1 min 0 max 31" in options
    assert "Aspiration type spin default 60000 min 0 max 1000000000" in options
    assert "bestmove a1a8" in answers and not [
        line for line in answers if line.startswith("info string")
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Rounds value 5 1", "Rounds: 1 after 5; the numbers ascend"),
        ("Rounds value 0", "no such option or value"),
        ("Rounds value many", "no such option or value"),
        ("Near Root value 9", "Near Root: 9 nodes; batch.branches allows 8"),
        ("Deepening value 99", "no such option or value"),
        ("Deepening value 1 2", "no such option or value"),
        ("Aspiration value -1", "no such option or value"),
        ("Principal Variation value yes", "no such option or value"),
    ],
)
def test_wrong_values_of_options(line, said):
    answers = spoken(f"setoption name {line}", "position startpos", "go depth 1")
    assert said in answers[0] and answers[-1].startswith("bestmove ")
