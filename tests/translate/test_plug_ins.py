"""Does a function of a user replace a rule in kernels and reference alike, and only as it may?"""

import os
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import village
from gpu_form import form
from marks import thorough_but
from small import GROUPS, SMALL

import societies
from societies.cli import main
from societies.economy.rules import RULES
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.models import bam
from societies.opencl import choose_device
from societies.output import open_results
from societies.translate import RuleError, TranslationError
from societies.workload import Setup
from societies.workload.checking import verify as verifying
from societies.workload.declare.protocol import Source
from societies.workload.running import verified
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

ECONOMY = {
    "workload": "economy",
    "agents": 5,
    "resources": 7,
    "days": 14,
    "seed": 7,
    "trading": {"rounds": 2, "menu_size": 3, "fresh_values": True},
    "extraction": {"max_experience": 60},
}

RULES_FILE = '''"""Rules for a test."""

LARGEST = 3


def price(most_a, least_b):
    """The geometric mean, by bisection."""
    low, high = min(most_a, least_b), max(most_a, least_b)
    for _ in range(40):
        middle = (low + high) / 2.0
        if middle * middle < most_a * least_b:
            low = middle
        else:
            high = middle
    return 2.0 / (low + high)


def score(value, last, wanted_held):
    """Many are equal, so that the choice among equals matters."""
    if wanted_held > LARGEST:
        return 0.5
    return float(int(value / (last + 1.0)))


def choice(wanted, given):
    """The highest number first."""
    return -wanted


def none_at_all(most_a):
    return -most_a


def built_in(rule, most_a, least_b):
    return 1.0 if rule == "unit" else 2.0 / (most_a + least_b)


def meeting(agent, agents, group, market_round):
    """Neighbours meet in the first round; later the two halves are apart."""
    return agent // 2 if market_round == 0 else (2 * agent) // agents + 2 * group


def subsistence(unit, scale, resource):
    """The first units are needed to live; the others are worth less and less."""
    from fractions import Fraction

    unit = max(*[unit, 1])
    return 100 + resource if unit <= 5 else Fraction(int(scale), unit)


def stages(experience, max_effort, min_effort, max_experience):
    """It needs three times the least effort until half of all experience is gained."""
    return 3.0 * min_effort if experience < max_experience / 2 else min_effort


def tired(experience, min_effort, max_effort):
    return min_effort + (experience % 7) * 0.25


def worth(benefit, device_type, owned, lifetime, gain_per_minute):
    if device_type == 0 and owned > 0.0:
        return 0.0
    return 2.0 * benefit - gain_per_minute * lifetime / 4.0


def partner(gained, agent, partner, group, partner_group):
    """Who is near is liked, and of the own group more."""
    near = 1.0 / float(abs(agent - partner))
    return gained + near + (0.5 if group == partner_group else 0.0)
'''

TABLES = {"utility.marginal": "subsistence", "extraction.effort": "stages"}
OF_DEVICES = {
    "device.effort": "tired",
    "device.worth": "worth",
    "devices_market.partner": "partner",
    "trading.meeting": "meeting",
}

