"""Is what cannot be translated refused, with its line and what to write instead?"""

import importlib.util
import re
import sys

import pytest

from societies.model import Field
from societies.translate import Declared, TranslatedProgram, TranslationError

HEAD = """import collections
import math
import random
import statistics

import numpy as np

from societies.model import Bounded, Rng, reduce_sum

COUNT = 0
LEAST = -(2**63)
BITS = (1, LEAST)
PAIRS = ((1, 2.5), (3, 4.5))
WORDS = [1, 2]


def down(n):
    return 0 if n == 0 else down(n - 1)


def mixed(n):
    if n > 3:
        return 0
    return 0.5


def sometimes(n):
    if n > 3:
        return 0.5


def same(values):
    return values


def earlier(n, values):
    n = n - 5
    return values[n]


def larger(x=2**70):
    return x


def pair(x):
    return x, x + 1.0


def collected(x, found=[]):
    found.append(x)
    return len(found)


def without_result(x):
    y = x + 1


def numbers(n):
    for i in range(n):
        yield i


class Agent:
    money = 0


def PHASE:
"""
FIRST = HEAD.count("\n") + 1
SIGNATURE = "phase(config, society, day)"


class Settings:
    """A configuration."""

    agents = 7
    rule = "fair"


FIELDS = {
    "money": Field(("agent",), "int32", "1", "money"),
    "wealth": Field(("agent",), "float64", "1", "wealth"),
    "grid": Field(("agent", "agent"), "int32", "1", "grid"),
    "own": Field(("agent",), "uint64", "1", "streams"),
    "total": Field((), "int32", "1", "total"),
    "stream": Field((), "uint64", "1", "stream"),
}
LENGTHS = {"agent": 7, "series": 1}
DECLARED = Declared(FIELDS, LENGTHS, ["rich"], Settings(), events={"deals": (3, 9)})


@pytest.fixture
def translated(tmp_path, request):
    """Return a function that translates the body of a phase."""

    def translate(body, signature=SIGNATURE):
        lines = "".join(f"    {line}\n" for line in body.split("\n"))
        name = f"rules_{abs(hash((body, signature))) % 10**12}"
        path = tmp_path / "rules.py"
        path.write_text(HEAD.replace("PHASE", signature) + lines)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        request.addfinalizer(lambda: sys.modules.pop(name))
        spec.loader.exec_module(module)
        unit = TranslatedProgram(DECLARED)
        unit.phase(module.phase)
        return unit

    return translate


