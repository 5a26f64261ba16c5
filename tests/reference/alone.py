"""Let a society with devices live by the reference alone, and print its state as JSON.

The process in which this runs cannot import `societies`.
"""

import json
import sys

sys.modules["societies"] = None  # the next line that wants it raises ImportError

from reference_py.economy.parameters import (  # noqa: E402
    LOSE,
    RANDOM_INDEX,
    REMOVE_AGENT,
    DeviceParameters,
    Parameters,
    Shock,
)
from reference_py.economy.schedule import live  # noqa: E402
from reference_py.economy.society import new_society  # noqa: E402
from reference_py.economy.tables import (  # noqa: E402
    consumption_threshold,
    device_effort,
    resource_effort,
    utility_curve,
)

AGENTS, RESOURCES, DAYS = 6, 5, 4


def parameters():
    """Return what `test_alone.SETTINGS` come to, key by key."""
    of_all = ((0,) * RESOURCES,)
    return Parameters(
        seed=7,
        values={
            "day_length": 600.0,
            "min_surplus": 0.1,
            "daily_experience_penalty": 3.0,
            "near_best_band": 0.0,
            "days_to_hold": 2.0,
            "inventor_experience": 6.0,
            "min_held_experience": 2.0,
            "daily_decay": 3.0,
            "tool_probability": 0.01,
            "device_probability": 0.2,
            "banned_of": -1,
            "min_held": 3,
            "min_made_for_device_maker": 5,
            "device_factor": (3.0, 9.0, 27.0, 81.0, 9.0, 9.0),
            "device_lifetime": (150.0, 300.0, 600.0, 1200.0, 600.0, 600.0),
            "device_experience_for_making": (1.0, 2.0, 4.0, 8.0, 4.0, 8.0),
        },
        shapes={
            "agents": AGENTS,
            "resources": RESOURCES,
            "trade": True,
            "rounds": 3,
            "attempts": 8,
            "menu_size": 4,
            "price": "geometric",
            "fresh_values": False,
            "measures": False,
            "device_rounds": 2,
            "device_attempts": 4,
            "device_memory": 5,
            "production_memory": 5,
            "resources_in_tool": 2,
            "components": 2,
            "futures": 0,
            "synchronized_draws": False,
        },
        group_of_agent=(0,) * AGENTS,
        utility_curves=(utility_curve(600.0, 2.5, 1.0, 100_000),),
        utility_curve_of=of_all,
        effort_curves=(resource_effort(9.0, 3.0, 600.0),),
        effort_curve_of=of_all,
        consumption_threshold=((consumption_threshold(5.0),) * RESOURCES,),
        shocks=(Shock(3, REMOVE_AGENT, RANDOM_INDEX, LOSE),),
        devices=DeviceParameters(
            tools_only=False,
            effort_curves=(device_effort(27.0, 9.0, 40.0),),
            effort_curve_of=of_all,
            trade_power=(1.0,),
            inventiveness=(1.0,),
        ),
    )


if __name__ == "__main__":
    society = new_society(parameters())
    live(parameters(), society, 0, DAYS)
    assert "numpy" not in sys.modules
    print(json.dumps(vars(society)))
