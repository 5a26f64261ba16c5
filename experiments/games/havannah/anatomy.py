"""Where does the time of a move go, and how large is the tree then?

    python experiments/games/havannah/anatomy.py [--device D] [--size 6] [--seconds 0.1]
                                                 [--repeats 5]

Players choose the first move alternately. For each: playouts, processor seconds of all threads,
seconds spent in launches and copies (all else is Python), launches of playouts, positions of the
tree (of the largest, of several) and its depth. Each number is that of the middle repeat by
playouts. Processor seconds tell more if the machine has other work.
"""

import argparse
import sys
import time

import societies
from reference_py.games.havannah.match import Strength, choose
from societies.games.havannah.players import evaluator
from societies.games.havannah.position import HavannahGame

PLAYERS = {
    "flat, 8 a move": {"kind": "flat", "each": 8},
    "uct, 8 x 64 leaves": {"each": 8, "leaves": 64},
    "uct, 8 x 32 leaves": {"each": 8, "leaves": 32},
    "uct, 4 x 64 leaves": {"each": 4, "leaves": 64},
    "uct, 1 x 256 leaves": {"each": 1, "leaves": 256},
    "uct, 1 x 64 leaves": {"each": 1, "leaves": 64},
    "trees": {"kind": "trees", "each": 1, "leaves": 256},
    "trees, rave": {"kind": "trees", "each": 1, "leaves": 256, "exploration": 0.0, "rave": 500.0},
}


class Timed:
    """Plays positions out, or lets trees grow, as another does, and notes how long that takes."""

    def __init__(self, of):
        self._of, self.seconds, self.launches = of, 0.0, 0

    def _noted(self, function, *arguments):
        began = time.perf_counter()
        found = function(*arguments)
        self.seconds += time.perf_counter() - began
        return found

    def __call__(self, *arguments):
        self.launches += 1
        return self._noted(self._of, *arguments)

    def plant(self, *arguments):
        return self._noted(self._of.plant, *arguments)

    def grow(self):
        self.launches += 1
        return self._noted(self._of.grow)

    def found(self):
        return self._noted(self._of.found)


def shape_of_node(node):
    """Return positions and depth of a tree on the host."""
    below = [shape_of_node(one) for one in node.below.values()]
    return 1 + sum(size for size, _ in below), 1 + max((depth for _, depth in below), default=0)


def shape_of_trees(keeper):
    """Return the same of the largest tree on a device."""
    state = keeper._engine.arrays("node_count", "below")
    shapes = []
    for used, below in zip(state["node_count"][0].tolist(), state["below"][0], strict=True):
        depths = [1] * used
        for node in range(used):  # a position is younger than the one above it
            for next_node in below[node][below[node] > 0].tolist():
                depths[next_node] = depths[node] + 1
        shapes.append((used, max(depths)))
    return max(shapes)


def measured(strength, evaluate, size):
    """Return what is measured of one move."""
    timed, began, used = Timed(evaluate), time.perf_counter(), time.process_time()
    _, search, _ = choose(strength, HavannahGame(size).stones, 1, False, timed, None, 0)
    seconds, used = time.perf_counter() - began, time.process_time() - used
    shape = shape_of_trees(evaluate) if strength.kind == "trees" else shape_of_node(search._root)
    return search.visits, seconds, used, timed.seconds, timed.launches, *shape


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    device = societies.choose_device(options.device)
    print(f"{device}; driver {device.driver}")
    players = {name: Strength(seconds=options.seconds, **more) for name, more in PLAYERS.items()}
    evaluates = {name: evaluator(device, options.size, one, 1) for name, one in players.items()}
    found = {name: [] for name in players}
    for repeat in range(options.repeats + 1):
        for name, one in players.items():
            now = measured(one, evaluates[name], options.size)
            if repeat:  # kernels are built before
                found[name].append(now)
    heads = ("playouts", "s", "processor s", "in launches", "launches", "positions", "depth")
    print(f"{'player':20}" + "".join(f"{head:>12}" for head in heads))
    for name, rows in found.items():
        middle = sorted(rows)[len(rows) // 2]
        texts = (f"{one:.3f}" if isinstance(one, float) else f"{one:,}" for one in middle)
        print(f"{name:20}" + "".join(f"{text:>12}" for text in texts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
