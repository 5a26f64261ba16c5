"""A program that speaks UCI and then does what its argument says: plays, or breaks the rules."""

import sys
import time

import chess

what, asked, board = sys.argv[1], 0, chess.Board()
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        print("uciok", flush=True)
    if words[:1] == ["isready"]:
        print("readyok", flush=True)
    if words[:1] == ["position"]:
        at = words.index("moves") if "moves" in words else len(words)
        board = chess.Board(" ".join(words[2:at]))
        for move in words[at + 1 :]:
            board.push_uci(move)
    if words[:1] == ["go"]:
        asked += 1
        if what == "crash" and asked == 2:
            sys.exit(3)
        if what == "hang" and asked == 2:
            time.sleep(60)
        best = "e1e8" if what == "illegal" and asked == 2 else next(iter(board.legal_moves)).uci()
        print("info depth 1 nodes 7", flush=True)
        print(f"bestmove {best}", flush=True)
    if words[:1] == ["quit"]:
        break
