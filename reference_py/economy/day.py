"""In which order does a day run: each phase by its name, for one society.

The schedule itself is data (`societies/economy/schedule.py`); this maps its names to functions.
"""

from reference_py.economy.consumption import consumption
from reference_py.economy.end_day import end_day, refresh_values
from reference_py.economy.extraction import extraction
from reference_py.economy.matching import matching
from reference_py.economy.shocks import draw_shocks, shocks
from reference_py.economy.statistics import agent_statistics, society_statistics
from reference_py.economy.streams import seed_streams
from reference_py.economy.trading import trading


def run_phase(p, s, phase, day, round_):
    """Run one phase of the day on one society.

    Raises
    ------
    KeyError
        If there is no phase of that name.
    """
    PHASES[phase](p, s, day, round_)


PHASES = {
    "seed_streams": lambda p, s, day, round_: seed_streams(p, s),
    "draw_shocks": lambda p, s, day, round_: draw_shocks(p, s),
    "refresh_values": lambda p, s, day, round_: refresh_values(p, s),
    "matching": lambda p, s, day, round_: matching(p, s),
    "trading": lambda p, s, day, round_: trading(p, s, round_),
    "extraction": lambda p, s, day, round_: extraction(p, s),
    "end_day": lambda p, s, day, round_: end_day(p, s),
    "agent_statistics": lambda p, s, day, round_: agent_statistics(p, s),
    "society_statistics": lambda p, s, day, round_: society_statistics(p, s, day),
    "consumption": lambda p, s, day, round_: consumption(p, s),
    "shocks": lambda p, s, day, round_: shocks(p, s, day),
}