BAD = {
    "missing.py": ("missing.py:price", "", "missing.py: no such file"),
    "near": ("my_rule.py:price", RULES_FILE, "did you mean 'my_rules.py'?"),
    "syntax": ("my_rules.py:price", "def price(:\n    pass\n", "my_rules.py:1: does not import"),
    "import": (
        "my_rules.py:price",
        "x = 1\nimport nowhere\n",
        "my_rules.py:2: does not import: ModuleNotFoundError: No module named 'nowhere'",
    ),
    "exits": ("my_rules.py:price", "import sys\nsys.exit()\n", "my_rules.py:2: does not import"),
    "function": ("my_rules.py:prise", RULES_FILE, "prise: no such function; did you mean 'price'?"),
    "no function": ("my_rules.py:LARGEST", RULES_FILE, "LARGEST: is no function"),
    "signature": (
        "my_rules.py:price",
        "\n\ndef price(most_b):\n    return most_b\n",
        "my_rules.py:3: price: the rule has no parameter 'most_b'; did you mean 'most_a'?",
    ),
    "star": ("my_rules.py:price", "def price(*all):\n    return 1.0\n", "'?*?all takes anything"),
    "default": (
        "my_rules.py:price",
        "def price(most_a=1.0):\n    return most_a\n",
        "my_rules.py:1: price: the parameter 'most_a' has a default",
    ),
    "waits": (
        "my_rules.py:price",
        "async def price():\n    return 1.0\n",
        "my_rules.py:1: price: is written with async def: write def",
    ),
    "word": (
        "my_rules.py:price",
        "def price(rule):\n    return 1.0 if rule == 0 else 2.0\n",
        "my_rules.py:2: the word 'geometric' is compared with a number",
    ),
    "draws": (
        "my_rules.py:price",
        "from societies.model import Rng\n\ndef price():\n    return Rng.seed(1, 2, 3).uniform()\n",
        "my_rules.py:4: trading.price draws no random numbers",
    ),
    "global": (
        "my_rules.py:price",
        "count = 0\n\ndef price():\n    global count\n    count += 1\n    return 1.0\n",
        "my_rules.py:4: a variable of the module cannot be changed",
    ),
    "memory": (
        "my_rules.py:price",
        "seen = [1.0]\n\ndef price(most_a):\n    seen[0] = most_a\n    return most_a\n",
        "my_rules.py:4: the configuration and constants cannot be changed",
    ),
    "field": (
        "my_rules.py:price",
        "def price(most_a):\n    return society.held[0] + most_a\n",
        "my_rules.py:2: 'society' is not known here",
    ),
    "kind": (
        "my_rules.py:price",
        "def price():\n    return 1\n",
        "my_rules.py:2: price returns a whole number",
    ),
    "nothing": (
        "my_rules.py:price",
        "def price(most_a):\n    pass\n",
        "my_rules.py:1: price returns nothing",
    ),
    "dictionary": (
        "my_rules.py:price",
        "def price(most_a):\n    x = {}\n    return most_a\n",
        "my_rules.py:2: a dictionary has no place in a kernel",
    ),
    "power": (
        "my_rules.py:price",
        "def price(most_a):\n    return most_a ** 0.5\n",
        "my_rules.py:2: a power",
    ),
    "text": (
        "my_rules.py:price",
        "def price(most_a):\n    return 1.0 if most_a == 'x' else 2.0\n",
        "Compare words with words, and numbers with numbers.",
    ),
    "words": (
        "my_rules.py:price",
        "def price(rule):\n    return {'unit': 1.0}[rule]\n",
        "Write if and elif, or a list indexed by numbers.",
    ),
    "decorator": (
        "my_rules.py:price",
        "from functools import lru_cache\n\n@lru_cache\ndef price(most_a):\n    return most_a\n",
        "my_rules.py: price: has a decorator: write the function without it",
    ),
    "near word": ("geometrik", "", "got 'geometrik'; did you mean 'geometric'?"),
}


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """Return a folder with rules, the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_rules.py").write_text(RULES_FILE)
    return tmp_path


def economy(*more, **rules):
    given = {f"trading.{name}": text for name, text in rules.items()}
    return with_rules(given, ECONOMY, more)


def with_rules(rules, base=ECONOMY, more=()):
    """A rule is a function of the file, or a text that names more."""
    bare = {name: text for name, text in rules.items() if str(text).isidentifier()}
    words = {"geometric", "geometrik", "unit", "None"}
    named = {n: f"my_rules.py:{text}" for n, text in bare.items() if str(text) not in words}
    rules = {**rules, **named}
    return societies.config_from_dict({**base, "rules": rules}, more)


def written(folder, **more):
    """Write a configuration without JSON's quotes around numbers, and return its path."""
    import json

    path = folder / "economy.yaml"
    path.write_text(json.dumps({**ECONOMY, **more}))
    return path


ALL = {name: f"my_rules.py:{name}" for name in ("price", "score", "choice")}


LISTS = """
K = (1.0, 2.5, float("inf"), float("nan"), -float("inf"))
N = (3, 1, 2)
P = ((1, 2.0), (4, 8.0))

def most(values):
    found = values[0]
    for one in values:
        if 9.0 > one > found:
            found = one
    return found

def price(most_a):
    return most(K) / most_a

def score(value, last, wanted_held):
    return value * K[wanted_held % 2] + P[1][1]

def choice(wanted, given):
    return N[wanted % 3] - N[given % 3] + P[0][0]
"""


