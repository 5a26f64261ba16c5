"""Do the device and the reference find the same of 100,000 random boards, in every form?

    python tests/games/kalah/fuzz.py [--jobs 16] [--device D] [--boards 100000] [--append CSV]

What is compared, half with each rule of capture; a line of the table each:

- score, pit, nodes, leaves and finished games at depth 1 to 3 of all boards with the reference
  (48 stones, also 9 and 24; one stone in the pits; 47 in one pit), by both forms in turn;
- the same at depth 4 and 5 of 1,000 of them;
- the same at depth 3 by every split, the parts of the search alone among them, of 1,000;
- all boards with the sides exchanged: score and pit of the exchanged side;
- all forms and splits (with up to 3 plies board after board) with each other to depth 8, of 64
  boards.

Seeds are printed. A difference is printed with its board, and the script then ends with 1.
"""

import argparse
import csv
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2])]

from boards import (  # noqa: E402
    RESULTS,
    config,
    extreme,
    flipped,
    fuzz,
    given,
    searched,
    splits,
)

from reference_py.games.kalah.descend import minimax  # noqa: E402
from reference_py.games.kalah.parameters import Parameters  # noqa: E402

COLUMNS = ("date", "commit", "device", "driver", "seed", "empty_capture", "what", "depth")
COLUMNS = (*COLUMNS, "boards", "searches", "different", "seconds")
AT_ONCE, MOST_BEFORE = 1000, 3
FORMS = ({"plies": 2}, {"form": "layers"}, {}, {"form": "layers", "boards": 64})
WHOLE = (
    *({"plies": plies} for plies in (1, 3, 4, 8)),
    *({"plies": 3, "boards": boards} for boards in (64, 1000)),
    {"alone": 7},
)


def expected(p, depths, boards):
    """Return what the reference finds: name -> (board, depth)."""
    found = [[minimax(p, list(board), side, d) for d in depths] for board, side in boards]
    return {name: np.array([[getattr(a, name) for a in row] for row in found]) for name in RESULTS}


