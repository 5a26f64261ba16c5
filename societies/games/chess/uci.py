"""How do chess programs use the search? By the Universal Chess Interface, in lines of text.

Commands are read in a thread of their own, so that ``stop`` and ``isready`` are answered while a
search runs; they are asked for between its supersteps. There is no hash table.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from reference_py.games.chess.fen import START, FenError, write_fen
from societies.errors import SocietiesError
from societies.games.chess.game import UNDECIDED, Game, replayed
from societies.games.chess.searcher import MOST_DEPTH, PREPARED, Found, Searcher
from societies.workload.engines import DeviceEngine, ReferenceEngine
from societies.workload.registry import config_from_dict

if TYPE_CHECKING:
    from societies.games.chess.config import ChessConfig
    from societies.opencl import Device
    from societies.workload import Workload

MOST_BATCH = 2**20
MOVES_LEFT, RESERVE = 30, 0.05
"""For so many moves a clock has to last unless it is said, and seconds that are kept of it."""

TIMES = ("depth", "movetime", "wtime", "btime", "winc", "binc", "movestogo", "nodes", "mate")
END = None
"""What is read after the last line."""


class Uci:
    """An engine that a program talks to.

    Parameters
    ----------
    workload, config : the search
    device : str or Device
    lines, out : what is read and written; by default the standard streams
    """

    def __init__(
        self,
        workload: Workload[Any, Any],
        config: ChessConfig,
        device: str | Device = "auto",
        lines: TextIO | None = None,
        out: TextIO | None = None,
    ) -> None:
        self._in, self._out = lines or sys.stdin, out or sys.stdout
        self._batch = config.batch.leaves
        self._searcher = Searcher(workload, config, device)
        self._game = Game()
        self._read: queue.Queue[str | None] = queue.Queue()
        self._later: deque[str | None] = deque()
        self._stopped = self._left = self._endless = False
        self._most_nodes = 0

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
        words = line.split()
        known: dict[str, Callable[[Sequence[str]], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "ucinewgame": lambda words: self._new(),
            "position": self._position,
            "go": self._go,
            "setoption": self._setoption,
            "stop": lambda words: None,
            "ponderhit": lambda words: None,
            "quit": self._quit,
            "d": lambda words: self.say(self._game.drawn() + "\n" + write_fen(self._game.board)),
        }
        if not words:
            return
        if words[0] not in known:
            self.say(f"info string unknown command: {words[0]}")
            return
        try:
            known[words[0]](words[1:])
        except (SocietiesError, FenError) as error:
            self.say(f"info string {error}".replace("\n", " "))

    def _uci(self, words: Sequence[str]) -> None:
        self.say("id name Societies")
        self.say("id author The Societies developers")
        self.say("option name Device type string default auto")
        self.say(f"option name Batch type spin default {self._batch} min 1 max {MOST_BATCH}")
        self.say("uciok")

    def _isready(self, words: Sequence[str]) -> None:
        self._searcher.prepare(PREPARED)
        self._searcher.find(Game().board, 1)  # loads the kernels
        self.say("readyok")

    def _new(self) -> None:
        self._game = Game()

    def _quit(self, words: Sequence[str]) -> None:
        self._left = True

    def _position(self, words: Sequence[str]) -> None:
        at = words.index("moves") if "moves" in words else len(words)
        kind, moves = words[:1], words[at + 1 :]
        if kind == ["startpos"]:
            fen = START
        elif kind == ["fen"]:
            fen = " ".join(words[1:at])
        else:
            self.say("info string position: startpos or fen is expected")
            return
        self._game = replayed(fen, moves)

    def _setoption(self, words: Sequence[str]) -> None:
        text = " ".join(words)
        name, _, value = text.removeprefix("name ").partition(" value ")
        if name.lower() == "device":
            config = self._searcher.config
            self._searcher = Searcher(self._searcher.workload, config, value or "auto")
        elif name.lower() == "batch" and value.isdecimal() and 1 <= int(value) <= MOST_BATCH:
            self._batch = int(value)
            self._searcher = self._searcher.with_batch(self._batch, max(1, self._batch // 4))
        else:
            self.say(f"info string no such option or value: {text}")

    def _go(self, words: Sequence[str]) -> None:
        if words[:1] == ["perft"]:
            self._perft(words[1:])
            return
        numbers = {
            name: int(words[i + 1])
            for i, name in enumerate(words[:-1])
            if name in TIMES and words[i + 1].lstrip("-").isdecimal()
        }
        if not self._game.legal():
            self.say(f"info depth 0 score {'mate 0' if self._mated() else 'cp 0'}")
            self.say("bestmove (none)")
            return
        depth = numbers.get("depth", MOST_DEPTH)
        if "mate" in numbers:
            depth = min(depth, 2 * numbers["mate"] - 1)
        seconds, self._stopped = self._seconds(numbers), False
        self._most_nodes = numbers.get("nodes", 0)
        self._endless = not seconds and not {"depth", "nodes", "mate"} & set(numbers)
        found = self._searcher.find(
            self._game.board,
            max(1, min(MOST_DEPTH, depth)),
            seconds=seconds,
            each=self._told,
            stop=self._asked,
        )
        while self._endless and not self._stopped:
            self._note(self._read.get())
        self.say(f"bestmove {found.move.name(self._game.side)}")

    def _mated(self) -> bool:
        return self._game.result()[0] not in (UNDECIDED, "1/2-1/2")

    def _seconds(self, numbers: dict[str, int]) -> float:
        """Return the time for the move, 0 if there is none."""
        if "movetime" in numbers:
            return max(0.001, numbers["movetime"] / 1000)
        own, more = ("wtime", "winc") if self._game.side == 0 else ("btime", "binc")
        if own not in numbers:
            return 0.0
        left, bonus = numbers[own] / 1000, numbers.get(more, 0) / 1000
        share = left / max(1, numbers.get("movestogo", MOVES_LEFT)) + bonus
        return max(0.001, min(share, left - RESERVE))

    def _told(self, found: Found) -> None:
        rate = int(found.nodes / max(found.seconds, 1e-6))
        self.say(
            f"info depth {found.depth} score {found.score} nodes {found.nodes} nps {rate} "
            f"time {int(1000 * found.seconds)} pv {found.move.name(self._game.side)}"
        )
        if 0 < self._most_nodes <= found.nodes:
            self._stopped = True

    def _asked(self) -> bool:
        """Return whether the search is to end, having answered what cannot wait."""
        while not self._read.empty():
            self._note(self._read.get())
        return self._stopped

    def _note(self, line: str | None) -> None:
        """Answer a line that came during a search, or keep it for later."""
        word = (line or "").strip()
        if word == "isready":
            self.say("readyok")
        elif word in ("stop", "quit", "ponderhit"):
            self._stopped = True
            self._left = self._left or word == "quit"
        else:
            self._later.append(line)
            if line is END and self._endless:  # nobody is left to stop it
                self._stopped = True

    def _perft(self, words: Sequence[str]) -> None:
        depth = int(words[0]) if words and words[0].isdecimal() and int(words[0]) else 1
        from societies.games.chess.perft import WORKLOAD
        from societies.games.chess.perft_report import move_of

        fen = write_fen(self._game.board)
        given: Any = config_from_dict({"workload": "chess_perft", "depth": depth, "fen": fen})
        device = self._searcher.device
        config = WORKLOAD.fitted(given, device)
        p = WORKLOAD.parameters(config)
        engine: DeviceEngine[Any] | ReferenceEngine[Any]
        engine = DeviceEngine(WORKLOAD, p, device) if device else ReferenceEngine(WORKLOAD, p)
        engine.start()
        engine.run_ticks(depth, depth)
        found = engine.arrays("nodes", "root_moves", "divided")
        for code, nodes in zip(found["root_moves"][0], found["divided"][0], strict=True):
            if code:
                self.say(f"{move_of(int(code)).name(self._game.side)}: {int(nodes)}")
        self.say(f"\nNodes searched: {int(found['nodes'][0])}\n")
