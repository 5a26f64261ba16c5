"""Run the kernels of planted.cl under SOCIETIES_DEBUG=race; print what was found in each as JSON.

With names of kernels as arguments only those are run, and nothing is printed.
"""

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np

from societies.opencl import Local, Program, choose_device, race

device = choose_device()
program = Program(device, Path(__file__).with_name("planted.cl"))
found = {}
for name in sys.argv[1:] or program.kernel_names:
    device = choose_device()  # a new one each time: the log continues
    kernel = Program(device, Path(__file__).with_name("planted.cl")).kernel(name)
    arguments = {"out": device.zeros(8, np.int32), "x": Local(np.int32, 4)}
    with race.recording() as found[name]:
        wanted = {p.name: arguments[p.name] for p in kernel.parameters}
        kernel(global_size=8, local_size=4, **wanted).wait()
if not sys.argv[1:]:
    print(json.dumps({name: list(map(dataclasses.asdict, rows)) for name, rows in found.items()}))