REFUSED = {
    # the table of the design page
    "prices = {}": ("a dictionary has no place in a kernel", "a field indexed by numbers"),
    "try:\n    x = 1\nexcept ValueError:\n    x = 2": ("an error cannot be caught", "Ask before"),
    "queue = []": ("how many entries will the list have at most?", "queue = Bounded(most)"),
    "total = 0\ndef add(x):\n    nonlocal total\n    total += x\nadd(3)": (
        "a variable of the function around cannot be changed", "Return the new value"),
    "x = 0.5 ** 0.5": ("a power has other bits on every device", "soft_pow(x, y)"),
    "x = math.exp(1.0)": ("math.exp has other bits on every device", "soft_exp"),
    "name = 'agent' + str(3)": ("a text has no place in a kernel", "Compare keys with words"),
    "x = np.mean(society.money)": ("NumPy has no twin on devices", "Write a loop"),
    "x = down(3)": ("down calls itself", "a kernel has no stack"),
    "seen = {1, 2}": ("a set has no place in a kernel", "a list of 0 and 1"),
    "seen = set()": ("a set has no place in a kernel", "a list of 0 and 1"),
    "x = 10000000000000000000000": ("a whole number of more than 64 bits", "1e22"),
    "x = random.choice(society.money)": ("the module random is not reproducible", "Rng.load"),
    "print(society.money[0])": ("print has no place in a kernel", "recorded=True"),
    "x = sum(society.wealth)": ("sum of real numbers", "reduce_sum(values)"),
    "total = 0\nfor m in society.money:\n    total += 0.5": (
        f"'total' is a whole number in line {FIRST} and a real number", "Begin with total = 0.0"),
    # kinds of numbers
    "x = 2 ** 70": ("more than 64 bits", "1e22"),
    "x = 4000000000 ** 3": ("more than 64 bits", "1e22"),
    "x = -(~9223372036854775807)": ("is no whole number of devices", "stands for None"),
    "x = -2**63": ("is no whole number of devices", "-2**63 stands for None"),
    "x = LEAST": ("-9223372036854775808 is no whole number", "the least is -2**63 + 1"),
    "x = BITS[day]": ("-9223372036854775808 is no whole number", "the least is -2**63 + 1"),
    "x = larger()": ("more than 64 bits", "1e22"),
    "x = day / 9007199254740993": ("of more than 53 bits", "9007199254740992.0, if it may"),
    "x = society.money[0] ** society.money[1]": ("an exponent that is not", "x * x"),
    "x = max(0, society.wealth[0])": ("max of a whole and a real number", "0.0 for 0"),
    "x = mixed(3)": ("returns a real number here and a whole number elsewhere", "0.0 instead"),
    "x = sometimes(3)": ("without a result on some way", "Return a value at its end"),
    "x = society.wealth[0] // 2.0": ("// of real numbers", "math.floor(a / b)"),
    "x = round(society.wealth[0], 2)": ("round to decimals", "Round where results are shown"),
    "society.wealth[0] = 0": ("has real numbers and gets a whole number", "0.0 for 0"),
    "society.money[0] = society.money[0] * 0.9": ("gets a real one", "int(...), which cuts"),
    "society.money[0] = None": ("gets None", "store -1"),
    "x = None\nif day > 2:\n    x = 0.5": (f"'x' is None in line {FIRST} and", "truth value"),
    "x = society.wealth[society.wealth[0]]": ("an index is a real number", "int(...)"),
    "for i in range(society.wealth[0]):\n    pass": ("range of a real number", "range(int("),
    "x = 1.0 in society.wealth": ("whether a list contains a real number", "any(x == y"),
    # names
    "if day > 3:\n    x = 1\nsociety.money[0] = x": ("'x' may have no value here", "on every way"),
    "for i in range(day):\n    last = i\nsociety.money[0] = last": ("may have no value", "before"),
    "society.money[0] = y\ny = 1": ("'y' has no value yet", "Assign it before"),
    "x = unknown": ("'unknown' is not known here", ""),
    "x = society.mony[0]": ("no field 'mony'; did you mean 'money'?", "Declared are money"),
    "x = config.agent": ("no key 'agent'; did you mean 'agents'?", ""),
    "society.series = {'rich': 1}": ("the series 'rich' gets a whole number", "float(...)"),
    "society.series = {}": ("the series 'rich' is missing", ""),
    "society.series = {'rich': 1.0, 'por': 0.0}": ("there is no series 'por'", "Declared: rich"),
    "society.series = {f'rich_{day}': 0.0}": ("the series 'rich' is missing", ""),
    "global COUNT\nCOUNT = 3": ("a variable of the module cannot be changed", "a field"),
    # lists
    "queue = [0] * society.money[0]": ("must follow from the configuration", "Bounded(most)"),
    "p = [1, 2]\np.append(3)": ("how many entries will the list have at most?", "Bounded(most)"),
    "p = [1, 2]\nq = p": ("two names for one list", "q = list(...)"),
    "society.money = [0] * 7\np = society.money\nsociety.money = [1] * 7": (
        f"'money' gets a new list here, and the name of line {FIRST + 1}", "list(...money)"),
    "for m in society.money:\n    society.money = [1] * 7": (
        f"'money' gets a new list in line {FIRST + 1}, in a loop over it", "list(...money)"),
    "p = [1] * 7\nsociety.money = p": ("a field and a name would stand for one list", "list(...)"),
    "p = [1, 2]\nfor x in p:\n    p = [3]": ("'p' is assigned while a loop", "another"),
    "p = [1, 2] + [3]": ("lists are not added", "Append the entries"),
    "p = [[0] * 3] * 3": ("a list of lists by *", "for _ in range(m)"),
    "p = [1, 2]\np[0:1] = [3]": ("a slice cannot be assigned", "a loop"),
    "society.money.append(3)": (".append of a list of fixed length", "list(...)"),
    "first, *rest = society.money": ("no tuple", ""),
    "p = [1, 2]\nq = same(p)": ("a list that is not the function's own", "Return list(...)"),
    "p = [1]\nx = max(p, default=p[0])": ("a default that reads or draws", "the line before"),
    "p = [1]\nif p == [1]:\n    pass": ("lists are not compared", "in a loop"),
    "p = [True, False]\np[0] = 3": ("has truth values and gets a whole number", "[0] * n"),
    "WORDS[0] = 3": ("constants cannot be changed", "Copy it: list(...)"),
    "x = PAIRS[0][day % 2]": ("a tuple of whole and real numbers", "0.0 for 0"),
    "x = (1, 2)[3]": ("the tuple has 2 entries", ""),
    # statements and functions
    "class Agent:\n    pass": ("a class cannot be translated", "fields of the society"),
    "with open('x') as f:\n    pass": ("this with cannot be translated", "Rng.load"),
    "x = (a for a in range(3))": ("a generator stands alone", "sum, min, max"),
    "raise ValueError('no')": ("a kernel cannot raise an error", "assert"),
    "for a in range(3):\n    pass\nelse:\n    x = 1": ("else of a loop", "Keep in a variable"),
    "x = day.bit_count()": ("nothing is known of .bit_count", ""),
    "if (x := day) > 3:\n    pass": ("an assignment inside an expression", "a line of its own"),
    "a = b = 3": ("several targets of one assignment", "one assignment for each"),
    "del society.money[0]": ("del cannot be translated", "pop"),
    "import math": ("an import inside a rule", "top of the file"),
    "x = math.sin(1.0)": ("math.sin has other bits on every device", "table"),
    "x = math.gcd(4, 6)": ("math.gcd is not translated", "a, b = b, a % b"),
    "x = math.isqrt(day)": ("math.isqrt is not translated", "int(math.sqrt(n))"),
    "x = math.copysign(1.0, 2.0)": ("math.copysign is not translated", "if y >= 0.0"),
    "x = math.hypot(1.0, 2.0)": ("math.hypot is not translated", "math.sqrt(x * x + y * y)"),
    "x = pow(2, 3)": ("pow is not translated", "a ** b of whole numbers"),
    "if config.rule == 0:\n    pass": ("the word 'fair' is compared with", 'Write == "fair"'),
    "x = statistics.mean(society.money)": ("no twin on devices", "reduce_sum"),
    "x = collections.deque()": ("no place in a kernel", "a list or a field"),
    "x = map(int, society.money)": ("map cannot be translated", "comprehension"),
    "x = isinstance(day, int)": ("a kernel does not ask for types", "one kind"),
    "day": ("this line does nothing", "Assign its value"),
    "return 3": ("a phase returns nothing", "a field of the society"),
    "rng = Rng.load(day)": ("Rng.load gets a whole number", "uint64"),
    "rng = Rng.load(society.own)": ("Rng.load gets a list", "Rng.load(society.own[i])"),
    "x = society.streams": ("no field 'streams'; did you mean 'stream'?", "Declared are"),
    "rng = Rng.load(society.stream)\nx = rng.choice(3)": ("a stream has no .choice", "below"),
    "rng = Rng.load(society.stream)\nx = rng.bernoulli(0.5)": ("gets a real number", "2**32"),
    "rng = Rng.load(society.stream)\nother = rng": ("two names for one stream", "Use one"),
    # what a newcomer writes, from Mesa, NumPy or the module random
    "name = f'agent {day}'": ("a text has no place in a kernel", "Compare keys with words"),
    "if society.money[0] == 'rich':\n    pass": ("a text has no place", "config.rule =="),
    "x = {'low': 1}[config.rule]": ("a dictionary has no place", "a field indexed by numbers"),
    "x = 1 / 0": ("division by zero", "Ask before"),
    "while True:\n    society.money[0] += 1": ("this loop never ends", "Write a break"),
    "x = collected(3)": ("a default of a parameter, cannot be changed", "inside the function"),
    "society.wealth[0] = pair(3)": ("and this has 2", "Name the part: x[0]"),
    "society.money[0] = without_result(3)": ("gets None", "A function without return gives None"),
    "x = numbers(3)": ("numbers is a generator", "Return a list"),
    "x = earlier(3)": ("earlier takes (n, values), and the argument 'values' is missing", ""),
    "x = earlier(3, 4, 5)": ("earlier takes (n, values), and gets 3 arguments", ""),
    "x = earlier(3, value=society.money)": ("and 'value' is not one of them", ""),
    "x = earlier(society.money, 3)": ("a list stands where a number is needed", "x[i]"),
    "x = society.money * 2": ("a list stands where a number is needed", "a loop"),
    "x = down(society)": ("the society stands where a number is needed", "society.name"),
    "x = Agent()": ("the class Agent has no place in a kernel", "fields of the society"),
    "society.agents = 3": ("no field 'agents'", "a key of the configuration: config.agents"),
    "x = config.money": ("no key 'money'", "It is a field: society.money"),
    "config.agents += 1": ("the configuration cannot be changed", "is a field"),
    "for a in range(3):\n    a.money += 1": ("only fields of the society", "society.money[a]"),
    "for a in range(3):\n    x = a.money": ("nothing is known of .money", "society.money[a]"),
    "society.series['rich'] = 1.0": ("the series are assigned together", "society.series = {...}"),
    "x = config['agents']": ("only lists have entries", "Write config.agents"),
    "x = society.money(3)": ("society.money is no function", ""),
    "x = society.money.sum()": ("a list has no .sum", "Write sum(values)"),
    "x = range(3)": ("range(...) stands alone", "list(...)"),
    "x = society.wealth[0] % 1.0": ("% of real numbers", "a - b * float(math.floor(a / b))"),
    "x = dayy": ("'dayy' is not known here; did you mean 'day'?", "import it"),
    "society.money[1:3] = [1, 2]": ("a slice cannot be assigned", "a loop"),
    "x = sorted(society.money, lambda m: m)": ("sorted takes one list here", ""),
    "rng = Rng.load(society.stream)\nx = rng.randint(1, 6)": ("no .randint", "below(b - a + 1)"),
    "rng = Rng.load(society.stream)\nx = rng.uniform(0, 1)": ("no arguments", "low + (high - low)"),
    "rng = Rng.load(society.stream)\nx = rng.below(0.5)": ("a real number", "draws 0 to n - 1"),
    "rng = Rng.load(society.stream)\nx = rng.below(5_000_000_000)": ("2**32 - 1", "Draw twice"),
    "k = 5\ndef f(n=k):\n    return n\nk = 7\nx = f()": ("default that is not", "an argument"),
    "f = lambda i=day: i\nx = f()": ("a default that is not constant", "read the name inside"),
    "def f(n=society.total):\n    return n\nx = f()": ("a default that is not constant", ""),
    "society.grid[0, 1] = 4": ("two indices of a list", "x[i][k]"),
    "society.grid[0, 1] += 4": ("two indices of a list", "x[i][k]"),
    "rng = Rng.load(society.stream)\nrng.pack()": ("is not stored", "society.stream = rng.pack()"),
    "society.stream = Rng.load(society.stream)": ("a random stream stands where", "rng.pack()"),
    "society.stream = 5": ("the field 'stream' gets a whole number", "Write rng.pack()"),
    # mistakes of a newcomer, whose messages misled
    "for a in config.agents:\n    pass": ("a whole number stands where", "range(config.ag"),
    "q = list(society.money)\nq.append(3)": ("how many entries", "Write q = Bounded(most)"),
    "society.rich = 0.5": ("no field 'rich'", "society.series = {...} assigns"),
    "x = society.deals[0]": ("a list of events cannot be read", "is in the file"),
    "x = len(society.deals)": ("a list of events cannot be read", "is in the file"),
    "for i, m in society.money:\n    pass": ("not as many values", "Write enumerate("),
    "x = [m for i, m in society.money]": ("not as many values", "Write enumerate("),
    "x = sorted(society.money, cmp=None)": ("takes one list here, key= and reverse=", ""),
    "x = society.money.sorted()": ("a list has no .sorted here", "Write sorted(values)"),
    "b = Bounded(5)\nb.add(3)": ("a list has no .add here", "Write .append(x)"),
    "society.money.shuffle()": ("a list has no .shuffle here", "random_permutation(rng, n)"),
    "b = Bounded(5)\nb += [3]": ("a list is not added to", "Write b.append(x)"),
    "exit()": ("exit cannot be translated", ""),
    "x = society.grid[0][0][0]": ("a whole number has no entries", "Leave the index out"),
    "society.total[0] = 3": ("a whole number has no entries", "Leave the index out"),
    "x = society.money[:3].sort()\ny = x[0]": ("None has no entries", "such as .sort()"),
    "society.grid = [[0] * 7 for i in range(7)]": ("a field of several", "society.grid[i]"),
    "x = society.grid[:, 0]": ("a slice of several dimensions", "[row[k] for row in x]"),
    "COUNT += 1": ("'COUNT' has no value yet", "a constant of the module"),
    "x = int(society.stream)": ("the state of a random stream is no number", "and draw"),
    "x = -society.stream": ("the state of a random stream", "Rng.load(...)"),
    "x = min(society.stream, 3)": ("the state of a random stream", "Rng.load(...)"),
    "x = society.own.index(-1)": ("the state of a random stream", "Rng.load(...)"),
    "x = society.stream in (1, -1)": ("the state of a random stream", "Rng.load(...)"),
    "x = 5 << -1": ("negative shift count", "Ask before"),
    "x = reduce_sum(society.money)": ("something else than real", "sum(values) of whole numbers"),
}  # fmt: skip


