"""Has a translated model the bits of Python, and do mistakes of its rules say where they are?"""

import inspect
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import village
from faults import NAMES, Faults, FaultsConfig
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_rules import RandomConfig, RandomRules, module_of, outcome, programs
from village import WORKLOAD, VillageConfig

import societies
from societies.errors import ConfigError, SocietiesWarning
from societies.model import Model, Series
from societies.opencl import choose_device
from societies.translate import RuleError, TranslationError
from societies.workload import Setup, Step
from societies.workload.checking.verify import verify
from societies.workload.running import registry
from societies.workload.running.engines import DeviceEngine, ReferenceEngine


def config_of(**more):
    return VillageConfig(workload="village", replicates=3, days=8, **more)


@pytest.mark.parametrize("mode", ["", pytest.param("checked", marks=pytest.mark.ci)])
def test_every_corner_has_the_bits_of_python(monkeypatch, mode):
    monkeypatch.setenv("SOCIETIES_DEBUG", mode)
    report = verify(Setup(WORKLOAD, config_of()), ticks=8)
    assert report.identical, str(report)
    assert report.coverage.acted.keys() >= {"begin", "work", "meet", "corners", "grow"}


def test_a_word_of_the_configuration_chooses_code():
    texts = {rule: WORKLOAD.unit(config_of(rule=rule)).text_of(["pay"]) for rule in ("even", "odd")}
    assert "payments_log" in texts["even"] and "payments_log" not in texts["odd"]
    assert "own_value" not in texts["even"]


def test_values_change_no_text():
    assert WORKLOAD.unit(config_of()).name == WORKLOAD.unit(config_of(tax=7, share=0.5)).name
    assert WORKLOAD.unit(config_of()).name != WORKLOAD.unit(config_of(agents=7)).name


@settings(max_examples=1, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_random_programs_have_the_bits_of_python(random):
    """tests/translate/random_rules.py verifies more of them."""
    with tempfile.TemporaryDirectory() as folder:
        differs, count = outcome(programs(random, 2), Path(folder))
    assert not differs
    assert count == 2


@pytest.mark.thorough
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.sampled_from(["", "checked"]))
def test_many_random_programs_have_the_bits_of_python(random, mode):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOCIETIES_DEBUG", mode)
        differs, _ = outcome(programs(random, 5), Path(folder))
    assert not differs


@pytest.fixture(scope="module")
def checked():
    """Return an engine in which every phase goes wrong."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOCIETIES_DEBUG", "checked")
        config = FaultsConfig(workload="faults", replicates=2, days=3)
        return DeviceEngine(Faults(), config, choose_device(), copies=2)


@pytest.mark.parametrize("name", NAMES)
def test_a_checked_build_names_the_line_that_goes_wrong(checked, name):
    import faults

    checked.start()
    if name == "fine":
        checked.step(Step(name), 1)
        return
    with pytest.raises(RuleError) as found:
        checked.step(Step(name), 1)
    place, line, *_ = str(found.value).split("\n")
    what = place.partition(": ")[2]
    assert line.partition("  # ")[2] in what
    rows = inspect.getsource(faults).split("\n")
    assert rows[int(place.split(":")[1]) - 1].strip() == line.strip()
    assert "on day 1, in the society with index 0" in str(found.value)


def test_a_rule_that_raises_in_python_says_where():
    config = FaultsConfig(workload="faults", replicates=2, days=3)
    engine = ReferenceEngine(Faults(), config, copies=2)
    engine.start()
    with pytest.raises(RuleError, match="ZeroDivisionError") as found:
        engine.step(Step("zero"), 1)
    assert "society.real[0] = 1.0 / float(society.whole[0] - 2)" in str(found.value)
    assert "day 1, society 0, phase zero" in str(found.value)


def test_the_version_holds_the_hash_of_the_rules(tmp_path):
    versions = []
    for extra in ("", "    # a comment\n", "    rng = Rng.load(society.stream)\n"):
        text = 'def begin(config, society, day):\n    """Begin."""\n' + extra
        text += "    society.xi[0] = 3\n"
        module = module_of("from societies.model import Rng\n" + text, tmp_path)
        versions.append(RandomRules(module, ()).version)
    assert versions[0] == versions[1] != versions[2]
    assert versions[0].startswith("1 rules ")


def test_the_file_holds_the_rules(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "_entries", lambda: {"village": _Entry()})
    societies.run(config_of(record={"detail": 4}), out=tmp_path / "run.h5")
    import xarray as xr

    with xr.open_dataset(tmp_path / "run.h5") as results:
        assert results.attrs["model_version"] == WORKLOAD.version
        assert "def corners(config, society, day):" in results.attrs["rules"]
        assert results.attrs["rules_sha256"] == WORKLOAD.rules_sha256()
        assert np.isfinite(results.money.values[:, -1]).all()


class _Entry:
    """An entry point of the model."""

    module, value = "village", "village:WORKLOAD"

    def __init__(self, model=WORKLOAD):
        self.model = model

    def load(self):
        return self.model


def test_a_phase_that_cannot_be_translated_is_carried_out_by_python(tmp_path):
    text = """
