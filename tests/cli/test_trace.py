"""Is an agent's day reported truly and completely, in words and as data, wherever it begins?"""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from engines import ReferenceEngine
from small import WITH_DEVICES

from societies import config_from_dict
from societies.economy.explain.agent_day import AgentListener, Trace
from societies.economy.explain.events import DeviceTry, Made, OwnUse, Unit
from societies.economy.explain.replay import TradeListener, replay, require_same, sales, swaps
from societies.economy.explain.report import text as report
from societies.economy.explain.trace import trace
from societies.economy.explain.words import type_name
from societies.economy.parameters import parameters
from societies.economy.series import columns_of
from societies.economy.workload import WORKLOAD
from societies.errors import DeviceError
from societies.workload import Setup
from societies.workload.running.state import state_hash

SETTINGS = {
    **WITH_DEVICES,
    "days": 12,
    "shocks": [{"day": 11, "remove": "agent", "index": 2}],
}
DAYS = (4, 8, 11)
REFERENCE = ("--device", "reference")


@pytest.fixture(scope="module")
def run():
    """Return a run of the reference: states and series, and what was reported on some days."""
    config = config_from_dict(SETTINGS)
    p = parameters(config)
    engine = ReferenceEngine(p)
    engine.start()
    states, series, trades, agents = [engine.state()], [None], {}, {}
    for day in range(1, SETTINGS["days"] + 1):
        series.append(dict(zip(columns_of(p), engine.run_days(day, day)[0, 0], strict=True)))
        states.append(engine.state())
        if day in DAYS:
            trades[day] = TradeListener()
            replay(WORKLOAD, p, states[day - 1], day, trades[day])
    for day in DAYS[1:]:
        for agent in (0, 2, 5):
            agents[day, agent] = AgentListener(agent)
            agents[day, agent].after = replay(WORKLOAD, p, states[day - 1], day, agents[day, agent])
    return SimpleNamespace(
        config=config, p=p, states=states, series=series, trades=trades, agents=agents
    )


def reported(run, day, agent, full=False):
    listener = run.agents[day, agent]
    sections = [section for section in listener.sections if section.phase]
    begin, end = listener.sections[0].before, listener.sections[-1].after
    found = Trace(run.p, 0, day, agent, sections, begin, end, [], "way", "checked", "0" * 64)
    return report(found, full=full)


def events(listener, kind):
    found = [e for section in listener.sections for _, e in section.events]
    return [event for event in found if isinstance(event, kind)]


# -- truth ---------------------------------------------------------------------------------------


def test_a_listener_changes_no_bit(run):
    assert len(run.agents) == 6
    for (day, _), listener in run.agents.items():
        fields = WORKLOAD.arrays(run.p)
        assert state_hash(fields, listener.after) == state_hash(fields, run.states[day])
        for name, array in listener.after.items():
            assert array.tobytes() == run.states[day][name].tobytes(), name


def test_trades_add_up_to_the_series(run):
    assert sum(len(sales(listener.events)) for listener in run.trades.values()) > 10
    for day, listener in run.trades.items():
        alive = run.series[day]["agents_alive"]
        deals = [event for _, event in swaps(listener.events)]
        units = sum(deal.swap.given + deal.swap.taken for deal in deals)
        assert units / alive == run.series[day]["units_traded"]
        assert len(deals) / alive == run.series[day]["deals"]
        sold = [event for _, event in sales(listener.events)]
        assert (
            sum(sum(one.units) for one in sold) / alive == run.series[day]["units_paid_for_devices"]
        )
        for device_type, name in enumerate(("tool", "machine", "factory", "industry")):
            count = sum(one.device_type == device_type for one in sold)
            assert count / alive == run.series[day][f"devices_traded_{name}"]


def test_who_trades_gains_and_who_refuses_would_not(run):
    least = run.p.min_surplus
    for listener in run.trades.values():
        for _, event in listener.events:
            if isinstance(event, DeviceTry):
                gains = event.paid < event.worth and event.cost < event.received
                assert gains == (not event.refused)
                continue
            for one in event.proposals:
                both = one.surplus_a > least and one.surplus_b > least
                assert both or one.refused
            assert bool(event.swap) == (not event.refused)


def test_marginal_utility_falls_of_what_is_taken_and_rises_of_what_is_given(run):
    for listener in run.trades.values():
        for _, deal in swaps(listener.events):
            assert deal.value_a_after[0] >= deal.value_a[0]
            assert deal.value_a_after[1] <= deal.value_a[1]
            assert deal.value_b_after[0] <= deal.value_b[0]
            assert deal.value_b_after[1] >= deal.value_b[1]


