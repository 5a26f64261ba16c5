"""What does a pass of a blur by neighbours take where rows are aligned, and where they are not?

    python benchmarks/blur_widths.py [--device gpu cuda] [--widths 3997 4000] [--height 2662]

Prints the median and the least of five times 100 passes over three planes, by the device's own
timer, and the beginning of the hash of the state after them.
"""

import argparse
import statistics

import numpy as np

import societies
from reference_py.physics.blur.parameters import Parameters
from societies.physics.blur import WORKLOAD
from societies.workload.running.engines import DeviceEngine

PASSES, BLOCK, TIMES = 100, 50, 5


def measure(device, width, height, arithmetic):
    """Return the seconds of each time, and the hash of the state after the last."""
    image = np.random.default_rng(1).integers(0, 256, (1, 3, height, width), np.uint8)
    p = Parameters(image, kind="neighbours", arithmetic=arithmetic)
    engine = DeviceEngine(WORKLOAD, p, device)
    engine.start()
    times = []
    for first in range(1, (TIMES + 1) * PASSES, PASSES):
        device.launched = []
        for at in range(first, first + PASSES, BLOCK):
            engine.run_ticks(at, at + BLOCK - 1)
        engine.wait()
        launched, device.launched = device.launched, None
        times.append(sum(one.seconds for by, one in launched if by.kernel.name == "neighbours"))
    return times[1:], engine.hash()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", nargs="+", default=["auto"])
    parser.add_argument("--widths", nargs="+", type=int, default=[3997, 4000])
    parser.add_argument("--height", type=int, default=2662)
    options = parser.parse_args()
    for name in options.device:
        device = societies.choose_device(name)
        print(f"{device}; driver {device.driver}; {device.version}", flush=True)
        for width in options.widths:
            for arithmetic, shown in (("float", "floats"), ("seed", "bytes")):
                times, found = measure(device, width, options.height, arithmetic)
                ms = [1e3 * one for one in times]
                print(
                    f"{width} x {options.height} x 3, {shown}: {PASSES} passes in "
                    f"{statistics.median(ms):.2f} ms, at least {min(ms):.2f}; {found[:12]}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
