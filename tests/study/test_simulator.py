"""Are many points at once the runs that each point has alone, and what do small changes do?"""

import json

import numpy as np
import pytest

import societies
from societies.cli import main
from societies.errors import ConfigError
from societies.study import simulator
from societies.study.matter import keys_to_change, matter

SMALL = {"agents": 4, "resources": 4, "days": 6}
KEYS = ["extraction.max_effort", "utility.exponent"]
STATISTICS = {
    "units": {"of": "units_extracted", "statistic": "last"},
    "hhi": {"of": "hhi", "at": {"quantile": 0.5}, "ticks": "3:6"},
}
POINTS = [[9.0, 2.5], [10.0, 2.2], [7.5, 2.9]]


# Plain Python takes these small societies as fast as a device, and has no kernels to build.
@pytest.fixture(scope="module")
def simulate():
    with simulator(
        "economy/quickstart", KEYS, STATISTICS, set=SMALL, replicates=2, device="reference"
    ) as own:
        yield own


def test_a_point_has_the_statistics_of_its_own_run(simulate, tmp_path):
    """Seed 3 of two replicates is societies 6 and 7."""
    found = simulate(POINTS, seeds=[0, 3, 3])
    settings = [f"{k}={v}" for k, v in {**SMALL, **dict(zip(KEYS, POINTS[1], strict=True))}.items()]
    config = societies.load_config(
        "economy/quickstart", [*settings, "first_society=6", "replicates=2"]
    )
    path = tmp_path / "run.h5"
    societies.run(config, out=path, device="reference")
    with societies.open_results(path) as run:
        assert found[1, 0] == run.units_extracted[:, -1].mean()
        hhi = run.hhi.sel(quantile=0.5)[:, 2:].mean("day").mean("society")
        assert found[1, 1] == pytest.approx(float(hhi), rel=1e-14)


def test_points_do_not_see_each_other_and_seeds_repeat(simulate):
    together = simulate(POINTS, seeds=[5, 6, 7])
    alone = [simulate(point, seeds=[seed]) for point, seed in zip(POINTS, (5, 6, 7), strict=True)]
    np.testing.assert_array_equal(together, alone)
    first, second = simulate(POINTS), simulate(POINTS)
    assert (first != second).any()  # new seeds at each call
    rows = [np.array(POINTS[0]), tuple(POINTS[1]), POINTS[2]]  # as samplers have them
    for same in (np.array(POINTS), rows):
        np.testing.assert_array_equal(simulate(same, seeds=[5, 6, 7]), together)


def test_a_point_that_is_not_valid_fails_alone(simulate):
    found = simulate([[9.0, 2.5], [9.0, -1.0]], seeds=[1, 2])
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
    assert any("utility.exponent: must be more than 1" in why for why in simulate.failures)
    with pytest.raises(ConfigError, match="3 values for 2 keys"):
        simulate([[1.0, 2.0, 3.0]])
    with pytest.raises(ConfigError, match="1 seeds for 3 points"):
        simulate(POINTS, seeds=[1])


def test_a_key_that_does_not_exist_is_reported():
    with pytest.raises(ConfigError, match="did you mean"):
        simulator("economy/quickstart", ["extraction.max_efort"], STATISTICS)


def test_keys_that_matter_and_keys_that_do_not():
    keys = ["extraction.max_effort", "device.max_effort", "consumption.resource_lifetime"]
    variables = ["units_extracted", "units_held"]
    clock, found, left = matter(
        "economy/quickstart",
        set=SMALL,
        keys=keys,
        variables=variables,
        replicates=2,
        device="reference",
    )
    by_key = {one.key: one for one in found}
    assert clock == "day" and left == []
    assert by_key["device.max_effort"].first == -1  # there are no devices
    assert set(by_key["device.max_effort"].moved.values()) == {0.0}
    assert by_key["extraction.max_effort"].first == 1
    assert by_key["extraction.max_effort"].after == pytest.approx(1.05 * 9)
    lasting = by_key["consumption.resource_lifetime"]
    assert 1 < lasting.first <= 6 and lasting.moved["units_held"] > 0


def test_choices_between_words_are_keys_too():
    names = dict(keys_to_change("economy/quickstart", SMALL))
    assert names["trading.price"] == "geometric" and names["extraction.max_effort"] == 9
    assert "seed" not in names and "agents" not in names


def test_the_commands_print_what_they_found(tmp_path, capsys):
    (tmp_path / "t.yaml").write_text(
        json.dumps(
            {
                "base": "economy/quickstart",
                "set": SMALL,
                "replicates": 3,
                "statistics": {"units": {"of": "units_extracted", "band": [1000, None]}},
            }
        )
    )
    words = ["validate", str(tmp_path / "t.yaml"), "--json", "--device", "reference"]
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 1
    found = json.loads(capsys.readouterr().out)
    assert found["score"] == 0 and found["statistics"][0]["verdict"] == "FAIL"


@pytest.mark.parametrize(
    "seeds", [[1.5], [-1], [2**30], [2**62], [2**63], np.array([2**63], np.uint64), [None], ["a"]]
)
def test_seeds_that_select_no_draws_are_refused(simulate, seeds):
    """A seed that is rounded or wraps around has the draws of another one."""
    with pytest.raises(ConfigError, match="seeds: expected whole numbers from 0 to 1073741822"):
        simulate(POINTS[:1], seeds=seeds)


def test_twins_of_other_length_or_size_are_compared_where_both_have_entries():
    changes = ["days=3", "agents=5"]
    small = {**SMALL, "record.agent": 1}
    _, found, left = matter(
        "economy/quickstart", set=small, keys=changes, variables=["agent_utility"], replicates=4,
        device="reference",
    )  # fmt: skip
    shorter, larger = found
    assert left == [] and (shorter.first, shorter.moved["agent_utility"]) == (-1, 0.0)
    assert larger.first >= 1 and larger.moved["agent_utility"] != 0


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("utility.exponet", "unknown key; did you mean"),
        ("utility", "is a section; name one of its keys"),
        ("replicates=3", "is not varied: a study has its own key"),
        ("record.agent=3", "is the same at all points"),
        ("utility.exponent=0.5", "changed: utility.exponent: must be more than 1"),
    ],
)
def test_a_key_that_cannot_be_changed_says_why(key, why):
    with pytest.raises(ConfigError, match=why):
        matter("economy/quickstart", set=SMALL, keys=[key], device="reference")
