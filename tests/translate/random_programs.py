"""Random programs of rules: every construct of the language, draws everywhere.

A program is a phase; some of them become a file, whose phases are verified day by day. Programs
never raise an error in Python and stay within 64 bits, so whatever differs is a mistake of the
translator.
"""

from __future__ import annotations

import re
from random import Random

AGENTS = 7
ROWS, COLUMNS = 3, 4

NEWS = 20
"""Largest number of events of a program on a day."""

HEAD = '''"""Random rules."""

import math
from contextlib import contextmanager
from societies.model import (
    Bounded, Rng, random_matching, random_permutation, reduce_sum, soft_exp, soft_log
)

OFFSETS = ((0, 1), (1, 0), (-1, 2))
WEIGHTS = (0.5, -1.25, 3.0)
LARGE = (0, 2**53, -(2**53), 2**62 + 1)
SHARES = {"low": 3, "high": 5}


def begin(config, society, day):
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()
    for agent in range(config.agents):
        society.own[agent] = Rng.seed(
            config.stream_base, config.stream_gap, 1000 + society.index * config.agents + agent
        ).pack()


@contextmanager
def drawing(society, agent):
    rng = Rng.load(society.own[agent])
    yield rng
    society.own[agent] = rng.pack()


def helper(rng, society, m, n):
    k = rng.below(3)
    society.xi[1] = (society.xi[1] + m) % 1000
    if k == 0:
        return m
    return n - k


def noted(society, day, m):
    if society.left > 0:
        society.left -= 1
        society.news.append((day, m % 9973 - 4000, m > 7))
    return m


def both(m, n=3):
    return m + 2 * n, float(m - n) / 3.0


def perhaps(m):
    if m % 3 == 0:
        return None
    if m % 3 == 1:
        return m // 2
    return -m


def numbers(rng, values, most):
    found = []
    return [v % 50 for v in values if v > rng.below(most)]


def pushed(values, x):
    if len(values) < 18:
        values.append(x)
    return len(values)


def applied(function, m):
    return function(m) + function(m + 1)


def several(n, x):
    return [x + i for i in range(n)]


def weight(v):
    return v % 5, -v


def first(values):
    for v in values:
        if v % 3 == 0:
            return v


def ends(values, n):
    n += len(values)
    if n % 2:
        return [n]
    return [v for v in values if v % n != 1]


def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / float(max(1, len(values)))


'''.replace("    found = []\n", "")


