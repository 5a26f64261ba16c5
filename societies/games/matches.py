"""What do matches of all games share: who begins, the table, intervals, records?

A match is an even number of games between two players, the first and the second. Each begins half
of the games; two successive games, a pair, begin with the same random opening. This module is
independent of any game: the workload of a game's matches is a `MatchWorkload`, whose `margin` is
the number of points by which the first player won each game.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from reference_py.copies import Copy
from societies.config.model import (
    LARGEST_INTEGER,
    Conflict,
    Interval,
    Section,
    WorkloadConfig,
    key,
    shape,
)
from societies.words import counted
from societies.workload import Field, Phase, Source, Step, Workload, phase
from societies.workload.declare.config import SEED, Seeded, checkpoints
from societies.workload.drawing.figure import drawable, require_copy

if TYPE_CHECKING:
    import xarray as xr

    from societies.opencl import Device

NORMAL_975 = 1.959963984540054
"""0.975 quantile of the normal distribution: half a 95 % interval, in standard deviations."""

STUDENT_975 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160),
    *(2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056),
    *(2.052, 2.048, 2.045, 2.042),
)
"""0.975 quantiles of Student's distribution with 1, 2, ... 30 degrees of freedom."""


class MatchRecord(Section):
    """What is recorded in the file, and how often."""

    checkpoint: Interval = checkpoints("game", "the state", 1)


def pair_of(first: Any, second: Any) -> Any:
    """Return the key of the two players of a match by their defaults."""
    return shape((first, second), "The first player and the second")


class MatchConfig(Seeded, WorkloadConfig):
    """Base of the configurations of matches: number of games, openings, random numbers."""

    determined: ClassVar[Collection[str]] = ()
    """Kinds of players that do not draw at random."""
    if TYPE_CHECKING:  # a key of each game
        players: tuple[Any, ...]
    games: int = key(2, "Games of a match, an even number: each player begins half", ge=2, le=2**20)
    opening: int = key(
        0,
        "Moves at the start of a game that are random, the same in the two games of a pair; "
        "without them two players who do not draw play the same two games again and again",
        "moves",
        ge=0,
        le=64,
    )
    seed: int = SEED
    replicates: int = key(
        1,
        "Matches that are played in parallel, with different random numbers",
        "matches",
        ge=1,
        le=LARGEST_INTEGER,
    )
    first_match: int = key(0, "Number of the first match", "index", ge=0, le=LARGEST_INTEGER)
    record: MatchRecord = key(MatchRecord, "What is recorded in the file, and how often")

    def chance(self) -> bool:
        """Return whether games can differ: a player draws at random or has limited time."""
        return any(one.kind not in self.determined or one.seconds for one in self.players)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield conflicts of an odd number of games, and of another number of players than two."""
        if self.games % 2:
            yield Conflict(
                ("games",), f"{self.games} is odd, and each player is to begin half of the games"
            )
        if len(self.players) != 2:
            yield Conflict(("players",), f"{counted(len(self.players), 'player')}; a match has two")

    def warnings(self) -> Iterator[Conflict]:
        """Yield a warning if all games would be the same."""
        if self.games > 2 and not self.opening and not self.chance():
            yield Conflict(
                ("games",),
                "neither player draws at random and there is no random opening, so all pairs of "
                "games are the same two",
                (("opening",),),
            )


def beginner(game: int) -> int:
    """Return the player that begins a game (counted from 1): 0 if its number is odd, else 1."""
    return (game - 1) % 2


@dataclass(frozen=True)
class Standing:
    """Result of a match for its first player.

    Attributes
    ----------
    games, wins, ties, losses : int
    wins_beginning : int, of the games that it began
    points : float, a share of the games, a tie being half a win
    points_interval : (float, float), Wilson's of 95 %, which treats games as independent
    margin : float, mean margin of the games
    margin_interval : (float, float), Student's of 95 % over pairs of games; infinite for one pair
    """

    games: int
    wins: int
    ties: int
    losses: int
    wins_beginning: int
    points: float
    points_interval: tuple[float, float]
    margin: float
    margin_interval: tuple[float, float]


def standing(margins: ArrayLike) -> Standing:
    """Return the first player's standing from the margins of games, (..., game) integers.

    A margin is positive if the first player won. The games are in the order of play, an even
    number in each match.
    """
    all_of_them = np.asarray(margins)
    games = all_of_them.size
    wins, ties = int((all_of_them > 0).sum()), int((all_of_them == 0).sum())
    points = (wins + ties / 2) / games
    pairs = all_of_them.reshape(-1, 2).mean(axis=1)
    mean = float(pairs.mean())
    half = math.inf
    if len(pairs) > 1:
        half = student(len(pairs) - 1) * float(pairs.std(ddof=1)) / math.sqrt(len(pairs))
    return Standing(
        games,
        wins,
        ties,
        games - wins - ties,
        int((all_of_them[..., ::2] > 0).sum()),
        points,
        wilson(points, games),
        mean,
        (mean - half, mean + half),
    )


def student(degrees: int) -> float:
    """Return the 0.975 quantile of Student's distribution, to some 0.001."""
    if degrees <= len(STUDENT_975):
        return STUDENT_975[degrees - 1]
    return NORMAL_975 + (NORMAL_975**3 + NORMAL_975) / (4 * degrees)