def test_rules_read_constant_lists_of_their_file(rules):
    """No kernel of the economy was given them, so that none could be built."""
    (rules / "my_rules.py").write_text(LISTS)
    report = societies.verify(economy(**ALL), ticks=4)
    assert report.identical, str(report)


@pytest.mark.ci
def test_rules_of_trade_and_curves_have_the_bits_of_python(rules):
    """The price has a loop."""
    named = {**{f"trading.{name}": text for name, text in ALL.items()}, **TABLES}
    report = societies.verify(with_rules({**named, "trading.meeting": "meeting"}), ticks=9)
    assert report.identical, str(report)
    assert report.coverage.counts["swaps"] > 20


@pytest.mark.ci
@pytest.mark.parametrize("kind", thorough_but({"cpu"}, ["cpu", "gpu"]))
def test_rules_of_devices_have_the_bits_of_python(rules, monkeypatch, kind):
    if kind == "gpu":
        as_on_gpus(monkeypatch)
    config = with_rules({**OF_DEVICES, **TABLES}, {**SMALL["economy"], "workload": "economy"})
    report = societies.verify(config, ticks=9)
    assert report.identical, str(report)
    assert report.coverage.counts["selling a tool"] > 20


@pytest.mark.ci
def test_tables_of_rules_are_those_of_each_society_of_an_ensemble(rules):
    """Societies differ in keys that the rules read."""
    base = {**ECONOMY, "replicates": 3, "groups": GROUPS}
    table = {"utility.scale": [30.0, 50.0, 70.0], "extraction.min_effort": [1.0, 2.0, 1.5]}
    report = societies.verify(
        with_rules({**TABLES, "trading.meeting": "meeting"}, base), ticks=7, table=table
    )
    assert report.identical, str(report)
    assert report.coverage.counts["swaps"] > 20


def as_on_gpus(monkeypatch):
    """Let kernels have their form for GPUs."""
    source = type(WORKLOAD).source

    def of_gpus(self, p):
        made = source(self, p)
        return Source({**made.macros, **form(0)}, made.header, made.arguments)

    monkeypatch.setattr(type(WORKLOAD), "source", of_gpus)


@pytest.mark.ci
def test_rules_have_the_bits_of_python_in_the_form_for_gpus(rules, monkeypatch):
    as_on_gpus(monkeypatch)
    report = societies.verify(economy(**ALL), ticks=9)
    assert report.identical, str(report)
    assert report.coverage.counts["swaps"] > 20


@pytest.mark.ci
def test_a_rule_in_the_kernel_alone_is_found(rules, monkeypatch):
    """The reference has the built-in price, which is another one."""
    config = economy(price="my_rules.py:built_in")

    def without_rules(workload, p, **more):
        object.__setattr__(p, "rules", {})
        return ReferenceEngine(workload, p, **more)

    monkeypatch.setattr(verifying, "ReferenceEngine", without_rules)
    report = societies.verify(config, ticks=14)
    assert not report.identical
    assert report.difference.phase.startswith("trading")


def reference_state(config, days=8):
    setup = Setup(WORKLOAD, config)
    engine = ReferenceEngine(WORKLOAD, setup.p)
    engine.start()
    engine.run_ticks(1, days)
    return engine.state()


def test_every_rule_matters_and_none_is_the_economy_of_before(rules):
    plain = reference_state(economy(), 14)["held"]
    for name, text in {**ALL, "price": "my_rules.py:built_in"}.items():
        if name != "choice":
            changed = reference_state(economy(**{name: text}), 14)["held"]
            assert not np.array_equal(plain, changed), name
    scored = reference_state(economy(score=ALL["score"]), 14)["held"]
    both = reference_state(economy(score=ALL["score"], choice=ALL["choice"]), 14)["held"]
    assert not np.array_equal(scored, both)


