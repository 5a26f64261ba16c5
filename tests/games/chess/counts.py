"""Does every search of ngts-chess-counts.json visit the nodes that it says, in a form?

    python tests/games/chess/counts.py [device|host] [DEPTH] [DEVICE]

The form `host` closes nodes in plain Python, so its searches of five plies take minutes each.
"""

import sys
import time

from test_chess_search import RUNS, checked

from societies.opencl import choose_device

form = sys.argv[1] if len(sys.argv) > 1 else "device"
most = int(sys.argv[2]) if len(sys.argv) > 2 else 5
device = choose_device(sys.argv[3] if len(sys.argv) > 3 else "auto")
for fen, depth, run in (one for one in RUNS if one[1] <= most):
    began = time.perf_counter()
    checked(device, form, fen, depth, run)
    said = f"{form}: {depth} plies, batches of {run['batch']}: {run['total']} nodes as expected"
    print(f"{said}, {time.perf_counter() - began:.2f} s", flush=True)
