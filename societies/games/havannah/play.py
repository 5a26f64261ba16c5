"""How does a person play Havannah in a terminal, or another program by GTP?"""

from __future__ import annotations

from typing import Any

from rich.console import Console

from reference_py.games.havannah.parameters import BLACK, WHITE
from societies.errors import ConfigError, option
from societies.games.havannah.match_config import HavannahMatchConfig
from societies.games.havannah.players import ChosenMove, Opponent
from societies.games.havannah.position import NAMES, HavannahGame
from societies.games.terminal import TerminalGame, read_side
from societies.opencl import Device
from societies.workload import Setup


def play(
    setup: Setup[HavannahMatchConfig, Any],
    *,
    device: str | Device = "auto",
    moves: str = "",
    side: str = "white",
    protocol: str = "",
    console: Console | None = None,
) -> str:
    """Play a game against the first player; return how it ended.

    Parameters
    ----------
    moves : str
        Your moves in order, instead of asking, with commas: F6,swap,A1.
    side : str
        Which side is yours: white or black.
    protocol : str
        gtp: speak the Go Text Protocol on standard input and output instead.
    """
    if protocol:
        from societies.games.havannah.gtp import serve

        if protocol != "gtp":
            raise ConfigError(f"{option('protocol', protocol)}: gtp, the Go Text Protocol")
        return serve(setup.config, device, console)
    own = read_side(side, {"white": WHITE, "black": BLACK})
    opponent = Opponent(setup.config, device)
    return _HavannahGame(opponent.game, own, 0, 0.0, console, opponent).played(moves)


class _HavannahGame(TerminalGame):
    """A game of Havannah."""

    names, moves, ply, question, most = NAMES, "moves", "", "move", 0
    help = "a cell such as D4, swap, (h)int, (u)ndo, (q)uit"
    game: HavannahGame
    searcher: Opponent

    def find(self) -> ChosenMove:
        return self.searcher.choice()

    def find_hint(self) -> ChosenMove:
        return self.searcher.hint()

    def move_of(self, found: ChosenMove) -> str:
        return found.move

    def hint(self, found: ChosenMove) -> str:
        moves = (f"{name} {100 * rate:.1f} % of {n:,}" for name, rate, n in found.best)
        return f"{found.move}: {', '.join(moves)}"

    def announced(self, move: str) -> str:
        return f"{NAMES[self.game.side]} plays {move}"

    def split(self, given: str) -> list[str]:
        return given.replace(",", " ").split()
