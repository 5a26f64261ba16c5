"""Is a run whose values are changed on a day one that continues from that day with other values?"""

import numpy as np
import pytest
from small import GROUPS, small

import societies
from societies import SocietiesError, config_from_dict, load_config, verify
from societies.economy.workload import WORKLOAD
from societies.workload import Setup
from societies.workload.running.batches import engine_of
from societies.workload.running.points import points_of, with_table
from societies.workload.running.state import checkpointed

POLICY = {
    "trading.min_surplus": 2.0,
    "utility.exponent": 2.2,
    "extraction.min_effort": 2.0,
    "consumption.resource_lifetime": 8.0,
    "device.factor.tool": 4.0,
    "groups.0.trade_power": 3.0,
}
LATER = {"utility.scale": 700.0, "day_length": 650.0, "trading.min_surplus": 0.0}
CHANGES = [
    {"day": 4, "set": POLICY},
    {"day": 9, "set": LATER, "societies": [1]},
]


def ensemble(**more):
    """An ensemble whose kernels other tests of tables have, too."""
    return small("economy", groups=GROUPS, replicates=2, **more)


def run(config, device, first, last, state=None):
    """Run days of a configuration, from a state or the start; return the saved state and hash."""
    engine, _, _ = engine_of(Setup(WORKLOAD, config), device)
    if state is None:
        engine.start()
    else:
        engine.load(state)
    engine.run_ticks(first, last)
    return checkpointed(engine.fields, engine.state()), engine.hash()


@pytest.mark.parametrize("days", [11, pytest.param(None, marks=pytest.mark.thorough)])
def test_device_and_reference_agree(days):
    report = verify(ensemble(interventions=CHANGES), days=days)
    assert report.identical, str(report)


@pytest.mark.ci
def test_with_a_table():
    table = {"trading.min_surplus": [0.5, 1.5], "device.daily_decay": [2.0, 5.0]}
    config = with_table(ensemble(interventions=CHANGES), table)
    assert points_of(config).after == (4, 9)
    assert len(points_of(config).configs) == 5  # two at first, two changed, one of them again
    report = verify(config, days=6)
    assert report.identical, str(report)


@pytest.mark.sample
@pytest.mark.parametrize("device", ["auto", "reference"])
def test_an_intervention_is_a_run_that_continues_with_other_values(device):
    """The runs before and after have their values in the kernels' text, or none changed."""
    config = ensemble(interventions=CHANGES[:1])
    straight = run(config, device, 1, 8)[1]
    plain = ensemble()
    before, _ = run(plain, "reference", 1, 4)
    changed = config_from_dict(plain.model_dump(), [f"{key}={one}" for key, one in POLICY.items()])
    assert run(changed, "reference", 5, 8, before)[1] == straight
    assert run(plain, "reference", 5, 8, before)[1] != straight


def test_it_concerns_the_societies_that_it_names():
    both, _ = run(ensemble(interventions=CHANGES), "auto", 1, 12)
    first, _ = run(ensemble(interventions=CHANGES[:1]), "auto", 1, 12)
    assert all(both[name][0].tobytes() == first[name][0].tobytes() for name in both)
    assert any(both[name][1].tobytes() != first[name][1].tobytes() for name in both)
    second = {**CHANGES[1], "societies": [8]}  # by their numbers, not by their places
    moved = ensemble(first_society=7, interventions=[CHANGES[0], second])
    assert points_of(moved).of.tolist() == [[0, 0], [1, 1], [1, 2]]


def test_those_of_a_day_follow_each_other():
    one, other = ({"day": 3, "set": {"day_length": length}} for length in (500.0, 550.0))
    for order in ((one, other), (other, one)):
        points = points_of(ensemble(interventions=list(order)))
        last = points.configs[points.of[-1, 0]]
        assert last.day_length == order[1]["set"]["day_length"]


def test_before_the_first_day_is_as_from_the_start():
    config = ensemble(interventions=[{"day": 0, "set": POLICY}])
    always = config_from_dict(
        ensemble().model_dump(), [f"{key}={one}" for key, one in POLICY.items()]
    )
    assert run(config, "auto", 1, 3)[1] == run(always, "reference", 1, 3)[1]


