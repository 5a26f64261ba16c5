"""Which keys does the YAML file of a rating have, with which units, ranges and meanings?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from reference_py.games.havannah.board import cell_of
from reference_py.games.havannah.parameters import EMPTY, STREAM_GAP, Parameters, other
from reference_py.primitives.rng import ORBIT
from societies.config.model import (
    Conflict,
    From0,
    From1,
    Interval,
    ListOf,
    Section,
    WorkloadConfig,
    key,
    shape,
)
from societies.errors import ConfigError
from societies.games.havannah.game_record import record_of
from societies.games.havannah.position import HavannahGame, game_of
from societies.words import counted
from societies.workload.declare.config import SEED, Seeded, checkpoints
from societies.workload.declare.naming import parameters_of

STREAMS = ORBIT // STREAM_GAP
"""Number of playouts whose random numbers do not overlap."""

MOST_OUTCOMES = 2**28
"""Most playouts of a batch over all candidates: a result takes two bytes until it is counted."""


FIRST_GAME: Any = key(0, "Number of the first of them", "index")
"""Key of the number of the first of several games of the same position."""


def board_size(cells: int) -> Any:
    """Return the key of the size of the board by its default."""
    return shape(cells, "Cells of a side of the board", "cells", ge=3, le=10)


def swap_rule(default: bool) -> Any:
    """Return the key of the swap rule by its default."""
    return key(default, "Whether Black's first move may be to take White's first stone")


class BoardConfig(WorkloadConfig):
    """Keys for the board and the moves made on it."""

    size: int = board_size(10)
    swap: bool = swap_rule(False)
    moves: str = key(
        "",
        "Moves that lead to the position, divided by spaces: the letter of a row and the place in "
        "it, such as J10, or swap",
    )

    game_record: str | None = key(
        None,
        "File with the record of a game that comes before `moves`: in the Smart Game Format, of "
        "which the first variation is taken, or moves divided by spaces",
    )
    plies: int | None = key(
        None, "Moves of the record that are made; default: all", "moves", ge=0, le=272
    )

    def game(self) -> HavannahGame:
        """Return the game after the moves of the record and those of ``moves``."""
        before: list[str] = []
        if self.game_record is not None:
            before = list(record_of(self.game_record, self.size).moves[: self.plies])
        return game_of(self.size, self.swap, " ".join([*before, self.moves]))

    def inputs(self) -> dict[str, str]:
        """Return the file of the game record, if one is given."""
        return {} if self.game_record is None else {"game_record": self.game_record}

    def conflicts(self) -> Iterator[Conflict]:
        """Yield errors of the moves, or that the game is over after them."""
        where = ("moves",) if self.game_record is None else ("game_record",)
        needs: Any = (("size",), ("swap",), ("moves",), ("plies",))
        try:
            game = self.game()
        except ConfigError as error:
            yield Conflict(where, str(error), needs)
            return
        if game.is_over:
            message = f"{game.result} after {len(game.moves)} moves: there is nothing to rate"
            yield Conflict(where, message, needs)

    def warnings(self) -> Iterator[Conflict]:
        """Yield parts of the record that are ignored, and a key ``plies`` without effect."""
        if self.game_record is not None:
            found = record_of(self.game_record, self.size)
            for remark in found.remarks:
                yield Conflict(("game_record",), remark)
            if self.plies is not None and self.plies > len(found.moves):
                yield Conflict(("plies",), f"the record has {counted(len(found.moves), 'move')}")
        if self.plies is not None and self.game_record is None:
            yield Conflict(
                ("plies",), "has no effect: there is no game_record", (("game_record",),)
            )


class HavannahRecord(Section):
    """What is recorded in the file, and how often."""

    checkpoint: Interval = checkpoints("batch", "the counts")
    game: int = key(
        -1,
        "Write the moves of this playout of every candidate, whether it was among those counted or "
        "not; -1: of none",
        "index",
        ge=-1,
        le=2**53,
    )


class HavannahConfig(Seeded, BoardConfig):
    """A position of Havannah whose moves are rated by random playouts."""

    workload: Literal["havannah"] = key("havannah", "What the file configures")
    candidates: Literal["all"] | ListOf[str] = shape(
        "all", "Moves that are rated: all, or a list of cells"
    )
    batches: int = key(
        10, "Batches of playouts, after each of which the counts are recorded", ge=1, le=10**6
    )
    batch: int = key(1000, "Playouts of each candidate in a batch", "playouts", ge=1, le=2**22)
    first_playout: int = key(
        0,
        "Number of the first playout of each candidate: the counts of 0 to 999 and of 1000 to 1999 "
        "add up to those of 0 to 1999",
        "index",
        ge=0,
        le=2**53,
    )
    limit: int = key(
        2**40,
        "Most playouts that a candidate may ever have: playout p of cell c has stream c x limit + "
        "p, so another limit gives other playouts",
        "playouts",
        ge=1,
        le=2**53,
    )
    seed: int = SEED
    replicates: From1 = key(
        1, "Ratings of the position in parallel, with different random numbers", "games"
    )
    first_game: From0 = FIRST_GAME
    winner: Literal["auto", "forest", "offline", "flood"] = shape(
        "auto",
        "How the end of a playout is found, with the same results: by disjoint sets stone by "
        "stone, from all stones at once by halving, or by a flood after every stone; auto: offline "
        "on a GPU, and on a CPU from size 8 on, else forest",
    )
    find: Literal["halving", "plain", "compression"] = shape(
        "halving", "Of forest: what becomes of the path to a root: nothing, or it is made shorter"
    )
    runner: Literal["modern", "resident", "chunk", "each"] = shape(
        "modern",
        "What a launch plays and what is copied when, with the same results: all candidates at "
        "once; or some at a time, with nothing copied, positions and results copied for these, "
        "or at each launch",
    )
    active: From1 = shape(8, "Of runners but modern: candidates in a launch", "candidates")
    together: From1 = shape(
        1, "Of runners but modern: playouts of each of them in a launch", "playouts"
    )
    memory: Literal["private", "local", "global"] = shape(
        "private", "Of forest: memory of the device that holds the board of a playout"
    )
    neighbours: Literal["computed", "table"] = shape(
        "computed",
        "Of forest: whether the neighbours of a cell are computed, or looked up in constant memory",
    )
    record: HavannahRecord = key(HavannahRecord, "What is recorded in the file, and how often")

    @property
    def playouts(self) -> int:
        """Number of playouts of each candidate."""
        return self.batches * self.batch

    def cells(self) -> tuple[int, ...]:
        """Return the cells of the candidate moves."""
        game = self.game()
        if self.candidates == "all":
            return tuple(game.empty)
        found = (cell_of(game.board, name) for name in self.candidates)
        return tuple(cell for cell in found if cell is not None)

    def parameters(self) -> Parameters:
        """Return the parameters that the reference takes."""
        game = self.game()
        return parameters_of(
            Parameters,
            self,
            stones=game.stones,
            to_move=game.side,
            candidates=self.cells(),
            winner="forest" if self.winner == "auto" else self.winner,
            record_game=self.record.game,
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys: taken cells, more playouts than random streams, ..."""
        wrong = list(super().conflicts())
        yield from wrong
        if not wrong:
            yield from self._of_candidates()
        last = self.first_playout + self.playouts
        if last > self.limit:
            yield Conflict(
                ("limit",),
                f"playouts {self.first_playout:,} to {last - 1:,} of each candidate are requested, "
                f"and at most {self.limit:,} are allowed",
                (("batches",), ("batch",), ("first_playout",)),
            )
        if self.memory != "private" and self.winner in ("offline", "flood"):
            yield Conflict(
                ("memory",),
                f"{self.memory} is for winner forest; {self.winner} needs private memory",
                (("winner",),),
            )
        if self.record.game >= self.limit:
            yield Conflict(
                ("record", "game"),
                f"playout {self.record.game:,} is not below limit, {self.limit:,}",
                (("limit",),),
            )
        games = self.first_game + self.replicates
        cells = 3 * self.size * (self.size - 1) + 1
        fits = STREAMS // (games * cells)
        if self.limit > fits:
            yield Conflict(
                ("limit",),
                f"{counted(games, 'game')} with {cells} cells and {self.limit:,} playouts of each "
                f"need more than the {STREAMS:,} random streams that exist; a limit of "
                f"{fits:,} fits",
                (("size",), ("replicates",), ("first_game",)),
            )

    def warnings(self) -> Iterator[Conflict]:
        """Yield a warning for keys that only other runners use."""
        yield from super().warnings()
        for name in ("active", "together"):
            if self.runner == "modern" and name in self.given:
                message = "has no effect: runner is modern, which plays all candidates at once"
                yield Conflict((name,), message, (("runner",),))

    def _of_candidates(self) -> Iterator[Conflict]:
        """Yield errors of the candidate moves."""
        game, seen = self.game(), set()
        names = () if self.candidates == "all" else self.candidates
        if self.candidates != "all" and not names:
            yield Conflict(("candidates",), "is empty: give cells, or all")
        for i, name in enumerate(names):
            cell = cell_of(game.board, name)
            needs: Any = (("size",), ("moves",))
            if cell is None:
                message = f"{name}: no cell of a board of size {self.size}"
                yield Conflict(("candidates", i), message, needs)
            elif game.stones[cell] != EMPTY:
                yield Conflict(("candidates", i), f"{name}: the cell is occupied", needs)
            elif cell in seen:
                yield Conflict(("candidates", i), f"{name} is listed twice", needs)
            seen.add(cell)
        outcomes = len(names or game.empty) * self.batch * self.replicates
        if outcomes > MOST_OUTCOMES:
            yield Conflict(
                ("batch",),
                f"{outcomes:,} playouts in a batch; at most {MOST_OUTCOMES:,} fit: "
                "take more, smaller batches",
                (("candidates",), ("replicates",)),
            )


def positions_of(p: Parameters) -> list[tuple[int, ...]]:
    """Return the board after each candidate move."""
    return [(*p.stones[:cell], p.to_move, *p.stones[cell + 1 :]) for cell in p.candidates]


def next_of(p: Parameters) -> int:
    """Return the side to move after a candidate move."""
    return int(other(p.to_move))
