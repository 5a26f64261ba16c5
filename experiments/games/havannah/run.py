"""Repeat Werner's seven experiments with Havannah on a graphics card, with correct rules, and more.

    python experiments/games/havannah/run.py [--all] [--only 1 4 6] [--device D] [--playouts N]
        [--games N] [--seconds S] [--results FOLDER]

1 transfer strategies, 2 work-items of a group, 3 path compression, 4 candidates at a time, 5
speed-up, 6 the best opening, 7 the best reply to cell 222; what the original wished to see: 8 tests
for the winner, 9 neighbours in a table, 10 memory of the boards; and what others found: 11
statistics of random games on boards of 3 to 10 cells, 12 whether two tests for the winner agree
playout by playout. All but 11 and 12 are on the empty board of ten. Each writes
FOLDER/DEVICE-NUMBER.csv, most of them a figure of that name, and ends with a sentence, which is
stored in FOLDER/DEVICE-sentences.txt. An experiment whose --seconds are over measures no further
point, or counts the playouts that it has; the sentence or the table says how many. The published
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
from societies.games.havannah import WORKLOAD, names_of
from societies.games.havannah.rating import rate
from societies.workload.running.engines import DeviceEngine

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "tests" / "data" / "games"
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


def seconds(device, playouts, *, clock=None, **more):
    """Return how long a batch of playouts of all cells takes: the least of three.

    A batch before them builds kernels, allocates memory and prepares the positions. On a CPU these
    are seconds of its processors together, unless a clock is given.
    """
    settings = {"winner": "forest", **more}
    batches = Batches(device, SIZE, playouts * board_of(SIZE).cells, clock=clock, **settings)
    batches.run()
    return min(batches.run() for _ in range(3))


class Batches:
    """Batches of playouts of all cells of an empty board, one after the other, on a device."""

    def __init__(self, device, size, playouts, *, clock=None, **more):
        self._clock = clock
        if clock is None:
            self._clock = time.process_time if device.kind == "cpu" else time.perf_counter
        cells = 3 * size * (size - 1) + 1
        given = {"workload": "havannah", "size": size, "batch": max(1, playouts // cells), **more}
        config = societies.config_from_dict(given)
        p = WORKLOAD.parameters(WORKLOAD.fitted(config, device))
        self._engine = DeviceEngine(WORKLOAD, p, device)
        self._batch, self._ran = config.batch * cells, 0
        self._engine.start()

    @property
    def each(self):
        """Playouts of a batch."""
        return self._batch

    def run(self):
        """Run a batch; return seconds, of a CPU those of its processors by default."""
        began = self._clock()
        self._ran += 1
        self._engine.run_ticks(self._ran, self._ran)
        self._engine.wait()
        return self._clock() - began

    def arrays(self, *names):
        """Return arrays of the state, without the dimension of copies."""
        return {name: array[0] for name, array in self._engine.arrays(*names).items()}


def per_second(report, **more):
    """Return playouts a second, of a CPU a processor second: the best of three batches."""
    many = 1_000_000 if report.device.kind != "cpu" else 27_100
    batches = Batches(report.device, SIZE, many, **more)
    batches.run()
    return batches.each / min(batches.run() for _ in range(1 if report.is_over else 3))


def swept(report, xs, lines):
    """Return {name: {x: seconds}}, the smallest x first, of as many as the time allows."""
    found = {name: {} for name in lines}
    for x in xs:
        if report.is_over and any(found.values()):
            print(f"the time is over: {x} and more are left out")
            break
        for name, measure in lines.items():
            found[name][x] = measure(x)
    return found


class Report:
    """Rows, figures and sentences of one device."""

    def __init__(self, device, results, limit):
        self.device, self._limit = device, limit
        self._name = re.sub(r"[^a-z0-9]+", "-", device.name.lower()).strip("-")
        self._results = results
        results.mkdir(parents=True, exist_ok=True)
        self.begin()

    def begin(self):
        """Begin an experiment."""
        self._began = time.perf_counter()

    @property
    def left(self):
        """Seconds that the experiment still has."""
        return self._began + self._limit - time.perf_counter()

    @property
    def is_over(self):
        """Whether nothing more is to be begun."""
        return self.left < 0

    def say(self, number, sentence):
        """Print a sentence and keep it in place of an earlier one of the experiment."""
        print(f"{number}: {sentence}", flush=True)
        path = self._results / f"{self._name}-sentences.txt"
        old = path.read_text().splitlines() if path.exists() else []
        sentences = {int(line.split(":")[0]): line for line in old}
        sentences[number] = f"{number}: on {self.device.name}, {sentence}"
        path.write_text("".join(f"{sentences[n]}\n" for n in sorted(sentences)))

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
        of_cpu = self.device.kind == "cpu" and y == "seconds"
        axes.set(xlabel=label, ylabel="processor seconds" if of_cpu else y, yscale="log")
        axes.set_title(self.device.name, fontsize=9)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        drawing.savefig(self._results / f"{self._name}-{number}.png", dpi=110)
        plt.close(drawing)


def transfer(report, scale):
    """Experiment 1: is copying of any importance?"""
    counts = [max(1, int(n * scale)) for n in FIGURE_8]
    runners = ("each", "chunk", "resident")
    measures = {r: lambda n, r=r: seconds(report.device, n, runner=r) for r in runners}
    lines = swept(report, counts, measures)
    rows = [(name, n, s) for name, line in lines.items() for n, s in line.items()]
    report.write(1, ("runner", "playouts", "seconds"), rows)
    report.figure(1, {**lines, "each, 2012": FIGURE_8}, "playouts of each candidate")
    sums = {name: sum(line.values()) for name, line in lines.items()}
    ratio = sums["each"] / sums["resident"]
    why = "not confirmed: a launch is now so short that copies are as long"
    verdict = "confirmed" if ratio < 1.1 else why
    return f"copying at every launch takes {ratio:.2f} times as long as once; 2012: 1.00; {verdict}"


def groups(report, scale):
    """Experiment 2: do two playouts of a candidate in one group help?"""
    places = {"8 x 1": {"active": 8, "together": 1}, "4 x 2": {"active": 4, "together": 2}}
    measures = {
        name: lambda n, p=place: seconds(report.device, 2 * n, runner="resident", **p)
        for name, place in places.items()
    }
    lines = swept(report, range(1, 6), measures)
    rows = [(name, 2 * n, s) for name, line in lines.items() for n, s in line.items()]
    report.write(2, ("groups x items", "playouts", "seconds"), rows)
    published = {f"{name}, 2012": line for name, line in FIGURE_9.items()}
    report.figure(2, {**lines, **published}, "playouts of each candidate (ours: twice as many)")
    ratio = sum(lines["4 x 2"].values()) / sum(lines["8 x 1"].values())
    verdict = "confirmed" if ratio > 1.1 else "not confirmed: here boards of a group share nothing"
    if report.device.kind == "cpu":
        verdict = "no question for a CPU, where a group is one work-item"
    return f"4 groups of 2 take {ratio:.2f} times as long as 8 of 1; 2012: 1.52; {verdict}"


def compression(report, scale):
    """Experiment 3: does path compression pay?"""
    counts = [max(1, int(n * scale)) for n in range(10, 51, 10)]
    finds = ("plain", "compression", "halving")
    # One launch for all: eight candidates at a time would measure launches, not paths.
    measures = {find: lambda n, f=find: seconds(report.device, 20 * n, find=f) for find in finds}
    lines = swept(report, counts, measures)
    rows = [(name, 20 * n, s) for name, line in lines.items() for n, s in line.items()]
    report.write(3, ("find", "playouts", "seconds"), rows)
    published = {f"{name}, 2012": line for name, line in FIGURE_10.items()}
    report.figure(3, {**lines, **published}, "playouts of each candidate (ours: 20 times as many)")
    sums = {name: sum(line.values()) for name, line in lines.items()}
    ratio = sums["compression"] / sums["plain"]
    verdict = "confirmed" if ratio > 1.05 else "not confirmed: the difference is within the noise"
    if ratio < 0.95:
        verdict = "not confirmed: shorter paths pay for the writing"
    return (
        f"compression takes {ratio:.2f} and halving {sums['halving'] / sums['plain']:.2f} times as "
        f"long as plain paths; 2012: 1.08; {verdict}"
    )


def at_a_time(report, scale):
    """Experiment 4: how many candidates at a time?"""
    many, find = max(1, int(10 * scale)), {"find": "plain"}
    measure = {"": lambda n: seconds(report.device, many, runner="chunk", active=n, **find)}
    line = swept(report, (*TABLE_1, 271), measure)[""]
    modern = seconds(report.device, many, **find)
    rows = [*line.items(), ("modern", modern)]
    report.write(4, ("candidates at a time", "seconds"), rows)
    report.figure(4, {"ours": line, "2012": TABLE_1}, "candidates at a time")
    most = max(n for n in line if n <= 256)
    gain = line[8] / line[most]
    why = "not confirmed"
    if report.device.kind == "cpu":
        why += ": few candidates keep the processors busy already"
    then = TABLE_1[8] / TABLE_1[most]
    return (
        f"{most} at a time are {gain:.1f} times as fast as 8, 2012: {then:.1f}; "
        f"all in one launch {line[8] / modern:.0f} times; {'confirmed' if gain > 4 else why}"
    )


def speed_up(report, scale):
    """Experiment 5: how much faster is the device than all cores of this machine?"""
    n = max(1, int(100 * scale))
    cpu = societies.choose_device("cpu")
    clock = time.perf_counter
    base = seconds(cpu, n, winner="auto", clock=clock)
    few = {"runner": "chunk", "find": "plain", "clock": clock}
    measure = {"": lambda k: base / seconds(report.device, n, active=k, **few)}
    line = swept(report, TABLE_2, measure)[""]
    many = 10**5 if report.device.kind == "cpu" else 4 * 10**6
    ours, theirs = Batches(report.device, SIZE, many), Batches(cpu, SIZE, 10**5)
    paces = []
    for one in (ours, theirs):
        one.run()
        began = time.perf_counter()
        one.run()
        one.run()
        paces.append(2 * one.each / (time.perf_counter() - began))
    modern = paces[0] / paces[1]
    rows = [*line.items(), ("modern", modern)]
    report.write(5, ("candidates at a time", "times"), rows)
    report.figure(5, {"ours": line, "2012": TABLE_2}, "candidates at a time", "times as fast")
    most = max(line)
    said = f"{most} at a time are {line[most]:.2f} times as fast as one launch on all cores"
    if report.device.kind == "cpu":
        return f"{said}; no speed-up is measured: the device is the CPU itself"
    verdict = "confirmed" if line[most] > 7.92 else "not confirmed with a launch for each playout"
    return f"{said}, 2012: 7.92 times one core; in one launch {modern:.0f} times; {verdict}"


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


def reply_errors(found, known):
    """Return how far the replies of known rate are from it, and the mean, in standard errors."""
    n, others = found.attrs["playouts"], known["playouts_per_cell"]
    rates = dict(zip(found.candidate.values.tolist(), found.rate.values.tolist(), strict=True))
    error = np.sqrt(0.25 / n + 0.25 / others)
    one_by_one = [*known["best5"], *known["worst5"]]
    far = [abs(rates[one["cell"]] - one["win_rate"]) / error for one in one_by_one]
    mean = abs(float(found.rate.mean()) - known["mean"])
    return [*far, mean / (error / np.sqrt(len(rates)))]


def beyond(found, classes):
    """Return how many cells or classes are how far from the known rates, in standard errors."""
    rates = dict(zip(found.candidate.values.tolist(), found.rate.values.tolist(), strict=True))
    far = 0.0
    for one in classes:
        n = found.attrs["playouts"] * len(one["cells"])
        mean = float(np.mean([rates[cell] for cell in one["cells"]]))
        far = max(far, abs(mean - one["win_rate"]) / np.hypot(one["se"], np.sqrt(0.25 / n)))
    return far


def rated(report, playouts, first, share, moves=""):
    """Return a rating from playout ``first`` on, as many as the share of the time allows."""
    settings = {"size": SIZE, "device": report.device}
    rate(moves, playouts=1, **settings)
    end, done, found = report.left * (1 - share), 0, None
    took, now = 0.0, max(1, playouts // 20)
    while done < playouts and (found is None or report.left > end):
        began = time.perf_counter()
        some = rate(moves, playouts=now, first_playout=first + done, **settings)
        took, done = took + time.perf_counter() - began, done + now
        found = some if found is None else added(found, some)
        fits = int(done / took * max(0.0, report.left - end))
        now = max(1, min(playouts - done, fits))
    if done < playouts:
        print(f"the time is over: {done:,} of {playouts:,} playouts of each cell")
    found.attrs["seconds"] = took
    return found


def added(one, other):
    """Return two ratings of different playouts as one."""
    both = one.copy()
    for name in ("wins", "losses", "draws"):
        both[name] = one[name] + other[name]
    both.attrs["playouts"] = one.attrs["playouts"] + other.attrs["playouts"]
    both["rate"] = both.wins / both.attrs["playouts"]
    return both


def openings(report, playouts):
    """Experiment 6: which opening is best? A GPU rates a third time, with 100 times as many."""
    known = json.loads((DATA / "havannah-openings-10.json").read_text())
    known = known["opening_by_symmetry_class"]
    third = report.device.kind != "cpu"
    first = rated(report, playouts, 0, 0.3 if third else 0.5)
    second = rated(report, first.attrs["playouts"], playouts, 0.4 if third else 0.9)
    both = added(first, second)
    if third:
        both = added(both, rated(report, 98 * playouts, 2 * playouts, 1.0))
    board(report, 6, both, "wins of the opening")
    cells = {int(both.candidate[i]) for i in (both.wins.values.argmax(), both.wins.values.argmin())}
    order = "confirmed" if cells == {5, 222} else "not confirmed"
    n, whole, took = first.attrs["playouts"], both.attrs["playouts"], first.attrs["seconds"]
    if third:  # so short that most of it was setting up: again on a device that is ready
        ready = Batches(report.device, SIZE, n * board_of(SIZE).cells)
        ready.run()
        took = ready.run()
    return (
        f"of {n:,} playouts of a cell, in {took:.2f} s, {extremes(first)}, then "
        f"{extremes(second)}, of {whole:,} in all {extremes(both)}; 2012: best 222 (52 %), worst 5 "
        f"(49 %), {order}: the standard error of a cell is {50 / np.sqrt(n):.2f} %, and the rates "
        f"differ by 1.7 %; classes are at most {beyond(both, known):.1f} standard errors from what "
        "is known"
    )


def replies(report, playouts):
    """Experiment 7: which reply to cell 222 is best?"""
    known = json.loads((DATA / "havannah-openings-10.json").read_text())["reply_to_222"]
    found = rated(report, 2 * playouts, 0, 1.0, names_of(SIZE)[222])
    board(report, 7, found, "wins of the reply to 222")
    far = np.array(reply_errors(found, known))
    return (
        f"of {found.attrs['playouts']:,} playouts {extremes(found)}, mean "
        f"{100 * float(found.rate.mean()):.2f} %; 2012: best 203 (50 %), worst 8 (46 %), not "
        "confirmed as cells: good replies differ by less than the standard error; "
        f"the {len(far)} known rates are at most {far.max():.1f} standard errors away"
    )


def variants(report, number, forms, label):
    """Measure playouts a second of several forms of one rating; return them by name."""
    found = {}
    for name, settings in forms.items():
        found[name] = per_second(report, **settings)
    rows = [(name, f"{pace:.0f}") for name, pace in found.items()]
    second = "processor second" if report.device.kind == "cpu" else "second"
    report.write(number, (label, f"playouts a {second}"), rows)
    drawing, axes = plt.subplots(figsize=(6.4, 3), layout="constrained")
    axes.barh(list(found), list(found.values()), color="0.6")
    axes.set(xlabel=f"playouts a {second}", title=report.device.name)
    axes.invert_yaxis()
    drawing.savefig(report._results / f"{report._name}-{number}.png", dpi=110)
    plt.close(drawing)
    return found


def tests_for_the_winner(report, scale):
    """Experiment 8: is it faster to place all stones first?"""
    forms = {name: {"winner": name} for name in ("forest", "offline", "flood")}
    found = variants(report, 8, forms, "winner")
    ratio = found["offline"] / found["forest"]
    verdict = "confirmed" if ratio > 1 else "not confirmed"
    return (
        f"the earliest structure of a full board is found {ratio:.2f} times as fast as by disjoint "
        f"sets, and a flood after every stone takes {found['forest'] / found['flood']:.1f} times "
        f"as long as these; Koennecke and Waldmann: faster; {verdict}"
    )


def neighbours(report, scale):
    """Experiment 9: does a table of neighbours in constant memory pay?"""
    forms = {name: {"winner": "forest", "neighbours": name} for name in ("computed", "table")}
    found = variants(report, 9, forms, "neighbours")
    ratio = found["table"] / found["computed"]
    verdict = "confirmed" if ratio > 1 else "not confirmed: rows of bits have all six at once"
    return f"with a table it is {ratio:.2f} times as fast; hoped for in 2012: faster; {verdict}"


def memories(report, scale):
    """Experiment 10: in which memory are boards best?"""
    kinds = ("private", "local", "global")
    forms = {name: {"winner": "forest", "memory": name} for name in kinds}
    found = variants(report, 10, forms, "memory")
    rest = ", ".join(f"{name} {found[name] / found['private']:.2f}" for name in kinds[1:])
    best = max(found, key=found.get)
    verdict = "confirmed" if best == "local" else f"not confirmed: {best} memory is"
    return f"of the pace in private memory: {rest}; hoped for in 2012: local is fastest; {verdict}"


def statistics(report, games):
    """Experiment 11: do random games end as others found?"""
    known = json.loads((DATA / "havannah-random-stats.json").read_text())
    names = ("ring_only", "bridge_only", "ring_bridge", "fork_only", "ring_fork", "bridge_fork")
    names = ("draws", *names, "all_three")
    whole, rows = report.left, []
    for place, one in enumerate(known):
        batches, n = Batches(report.device, one["size"], min(games, 500_000)), 0
        end = whole * (1 - (place + 1) / len(known))
        while n < games and (not n or report.left > end):
            batches.run()
            n += batches.each
        state = batches.arrays("wins", "losses", "finishes", "lengths")
        kinds = state["finishes"].sum(axis=0)
        shares = {name: (kinds[kind] / n, one[name]) for kind, name in enumerate(names)}
        shares["first_wins"] = state["wins"].sum() / n, one["first_wins"]
        shares["second_wins"] = state["losses"].sum() / n, one["second_wins"]
        both = 1 / n + 1 / one["playouts"]
        errors = {q: np.sqrt(max(p * (1 - p), 1 / n) * both) for q, (_, p) in shares.items()}
        shares["mean_length"] = state["lengths"].sum() / n, one["mean_length"]
        errors["mean_length"] = one["sd_length"] * np.sqrt(both)
        for quantity, (found, expected) in shares.items():
            z = abs(found - expected) / errors[quantity]
            rows.append((one["size"], n, quantity, f"{found:.6f}", expected, f"{z:.2f}"))
    report.write(11, ("size", "playouts", "quantity", "found", "known", "standard errors"), rows)
    far = max(rows, key=lambda row: float(row[-1]))
    least = min(row[1] for row in rows)
    verdict = "confirmed" if float(far[-1]) <= 4 else "not confirmed"
    return (
        f"of {len(rows)} quantities of at least {least:,} games on each board, the one farthest "
        f"from what is known, {far[2]} of size {far[0]}, is {far[-1]} standard errors "
        f"away; {verdict}"
    )


def agreement(report, playouts):
    """Experiment 12: do two tests for the winner find the same, playout by playout?"""
    rows, whole = [], report.left
    for place, size in enumerate(range(3, 11)):
        forms = [Batches(report.device, size, 63_000, winner=w) for w in ("forest", "offline")]
        n, differing, end = 0, 0, whole * (1 - (place + 1) / 8)
        while n < 125_000 and (not n or report.left > end):
            for one in forms:
                one.run()
            found = [one.arrays("outcomes")["outcomes"] for one in forms]
            n, differing = n + found[0].size, differing + int((found[0] != found[1]).sum())
        rows.append((size, n, differing))
    report.write(12, ("size", "playouts", "differing"), rows)
    n, differing = sum(row[1] for row in rows), sum(row[2] for row in rows)
    verdict = "confirmed" if not differing else "not confirmed"
    return f"of {n:,} permutations {differing:,} end differently by (b) and by (c); {verdict}"


EXPERIMENTS = {
    1: transfer,
    2: groups,
    3: compression,
    4: at_a_time,
    5: speed_up,
    6: openings,
    7: replies,
    8: tests_for_the_winner,
    9: neighbours,
    10: memories,
    11: statistics,
    12: agreement,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--all", action="store_true", help="as if --only had all numbers")
    parser.add_argument("--only", type=int, nargs="+", default=[], choices=list(EXPERIMENTS))
    parser.add_argument("--playouts", type=int, default=10_000, help="of 6; of 7 twice as many")
    parser.add_argument("--games", type=int, default=4_000_000, help="of each board in 11")
    parser.add_argument("--scale", type=float, default=1.0, help="of the playouts of 1 to 5")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each experiment")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    chosen = list(EXPERIMENTS) if options.all or not options.only else options.only
    device = societies.choose_device(options.device)
    print(f"{device}; driver {device.driver}")
    report = Report(device, options.results, options.seconds)
    for number in chosen:
        report.begin()
        size = options.playouts if number in (6, 7) else options.scale
        if number == 11:
            size = options.games
        report.say(number, EXPERIMENTS[number](report, size))
    return 0


if __name__ == "__main__":
    sys.exit(main())
