"""Draw the paper's Figures 5 to 14 from the measurements of run.py, and its Table 2 next to ours.

    python experiments/games/ngtsg/figures.py [--results FOLDER]

Figures 5 and 6 are the two calculations alone, 7 to 10 both limits without pruning (a line for each
value of the other limit), 11 and 12 both limits alike, 13 and 14 the same with pruning; the last
four have the most nodes in memory on a second axis. Of each pair the first is Connect6, the second
chess; of 7 to 10 each pair is one game. Table 2 needs no device: depth and width of our games are
those of recorded matches, of random games, and of all games of tic-tac-toe.
"""

import argparse
import csv
import functools
import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Numbered:
    """A figure of the paper: which measurements are its lines, and the published best."""

    part: str
    game: str
    x: str
    best: dict[str, float]
    what: str = ""


FIGURES = {
    5: Numbered("nodes", "connect6", "nodes of a batch", {"branch": 37, "evaluate": 97}),
    6: Numbered("nodes", "chess", "nodes of a batch", {"branch": 29, "evaluate": 23}),
    7: Numbered("limits", "connect6", "most leaves of a batch (L_max)", {"": 70.8}, "L_max"),
    8: Numbered("limits", "connect6", "most branches of a batch (B_max)", {"": 70.8}, "B_max"),
    9: Numbered("limits", "chess", "most leaves of a batch (L_max)", {"": 11.8}, "L_max"),
    10: Numbered("limits", "chess", "most branches of a batch (B_max)", {"": 11.8}, "B_max"),
    11: Numbered("both", "connect6", "B_max = L_max", {"": 89.95}),
    12: Numbered("both", "chess", "B_max = L_max", {"": 11.43}),
    13: Numbered("pruning", "connect6", "B_max = L_max", {"": 10.58}),
    14: Numbered("pruning", "chess", "B_max = L_max", {"": 7.26}),
}
NAMES = {"branch": "branches", "evaluate": "leaves"}
OTHER = {"L_max": "B_max", "B_max": "L_max"}
SPEED = "times one core"


