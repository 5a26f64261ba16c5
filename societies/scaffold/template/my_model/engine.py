"""How are the kernels built for a configuration, and how is each phase launched?"""

from pathlib import Path

from societies.daily import series_macros
from societies.device import Program

from my_model.state import SERIES

KERNELS = Path(__file__).parent / "kernels"


def launches(device, config, arrays, lanes):
    """Return, for every phase, a function of the day that enqueues it.

    Parameters
    ----------
    device : societies.device.Device
    config : MyModelConfig
    arrays : the state on the device, by name
    lanes : work-items per workgroup; the results do not depend on it
    """
    # What changes from run to run, such as the seed, is an argument: another macro is another
    # program to build.
    macros = {"AGENTS": config.agents, "AMOUNT": config.amount, "LANES": lanes}
    program = Program(device, KERNELS / "my_model.cl", macros | series_macros(SERIES))

    def bind(kernel, **arguments):
        """Check the arguments of a kernel once; a workgroup is a society."""
        sizes = {"global_size": config.replicates * lanes, "local_size": lanes}
        return program.kernel(kernel).bind(**sizes, **arguments)

    seed_streams = bind(
        "seed_streams",
        stream=arrays["stream"],
        first_society=config.first_society,
        stream_base=config.stream_base,
        stream_gap=config.stream_gap,
    )
    exchange = bind(
        "exchange", money=arrays["money"], stream=arrays["stream"], agents=config.agents
    )
    statistics = bind(
        "statistics", money=arrays["money"], series=arrays["series"], agents=config.agents
    )
    return {
        "seed_streams": lambda day: seed_streams(),
        "exchange": lambda day: exchange(),
        "statistics": lambda day: statistics(),
    }
