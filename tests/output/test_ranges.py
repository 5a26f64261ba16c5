"""No value of a checkpoint that no run leaves behind reaches a kernel."""

import os
import subprocess
import sys

import numpy as np
import pytest

import societies
from reference_py.economy.state import DEVICE_STATE, STATE
from societies.economy.parameters import parameters
from societies.economy.state import state_fields
from societies.economy.workload import WORKLOAD
from societies.errors import OutputError
from societies.output import ResultFile
from societies.workload import Field, Phase, Series, Setup, Source, Step, Workload
from societies.workload.declare.config import DailyConfig
from societies.workload.running.file import named_limits, require_checkpoint
from societies.workload.running.registry import workload
from societies.workload.running.run import run

SETTINGS = {
    "workload": "economy",
    "agents": 4,
    "resources": 8,
    "days": 6,
    "devices": "all",
    "device": {"resources_in_tool": 3, "components": 3},
    "shocks": [{"day": 2, "remove": "resource", "index": "random"}],
    "record": {"checkpoint": 3},
}
CHECKPOINTED = {name: field for name, field in (STATE | DEVICE_STATE).items() if field.checkpointed}


@pytest.fixture(scope="module")
def config():
    return societies.config_from_dict(SETTINGS)


@pytest.fixture(scope="module")
def finished(config, tmp_path_factory):
    path = tmp_path_factory.mktemp("ranges") / "run.h5"
    societies.run(config, device="reference", out=path)
    return path


@pytest.fixture
def path(finished, tmp_path):
    copy = tmp_path / "run.h5"
    copy.write_bytes(finished.read_bytes())
    return copy


def state_of(path):
    with ResultFile.resume(path) as file:
        return file.latest_checkpoint()


def forge(path, name, value):
    """Put a value into the checkpoint, checksum and all, as an attacker would."""
    with ResultFile.resume(path) as file:
        day, state = file.latest_checkpoint()
        state[name].flat[-1] = value
        for _ in range(4):  # of equal days any slot may count
            file.checkpoint(day, state)
        assert np.array_equal(file.latest_checkpoint()[1][name], state[name], equal_nan=True)


def bad_values(config):
    """Yield every field with a value just outside each end of its range."""
    named = named_limits(Setup(WORKLOAD, config), SETTINGS["days"])
    for name, field in CHECKPOINTED.items():
        for limit, step in zip(field.within, (-1, 1), strict=True):
            if limit is None:
                continue
            end = np.asarray(named[limit] if isinstance(limit, str) else limit).flat[-1].item()
            outside = end + step if field.dtype != "float64" else end + step * (1 + abs(end))
            if field.dtype.startswith("u") and outside < 0:
                continue
            yield name, outside
        if field.dtype == "float64":
            yield from ((name, value) for value in (np.nan, np.inf, -np.inf))
    yield "stream", 0
    yield "held", -(2**31)
    yield "recipe", 10**6


def test_every_checkpointed_field_of_the_economy_is_held_against_its_range(config, finished):
    day, state = state_of(finished)
    require_checkpoint(Setup(WORKLOAD, config), finished, day, state)
    tried = set()
    for name, value in bad_values(config):
        forged = {**state, name: state[name].copy()}
        forged[name].flat[-1] = value
        with pytest.raises(OutputError) as caught:
            require_checkpoint(Setup(WORKLOAD, config), finished, day, forged)
        reported = str(caught.value).splitlines()
        assert str(finished) in reported[0] and f"{name}[" in reported[0] and len(reported) == 2
        tried.add(name)
    assert tried == set(state)


@pytest.mark.parametrize("name", ["alive", "available"])
def test_someone_and_something_is_left(config, finished, name):
    day, state = state_of(finished)
    forged = {**state, name: np.zeros_like(state[name])}
    with pytest.raises(OutputError, match="0 everywhere in a society"):
        require_checkpoint(Setup(WORKLOAD, config), finished, day, forged)


def test_shapes_and_names_must_be_those_of_the_configuration(config, finished):
    day, state = state_of(finished)
    fewer = {name: array for name, array in state.items() if name != "recipe"}
    for forged, why in (
        (fewer, "'recipe' is missing"),
        ({**state, "more": state["held"]}, "'more' is not of"),
        ({**state, "held": state["held"][:, :2]}, "'held' is int32 "),
        ({**state, "held": state["held"].astype(float)}, "'held' is float64 "),
    ):
        with pytest.raises(OutputError, match=why):
            require_checkpoint(Setup(WORKLOAD, config), finished, day, forged)


def test_every_way_in_refuses_a_forged_checkpoint(config, path):
    forge(path, "recipe", 10**6)
    before = path.read_bytes()
    trace = workload("economy").trace
    for opening in (
        lambda: societies.run(config, device="reference", out=path, resume=True),
        lambda: societies.verify(
            societies.config_from_dict({**SETTINGS, "days": 9}), device="reference", start=path
        ),
        lambda: trace(
            societies.config_from_dict({**SETTINGS, "days": 9}),
            day=7,
            agent=0,
            start=path,
            device="reference",
        ),
    ):
        with pytest.raises(OutputError, match="not one that a run wrote: recipe"):
            opening()
    assert path.read_bytes() == before


@pytest.mark.ci
@pytest.mark.sample
@pytest.mark.parametrize(
    ("name", "value"),
    [("recipe", 10**8), ("alive", 255), ("held", -(2**31)), ("device_experience", -1e300)],
)
def test_what_crashed_the_process_ends_with_two_lines(path, name, value, tmp_path):
    longer = tmp_path / "longer.yaml"
    longer.write_text(societies.config.to_yaml(societies.config_from_dict(SETTINGS)))
    forge(path, name, value)
    done = subprocess.run(
        [sys.executable, "-m", "societies", "verify", longer, "--set", "days=9", "--from", path],
        capture_output=True,
        text=True,
        env=os.environ,
        timeout=300,
    )
    assert done.returncode == OutputError.exit_code, done.stderr
    assert "not one that a run wrote" in done.stderr and len(done.stderr.splitlines()) == 2


def test_ranges_hold_for_groups_too():
    config = societies.config_from_dict(
        {**SETTINGS, "groups": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5}]}
    )
    assert all(len(field.within) == 2 for field in state_fields(parameters(config)).values())


class Friends(Workload):
    """Three agents, each of whom knows one of them."""

    name, summary, config = "friends", "who knows whom", DailyConfig
    clock, copies = "day", "society"

    def sizes(self, p):
        return {"agent": 3}

    def fields(self, p):
        return {"friend": Field(("agent",), "int32", "index", "friend", within=(0, "agents - 1"))}

    def series(self, p):
        return {"total": Series("1", "of nothing")}

    def phases(self, p, copies):
        return {"seed": Phase()}

    def schedule(self, p, tick, seen):
        return [Step("seed")]

    def source(self, p):
        return Source()

    def reference(self, p):
        def seed(p, society, day):
            society.friend = [1] * 3
            society.series = {"total": 0.0}

        return {"seed": seed}


def test_a_model_of_one_s_own_may_say_its_ranges_too(tmp_path):
    config = DailyConfig(workload="friends", days=4)
    path = tmp_path / "run.h5"
    run(Setup(Friends(), config), device="reference", out=path)
    forge(path, "friend", 3)
    with pytest.raises(OutputError, match=r"friend\[0, 2\] is 3, possible is from 0 to 2"):
        run(Setup(Friends(), config), device="reference", out=path, resume=True)
    forge(path, "friend", 2)
    run(Setup(Friends(), config), device="reference", out=path, resume=True)
