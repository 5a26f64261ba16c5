"""Do the futures of a fan have one past, draws of their own, and the bits of a whole run?"""

import numpy as np
import pytest
import xarray as xr

import societies
from reference_py.economy.schedule import order
from reference_py.economy.society import new_society
from reference_py.economy.streams import PURPOSE_COUNT
from reference_py.primitives.rng import STREAM_GAP, Rng, stream_base
from societies.economy.parameters import parameters
from societies.errors import ConfigError, OutputError

SMALL = {
    "workload": "economy",
    "agents": 4,
    "resources": 5,
    "days": 8,
    "replicates": 2,
    "devices": "tools",
    "invention": {"tool_probability": 0.1},
    "record": {"keep": [4]},
}


def config(**more):
    return societies.config_from_dict({**SMALL, **more})


def events(path):
    """Return the inventions of a file, in a fixed order."""
    with societies.open_results(path, events="inventions") as found:
        rows = np.stack([found[n].values for n in ("society", "day", "inventor", "resource")], 1)
    return sorted(map(tuple, rows.tolist()))


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    path = tmp_path_factory.mktemp("fan") / "past.h5"
    societies.run(config(), out=path, device="reference")
    return path


def test_a_fan_of_a_file_is_the_run_of_its_configuration(past, tmp_path):
    branch, whole = tmp_path / "branch.h5", tmp_path / "whole.h5"
    one = societies.run(config(), out=branch, start=past, day=4, fan=3, device="reference")
    fan = {"day": 4, "futures": 3}
    two = societies.run(config(replicates=6, fan=fan), out=whole, device="reference")
    assert one.first_tick == 5 and one.state_sha256 == two.state_sha256
    with xr.open_dataset(branch) as a, xr.open_dataset(whole) as b, xr.open_dataset(past) as p:
        for name in a.data_vars:
            np.testing.assert_array_equal(a[name], b[name], name)
        early, late = slice(1, 4), slice(5, 8)
        each = a.units_extracted.values.reshape(2, 3, 8)
        known = p.units_extracted.sel(day=early).values
        assert (each[:, :, :4] == known[:, None]).all()
        utility = a.utility.sel(day=late).values
        assert len({row.tobytes() for row in utility}) == 6
    one, two = (events(path) for path in (branch, whole))
    assert one == two and {society for society, *_ in one} == {*range(6)}


def test_futures_draw_from_the_streams_of_another_seed():
    fan = config(replicates=6, fan={"day": 4, "futures": 3})
    p = parameters(fan)
    society = new_society(p, 4)
    steps = {step.function.__name__: step for step in order(p, 5) if step.due}
    order(p, 0)[0].run(p, society, 0)
    streams = (SMALL["agents"] + 1) * PURPOSE_COUNT
    assert society.stream[0][0] == Rng.seed(stream_base(1), STREAM_GAP, 1 * streams).pack()
    steps["seed_futures"].run(p, society, 5)
    base = stream_base(1 + 2**63)
    assert society.stream[2][3] == Rng.seed(base, STREAM_GAP, 4 * streams + 2 * 16 + 3).pack()
    assert "seed_futures" not in {one.function.__name__ for one in order(p, 4) if one.due}


def test_what_cannot_be_a_fan_is_refused(past, tmp_path):
    out, device = tmp_path / "no.h5", "reference"
    with pytest.raises(ConfigError, match="branches off another"):
        societies.run(config(), out=out, fan=3, device=device)
    with pytest.raises(OutputError, match=r"ends with day 8"):
        societies.run(config(days=20), out=out, start=past, day=9, fan=3, device=device)
    with pytest.raises(
        OutputError,
        match=r"has replicates 2, so a branch with 3 futures of each",
    ):
        societies.run(config(replicates=1), out=out, start=past, day=4, fan=3, device=device)
    with pytest.raises(OutputError, match="give a configuration with replicates: 2 and fan=3"):
        societies.run(config(replicates=1), out=out, start=past, day=4, fan=3, device=device)
    with pytest.raises(ConfigError, match="is a fan already"):
        one = config(replicates=6, fan={"day": 4, "futures": 3})
        societies.run(one, out=out, start=past, day=4, fan=3, device=device)
    some = [{"day": 6, "societies": [1], "set": {"day_length": 500}}]
    with pytest.raises(ConfigError, match="for some societies alone"):
        societies.run(config(interventions=some), out=out, start=past, day=4, fan=3, device=device)
    for fan, said in (
        ({"day": 4, "futures": 4}, "2 is no multiple of the 4 futures"),
        ({"day": 8, "futures": 2}, "a day from 1 to 7"),
        ({"day": 4}, "needs a number of futures"),
    ):
        with pytest.raises(ConfigError, match=said):
            config(fan=fan)
    assert not out.exists()


@pytest.mark.ci
def test_a_device_seeds_futures_as_the_reference_does():
    societies.verify(config(days=6, replicates=4, fan={"day": 3, "futures": 2}))
