"""Are keys of BAM that cannot be right, or have no effect, reported in the user's words?"""

import numpy as np
import pytest
from small import SMALL
from test_bam import economy_of

import societies
from societies import config_from_dict
from societies.errors import ConfigError
from societies.model import DailyConfig, key
from societies.models import bam
from societies.models.bam.config import MOST_MONEY

SMALLEST = {"workload": "bam", "firms": 4, "households": 20, "banks": 2, "quarters": 10}
TOO_LITTLE = "at the start is less than the smallest amount, 2**-20"
INTEREST = "interest could be 1.8 times the loan, and at most 1 is possible"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"policy_rate": 0.9}, f"policy_rate: {INTEREST}"),
        (
            {"interventions": [{"quarter": 5, "set": {"policy_rate": 0.9}}]},
            f"interventions.0: policy_rate: {INTEREST}",
        ),
        (
            {"interventions": [{"quarter": 5, "set": {"h_phi": 1.0, "leverage_cap": 100.0}}]},
            "interventions.0: policy_rate: interest could be 2.02 times the loan",
        ),
        ({"firms": 1}, "firms: must be at least 2, got 1"),
        ({"max_m": 9}, "max_m: must be at most 8, got 9"),
        ({"min_wage": "down"}, "min_wage: expected one of both, up, fixed, got 'down'"),
        ({"capital": 0.0}, "capital: must be more than 0, got 0"),
        ({"net_worth_ratio": 1e6, "price0": 1e6, "productivity": 1e5}, "more than can be counted"),
        ({"record": {"keep": [3, 3]}}, "record.keep.1: quarter 3 is listed twice"),
        ({"record": {"keep": [0]}}, "record.keep.0: must be at least 1, got 0"),
        ({"record": {"checkpoint": -3}}, "record.checkpoint: must be at least 0, got -3"),
        ({"record": {"checkpoint": "now"}}, "expected a whole number, auto or never, got 'now'"),
        ({"first_economy": 2**31 - 1}, "random streams are needed (four of every agent), more"),
        ({"productivity": 1e-9}, f"productivity: what a worker makes {TOO_LITTLE}"),
        (
            {"firms": 100_000, "productivity": 1e-6},
            f"productivity: the output of a firm {TOO_LITTLE}",
        ),
        ({"price0": 1e-9}, f"net_worth_ratio: the net worth of a firm {TOO_LITTLE}"),
        ({"wage0_ratio": 1e-9}, f"wage0_ratio: the wage offered {TOO_LITTLE}"),
        ({"min_wage_ratio": 1e-9}, f"min_wage_ratio: the minimum wage {TOO_LITTLE}"),
        ({"equity0": 1e-9}, f"equity0: the equity of a bank {TOO_LITTLE}"),
        (
            {"price0": 1e6, "wage0_ratio": 1e6, "net_worth_ratio": 1e-6},
            "wage0_ratio: the wage offered at the start, 1e+12, is more than can be counted (2.19",
        ),
        (
            {"wage0_ratio": 1e6, "min_wage_ratio": 1e6},
            "min_wage_ratio: the minimum wage at the start, 5e+11, is more than can be counted",
        ),
    ],
)
def test_impossible_keys_are_refused(keys, message):
    with pytest.raises(ConfigError) as refused:
        config_from_dict({**SMALLEST, **keys})
    assert message in str(refused.value)


def test_amounts_and_other_mistakes_are_reported_at_once_and_each_once():
    with pytest.raises(ConfigError) as refused:
        config_from_dict({**SMALLEST, "price0": 1e-9, "savings0": -1.0})
    keys = [line.split(":")[0] for line in str(refused.value).splitlines()]
    assert sorted(keys) == ["net_worth_ratio", "savings0"]
    with pytest.raises(ConfigError) as refused:
        config_from_dict({**SMALLEST, "price0": 1e6, "net_worth_ratio": 1e6, "productivity": 1e6})
    assert str(refused.value).count("more than can be counted") == 1


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"max_m": 8}, "is more than the 4 firms: each is seen once"),
        ({"max_z": 5}, "is more than the 4 firms: each is seen once"),
        ({"max_h": 3}, "is more than the 2 banks: each is seen once"),
        ({"banks": 1, "max_h": 2}, "is more than the 1 bank: each is seen once"),
        ({"buffer_h": 3.0}, "has no effect without buffer: true"),
        ({"sigma_max": 0.2}, "has no effect without growth: true"),
        ({"entry_productivity": "mean"}, "has no effect without growth: true"),
        ({"buffer": True, "beta": 2.0}, "has no effect with buffer: true"),
        ({"min_wage": "fixed", "min_wage_every": 2}, "has no effect with min_wage: fixed"),
        ({"min_wage": "fixed", "raise_contracts": "no"}, "has no effect with min_wage: fixed"),
    ],
)
def test_keys_without_effect_are_warned_of(keys, message):
    config = config_from_dict({**SMALLEST, "max_m": 4, **keys})
    assert [found.message for found in config.warnings()] == [message]
    assert [".".join(found.path) for found in config.warnings()] == list(keys)[-1:]


