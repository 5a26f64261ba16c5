"""Does BAM have the states of an independent implementation, and is its money conserved?"""

import gzip
import json
import random
from functools import reduce
from pathlib import Path

import pytest
from gpu_form import form
from marks import thorough_but
from small import BAM_WORDS, small

from reference_py.copies import Copy
from societies import config_from_dict
from societies.analysis.accounts import rows_of
from societies.config.model import SHAPE
from societies.models import bam
from societies.models.bam.accounts import ACCOUNTS
from societies.models.bam.flows import FLOWS, SECTORS
from societies.opencl import choose_device
from societies.translate import unit
from societies.workload import Source
from societies.workload.declare import phases
from societies.workload.declare.protocol import Setup
from societies.workload.running.engines import DeviceEngine, ReferenceEngine
from societies.workload.running.state import initial_state

DATA = Path(__file__).parents[1] / "data/bam"
WORKLOAD = bam.WORKLOAD


def economy_of(config, index=0):
    """Return an economy before its first phase."""
    state = initial_state(WORKLOAD.fields(config), WORKLOAD.sizes(config), 1, config)
    return Copy(index, {name: array[0].tolist() for name, array in state.items()})


def money(economy):
    """Return all money with what left the economy: the K of the specification."""
    return (
        sum(economy.cash) + sum(economy.savings) + sum(economy.income) + sum(economy.budget)
        + sum(economy.equity) - sum(map(sum, economy.loan)) + economy.outside
    )  # fmt: skip


FURTHER = {"tax", "rate_first", "price_cv_end", "hedge_first", "ponzi_first", "discrepancy"}
"""Series that the vectors do not have."""


DISCREPANCY = [*bam.SERIES].index("discrepancy")


def economies():
    """Yield head and lines of every economy of the vectors."""
    found = []
    text = gzip.decompress((DATA / "vectors.jsonl.gz").read_bytes()).decode()
    for line in map(json.loads, text.splitlines()):
        if "keys" in line:
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return {head["economy"]: (head, lines) for head, lines in found}


ECONOMIES = economies()


def vector_config(head):
    return config_from_dict(
        {"workload": "bam", "quarters": head["quarters"], "seed": head["seed"], **head["keys"]}
    )


@pytest.mark.parametrize("name", ECONOMIES)
def test_every_phase_gives_the_states_and_series_of_the_vectors(name):
    head, lines = ECONOMIES[name]
    config = vector_config(head)
    economy, expected, series, done = economy_of(config, head["society"]), {}, 0, 0
    rules, day = WORKLOAD.reference(config), WORKLOAD.day
    for line in lines:
        quarter, phase = line["quarter"], line["phase"]
        if phase == "series":
            bam.statistics(config, economy, quarter)
            assert set(economy.series) == set(line["series"]) | FURTHER
            for key, value in line["series"].items():
                assert economy.series[key] == pytest.approx(value, rel=1e-9, abs=1e-9), (line, key)
            assert economy.series["discrepancy"] == 0.0
            series += 1
            continue
        for one in ("begin",) if phase == "start" else day[done : day.index(phase) + 1]:
            rules[one](config, economy, quarter)
        done = 0 if phase in ("start", "enter") else day.index(phase) + 1
        expected.update(line["state"])
        for key, value in expected.items():
            if key != "quarter":  # the platform's own
                found = getattr(economy, {"ended": "cause", "kept": "retained"}.get(key, key))
                assert found == value, (quarter, phase, key)
        assert money(economy) == lines[0]["money"], (quarter, phase)
    assert series > 0


RUNS = {
    f"{one['scenario']} {one['seed']}": one
    for one in json.loads((DATA / "golden.json").read_text())
}
"""Runs of full size, in which sums at the end of some quarters are known."""


def totals(state):
    """Return what is known of the runs, from the arrays of one economy."""
    names = ("made", "cash", "savings", "equity", "skill")
    return {
        "price": float(state["prices"][0]),
        "min_pay": int(state["min_pay"]),
        "outside": int(state["outside"]),
        "employed": int((state["employer"] >= 0).sum()),
        "streams": reduce(lambda a, b: a ^ b, state["stream"].tolist()),
        **{name: int(state[name].sum()) for name in names},
    }


