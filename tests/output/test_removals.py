"""Is a removal the same as an intervention and as a shock, in runs and in branches?"""

import pytest
import xarray as xr

import societies
from societies import config_from_dict
from societies.errors import ConfigError

SETTINGS = {
    "workload": "economy",
    "agents": 5,
    "resources": 6,
    "days": 10,
    "seed": 3,
    "trading": {"rounds": 2, "menu_size": 3},
    "record": {"keep": [6]},
}
REMOVALS = [
    {"day": 0, "remove": "resource", "index": "random"},
    {"day": 6, "remove": "resource", "index": 2, "holdings": "lose"},
    {"day": 8, "remove": "agent", "index": 1},
]


def run(path, **settings):
    config = config_from_dict({**SETTINGS, **settings})
    return societies.run(config, out=path, device="reference").state_sha256


def test_a_removal_is_a_shock(tmp_path):
    policy = [{"day": 4, "set": {"day_length": 500.0}}]
    shocked = run(tmp_path / "a.h5", shocks=REMOVALS, interventions=policy)
    assert run(tmp_path / "b.h5", interventions=REMOVALS + policy) == shocked
    assert run(tmp_path / "c.h5", shocks=REMOVALS[:1], interventions=policy + REMOVALS[1:]) == (
        shocked
    )
    assert run(tmp_path / "d.h5", interventions=policy) != shocked
    one, other = (xr.open_dataset(tmp_path / f"{name}.h5") for name in "ab")
    xr.testing.assert_identical(one.drop_attrs(deep=False), other.drop_attrs(deep=False))


@pytest.mark.ci
def test_a_branch_may_begin_with_a_removal(tmp_path):
    """Also one of something else than resource 0, which a state without it would remove."""
    run(tmp_path / "parent.h5")
    config = config_from_dict({**SETTINGS, "interventions": REMOVALS[1:]})
    branch = societies.run(
        config, out=tmp_path / "branch.h5", start=tmp_path / "parent.h5", day=6, device="reference"
    )
    assert branch.state_sha256 == run(tmp_path / "straight.h5", interventions=REMOVALS[1:])
    one, other = (xr.open_dataset(tmp_path / f"{name}.h5") for name in ("branch", "straight"))
    xr.testing.assert_identical(one.drop_attrs(deep=False), other.drop_attrs(deep=False))
    assert one.agents_alive.values[0, -1] == 4


RESOURCE = {"day": 2, "remove": "resource", "index": 1}


@pytest.mark.parametrize(
    ("interventions", "message"),
    [
        ([{"day": 2}], "set: names no key"),
        ([{"day": 2, "remove": "agent"}], "remove: does not say which agent"),
        ([{"day": 2, "index": 3}], "index: has no effect without remove"),
        ([{**RESOURCE, "set": {"day_length": 500.0}}], "set: an intervention sets values or"),
        ([{**RESOURCE, "societies": [0]}], "societies: only values can change in some"),
        ([{**RESOURCE, "index": 6}], "there is no resource 6"),
        ([RESOURCE, RESOURCE], "resource 1 is removed by interventions.0 already"),
        ([{**RESOURCE, "day": 10}], "day: must be before the last day"),
        ([{**RESOURCE, "remove": "agent", "holdings": "lose"}], "only a resource has this key"),
        ([{**RESOURCE, "remove": "river"}], "remove: "),
    ],
)
def test_removals_that_are_none(interventions, message):
    with pytest.raises(ConfigError) as error:
        config_from_dict({**SETTINGS, "interventions": interventions})
    assert message in str(error.value)
    assert "interventions.0" in str(error.value) or "interventions.1" in str(error.value)