def test_a_state_that_would_be_retained_after_the_last_quarter_is_warned_of():
    """So it is in every model of copies; the economy says the same words."""
    config = config_from_dict({**SMALLEST, "max_m": 4, "quarters": 3, "record": {"keep": [2, 4]}})
    (found,) = config.warnings()
    assert found.path == ("record", "keep", 1)
    assert found.message == "quarter 4 is after the last quarter, 3: its state is not stored"


def test_curves_begin_in_a_quarter_of_the_file(tmp_path):
    """The figure would be empty."""
    config = config_from_dict({**SMALLEST, "max_m": 4, "quarters": 6})
    societies.run(config, out=tmp_path / "a.h5", device="reference")
    with societies.open_results(tmp_path / "a.h5") as results:
        for first in (-1, 7, 500):
            with pytest.raises(ConfigError, match=f"first={first}: the quarters are 1 to 6"):
                bam.WORKLOAD.figure(results, first=first)


def test_the_closing_table_and_effects_have_few_variables():
    headlines = bam.WORKLOAD.headlines()
    assert len(headlines) < 10 and set(headlines) <= set(bam.WORKLOAD.series(None))


def test_interventions_that_overlap_are_warned_of():
    changes = [{"quarter": 2, "until": 5, "set": {"tax": 0.1}}, {"quarter": 3, "set": {"tax": 0.2}}]
    config = config_from_dict({**SMALLEST, "max_m": 4, "interventions": changes})
    assert [found.path for found in config.warnings()] == [("interventions", 1, "set")]


def test_a_model_with_days_may_name_its_keys_as_it_likes():
    """Base classes keep short names free: a key called clock or first is one like any other."""

    class Config(DailyConfig):
        clock: int = key(3, "A clock")
        first: int = key(2, "The first")

    config = Config(workload="own", days=4)
    assert (config.clock, config.first, *config.conflicts(), *config.warnings()) == (3, 2)


def test_more_searches_than_firms_see_each_firm_once():
    """All firms are applied to and visited."""
    config = config_from_dict({**SMALLEST, "max_m": 8, "max_z": 8, "max_h": 4})
    economy, rules = economy_of(config), bam.WORKLOAD.reference(config)
    for phase in ("begin", *bam.WORKLOAD.day):
        rules[phase](config, economy, 1)
    applied = [[firm for firm in row if firm >= 0] for row in economy.apply]
    assert all(sorted(row) == [0, 1, 2, 3] for row in applied)
    assert all(sorted(firm for firm in row if firm >= 0) == [0, 1, 2, 3] for row in economy.visit)


def test_an_economy_that_collapses_says_when_and_why(tmp_path):
    path = tmp_path / "ends.h5"
    config = config_from_dict({**SMALLEST, "quarters": 100, "min_wage_every": 1, "min_wage": "up"})
    report = societies.run(config, out=path, device="reference")
    with societies.open_results(path) as results:
        last = int(results.ended.values[0])
        assert 0 < last < 100 and results.cause.values.tolist() == [1]
        assert results.unemployment.notnull().values[0].sum() == last
    assert "all firms, or all banks, failed in one quarter" in report.ended
    assert report.last_tick == last


def test_an_economy_with_too_much_money_ends():
    config = config_from_dict(SMALLEST)
    economy, rules = economy_of(config), bam.WORKLOAD.reference(config)
    for phase in ("begin", *bam.WORKLOAD.day):
        rules[phase](config, economy, 1)
    assert economy.cause == 0
    economy.outside = MOST_MONEY
    for phase in ("enter", "statistics"):
        rules[phase](config, economy, 2)
    assert (economy.cause, economy.ended) == (2, 2)
    state = {"cause": np.array([economy.cause, 1])}
    why = bam.WORKLOAD.why_ended(config, state)
    assert "there was more money than can be counted, 2**60 grains (1 economy)" in why


@pytest.mark.parametrize("key", ["entry_size", "entry_production", "entry_wage", "entry_markup"])
def test_entrants_as_large_as_possible_can_be_counted(key):
    """Every array stays within its type, until there is too much money or no firm is left."""
    sizes = {"firms": 6, "households": 24, "banks": 3, "quarters": 150}
    config = config_from_dict({**SMALLEST, **sizes, "net_worth_ratio": 0.3, key: 1000.0})
    fields, economy = bam.WORKLOAD.fields(config), economy_of(config)
    rules = bam.WORKLOAD.reference(config)
    bam.begin(config, economy, 0)
    for quarter in range(1, config.quarters + 1):
        for phase in bam.WORKLOAD.day:
            rules[phase](config, economy, quarter)
        for name, field in fields.items():
            np.array(getattr(economy, name), field.dtype)
        assert np.isfinite([*economy.series.values()]).all()
        if economy.cause:
            return


def test_a_table_of_words_is_refused(tmp_path, monkeypatch, shell):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mixed.csv").write_text("min_wage,tax\nup,0.1\nboth,0.2\n")
    code, out, err = shell("run", "bam/quickstart", "--table", "mixed.csv", "--device", "reference")
    assert (code, out) == (2, "")
    assert "keys that are words are the same in all copies of a launch" in err


def test_the_small_configuration_is_no_such_case():
    assert not list(config_from_dict({"workload": "bam", **SMALL["bam"]}).warnings())
