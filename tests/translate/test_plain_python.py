"""Do phases that plain Python carries out leave behind what a device can hold, in every engine?"""

import pytest
from random_rules import RandomConfig, RandomRules, module_of

from societies.model import Field, Series
from societies.translate import RuleError, TranslationError
from societies.workload import Setup, Step
from societies.workload.checking.verify import verify
from societies.workload.running.engines import ReferenceEngine

pytestmark = pytest.mark.filterwarnings("ignore:the phase:societies.errors.SocietiesWarning")

HEAD = """import datetime
import math
import os
import random
import secrets
import time
import uuid
import numpy as np
from datetime import date as DAY
from fractions import Fraction

SHARED = np.random.default_rng(1)
SEEN, KNOWN = [], {"days": [0]}
COUNT = 0

def drawn():
    return random.random()

def begin(config, society, day):
    pass

"""


class WithSeries(RandomRules):
    def series(self, p):
        return {"first": Series("1", "one")}

    def fields(self, p):
        return {**super().fields(p), "ended": Field((), "int32", "day", "end", initial=-1)}


def rules(tmp_path, *bodies):
    """Return a model of phases; a text in each keeps it from being translated."""
    names = [f"phase_{i}" for i in range(len(bodies))]
    texts = [
        f"def {name}(config, society, day):\n    shown = str(day)\n    {body}\n"
        for name, body in zip(names, bodies, strict=True)
    ]
    return WithSeries(module_of(HEAD + "\n".join(texts), tmp_path), tuple(names))


def config(**more):
    return RandomConfig(workload="random_rules", replicates=2, days=3, **more)


LEFT_BEHIND = [
    "society.xi = society.other = [3] * len(society.xi)",  # one list until the phase ends
    "society.other[0] += 7",
    "society.grid[1] = society.grid[0]",
    "society.grid[0][2] += day",
    "society.grid = [[society.index] * len(row) for row in society.grid[:1]] * len(society.grid)",
    "society.grid[1][1] = 5",
    "society.xr = [day] * len(society.xr)",  # whole numbers in a field of real ones
    "society.xr[0] = society.xr[0] / 2 + math.inf",
    "society.xr[1], society.xr[2] = math.nan, Fraction(day, 3)",
    "society.xi = tuple(society.xi)",
    "society.xi[1] = True",
    "society.small = range(len(society.small))",
    "society.small[0] += 1",
    "society.other = np.arange(len(society.other)) * 2**40",
    "society.other[2] = society.other[2] * 2**20",  # Python's whole numbers, not NumPy's
    "society.xr[3] = np.float32(0.1)",
    "society.stream = 2**64 - day",
    "society.series = {'first': day}",
    "society.ended = -2 - society.index",  # the society continues
    "society.other[1] += 1",
]


def test_what_such_phases_leave_behind_is_the_same_in_every_engine(tmp_path):
    """Lists with two names stayed one list in the reference, and whole numbers stayed whole."""
    report = verify(Setup(rules(tmp_path, *LEFT_BEHIND), config()), ticks=3)
    assert report.identical, str(report)


def test_no_field_shares_a_list_after_such_a_phase(tmp_path):
    engine = ReferenceEngine(rules(tmp_path, *LEFT_BEHIND[:2]), config(), copies=1)
    engine.start()
    (society,) = engine.copies_now
    engine.step(Step("phase_0"), 1)
    assert society.xi == society.other and society.xi is not society.other
    engine.step(Step("phase_1"), 1)
    assert (society.xi[0], society.other[0]) == (3, 10)


CANNOT = {
    "society.xi[1] = day * 0.75": "the field 'xi' (int32) cannot hold what was written: 0.75 at [1]"
    ": write int(...), which cuts, or round(...)",
    "society.xi[1] = 3.0": "3.0 at [1]: write int(...)",
    "society.xi[0] = math.nan": "nan at [0]: write int(...)",
    "society.xi[0] = None": "None at [0]",
    "society.xi[0] = '3'": "'3' at [0]",
    "society.xr[0] = None": "None at [0]",
    "society.xr[0] = 1j": "complex at [0]",
    "society.xr[0] = 10**400": "int too large to convert to float",
    "society.small[2] = 256": "the field 'small' (uint8) cannot hold what was written: 256 at [2]",
    "society.small = np.full(len(society.small), 300)": "300 at [0]",
    "society.small[2] = -1": "-1 at [2]",
    "society.stream = 2**64": "18446744073709551616",
    "society.stream = -1": "-1",
    "society.stream = [1]": "a list of 1 instead of one number",
    "society.xi = 3": "one number instead of a list of 7",
    "society.xi = [1, 2]": "a list of 2 instead of a list of 7",
    "society.xi = []": "a list of 0 instead of a list of 7",
    "society.xi.append(3)": "a list of 8 instead of a list of 7",
    "society.xi = (i for i in range(7))": "generator",
    "society.xi = set(range(7))": "set",
    "society.grid = [0] * sum(map(len, society.grid))": "instead of a list of 3 x 4",
    "society.grid[0] = [1]": "rows of different lengths",
    "del society.xi": "the field 'xi' is deleted",
    "society.new = 3": "the society has no field 'new'",
    "society.index = 3": "the number of a society cannot be assigned",
    "day = society.oter": "the society has no field 'oter'; did you mean 'other'?",
    "day = society.series['first']": "the series of a phase are written, not read",
    "society.series = [1.0]": "series are set by their names: society.series = {...}",
    "society.series = {'first': None}": "the series 'first' cannot hold what was written: None",
}