def test_curves_of_rules_are_what_the_functions_return(rules):
    p = Setup(WORKLOAD, with_rules({**TABLES, "trading.meeting": "meeting"})).p
    curve = p.utility_curves[p.utility_curve_of[0][3]]
    scale, floor = 600.0, p.min_marginal
    assert curve.marginal[:7] == (103.0,) * 5 + (100.0, 600 / 7)
    assert len(curve.marginal) == max(u for u in range(1, 2000) if scale / u > floor)
    assert curve.total[:3] == (0.0, 103.0, 206.0) and curve.floor == floor
    assert len(p.utility_curves) == 7  # the rule asks for the resource
    (effort,) = p.effort_curves
    assert effort.minutes == (9.0,) * 30 + (3.0,) * 31
    assert effort.total[-1] == 30 * 9.0 + 30 * 3.0
    assert effort.max_experience == 60.0


def test_who_meets_whom_follows_from_the_rule(rules):
    setup = Setup(WORKLOAD, economy("agents=8", meeting="my_rules.py:meeting"))
    engine = ReferenceEngine(WORKLOAD, setup.p)
    engine.start()
    engine.run_ticks(1, 3)
    first, second = engine.state()["partners"][0]
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(8))
    assert (first // 2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert (second // 4).tolist() == [0] * 4 + [1] * 4


BAD_TABLES = {
    "rises": (
        "utility.marginal",
        "return 2.0 * unit",
        "returns 4.0, which is more than 2.0 of the unit before",
    ),
    "infinite": ("utility.marginal", "return float('inf')", "returns inf"),
    "too little": (
        "utility.marginal",
        "return 0.0",
        "returns 0.0, which is not above utility.min_marginal (1)",
    ),
    "text": ("utility.marginal", "return 'much'", "returns 'much', which is not a real number"),
    "long": ("utility.marginal", "return 5.0", "needs a table of more than 1,000 units"),
    "raises": ("utility.marginal", "return 9.0 / (unit != 3)", "ZeroDivisionError"),
    "impure": (
        "utility.marginal",
        "seen.append(unit); return 9.0 / len(seen)",
        "now and 9.0 before: The result of a rule follows from its arguments alone",
    ),
    "fast": ("extraction.effort", "return 0.25", "extraction.min_effort is 3, and no effort is"),
    "device": ("device.effort", "return float('nan')", "device.min_effort is"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_said_with_their_line(rules, monkeypatch, case):
    name, body, said = BAD_TABLES[case]
    parameter = "unit" if name == "utility.marginal" else "experience"
    (rules / "my_rules.py").write_text(f"seen = []\n\ndef f({parameter}):\n    {body}\n")
    monkeypatch.setattr("societies.economy.curves_of_rules.LONGEST_TABLE", 1000)
    with pytest.raises(RuleError) as error:
        _ = Setup(WORKLOAD, with_rules({name: "f"}, {**ECONOMY, "devices": "all"})).p
    assert said in str(error.value)
    assert str(error.value).startswith("my_rules.py:4" if case == "raises" else "my_rules.py:3")


def test_rules_of_what_is_absent_are_reported(rules):
    config = with_rules({"device.worth": "worth"})
    (warning,) = config.warnings()
    assert warning.message == "has no effect in this configuration (devices: none)"
    assert warning.path == ("rules", "device", "worth")
    quiet = with_rules({"device.worth": "worth"}, {**ECONOMY, "devices": "all"})
    assert not list(quiet.warnings())


def test_tables_are_not_translated_and_so_never_unverified(rules):
    assert not WORKLOAD.translated_sha256(with_rules(TABLES))
    assert WORKLOAD.version_of(with_rules(TABLES)).startswith(f"{WORKLOAD.version} rules ")


def test_a_price_that_is_none_lets_no_swap_happen(rules):
    deals = {}
    for name in ("none_at_all", "built_in"):
        setup = Setup(WORKLOAD, economy(price=f"my_rules.py:{name}"))
        engine = ReferenceEngine(WORKLOAD, setup.p)
        engine.start()
        engine.run_ticks(1, 9)
        place = list(WORKLOAD.columns(setup.p)).index("deals")
        deals[name] = engine.logs()["series"][..., place].sum()
    assert deals["none_at_all"] == 0
    assert deals["built_in"] > 0


def test_the_word_of_the_configuration_is_compiled_in(rules):
    for word, text in (("unit", "return 1.0;"), ("geometric", "2.0 / (most_a + least_b)")):
        config = economy(f"trading.price={word}", price="my_rules.py:built_in")
        assert text in Setup(WORKLOAD, config).p.rule_text


def test_a_built_in_word_is_the_key_of_the_word(rules):
    assert economy(price="unit") == societies.config_from_dict(ECONOMY, ["trading.price=unit"])


def test_the_economys_own_price_can_be_taken_as_it_is(rules):
    """A user begins with a copy of the function that `societies rules` names."""
    from inspect import getsource

    from reference_py.economy import trading

    head = "import math\n\nfrom societies.model import soft_exp, soft_log\n\n\n"
    (rules / "copied.py").write_text(head + getsource(trading.price))
    copied = reference_state(economy(price="copied.py:price"), 14)
    assert np.array_equal(copied["held"], reference_state(economy(), 14)["held"])


@pytest.mark.parametrize("case", BAD)
def test_bad_rules_are_said_in_a_few_lines(rules, case):
    text, content, said = BAD[case]
    if content:
        (rules / "my_rules.py").write_text(content)
    with pytest.raises((ConfigError, TranslationError), match=r"rules\.trading|my_rules") as e:
        _ = Setup(WORKLOAD, economy(price=text)).p
    assert said.lstrip("'?*") in str(e.value)
    assert e.value.exit_code == 2
    assert len(str(e.value).splitlines()) <= 4


def test_an_unknown_rule_is_said_with_the_nearest(rules):
    with pytest.raises(ConfigError, match=r"rules.trading.prize: unknown key; did you mean 'price"):
        economy(prize="my_rules.py:price")


NEARBY = """def large():
    return float(len([1] * 3) * 2**62 % 7)
def endless():
    n = 1.0
    while n > 0.0:
        n += 1.0
    return n
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1.0 / (most_a - most_a)", r"my_rules.py:2: ZeroDivisionError"),
        (
            "while most_a > 0.0:\n        most_a += 1.0\n    return 1.0",
            r"my_rules.py:2: the loops of trading.price have more than 100,000 rounds",
        ),
        (
            "n = 1 << 40\n    return 1.0 + (n * n > 0)",
            "my_rules.py:3: OverflowError",
        ),
        (
            "n = 3\n    for _ in range(6):\n        n *= n\n    return float(n > 0)",
            r"my_rules.py:4: OverflowError: a whole number of 102 bits; a device has 64",
        ),
        ("n = -(2**62)\n    return float(abs(n + n - 5) > 0)", "my_rules.py:3: OverflowError"),
        ("return float(sum([2**62, 2**62]) > 0)", "my_rules.py:2: OverflowError"),
        ("return [1.0, 2.0][int(most_a * 0.0) + 2]", "my_rules.py:2: IndexError"),
        ("return float(sum(range(10**9)))", "my_rules.py:2: .* more than 100,000 rounds"),
        ("return float(sum(i % 2 for i in range(200000)))", "more than 100,000 rounds"),
        ("from nearby import large\n    return large()", "nearby.py:2: OverflowError"),
        ("from nearby import endless\n    return endless()", "nearby.py:5: .*100,000 rounds"),
    ],
)
def test_what_the_reference_meets_has_its_line(rules, body, said):
    (rules / "my_rules.py").write_text(f"def price(most_a):\n    {body}\n")
    if body.startswith("from"):
        top, body = body.split("\n    ")
        (rules / "my_rules.py").write_text(f"{top}\n\n\ndef price():\n    {body}\n")
        (rules / "nearby.py").write_text(NEARBY)
    with pytest.raises(RuleError, match=said) as error:
        reference_state(economy(price="my_rules.py:price"), 14)
    assert "in the rule trading.price" in str(error.value)


def test_the_least_and_the_largest_whole_number_pass(rules):
    body = "n = 2**62 - 1 + 2**62\n    m = -n - 1\n    return float(n + m) + 2.0"
    (rules / "my_rules.py").write_text(f"def price():\n    {body}\n")
    reference_state(economy(price="my_rules.py:price"), 14)


def test_a_loop_that_never_ends_is_named_while_something_traces_too(rules):
    """As a debugger does, or a measurement of coverage."""
    body = "n = 0\n    while n < 300000:\n        n += 1\n    return float(n)"
    (rules / "my_rules.py").write_text(f"def price():\n    {body}\n")
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        with pytest.raises(RuleError, match=r"my_rules.py:3: .* more than 100,000 rounds"):
            reference_state(economy(price="my_rules.py:price"), 14)
    finally:
        sys.settrace(before)


COUNTED = """
def price(most_a, least_b):
    total = 0.0
    for i in range(200):
        halves = [0.5] * 1000
        total += halves[i]
    places = [k for k in range(1000) if k % 2 == 0]
    for _ in range(30):
        places = sorted(places, key=lambda place: -place)
    n = 0
    while n < 40000:
        n += 1
    odd = sum(range(50000)) % 2 + places[499]
    return 2.0 / (most_a + least_b) + (total - 100.0) + float(n - 40000) + float(odd)
"""


@pytest.mark.ci
def test_a_device_counts_the_rounds_that_python_counts(rules):
    """It counted those of copies and of sorts too, and ended calls that Python carried out."""
    (rules / "my_rules.py").write_text(COUNTED)
    report = societies.verify(economy(price="my_rules.py:price"), ticks=7)
    assert report.identical, str(report)
    assert report.coverage.counts["swaps"] > 20


FAULTY = {
    "trading.price": "price(most_a):\n    x = int(most_a * 0.0)\n    return most_a / float(x)",
    "trading.score": "score(value, given_held):\n    n = 4000000000 + given_held\n"
    "    return value + float(n * n)",
    "trading.choice": "choice(wanted, given):\n    ranks = [3, 1, 2]\n    return ranks[wanted + 3]",
    "trading.meeting": "meeting(agent):\n    return 7 // (agent // 8)",
    "device.worth": "worth(benefit, resource):\n    assert resource < 0\n    return benefit",
    "devices_market.partner": "partner(gained):\n    while gained >= 0.0:\n"
    "        gained += 1.0\n    return gained",
}
"""Rules that go wrong, in their last line or in line 2."""


def checked_run(config):
    """Run four days in a checked build."""
    setup = Setup(WORKLOAD, config)
    engine = DeviceEngine(WORKLOAD, setup.p, choose_device("cpu"))
    engine.start()
    engine.run_ticks(1, 4)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("trading.price", 3, "division by zero"),
        ("trading.score", 3, "more than 64 bits"),
        ("trading.choice", 3, "index"),
        ("trading.meeting", 2, "division by zero"),
        ("device.worth", 2, "assertion"),
        pytest.param(
            *("devices_market.partner", 1, "more than 100,000 rounds"), marks=pytest.mark.thorough
        ),
    ],
)
def test_a_checked_build_names_the_line_of_a_rule_that_goes_wrong(
    rules, monkeypatch, name, line, said
):
    monkeypatch.setenv("SOCIETIES_DEBUG", "checked")
    (rules / "my_rules.py").write_text(f"def {FAULTY[name]}\n")
    of_devices = {**SMALL["economy"], "workload": "economy"}
    base = ECONOMY if name.startswith("trading.") else of_devices
    if name == "trading.choice":  # it is asked if scores are equal
        (rules / "scores.py").write_text("def score():\n    return 1.0\n")
        base = {**base, "rules": {"trading.score": "scores.py:score"}}
    config = with_rules({**base.get("rules", {}), name: name.rpartition(".")[2]}, base)
    with pytest.raises(RuleError, match=rf"my_rules.py:{line}: .*{said}") as error:
        checked_run(config)
    assert "on day" in str(error.value) and "in the society with index 0" in str(error.value)


@pytest.mark.ci
def test_a_checked_build_of_right_rules_has_the_bits_of_python(rules, monkeypatch):
    monkeypatch.setenv("SOCIETIES_DEBUG", "checked")
    report = societies.verify(economy(**ALL, meeting="my_rules.py:meeting"), ticks=5)
    assert report.identical, str(report)


def test_a_plain_build_of_rules_tests_nothing(rules, monkeypatch):
    config = economy(price="my_rules.py:price", score="my_rules.py:score")
    plain = Setup(WORKLOAD, config)
    assert plain.p.rule_sites == [] and "fault" not in plain.p.rule_text
    assert "python_fault" not in plain.fields
    monkeypatch.setenv("SOCIETIES_DEBUG", "checked")
    checked = Setup(WORKLOAD, economy(price="my_rules.py:price", score="my_rules.py:score"))
    assert {file.path.name for file, _, _ in checked.p.rule_sites} == {"my_rules.py"}
    assert "checked_whole" in checked.p.rule_text and "python_fault" in checked.fields


def test_a_loop_that_never_ends_ends_on_a_device(rules):
    (rules / "my_rules.py").write_text("def price():\n    while True:\n        x = 1.0\n")
    with pytest.raises(TranslationError, match="this loop never ends"):
        _ = Setup(WORKLOAD, economy(price="my_rules.py:price")).p
    forever = "def price(most_a):\n    while most_a > 0.0:\n        most_a += 1.0\n    return 1.0\n"
    (rules / "my_rules.py").write_text(forever)
    text = Setup(WORKLOAD, economy(price="my_rules.py:price")).p.rule_text
    assert "if (++*steps > 100000) break;" in text
    assert "return steps > 100000 ? SOFT_NAN : result;" in text


def test_only_files_next_to_the_yaml_are_named_by_it(rules, capsys):
    folder = rules / "configs"
    folder.mkdir()
    path = written(folder, rules={"trading.price": "../my_rules.py:price"})
    with pytest.raises(ConfigError, match=r"economy.yaml:1:\d+  rules.*is not in the folder of"):
        societies.load_config(path)
    (folder / "near.py").write_text(RULES_FILE)
    path = written(folder, rules={"trading.price": "near.py:price"})
    config = societies.load_config(path)
    assert config.rules.trading.price == "configs/near.py:price"
    path = written(folder, rules={"trading": {"price": "nearer.py:price"}})
    with pytest.raises(ConfigError, match=r"yaml:1:\d+  rules.trading.price: nearer.py: no"):
        societies.load_config(path)


def test_reading_a_configuration_executes_nothing(rules):
    (rules / "my_rules.py").write_text("raise SystemExit('executed')\n")
    config = societies.load_config(written(rules, rules={"trading.price": "my_rules.py:price"}))
    assert config.rules.trading.price == "my_rules.py:price"


def shell(*words):
    with pytest.raises(SystemExit) as end:
        main(list(map(str, words)))
    return end.value.code


@pytest.mark.ci
def test_a_file_of_other_rules_is_neither_resumed_nor_branched_off(rules, capsys):
    path, on = written(rules), ("--device", "reference", "--out", "r.h5", "-q")
    rule = ("--rule", "trading.price=my_rules.py:price")
    assert shell("run", path, "--days", 2, *rule, *on) == 0
    assert "rule trading.price: price of my_rules.py, whose Python" in capsys.readouterr().err
    with open_results("r.h5") as results:
        attributes = dict(results.attrs)
    assert RULES_FILE in attributes["rules"]
    assert attributes["rules_sha256"][:10] in attributes["model_version"]
    assert shell("run", path, "--days", 2, "--resume", *on) == 4
    other = ("--rule", "trading.price=my_rules.py:built_in")
    assert shell("run", path, "--days", 2, "--resume", *other, *on) == 4
    assert "was made by model version 1 rules" in capsys.readouterr().err
    branch = (
        "run",
        path,
        "--from",
        "r.h5",
        "--days",
        "3",
        "--out",
        "b.h5",
        "--device",
        "reference",
    )
    assert shell(*branch, *other) == 4
    assert "was made by model version 1 rules" in capsys.readouterr().err
    # Comments, formatting and the place of the file do not matter.
    moved = RULES_FILE.replace('    """The geometric mean, by bisection."""', "    # faster")
    (rules / "moved.py").write_text(moved)
    (rules / "my_rules.py").write_text("raise SystemExit\n")
    again = ("--rule", "trading.price=moved.py:price")
    assert shell("run", path, "--days", 2, "--resume", *again, *on) == 0
    capsys.readouterr()
    assert shell("info", "r.h5") == 0  # reading executes no rules
    assert "1 rules" in capsys.readouterr().out


def test_check_names_the_file_and_rules_lists_them(rules, capsys):
    path = written(rules)
    assert shell("check", path, "--rule", "trading.price=my_rules.py:price") == 0
    assert "rule trading.price: price of my_rules.py, whose Python is" in capsys.readouterr().out
    assert shell("check", path, "--rule", "trading.price") == 2
    assert "expected RULE=FILE.py:FUNCTION" in capsys.readouterr().err
    assert shell("check", path, "--rule", "trading.price=none.py:f") == 2
    assert "rules.trading.price: none.py: no such file" in capsys.readouterr().err
    assert shell("rules", "economy") == 0
    out = capsys.readouterr().out
    for rule in RULES.values():
        assert f"{rule.name}=FILE.py:FUNCTION\n    def {rule.signature}" in out
        assert rule.function.__doc__.strip().split("\n")[0] in out
    assert shell("rules", "laplace") == 2


@pytest.mark.ci
def test_rules_are_a_dimension_of_a_sweep(rules, capsys):
    written(rules)
    (rules / "study.yaml").write_text(
        "base: economy.yaml\nset: {days: 1}\n"
        "vary: {grid: {rules.trading.price: [geometric, 'my_rules.py:price']}}\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert shell("sweep", "study.yaml", "--device", "reference", "-q") == 0
    assert "price of my_rules.py, whose Python is carried out" in capsys.readouterr().err
    with open_results("study.h5") as study:
        assert study["rules.trading.price"].values.tolist() == ["geometric", "my_rules.py:price"]
        assert RULES_FILE in study.attrs["rules"]
    (rules / "my_rules.py").write_text(RULES_FILE.replace("40", "41"))
    assert shell("sweep", "study.yaml", "--device", "reference", "--resume") == 4
    (rules / "study.yaml").write_text(
        "base: economy.yaml\nvary: {grid: {rules.trading.price: ['my_rule.py:price']}}\n"
    )
    assert shell("sweep", "study.yaml", "--dry-run") == 2
    assert "study.yaml:2:" in capsys.readouterr().err


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(tmp_path / "cache"))


def test_rules_that_were_never_verified_are_reported_once(rules, own_cache):
    one, other = (
        Setup(WORKLOAD, economy(price=ALL["price"], score=s)) for s in (None, ALL["score"])
    )
    assert [verified.never_verified(one) for _ in range(2)] == [True, False]
    verified.note_verified(other)
    assert not verified.never_verified(other)
    assert not verified.never_verified(Setup(WORKLOAD, economy()))
    (rules / "my_rules.py").write_text(RULES_FILE.replace("40", "41"))
    assert verified.never_verified(Setup(WORKLOAD, economy(price=ALL["price"])))


@pytest.mark.ci
def test_verify_is_noted_and_the_reference_verifies_nothing(own_cache):
    """A model in one file, whose kernels other tests have built."""
    setup = Setup(village.WORKLOAD, village.VillageConfig(workload="village", replicates=3, days=8))
    assert verifying.verify(setup, ticks=1, device="reference").identical
    assert verified.never_verified(setup)
    assert verifying.verify(setup, ticks=1).identical
    shutil.rmtree(Path(os.environ["SOCIETIES_CACHE_DIR"]) / "rules")
    assert verifying.verify(setup, ticks=1).identical
    assert not verified.never_verified(setup)


def test_models_of_this_package_are_compared_by_its_tests(own_cache):
    """So a run says nothing of them."""
    setup = Setup(bam.WORKLOAD, bam.BamConfig(workload="bam", quarters=5))
    assert not verified.never_verified(setup)


@pytest.mark.ci
def test_run_says_that_rules_were_never_verified(rules, own_cache, capsys):
    path = written(rules, days=2)
    words = ("run", path, "--rule", "trading.price=my_rules.py:price", "-q", "--overwrite")
    advice = "were never compared with their Python on this machine; do it once: societies verify"
    assert shell(*words, "--device", "reference") == 0
    assert advice not in capsys.readouterr().err
    assert shell(*words) == 0
    assert advice in capsys.readouterr().err
    assert shell(*words) == 0
    assert advice not in capsys.readouterr().err


def test_without_rules_nothing_is_new_in_a_file():
    config = societies.config_from_dict(ECONOMY)
    assert "rules" not in config.model_dump()
    assert WORKLOAD.version_of(config) == WORKLOAD.version
    assert not any(
        name.startswith("RULE_") for name in WORKLOAD.source(Setup(WORKLOAD, config).p).macros
    )
