"""BAM of the package bamengine, for benchmarks/models.py.

    python benchmarks/models_on_bamengine.py bam QUARTERS [UNTIMED]

prints the processor seconds of quarters of one economy with the package's defaults (100 firms, 500
households, 10 banks), after some that are not timed.
"""

import sys
import time

import bamengine

if __name__ == "__main__":
    quarters, untimed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    simulation = bamengine.Simulation.init(seed=1, log_level="ERROR")
    for _ in range(untimed):
        simulation.step()
    began = time.process_time()
    for _ in range(quarters):
        simulation.step()
    print(time.process_time() - began, bamengine.__version__)