MARKED = {
    "x = 1.0 + 0.5 ** 0.5": "0.5 ** 0.5",
    "x = society.mony[0]": "society.mony",
    "é = 2; x = max(é, math.exp(1.0))": "math.exp(1.0)",
    "x = [m for m in society.money\n     if m > {1: 2}[m]]": "{1: 2}",
    "x = max(\n    society.mony[0], 1)": "society.mony",
    "x = down(society.money[0],\n    1)": "down(society.money[0],",
    "x = (2 + unknown\n    + 1)": "unknown",
    "x = sum([society.wealth[0],\n    1.0])": "sum([society.wealth[0],",
    "try:\n    x = 1\nexcept ValueError:\n    x = 2": "",
    "a = b = 3": "",
    "math.exp(1.0)": "",
}
"""What is marked below the line: a part of it, but not the whole line or statement."""


@pytest.mark.parametrize("body", MARKED)
def test_the_part_of_the_line_that_cannot_be_translated_is_marked(translated, body):
    with pytest.raises(TranslationError) as found:
        translated(body)
    _, line, marks, *_ = [*str(found.value).split("\n"), ""]
    marked = line[marks.find("^") : len(marks)] if "^" in marks else ""
    assert marked == MARKED[body]
    assert set(marks) <= {" ", "^"} or not marked