@pytest.mark.parametrize("name", thorough_but(["baseline 1", "spiral 2", "limit 1"], RUNS))
def test_a_device_gives_the_totals_of_long_runs(name):
    run = RUNS[name]
    config = config_from_dict({"workload": "bam", "seed": run["seed"], **run["keys"]})
    engine = DeviceEngine(WORKLOAD, config, choose_device("auto"), first=0, copies=1)
    engine.start()
    tick = 0
    for row in run["end_of_quarter"]:
        quarter = row["quarter"]
        while tick < quarter:
            last = min(quarter, tick + 64)
            engine.run_ticks(tick + 1, last)
            tick = last
        state = {key: array[0] for key, array in engine.state().items()}
        assert {"quarter": quarter, **totals(state)} == row
    assert (engine.logs()["series"][..., DISCREPANCY] == 0.0).all()
    assert state["cause"] == run["ended"]
    assert state["ended"] == (tick if run["ended"] else -1)


def at_random(seed):
    """Return a small configuration with words and numbers drawn for every key."""
    draw = random.Random(seed)
    fields = bam.BamConfig.model_fields
    settings = {}
    for name, field in fields.items():
        extra = field.json_schema_extra or {}
        words = getattr(field.annotation, "__args__", ())
        if extra.get("kind") == SHAPE and words:
            settings[name] = draw.choice(words)
        elif field.annotation is bool:
            settings[name] = draw.random() < 0.5
    settings |= {
        "firms": draw.randint(2, 8), "households": draw.randint(2, 24), "banks": draw.randint(1, 3),
        "max_m": draw.randint(1, 8), "max_h": draw.randint(1, 4), "max_z": draw.randint(1, 8),
        "contract": draw.randint(1, 8), "min_wage_every": draw.randint(1, 5),
        "net_worth_ratio": draw.choice([0.1, 0.4, 6.0]), "savings0": draw.choice([0.05, 1.0]),
        "equity0": draw.choice([0.05, 5.0]), "bank_dividends": draw.random(),
        "tax": draw.random() / 2, "h_xi": draw.random(), "loan_cap": draw.choice([0.0, 2.0]),
        "policy_rate": draw.random() / 4, "recovery": draw.choice(["worth", "none", "cash"]),
    }  # fmt: skip
    return config_from_dict({"workload": "bam", "quarters": 10, "seed": seed, **settings})


UNDER_WAY = {"make", "shopping", "save"}
"""Phases that end between the two sides of a payment: wages, purchases."""


@pytest.mark.parametrize("seed", range(1, 25))
def test_money_is_conserved_after_every_phase_whatever_the_keys(seed):
    config = at_random(seed)
    economy, rules = economy_of(config), WORKLOAD.reference(config)
    bam.begin(config, economy, 0)
    total = money(economy)
    for quarter in range(1, config.quarters + 1):
        for phase in WORKLOAD.day:
            if phase == "produce":
                wages = [0] * config.firms
                for firm, wage in zip(economy.employer, economy.wage, strict=True):
                    if firm >= 0:
                        wages[firm] += wage
                assert wages == economy.payroll
            rules[phase](config, economy, quarter)
            if phase not in UNDER_WAY:
                assert money(economy) == total, (quarter, phase)
            assert economy.staff == [economy.employer.count(i) for i in range(config.firms)]
        assert min(economy.savings) >= 0 and not any(economy.budget)
        if economy.cause:
            break
        assert economy.cash == economy.worth and min(economy.cash) >= 0
        assert not any(map(sum, economy.loan))


POLICIES = {
    "tax": (0.0, 0.3, 1.0), "policy_rate": (0.0, 0.02, 0.3), "min_wage_every": (1, 4, 1000),
    "dividends": (0.0, 0.1, 1.0), "loan_cap": (0.0, 2.0), "capital": (0.05, 1.0),
    "bank_dividends": (0.0, 1.0), "entry_size": (0.1, 1.0), "beta": (0.7, 2.5),
    "contract": (1, 8), "sigma_max": (0.0, 0.1), "buffer_h": (0.5, 2.0),
}  # fmt: skip
"""Values that interventions can change, from off to as much as is possible."""


