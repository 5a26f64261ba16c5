"""Do the texts of kernels/ keep to the rules that identical bits and safe barriers rest on?"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from marks import offenders, some_and_others
from small import forms, names, small, tried
from source_rules import (
    FUSED,
    barriers,
    blanked,
    calls,
    collective_names,
    comments,
    contraction,
    is_named,
    kernel_names,
    kernel_text,
    local_pointers,
    missed_barriers,
    public_functions,
    python_names,
    switched_on,
    twin_names,
    twin_path,
)

from societies import config_from_dict
from societies.economy import curves_on_device, memory, phases, source
from societies.economy.parameters import parameters
from societies.economy.rules import RULES
from societies.games import kalah
from societies.games.chess import perft
from societies.games.kalah import match
from societies.games.ngtsg import groups
from societies.kerneltext.source import AmalgamatedText, Generated, amalgamate, without_comments
from societies.localmem.plan import COMMON_EXTENSIONS
from societies.localmem.preprocess import preprocess
from societies.model import Model
from societies.physics import molecular_dynamics
from societies.workload import Setup
from societies.workload.declare.phases import kernel_files
from societies.workload.running.engines import full_kernel_text
from societies.workload.running.faults import FAULT
from societies.workload.running.registry import workload
from societies.workload.running.state import initial_state

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "kernels").rglob("*.cl"))
TEXTS = {name: (ROOT / name).read_text() for name in FILES}


@cache
def collective():
    return collective_names(TEXTS.values())


ALWAYS_RUN = {
    # the bounds are macros of the configuration, the same for all work-items
    "kernels/economy/matching.cl": ["for (uint round = 0 ; round < ROUNDS ; + + round)"],
    "kernels/economy/trading.cl": [
        # of the form for CPUs, where a barrier is none
        "for (size_t place = first ; place < end ; + + place)",
        "for (uint task ; ( task = next_task ( crew , ROUNDS , PAIRS , 0 ) ) ! = NONE ; "
        "task_is_done ( crew ))",
        *("if (task = = 0)", "else of if (task = = 0)"),
    ],
    "kernels/economy/device_trading.cl": [
        "for (uint task ; ( task = next_task ( crew , DEVICE_ROUND_SLOTS , 1 + PAIRS , 1 ) ) ! = "
        "NONE ; task_is_done ( crew ))",
        *("if (task = = 0)", "else of if (task = = 0)", "else of if (! market_open ( ))"),
        *("if (place = = 0)", "else of if (place = = 0)"),
    ],
}
"""Loops and conditions that may hold a barrier although they are no ``do``: how often they run is
compiled in, or a barrier is none there."""

WITHOUT_TWIN = {
    "kernels/translate/lists.cl": "lists of Python, whose definition is Python",
    "kernels/translate/python.cl": "operators of Python, whose definition is Python",
    "kernels/primitives/real.cl": "a type, in Python float, and a number hidden from compilers",
    "kernels/primitives/group.cl": "who works, not what is done",
    "kernels/economy/crew.cl": "who works, not what is done",
    "kernels/economy/bits.cl": "the place of a bit in a word",
    "kernels/games/chess/sight.cl": "functions of rules.cl with fewer operations",
    "kernels/games/chess/zones.cl": "after which moves replies need not be counted, not how many",
    "kernels/games/kalah/lanes.cl": "how many games at a time, not what their moves are",
    "kernels/physics/laplace/fours.cl": "four cells at a time, not what becomes of each",
    "kernels/physics/molecular_dynamics/lanes.cl": "how many pairs at a time, not what they add",
    "kernels/physics/molecular_dynamics/slices.cl": "in which order pairs are taken",
    "kernels/physics/molecular_dynamics/speeds.cl": "how many numbers kick() takes at a time",
    "kernels/physics/molecular_dynamics/vectors.cl": "types of several numbers at a time",
}
WITH_TWIN = [name for name in FILES if name not in WITHOUT_TWIN]
GENERATED = {
    "societies/opencl/select.py": "an empty kernel, which shows if PoCL can link",
    "societies/opencl/shim.py": "the kernel around a device function",
    "societies/translate/kernels.py": "the kernels of rules in Python",
}
"""Modules that generate kernel text, because it depends on what the user calls."""


_PRIMITIVES = [name for name in FILES if name.startswith("kernels/primitives/")]
_ECONOMY = {
    "workload": "economy",
    "days": 1,
    "agents": 3,
    "resources": 3,
    "devices": "all",
    "groups": [{"name": name, "count": 1} for name in "abc"],
    "shocks": [{"day": 0, "remove": "agent", "index": 0}],
    "trading": {"fresh_values": True},
    "record": {"measures": True, "network": [1]},
}
_LARGE = {"agents": 5000, "resources": 1024, "groups": []}
_LARGE["trading"] = {"menu_size": 40, "fresh_values": False}
_PLAIN = {**_ECONOMY, "devices": "none"}
_RULED = {
    rule.name: f"{Path(__file__).with_name('every_rule.py')}:{rule.name.rpartition('.')[2]}"
    for rule in RULES.values()
    if not rule.table
}
_POLICIES = {
    "income_tax": {"rate": 0.1},
    "transfer": {"equal": 0.5, "poorest": 0.5},
    "quota_of": 1,
    "price_of": 2,
    "price_cap": 2.0,
}
COMPILED = {
    **{
        f"{name} on a {kind}": (name, None, kind) for name in _PRIMITIVES for kind in ("CPU", "GPU")
    },
    "economy without devices on a CPU": ("economy", _PLAIN, "CPU"),
    "large economy without devices on a GPU": ("economy", {**_PLAIN, **_LARGE}, "GPU"),
    "economy without devices on a GPU": ("economy", _PLAIN, "GPU"),
    "large economy on a GPU": (
        "economy",
        {**_ECONOMY, "agents": 500, "resources": 5, "groups": []},
        "GPU",
    ),
    "economy on a GPU": ("economy", _ECONOMY, "GPU"),
    "economy with policies on a GPU": ("economy", {**_ECONOMY, "policies": _POLICIES}, "GPU"),
    "economy with rules on a GPU": ("economy", {**_ECONOMY, "rules": _RULED}, "GPU"),
    **{
        f"{name} on a GPU, form {number}": (name, small(name, **settings), "GPU")
        for name in names()
        if name != "economy"
        for number, settings in enumerate(forms(name))
    },
}
"""Texts in which each barrier is compiled at least once: what, its settings, kind of device."""


@cache
def compiled(name):
    """Return a text of `COMPILED`, its macros expanded."""
    what, settings, kind = COMPILED[name]
    facts = {"DEVICE_IS_CPU": kind == "CPU", "DEVICE_ROUNDS_SINGLES": True}
    if settings is None:
        source = amalgamate([ROOT / what], facts)
    else:
        config = config_from_dict(settings) if isinstance(settings, dict) else settings
        source = full_kernel_text(Setup(workload(what), config), facts)
    return preprocess(source, dict.fromkeys(COMMON_EXTENSIONS, "1"))


def shipped_text(name):
    """Return a file as it is compiled; an economy file has the generated header in front."""
    return amalgamate([ROOT / name]).text


EVERY_SWITCH = {
    "workload": "economy",
    "agents": 2,
    "resources": 3,
    "devices": "all",
    "groups": [{"name": "one", "count": 1}, {"name": "other", "count": 1}],
    "record": {"measures": True, "network": [1]},
    "policies": {"transfer": {"equal": 1.0}},
    "shocks": [{"day": 1, "remove": "resource", "index": 1, "holdings": "lose"}],
}


def accessors():
    """Return the macros that societies.economy.source makes."""
    config = config_from_dict(EVERY_SWITCH)
    return re.findall(r"^#define (\w+)\(", source.header(parameters(config)), re.MULTILINE)


_ATTRIBUTE = re.compile(r"__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)")


@cache
def own_names():
    texts = _ATTRIBUTE.sub("", "\n".join(TEXTS.values()))
    functions = re.findall(r"^[\w *]*?\b(\w+)\s*\([^;]*?\)\s*\{", texts, re.MULTILINE)
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", texts, re.MULTILINE)
    return {*functions, *macros, *accessors()}


def defined(code):
    """Return the functions that a text, without macros, defines."""
    while (outer := re.sub(r"\{[^{}]*\}", "\a", code)) != code:  # a body, the inner ones first
        code = outer
    return set(re.findall(r"\b(\w+)\s*\([^()]*\)\s*\a", _ATTRIBUTE.sub("", code)))


@cache
def defined_somewhere():
    """Return the functions that some kernel file defines."""
    return {name for text in TEXTS.values() for name in defined(without_comments(text))}


def missing(source):
    """Return the functions of kernel files that a text calls but neither has nor includes."""
    code = preprocess(source, dict.fromkeys(COMMON_EXTENSIONS, "1")).text
    called = set(re.findall(r"\b(\w+)\s*\(", code))
    return sorted((called & defined_somewhere()) - defined(code) - {"if", "for", "while", "switch"})


def missing_alone(file, macros=None, header=""):
    """Return the functions of others that a file misses if it is built alone, on CPU or GPU."""
    part, found = file if isinstance(file, Generated) else ROOT / file, set()
    for on_cpu in (True, False):
        facts = {"DEVICE_IS_CPU": on_cpu, "DEVICE_ROUNDS_SINGLES": True, **(macros or {})}
        found |= {*missing(amalgamate([part], facts, header))}
    return sorted(found)


@pytest.mark.parametrize(
    "files",
    some_and_others(
        {"kernels/economy/device_trading.cl"},
        [name for name in FILES if name.startswith("kernels/economy/")],
    ),
)
def test_every_file_includes_what_it_calls(files):
    """Built alone, with every switch of the economy on, no file misses a function of another."""
    p = parameters(config_from_dict(EVERY_SWITCH))
    macros, header = source.macros(p), source.header(p)
    assert offenders(lambda name: missing_alone(name, macros, header), files) == {}


OF_THE_GAME = {f"games/ngtsg/{name}.cl": [name] for name in ("branch", "evaluate", "make")}
"""Files of the search of trees of any game, and the function that each game has for them."""


def with_includes(names):
    """Return kernel files and what they include, from the kernels folder on."""
    found, left = set(), set(names)
    while left:
        name = left.pop()
        found.add(name)
        text = name.text if isinstance(name, Generated) else TEXTS[f"kernels/{name}"]
        left |= set(re.findall(r'^#include "(.+)"', text, re.M)) - found
    return sorted(found)


def missing_of(form):
    """Return what each file of a form of a workload misses if it is built alone, by file."""
    name, number = form
    one, config = workload(name), small(name, **forms(name)[number])
    p = one.parameters(config)
    given, files = one.source(p), kernel_files(one.phases(p, one.count(config)))
    found = {}
    for file in with_includes(files):
        part = file if isinstance(file, Generated) else Path("kernels", file)
        found[file] = missing_alone(part, given.macros, given.header)
    return {
        file: lacks for file, lacks in found.items() if lacks not in ([], OF_THE_GAME.get(file))
    }


@pytest.mark.parametrize(
    "ones",
    some_and_others(
        {(name, 0) for name in ("kalah", "laplace") if name in tried()},
        [(name, n) for name in names() if name != "economy" for n in range(len(forms(name)))],
    ),
)
def test_every_file_of_a_workload_includes_what_it_calls(ones):
    assert offenders(missing_of, ones) == {}


def test_every_primitive_includes_what_it_calls():
    assert offenders(missing_alone, _PRIMITIVES) == {}


def test_a_planted_call_without_its_include_is_found():
    found = AmalgamatedText()
    found.append("planted.cl", "__kernel void k(__global int *x)\n{\n    link_sale(x);\n}\n")
    assert missing(found) == ["link_sale"]


def test_contraction_is_off():
    assert offenders(lambda name: contraction(shipped_text(name)), FILES) == {}
    assert offenders(lambda name: switched_on(name, TEXTS[name]), FILES) == {}


def test_only_exact_functions_are_called():
    # half_recip is refined in it, to a result that does not depend on it
    # parameters of macros: the name of a function, and a place in a list; and sorting, which a
    # macro defines, or which only CPUs have; and what notes faults
    of_lists = {"name", "AT", "merge_alone_scratch", "sort_alone_scratch"}
    python = {"kernels/translate/lists.cl": of_lists, "kernels/translate/python.cl": {"fail"}}
    allowed = {FUSED: {"fma", "half_recip"}, **python}
    # what functions of a user become, by the translator, and where they note what goes wrong
    of_rules = own_names() | {rule.kernel for rule in RULES.values()} | {FAULT}

    def rule(name):
        return calls(TEXTS[name], of_rules | allowed.get(name, set()))

    assert offenders(rule, FILES) == {}


def test_every_barrier_says_what_it_orders():
    assert offenders(lambda name: comments(TEXTS[name]), FILES) == {}


def test_what_is_handed_local_memory_is_inlined():
    assert offenders(lambda name: local_pointers(TEXTS[name]), FILES) == {}


def test_no_barrier_is_conditional():
    def rule(name):
        return barriers(TEXTS[name], collective(), ALWAYS_RUN.get(name, ()))

    assert offenders(rule, FILES) == {}


LONG = ("economy without devices on a CPU", "large economy without devices on a GPU")
"""Texts whose kernels are in `economy on a GPU` too, in another form."""


@pytest.mark.ci
@pytest.mark.parametrize("texts", some_and_others(COMPILED.keys() - set(LONG), COMPILED))
def test_no_work_item_misses_a_barrier(texts):
    assert offenders(lambda name: missed_barriers(compiled(name)), texts) == {}


@pytest.mark.ci
def test_every_barrier_is_compiled_for_that():
    seen = {
        made.places.of_line(number)[:2]
        for made in map(compiled, COMPILED)
        for number, row in enumerate(made.text.split("\n"), start=1)
        if "barrier(" in row
    }
    written = {
        (name.removeprefix("kernels/"), number)
        for name, text in TEXTS.items()
        for number, row in enumerate(blanked(text).split("\n"), start=1)
        if "barrier(" in row
    }
    assert len(written) > 100
    assert written - seen == set()


def test_collective_functions_are_known():
    assert {"reduce_sum_local", "scan_exclusive", "n_smallest", "choose_among"} <= collective()


FUNCTIONS_OF_ANOTHER_NAME = {
    "kernels/games/havannah/flood.cl": "rings and links of many boards at once",
    "kernels/games/havannah/offline.cl": "playouts with the stones placed first",
}
"""Files whose twin has their name, but none of its functions the name of one of theirs."""


def twin_problem(name):
    """Return what is wrong with the twin of a file.

    The twins of its kernels are compared elsewhere: every kernel is launched by a phase, and every
    phase has a reference. Which functions such a phase consists of may differ.
    """
    path = twin_path(TEXTS[name])
    if not path:
        return "the header names no twin: `Twin: reference_py/...`"
    if not (ROOT / path).is_file():
        return f"{path} does not exist"
    text = (ROOT / path).read_text()
    if name not in (ast.get_docstring(ast.parse(text)) or ""):
        return f"{path} does not name the file in its docstring"
    same = "reference_py" + name.removeprefix("kernels").replace(".cl", ".py")
    if path != same:
        return f"its twin is {same}, not {path}" if (ROOT / same).is_file() else ""
    public, defined = public_functions(name, TEXTS), python_names(text)
    shared = any(twin_names(one, name) & defined for one in public)
    excepted = name in FUNCTIONS_OF_ANOTHER_NAME
    wrong = public and shared == excepted
    return f"{path} has a function of the same name: {shared}" if wrong else ""


def test_every_file_has_a_twin_that_names_it():
    assert offenders(twin_problem, WITH_TWIN) == {}


def test_a_planted_file_without_a_twin_is_found(monkeypatch):
    name = "kernels/primitives/scan.cl"
    monkeypatch.setitem(TEXTS, name, TEXTS[name].replace("scan.py", "scam.py"))
    assert twin_problem(name).endswith("scam.py does not exist")
    monkeypatch.setitem(TEXTS, name, TEXTS[name].replace("scam.py", "sort.py"))
    assert "sort.py does not name the file" in twin_problem(name)
    monkeypatch.setitem(TEXTS, name, "// Scans.\n")
    assert "names no twin" in twin_problem(name)


def test_every_public_primitive_is_named_by_a_test():
    folder = ROOT / "tests" / "primitives"
    texts = "\n".join(path.read_text() for path in folder.iterdir() if path.is_file())

    def unnamed(name):
        return [one for one in public_functions(name, TEXTS) if not is_named(one, texts)]

    assert offenders(unnamed, [name for name in WITH_TWIN if "/primitives/" in name]) == {}


MAKE_TABLES = {"marginal_utility", "total_utility_tables"}
"""Kernels that make arguments of a run, before its first phase."""


@cache
def launches(name):
    """Return each phase with the launches that it declares, of every form of a workload."""
    one, found = workload(name), []
    for settings in forms(name):
        config = small(name, **settings)
        p = one.parameters(config)
        table = one.phases(p, one.count(config))
        ticks = range(min(one.ticks(config), 60) + 1)
        state = initial_state(one.arrays(p), one.lengths(p), one.count(config), p)
        steps = [step for tick in ticks for step in one.schedule(p, tick, state)]
        assert {step.phase for step in (*steps, *one.finish(p))} == set(table), "never run"
        assert set(one.reference(p)) == set(table)
        many = one.phases(p, 100_000)  # may be launched in another form
        for phase, declared in (*table.items(), *many.items()):
            joined = [] if declared.joined is None else [declared.joined.launch]
            few = [launch.together for launch in declared.launches if launch.together]
            found.append((phase, (*declared.launches, *joined, *few)))
    return found


def folders(name):
    """Return the folders of the kernels of a workload; rules in Python have none."""
    files = {one.file for _, found in launches(name) for one in found}
    written = (file for file in files if not isinstance(file, Generated))
    return {f"kernels/{file.rpartition('/')[0]}/" for file in written}


@pytest.mark.parametrize("name", names())
def test_every_kernel_of_a_workload_is_launched_by_a_phase(name):
    """Workloads of one game share its folder, and searches that of the search."""
    own = folders(name)
    if issubclass(type(workload(name)), Model):
        assert launches(name) and not own
        return
    sharing = [one for one in names() if folders(one) & own]
    launched = {
        other: {one.kernel or phase for phase, several in launches(other) for one in several}
        for other in sharing
    }
    of_folders = (text for file, text in TEXTS.items() if file.startswith(tuple(own)))
    kernels = kernel_names(map(blanked, of_folders))
    assert kernels <= set().union(MAKE_TABLES, *launched.values())
    assert launched[name] <= kernels


def test_the_parity_tests_compare_every_phase_of_the_economy():
    parity = (ROOT / "tests" / "parity" / "test_economy.py").read_text()
    assert "verify(" in parity and "fresh_values" in parity and "SHOCKS" in parity


@pytest.mark.ci
def test_no_kernel_text_is_in_python_strings():
    problems = {
        path.relative_to(ROOT).as_posix(): found
        for folder in ("societies", "reference_py", "experiments", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (found := kernel_text(path.read_text()))
    }
    assert problems.keys() - GENERATED.keys() == set(), problems


def test_exceptions_are_still_needed():
    excepted = (*GENERATED, *WITHOUT_TWIN, *ALWAYS_RUN, *FUNCTIONS_OF_ANOTHER_NAME)
    assert all((ROOT / name).is_file() for name in excepted)
    for name in GENERATED:
        assert kernel_text((ROOT / name).read_text())
    for name in ALWAYS_RUN:
        assert barriers(TEXTS[name], collective())


# ---------------------------------------------------------------- each rule finds what it is for

OFF = "#pragma OPENCL FP_CONTRACT OFF\n"


@pytest.mark.parametrize(
    "text",
    [
        "void f(void) { }",
        "// #pragma OPENCL FP_CONTRACT OFF\nvoid f(void)\n{ }",
        f"void f(void) {{ }}\n{OFF}",
    ],
)
def test_planted_contraction_is_found(text):
    assert contraction(text)
    assert contraction(f"{OFF}void f(void) {{ }}") == []


ON = "#pragma OPENCL FP_CONTRACT ON\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kernels/physics/other.cl", f"{OFF}void f(void) {{\n{ON} }}"),
        ("kernels/physics/other.cl", f"{OFF}void f(void) {{ }}\n{ON}"),
        ("kernels/physics/other.cl", f"{OFF}#pragma STDC FP_CONTRACT ON\n"),
        ("kernels/physics/other.cl", f'{OFF}#define FUSE _Pragma("OPENCL FP_CONTRACT ON")\n'),
        (FUSED, f"{OFF}{ON}void f(void) {{ }}"),
        (FUSED, f"{OFF}void f(void) {{\n#pragma OPENCL FP_CONTRACT DEFAULT\n }}"),
        (FUSED, f"{OFF}void f(void) {{ int i;\n{ON} }}"),
    ],
)
def test_planted_fusing_is_found(name, text):
    assert switched_on(name, text)
    assert switched_on(FUSED, f"{OFF}void f(void)\n{{\n{ON} }}") == []


def test_a_planted_fma_is_found_everywhere_but_in_the_one_file():
    planted = "num x = fma(a, b, c);\n"
    for name in ("kernels/physics/matmul/multiply.cl", "kernels/physics/laplace/sweep.cl"):
        assert calls(TEXTS[name] + planted, own_names())
    assert calls("#define STEP fma\n", ()) and calls("y = mad(a, b, c);", {"fma"})
    assert calls(TEXTS[FUSED], own_names())  # the names alone do not allow it


INEXACT = """
    y = exp(x);
    y = native_exp(x);
    y = half_sqrt(x);
    y = pow(x, 2.0);
    y = mad(a, b, c);
    y = dot(u, v);
    y = rsqrt(x);
    atomic_xchg(&total, 1.0f);
    atomic_cmpxchg(p, a, b);
    atomic_add_float(p, x);
    #define E(x) exp(x)
    #define E exp
    y = (exp)(x);
    y = exp (x);
    y = twice(exp, x);