import statistics
from societies.model import Rng

def begin(config, society, day):
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()

def odd(config, society, day):
    society.xr[0] = float(statistics.median(society.xi)) + society.index

def plain(config, society, day):
    society.xi[day % 7] += day
"""
    model = RandomRules(module_of(text, tmp_path), ("plain", "odd"))
    config = RandomConfig(workload="random_rules", replicates=2, days=3, first_society=4)
    with pytest.warns(SocietiesWarning, match="carried out by plain Python, which is slow") as seen:
        report = verify(Setup(model, config), ticks=3)
    assert report.identical, str(report)
    assert "statistics.median has no twin on devices" in str(seen[0].message)
    assert ".py:9:" in str(seen[0].message)


class OfTwoSeries(RandomRules):
    def series(self, p):
        return {"first": Series("1", "one"), "second": Series("1", "two")}


@pytest.mark.parametrize(
    ("series", "said"),
    [
        ('{"second": 2.0, "first": 1.0}', ""),
        ('{"first": 1.0, "second": 2.0, "third": 3.0}', "there is no series 'third'"),
        ('{"first": 1.0, "secnd": 2.0}', "there is no series 'secnd'; did you mean 'second'?"),
        ('{"first": 1.0}', "the series 'second' is missing"),
    ],
)
@pytest.mark.parametrize("python", [True, False])
def test_series_have_their_names_in_any_order(tmp_path, series, said, python):
    """In plain Python on a device they had the order of the declaration, whatever their names."""
    refused = "society.xr[0] = statistics.median([1.0])" if python else "pass"
    text = f"import statistics\n\ndef odd(config, society, day):\n    {refused}\n"
    model = OfTwoSeries(module_of(f"{text}    society.series = {series}\n", tmp_path), ("odd",))
    model.start = ()
    p = model.parameters(RandomConfig(workload="random_rules", replicates=2, days=3))

    def series_of(kind, *device):
        engine = kind(model, p, *device, copies=2)
        engine.start()
        engine.run_ticks(1, 2)
        return engine.state()["series"].tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SocietiesWarning)
        for one in ((ReferenceEngine,), (DeviceEngine, choose_device("cpu"))):
            if not said:
                assert series_of(*one) == [[1.0, 2.0]] * 2
                continue
            kind = RuleError if python else TranslationError
            with pytest.raises(kind, match=said.replace("?", r"\?")) as error:
                series_of(*one)
            assert (".py:3: odd: " if python else ".py:5: ") in str(error.value)
            assert not python or "declares: first, second." in str(error.value)


def test_the_command_line_says_what_plain_python_carries_out(shell, monkeypatch, tmp_path):
    text = "def odd(config, society, day):\n    society.xr[0] = 2.0 ** society.xr[1]\n"
    model = RandomRules(module_of(text, tmp_path), ("odd",))
    model.start = ()
    monkeypatch.setattr(registry, "_entries", lambda: {"random_rules": _Entry(model)})
    config = tmp_path / "odd.yaml"
    config.write_text("workload: random_rules\ndays: 2\n")
    code, _, err = shell("run", str(config), "--out", str(tmp_path / "odd.h5"))
    assert code == 0
    assert "warning: the phase odd is carried out by plain Python, which is slow" in err
    assert "society.xr[0] = 2.0 ** society.xr[1]" in err


def test_a_phase_that_does_not_exist_is_named(tmp_path):
    class Nothing(Model):
        name, summary, config, day = "nothing", "", RandomConfig, ("exchange",)

    with pytest.raises(ConfigError, match="names the phase 'exchange', and the file has"):
        Nothing().rules()


def test_the_text_of_a_phase_is_printed():
    text = WORKLOAD.kernel_text(config_of(), "pay")
    first = inspect.getsourcelines(village.pay)[1]
    assert f"// {first + 4}: paid = min(config.tax, society.money[agent])" in text
    assert "#line" not in text
    assert "corners" not in text


def test_societies_differ_in_their_values(monkeypatch):
    from societies.workload.running.points import with_table

    monkeypatch.setattr(registry, "_entries", lambda: {"village": _Entry()})
    table = {"tax": [0, 2, 9], "share": [0.0, 0.5, 1.0]}
    config = with_table(VillageConfig(workload="village", days=5), table)
    text = WORKLOAD.unit(WORKLOAD.parameters(config)).text_of(["pay"])
    assert "value_table[copy * 2 + " in text
    report = verify(Setup(WORKLOAD, config), ticks=5)
    assert report.identical, str(report)