@pytest.mark.parametrize("body", REFUSED)
def test_what_cannot_be_had_exactly_is_refused(translated, body):
    reason, hint = REFUSED[body]
    with pytest.raises(TranslationError) as found:
        translated(body)
    error = found.value
    assert reason in error.reason
    assert hint in error.hint
    assert str(error).startswith(f"rules.py:{error.line}: ")
    assert error.line >= (FIRST if "(" not in body else 14)  # a line of the phase, or what it calls
    assert len(str(error).split("\n")) <= 4


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("society.money[(agent + 1) % 7] = 3", "writes an entry of 'money' that is not its own"),
        (
            "x = society.money[agent - 1]\nsociety.money[agent] = x",
            f"write in line {FIRST + 1}: 'money'",
        ),
        ("x = sum(society.money)\nsociety.money[agent] = x", "reads of others what they write"),
        ("for m in society.money:\n    society.money[agent] = m", "reads of others"),
        ("society.stream = 0 * society.stream", "no number"),
        ("row = society.grid[agent - 1]\nrow[0] = 3", "writes an entry of 'grid'"),
        ("society.grid[0][agent] = 1", "writes an entry of 'grid'"),
        ("def f(i):\n    society.money[i] = 1\nf(agent - 1)", "writes an entry of 'money'"),
        ("for i in range(7):\n    society.money[i] = 1", "writes an entry of 'money'"),
        ("society.money = [1] * 7", "writes an entry of 'money'"),
        ("i = agent\nfor k in range(2):\n    society.money[i] = 3\n    i = k", "writes an entry"),
        ("def f(i):\n    society.money[i] = 1\nf(agent)\nf(0)", "writes an entry of 'money'"),
        ("def f(agent):\n    society.money[agent] = 1\nf(3)", "writes an entry of 'money'"),
        ("society.total += 1", "writes an entry of 'total' that is not its own"),
        ("society.deals.append((day, 1, 2))", "so it cannot append events"),
        ("m = society.money\nm[agent - 1] = 2", "writes an entry of 'money'"),
        ("row = society.grid[agent]\nrow = society.grid[0]\nrow[0] = 1", "an entry of 'grid'"),
        (
            "while society.money[0] > 0:\n    society.money[agent] -= 1\n    break",
            "reads of others",
        ),
        ("i = min(range(7), key=lambda i: society.money[i])\nsociety.money[agent] = i", "others"),
        ("rng = Rng.load(society.own[0])\nsociety.own[agent] = rng.pack()", "'own'"),
        ("rng = Rng.load(society.stream)\nsociety.stream = rng.pack()", "an entry of 'stream'"),
        ("society.money[0], society.money[agent] = 1, 2", "writes an entry of 'money'"),
        ("society.money[agent] = society.money[agent + 1]", "reads of others what they write"),
        ("society.money[agent] = 1\nsociety.money[agent + 1] = 2", "writes of others what they"),
        ("i = agent + 1\nsociety.money[i] = 2", "writes an entry of 'money'"),
        ("society.money[agent - 1] = 2", "writes an entry of 'money'"),
        ("society.money[agent + society.total] = 2", "writes an entry of 'money'"),
        ("def f(i):\n    society.money[i + 1] = 1\nf(agent)\nf(agent + 1)", "writes of others"),
        ("def f(i):\n    i = i + 1\n    society.money[i] = 1\nf(agent)", "writes an entry"),
    ],
)
def test_entries_that_depend_on_each_other_are_refused(translated, body, reason):
    with pytest.raises(TranslationError, match=reason):
        translated(body, "phase(config, society, day, agent)")


