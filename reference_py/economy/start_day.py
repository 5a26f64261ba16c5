"""Which counts are reset every morning? Those of devices, and the gains of their makers.

Source: docs/model.md, "The day". What an agent gained by making devices is remembered while its
making fills whole days: it then says what a minute is worth.
Device twin: ``kernels/economy/start_day.cl``.
"""

from reference_py.economy.devices import TYPES


def start_day(p, s):
    """Reset the counters of a day with devices."""
    for agent in range(p.agents):
        if s.overtime[agent] < p.day_length:
            s.device_gain[agent] = 0.0
        s.units_paid[agent] = 0
        s.devices_sold[agent] = [0] * TYPES
        s.made_with_device[agent] = [0] * TYPES
        s.making_minutes[agent] = [0.0] * TYPES
        s.devices_made[agent] = [[0] * p.resources for _ in range(TYPES)]
