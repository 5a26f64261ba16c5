"""What is the state of a game of chess, when does it end, and how is it written down?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from reference_py.games.chess.board import BLACK, WHITE
from reference_py.games.chess.fen import START, FenPosition, piece_on, read_fen, write_fen
from reference_py.games.chess.match import (
    FIFTY,
    MATE_END,
    NO_PIECES,
    STALEMATE,
    THIRD,
    after,
    end_of,
    squares,
)
from reference_py.games.chess.rules import Move, in_check, moves
from societies.errors import ConfigError, shortened
from societies.games.board import BoardGame

NAMES = {WHITE: "White", BLACK: "Black"}
UNDECIDED = "*"
RESULTS = ("1-0", "0-1", "1/2-1/2", UNDECIDED)
DRAWS = {
    STALEMATE: "stalemate",
    FIFTY: "fifty moves without capture or move of a pawn",
    THIRD: "the same position for the third time",
    NO_PIECES: "neither side has enough pieces to mate",
}


class ChessGame(BoardGame):
    """A game of chess from the position ``fen`` on; ``board`` is the current position."""

    state = ("board",)

    def __init__(self, fen: str = START) -> None:
        self.board: FenPosition = read_fen(fen)
        super().__init__(self.board.side)

    @property
    def boards(self) -> list[FenPosition]:
        """All positions, beginning with the first."""
        return [*(board for _, [board] in self._before), self.board]

    def legal(self) -> list[Move]:
        """Return the legal moves; none once the game is over by mate or stalemate."""
        return list(moves(self.board.position))

    def read(self, word: str) -> Move:
        """Return the move that a word means, in coordinates (e2e4, e7e8q) or algebraic (Nf3)."""
        short = word.rstrip("+#!?").replace("0", "O")
        for move in self.legal():
            if word.lower() == move.name(self.side) or short == self.san(move).rstrip("+#"):
                return move
        raise ConfigError(f"{shortened(word)} is not a legal move of {NAMES[self.side]}")

    def make(self, move: Move) -> None:
        """Make a legal move."""
        self.board = after(self.board, move)
        self.side = self.board.side

    @property
    def result(self) -> str:
        """The score and why; empty while the game continues."""
        score, why = self.score()
        return "" if score == UNDECIDED else f"{score}: {why}"

    def score(self) -> tuple[str, str]:
        """Return ``1-0``, ``0-1``, ``1/2-1/2`` or ``*``, and why."""
        end = end_of(self.boards)
        if end is None:
            return UNDECIDED, ""
        if end == MATE_END:
            return ("0-1" if self.side == WHITE else "1-0"), "checkmate"
        return "1/2-1/2", DRAWS[end]

    def san(self, move: Move) -> str:
        """Return a move in algebraic notation: Nbd7, exd6, O-O, e8=Q+."""
        board = self.board
        following = after(board, move)
        piece = piece_on(board, _absolute(move.start, board.side)).upper()
        ends = move.name(board.side)
        takes = "x" if len(squares(following)) < len(squares(board)) else ""
        if piece == "K" and abs(move.start - move.end) == 2:
            text = "O-O" if move.end > move.start else "O-O-O"
        elif piece == "P":
            text = (ends[0] + "x" if takes else "") + ends[2:4]
            text += "=" + ends[4].upper() if move.promotion else ""
        else:
            text = piece + self._which(move, piece) + takes + ends[2:4]
        if in_check(following.position):
            text += "+" if moves(following.position) else "#"
        return text

    text = san

    def _which(self, move: Move, piece: str) -> str:
        """Return the file, rank or both that tell a move from those of pieces of the same kind."""
        board = self.board
        others = [
            other.name(board.side)
            for other in self.legal()
            if other.end == move.end
            and other.start != move.start
            and piece_on(board, _absolute(other.start, board.side)).upper() == piece
        ]
        own = str(move.name(board.side))
        if not others:
            return ""
        if all(other[0] != own[0] for other in others):
            return own[0]
        return own[1] if all(other[1] != own[1] for other in others) else own[:2]

    def drawn(self, below: int = WHITE) -> str:
        """Return the board as text with coordinates; the side ``below`` is at the bottom."""
        ranks = range(7, -1, -1) if below == WHITE else range(8)
        files = range(8) if below == WHITE else range(7, -1, -1)
        rows = [
            f"{rank + 1}  " + " ".join(piece_on(self.board, 8 * rank + file) for file in files)
            for rank in ranks
        ]
        return "\n".join([*rows, "", "   " + " ".join("abcdefgh"[file] for file in files)])


def _absolute(number: int, side: int) -> int:
    return number ^ 56 if side == BLACK else number


def pgn(game: ChessGame, tags: Sequence[tuple[str, str]], result: str) -> str:
    """Return a game in portable game notation: tags, then the moves in lines of 80 columns."""
    first = game.boards[0]
    replayed, words = ChessGame(write_fen(first)), []
    for move in game.moves:
        number = replayed.board.fullmove
        if replayed.side == WHITE:
            words.append(f"{number}.")
        elif not words:
            words.append(f"{number}...")
        words.append(replayed.san(move))
        replayed.push(move)
    given: list[tuple[str, str]] = [*tags, ("Result", result)]
    if write_fen(first) != START:
        given += [("SetUp", "1"), ("FEN", write_fen(first))]
    lines = [f'[{name} "{_escaped(text)}"]' for name, text in given]
    return "\n".join([*lines, "", *wrap(" ".join([*words, result]), 80), "", ""])


def read_pgn(text: str) -> tuple[str, list[str]]:
    """Return the first position and the moves of a game that `pgn` wrote, or of its main line.

    Raises
    ------
    ConfigError
        If the text has several games, or one of a variant of chess.
    """
    found = re.findall(r'^[ \t]*\[\s*(\w+)\s+"((?:\\.|[^"\\])*)"\s*\]', text, re.M)
    tags = {name.lower(): value for name, value in found}
    if tags.get("variant", "standard").lower() not in ("standard", "chess", "from position"):
        raise ConfigError(f"a game of {shortened(tags['variant'])}: only chess itself is played")
    moves = re.sub(r"^[ \t]*\[.*$|^%.*$|\{[^}]*\}|;.*$|\$\d+", " ", text, flags=re.M)
    words, depth, is_over = list[str](), 0, False
    for token in re.findall(r"[()]|[^\s()]+", moves):
        if token in "()":
            depth += 1 if token == "(" else -1
            continue
        word = re.sub(r"^\d+\.+", "", token)
        if depth or not word:
            continue
        if is_over or depth < 0:
            raise ConfigError("the file has several games, or parentheses that do not match")
        is_over = word in RESULTS
        if not is_over:
            words.append(word)
    if depth or len(found) != len(tags):
        raise ConfigError("the file has several games, or parentheses that do not match")
    return tags.get("fen", START), words


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
