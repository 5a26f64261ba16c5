"""Have shared functions the names of where they are defined, and kernels memory for them all?"""

import importlib.util
import re

import pytest
from random_rules import outcome

from societies.translate import Declared, TranslatedProgram, TranslationError, source
from societies.translate import unit as translated
from societies.workload import Field

RULES = '''
from societies.model import Bounded


def spread(society):
    """Return a number by a list of its own."""
    copied = [2 * money for money in society.money]
    return float(sum(copied))


def first(config, society, day):
    society.wealth = spread(society)


def second(config, society, day):
    found: list[int] = Bounded({bound})
    for money in society.money:
        found.append(money)
    society.wealth = spread(society) + float(len(found))


def third(config, society, day):
    richest = None
    for money in society.money:
        if richest is None or money > richest:
            richest = money
    society.wealth = float(richest)
'''

FIELDS = {
    "money": Field(("agent",), "int32", "1", "money"),
    "wealth": Field((), "float64", "1", "wealth"),
}


@pytest.fixture
def rules(tmp_path):
    """Return a function that gives the module of the rules, and an empty unit."""

    def load(bound):
        path = tmp_path / f"shared_{bound}.py"
        path.write_text(RULES.replace("{bound}", str(bound)))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module, TranslatedProgram(Declared(FIELDS, {"agent": 100, "series": 0}, [], None))

    return load


@pytest.mark.parametrize("names", [("first", "second"), ("second", "first")])
def test_a_phase_has_room_for_a_function_that_another_phase_calls_behind_longer_lists(names, rules):
    module, unit = rules(150)
    for name in names:
        unit.phase(getattr(module, name))
    text = unit.text
    begin = text.index("static real spread")
    (place,) = re.findall(r"scratch \+ L\((\d+)\)", text[begin : text.index("\n}", begin)])
    assert int(place) == 150
    assert [unit.kernels[name].words for name in names] == [250, 250]


def test_a_phase_that_would_need_too_much_leaves_the_others_as_they_are(rules):
    module, unit = rules(2**28 - 40)
    unit.phase(module.first)
    with pytest.raises(TranslationError, match="the lists of second need"):
        unit.phase(module.second)
    assert list(unit.kernels) == ["first"] and unit.kernels["first"].words == 100


def test_a_phase_has_its_name_and_stays_a_function_if_it_is_translated_twice(rules):
    """Optimisers of CPUs need to see one, and the kernel's name is in tables of times."""
    module, unit = rules(150)
    assert unit.phase(module.third).name == "third_kernel"
    assert "\nWHOLE void third_alone(" in unit.text


def test_a_text_is_made_once_and_again_if_there_is_another_phase(rules, monkeypatch):
    """A run asks for it some eight times; of a model such as `bam` it is 250 kB."""
    module, unit = rules(150)
    made = []
    kernel = translated.kernel_of_phase
    monkeypatch.setattr(
        translated, "kernel_of_phase", lambda one, of: made.append(one.phase) or kernel(one, of)
    )
    unit.phase(module.first)
    assert unit.name == unit.name and "first_kernel" in unit.text and made == ["first"]
    alone, short = unit.text, unit.short
    unit.phase(module.third)
    assert "third_kernel" in unit.text and alone != unit.text and short
    unit.join(["first", "third"])
    assert "all_phases_kernel" in unit.text


def test_the_hash_of_rules_reads_every_file_once(rules, monkeypatch):
    """It is asked for when a file is made, resumed, compared, and by every run of a study."""
    module, _ = rules(150)
    functions, read = [module.first, module.second, module.third], []
    monkeypatch.setattr(
        source, "_text", lambda node, text=source._text: read.append(1) or text(node)
    )
    first, count = source.rules_sha256(functions), len(read)
    assert source.rules_sha256(functions) == first and len(read) == count > 0


NAMES = """
def twice(function, v):
    return function(v) + function(v + 1)


def run0(config, society, day):
    c = 5
    p = [3, 1, 2]

    def inner(z):
        return z + 10 * c

    society.xi[0] = sum(inner(c) for c in p)
    society.xi[1] = min(p, key=lambda c: inner(c) % 4)
    society.xi[2] = sum(twice(lambda z: z * c, 3) for c in p)
    society.xi[3] = sum(len([c for c in p if inner(c) > 51]) + inner(c) for c in (1, 2))
    society.xi[4] = sum([inner(1) for c in p]) + sorted(p, key=lambda c: -inner(-c))[0]


def run1(config, society, day):
    b, a = 10, 7

    def outer(z, *, more=3, w):
        b = z + more * w

        def deep(y):
            return y * b + a

        b += 1
        return deep(2) + sum(deep(b) for b in range(3))

    society.xi[0] = outer(3, w=2) * 100 + outer(3, w=1, more=0) + b
"""


def test_functions_read_the_names_of_where_they_are_defined(tmp_path):
    """A comprehension that has a variable of the same name gave them its own."""
    assert outcome([NAMES, ""], tmp_path) == ("", 2)
