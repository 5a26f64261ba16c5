"""How does a person play Havannah in a terminal, or another program by GTP?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console

from reference_py.games.havannah.parameters import BLACK, WHITE
from societies.errors import ConfigError, option
from societies.games.havannah.opponent import Opponent
from societies.games.havannah.players import ChosenMove
from societies.games.havannah.position import NAMES

if TYPE_CHECKING:
    from societies.games.havannah.match_config import HavannahMatchConfig
    from societies.opencl import Device
    from societies.workload import Workload

HELP = "a cell such as D4, swap, (h)int, (u)ndo, (q)uit"


def hinted(found: ChosenMove) -> str:
    """Return a line with the best moves and their rates."""
    moves = ", ".join(f"{name} {100 * rate:.1f} % of {n:,}" for name, rate, n in found.best)
    return f"{found.move}: {moves}"


def play(
    workload: Workload[Any, Any],
    config: HavannahMatchConfig,
    device: str | Device,
    moves: str,
    side: str,
    protocol: str,
    console: Console,
) -> str:
    """Play until the game ends, the moves run out or the player quits; return the result."""
    if protocol:
        from societies.games.havannah.gtp import serve

        if protocol != "gtp":
            raise ConfigError(f"{option('protocol', protocol)}: gtp, the Go Text Protocol")
        return serve(config, device, console)
    sides = {"white": WHITE, "black": BLACK}
    if side not in sides:
        raise ConfigError(f"{option('side', side)}: white or black")
    opponent, own = Opponent(config, device), sides[side]
    game = opponent.game
    replayed = moves.replace(",", " ").split() if moves else None
    console.print(game.drawn(), highlight=False, markup=False)
    while not game.is_over:
        if game.to_move != own:
            move = opponent.choice().move
            game.play(move)
            console.print(f"{NAMES[3 - own]} plays {move}", highlight=False)
        elif replayed is not None:
            if not replayed:
                return f"the moves are used up; {NAMES[own]} is to move"
            move = replayed.pop(0)
            try:
                game.play(move)
            except ConfigError as error:
                raise ConfigError(f"{option('moves', moves)}: {error}") from None
            console.print(f"{NAMES[own]} plays {move}", highlight=False)
        elif not _asked(opponent, own, console):
            return "the game was left"
        console.print(game.drawn(), highlight=False, markup=False)
    if replayed:
        raise ConfigError(f"{option('moves', moves)}: the game is over before {replayed[0]}")
    return game.result


def _asked(opponent: Opponent, own: int, console: Console) -> bool:
    """Ask until a move is made or taken back; return whether the game continues."""
    game = opponent.game
    while True:
        try:
            word = console.input(f"{NAMES[own]}, move? ").strip().lower()
        except EOFError:
            return False
        try:
            if word in ("q", "quit"):
                return False
            if word in ("h", "hint"):
                console.print(hinted(opponent.hint()), highlight=False)
            elif word in ("u", "undo"):
                undone = False
                while game.undo():
                    undone = True
                    if game.to_move == own:
                        break
                if undone:
                    return True
                console.print("there is nothing to take back")
            elif not word or word in ("?", "help"):
                console.print(HELP, highlight=False)
            else:
                game.play(word)
                return True
        except ConfigError as error:
            console.print(str(error), highlight=False, markup=False)
            console.print(HELP, highlight=False)
