"""Repeat Werner's seven experiments with Havannah on a graphics card, with correct rules.

    python experiments/games/havannah/run.py [--all] [--only 1 4 6] [--device D] [--playouts N]

1 transfer strategies, 2 work-items of a group, 3 path compression, 4 candidates at a time, 5
speed-up, 6 the best opening, 7 the best reply to cell 222; all on the empty board of ten. Each
experiment writes results/DEVICE-NUMBER.csv and a figure NUMBER.png, and ends with a sentence.
Of 6 and 7 each cell has 10,000 and 20,000 playouts, or --playouts: fewer on a CPU. The published
numbers are those of Werner (HTWK Leipzig 2012; GeForce GTX 260, Core 2 Duo E8400).
"""

import argparse
import csv
import json
import re
import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import societies
from reference_py.games.havannah.board import board_of
from societies.games.havannah import names_of
from societies.games.havannah.rating import rate

HERE = Path(__file__).resolve().parent
KNOWN = HERE.parents[2] / "tests" / "data" / "games" / "havannah-openings-10.json"
SIZE = 10

FIGURE_8 = {10: 18.5, 20: 37.0, 30: 55.0, 40: 73.5, 50: 92.5}
FIGURE_9 = {
    "8 x 1": dict(zip(range(1, 6), (4.5, 8.8, 13.0, 17.5, 21.5), strict=True)),
    "4 x 2": dict(zip(range(1, 6), (6.8, 13.8, 19.6, 27.0, 32.7), strict=True)),
}
FIGURE_10 = {
    "plain": dict(zip(range(10, 51, 10), (17.3, 34.0, 51.0, 68.0, 85.0), strict=True)),
    "compression": dict(zip(range(10, 51, 10), (18.5, 37.0, 55.0, 73.0, 91.5), strict=True)),
}
TABLE_1 = {8: 17.34, 16: 9.26, 32: 5.49, 64: 3.38, 96: 2.23, 128: 2.06, 256: 2.03}
TABLE_2 = {128: 5.17, 256: 5.62, 512: 7.92}
"""Seconds, or times as fast as one core, by playouts of a candidate or candidates at a time."""


def seconds(device, playouts, **more):
    """Return how long a rating of all cells takes; the kernels are warm."""
    settings = {"size": SIZE, "device": device, "winner": "forest", **more}
    rate(playouts=playouts, **settings)
    began = time.perf_counter()
    rate(playouts=playouts, **settings)
    return time.perf_counter() - began


class Report:
    """Rows and figures of one device."""

    def __init__(self, device, results):
        self.device = device
        self._name = re.sub(r"[^a-z0-9]+", "-", device.name.lower()).strip("-")
        self._results = results
        results.mkdir(parents=True, exist_ok=True)

    def write(self, number, columns, rows):
        path = self._results / f"{self._name}-{number}.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(("device", *columns))
            table.writerows((self.device.name, *row) for row in rows)
        return path

    def figure(self, number, lines, label, y="seconds"):
        """Draw lines by name: {x: y}, the published ones dashed."""
        drawing, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
        for name, points in lines.items():
            style = "--" if "2012" in name else "o-"
            axes.plot(list(points), list(points.values()), style, label=name)
        axes.set(xlabel=label, ylabel=y, yscale="log")
        axes.set_title(self.device.name, fontsize=9)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        drawing.savefig(self._results / f"{self._name}-{number}.png", dpi=110)
        plt.close(drawing)


def transfer(report, scale):
    """Experiment 1: is copying of any importance?"""
    counts = [max(1, int(n * scale)) for n in FIGURE_8]
    lines = {
        runner: {n: seconds(report.device, n, runner=runner) for n in counts}
        for runner in ("each", "chunk", "resident")
    }
    rows = [(name, n, s) for name, line in lines.items() for n, s in line.items()]
    report.write(1, ("runner", "playouts", "seconds"), rows)
    report.figure(1, {**lines, "each, 2012": FIGURE_8}, "playouts of each candidate")
    last = {name: line[counts[-1]] for name, line in lines.items()}
    ratio = last["each"] / last["resident"]
    verdict = "confirmed" if ratio < 1.1 else "not confirmed: a launch is now as short as a copy"
    return f"copying at every launch takes {ratio:.2f} times as long as once; 2012: 1.00; {verdict}"


