"""Does `societies trace` say what each phase of a model of one file changed?"""

import json

import numpy as np
import pytest

import societies
from societies.cli import main
from societies.workload.running import registry

MODEL = """from typing import Literal

from societies.model import DailyConfig, Events, Field, Model, Rng, Series, key, value


class Keys(DailyConfig):
    workload: Literal["traced"]
    agents: int = key(9, "agents", "1", ge=2, le=20)
    gift: int = value(2, "gift", "1", ge=0)


def begin(config, society, day):
    for i in range(config.agents):
        society.money[i] = 10
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()


def give(config, society, day):
    rng = Rng.load(society.stream)
    giver, taker = rng.below(config.agents), rng.below(config.agents)
    society.money[giver] -= config.gift
    society.money[taker] += config.gift
    society.gifts.append((day, giver, taker))
    society.stream = rng.pack()


def count(config, society, day):
    society.total += 1.5
    society.series = {"given": society.total}


class Traced(Model):
    name, summary = "traced", "gifts"
    config, start, day = Keys, ("begin",), ("give", "count")

    def sizes(self, p):
        return {"agent": p.agents}

    def fields(self, p):
        return {
            "money": Field(("agent",), "int32", "1", "money"),
            "total": Field((), "float64", "1", "total"),
            "stream": Field((), "uint64", "1", "stream"),
        }

    def events(self, p):
        return {"gifts": Events(3, 5)}

    def series(self, p):
        return {"given": Series("1", "given")}


WORKLOAD = Traced()
"""


@pytest.fixture
def traced(tmp_path, monkeypatch, capsys):
    """Return what prints a trace, as lines or as data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_GIVEN", {})
    (tmp_path / "traced.py").write_text(MODEL)
    (tmp_path / "traced.yaml").write_text("model: traced.py\ndays: 6\nreplicates: 3\n")

    def trace(*words):
        with pytest.raises(SystemExit):
            main(["trace", "traced.yaml", *words])
        captured = capsys.readouterr()
        return captured.out or captured.err

    return trace


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_changes_lead_from_the_morning_to_the_evening(traced, device):
    config = societies.load_config("traced.yaml", overrides=["days=4"])
    societies.run(config, device="reference", out="run.h5")
    with societies.open_results("run.h5", events="gifts") as events:
        gifts = events.to_dataframe().query("society == 1 and day == 4")
    giver, taker = (int(gifts.iloc[0][name]) for name in ("column_1", "column_2"))
    found = json.loads(traced("--day", "4", "--society", "1", "-o", "json", "--device", device))
    give, count = found["phases"]
    assert give["phase"] == "give" and give["rows"] == {"gifts": [[4, giver, taker]]}
    assert give["drawn"] == ["stream"] and count["rows"] == {} and count["drawn"] == []
    moved = {place[0]: now - was for place, was, now in give["fields"].get("money", [])}
    assert moved == ({} if giver == taker else {giver: -2, taker: 2})
    assert count["fields"] == {"total": [[[], 4.5, 6.0]]} and found["series"] == {"given": 6.0}


def test_one_entry_is_shown_alone(traced):
    days = np.arange(1, 7)
    for agent in (0, 5):
        for day in days:
            whole = json.loads(traced("--day", str(day), "-o", "json", "--device", "reference"))
            one = traced("--day", str(day), "--entry", str(agent), "--device", "reference")
            changed = [place for place, _, _ in whole["phases"][0]["fields"].get("money", [])]
            assert (f"money[{agent}]: " in one) == ([agent] in changed)
            named = any(agent in row[1:] for row in whole["phases"][0]["rows"]["gifts"])
            assert ("gifts: row" in one) == named
            assert "total: " in one and one.count("money[") <= 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--day", "7"], "--day 7: the days are 1 to 6"),
        (["--tick", "0"], "--tick 0: the days are 1 to 6"),
        (["--society", "3"], "--society 3: the numbers are 0 to 2"),
        (["--entry", "9"], "--entry 9: the entries are 0 to 8"),
        (["-o", "xml"], "-o xml: choose text or json"),
    ],
)
def test_what_does_not_exist_is_refused(traced, words, said):
    assert said in traced(*words, "--device", "reference")