class ProgramWriter:
    """Writes one program.

    Parameters
    ----------
    random : source of choices; that of hypothesis makes failing programs smaller
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.whole, self.reals = ["a", "b", "c"], ["x", "y"]
        self.local: list[str] = []

    def choice(self, *options):
        """Return one of some texts, or the result of one of some functions."""
        one = self.random.choice(options)
        return one() if callable(one) else one

    def number(self, depth=0):
        """Return a whole number."""
        r = self.random
        if depth > 2 or r.random() < 0.3:
            names = (*self.whole, *self.whole, "config.agents", "len(p)", "day", *self.local)
            return self.choice(str(r.randint(-9, 9)), *names)

        def e():
            return self.number(depth + 1)

        def t():
            return self.truth(depth + 1)

        def x():
            return self.real(depth + 1)

        divisor = r.choice([3, -3, 7, -5, 2])
        return self.choice(
            lambda: f"({e()} + {e()})",
            lambda: f"({e()} - {e()})",
            lambda: f"({e()} * {e()} % 1009)",
            lambda: f"({e()} // {divisor})",
            lambda: f"({e()} % {divisor})",
            lambda: f"({e()} // (1 + abs({e()})))",
            lambda: f"({e()} % (-1 - abs({e()})))",
            lambda: f"abs({e()})",
            lambda: f"min({e()}, {e()})",
            lambda: f"max({e()}, {e()}, {e()})",
            lambda: f"-({e()})",
            lambda: f"~({e()})",
            lambda: f"rng.below({r.randint(1, 20)})",
            lambda: f"rng.below({e()} % 9)",
            lambda: f"rng.binomial({e()} % 40, {r.randint(0, 2**32)})",
            lambda: f"int({x()})",
            lambda: f"({e()} if {t()} else {e()})",
            lambda: f"({e()} or {e()})",
            lambda: f"({e()} and {e()})",
            lambda: f"society.xi[{e()} % {AGENTS}]",
            lambda: f"society.xi[-1 - {e()} % {AGENTS}]",
            lambda: f"society.small[{e()} % {AGENTS}]",
            lambda: f"society.grid[{e()} % {ROWS}][{e()} % {COLUMNS}]",
            lambda: f"sum(v * v % 7 for v in {self.list()})",
            lambda: f"sum({self.truth(3)} for v in {self.list()})",
            lambda: f"sum({self.list()})",
            lambda: f"sum(m * n % 5 for m, n in zip({self.list()}, {self.list()}))",
            lambda: f"sum(i * v % 11 for i, v in enumerate({self.list()}, {r.randint(0, 2)}))",
            lambda: (
                f"sum(v + w for v in range({r.randint(0, 3)}) for w in {self.list()} if w != v)"
            ),
            lambda: f"min({self.list()}, default={r.randint(-3, 3)})",
            lambda: f"max(({e()} + v for v in {self.list()}), default=0)",
            lambda: f"max({self.list()}, key=lambda v: (v % 5, -v), default=0)",
            lambda: f"min({self.list()}, key=lambda v: float(v) * {x()}, default=1)",
            lambda: f"len({self.list()})",
            lambda: f"{self.list()}.count({e()})",
            lambda: f"len([v for v in {self.list()} if v > {self.number(3)}])",
            lambda: f"helper(rng, society, {e()}, {e()})",
            lambda: f"inner({e()})",
            lambda: f"noted(society, day, {e()})",
            lambda: f"applied(lambda v: v * 2 % 17, {e()})",
            lambda: f"applied(inner, {e()})",
            lambda: f"(both({e()})[0] % 1009)",
            lambda: f"(perhaps({e()}) or {e()})",
            lambda: f"pushed(p, {e()} % 99)",
            lambda: f"len(numbers(rng, {self.list()}, {r.randint(1, 9)}))",
            lambda: f"int({t()})",
            lambda: f"math.floor({x()})",
            lambda: f"math.ceil({x()})",
            lambda: f"round({x()})",
            lambda: f"({e()} & {e()})",
            lambda: f"({e()} | {e()})",
            lambda: f"({e()} ^ {e()})",
            lambda: f"({e()} >> {r.randint(0, 70)})",
            lambda: f"(({e()} % 99) << {r.randint(0, 5)})",
            lambda: f"(({e()} % 9) ** {r.randint(0, 4)})",
        )

    def real(self, depth=0):
        """Return a real number."""
        r = self.random
        if depth > 2 or r.random() < 0.3:
            constant = repr(r.choice([0.5, -1.25, 3.0, 0.1, -7.3, 1e-3]))
            return self.choice(constant, *self.reals, *self.reals)

        def e():
            return self.real(depth + 1)

        def i():
            return self.number(depth + 1)

        return self.choice(
            lambda: f"({e()} + {e()})",
            lambda: f"({e()} - {e()})",
            lambda: f"({e()} * {e()})",
            lambda: f"({e()} / (1.0 + abs({e()})))",
            lambda: f"({i()} / (1 + abs({i()})))",
            lambda: f"float({i()})",
            lambda: f"min({e()}, {e()})",
            lambda: f"max({e()}, {e()})",
            lambda: f"math.sqrt(abs({e()}))",
            lambda: "rng.uniform()",
            lambda: f"society.xr[{i()} % {AGENTS}]",
            lambda: f"WEIGHTS[{i()} % 3]",
            lambda: f"({e()} if {self.truth(depth + 1)} else {e()})",
            lambda: f"({e()} or {e()})",
            lambda: f"reduce_sum([float(v) * {e()} for v in {self.list()}])",
            lambda: "reduce_sum(society.xr)",
            lambda: "mean(society.xr)",
            lambda: f"both({i()})[1]",
            lambda: f"({e()} * {i()})",
            lambda: f"soft_exp(max(-9.0, min(2.0, {e()})))",
            lambda: f"soft_log(1.0 + abs({e()}))",
            lambda: f"-({e()})",
            lambda: f"max((w for w in society.xr if w < {e()}), default=0.5)",
        )

    def truth(self, depth=0):
        """Return a truth value."""
        r = self.random

        def e():
            return self.number(depth + 1)

        def x():
            return self.real(depth + 1)

        if depth > 2:
            return f"{self.number(9)} < {self.number(9)}"
        return self.choice(
            lambda: f"({e()} < {e()})",
            lambda: f"({e()} == {e()})",
            lambda: f"({x()} >= {x()})",
            lambda: f"({e()} <= {e()} < {e()})",
            lambda: f"({e()} != {e()} == {e()} >= {e()})",
            lambda: f"({self.truth(depth + 1)} and {self.truth(depth + 1)})",
            lambda: f"({self.truth(depth + 1)} or {self.truth(depth + 1)})",
            lambda: f"(not {self.truth(depth + 1)})",
            lambda: f"({e()} in {self.list()})",
            lambda: f"({e()} not in ({e()}, 3, {e()}))",
            lambda: f"({e()} in range({e()}, {e()}))",
            lambda: f"rng.bernoulli({r.randint(0, 2**32)})",
            lambda: f"any(v > {e()} for v in {self.list()})",
            lambda: f"all(v != {e()} for v in {self.list()})",
            lambda: f"({e()} != {x()})",
            lambda: f"(perhaps({e()}) is None)",
            lambda: f"bool({e()})",
        )

    def list(self):
        """Return a list of whole numbers."""
        r = self.random
        row = f"society.grid[{r.randint(0, ROWS - 1)}]"
        return r.choice(["p", "q", "p", "q", "society.xi", row, "p[1:]", "q[::2]", "q[::-1]"][:6])

    def block(self, depth):
        """Return some statements."""
        lines = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth)
        return ["    " + one for one in lines]

    def statement(self, d):
        """Return a statement, as lines."""
        kinds = list(SIMPLE)
        if d < 3:
            kinds += COMPOUND
        return getattr(self, self.random.choice(kinds))(d)

    # ---------------------------------------------------------------- statements

    def a_number(self, d):
        return [f"{self.random.choice(self.whole)} = ({self.number()}) % 9973 - 4000"]

    def a_real(self, d):
        return [f"{self.random.choice(self.reals)} = max(-1e6, min(1e6, {self.real()}))"]

    def several(self, d):
        if self.random.random() < 0.5:
            return ["a, b = b, a"]
        number = self.number()
        return [f"a, b, x = ({number}) % 99, ({self.number()}) % 99, min(9.0, {self.real()})"]

    def stored(self, d):
        return [f"society.xi[({self.number()}) % {AGENTS}] = ({self.number()}) % 9973 - 4000"]

    def small(self, d):
        return [f"society.small[({self.number()}) % {AGENTS}] = ({self.number()}) % 120"]

    def in_grid(self, d):
        place = f"[({self.number()}) % {ROWS}][({self.number()}) % {COLUMNS}]"
        return [f"society.grid{place} = ({self.number()}) % 97"]

    def row(self, d):
        return [
            f"row = society.grid[{self.number(2)} % {ROWS}]",
            "row[1] += 1",
            "row[2] = row[1] % 50",
        ]

    def stored_real(self, d):
        return [f"society.xr[({self.number()}) % {AGENTS}] = max(-1e6, min(1e6, {self.real()}))"]

    def added(self, d):
        name, sign = self.random.choice(self.whole), self.random.choice(["+=", "-="])
        return [f"{name} {sign} ({self.number()}) % 50"]

    def added_entry(self, d):
        sign = self.random.choice(["+=", "-=", "^="])
        return [
            f"society.xi[({self.number()}) % {AGENTS}] {sign} ({self.number()}) % 50",
        ]

    def appended(self, d):
        insert = self.random.random() < 0.5
        value = f"({self.number()}) % 1009"
        where = f"{self.number(3)} % 9 - 4"
        how = f"p.insert({where}, {value})" if insert else f"p.append({value})"
        return ["if len(p) < 20:", f"    {how}"]

    def popped(self, d):
        how = self.random.choice(["p.pop()", "p.pop(0)", "p.pop(-2)", "p.index(p[1])"])
        name = self.random.choice(self.whole)
        return ["if len(p) > 3:", f"    {name} = {how}"]

    def changed(self, d):
        how = self.random.choice(
            [
                *("p.sort()", "p.reverse()", "p.sort(key=lambda v: -v % 7)", "p.remove(p[-1])"),
                *("society.xi.sort()", "p[0] = p[-1] % 31"),
            ]
        )
        return ["if p:", f"    {how}"]

    def new_list(self, d):
        return [
            self.choice(
                lambda: f"q = [v % 100 + {self.number(2)} % 9 for v in p if {self.truth(2)}]",
                lambda: f"q = [{self.number(2)} % 1009 for v in range(5)]",
                lambda: f"q = random_permutation(rng, {self.random.randint(0, 9)})",
                lambda: "q = sorted(p)",
                lambda: "q = sorted(society.xi, reverse=True)",
                lambda: "q = sorted(p, key=lambda v: (v % 3, -v))",
                lambda: "q = sorted(society.xi, key=lambda v: float(v) / 3.0)",
                lambda: "q = sorted((v % 4 for v in society.xi), reverse=True)",
                lambda: "q = list(society.xi)",
                lambda: f"q = p[{self.number(3)} % 5 - 2:{self.number(3)} % 9]",
                lambda: "q = p[::-1]",
                lambda: f"q = numbers(rng, {self.list()}, {self.random.randint(1, 9)})",
                lambda: "q = p.copy()",
                lambda: f"q = [{self.number(2)} % 99, {self.number(2)} % 99]",
            )
        ]

    def matched(self, d):
        return [
            f"partner = random_matching(rng, {AGENTS})",
            f"for m{d}, n{d} in enumerate(partner):",
            f"    if n{d} is not None:",
            f"        a = (a + m{d} * n{d}) % 1009",
        ]

    def whole_field(self, d):
        return [f"society.other = [({self.number(2)} + v) % 97 for v in society.other]"]

    def pairs(self, d):
        name = f"pairs{self.random.randint(0, 99)}_{d}"
        return [
            f"{name} = [(v % 5, float(i)) for i, v in enumerate(society.xi)]",
            f"{name}.sort()",
            f"for m{d}, w{d} in {name}:",
            f"    x = max(-9.0, min(9.0, x + float(m{d}) * w{d} - {self.real(3)}))",
        ]

    def table(self, d):
        name = f"table{self.random.randint(0, 99)}_{d}"
        row = f"[{self.number(2)} % {ROWS}]"
        return [
            f"{name} = [[v % 9 for v in range(k, 5)] for k in range({ROWS})]",
            f"{name}{row}[{self.number(3)} % 3] = {self.number(2)} % 50",
            f"b = sum(len(r) * sum(r) for r in {name}) % 777",
        ]

    def offsets(self, d):
        return [
            f"for m{d}, n{d} in OFFSETS:",
            f"    a = (a + society.grid[m{d} % {ROWS}][(n{d} + c) % {COLUMNS}]) % 1009",
        ]

    def own_stream(self, d):
        return [
            f"with drawing(society, {self.number(2)} % {AGENTS}) as mine:",
            "    a = (a + mine.below(30)) % 999",
        ]

    def large(self):
        """Return statements with numbers of more than 53 bits and places of constants."""

        def e():
            return self.number(2)

        return [
            f"d = LARGE[({e()}) % 4] + ({e()}) % 3 - 1",
            f"w = float(LARGE[({e()}) % 4]) + {self.real(2)}",
            "a = (a + (d < w) + 2 * (d == w) + 4 * (w >= d) + 8 * (w != d) + int(w) % 99) % 1009",
            f"b = (b + OFFSETS[({e()}) % 3][({e()}) % 2] + (a, b, c)[({e()}) % 3]) % 1009",
            f"c = (c + sum(LARGE[({e()}) % 9 - 4:]) + LARGE.count(c) + int({e()} in LARGE)) % 1009",
            "r = Bounded(50, p)",
            "r.extend(q)",
            f"r.extend(several({self.random.randint(1, 5)}, rng.below(9)))",
            f"r.extend(LARGE[:{self.random.randint(0, 4)}])",
            f"r.insert(({e()}) % 9 - 4, {e()} % 99)",
            f"r.sort(key=weight, reverse={self.random.random() < 0.5})",
            f"a = (a + sum(i * (v % 97) for i, v in enumerate(r)) + max({self.list()}, key=weight, "
            f"default=0) % 97 + (first({self.list()}) or 5) % 97) % 1009",
            f"if {self.truth(2)}:",
            "    r.clear()",
            "rows = [[v % 99 * k % 9 for v in r] for k in range(3)]",
            "rows = sorted(rows, key=lambda row: (len(row), sum(row)))",
            f"b = (b + len(r) + SHARES['low'] + sum(rows[0]) + len(ends(q, {e()} % 9 + 1))) % 1009",
        ]

    def event(self, d):
        row = f"(day, ({self.number()}) % 9973, {self.truth(2)})"
        return ["if society.left > 0:", "    society.left -= 1", f"    society.news.append({row})"]

    def none(self, d):
        return [
            f"best{d} = None",
            f"for v{d} in {self.list()}:",
            f"    if best{d} is None or v{d} > best{d} or rng.below(9) == 0:",
            f"        best{d} = v{d}",
            f"c = (7 if best{d} is None else best{d}) % 333",
        ]

    def if_(self, d):
        more = ["else:", *self.block(d + 1)] if self.random.random() < 0.5 else []
        return [f"if {self.truth()}:", *self.block(d + 1), *more]

    def _with_local(self, name, d):
        self.local.append(name)
        body = self.block(d + 1)
        self.local.remove(name)
        return body

    def _jump(self):
        if self.random.random() < 0.3:
            jump = self.random.choice(["break", "continue"])
            return [f"    if {self.truth(2)}:", f"        {jump}"]
        return []

    def for_(self, d):
        name = f"i{d}"
        end = self.number(2)
        header = self.random.choice(
            [f"range({self.random.randint(1, 4)})", f"range({end} % 5)", "range(4, 0, -1)",
             "range(-2, 3, 2)", f"reversed(range({end} % 4))"]
        )  # fmt: skip
        return [f"for {name} in {header}:", *self._with_local(name, d), *self._jump()]

    def for_list(self, d):
        name = f"j{d}"
        body = self._with_local(name, d)
        lists = ["society.xi", "reversed(society.xi)", "society.xi[1::2]", "p[:4]", "p[::-1]"]
        return [f"for {name} in {self.random.choice(lists)}:", *body, *self._jump()]

    def zipped(self, d):
        name = self.random.choice(self.whole)
        return [
            f"for m{d}, n{d} in zip(q, society.xi):",
            f"    {name} = ({name} + m{d} * n{d}) % 1009",
        ]

    def enumerated(self, d):
        name = self.random.choice(self.whole)
        return [
            f"for m{d}, n{d} in enumerate(p):",
            f"    {name} = ({name} + m{d} * n{d}) % 1009",
        ]

    def while_(self, d):
        return [
            f"t{d} = 0",
            f"while t{d} < 5 and {self.truth(2)}:",
            *self.block(d + 1),
            f"    t{d} += 1",
        ]


SIMPLE = ["a_number"] * 4 + ["a_real"] * 3 + ["new_list"] * 2
SIMPLE += ["several", "stored", "small", "in_grid", "row", "stored_real", "added", "added_entry"]
SIMPLE += ["appended", "popped", "changed", "matched", "whole_field", "pairs", "table", "offsets"]
SIMPLE += ["own_stream", "none", "event"]
COMPOUND = ["if_", "if_", "for_", "for_", "for_list", "zipped", "enumerated", "while_"]


def program(random: Random, name: str) -> str:
    """Return the text of a phase."""
    made = ProgramWriter(random)
    lines = [
        f"def {name}(config, society, day):",
        "    rng = Rng.load(society.stream)",
        f"    society.left = {NEWS}",
        "    a, b, c, x, y = 1, 2, -3, 0.5, -2.0",
        "    p: list[int] = Bounded(20)",
        "    p.append(3)",
        "    q = [0] * config.agents",
        "    def inner(z):",
        "        return (z * 3 + c) % 77 + len(p)",
    ]
    for _ in range(random.randint(2, 5)):
        lines += ["    " + one for one in made.statement(0)]
    # choices of their own, so that what a seed gave before stays as it was
    lines += ["    " + one for one in ProgramWriter(Random("".join(lines))).large()]
    lines += [
        "    society.xi[0] = (a + 3 * b + 5 * c + sum(p) + 7 * sum(q)) % 100000",
        "    society.xr[0] = x + y",
        "    society.stream = rng.pack()",
    ]
    return "\n".join(lines) + "\n\n\n"


def with_sorts(random: Random, text: str) -> str:
    """Return a program that sorts between its statements, in no block."""
    lines = []
    for number, line in enumerate(text.split("\n")):
        begins = re.match(r"    (?!else|elif|def)\w", line)
        if number > 8 and begins and random.random() < 0.25:
            numbers = "[v - 31 * w for v in society.xi for w in p]"  # up to 140: in scratch memory
            lines.append(f"    up{number} = sorted({numbers})")
            lines.append(f"    c = (c + sum(i * v for i, v in enumerate(up{number}))) % 509")
        lines.append(line)
    return "\n".join(lines)
