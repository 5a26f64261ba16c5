"""How do chess programs use the search? By the Universal Chess Interface, in lines of text.

A separate thread reads commands, so that ``stop`` and ``isready`` are answered while a search runs:
the search looks for them between its supersteps. The search has no hash table.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, TextIO

from reference_py.games.chess.fen import START, FenError, write_fen
from reference_py.games.chess.rules import Move
from reference_py.games.ngtsg.parameters import Refinements
from societies.errors import ConfigError, SocietiesError
from societies.games.chess.config import ChessConfig
from societies.games.chess.game import UNDECIDED, ChessGame
from societies.games.chess.searcher import MOST_DEPTH, PREPARED, ChessSearcher, FoundMove
from societies.games.ngtsg.config import MOST_ASPIRATION, MOST_BATCH, MOST_CHILDREN, MOST_LEVEL
from societies.games.ngtsg.refinements import contradictions
from societies.inputs import whole_number
from societies.opencl import Device
from societies.workload import Setup
from societies.workload.running.engines import engine_on
from societies.workload.running.registry import config_from_dict

MOVES_LEFT, RESERVE = 30, 0.05
"""Moves that a clock must last for without ``movestogo``, and seconds that are left on it."""

LEAST = {
    **dict.fromkeys(("depth", "movetime", "movestogo", "nodes", "mate"), 1),
    **dict.fromkeys(("winc", "binc"), 0),
    **dict.fromkeys(("wtime", "btime"), None),
}
"""Words of ``go`` that take a number, and its minimum; None: clocks may be negative."""
ALONE, LISTED = ("infinite", "ponder"), "searchmoves"
"""Words of ``go`` that take no argument, and the word that takes a list of moves."""
LISTS = {"Rounds": MOST_CHILDREN, "Rounds At": MOST_LEVEL, "Near Root": MOST_BATCH}
NUMBERS = {"Deepening": MOST_DEPTH - 1, "Aspiration": MOST_ASPIRATION}
"""Options that refine the search, and the largest number that they take; see `_key`."""
MOST_DIGITS = 15
END = None
"""Marks the end of the input in the queue of lines."""


class Uci:
    """A chess engine that another program uses by the Universal Chess Interface.

    By default ``lines`` and ``out``, its input and output, are the standard streams.
    """

    def __init__(
        self,
        setup: Setup[ChessConfig, Any],
        device: str | Device = "auto",
        lines: TextIO | None = None,
        out: TextIO | None = None,
    ) -> None:
        self._in, self._out = lines or sys.stdin, out or sys.stdout
        self._batch = setup.config.batch.leaves
        self._searcher = ChessSearcher(setup.on(device))
        self._game, self._refused = ChessGame(), False
        self._read: queue.Queue[str | None] = queue.Queue()
        self._later: deque[str | None] = deque()
        self._stopped = self._left = self._endless = False
        self._most_nodes = 0
        self._known: dict[str, Callable[[Sequence[str]], None]] = {
            "uci": self._uci,
            "debug": self._debug,
            "isready": self._isready,
            "ucinewgame": lambda words: self._new(),
            "position": self._position,
            "go": self._go,
            "setoption": self._setoption,
            "stop": lambda words: None,
            "ponderhit": lambda words: None,
            "quit": self._quit,
            "d": self._draw,
        }

    def run(self) -> None:
        """Answer until ``quit`` or the end of the input."""
        threading.Thread(target=self._reading, daemon=True).start()
        while not self._left:
            line = self._later.popleft() if self._later else self._read.get()
            if line is END:
                return
            self._obey(line)

    def _reading(self) -> None:
        for line in self._in:
            self._read.put(line)
        self._read.put(END)

    def say(self, text: str) -> None:
        """Write a line at once."""
        print(text, file=self._out, flush=True)

    def _obey(self, line: str) -> None:
        words = self._command(line)
        skipped = line.split()[: -len(words) or None]
        if skipped:
            self.say(f"info string unknown command: {skipped[0]}")
        if not words:
            return
        try:
            self._known[words[0]](words[1:])
        except (SocietiesError, FenError) as error:
            self.say(f"info string {error}".replace("\n", " "))

    def _command(self, line: str | None) -> list[str]:
        """Return the words of a line from the first known command on; ignore those before it."""
        words = deque((line or "").split())
        while words and words[0] not in self._known:
            words.popleft()
        return list(words)

    def _uci(self, words: Sequence[str]) -> None:
        self.say("id name Societies")
        self.say("id author The Societies developers")
        self.say("option name Device type string default auto")
        self.say(f"option name Batch type spin default {self._batch} min 1 max {MOST_BATCH}")
        keys = asdict(self._searcher.config.refinements)
        for name in LISTS:
            value = " ".join(map(str, keys[_key(name)])) or "<empty>"
            self.say(f"option name {name} type string default {value}")
        first = str(keys["principal_variation"]).lower()
        self.say(f"option name Principal Variation type check default {first}")
        for name, most in NUMBERS.items():
            self.say(f"option name {name} type spin default {keys[_key(name)]} min 0 max {most}")
        self.say("uciok")

    def _isready(self, words: Sequence[str]) -> None:
        self._searcher.prepare(PREPARED)
        self._searcher.find(ChessGame().board, 1)  # loads the kernels
        self.say("readyok")

    def _debug(self, words: Sequence[str]) -> None:
        if words not in (["on"], ["off"]):  # the mode has no effect
            self.say(f"info string debug: {' '.join(words) or 'nothing'}: on or off is expected")

    def _draw(self, words: Sequence[str]) -> None:
        if not self._is_refused("d"):
            self.say(self._game.drawn() + "\n" + write_fen(self._game.board))

    def _new(self) -> None:
        self._game, self._refused = ChessGame(), False

    def _is_refused(self, word: str) -> bool:
        """Return whether the last position was refused, and report it; older ones do not count."""
        if self._refused:
            self.say(f"info string {word}: the last position was refused; give another one")
        return self._refused

    def _quit(self, words: Sequence[str]) -> None:
        self._left = True

    def _position(self, words: Sequence[str]) -> None:
        self._refused = True  # until the position has been read
        at = words.index("moves") if "moves" in words else len(words)
        kind, moves = words[:1], words[at + 1 :]
        if kind == ["startpos"] and at > 1:
            self.say(f"info string position: {words[1]}: moves is expected")
            return
        if kind == ["startpos"]:
            fen = START
        elif kind == ["fen"]:
            fen = " ".join(words[1:at])
        else:
            self.say("info string position: startpos or fen is expected")
            return
        self._game, self._refused = ChessGame(fen).replay(moves), False

    def _setoption(self, words: Sequence[str]) -> None:
        text = " ".join(words)
        name, _, value = f"{text} ".removeprefix("name ").partition(" value ")
        name, value = name.strip(), value.strip()
        if name.lower() == "device":
            self._searcher = ChessSearcher(self._searcher.setup.on(value or "auto"))
        elif name.lower() == "batch" and 1 <= (whole_number(value) or 0) <= MOST_BATCH:
            self._batch = int(value)
            sizes = {"leaves": self._batch, "branches": max(1, self._batch // 4)}
            batch = self._searcher.config.batch.model_copy(update=sizes)
            self._searcher = self._searcher.changed(batch=batch)
        elif (keys := self._refined(name.lower(), value.split())) is not None:
            config = self._searcher.config
            wrong = [
                conflict.message
                for conflict in contradictions(keys, MOST_DEPTH, config.batch.branches)
                # Options arrive one by one: aspiration may come before the key that it depends on.
                if conflict.path != ("aspiration",)
            ]
            if wrong:
                self.say(f"info string {name}: {wrong[0]}")
                return
            changes = asdict(keys)
            near = {"near_root": changes.pop("near_root")}
            batch = config.batch.model_copy(update=near)
            self._searcher = self._searcher.changed(batch=batch, **changes)
        else:
            self.say(f"info string no such option or value: {text}")

    def _refined(self, name: str, words: Sequence[str]) -> Refinements | None:
        """Return the search's keys with ``name`` set; None if the name or the value is invalid."""
        keys = self._searcher.config.refinements
        if name == "principal variation" and words in (["true"], ["false"]):
            return replace(keys, principal_variation=words == ["true"])
        numbers = () if words == ["<empty>"] else tuple(words)
        if not all(whole_number(word) is not None and len(word) < 11 for word in numbers):
            return None
        values = tuple(int(word) for word in numbers)
        option, found = name.title(), dict[str, Any]()
        if option in LISTS and all(1 <= value <= LISTS[option] for value in values):
            found = {_key(name): values}
        if option in NUMBERS and len(values) == 1 and values[0] <= NUMBERS[option]:
            found = {_key(name): values[0]}
        return replace(keys, **found) if found else None

    def _go(self, words: Sequence[str]) -> None:
        if words[:1] == ["perft"]:
            if not self._is_refused("go"):
                self._perft(words[1:])
            return
        if self._is_refused("go"):
            self.say("bestmove 0000")
            return
        numbers, among, refused = self._numbers_and_moves(words)
        if not self._game.legal():
            mated = self._game.score()[0] not in (UNDECIDED, "1/2-1/2")
            self.say(f"info depth 0 score {'mate 0' if mated else 'cp 0'}")
            self.say("bestmove (none)")
            return
        seconds, self._stopped = self._seconds(numbers), False
        self._endless = not seconds and not {"depth", "nodes", "mate"} & set(numbers)
        if self._endless and refused and "infinite" not in words:
            self._endless, numbers["depth"] = False, 1  # an error must not start an endless search
        depth = numbers.get("depth", MOST_DEPTH)
        if "mate" in numbers:
            depth = min(depth, 2 * numbers["mate"] - 1)
        self._most_nodes = numbers.get("nodes", 0)
        if self._endless:  # commands of the last search's time may be about this one
            queued, self._later = self._later, deque()
            while queued and not self._stopped:
                self._note(queued.popleft())
            self._later += queued
        depth, board = max(1, min(MOST_DEPTH, depth)), self._game.board
        keys: dict[str, Any] = {"seconds": seconds, "each": self._report, "stop": self._asked}
        if among:
            found = self._searcher.find_among(board, among, depth, **keys)
        else:
            found = self._searcher.find(board, depth, **keys)
        while self._endless and not self._stopped:
            self._note(self._read.get())
        self.say(f"bestmove {found.move.name(self._game.side)}")

    def _numbers_and_moves(self, words: Sequence[str]) -> tuple[dict[str, int], list[Move], bool]:
        """Return the numbers and moves of ``go``, and whether wrong words were reported."""
        found: dict[str, int] = {}
        among: list[Move] = []
        wrong, left = [], deque(words)
        known = (*LEAST, *ALONE, LISTED)
        while left:
            name = left.popleft()
            if name in LEAST:
                given = left[0] if left and left[0] not in known else ""
                number, least = _whole(given), LEAST[name]
                if given:
                    left.popleft()
                if number is None or (least is not None and number < least):
                    start = "" if least is None else f" from {least} on"
                    wrong.append(f"{name}: {given or 'nothing'}: a whole number{start}")
                else:
                    found[name] = number
            elif name == LISTED:
                if not left or left[0] in known:
                    wrong.append(f"{LISTED}: nothing: moves are expected")
                while left and left[0] not in known:
                    try:
                        among.append(self._game.read(left.popleft()))
                    except ConfigError as error:
                        wrong.append(f"{LISTED}: {error}")
            elif name not in ALONE:
                wrong.append(f"{name}: no such word")
        for one in wrong:
            self.say(f"info string go: {one}; ignored")
        return found, among, bool(wrong)

    def _seconds(self, numbers: dict[str, int]) -> float:
        """Return the time for the move, 0 if no limit is given."""
        if "movetime" in numbers:
            return max(0.001, numbers["movetime"] / 1000)
        own, more = ("wtime", "winc") if self._game.side == 0 else ("btime", "binc")
        if own not in numbers:
            return 0.0
        left, bonus = numbers[own] / 1000, numbers.get(more, 0) / 1000
        share = left / max(1, numbers.get("movestogo", MOVES_LEFT)) + bonus
        return max(0.001, min(share, left - RESERVE))

    def _report(self, found: FoundMove) -> None:
        rate = int(found.nodes / max(found.seconds, 1e-6))
        self.say(
            f"info depth {found.depth} score {found.score} nodes {found.nodes} nps {rate} "
            f"time {int(1000 * found.seconds)} pv {found.move.name(self._game.side)}"
        )
        if 0 < self._most_nodes <= found.nodes:
            self._stopped = True

    def _asked(self) -> bool:
        """Answer urgent commands that have arrived; return whether the search must end."""
        while not self._stopped and not self._read.empty():
            self._note(self._read.get())
        return self._stopped

    def _note(self, line: str | None) -> None:
        """Answer a line that arrived during a search, or store it for later."""
        word = next(iter(self._command(line)), "")
        # Commands after another ``go`` (in a file of commands) are not about this search.
        searches = any(self._command(queued)[:1] == ["go"] for queued in self._later)
        of_this = self._endless or not searches
        if word == "isready":
            self.say("readyok")
        elif word in ("stop", "quit", "ponderhit") and of_this:
            self._stopped = True
            self._left = self._left or word == "quit"
        else:
            self._later.append(line)
            if line is END and self._endless:  # no further command can stop it
                self._stopped = True

    def _perft(self, words: Sequence[str]) -> None:
        depth, word = 1, " ".join(words)
        if (number := _whole(word)) is not None and number > 0:
            depth = number
        else:
            wrong = f"{word or 'nothing'}: a whole number from 1 on"
            self.say(f"info string go: perft: {wrong}; 1 is taken")
        from societies.games.chess.perft import WORKLOAD
        from societies.games.chess.perft_report import move_of

        fen = write_fen(self._game.board)
        given: Any = config_from_dict({"workload": "chess_perft", "depth": depth, "fen": fen})
        device = self._searcher.setup.device
        engine = engine_on(device, WORKLOAD, Setup(WORKLOAD, given).on(device).p)
        engine.start()
        engine.run_ticks(depth, depth)
        found = engine.arrays("nodes", "root_moves", "divided")
        for code, nodes in zip(found["root_moves"][0], found["divided"][0], strict=True):
            if code:
                self.say(f"{move_of(int(code)).name(self._game.side)}: {int(nodes)}")
        self.say(f"\nNodes searched: {int(found['nodes'][0])}\n")


def _key(option: str) -> str:
    """Return the attribute of `Refinements` that an option sets."""
    return option.lower().replace(" ", "_")


def _whole(word: str) -> int | None:
    """Return the whole number that a word holds in digits 0 to 9; None if it is no number."""
    digits = word.removeprefix("-")
    if digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS:
        return int(word)
    return None
