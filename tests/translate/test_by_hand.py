"""Does a kernel written by hand replace one phase, verified against the Python, and which is it?"""

import re
from pathlib import Path

import pytest

import societies
from societies.cli import main
from societies.errors import ConfigError
from societies.scaffold import write_workload
from societies.workload import Setup
from societies.workload.checking.bench import bench_phases, worth_a_kernel
from societies.workload.checking.kernels import kernel_text
from societies.workload.running import registry
from societies.workload.running.profile import PhaseTimes, Profile
from societies.workload.running.request import setup_of as setup_with_table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "make-a-phase-faster.md"


@pytest.fixture
def model(tmp_path, monkeypatch):
    """Return what writes the page's model with a kernel into the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_GIVEN", {})
    write_workload("payments", tmp_path / "made", "exchange")
    text = next((tmp_path / "made").rglob("payments.py")).read_text()
    (kernel,) = re.findall(
        r"^cat > exchange\.cl <<'END'\n(.*?)^END$", PAGE.read_text(), re.M | re.S
    )

    def write(by_hand='{"exchange": "exchange.cl"}', old="", new=""):
        assert old in kernel
        (tmp_path / "exchange.cl").write_text(kernel.replace(old, new) if old else kernel)
        line = "config, start, day = "
        assert line in text
        changed = text.replace(line, f"by_hand = {by_hand}\n    {line}") if by_hand else text
        (tmp_path / "payments.py").write_text(changed)
        return societies.config_from_dict(
            {"workload": "payments", "model": "payments.py", "agents": 30, "replicates": 2}
        )

    return write


def setup_of(config):
    return Setup(registry.workload(config.workload), config)


def test_a_kernel_by_hand_has_the_bits_of_the_python(model):
    translated = setup_of(model(by_hand=""))
    version = translated.workload.version
    assert set(translated.workload.translated_phases(translated.p)) >= {"exchange", "report"}
    config = model()
    setup = setup_of(config)
    assert setup.workload.version == version  # results are the same
    assert "exchange" not in setup.workload.translated_phases(setup.p)
    assert "random_permutation(&rng, order, LENGTH_AGENT)" in kernel_text(setup, "exchange")
    report = societies.verify(config, ticks=3)
    assert report.identical, str(report)
    assert report.coverage.counts["payments"] > 0


@pytest.mark.ci
def test_a_wrong_kernel_by_hand_is_found(model):
    config = model(old="own[payer] >= KEY_AMOUNT", new="own[payer] > KEY_AMOUNT + 70")
    report = societies.verify(config, ticks=9)
    assert not report.identical
    assert report.difference.phase == "exchange"


@pytest.mark.ci
def test_societies_of_other_configurations_have_translated_kernels(model):
    path = Path("payments.py")
    model()
    path.write_text(path.read_text().replace("amount: int = key(", "amount: int = value("))
    path.write_text(path.read_text().replace("    key,\n", "    key,\n    value,\n"))
    config = societies.config_from_dict(
        {"workload": "payments", "model": "payments.py", "agents": 30, "replicates": 2}
    )
    assert "exchange" in translated_of(config, {"amount": [3, 9]})
    report = societies.verify(config, ticks=2, table={"amount": [3, 9]})
    assert report.identical, str(report)


def translated_of(config, table):
    """Return the translated phases of societies that differ in keys of a table."""
    setup = setup_with_table(config, table, called="verify")
    return setup.workload.translated_phases(setup.p)


@pytest.mark.ci
def test_a_kernel_is_used_for_societies_that_do_not_differ_in_its_keys(model):
    path = Path("payments.py")
    line = "    amount: int = value("
    model()
    more = '    tax: int = value(1, "A key", "units", ge=0)\n'
    path.write_text(path.read_text().replace(line, more + line))
    config = societies.config_from_dict(
        {"workload": "payments", "model": "payments.py", "agents": 30, "replicates": 2}
    )
    table = {"tax": [3, 9]}
    assert "exchange" not in translated_of(config, table)
    report = societies.verify(config, ticks=2, table=table)
    assert report.identical, str(report)
    assert report.coverage.counts["payments"] > 0


@pytest.mark.parametrize(
    ("by_hand", "said"),
    [
        ('{"exchang": "exchange.cl"}', "there is no phase 'exchang'; its phases are"),
        ('{"exchange": "nowhere.cl"}', "the kernel of 'exchange' is in no file .*nowhere.cl"),
    ],
)
def test_mistakes_are_said_before_anything_runs(model, by_hand, said):
    setup = setup_of(model(by_hand))
    with pytest.raises(ConfigError, match=said):
        setup.workload.phases(setup.p, 1)


def test_phases_are_measured_and_the_long_ones_named(model, capsys):
    model(by_hand="")
    Path("payments.yaml").write_text("model: payments.py\nagents: 30\ndays: 2\n")
    with pytest.raises(SystemExit) as end:
        main(["bench", "payments.yaml", "--phases", "--copies", "2", "--device", "reference"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    assert re.search(r"^exchange +2 ", out, re.M), out
    assert re.search(r"^report +2 ", out, re.M), out
    assert "of the kernels' time" in out
    with pytest.raises(ConfigError, match="bench: 9 days are requested"):
        bench_phases("payments.yaml", ticks=9, device="reference")


def test_what_is_worth_a_kernel_follows_from_its_share():
    profile = Profile()
    profile._phases = {
        name: PhaseTimes(name, 1, seconds)
        for name, seconds in (("a", 0.75), ("b", 0.2), ("c", 0.05))
    }
    lines = worth_a_kernel(profile, ["c", "b", "a"])
    assert [line.split(",")[-1].strip() for line in lines] == [
        "they would be 4.0 times as fast",
        "they would be 1.2 times as fast",
    ]
    assert [line.split(" takes ")[0] for line in lines] == ["a", "b"]
    assert worth_a_kernel(profile, ["b"])[0].startswith("b takes 20% of")
    profile._phases = {"a": PhaseTimes("a", 1, 2.0)}  # which took 1000.0 times as long as nothing
    assert worth_a_kernel(profile, ["a"]) == ["a takes 100% of the kernels' time"]