def groups(report, scale):
    """Experiment 2: do two playouts of a candidate in one group help?"""
    lines = {}
    for name, active, together in (("8 x 1", 8, 1), ("4 x 2", 4, 2)):
        lines[name] = {
            n: seconds(report.device, 2 * n, runner="resident", active=active, together=together)
            for n in range(1, 6)
        }
    rows = [(name, 2 * n, s) for name, line in lines.items() for n, s in line.items()]
    report.write(2, ("groups x items", "playouts", "seconds"), rows)
    published = {f"{name}, 2012": line for name, line in FIGURE_9.items()}
    report.figure(2, {**lines, **published}, "playouts of each candidate (ours: twice as many)")
    ratio = sum(lines["4 x 2"].values()) / sum(lines["8 x 1"].values())
    verdict = "confirmed" if ratio > 1.1 else "not confirmed: here boards of a group share nothing"
    return f"4 groups of 2 take {ratio:.2f} times as long as 8 of 1; 2012: 1.52; {verdict}"


def compression(report, scale):
    """Experiment 3: does path compression pay?"""
    counts = [max(1, int(n * scale)) for n in range(10, 51, 10)]
    # One launch for all: eight candidates at a time would measure launches, not paths.
    lines = {
        find: {n: min(seconds(report.device, 20 * n, find=find) for _ in range(3)) for n in counts}
        for find in ("plain", "compression", "halving")
    }
    rows = [(name, 20 * n, s) for name, line in lines.items() for n, s in line.items()]
    report.write(3, ("find", "playouts", "seconds"), rows)
    published = {f"{name}, 2012": line for name, line in FIGURE_10.items()}
    report.figure(3, {**lines, **published}, "playouts of each candidate (ours: 20 times as many)")
    sums = {name: sum(line.values()) for name, line in lines.items()}
    ratio = sums["compression"] / sums["plain"]
    verdict = "confirmed" if ratio > 1.0 else "not confirmed"
    return (
        f"compression takes {ratio:.2f} and halving {sums['halving'] / sums['plain']:.2f} times as "
        f"long as plain paths; 2012: 1.08; {verdict}"
    )


def at_a_time(report, scale):
    """Experiment 4: how many candidates at a time?"""
    counts = (*TABLE_1, 271)
    line = {
        n: seconds(report.device, max(1, int(10 * scale)), runner="chunk", active=n, find="plain")
        for n in counts
    }
    modern = seconds(report.device, max(1, int(10 * scale)), find="plain")
    rows = [*line.items(), ("modern", modern)]
    report.write(4, ("candidates at a time", "seconds"), rows)
    report.figure(4, {"ours": line, "2012": TABLE_1}, "candidates at a time")
    gain = line[8] / line[256]
    verdict = "confirmed" if gain > 4 else "not confirmed on this device"
    return (
        f"256 at a time are {gain:.1f} times as fast as 8, 2012: 8.5; all playouts in one launch "
        f"{line[8] / modern:.0f} times; {verdict}"
    )


def speed_up(report, scale):
    """Experiment 5: how much faster is the device than all cores of this machine?"""
    n = max(1, int(100 * scale))
    cpu = societies.choose_device("cpu")
    base = seconds(cpu, n, winner="auto")
    line = {
        k: base / seconds(report.device, n, runner="chunk", active=k, find="plain") for k in TABLE_2
    }
    many = 20 * n
    modern = seconds(cpu, many, winner="auto") / seconds(report.device, many, winner="auto")
    report.write(5, ("candidates at a time", "times"), [*line.items(), ("modern", modern)])
    report.figure(5, {"ours": line, "2012": TABLE_2}, "candidates at a time", "times as fast")
    if report.device.kind == "cpu":
        return "not measured: this device is the CPU itself"
    verdict = "confirmed" if line[512] > 7.92 else "not confirmed with a launch for each playout"
    return (
        f"512 at a time are {line[512]:.2f} times as fast as all cores, 2012: 7.92 times one core; "
        f"in one launch {modern:.0f} times; {verdict}"
    )