@pytest.mark.parametrize(
    "body",
    [
        "society.money[agent] = 3",
        "society.money[agent] += agent",
        "society.wealth[agent] = float(society.money[(agent + 1) % 7])",
        "society.wealth[agent] = reduce_sum([float(m) for m in society.money])",
        "row = society.grid[agent]\nfor i in range(7):\n    row[i] = row[i - 1]",
        "society.grid[agent][3] = society.money[0]",
        "def f(i):\n    return society.money[i]\nsociety.wealth[agent] = float(f(agent - 1))",
        "def f(i):\n    society.money[i] += 1\nf(agent)",
        "for i in range(7):\n    society.grid[agent][i] += 1",
        "if society.money[agent] > 0:\n    society.money[agent] -= 1",
        "def f():\n    return society.money[agent]\nsociety.money[agent] = f() + 1",
        "rng = Rng.load(society.own[agent])\nsociety.own[agent] = rng.pack()",
        "rng = Rng.load(society.stream)\nsociety.money[agent] = rng.below(3)",
        "society.grid[agent] = [0] * 7\nsociety.money[agent] = sum(society.grid[agent])",
        "row = society.grid[agent]\nrow[agent - 1] = society.total",
        "society.money[2 + agent] += 1",
        "def f(money, i):\n    money[i] += 1\nf(society.money, agent + 2)",
        "def f():\n    return agent + 2\nsociety.money[agent] = f()",
        "row = society.grid[agent + 1]\nrow[0] += row[1]\nsociety.grid[1 + agent][2] = 3",
    ],
)
def test_entries_that_do_not_are_translated(translated, body):
    unit = translated(body, "phase(config, society, day, agent)")
    assert "item % 7" in unit.text