def test_what_an_agent_extracts_and_makes_is_what_the_state_counts(run):
    for (day, agent), listener in run.agents.items():
        if (day, agent) == (11, 2):
            continue  # removed in the end, its counters with it
        state = run.states[day]
        units = np.bincount([unit.resource for unit in events(listener, Unit)], minlength=6)
        assert units.tolist() == state["extracted"][0, agent].tolist()
        made = np.zeros((6, 6), int)
        for one in events(listener, Made):
            made[one.device_type, one.resource] += 1
        assert made.tolist() == state["devices_made"][0, agent].tolist()


def test_an_agent_makes_for_itself_what_gains_and_stops_when_nothing_does(run):
    decisions = [one for w in run.agents.values() for one in events(w, OwnUse)]
    assert any(one.resource is not None for one in decisions)
    for one in decisions:
        if one.resource is None:
            assert all(device.refused for device in one.considered)
        else:
            assert one.benefit > one.cost


def test_a_device_that_differs_is_an_error(run):
    other = {name: array.copy() for name, array in run.states[8].items()}
    other["held"][0, 3, 2] += 1
    with pytest.raises(DeviceError, match=r"day 8, .* array held, index \[0, 3, 2\]"):
        require_same(run.p, 8, other, run.states[8])


# -- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("full", [False, True])
def test_the_text_names_every_trade(run, full):
    named = 0
    for day, agent in run.agents:
        text = " ".join(reported(run, day, agent, full).split())
        mine = [e for _, e in swaps(run.trades[day].events) if agent in (e.a, e.b)]
        for deal in mine:
            swap, first = deal.swap, agent == deal.a
            gives, gets = (swap.given, deal.give), (swap.taken, deal.take)
            (n, give), (m, get) = (gives, gets) if first else (gets, gives)
            other = deal.b if first else deal.a
            assert f" a{other} {n} r{give} for {m} r{get}" in text
        assert len(re.findall(r" a\d+ \d+ r\d+ for \d+ r\d+", text)) == len(mine)
        deals = [e for _, e in sales(run.trades[day].events) if agent in (e.buyer, e.seller)]
        for one in deals:
            verb = "buys" if one.buyer == agent else "sells"
            assert f"{verb} {type_name(one.device_type)} r{one.resource} (" in text
        assert len(re.findall(r"(?:buys|sells) [a-z ]+ r\d+ \(", text)) == len(deals)
        named += len(mine) * len(deals)
    assert named > 0


@pytest.mark.parametrize("full", [False, True])
def test_the_text_fits_the_page(run, full):
    for day, agent in run.agents:
        lines = reported(run, day, agent, full).splitlines()
        assert max(map(len, lines)) <= 100
        assert all(line == line.rstrip() for line in lines)


def test_everything_is_more_than_the_summary(run):
    for day, agent in run.agents:
        assert len(reported(run, day, agent, full=True)) > len(reported(run, day, agent))


def test_a_removal_is_reported(run):
    assert "\n  is removed from the society" in reported(run, 11, 2)
    assert "\n  agent 2 is removed from the society" in reported(run, 11, 5)


# -- the command ---------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(yaml.safe_dump({**SETTINGS, "replicates": 2}))


@pytest.mark.ci
def test_a_day_is_the_same_from_a_checkpoint(config, shell, run):
    words = ("--day", "6", "--agent", "1", "--society", "1")
    code, from_start, _ = shell("trace", "run.yaml", *words, *REFERENCE)
    assert code == 0
    record = ("--set", "record.checkpoint=4", "--set", "days=5")
    assert shell("run", "run.yaml", "-q", *record, *REFERENCE, "--set", "shocks=[]")[0] == 0
    unlike = shell("trace", "run.yaml", *words, *REFERENCE, "--from", "run.h5")
    assert unlike[0] == 4
    assert "shocks" in unlike[2]
    again = (*words, *REFERENCE, "--from", "run.h5", "--set", "shocks=[]")
    code, from_file, _ = shell("trace", "run.yaml", *again)
    assert code == 0
    days = from_start.split("\nReached ")[0], from_file.split("\nReached ")[0]
    assert days[0] == days[1]
    assert "from the checkpoint of day 5 in run.h5;" in from_file
    early = shell("trace", "run.yaml", "--day", "2", *again[2:])
    assert early[0] == 4
    assert early[2].splitlines() == [
        "run.h5: has no checkpoint of day 1 or before; it has those of days 4 and 5",
        "go from day 1, without --from; or make a file that ends with the checkpoint of day 1: "
        "run with --set days=1 and --out",
    ]
    more = ("--set", "shocks=[]", "--set", "days=1", "--out", "early.h5", *REFERENCE, "-q")
    assert shell("run", "run.yaml", *more)[0] == 0
    code, helped, _ = shell("trace", "run.yaml", "--day", "2", *again[2:], "--from", "early.h5")
    assert code == 0
    assert "from the checkpoint of day 1 in early.h5" in helped


