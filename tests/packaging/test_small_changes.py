"""How many files does a contributor touch who adds a field, a key, a phase, a series, a workload?

Each is added to a clone as docs/design/workload.md counts it, and `societies verify` compares
device and reference afterwards. The files touched are those that are written here, no others.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from clones import cloned, societies

FIELD = {
    "reference_py/economy/state.py": (
        "\nSTATE: dict[str, Array] = {\n",
        '    "levied": Array(_A, "int32", "units", "units taken by the levy today", COUNT),\n',
    )
}
KEY = {
    "societies/economy/config/keys.py": (
        "    seed: int = SEED\n",
        '    untaxed: int = value(3, "Units of a resource without levy", "units", ge=0, le=100)\n',
    )
}
SERIES = {
    "societies/economy/series.py": (
        '    "agents_alive": Series("agents", "agents in the simulation"),\n',
        '    "units_unsold": Series("units", "units held less units sold per living agent"),\n',
    ),
    "reference_py/economy/statistics.py": (
        '        "agents_alive": count,\n',
        '        "units_unsold": float(sum(s.units_held) - sum(s.units_sold)) / count,\n',
    ),
    "kernels/economy/statistics.cl": (
        "        series(SERIES_agents_alive) = count;\n",
        "        series(SERIES_units_unsold) = (real)(sum_held - sum_sold) / count;\n",
    ),
}
LEVY = '''"""What is taken from an agent in the evening? What it has of a resource beyond a limit.

Device twin: ``kernels/economy/levy.cl``.
"""


def levy(p, s, day):
    """Take the units beyond the limit, every other day."""
    for agent in range(p.agents):
        s.levied[agent] = 0
        for resource in range(p.resources):
            above = max(s.held[agent][resource] - p.untaxed, 0)
            if day % 2:
                s.held[agent][resource] -= above
                s.levied[agent] += above
'''
KERNEL = """// What is taken from an agent in the evening? What it has of a resource beyond a limit.
// Twin: reference_py/economy/levy.py. A workgroup is an agent, a work-item a resource.
#include "primitives/real.cl"

__kernel void levy(STATE_PARAMETERS, const uint day)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    __local int sum;
    if (get_local_id(0) == 0) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is added to
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        const int above = max(held(agent, r) - P(untaxed), 0);
        if (day % 2 == 1) {
            held(agent, r) -= above;
            atomic_add(&sum, above);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the sum of all work-items
    if (get_local_id(0) == 0) levied(agent) = sum;
}
"""
PHASE = {
    "reference_py/economy/levy.py": LEVY,
    "kernels/economy/levy.cl": KERNEL,
    "reference_py/economy/schedule.py": (
        "        DayStep(society_statistics),\n",
        "        DayStep(levy),\n",
        "from reference_py.economy.invention import invention\n",
        "from reference_py.economy.levy import levy\n",
    ),
}

DECAY = '''"""How much is left of a sample? Of each nucleus a share decays in every step.

Device twin: ``kernels/physics/decay/decay.cl``.
"""


def decay(p, sample, step):
    """Take the share of the step."""
    sample.left = [left - p.share * left for left in sample.left]
'''
DECAY_KERNEL = """// How much is left of a sample? Twin: reference_py/physics/decay/decay.py.
// A work-item is an isotope.
#include "primitives/real.cl"