def test_a_parameter_that_is_assigned_again_may_be_negative(translated):
    text = translated("society.money[0] = earlier(3, society.money)").text
    assert "values[wrapped(n_2, 7)]" in text


def test_a_parameter_that_nothing_gives_is_refused(translated):
    with pytest.raises(TranslationError, match="phase is given no 'tomorrow'") as found:
        translated("pass", "phase(config, society, day, tomorrow)")
    assert found.value.hint == (
        "Write def phase(config, society, day). A last parameter of a phase for each entry is one "
        "of agent."
    )


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        ("phase()", "a phase has two parameters at least, and phase has none"),
        ("phase(config)", "and phase has 1"),
        ("phase(config, society, dya)", "is given no 'dya'; did you mean 'day'"),
        ("phase(config, society, day, agents)", "no 'agents'; did you mean 'agent'"),
        ("phase(config, society, agent, day)", "'agent' is not the last parameter of the phase"),
        ("phase(config, society, agent, series)", "for entries of 'agent' and 'series'"),
        ("phase(config, society, *more)", "has parameters that are never given, or a default"),
        ("phase(config, society, **more)", "has parameters that are never given"),
        ("phase(config, society, day=3)", "or a default"),
        ("phase(config, society, *, day)", "has parameters that are never given"),
    ],
)
def test_a_signature_that_no_engine_can_call_is_an_error(translated, signature, said):
    """It was carried out by plain Python, which then ended with an internal error."""
    with pytest.raises(TranslationError, match=re.escape(said)) as found:
        translated("pass", signature)
    assert found.value.wrong and found.value.line == FIRST - 1