def test_the_data_hold_the_day(config, shell):
    words = ("--day", "5", "--agent", "4", *REFERENCE, "-o", "json")
    code, out, err = shell("trace", "run.yaml", *words)
    assert (code, err) == (0, "")
    data = json.loads(out, parse_constant=pytest.fail)  # no NaN: others could not read it
    assert (data["society"], data["day"], data["agent"]) == (0, 5, 4)
    phases = [section["phase"] for section in data["sections"]]
    assert phases[:3] == ["trading", "device_trading", "own_use"]
    units = [e for s in data["sections"] for e in s["events"] if e["event"] == "Unit"]
    assert units
    for unit in units:
        assert unit["value"] / unit["minutes"] == pytest.approx(unit["gain"], rel=1e-15)


def test_a_part_of_the_day_is_reported_alone(config, shell):
    words = ("--day", "3", "--agent", "4", *REFERENCE, "--phase", "extraction")
    code, out, _ = shell("trace", "run.yaml", *words)
    titles = [line for line in out.splitlines()[2:] if line and not line.startswith(" ")]
    assert code == 0
    assert [title for title in titles if not title.startswith("Reached")] == [
        "Morning",
        "Extraction",
        "After the day",
    ]


@pytest.mark.ci
def test_the_devices_day_ends_as_reported(config, shell):
    words = ("--day", "9", "--agent", "3", "--set", "devices=none", "--device", "cpu")
    code, out, err = shell("trace", "run.yaml", *words)
    assert (code, err) == (0, "")
    end = " ".join(out[out.index("Reached by days 1 to 8 on ") :].split())
    assert "; the day ends in the same state on " in end
    alone = trace(
        Setup(WORKLOAD, config_from_dict({**SETTINGS, "devices": "none"})),
        day=9,
        agent=3,
        device="reference",
    )
    assert alone.state_sha256[:16] in end


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--day", "0", "--agent", "1"), "--day 0: the configuration has days 1 to 12"),
        (("--day", "13", "--agent", "1"), "raise it with --set days=13"),
        (("--day", "1", "--agent", "6"), "--agent 6: the agents are 0 to 5"),
        (("--day", "1", "--agent", "-1"), "--agent -1: the agents are 0 to 5"),
        (("--day", "12", "--agent", "2"), "--agent 2: was removed at the end of day 11"),
        (("--day", "1", "--agent", "1", "--society", "2"), "societies are 0 to 1"),
        (("--day", "1", "--agent", "1", "--phase", "shocks"), "the parts of day 1 are trading,"),
        (("--day", "1", "--agent", "1", "-o", "xml"), "-o xml: choose text or json"),
    ],
)
def test_what_does_not_exist_is_refused(config, shell, words, message):
    code, out, err = shell("trace", "run.yaml", *words, *REFERENCE)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) <= 2


def test_the_help_of_a_configuration_shows_what_its_workload_can_be_asked(config, shell):
    code, out, _ = shell("trace", "run.yaml", "--help")
    assert code == 0
    for words in ("--day,--tick", "--agent", "--society", "--from", "--phase", "-o ", "--full"):
        assert words in out
    assert "The day, from 1." in out
    code, out, _ = shell("trace", "--help")
    assert code == 0
    assert "--agent" not in out


def test_a_day_is_a_tick(config, shell):
    day = shell("trace", "run.yaml", "--day", "2", "--agent", "1", *REFERENCE)
    assert day[0] == 0
    assert shell("trace", "run.yaml", "--tick=2", "--agent", "1", *REFERENCE) == day


def test_what_is_asked_for_must_exist(config, shell):
    code, _, err = shell("trace", "run.yaml", "--day", "2", *REFERENCE)
    assert code == 2
    assert "Missing option '--agent'" in err
    code, out, err = shell("trace", "run.yaml", "--day", "x", "--agent", "1", *REFERENCE)
    assert (code, out) == (2, "")
    assert "expected a whole number, got x" in err


def test_a_workload_that_cannot_be_traced_reports_it(tmp_path, monkeypatch, shell):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plate.yaml").write_text("workload: laplace\nside: 8\nsteps: 4\n")
    for words in ([], ["--step", "2"], ["--day", "2", "--agent", "1"]):
        assert shell("trace", "plate.yaml", *words) == (
            2,
            "",
            "workload laplace cannot be traced: it does not define how; these can: bam, "
            "boltzmann, economy, kirman_ants, schelling, sugarscape, zero_intelligence\n",
        )
