"""Are results what they were: the same final state, to the bit, as on every device so far?

Results change only on purpose, with a new model_version and an entry in the CHANGELOG.
"""

import importlib.util
from pathlib import Path

import pytest
from marks import thorough_but

from societies.workload.registry import workloads

_spec = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)


def test_every_configuration_has_a_hash():
    assert set(golden.committed()) == set(golden.CONFIGS)


def test_every_workload_of_ours_has_one():
    ours = {name for name, one in workloads().items() if type(one).__module__[:10] == "societies."}
    assert {golden.configuration(name).workload for name in golden.CONFIGS} == ours


QUICK = tuple(golden.QUICKSTARTS)
"""What every run of the tests compares."""


@pytest.mark.parametrize("name", thorough_but(QUICK, golden.CONFIGS))
def test_device(name):
    assert golden.final_hash(name, "auto") == golden.committed()[name]


@pytest.mark.parametrize(
    "name",
    thorough_but(
        QUICK,
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