@pytest.mark.ci
@pytest.mark.sample
@pytest.mark.parametrize(
    "day",
    [pytest.param(4, marks=pytest.mark.thorough), 5, pytest.param(10, marks=pytest.mark.thorough)],
)
def test_a_run_is_resumed_on_both_sides_of_it(tmp_path, day):
    """The newest checkpoint is that of day 4 or 8: it meets the values of its own time."""
    config, out = ensemble(interventions=CHANGES), tmp_path / "run.h5"
    straight = run(config, "auto", 1, 14)[1]

    def stop(done, days):
        if done >= day:
            raise KeyboardInterrupt

    with pytest.raises(SocietiesError):
        societies.run(config, out=out, progress=stop)
    assert societies.run(config, out=out, resume=True).state_sha256 == straight
    batches = societies.run(config, out=tmp_path / "batches.h5", batch=1)
    assert batches.state_sha256 == straight


def test_bounds_cover_all_values():
    """Tables are as long, and limits as wide, as the largest value asks for at any time."""
    config = ensemble(interventions=[{"day": 2, "set": {"day_length": 2400.0}}])
    p = WORKLOAD.parameters(config)
    wide = WORKLOAD.parameters(ensemble(day_length=2400.0))
    assert p.largest_holding == wide.largest_holding
    one, other = WORKLOAD.limits(p, 5), WORKLOAD.limits(wide, 5)
    assert [one[name] for name in ("most units", "most minutes")] == [
        other[name] for name in ("most units", "most minutes")
    ]


CONFIG = """\
workload: economy
agents: 4
resources: 6
days: 20
interventions:
  - {day: 3, set: {trading.min_surplus: 2}}
  - day: DAY
    set: {KEY: VALUE}
    societies: [SOCIETY]
"""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"DAY": "20"}, r"my.yaml:7:10  interventions.1.day: must be before the last day, 20"),
        ({"DAY": "-1"}, r"my.yaml:7:10  interventions.1.day: must be at least 0, got -1"),
        (
            {"KEY": "trading.rounds"},
            r"my.yaml:8:\d+  interventions.1.set.'trading.rounds': is a shape, which sizes arrays",
        ),
        ({"KEY": "seed"}, "interventions.1.set.seed: is the same in all copies of a launch"),
        ({"KEY": "day_lenght"}, "set.day_lenght: unknown key; did you mean 'day_length'?"),
        ({"VALUE": "-5"}, r"my.yaml:7:5  interventions.1: day_length: must be more than 0, got -5"),
        ({"VALUE": ".nan"}, "day_length"),
        ({"VALUE": "long"}, "interventions.1: day_length: expected a number, got 'long'"),
        (
            {"SOCIETY": "1"},
            r"interventions.1.societies.0: there is no society 1; they are numbered",
        ),
        (
            {"KEY": "utility.min_marginal", "VALUE": "600"},
            r"interventions.1: utility.scale: must be more than utility.min_marginal \(600\)",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    text = CONFIG
    usual = {"DAY": "7", "KEY": "day_length", "VALUE": "500", "SOCIETY": "0"}
    for word, value in {**usual, **words}.items():
        text = text.replace(word, value)
    (tmp_path / "my.yaml").write_text(text)
    with pytest.raises(SocietiesError, match=message):
        load_config("my.yaml")


def test_what_is_too_large_only_together_is_refused():
    """Tools that last long, and are used until they are fast."""
    changes = [
        {"day": 3, "set": {"device.lifetime.tool": 2e8}},
        {"day": 4, "set": {"device.lifetime.tool": 100.0, "device.factor.tool": 1e3}},
    ]
    with pytest.raises(SocietiesError, match=r"interventions: taken together, device\.lifetime"):
        ensemble(interventions=changes)


def test_without_any_nothing_is_looked_up():
    assert points_of(ensemble()) is None
    assert np.array_equal(points_of(ensemble(interventions=CHANGES)).of[0], [0, 0])