def board(report, number, found, title):
    """Draw the grey map of wins and write the counts."""
    rows = [
        (int(cell), str(name), int(wins), found.attrs["playouts"])
        for cell, name, wins in zip(
            found.candidate.values, found.name.values, found.wins.values, strict=True
        )
    ]
    report.write(number, ("cell", "name", "wins", "playouts"), rows)
    drawing, axes = plt.subplots(figsize=(6, 5.4), layout="constrained")
    places = np.array([board_of(SIZE).places[cell] for cell in found.candidate.values])
    wins = found.wins.values - found.wins.values.min()
    grey = 100 * wins / max(1, wins.max())
    spots = axes.scatter(
        places[:, 0] - places[:, 1] / 2, -places[:, 1] * 0.866, c=grey, cmap="Greys", marker="h",
        s=280, edgecolors="0.7", linewidths=0.5,
    )  # fmt: skip
    drawing.colorbar(spots, label="0: fewest wins, 100: most", shrink=0.7)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(f"{title}, {found.attrs['playouts']:,} playouts of each cell", fontsize=10)
    drawing.savefig(report._results / f"{report._name}-{number}.png", dpi=110)
    plt.close(drawing)


def extremes(found):
    """Return the best and the worst cell in words."""
    n = found.attrs["playouts"]
    best, worst = int(found.wins.values.argmax()), int(found.wins.values.argmin())
    return ", ".join(
        f"{word} {int(found.candidate[i])} ({100 * float(found.wins[i]) / n:.2f} %)"
        for word, i in (("best", best), ("worst", worst))
    )


def beyond(found, classes):
    """Return how many cells or classes are how far from the known rates, in standard errors."""
    rates = dict(zip(found.candidate.values.tolist(), found.rate.values.tolist(), strict=True))
    far = 0.0
    for one in classes:
        n = found.attrs["playouts"] * len(one["cells"])
        mean = float(np.mean([rates[cell] for cell in one["cells"]]))
        far = max(far, abs(mean - one["win_rate"]) / np.hypot(one["se"], np.sqrt(0.25 / n)))
    return far


def openings(report, playouts):
    """Experiment 6: which opening is best?"""
    known = json.loads(KNOWN.read_text())["opening_by_symmetry_class"]
    first, second = (
        rate(size=SIZE, playouts=playouts, device=report.device, first_playout=start)
        for start in (0, playouts)
    )
    both = first.copy()
    for name in ("wins", "losses", "draws"):
        both[name] = first[name] + second[name]
    both.attrs["playouts"] = 2 * playouts
    both["rate"] = both.wins / (2 * playouts)
    board(report, 6, both, "wins of the opening")
    far = beyond(both, known)
    cells = {int(both.candidate[i]) for i in (both.wins.values.argmax(), both.wins.values.argmin())}
    order = "confirmed" if cells == {5, 222} else "not confirmed"
    return (
        f"{extremes(first)}, then {extremes(second)}; 2012: best 222 (52 %), worst 5 (49 %), "
        f"{order}: the standard error of a cell is {50 / np.sqrt(playouts):.2f} %, and the rates "
        f"differ by 1.7 %; classes are at most {far:.1f} standard errors from what is known"
    )


def replies(report, playouts):
    """Experiment 7: which reply to cell 222 is best?"""
    opening = names_of(SIZE)[222]
    found = rate(opening, size=SIZE, playouts=2 * playouts, device=report.device)
    board(report, 7, found, "wins of the reply to 222")
    return (
        f"{extremes(found)}, mean {100 * float(found.rate.mean()):.2f} %; 2012: best 203 (50 %), "
        "worst 8 (46 %), not confirmed as cells: the spread among good replies is chance"
    )


EXPERIMENTS = {
    1: transfer,
    2: groups,
    3: compression,
    4: at_a_time,
    5: speed_up,
    6: openings,
    7: replies,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--all", action="store_true", help="as if --only had all numbers")
    parser.add_argument("--only", type=int, nargs="+", default=[], choices=list(EXPERIMENTS))
    parser.add_argument("--playouts", type=int, default=0, help="of 6 and 7; 0: as published")
    parser.add_argument("--scale", type=float, default=1.0, help="of the playouts of 1 to 5")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    chosen = list(EXPERIMENTS) if options.all or not options.only else options.only
    device = societies.choose_device(options.device)
    print(f"{device}; driver {device.driver}")
    report = Report(device, options.results)
    playouts = options.playouts or (10_000 if device.kind != "cpu" else 1000)
    if playouts < 10_000:
        print(f"fewer playouts than published: {playouts:,} instead of 10,000 of each cell")
    for number in chosen:
        said = EXPERIMENTS[number](report, playouts if number > 5 else options.scale)
        print(f"{number}: {said}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
