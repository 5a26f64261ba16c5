"""What does the report of a perft run contain?"""

from __future__ import annotations

from reference_py.games.chess.perft import KINDS
from reference_py.games.chess.rules import Move
from societies.output import open_results
from societies.workload.running.report import RunReport


class PerftReport(RunReport):
    """The counts of every game's last depth, and the rows that every run reports."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The number of nodes, then rows for kinds of moves and for first moves if requested."""
        mean = self.final["nodes"]  # over games
        said = f"{mean:,.0f}" if mean == round(mean) else f"{mean:,.1f}"
        rows_of_run = [(name, said if name == "nodes" else text) for name, text in super().rows]
        rows: list[tuple[str, str]] = []
        config, boards = self.config, self.workload.parameters(self.config).boards
        with open_results(self.path) as results:
            for game in range(results.sizes["game"]):
                name = f" of game {game}" if results.sizes["game"] > 1 else ""
                one = results.isel(game=game)
                if name:
                    rows.append((f"nodes{name}", f"{int(one.nodes.values[-1]):,}"))
                if config.detail:
                    found = [int(number) for number in one.details.values[-1]]
                    rows += [
                        (f"{kind.replace('_', ' ')}{name}", f"{number:,}")
                        for kind, number in zip(KINDS[1:], found, strict=True)
                    ]
                if config.divide:
                    side = boards[game % len(boards)].side
                    rows += [
                        (f"{move_of(int(code)).name(side)}{name}", f"{int(number):,}")
                        for code, number in zip(
                            one.root_moves.values, one.divided.values, strict=True
                        )
                        if code == code  # the list has room for more moves
                    ]
        after = 1 + max(
            (i for i, (name, _) in enumerate(rows_of_run) if name in self.final), default=0
        )
        return [*rows_of_run[:after], *rows, *rows_of_run[after:]]


def move_of(code: int) -> Move:
    """Return the move that a number of the variable ``root_moves`` encodes."""
    return Move(code & 63, code >> 6 & 63, code >> 12)
