"""BAM of the package bamengine, for benchmarks/models.py.

    python benchmarks/models_on_bamengine.py bam QUARTERS [UNTIMED [TIMES]]

prints the processor seconds of quarters of one economy with the package's defaults (100 firms, 500
households, 10 banks) or TIMES these numbers, after some quarters that are not timed.
"""

import sys
import time

import bamengine

if __name__ == "__main__":
    quarters, untimed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    times = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    sizes = {"n_firms": 100 * times, "n_households": 500 * times, "n_banks": 10 * times}
    simulation = bamengine.Simulation.init(**sizes, seed=1, log_level="ERROR")
    for _ in range(untimed):
        simulation.step()
    began = time.process_time()
    for _ in range(quarters):
        simulation.step()
    print(time.process_time() - began, bamengine.__version__)
