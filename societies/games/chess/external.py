"""How does a match get moves from an external chess program? By the Universal Chess Interface.

The match continues whatever such a program does. A program that ends, does not answer in time or
makes an illegal move loses that game and is restarted for the next one.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import shutil
import subprocess
import threading
import time
from typing import Any

from reference_py.games.chess.match import CRASHED, HUNG, ILLEGAL, Forfeit, Player, names_of
from reference_py.games.chess.rules import Move, moves
from societies import signals
from societies.inputs import whole_number

PATIENCE, TO_BEGIN = 10.0, 10.0
"""Seconds allowed for a move in excess of its time, and to start a program or a new game."""

SIGNAL_SECONDS = 0.2
"""Seconds after the end of a program within which the signal that ended it arrives here too."""

END = None


def command_of(path: str) -> list[str]:
    """Return the program to start and its arguments; [] if the program does not exist."""
    words = shlex.split(path)
    found = shutil.which(words[0]) if words else None
    return [found, *words[1:]] if found else []


def lack_of(path: str) -> str:
    """Return why a program cannot be started: it does not exist or is not executable."""
    words = shlex.split(path)
    found = shutil.which(words[0], mode=os.F_OK) if words else None
    if found:
        return f"{found} exists, but is not executable: chmod +x {shlex.quote(found)}"
    return f"no such program: {path or 'named'}"


class ExternalProgram:
    """An external program that plays one side of games that begin at the position ``fen``."""

    def __init__(self, player: Player, fen: str) -> None:
        self._player, self._fen = player, fen
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._began = time.monotonic()

    def __call__(self, boards: Any, made: Any) -> tuple[Move, int]:
        """Return the move of the program and the number of nodes that it reports.

        Raises
        ------
        Forfeit
            If the program has crashed, does not answer in time or makes an illegal move.
        """
        board = boards[-1]
        try:
            if self._process is None or len(made) < 2:
                self._begin()
            played = " ".join(names_of(self._fen, made))
            self._say(f"position fen {self._fen}" + (f" moves {played}" if played else ""))
            if self._player.seconds:
                self._say(f"go movetime {max(1, round(1000 * self._player.seconds))}")
            else:
                self._say(f"go depth {self._player.depth}")
            answer, nodes = self._answer()
        except Forfeit as forfeit:
            self.close()
            if forfeit.end == CRASHED:
                self._require_own_fault()
            raise
        for move in moves(board.position):
            if move.name(board.side) == answer:
                return move, nodes
        self.close()
        raise Forfeit(ILLEGAL)

    def _require_own_fault(self) -> None:
        """Raise `Stopped` if a signal to this process may have ended the program as well.

        Schedulers of clusters send a signal to all processes of a job. In that case the game is
        not lost, but is played again when the match is resumed.
        """
        time.sleep(SIGNAL_SECONDS)
        if (number := signals.came_after(self._began)) != 0:
            raise signals.Stopped(number)

    def _begin(self) -> None:
        """Start the program if it is not running, and begin a new game."""
        self._began = time.monotonic()
        if self._process is None:
            self._lines = queue.Queue()
            try:
                self._process = subprocess.Popen(
                    command_of(self._player.path) or [self._player.path],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    bufsize=1,
                    start_new_session=True,  # Ctrl-C must reach this process only
                )
            except OSError:
                raise Forfeit(CRASHED) from None
            given = (self._process.stdout, self._lines)
            threading.Thread(target=_reading, args=given, daemon=True).start()
            self._say("uci")
            self._until("uciok")
            for name, value in self._player.options:
                self._say(f"setoption name {name} value {value}")
        self._say("ucinewgame")
        self._say("isready")
        self._until("readyok")

    def _say(self, line: str) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise Forfeit(CRASHED) from None

    def _next(self, until: float) -> list[str]:
        """Return the words of the next line; raise `Forfeit` if none arrives before ``until``."""
        try:
            line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            raise Forfeit(HUNG) from None
        if line is END:
            raise Forfeit(CRASHED)
        return line.split()

    def _until(self, word: str) -> None:
        until = time.monotonic() + TO_BEGIN
        while self._next(until)[:1] != [word]:
            pass

    def _answer(self) -> tuple[str, int]:
        """Return the best move of the program, and the number of nodes that it reported last."""
        until, nodes = time.monotonic() + self._player.seconds + PATIENCE, 0
        while True:
            words = self._next(until)
            if words[:1] == ["bestmove"]:
                return (words[1] if len(words) > 1 else ""), nodes
            at = words.index("nodes") + 1 if "nodes" in words else 0
            if words[:1] == ["info"] and 0 < at < len(words):
                nodes = whole_number(words[at]) or nodes

    def close(self) -> None:
        """End the program; the next game restarts it."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write("quit\n")
        with contextlib.suppress(OSError, ValueError):
            process.stdin.close()
        try:
            process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __del__(self) -> None:
        self.close()


def _reading(stream: Any, lines: queue.Queue[str | None]) -> None:
    with contextlib.suppress(OSError, ValueError), stream:
        for line in stream:
            lines.put(line)
    lines.put(END)
