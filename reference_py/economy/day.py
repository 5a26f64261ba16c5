"""In which order does a day run: each phase by its name, for one society.

The schedule itself is data (`societies/economy/schedule.py`); this maps its names to functions.
"""

from reference_py.economy.consumption import consumption
from reference_py.economy.device_matching import device_matching, open_device_market
from reference_py.economy.device_trading import device_trading
from reference_py.economy.end_day import end_day, refresh_values
from reference_py.economy.extraction import extraction
from reference_py.economy.invention import invention
from reference_py.economy.matching import matching
from reference_py.economy.own_use import own_use
from reference_py.economy.production import production
from reference_py.economy.shocks import draw_shocks, shocks
from reference_py.economy.start_day import start_day
from reference_py.economy.statistics import agent_statistics, society_statistics
from reference_py.economy.streams import seed_streams
from reference_py.economy.trading import trading


def run_phase(p, s, phase, day, round_, device=-1):
    """Run one phase of the day on one society.

    Raises
    ------
    KeyError
        If there is no phase of that name.
    """
    if phase in DEVICE_MARKET:
        DEVICE_MARKET[phase](p, s, device)
    else:
        PHASES[phase](p, s, day, round_)


DEVICE_MARKET = {
    "open_device_market": open_device_market,
    "device_matching": device_matching,
    "device_trading": device_trading,
    "own_use": own_use,
}
"""Phases that are about one device type."""

PHASES = {
    "start_day": lambda p, s, day, round_: start_day(p, s),
    "production": lambda p, s, day, round_: production(p, s),
    "invention": lambda p, s, day, round_: invention(p, s, day),
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