def test_a_phase_that_yields_is_an_error(translated):
    """Calling it does nothing in Python either."""
    with pytest.raises(TranslationError, match="no generator: calling phase does nothing") as found:
        translated("yield 3")
    assert found.value.wrong


def test_lines_of_the_rules_stand_above_their_kernel(translated):
    text = translated("if society.money[0] >= 3:\n    society.money[0] -= 1").text
    assert f'#line {FIRST + 1} "rules' in text
    assert f"// {FIRST}: if society.money[0] >= 3:" in text
    assert "state_money[0] = (int)((long)state_money[0] - 1L);" in text


@pytest.mark.parametrize(
    "body",
    [
        "for step in range(3):\n    distance = step\n    society.money[0] = distance",
        "long, real, fault, scratch, copy = 1, 2, 3, 4, 5\nsociety.money[0] = long + real + copy",
        "NONE, L = 1, 2\nsociety.money[0] = NONE + L + fail\nfail = 3",
    ],
)
def test_words_of_opencl_are_names_of_python(translated, body):
    if "fail" in body:
        body = "fail = 3\n" + body.replace("\nfail = 3", "")
    unit = translated(body)
    assert "own_" in unit.text


@pytest.mark.parametrize(
    "body",
    [
        "n = config.agents\nx = [0] * n",
        "n = config.agents + 2\nm = 2 * n\nx = [i for i in range(m - n)]",
        "n, m = config.agents, 3\nx = [0] * (n * m)",
        "n = config.agents\nx = Bounded(n)\nx.append(1)",
        "n = config.agents\ndef made(k):\n    return [0] * k\nx = made(n)",
        "n = config.agents\ndef inner():\n    return [0] * n\nx = inner()",
        "x = [0]\nfor n in range(config.agents):\n    x = [1] * n",
    ],
)
def test_the_bound_of_a_list_may_have_a_name(translated, body):
    """A key that is no shape has a value of its own in every configuration."""
    assert "state_money[0] = " in translated(f"{body}\nsociety.money[0] = len(x)").text


def test_arguments_are_worked_out_once(translated):
    """A function was translated again with the numbers that are written, and its call too."""
    body = (
        "def f(n, x):\n    return [x] * n\nrng = Rng.load(society.stream)\ny = f(3, rng.below(9))"
    )
    assert translated(body).text.count("stream_below(&rng, 9L)") == 1


@pytest.mark.parametrize(
    "body",
    [
        "n = config.agents\nn = society.money[1]\nx = [0] * n",
        "n = config.agents\nn += society.money[1]\nx = [0] * n",
        "n = config.agents\nwhile n < society.money[1]:\n    n = n + 1\nx = [0] * n",
    ],
)
def test_a_name_that_gets_another_value_is_no_bound(translated, body):
    with pytest.raises(TranslationError, match="must follow from the configuration"):
        translated(f"{body}\nsociety.money[0] = len(x)")