def wilson(share: float, games: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of ``games`` games (Wilson 1927)."""
    z2 = NORMAL_975**2 / games
    middle = (share + z2 / 2) / (1 + z2)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class PlayedGame:
    """A game as it was played.

    ``beginner`` is 0 if the first player began it; ``margin`` is the number of points by which the
    first player won.
    """

    game: int
    beginner: int
    moves: tuple[int, ...]
    margin: int


def played_games(results: Any, match: int = 0) -> Iterator[PlayedGame]:
    """Yield the games of a match from the open dataset of its file."""
    one = results.isel(match=match)
    for i, game in enumerate(one.game.values):
        made = int(one.moves_made.values[i])
        moves = tuple(int(move) for move in one.moves.values[i, :made])
        yield PlayedGame(int(game), beginner(int(game)), moves, int(one.margin.values[i]))


class MatchWorkload(Workload[Any, Any]):
    """Base of the workloads that play matches.

    Attributes
    ----------
    ends : names of the values of the variable `end`; empty if the game has no such variable
    time_for : what the time of a player is given for
    within_time : what differs from run to run if a player has a time
    """

    clock: ClassVar[str] = "game"
    copies: ClassVar[str] = "match"
    ends: ClassVar[Sequence[str]] = ()
    time_for: ClassVar[str] = "move"
    within_time: ClassVar[str] = "how far a search looks ahead in it"
    report_class = "societies.games.match_report:MatchReport"

    def names(self, config: Any) -> Sequence[str]:
        """Return the names of the two players."""
        return [one.name() for one in config.players]

    def plan_rows(self, config: Any, p: Any) -> list[tuple[str, str]]:
        """Return the names of the players."""
        first, second = self.names(config)
        return [("players", f"{first} against {second}")]

    def schedule(self, p: Any, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a game."""
        if tick:
            yield Step("start")
            yield Step("game")

    def not_repeatable(self, config: Any) -> str:
        """Return why another run may play other games, for example because a player has a time."""
        for i, one in enumerate(config.players):
            if why := self.plays_otherwise(one):
                return f"players.{i}{why}"
        return ""

    def plays_otherwise(self, player: Any) -> str:
        """Return why a player may choose other moves in another run: text that follows its name."""
        if not player.seconds:
            return ""
        return (
            f".seconds is a time for each {self.time_for}, and {self.within_time} differs from run "
            "to run"
        )

    def endings(self, ends: ArrayLike, margins: ArrayLike) -> str:
        """Return how games ended, the most frequent first, with the wins of each player."""
        ends, margins, parts = np.ravel(ends), np.ravel(margins), []
        for end, count in Counter(np.sort(ends).tolist()).most_common():
            won = margins[ends == end]
            shares = f" ({(won > 0).sum()} to {(won < 0).sum()})" if won.any() else ""
            parts.append(f"{self.ends[end]} {count}{shares}")
        return ", ".join(parts)

    def figure(self, results: xr.Dataset, *, match: int = 0) -> Any:
        """Draw the points of the first player, game after game, and the margins.

        Parameters
        ----------
        match : int
            Which match of the file, from 0.
        """
        from matplotlib.figure import Figure

        require_copy(results, match)
        found = drawable(results, "margin", "match", "game")
        margins = found[match].dropna("game").values
        games = np.arange(1, len(margins) + 1)
        points = np.cumsum((np.sign(margins) + 1) / 2) / games
        intervals = [wilson(float(share), i + 1) for i, share in enumerate(points)]
        drawing = Figure(figsize=(10, 4), layout="constrained")
        left, right = drawing.subplots(1, 2)
        left.fill_between(
            games, *zip(*intervals, strict=True), color="#56B4E9", alpha=0.35, label="95 % interval"
        )
        left.plot(games, points, color="#0072B2", label="points of the first player")
        left.axhline(0.5, color="0.5", linewidth=0.8)
        left.set(xlabel="games", ylabel="share of the points so far", ylim=(0, 1))
        left.legend(loc="lower right")
        unit = results.margin.attrs.get("units", "1")
        bins = np.arange(margins.min() - 0.5, margins.max() + 1.5)
        right.hist(margins, bins=bins, color="#D55E00")
        right.axvline(0, color="0.5", linewidth=0.8)
        right.set(xlabel=f"margin of the first player [{unit}]", ylabel="games")
        return drawing

    def record_fields(self, unit: str, move: str) -> dict[str, Field]:
        """Return the fields recorded for a game; its axis of moves is ``move``."""
        won = "by how much the first player won, negative if the second did"
        return {
            "margin": Field((), "int16", unit, won, logged=True),
            "moves_made": Field((), "int32", "moves", "moves of the game", logged=True),
            "moves": Field(
                ("move",), "int8", "1", f"{move}, -1 after the end", none=-1, logged=True
            ),
        }


class HostedMatch(MatchWorkload):
    """Base of the workloads whose matches the host plays, game after game.

    Attributes
    ----------
    start_file : kernel file that begins a game
    moves : meaning of an entry of the recorded moves
    """

    timed = True
    start_file: ClassVar[str]
    moves: ClassVar[str]

    def players(self, p: Any, device: Device | None) -> list[Any]:
        """Return the two players of all games, on a device or in plain Python."""
        raise NotImplementedError

    def play_game(self, p: Any, copy: Copy, tick: int, players: Sequence[Any]) -> None:
        """Play a game by its definition in the reference, and record it in the match's arrays."""
        raise NotImplementedError

    def game(self, p: Any) -> Callable[[Any, int, Device | None], None]:
        """Return the function that plays and records a game; its first call makes the players."""
        players: list[Any] = []

        def game(copy: Any, tick: int, device: Device | None) -> None:
            if not players:
                players.extend(self.players(p, device))
            self.play_game(p, copy, tick, players)

        return game

    def fields(self, p: Any) -> Mapping[str, Field]:
        """Return the fields that are recorded for a game."""
        moves = f"{self.moves}, -1 after the end"
        return {
            "number": Field((), "uint32", "index", "number of the match", checkpointed=False),
            **self.record_fields("1", self.moves),
            "moves": Field(("move",), "int16", "1", moves, initial=-1, none=-1, logged=True),
        }

    def phases(self, p: Any, copies: int) -> Mapping[str, Phase]:
        """Return the kernel that begins a game, and the host function that plays it."""
        game, fields = self.game(p), self.fields(p)

        def play(arrays: Mapping[str, Any], tick: int) -> None:
            now = {name: arrays[name].get() for name in fields}
            for place, number in enumerate(now["number"].tolist()):
                one = Copy(number, {name: array[place] for name, array in now.items()})
                game(one, tick, arrays["moves"].device)
                for name, array in now.items():
                    array[place] = getattr(one, name)
            for name, array in now.items():
                arrays[name].set(array)

        return {"start": phase(self.start_file, global_size=copies), "game": Phase(host=play)}

    def source(self, p: Any) -> Source:
        """Return the macro of the only kernel."""
        return Source({"MOST_MOVES": self.sizes(p)["move"]})


def player_name(kind: str, depth: int, seconds: float) -> str:
    """Return the name of a player: its kind, and how far or how long it looks ahead."""
    reach = [counted(depth, "ply")] if depth else []
    time = [f"{seconds:g} s a move"] if seconds else []
    return ", ".join([kind, *reach, *time])
