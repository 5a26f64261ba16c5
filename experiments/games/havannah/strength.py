"""How strong is UCT at equal time, against flat Monte Carlo, against Castro, and on another device?

    python experiments/games/havannah/strength.py --against flat [castro cpu] [--castro PROGRAM]
        [--device D] [--games 200] [--seconds 0.1] [--size 6] [--rave 500] [--limit 1500]

All players are programs that speak the Go Text Protocol; this one is the referee. Each has a time
for a move by the clock, both begin half of the games, and Black may swap. UCT has a tree for each
processor, on a GPU 256 trees; with --rave also the estimates of that name (the key of the player).
``flat`` is flat Monte Carlo on one processor, ``castro`` the program of that name with its defaults
(rapid action value estimates, knowledge of the game; see benchmarks/peers.md), ``cpu`` UCT on
all processors, for a --device that is a GPU. After --limit seconds no further pair of games begins.
Each match writes results/strength-DEVICE-[rave-]OPPONENT.csv, a game a row, and prints the share of
points with its interval of 95 % (Wilson).
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import societies
from societies.errors import ConfigError
from societies.games.havannah.position import SWAP, HavannahGame
from societies.games.matches import beginner, standing

HERE = Path(__file__).resolve().parent
COLUMNS = ("device", "opponent", "seconds_a_move", "game", "white", "winner", "end", "plies")
COLUMNS += ("first_s", "opponent_s", "moves")
FLAT = "kind: flat, each: 8"
RAVE = "rave: {}, exploration: 0"
TREES = {
    "cpu": f"kind: trees, trees: {os.cpu_count()}, each: 1, leaves: 256",
    "gpu": "kind: trees, trees: 256, each: 64, leaves: 8, nodes: 2048",
}


class PlayerProcess:
    """A player in a process of its own."""

    def __init__(self, command, processors=None):
        def bound():
            if processors:
                os.sched_setaffinity(0, processors)

        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        quiet = {"stderr": subprocess.DEVNULL, "preexec_fn": bound}
        self._process = subprocess.Popen([str(word) for word in command], **pipes, **quiet)
        self.seconds = self.moves = 0

    def ask(self, line):
        """Return the answer to a command."""
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        answer = []
        while (text := self._process.stdout.readline()).strip() or not answer:
            if not text:
                raise RuntimeError(f"{line}: the program has ended")
            answer.append(text)
        text = "".join(answer)
        if not text.startswith("="):
            raise RuntimeError(f"{line}: {text.strip()}")
        return text[1:].strip()

    def begin(self):
        """Begin a game."""
        self.seconds = self.moves = 0
        self.ask("clear_board")

    def move(self, colour):
        """Return the move that the player makes, in capitals or swap."""
        began = time.perf_counter()
        answer = self.ask(f"genmove {colour}").split("\n")[-1].split()[0].strip("= ")
        self.seconds, self.moves = self.seconds + time.perf_counter() - began, self.moves + 1
        return answer if answer == SWAP else answer.upper()

    def play(self, colour, move, game):
        """Note a move of the other player."""
        self.ask(SWAP if move == SWAP else f"play {colour} {move}")

    def close(self):
        """End the process."""
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def trees_on(device, rave):
    """Return the keys of UCT on a device."""
    kind = "cpu" if societies.choose_device(device).kind == "cpu" else "gpu"
    return ", ".join([TREES[kind], *([RAVE.format(rave)] if rave else [])])


def ours(device, size, seconds, keys, processors=None):
    """Return a player of ours."""
    player = f"{{{keys}, seconds: {seconds}}}"
    command = [sys.executable, "-m", "societies", "play", "games/havannah/play"]
    command += ["--protocol", "gtp", "--device", device, "--set", f"size={size}"]
    command += ["--set", f"players=[{player}, {{kind: random}}]"]
    made = PlayerProcess(command, processors)
    made.ask("genmove w")  # kernels are built before the first game
    return made


class Castro(PlayerProcess):
    """Castro, whose command `swap` only says whether there is one.

    A swap is sent as a game with the colours exchanged, in which there is none: White's stone is
    still white, and Black moves.
    """

    def __init__(self, program, size, seconds):
        super().__init__([program])
        self._exchanged, self._opening = False, ""
        for line in ("gridcoords", f"boardsize {size}", f"time -m {seconds} -g 0"):
            self.ask(line)

    def begin(self):
        """Begin a game in which Black may swap."""
        super().begin()
        self._exchanged = False
        self.ask("swap 1")

    def _seen(self, colour):
        return {"w": "b", "b": "w"}[colour] if self._exchanged else colour

    def _swapped(self, opening):
        self._exchanged = True
        for line in ("clear_board", "swap 0", f"play w {opening.lower()}"):
            self.ask(line)

    def move(self, colour):
        """As of every player."""
        answer = super().move(self._seen(colour))
        if answer == SWAP:
            self._swapped(self._opening)
        return answer

    def play(self, colour, move, game):
        """As of every player."""
        self._opening = game.moves[0]
        if move == SWAP:
            self._swapped(self._opening)
        else:
            self.ask(f"play {self._seen(colour)} {move.lower()}")


def played(players, first, size):
    """Return the game that two players play, whose places are 0 and 1, and how it ended.

    The player at ``first`` is White. Who makes no legal move has lost.
    """
    game = HavannahGame(size, swap=True)
    for one in players:
        one.begin()
    while not game.is_over:
        mover = first if game.side == 1 else 1 - first
        colour = "wb"[game.side - 1]
        move = players[mover].move(colour)
        try:
            game.play(move)
        except ConfigError:
            return game, 1 - mover, f"no legal move: {move}"
        players[1 - mover].play(colour, move, game)
    if not game.reasons:
        return game, None, "draw"
    last = 2 - game.side  # 1: White is to move, so Black has won
    return game, first if last == 0 else 1 - first, game.result


def match(options, device, opponent):
    """Play a match, write its games and return a sentence."""
    size, seconds = options.size, options.seconds
    if opponent == "castro":
        other = Castro(options.castro, size, seconds)
    elif opponent == "flat":
        other = ours("cpu", size, seconds, FLAT, {min(os.sched_getaffinity(0))})
    else:
        other = ours("cpu", size, seconds, trees_on("cpu", options.rave))
    own = trees_on(options.device, options.rave)
    players = (ours(options.device, size, seconds, own), other)
    called = f"rave-{opponent}" if options.rave else opponent
    name = re.sub(r"[^a-z0-9]+", "-", device.name.lower()).strip("-")
    options.results.mkdir(parents=True, exist_ok=True)
    margins, began = [], time.perf_counter()
    with (options.results / f"strength-{name}-{called}.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for number in range(1, options.games + 1):
            if number % 2 and time.perf_counter() - began > options.limit:
                break
            first = beginner(number)
            game, winner, end = played(players, first, size)
            margins.append(0 if winner is None else 1 if winner == 0 else -1)
            names = ("UCT", opponent)
            row = [device.name, opponent, seconds, number, names[first]]
            row += ["draw" if winner is None else names[winner], end, len(game.moves)]
            row += [f"{one.seconds / max(1, one.moves):.3f}" for one in players]
            table.writerow([*row, " ".join(game.moves)])
            file.flush()
    for one in players:
        one.close()
    found = standing(margins)
    low, high = (100 * edge for edge in found.points_interval)
    kind = "UCT with RAVE" if options.rave else "UCT"
    return (
        f"{kind} against {opponent}: {found.wins} won, {found.ties} drawn, {found.losses} lost of "
        f"{found.games}: {100 * found.points:.1f} % of the points, {low:.1f} to {high:.1f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--against", nargs="+", required=True, choices=["flat", "castro", "cpu"])
    parser.add_argument("--castro", type=Path, help="path of the program")
    parser.add_argument("--size", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.1, help="of a move")
    parser.add_argument("--rave", type=float, default=0.0, help="of UCT: key rave; 0: none")
    parser.add_argument("--games", type=int, default=200, help="of each match, an even number")
    parser.add_argument("--limit", type=float, default=1500.0, help="seconds of each match")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    if options.games % 2 or options.games < 2:
        parser.error(f"--games {options.games}: an even number; each player begins half of them")
    if "castro" in options.against and not (options.castro and options.castro.is_file()):
        parser.error("--castro: give the path of the program")
    device = societies.choose_device(options.device)
    print(f"{device}; driver {device.driver}; {os.cpu_count()} processors")
    for opponent in options.against:
        print(match(options, device, opponent), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
