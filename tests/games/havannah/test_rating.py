"""Are the playouts of a rating those that were asked for, and do they end as others found?"""

import numpy as np
import pytest
from havannah_oracles import STATISTICS, whole

import societies
from reference_py.games.havannah.board import board_of, name_of
from reference_py.games.havannah.forest import Forest
from reference_py.games.havannah.match import Strength
from reference_py.games.havannah.parameters import BLACK, WHITE
from reference_py.games.havannah.search import OPEN, Search
from societies import config_from_dict, open_results
from societies.errors import ConfigError, SocietiesError
from societies.games.havannah import WORKLOAD
from societies.games.havannah.players import evaluator
from societies.games.havannah.rating import rate
from societies.games.havannah.runners import RECORD
from societies.workload.running.engines import DeviceEngine

EMPTY_BOARD = {"workload": "havannah", "size": 4, "batches": 2, "batch": 50}


def ran(device, **settings):
    """Return the state after all batches of a rating."""
    config = config_from_dict({**EMPTY_BOARD, **settings})
    p = WORKLOAD.parameters(config)
    engine = DeviceEngine(
        WORKLOAD, p, device, first=config.first_game, copies=WORKLOAD.count(config)
    )
    engine.start()
    for tick in range(1, config.batches + 1):
        engine.run_ticks(tick, tick)
    engine.finish()
    return p, engine.state()


def near(found, expected, error, *, errors=4.0):
    assert abs(found - expected) <= errors * error, (found, expected, error)


