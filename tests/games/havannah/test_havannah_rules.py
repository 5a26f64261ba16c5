"""Do boards, games and positions come out as others found them, by each test for the winner?"""

import pytest
from havannah_oracles import GAMES, GEOMETRY, POSITIONS, SIDES, bits, played

from reference_py.games.havannah.board import OUTSIDE, board_of, cell_of, name_of
from reference_py.games.havannah.flood import filled_ring, hollow_ring, reasons_of
from reference_py.games.havannah.forest import Forest
from reference_py.games.havannah.offline import earliest
from reference_py.games.havannah.parameters import BLACK, EMPTY, RING, WHITE

IDS = [game["id"] for game in GAMES]


@pytest.mark.parametrize("known", GEOMETRY, ids=lambda one: str(one["size"]))
def test_boards(known):
    board = board_of(known["size"])
    assert board.cells == known["cells"]
    on = {bit: [c for c, mask in enumerate(board.masks) if mask >> bit & 1] for bit in range(12)}
    assert [on[6 + corner] for corner in range(6)] == [[cell] for cell in known["corners"]]
    assert [on[side] for side in range(6)] == known["edges"]
    near = [[one for one in around if one != OUTSIDE] for around in board.neighbours]
    assert sum(map(len, near)) == 2 * known["adjacency_pairs"]
    for cell, around in enumerate(known.get("neighbours", [])):
        assert sorted(near[cell]) == sorted(around)
    for cell, around in enumerate(board.neighbours):
        for i, one in enumerate(around):  # neighbours that follow each other are neighbours
            after = around[(i + 1) % 6]
            assert OUTSIDE in (one, after) or after in board.neighbours[one], cell


@pytest.mark.parametrize("size", [3, 10])
def test_names_of_cells(size):
    board = board_of(size)
    assert [cell_of(board, name_of(board, cell)) for cell in range(board.cells)] == list(
        range(board.cells)
    )
    for wrong in ("", "A", "A0", "A01", f"A{size + 1}", "Z1", "7", "J-1", "A1 "):
        assert cell_of(board, wrong) is None
    assert name_of(board_of(10), 135) == "J10"


@pytest.mark.parametrize("game", GAMES, ids=IDS)
def test_games_by_forest_and_flood(game):
    """No side has won before the last stone; then the winner has, for these reasons."""
    board, stones = board_of(game["size"]), played(game)
    forests = [Forest(board, find) for find in ("plain", "halving", "compression")]
    own = {WHITE: set(), BLACK: set()}
    for number, (cell, side) in enumerate(stones, 1):
        own[side].add(cell)
        found = {one.place(cell, side) for one in forests} | {reasons_of(board, own[side])}
        expected = bits(game["reasons"]) if number == len(stones) else 0
        assert found == {expected}, number
    assert not game["reasons"] or side == SIDES[game["winner"]]
    if game["ring"]:
        kinds = hollow_ring(board, own[side]), filled_ring(board, own[side])
        assert kinds[0 if game["ring"] == "hollow" else 1]


@pytest.mark.parametrize("game", GAMES, ids=IDS)
def test_games_by_the_earliest_structure(game):
    """The rest of the board is filled up first: it makes no difference."""
    board, moves = board_of(game["size"]), played(game)
    stones = [EMPTY] * board.cells
    if "swap" in game["moves"]:
        cell, side = moves.pop(0)
        stones[cell] = side
    order = [cell for cell, _ in moves]
    order += [c for c in range(board.cells) if c not in order and stones[c] == EMPTY]
    count, winner, reasons = earliest(board, stones, order, WHITE)
    assert (count, reasons) == (len(moves), bits(game["reasons"]))
    assert not reasons or winner == SIDES[game["winner"]]


@pytest.mark.parametrize("position", POSITIONS, ids=lambda one: one["note"])
def test_positions(position):
    """The stones of a position have no order: a forest finds all reasons along the way."""
    board, forest = board_of(position["size"]), Forest(board_of(position["size"]))
    for side, colour in ((WHITE, "white"), (BLACK, "black")):
        own = [cell_of(board, name) for name in position[colour]]
        expected, found = bits(position[f"{colour}_reasons"]), 0
        assert reasons_of(board, set(own)) == expected
        for cell in own:
            found |= forest.place(cell, side)
        assert found == expected


def test_a_ring_on_a_border_cell_and_none_against_the_edge():
    board = board_of(4)
    around = set(board.neighbours[cell_of(board, "B2")])
    assert reasons_of(board, around) == RING  # A1, A2 and B1 are at the edge
    against = {cell_of(board, name) for name in ("A1", "B2", "B3", "A3")}
    assert reasons_of(board, against) == 0  # A2 lies between stones and the edge