@pytest.mark.parametrize(("body", "said"), CANNOT.items())
def test_what_no_device_can_hold_has_its_line_in_every_engine(tmp_path, body, said):
    """Devices cut real numbers at the end of the phase, and the reference did not."""
    engine = ReferenceEngine(rules(tmp_path, body), config(), copies=1)
    engine.start()
    with pytest.raises(RuleError) as found:
        engine.step(Step("phase_0"), 1)
    place, line, mark, where = str(found.value).split("\n")
    assert f".py:{len(HEAD.splitlines()) + 3}: " in place
    assert said in place
    assert line.strip() == body
    assert line[mark.index("^") : mark.rindex("^") + 1].startswith("society.")
    assert where.strip() == "in day 1, society 0, phase phase_0"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("society.xr[0] = random.random()", "the module random is not reproducible"),
        ("society.xr[0] = drawn()", "the module random is not reproducible"),
        ("import random as r; society.xr[0] = r.random()", "the module random is not"),
        ("from random import random; society.xr[0] = random()", "the module random is not"),
        ("society.xr[0] = np.random.rand()", "the module random is not reproducible"),
        ("society.xr[0] = SHARED.normal()", "the module random is not reproducible"),
        ("society.xr[0] = time.perf_counter()", "time.perf_counter: a rule knows no clock"),
        (
            "society.xr[0] = datetime.datetime.now().timestamp()",
            "datetime.now: a rule knows no clo",
        ),
        ("society.xi[0] = DAY.today().day", "DAY.today: a rule knows no clock"),
        ("society.xi[0] = np.datetime64('now').astype(int) % 9", "datetime64.*: a rule knows no"),
        ("society.xi[0] = os.urandom(1)[0]", "os.urandom differs from run to run"),
        ("society.xi[0] = os.getpid() % 9", "os.getpid differs from run to run"),
        ("society.xi[0] = uuid.uuid4().int % 9", "uuid.uuid4 differs from run to run"),
        ("society.xi[0] = secrets.randbelow(9)", "secrets.randbelow differs from run to run"),
        ("society.xi[0] = hash('abc') % 9", "hash differs from run to run"),
        ("society.xr[0] = np.random.default_rng().random()", r"default_rng\(\) has no seed"),
        ("society.xr[0] = np.random.default_rng(seed=None).random()", "has no seed"),
        ("society.xr[0] = np.random.Generator(np.random.PCG64()).random()", r"PCG64\(\) has no s"),
        ("society.xr[0] = random.Random().random()", r"random.Random\(\) has no seed"),
        ("society.xr[0] = random.SystemRandom().random()", "random.SystemRandom"),
        ("global COUNT; COUNT += 1", "a variable of the module cannot be changed"),
        (
            "SEEN.append(day); society.xi[0] = len(SEEN)",
            "a variable of the module cannot be changed",
        ),
        ("KNOWN['day'] = day", "a variable of the module cannot be changed"),
        ("KNOWN['days'][0] += 1", "a variable of the module cannot be changed"),
        ("drawn.count = day", "a variable of the module cannot be changed"),
    ],
)
def test_what_differs_from_run_to_run_is_refused(tmp_path, body, said):
    """Results did not follow from the seed, and a resumed run had others."""
    with pytest.raises(TranslationError, match=said) as found:
        ReferenceEngine(rules(tmp_path, body), config(), copies=1)
    assert found.value.wrong


def test_a_phase_may_seed_a_generator_itself(tmp_path):
    body = "society.xr[0] = random.Random(society.index).random()"
    body += " + np.random.default_rng(day).normal(); hash = id = len(SEEN); seen = list(SEEN)"
    body += "; seen.append(hash + id + KNOWN['days'][0])"
    assert ReferenceEngine(rules(tmp_path, body), config(), copies=1).workload.untranslated(
        config()
    )


TRANSLATED = {
    "society.small[0] = day * 300": "the field 'small' (uint8) cannot hold what was written: 300",
    "society.small[1] -= 255": "at [1]",
    "values = society.small; values[2] = 256 * day": "256 at [2]",
    "society.grid[1][2] = 2**31 * day": "2147483648 at [1, 2]",
    "row = society.grid[1]; row[2] = 2**31 * day": "2147483648 at [1, 2]",
    "fill(society, day)": "300 at [0]",
}


@pytest.mark.parametrize(("body", "said"), TRANSLATED.items())
def test_what_does_not_fit_is_an_error_in_its_day_on_the_reference(tmp_path, body, said):
    """It was found when the state was read, at the end of the run, or never if it changed again."""
    text = "def fill(society, day):\n    society.small[0] = 300 * day\n\n"
    text += f"def later(config, society, day):\n    {body}\n"
    model = WithSeries(module_of(HEAD + text, tmp_path), ("later",))
    engine = ReferenceEngine(model, config(), copies=1)
    assert not model.untranslated(config())
    engine.start()
    with pytest.raises(RuleError) as found:
        engine.step(Step("later"), 1)
    assert said in str(found.value) and "in day 1, society 0, phase later" in str(found.value)