@pytest.mark.parametrize(
    "size", [4, *(pytest.param(size, marks=pytest.mark.thorough) for size in (3, *range(5, 11)))]
)
def test_statistics(device, size):
    """All opening moves together are random games from the empty board (fewer than 4 M)."""
    known = STATISTICS[size]
    p, state = ran(device, size=size, batches=1, batch=60_000 // (3 * size * (size - 1) + 1))
    n = p.batch * len(p.candidates)
    both = 1 / n + 1 / known["playouts"]

    def share(found, expected):
        near(found / n, expected, np.sqrt(max(expected * (1 - expected), 1 / n) * both))

    share(state["wins"].sum(), known["first_wins"])
    share(state["losses"].sum(), known["second_wins"])
    share(state["draws"].sum(), known["draws"])
    kinds = state["finishes"].sum(axis=(0, 1))
    names = (None, "ring_only", "bridge_only", "ring_bridge", "fork_only")
    names += ("ring_fork", "bridge_fork", "all_three")
    assert kinds[0] == state["draws"].sum() and kinds.sum() == n
    for kind, name in enumerate(names):
        if name:
            share(kinds[kind], known[name])
    mean, squares = state["lengths"].sum() / n, state["squares"].sum() / n
    near(mean, known["mean_length"], known["sd_length"] * np.sqrt(both))
    assert abs(np.sqrt(squares - mean**2) / known["sd_length"] - 1) < 0.05


@pytest.mark.thorough
def test_openings(device):
    """Of the large board, by symmetry class, and replies to cell 222."""
    known = whole("havannah-openings-10.json")
    p, state = ran(device, size=10, batches=1, batch=2000)
    rates = dict(zip(p.candidates, state["wins"][0] / p.batch, strict=True))
    for one in known["opening_by_symmetry_class"]:
        found, n = np.mean([rates[cell] for cell in one["cells"]]), len(one["cells"]) * p.batch
        near(found, one["win_rate"], np.hypot(one["se"], np.sqrt(0.25 / n)))
    known = known["reply_to_222"]
    opening = name_of(board_of(10), 222)
    p, state = ran(device, size=10, moves=opening, batches=1, batch=2000)
    rates = dict(zip(p.candidates, state["wins"][0] / p.batch, strict=True))
    assert len(rates) == 270
    for one in (*known["best5"], *known["worst5"]):
        error = np.hypot(known["se_per_cell"], np.sqrt(0.25 / p.batch))
        near(rates[one["cell"]], one["win_rate"], error)
    n = 270 * p.batch
    near(np.mean(list(rates.values())), known["mean"], np.sqrt(0.25 / n + 0.25 / 27_000_000))


def test_all_tests_for_the_winner_agree(device):
    """Playout by playout, on the device."""
    _, by_forest = ran(device, winner="forest")
    for winner in ("offline", "flood"):
        _, other = ran(device, winner=winner)
        assert (by_forest["outcomes"] == other["outcomes"]).all()


@pytest.mark.thorough
@pytest.mark.parametrize("size", range(3, 11))
def test_a_hundred_thousand_playouts_agree(device, size):
    """A million permutations in all."""
    settings = {"size": size, "batches": 1, "batch": 126_000 // (3 * size * (size - 1) + 1)}
    _, by_forest = ran(device, winner="forest", **settings)
    _, offline = ran(device, winner="offline", **settings)
    assert (by_forest["outcomes"] == offline["outcomes"]).all()


def test_a_playout_does_not_depend_on_what_else_is_played(device):
    """Not on the batch, the other candidates and their order, or where playouts begin."""
    p, state = ran(device, batches=2, batch=50)
    for settings in (
        {"candidates": ["D4", "A1"], "batches": 1, "batch": 100},
        {"candidates": ["A1", "D4"], "batches": 10, "batch": 10},
    ):
        few, other = ran(device, **settings)
        for i, cell in enumerate(few.candidates):
            for name in ("wins", "losses", "draws", "lengths", "squares"):
                assert other[name][0, i] == state[name][0, p.candidates.index(cell)]
    _, first = ran(device, batches=1)
    _, second = ran(device, batches=1, first_playout=50)
    assert (first["finishes"] + second["finishes"] == state["finishes"]).all()
    assert (first["outcomes"] != second["outcomes"]).any()
    _, two = ran(device, batches=1, replicates=2)
    _, alone = ran(device, batches=1, first_game=1)
    assert (two["outcomes"][0] == first["outcomes"][0]).all()
    assert (two["outcomes"][1] == alone["outcomes"][0]).all()


def test_a_candidate_that_wins_at_once(device):
    _, state = ran(device, size=3, moves="A1 C3 A2 C4", candidates=["A3", "E3"])
    assert state["wins"][0, 0] == 100 and state["lengths"][0, 0] == 100
    assert state["finishes"][0, 0].tolist() == [0, 0, 100, 0, 0, 0, 0, 0]
    assert 0 < state["wins"][0, 1] < 100


def test_the_last_cell_of_a_board(device):
    """A full board without a structure is a draw, after the candidate move alone."""
    moves = next(game for game in whole_games() if game["id"] == "rnd-draw-p0")["moves"].split()
    _, state = ran(device, size=3, moves=" ".join(moves[:-1]))
    assert state["draws"][0].tolist() == [100] and state["lengths"][0, 0] == 100


def whole_games():
    from havannah_oracles import GAMES

    return GAMES


def test_recorded_moves_are_a_game(device):
    p, state = ran(device, record={"game": 17}, batches=1)
    board = board_of(4)
    for i, candidate in enumerate(p.candidates):
        moves = [cell for cell in state["moves"][0, i].tolist() if cell >= 0]
        assert moves[0] == candidate and len(set(moves)) == len(moves)
        forest = Forest(board)
        ended = [forest.place(cell, (WHITE, BLACK)[k % 2]) for k, cell in enumerate(moves)]
        assert not any(ended[:-1])
        outcome = int(state["outcomes"][0, i, 17])
        assert (outcome % 512 + 1, outcome >> 9 & 7) == (len(moves), ended[-1])


@pytest.mark.thorough
@pytest.mark.parametrize("size", [3, 4, 5, 6, 10])
def test_a_thousand_playouts_are_those_of_the_reference(size):
    cells = 3 * size * (size - 1) + 1
    settings = {**EMPTY_BOARD, "size": size, "batches": 1, "batch": 1000 // cells + 1}
    config = config_from_dict({**settings, "winner": "forest"})
    assert societies.verify(config).difference is None


@pytest.mark.thorough
@pytest.mark.parametrize(
    "settings",
    [{"memory": "local"}, {"memory": "global", "active": 30, "together": 70, "runner": "resident"}],
)
def test_memory_and_neighbours_change_no_playout(device, settings):
    """Several workgroups of a candidate, the last one with few playouts."""
    more = {"winner": "forest", "batches": 1, "batch": 150, "record": {"game": 1}}
    _, expected = ran(device, **more)
    _, found = ran(device, **more, neighbours="table", **settings)
    assert all(found[name].tobytes() == expected[name].tobytes() for name in ("outcomes", "moves"))


@pytest.mark.parametrize("active", [5, 400])
def test_all_runners_find_the_same(device, active):
    """What is copied when, and how many candidates take part in a launch, changes nothing."""
    more = {"size": 4, "moves": "D4", "winner": "forest", "playouts": 6}
    expected = rate(**more, device="reference", candidates=["A1", "C3", "G4"])
    found = rate(**more, device=device)
    assert found.sel(candidate=expected.candidate).equals(expected)
    for runner in ("resident", "chunk", "each"):
        for together in (1, 4):
            other = rate(**more, device=device, runner=runner, active=active, together=together)
            assert other.equals(found)
    with pytest.raises(ConfigError, match="playouts=0: at least 1"):
        rate(playouts=0)
    with pytest.raises(ConfigError, match="unnoer"):
        rate(unnoer="each")


def test_runners_copy_what_they_say(device):
    """Of a batch with 36 candidates in 4 chunks, with 2 launches each."""
    copies = {}
    for runner in ("modern", "resident", "chunk", "each"):
        more = {"size": 4, "moves": "D4", "batch": 6, "batches": 1, "winner": "forest"}
        config = config_from_dict(
            {"workload": "havannah", "runner": runner, "active": 10, "together": 3, **more}
        )
        engine = DeviceEngine(WORKLOAD, WORKLOAD.parameters(config), device)
        engine.start()
        before = device.counters.uploads, device.counters.launches
        engine.run_ticks(1, 1)
        uploads, launches = device.counters.uploads, device.counters.launches
        copies[runner] = uploads - before[0], launches - before[1]
    assert copies["modern"] == (0, 2) and copies["resident"] == (0, 9)
    counts = copies["chunk"][0] - 4 * len(RECORD)
    assert copies["chunk"] == (4 * len(RECORD) + counts, 8) and 0 < counts < 9
    assert copies["each"] == (8 * len(RECORD) + counts, 8)


@pytest.mark.thorough
@pytest.mark.parametrize("opening", [0, 9])
def test_the_smallest_board_is_solved(device, opening):
    """A corner wins, the centre loses: the search proves it, with no line left open."""
    known, board = whole("havannah-solved-3.json")["value"], [0] * 19
    board[opening] = WHITE
    evaluate = evaluator(device, 3, Strength(each=1, leaves=128), 1)
    search = Search(board, BLACK, evaluate, 0, 1, 128, 0.7)
    while search.known == OPEN:
        search.grow()
    assert search.known == known[opening]


def test_a_file_and_its_picture(tmp_path):
    path = tmp_path / "rating.h5"
    report = societies.run(config_from_dict(EMPTY_BOARD), out=path)
    rows = dict(report.rows)
    with open_results(path) as results:
        assert results.wins.dims == ("game", "batch", "candidate")
        counts = results.isel(game=0, batch=-1)
        total = counts.wins + counts.losses + counts.draws
        assert (total == 100).all()
        best = int(counts.candidate[int(counts.wins.values.argmax())])
        assert rows["best move"].startswith(f"{name_of(board_of(4), best)} (cell {best})")
        for colours in ("grey", "viridis"):
            drawing = WORKLOAD.figure(results, colours=colours)
            assert len(drawing.axes[0].patches) == 37 + 1
        with pytest.raises(ConfigError, match="colours='nothing': grey, or a colour map"):
            WORKLOAD.figure(results, colours="nothing")


SGF = "(;FF[4]SZ[4]C[a \\] b (;]PW[x]\n;W[D4];B[swap](;W[C3];B[F1])(;W[A1]))"


@pytest.mark.parametrize("text", [SGF, "D4, swap C3\nF1\n"])
def test_a_position_from_a_record(tmp_path, text):
    """The first variation is the game; plies cut it, and further moves follow."""
    path = tmp_path / "game.sgf"
    path.write_text(text)
    given = {**EMPTY_BOARD, "swap": True, "game_record": str(path)}
    config = config_from_dict(given)
    assert config.game().moves == ["D4", "swap", "C3", "F1"]
    assert config.inputs() == {"game_record": str(path)}
    cut = config_from_dict({**given, "plies": 3, "moves": "G4"})
    assert cut.game().moves == ["D4", "swap", "C3", "G4"]
    by_moves = config_from_dict({**EMPTY_BOARD, "swap": True, "moves": "D4 swap C3 G4"})
    assert cut.parameters() == by_moves.parameters()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"", "no record of a game: it has no moves"),
        (b"(;SZ[4])", "no record of a game: it has no moves"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "is not text"),
        (b"D4 C3\x00", "is not text"),
        pytest.param(b"D4 " * 2**19, "is larger than 1 MiB", id="long"),
        (b"(;SZ[6];W[D4])", r"1:3: the record is of a board of size 6, not 4"),
        (b"(;SZ[4];W[D4];B[C3]", "the record has no end"),
        (b"(;SZ[4];W[D4];B[C", r"1:16: \[C is not part of a record; a \] is missing"),
        (b"(;SZ[4];W[D4];W[C3])", "move 2: it is B's move, not W's"),
        (b"(;SZ[4];W[D4];B[D4])", "move 2: D4: White has a stone on it"),
        (
            b"(;W[A1];B[D1];W[A2];B[D2];W[A3];B[D3];W[A4])",
            "White has won by a bridge after 7 moves",
        ),
        (b"nonsense", "move 1: nonsense: no cell of a board of size 4"),
    ],
)
def test_what_is_no_record(tmp_path, content, message):
    path = tmp_path / "game.sgf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        config_from_dict({**EMPTY_BOARD, "game_record": str(path)})