@pytest.mark.parametrize("seed", range(1, 9))
def test_no_money_appears_while_policies_begin_and_end(seed):
    draw = random.Random(seed)
    keys = at_random(seed).model_dump(exclude_unset=True) | {"quarters": 14, "replicates": 2}
    changes = [
        {
            "quarter": quarter,
            "set": {name: draw.choice(POLICIES[name]) for name in draw.sample([*POLICIES], 5)},
            "economies": draw.choice([[], [0], [1]]),
        }
        for quarter in (2, 5, 9)
    ]
    setup = Setup(WORKLOAD, config_from_dict(keys | {"interventions": changes}))
    engine = ReferenceEngine(WORKLOAD, setup.p, copies=2)
    engine.start()
    before = engine.arrays("balance")["balance"]
    for quarter in range(1, setup.ticks + 1):
        engine.run_ticks(quarter, quarter)
        logs = {name: log[:, 0] for name, log in engine.logs().items()}
        for copy in range(2):
            assert logs["series"][copy, DISCREPANCY] == 0.0, (quarter, copy)
            paid, after = named(FLOWS, logs["flow"][copy]), named(SECTORS, logs["balance"][copy])
            rows = [*rows_of(ACCOUNTS, paid, named(SECTORS, before[copy]), after).values()]
            ended = engine.copies_now[copy].ended
            if not 0 <= ended < quarter:
                assert not any(map(sum, [*rows, *zip(*rows, strict=True)])), (quarter, copy)
        before = logs["balance"]


def test_a_grain_too_many_is_a_discrepancy():
    config = small("bam")
    economy, rules = economy_of(config), WORKLOAD.reference(config)
    for phase in ("begin", *WORKLOAD.day):
        rules[phase](config, economy, 1)
    assert economy.series["discrepancy"] == 0.0
    economy.savings[3] += 1
    bam.statistics(config, economy, 1)
    assert economy.series["discrepancy"] == 1.0


def named(names, values):
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize("words", [{}, *BAM_WORDS])
def test_rows_and_columns_of_the_table_of_flows_add_up_to_0(words):
    config = small("bam", **words)
    economy, rules = economy_of(config), WORKLOAD.reference(config)
    bam.begin(config, economy, 0)
    before, seen = named(SECTORS, economy.balance), set()
    assert before["firms"] == sum(economy.cash) and before["banks"] == sum(economy.equity)
    for quarter in range(1, config.quarters + 1):
        for phase in WORKLOAD.day:
            rules[phase](config, economy, quarter)
        paid, after = named(FLOWS, economy.flow), named(SECTORS, economy.balance)
        rows = [*rows_of(ACCOUNTS, paid, before, after).values()]
        assert not any(map(sum, [*rows, *zip(*rows, strict=True)])), quarter
        seen |= {name for name, amount in paid.items() if amount}
        before = after
        if economy.cause:
            break
    assert {"wages", "purchases", "dividends"} <= seen


def test_the_small_configurations_have_every_word_of_every_key():
    """So that tests of all workloads verify every choice on a device."""
    used = [small("bam", **words) for words in ({}, *BAM_WORDS)]
    for name, field in bam.BamConfig.model_fields.items():
        if (field.json_schema_extra or {}).get("kind") == SHAPE:
            for word in getattr(field.annotation, "__args__", ()):
                assert word in [getattr(one, name) for one in used], (name, word)


@pytest.mark.thorough
def test_a_workgroup_for_each_economy_has_the_bits_of_a_work_item(monkeypatch):
    """Its work-items share households, firms and sorts, as on a GPU."""
    config = config_from_dict({**small("bam").model_dump(), "replicates": 3, "quarters": 64})
    p, device = WORKLOAD.parameters(config), choose_device("auto")
    source = WORKLOAD.source(p)
    found = []
    for on_cpu in (1, 0):
        monkeypatch.setattr(phases, "GROUPS_A_UNIT", 3)
        monkeypatch.setattr(unit, "SHORT", 2**20)  # BAM is too long to be faster so
        monkeypatch.setattr(
            bam.Bam, "source", lambda *_, on=on_cpu: Source(form(on), arguments=source.arguments)
        )
        engine = DeviceEngine(WORKLOAD, p, device, first=0, copies=3)
        engine.start()
        engine.run_ticks(1, 64)
        assert engine.run_step.whole_ticks
        found.append((engine.hash(), {n: log.tobytes() for n, log in engine.logs().items()}))
    assert found[0] == found[1]