class Fuzz:
    """What was compared so far, with one rule of capture.

    Parameters
    ----------
    device : Device
    pool : carries out the reference
    seed, empty_capture : of the boards
    """

    def __init__(self, device, pool, seed, empty_capture):
        self.device, self.pool, self.seed, self.rule = device, pool, seed, empty_capture
        self.p, self.rows = Parameters(empty_capture=empty_capture), []

    def found(self, boards, depth, depths, /, **settings):
        """Return what the device finds of some boards."""
        positions = given(boards)
        one = config(depth, positions=positions, empty_capture=self.rule, **settings)
        return searched(one, self.device, depths)

    def compare(self, what, boards, results):
        """Print and count the boards of which two results differ."""
        different = 0
        found, wanted = results
        for i, (board, side) in enumerate(boards):
            wrong = [name for name in found if (found[name][i] != wanted[name][i]).any()]
            if wrong:
                different += 1
                print(f"DIFFERENT {what}: {board}, side {side}: {', '.join(wrong)}", flush=True)
        return different

    def noted(self, what, depth, boards, searches, different, began):
        """Add a line to the table."""
        seconds = f"{time.perf_counter() - began:.1f}"
        row = (self.seed, self.rule, what, depth, boards, searches, different, seconds)
        self.rows.append(row)
        print(f"{what:24} depth {depth:5} {boards:7,} boards {different} different  {seconds} s")

    def with_reference(self, what, boards, depths, forms):
        """Compare a device, by the forms in turn, with the reference."""
        began, different, parts = time.perf_counter(), 0, max(1, len(boards) // AT_ONCE)
        chunks = [boards[i::parts] for i in range(parts)]
        work = partial(expected, self.p, depths)
        for number, wanted in enumerate(self.pool.map(work, chunks)):
            settings = forms[number % len(forms)]
            found = self.found(chunks[number], max(depths), depths, **settings)
            different += self.compare(f"{what} {settings}", chunks[number], (found, wanted))
        depth = f"{min(depths)}-{max(depths)}"
        self.noted(what, depth, len(boards), len(boards) * len(depths), different, began)

    def every_split(self, boards):
        """Compare all splits of depth 3 with the reference: the parts of the search alone, too."""
        began, different, all_of_them = time.perf_counter(), 0, splits(3)
        parts = max(1, len(boards) // 50)
        chunks = [boards[i::parts] for i in range(parts)]
        rows = list(self.pool.map(partial(expected, self.p, [3]), chunks))
        order = [one for chunk in chunks for one in chunk]
        wanted = {name: np.concatenate([row[name] for row in rows]) for name in RESULTS}
        for split in all_of_them:
            found = self.found(order, 3, [3], form="layers", split=list(split))
            different += self.compare(f"split {split}", order, (found, wanted))
        searches = len(boards) * len(all_of_them)
        self.noted("every split", "3", len(boards), searches, different, began)

    def sides(self, boards):
        """Compare each board with itself as the other side sees it."""
        began, different = time.perf_counter(), 0
        for start in range(0, len(boards), AT_ONCE):
            positions = boards[start : start + AT_ONCE]
            mirrored = [(flipped(self.p, board), 1 - side) for board, side in positions]
            found, other = (self.found(some, 3, [3]) for some in (positions, mirrored))
            half = self.p.pits + 1
            shifted = np.where(other["pit"] < 0, other["pit"], (other["pit"] + half) % self.p.cells)
            wanted = {**other, "score": -other["score"], "pit": shifted}
            different += self.compare("sides exchanged", positions, (found, wanted))
        self.noted("sides exchanged", "3", len(boards), 2 * len(boards), different, began)

    def with_each_other(self, boards, depth):
        """Compare all forms and splits with the first form."""
        began, different, depths = time.perf_counter(), 0, [depth]
        wanted = self.found(boards, depth, depths, plies=2)
        # Plies taken board after board are a launch for each board: three of them are enough.
        some = [list(one) for one in splits(depth) if one[0] <= MOST_BEFORE]
        forms = [*WHOLE, *({"form": "layers", "split": one} for one in some)]
        for settings in forms:
            found = self.found(boards, depth, depths, **settings)
            different += self.compare(str(settings), boards, (found, wanted))
        searches = len(boards) * (len(forms) + 1)
        self.noted("forms and splits", str(depth), len(boards), searches, different, began)


def main():
    import societies
    from societies.workload.running.provenance import git_commit

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--boards", type=int, default=100_000)
    parser.add_argument("--deep", type=int, default=1000, help="boards compared to depth 5")
    parser.add_argument("--whole", type=int, default=64, help="boards compared to depth 8")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--append", type=Path, metavar="CSV")
    options = parser.parse_args()
    device = societies.choose_device(options.device)
    print(f"{device}; driver {device.driver}; {options.jobs} jobs; seed {options.seed}")
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for rule in (False, True):
            seed = 2 * options.seed + rule
            print(f"empty_capture {rule}, seed {seed}")
            one = Fuzz(device, pool, seed, rule)
            count = options.boards // 2 - len(extreme(one.p))
            boards = fuzz(seed, count, one.p)
            deep, whole = boards[-options.deep // 2 :], boards[-(options.whole // 2) :]
            one.with_reference("reference", boards, [1, 2, 3], FORMS)
            one.with_reference("reference", deep, [4, 5], FORMS[:2])
            one.every_split(deep)
            one.sides(boards)
            for depth in (6, 7, 8):
                one.with_each_other(whole, depth)
            rows += one.rows
    if options.append:
        new, now = not options.append.exists(), datetime.now(UTC).date().isoformat()
        facts = (now, git_commit(), device.name, device.driver)
        with options.append.open("a", newline="") as file:
            table = csv.writer(file)
            table.writerows([COLUMNS] * new + [(*facts, *row) for row in rows])
    return int(any(row[6] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