def test_a_file_of_another_position_is_not_resumed(tmp_path, device):
    path = tmp_path / "rating.h5"
    small = {**EMPTY_BOARD, "size": 3, "batch": 2, "record": {"checkpoint": 1}}
    societies.run(config_from_dict(small), out=path, device=device)
    other = config_from_dict({**small, "moves": "B2"})
    with pytest.raises(SocietiesError, match="moves"):
        societies.run(other, out=path, device=device, resume=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 11}, "size"),
        ({"size": 2}, "size"),
        ({"moves": "D4 D4"}, "move 2: D4: White has a stone on it"),
        ({"moves": "D4 D9"}, r"move 2: D9: no cell of a board of size 4 \(A1 to G4\)"),
        ({"moves": "D4 swap"}, "move 2: swap: this game is played without it"),
        ({"moves": "swap", "swap": True}, "move 1: swap: only Black's first move"),
        ({"moves": "D4 swap swap", "swap": True}, "move 3: swap: only Black's first move"),
        (
            {"moves": "A1 D1 A2 D2 A3 D3 A4"},
            "White has won by a bridge after 7 moves: there is nothing to rate",
        ),
        ({"moves": "A1 D1 A2 D2 A3 D3 A4 D4"}, "move 8: D4: the game is over, White has won by"),
        ({"candidates": []}, "is empty: give cells, or all"),
        ({"candidates": ["D4"], "moves": "D4"}, "D4: the cell is occupied"),
        ({"candidates": ["D4", "D4"]}, "D4 is listed twice"),
        ({"candidates": ["H1"]}, "H1: no cell of a board of size 4"),
        ({"moves": "D4 C3 swap", "swap": True}, "move 3: swap: only Black's first move"),
        ({"batch": 0}, "batch"),
        ({"runner": "fast"}, "runner"),
        ({"memory": "local", "winner": "flood"}, "local is for winner forest; flood needs private"),
        ({"active": 0}, "active"),
        ({"together": 0}, "together"),
        ({"batches": 0}, "batches"),
        ({"limit": 99}, "playouts 0 to 99 of each candidate are requested, and at most 99 are"),
        ({"first_playout": 2**40}, "at most 1,099,511,627,776 are allowed"),
        ({"limit": 2**50}, "random streams that exist; a limit of 243,433,059,937,971 fits"),
        ({"record": {"game": 100}, "limit": 100}, "playout 100 is not below limit, 100"),
        ({"batch": 2**22, "replicates": 9}, "playouts in a batch; at most"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        config_from_dict({**EMPTY_BOARD, **settings})