"""


@pytest.mark.parametrize("code", INEXACT.strip().split("\n"))
def test_planted_inexact_calls_are_found(code):
    assert calls(f"{OFF}void f(void) {{\n{code}\n}}", {"f"})


def test_planted_calls_over_two_lines_are_found():
    assert calls("y = exp\n    (x);", ()) and calls("y = unknown\n    (x);", ())
    assert calls("y = (f)(x);", {"f"}) and calls("return (f)(x);", {"f"})
    assert calls("if (n)\n    ((int *)x)[0] = (int)(x);", ()) == []
    assert calls("y = 1;\n\ny = other(x);", ())[0].startswith("3: ")


def test_exact_calls_are_none_of_them():
    code = "if (isnan(sqrt(x))) return f(x); // exp(x)\natomic_add(&n, 1); y = (double)(x);"
    assert calls(f"{OFF}void f(void) {{ {code} }}", {"f"}) == []


@pytest.mark.parametrize(
    "code",
    [
        "barrier(CLK_LOCAL_MEM_FENCE);",
        "x = 1;\nbarrier(CLK_LOCAL_MEM_FENCE); //",
        "x = 1; // one\n\nbarrier(CLK_LOCAL_MEM_FENCE);",
        "x = 1; // one\nbarrier(CLK_LOCAL_MEM_FENCE);",
        "barrier(CLK_LOCAL_MEM_FENCE); // barrier",
        "barrier(CLK_LOCAL_MEM_FENCE); // wait for all work-items",
        "// the sums, before z\nbarrier(fence); barrier(fence); // all sums, before z",
        "barrier\n(CLK_LOCAL_MEM_FENCE);",
    ],
)
def test_planted_silent_barriers_are_found(code):
    assert comments(code)


def test_barriers_may_speak_on_their_line_or_before():
    assert comments("barrier(CLK_LOCAL_MEM_FENCE); // all sums, before z") == []
    assert comments("barrier(\n    CLK_LOCAL_MEM_FENCE); // all sums, before z") == []
    assert comments("// x, before y\nbarrier(CLK_LOCAL_MEM_FENCE);") == []
    assert comments("barrier(fence); /* x, before y */ \\") == []
    assert comments("barrier(fence); /* */")
    assert comments("// barrier(CLK_LOCAL_MEM_FENCE);") == []
    assert comments("#define group_barrier(fence) barrier(fence)\n") == []
    assert comments("#define other_barrier(fence) barrier(fence)\n")


def test_planted_functions_with_local_memory_are_found():
    assert local_pointers("static int f(const uint n, __local int *x)\n{\n}")
    assert local_pointers("static void f(const uint n,\n              __local int *x) {\n}")
    assert local_pointers("#define ROW __local\nstatic int f(ROW int *x) {\n}")
    assert local_pointers("INLINED int f(__local int *x) {\n}") == []
    assert local_pointers("COLLECTIVE int f(__local int *x) {\n}") == []
    assert local_pointers("static int f(__global int *x) {\n    __local int y;\n}") == []


B = "barrier(CLK_LOCAL_MEM_FENCE);"


@pytest.mark.parametrize(
    "code",
    [
        f"if (lid == 0) {B}",
        f"if (lid == 0) {{ x = 1; }} else {{ {B} }}",
        f"for (uint i = lid; i < n; i += lanes) {{ {B} }}",
        f"while (n) {{ {{ {B} }} }}",
        f"do {{ if (n) {{ x = 1; {B} }} }} while (n);",
        f"switch (n) {{ case 1: {B} break; }}",
        "if (n) together(x);",
        "x = n ? together(x) : 0;",
        "x = n > 0 && together(x);",
        "for (uint i = 0; together(x); ++i) if (i) { together(i); }",
    ],
)
def test_planted_conditional_barriers_are_found(code):
    assert barriers(f"__kernel void f(const uint n) {{ x = 0; {code} }}", {"together"})


@pytest.mark.parametrize(
    "code",
    [
        B,
        f"do {{ {B} n -= 1; }} while (n > 0);",
        f"{{ {B} }}",
        f"for (uint i = lid; i < n; i += lanes) x[i] = 1; {B}",
        f"if (n == 0) return; {B}",
        f"for (uint i = 0; i < n; ++i) {{ x = {{1, 2}}; }} y = together(x); {B}",
    ],
)
def test_barriers_for_all_are_none_of_them(code):
    assert barriers(f"__kernel void f(const uint n) {{ {code} }}", {"together"}) == []


def with_barriers(code):
    """Return a text with a kernel of which the code is the rest."""
    source = AmalgamatedText()
    source.append(
        "planted.cl",
        f"""int together(int i) {{ {B} return i; }}
        bool first(void) {{ return get_local_id(0) == 0; }}
        __kernel void f(const uint most, __global int *x, __global uint *y) {{
            const uint lid = get_local_id(0), lanes = get_local_size(0);
            uint n = most;
            {code}
        }}""",
    )
    return preprocess(source, {})


@pytest.mark.parametrize(
    "code",
    [
        f"if (lid == 0) {B}",
        f"if (lid == 0) return; {B}",
        f"if (get_global_id(0) >= n) {{ *x = 1; return; }} {B}",
        f"const uint me = get_local_id(0); uint far = 2; far += me; if (far > n) return; {B}",
        f"uint far = 2; if (lid == 0) far = 1; if (far > n) return; {B}",
        f"uint far = 2; if (lid == 0) ++far; if (far > n) return; {B}",
        f"uint2 far = 0; far.x = lid; if (far.x > n) return; {B}",
        f"for (uint i = lid; i < n; i += 2) if (x[i]) return; {B}",
        f"do {{ {B} if (x[lid]) break; n -= 1; }} while (n > 0);",
        f"do {{ if (x[lid]) continue; {B} n -= 1; }} while (n > 0);",
        f"do {{ if (x[lid]) return; n -= 1; }} while (n > 0); {B}",
        f"do {{ {B} if (x[lid]) return; n -= 1; }} while (n > 0);",
        f"do {{ {B} if (lid > n) continue; n -= 1; }} while (n > 0);",
        f"uint i = lid; do {{ {B} i += 2; }} while (i < n);",
        f"if (lid > 2) goto end; {B} end:;",
        f"if (first()) return; {B}",
        f"if (atomic_inc(x) > 1) return; {B}",
        "if (lid == 0) return; together(2);",
    ],
)
def test_planted_barriers_that_some_miss_are_found(code):
    (first, *_) = missed_barriers(with_barriers(code))
    assert re.fullmatch(r"planted\.cl:\d+: some work-items miss (barrier|together)\(\): .+", first)


@pytest.mark.parametrize(
    "code",
    [
        B,
        f"do {{ {B} n -= 1; }} while (n > 0);",
        f"for (uint i = lid; i < n; i += lanes) x[i] = 1; {B}",
        f"if (n == 0) return; {B}",
        f"if (n <= lanes) return; {B}",
        f"{B} if (lid == 0) return;",
        f"do {{ {B} n -= 1; if (lid > n) continue; x[lid] = 1; }} while (n > 0);",
        f"for (uint i = lid; i < n; ++i) {{ if (x[i]) break; }} {B}",
        f"do {{ if (lid) switch (n) {{ case 1: *x = 1; break; }} {B} n -= 1; }} while (n > 0);",
        f"x[lid] = 1; *y = lid; if (x[0] == *y) return; {B}",
        f"__local uint all; if (lid == 0) all = n; {B} if (all == 0) return; {B}",
        f"for (uint i = 0; i < n; ++i) {{ *x = 1; }} *y = together(*x); {B}",
    ],
)
def test_barriers_that_all_come_to_are_none_of_them(code):
    assert missed_barriers(with_barriers(code)) == []


def test_planted_functions_with_barriers_that_are_not_collective_are_found():
    assert barriers(f"static void f(const uint n) {{ {B} }}", ())
    assert barriers("static void f(const uint n) { together(n); }", {"together"})
    assert barriers(f"COLLECTIVE void f(const uint n) {{ {B} }}", ()) == []
    assert barriers(f"#define WAIT {B}\n", ())
    assert barriers("#define WAIT barrier\n", ()) and barriers("#define WAIT (barrier)\n", ())
    assert barriers("#define WAIT together\n", {"together"})
    assert barriers(f"#define WAIT(n) if (n) \\\n {B}\n", ())
    waits = f"#define WAIT(n) do {{ {B} }} while (n)\n"
    assert barriers(waits, ()) == []
    assert barriers(f"{waits}COLLECTIVE void f(int n) {{ if (n) WAIT(n); }}", ())
    assert barriers(f"{waits}static void f(int n) {{ WAIT(n); }}", ())
    attributed = f"__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void f(int n) {{ {B} }}"
    assert barriers(attributed, ()) == []


def test_planted_kernels_without_a_twin_are_found():
    assert twin_path("// a.cl: what.\n//\n// Twin: reference_py/a.py\n") == "reference_py/a.py"
    assert twin_path("// a.cl: what.\nint x; // Twin: reference_py/a.py\n") is None
    texts = {
        "a.cl": "static int help(int x) { return x; }\nstatic int a_go_local(int x) "
        "{ return help(x); }\n__kernel void run(int x) { a_go_local(x); }",
        "b.cl": "static int b(int x) { return a_go_local(x); }",
    }
    assert public_functions("a.cl", texts) == ["a_go_local", "run"]
    assert twin_names("a_go_local", "a.cl") & python_names("class A:\n    def go(self): ...\n")
    assert not twin_names("run", "a.cl") & python_names("def runs(): ...\n")


def test_planted_functions_without_a_test_are_found():
    assert is_named("tree_child", 'f(f"tree_{name}")') and is_named("scan_up", "scan_up(x, n)")
    assert not is_named("tree_child", 'f"tree_{name}_local" f"{what}" tree_children')


@pytest.mark.parametrize(
    "code",
    [
        'TEXT = "__kernel void f(__global int *x) { x[0] = 1; }"',
        'TEXT = f"""\nkernel void {name}() {{ }}\n"""',
        'def f():\n    return "x[get_global_id(0)] = 1;"',
        'x = ["barrier(CLK_LOCAL_MEM_FENCE);"]',
        'x = "kernel __attribute__((reqd_work_group_size(8, 1, 1)))\\nvoid f() { }"',
        'x = f"__kernel __attribute__((reqd_work_group_size({n}, 1, 1))) void {name}() {{ }}"',
        'x = "kernel void __attribute__((reqd_work_group_size(8, 1, 1))) f() { }"',
        'x = "__kernel __attribute__((a(1))) __attribute__((b(2))) void f() { }"',
    ],
)
def test_planted_kernel_text_is_found(code):
    assert kernel_text(code)


def test_docstrings_and_patterns_are_none_of_it():
    assert (
        kernel_text('"""A __kernel void f() of get_global_id(0)."""\nx = r"\\b__kernel\\b"') == []
    )


@pytest.mark.parametrize(
    ("file", "name", "number"),
    [
        ("economy/crew.cl", "CREW_WORDS", phases.CREW_WORDS),
        ("economy/curve_tables.cl", "TABLE_BLOCK", curves_on_device._BLOCK),
        ("primitives/select.cl", "SELECT_BY_RANK", memory.RANKED_BY_COUNTING),
        ("primitives/wide.cl", "WIDE_BLOCK", perft.BLOCK),
        ("primitives/wide.cl", "WIDE_BLOCK", kalah.search.BLOCK),
        ("games/kalah/match.cl", "BONZO", match.KINDS["bonzo"]),
        ("games/kalah/match.cl", "RANDOM", match.KINDS["random"]),
        ("games/ngtsg/select_by_groups.cl", "LEAST_STRIP", groups.LEAST_STRIP),
        ("physics/molecular_dynamics/cells.cl", "CELL_BLOCK", molecular_dynamics.CELL_BLOCK),
    ],
)
def test_a_number_that_a_kernel_shares_with_the_host_is_the_same(file, name, number):
    """It is in both, since a kernel file compiles alone."""
    text = (ROOT / "kernels" / file).read_text()
    assert re.findall(rf"^#define {name} (\d+)u?\b", text, re.MULTILINE) == [str(number)]