def read(path):
    """Return the rows of a table, none if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def lines_of(figure, rows):
    """Return {label: rows} of a figure in the order of the first row of each line."""
    found = {}
    for row in rows:
        if row["game"] == figure.game and figure.what in ("", row["what"]) and row[SPEED]:
            label = SPEED
            if figure.part == "nodes":
                label = NAMES[row["what"]]
            elif figure.what:
                label = f"{OTHER[figure.what]} = {int(row['other']):,}"
            found.setdefault(label, []).append(row)
    return found


def draw(results, name, number):
    """Draw a figure for a device; return its path, None if nothing was measured for it."""
    figure = FIGURES[number]
    lines = lines_of(figure, read(results / f"{name}-{figure.part}.csv"))
    if not lines:
        return None
    drawing, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for label, rows in lines.items():
        points = sorted((int(row["size"]), float(row[SPEED])) for row in rows)
        axes.plot(*zip(*points, strict=True), "o-", ms=4, label=label)
    for i, (kind, best) in enumerate(figure.best.items()):
        text = f"published best{f', {NAMES[kind]}' if kind else ''}: {best:g}"
        axes.axhline(best, ls="--", lw=1, color=f"C{i}" if kind else "0.5", label=text)
    axes.set(xscale="log", yscale="log", xlabel=figure.x, ylabel=SPEED)
    handles, labels = axes.get_legend_handles_labels()
    if figure.part in ("both", "pruning"):
        (rows,) = lines.values()
        right = axes.twinx()
        points = sorted((int(row["size"]), int(row["peak"])) for row in rows)
        right.plot(*zip(*points, strict=True), "s-", ms=4, color="C2", label="most nodes in memory")
        right.set(yscale="log", ylabel="most nodes in memory")
        handles, labels = handles + right.lines[:1], [*labels, "most nodes in memory (right)"]
    axes.grid(alpha=0.3)
    drawing.legend(handles, labels, fontsize=8, ncols=3, loc="outside lower center")
    pruned = "with" if figure.part == "pruning" else "without"
    axes.set_title(f"Figure {number}: {figure.game}, {pruned} pruning; {rows[0]['device']}", size=9)
    path = results / f"{name}-figure_{number:02}.png"
    drawing.savefig(path, dpi=100)
    plt.close(drawing)
    return path


PUBLISHED_TABLE_2 = {
    "tic-tac-toe": (9, 4, 5), "Sim": (14, 3.7, 8), "Connect Four": (36, 4, 21),
    "chess": (80, 35, 123), "Connect6": (30, 46_000, 140), "Havannah": (66, 240, 157),
    "Arimaa": (92, 17_281, 402), "Go (19 x 19)": (150, 250, 360),
}  # fmt: skip
"""Depth, width and exponent of the tree complexity, in the order of the paper."""


@functools.cache
def tic_tac_toe():
    """Return games, mean length and mean width over the positions of all games."""
    wins = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

    def played(own, other):
        full = len(own) + len(other) == 9
        if full or any(set(line) <= other for line in wins):
            return [(len(own) + len(other))]
        return [
            length
            for cell in range(9)
            if cell not in own | other
            for length in played(other, own | {cell})
        ]

    lengths = played(frozenset(), frozenset())
    widths = [9 - ply for length in lengths for ply in range(length)]
    return len(lengths), sum(lengths) / len(lengths), sum(widths) / len(widths)


def chess_matches():
    """Return games, mean length in plies and mean width of the recorded games of strength.py."""
    import chess.pgn

    lengths, widths = [], []
    for path in sorted((HERE / "results").glob("*.pgn")):
        with path.open() as file:
            while game := chess.pgn.read_game(file):
                board, length = game.board(), 0
                for move in game.mainline_moves():
                    widths.append(board.legal_moves.count())
                    board.push(move)
                    length += 1
                lengths.append(length)
    return len(lengths), sum(lengths) / len(lengths), sum(widths) / len(widths)


def connect6_matches():
    """Return the same of the games against Cloudict; a turn is a pair of stones."""
    lengths, widths = [], []
    for row in read(HERE / "results" / "cloudict.csv"):
        turns = row["moves"].split()
        lengths.append(len(turns))
        widths += [math.comb(362 - 2 * turn, 2) for turn in range(1, len(turns))]
    return len(lengths), sum(lengths) / len(lengths), sum(widths) / len(widths)


def havannah_random():
    """Return the same of random games on the board of ten, by experiment 11 of its folder."""
    (path,) = (HERE.parent / "havannah" / "results").glob("nvidia-h100*-11.csv")
    (row,) = (r for r in read(path) if (r["size"], r["quantity"]) == ("10", "mean_length"))
    length = float(row["found"])
    return int(row["playouts"]), length, 271 - (length - 1) / 2


MEASURED = {
    "tic-tac-toe": (tic_tac_toe, "all games"), "chess": (chess_matches, "games of strength.py"),
    "Connect6": (connect6_matches, "games against Cloudict"),
    "Havannah": (havannah_random, "random games"),
}  # fmt: skip


def table_2():
    """Yield the lines of Table 2: published depth and width, ours, and both tree complexities."""
    yield "| game | depth, width published | complexity | depth, width here | complexity | of |"
    yield "|---|---|---|---|---|---|"
    for game, (depth, width, exponent) in PUBLISHED_TABLE_2.items():
        ours = ["not a game of ours", "", ""]
        if game in MEASURED:
            measure, what = MEASURED[game]
            games, length, broad = measure()
            power = length * math.log10(broad)
            ours = [f"{length:.1f}, {broad:,.1f}", f"10^{power:.0f}", f"{games:,} {what}"]
        cells = [game, f"{depth}, {width:,}", f"10^{exponent}", *ours]
        yield f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    given = parser.parse_args()
    names = {
        path.name.removesuffix(f"-{part}.csv")
        for part in {one.part for one in FIGURES.values()}
        for path in given.results.glob(f"*-{part}.csv")
    }
    for name in sorted(names):
        for number in FIGURES:
            if path := draw(given.results, name, number):
                print(path)
    print("\n".join(table_2()))


if __name__ == "__main__":
    main()