__kernel void decay(__global real *state_left, const double share)
{
    const size_t i = get_global_id(0);
    state_left[i] = state_left[i] - share * state_left[i];
}
"""
DECLARATION = '''"""Radioactive samples: what is declared of them."""

from __future__ import annotations

from typing import Literal

from societies.config.model import WorkloadConfig, key
from societies.workload import Field, Source, Step, Workload, phase


class DecayConfig(WorkloadConfig):
    """A sample of some isotopes."""

    workload: Literal["decay"] = key("decay", "What the file configures")
    isotopes: int = key(8, "Isotopes", "1", ge=1, le=1000)
    share: float = key(0.1, "Share that decays in a step", "1", gt=0, lt=1)
    steps: int = key(10, "Steps", "step", ge=1, le=1000)


class Decay(Workload):
    """Samples side by side."""

    name = "decay"
    summary = "radioactive decay"
    config = DecayConfig
    clock, copies, work = "step", "sample", "isotope-step"
    twins = "reference_py.physics.decay"

    def sizes(self, p):
        """Return the number of isotopes."""
        return {"isotope": p.isotopes}

    def fields(self, p):
        """Return what is left."""
        return {"left": Field(("isotope",), "float64", "1", "share left", initial=1.0)}

    def phases(self, p, copies):
        """Return the one phase."""
        return {"decay": phase("physics/decay/decay.cl", global_size=copies * p.isotopes)}

    def schedule(self, p, tick, seen):
        """Return the steps of a step."""
        return [Step("decay")] if tick else []

    def source(self, p):
        """Return that nothing is a macro."""
        return Source()


WORKLOAD = Decay()
'''
WORKLOAD = {
    "reference_py/physics/decay/decay.py": DECAY,
    "kernels/physics/decay/decay.cl": DECAY_KERNEL,
    "societies/physics/decay/__init__.py": DECLARATION,
    "configs/physics/decay/quickstart.yaml": "workload: decay\n",
}
REGISTERED = {
    "pyproject.toml": (
        '[project.entry-points."societies.workloads"]\n',
        'decay = "societies.physics.decay:WORKLOAD"\n',
    )
}


def add(clone: Path, *changes: dict[str, str | tuple[str, ...]]) -> None:
    """Write new files; into others, put a line after another one that occurs once."""
    for change in changes:
        for name, what in change.items():
            path = clone / name
            if isinstance(what, str):
                assert not path.exists()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(what)
                continue
            for after, line in zip(what[::2], what[1::2], strict=True):
                text = path.read_text()
                assert text.count(after) == 1, (name, after)
                path.write_text(text.replace(after, after + line))


def test_as_many_files_as_the_page_says():
    page = Path(__file__).parents[2].joinpath("docs/design/workload.md").read_text()
    rows = [row.split("|")[1:4] for row in page.splitlines() if row.startswith("| a ")]
    counted = {words.strip(): files.strip() for words, _, files in rows}
    assert counted["a field of the economy's state"] == str(len(FIELD))
    assert counted["a key of the economy that kernels read"] == str(len(KEY))
    assert counted["a phase of the economy"] == str(len(PHASE))
    assert counted["a series of the economy"] == str(len(SERIES))
    assert counted["a workload of one kernel"] == str(len(WORKLOAD))


@pytest.mark.ci
def test_what_is_added_is_known(tmp_path):
    clone = cloned(tmp_path)
    add(clone, FIELD, KEY, PHASE, SERIES, WORKLOAD, REGISTERED)
    refused = societies(clone, "check", "economy/quickstart", "--set", "untaxed=101")
    assert refused.returncode == 2 and "untaxed" in refused.stderr
    listed = societies(clone, "list").stdout
    assert "radioactive decay" in listed and "physics/decay/quickstart" in listed


@pytest.mark.thorough
def test_a_field_a_key_a_phase_and_a_series_are_compared(tmp_path):
    clone = cloned(tmp_path)
    add(clone, FIELD, KEY, PHASE, SERIES)
    small = ("--set", "agents=6", "--set", "resources=5", "--set", "trading.menu_size=3")
    was = societies(clone, "verify", "economy/quickstart", "--days", "6", *small)
    assert was.returncode == 0, was.stderr
    first, second = was.stdout.splitlines()[:2]
    assert first.startswith("identical: 6 days") and "phases acted" in second
    captured = societies(
        clone, "capture", "economy/quickstart", "--phase", "levy", "--day", "3", *small
    )
    assert captured.returncode == 0, captured.stderr
    # A limit that no agent reaches: the phase does nothing, and a warning names it.
    idle = societies(
        clone, "verify", "economy/quickstart", "--days", "2", *small, "--set", "untaxed=100"
    )
    assert "levy" in idle.stdout + idle.stderr


@pytest.mark.thorough
def test_a_workload_is_run_resumed_and_compared(tmp_path):
    clone = cloned(tmp_path)
    add(clone, WORKLOAD, REGISTERED)
    verified = societies(clone, "verify", "physics/decay/quickstart")
    assert verified.stdout.startswith("identical: 10 steps"), verified.stderr
    for more in ((), ("--resume",)):
        ran = societies(clone, "run", "physics/decay/quickstart", "--out", "decay.h5", *more)
        assert ran.returncode == 0, ran.stderr
