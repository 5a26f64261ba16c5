"""Are results what they were: the same final state, to the bit, as on every device so far?

Results change only on purpose, with a new model_version and an entry in the CHANGELOG.
"""

import importlib.util
import re
from pathlib import Path

import pytest
from marks import thorough_but

from societies.workload.running.registry import workloads

_spec = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)


def test_every_configuration_has_a_hash():
    assert set(golden.committed()) == set(golden.CONFIGS)


def test_every_workload_of_ours_has_one():
    ours = {name for name, one in workloads().items() if type(one).__module__[:10] == "societies."}
    assert {golden.configuration(name).workload for name in golden.CONFIGS} == ours


def test_each_long_one_is_left_to_one_runtime():
    """Two lists of .ci/steps: one in both would never run, a wrong name would leave out none."""
    text = (golden.ROOT / ".ci/nightly").read_text()
    steps = (golden.ROOT / ".ci/steps").read_text()
    lists = dict(re.findall(r"^only_(\w+)=\((.*)\)$", steps, re.M))
    pocl, intel = (set(re.findall('"(.*?)"', lists[name])) for name in ("pocl", "intel"))
    assert pocl | intel <= set(golden.CONFIGS) - set(QUICK) and not pocl & intel
    for name, other in (("pocl", "intel"), ("intel", "pocl")):
        (step,) = re.findall(rf"^step .*without .*only_{name}\[@\].*$", text, re.M)
        assert ("Intel(R)" in step) == (name == "pocl") and f"only_{other}" not in step


QUICK = tuple(golden.QUICKSTARTS)
"""What every run of the tests compares."""


@pytest.mark.sample
@pytest.mark.parametrize("name", thorough_but(QUICK, golden.CONFIGS))
def test_device(name):
    assert golden.final_hash(name, "auto") == golden.committed()[name]


LONG_IN_PYTHON = {
    "quickstart",
    "bam quickstart",
    *(f"{name} quickstart" for name in ("boltzmann", "kirman_ants", "schelling", "sugarscape")),
    *(f"{name} quickstart" for name in ("kalah", "zero_intelligence")),
}


@pytest.mark.parametrize(
    "name",
    thorough_but(
        set(QUICK) - LONG_IN_PYTHON,
        [
            *(*QUICK, "groups", "1x2"),
            *("devices, groups, shocks", "devices without trade"),
            *("laplace in double", "heat", "kalah in layers", "kalah match", "kalah solved"),
            *("raytracer glass", "raytracer mirrors in double"),
        ],
    ),
)
def test_reference(name):
    assert golden.final_hash(name, "reference") == golden.committed()[name]
