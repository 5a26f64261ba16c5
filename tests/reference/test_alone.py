"""Can the reference be run without the host, and is it then the same society?"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from engines import ReferenceEngine

from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.series import columns_of

ROOT = Path(__file__).resolve().parents[2]
DAYS = 4
SETTINGS = {
    "workload": "economy",
    "agents": 6,
    "resources": 5,
    "seed": 7,
    "devices": "all",
    "trading": {"rounds": 3, "menu_size": 4},
    "devices_market": {"rounds": 2},
    "device": {"resources_in_tool": 2, "components": 2},
    "invention": {"tool_probability": 0.01, "device_probability": 0.2},
    "shocks": [{"day": 3, "remove": "agent", "index": "random"}],
}


def test_a_society_lives_by_the_reference_alone():
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "reference" / "alone.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    engine = ReferenceEngine(parameters(config_from_dict(SETTINGS)))
    engine.start()
    engine.run_days(1, DAYS)
    for name, array in engine.state().items():
        alone = found[name]
        if name == "series":
            alone = [found["series"][one] for one in columns_of(engine.parameters)]
        np.testing.assert_array_equal(np.array(alone, array.dtype), array[0], name)
    assert len(found["inventions"]) > 0, "nothing was invented"
    assert sum(found["alive"]) == 5
