"""Do the texts of kernels/ keep to the rules that identical bits and safe barriers rest on?"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from marks import thorough_but
from small import forms, names, small
from source_rules import (
    FUSED,
    barriers,
    blanked,
    calls,
    collective_names,
    comments,
    contraction,
    is_named,
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
from societies.economy import source
from societies.economy.parameters import parameters
from societies.kerneltext.source import Source, amalgamate, without_comments
from societies.localmem.plan import COMMON_EXTENSIONS
from societies.localmem.preprocess import preprocess
from societies.workload.engines import text
from societies.workload.fields import initial_state
from societies.workload.phases import kernel_files
from societies.workload.registry import workload

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
        "for (uint turn = market_round ; turn < market_round + rounds ; + + turn)",
        "for (size_t place = first ; place < end ; + + place)",
    ],
}
"""Loops that may hold a barrier although they are no ``do``: how often they run is compiled in."""

WITHOUT_TWIN = {
    "kernels/primitives/real.cl": "a type, in Python float, and a number hidden from compilers",
    "kernels/primitives/group.cl": "who works, not what is done",
    "kernels/economy/team.cl": "who works, not what is done",
    "kernels/economy/bits.cl": "the place of a bit in a word",
    "kernels/games/kalah/lanes.cl": "how many games at a time, not what their moves are",
    "kernels/physics/laplace/fours.cl": "four cells at a time, not what becomes of each",
    "kernels/physics/molecular_dynamics/lanes.cl": "how many pairs at a time, not what they add",
    "kernels/physics/molecular_dynamics/slices.cl": "in which order pairs are taken",
    "kernels/physics/molecular_dynamics/speeds.cl": "how many numbers kick() takes at a time",
    "kernels/physics/molecular_dynamics/vectors.cl": "types of several numbers at a time",
}
WITH_TWIN = [name for name in FILES if name not in WITHOUT_TWIN]
TWINS_ELSEWHERE = {
    "look_at_menu": "the order in which menu() of trading.py chooses, kept while nothing changes",
    "look_again": "the same after a swap",
    "line_score": "what single_score() of moves.py adds for a line",
    "pair_of": "the pairs by which Shapes of shapes.py counts",
    "select_by_groups": "select_batch() of select.py, by many workgroups",
    "close_by_groups": "close_batch() of close.py, by many workgroups",
    "is_dead_with": "is_dead() of tree.py, where a node's value is known before it is written",
    "judged": "_done() of close.py",
    "set_word": "an assignment, in Python",
    "is_first_line": "a part of _most() of select.py",
    **dict.fromkeys(
        ("rank_end", "pending_from", "round_count", "pending_count"),
        "a part of _of_parents() of select.py",
    ),
    "list_children": "a part of select_batch() of select.py",
    "branch_together": "branch() of moves.py, by many work-items",
    "evaluate_together": "evaluate() of evaluate.py, by many work-items",
    "menu_length": "how many menu() of trading.py returns",
    "choose_menu": "menu() of trading.py, by many work-items",
    "load_ranks": "the order in which menu() of trading.py chooses, kept while nothing changes",
    "rank_again": "the same after a swap",
    "keep_ranks": "the same for the next meeting",
    "agreed": "refusal() of trading.py, without its reasons",
    "bargain_of": "what bargain() of trading.py begins with",
    "half_bargain": "what one of the two proposes in bargain() of trading.py",
    "marginal_of": "marginal_utility() of curves.py",
    "total_of": "total_utility() of curves.py",
    "ladder_of": "the surplus that bargain() of trading.py hands to proposal()",
    "proposal_together": "proposal() of trading.py, by many work-items",
    "settle": "the end of bargain() of trading.py",
    "distributions": "the sums, gini() and median() of statistics.py, for all quantities at once",
    "quartile": "one of quartiles() of statistics.py",
    "describe_three_days": "a part of society_statistics() of statistics.py",
    "keep_practice": "the end of extraction() of extraction.py",
    "society_at_once": "society_statistics() of statistics.py, by many work-items",
    "extraction_at_once": "extraction() of extraction.py, by many work-items",
    "remember": "a part of end_day() and of refresh_values()",
    "add_up_day": "agent_statistics() of statistics.py, of one agent",
    "sample_of": "the fields that society_statistics() of statistics.py compares",
    "own_day": "extraction(), end_day() and agent_statistics(), one after the other",
    "put_in_order": "sorted",
    "gather_living": "of_living() of statistics.py, which leaves the removed ones out",
    "making_effort": "effort() of curves.py, from a table",
    "value_minutes": "the median in agent_measures() of measures.py",
    "compare_agents": "society_measures() of measures.py, without prices",
    "market_prices": "prices() of measures.py",
    "forget_uses": "the reference works out every use anew, and remembers none",
    "written": "mean_of() of window.py, for the sums that a CPU has side by side",
    "block_change": "a part of the largest change, which change() takes at once",
    "block_totals": "a part of the sums, which totals() takes at once",
    "block_energies": "a part of the sums, which energies() takes at once",
    "block_squares": "a part of the temperature, which rescale() takes at once",
    "factor": "a part of rescale()",
    "beside": "a part of around(), of one axis",
    "turned": "nearest() of pair.py, which can be too long in one direction only",
    "add_pair": "the terms that forces() makes of all pairs at once",
    **dict.fromkeys(
        (
            *("count_atoms", "sum_cells", "sum_blocks"),
            *("around", "packed_place", "far_inside"),
        ),
        "a part of finding pairs; the reference tries all of them",
    ),
    **{
        f"wide_{name}": "a part of the function of wide.py, for all rows at once"
        for name in (
            *("scan_blocks", "scan_totals", "scan_add", "count_blocks", "compact_blocks"),
            *("sum_blocks", "sum_totals", "sum_long_blocks", "sum_long_totals"),
            *("max_uint_blocks", "max_uint_totals"),
        )
    },
    **{f"{name}3": f"{name}() of vectors.py" for name in ("dot", "over", "unit")},
    "vector_at": "three numbers of an array, which NumPy unpacks",
    "box_margin": "of boxes, which change no result",
    "pack_a": "entries in another order, of which multiply() takes no notice",
    "pack_b": "entries in another order, of which multiply() takes no notice",
    "probe_muladd": "a question about the compiler",
    "row_sum": "summed() of window.py at one pixel",
    "link_of": "Shapes.link() of shapes.py",
    "step_of": "the steps of DIRECTIONS, of geometry.py",
    "expand_few": "expand(), of which it is another form",
    "count_moves": "where `first` begins, which expand() counts along the way",
    "count_children": "the number of boards that expand() has placed",
    "value_after": "evaluate() of rules.py after play()",
    "next_view": "the side that play() returns",
    "view_of": "a list of cells",
    "rays_up": "ray() of rules.py, in four directions at once",
    "rays_down": "ray() of rules.py, in four directions at once",
    "king_steps": "KING_STEPS of rules.py",
    "counted": "bit_count() of whole numbers",
    "joined": "whole numbers joined by |",
    "position_at": "seven numbers of the arrays",
    "put_position": "seven numbers of the arrays",
    "count_moves_of_all": "where `first` begins, which expand() counts along the way",
    "sum_blocks": "where `first` begins, which expand() counts along the way",
    "sum_all": "the number of positions that expand() has placed",
    "lowest": "squares_of() of board.py, one at a time",
    "next_move": "moves() of rules.py, one at a time",
    "put_board": "a list of cells",
    "neighbours_in": "`neighbours` of board.py and a set of stones",
    "row_of_board": "`places` of board.py, as bits",
    "edge_of_board": "the cells of board.py with neighbours outside, as bits",
    "rings": "hollow_ring() and filled_ring() of flood.py, of many boards at once",
    "links": "the groups that reasons_of() of flood.py looks at, of many boards at once",
    "playouts_of": "playout() with the stones placed first, for many games at once",
    "score_of": "scores of the reference are always TOP's",
    "expected_minutes": "costs() of valuation.py returns them too",
    "is_extracting": "`in EXTRACTING` of devices.py",
    "set_count": "an item of a list",
    "one_device": "a list with a single 1",
    "varray_reset": "a Python list is made anew",
    "varray_append": "list.append",
    "varray_length": "len",
    "varray_overflow": "Python lists have no capacity",
}
GENERATED = {
    "societies/opencl/shim.py": "the kernel around a device function",
    "societies/opencl/structs.py": "the kernel that asks for the layout of a struct",
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
COMPILED = {
    **{
        f"{name} on a {kind}": (name, None, kind) for name in _PRIMITIVES for kind in ("CPU", "GPU")
    },
    "economy without devices on a CPU": ("economy", _PLAIN, "CPU"),
    "large economy without devices on a GPU": ("economy", {**_PLAIN, **_LARGE}, "GPU"),
    "economy without devices on a GPU": ("economy", _PLAIN, "GPU"),
    "large economy on a GPU": ("economy", {**_ECONOMY, "agents": 500, "groups": []}, "GPU"),
    "economy on a GPU": ("economy", _ECONOMY, "GPU"),
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
        source = text(workload(what), config, facts)
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
    "shocks": [{"day": 1, "remove": "resource", "index": 1, "holdings": "lose"}],
}


def accessors():
    """Return the macros that societies.economy.source makes."""
    config = config_from_dict(EVERY_SWITCH)
    return re.findall(r"^#define (\w+)\(", source.header(parameters(config)), re.MULTILINE)


@cache
def own_names():
    texts = "\n".join(TEXTS.values())
    functions = re.findall(r"^[\w *]*?\b(\w+)\s*\([^;]*?\)\s*\{", texts, re.MULTILINE)
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", texts, re.MULTILINE)
    return {*functions, *macros, *accessors()}


def defined(code):
    """Return the functions that a text, without macros, defines."""
    while (outer := re.sub(r"\{[^{}]*\}", "\a", code)) != code:  # a body, the inner ones first
        code = outer
    code = re.sub(r"__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)", "", code)
    return set(re.findall(r"\b(\w+)\s*\([^()]*\)\s*\a", code))


@cache
def defined_somewhere():
    """Return the functions that some kernel file defines."""
    return {name for text in TEXTS.values() for name in defined(without_comments(text))}


def missing(source):
    """Return the functions of kernel files that a text calls but neither has nor includes."""
    code = preprocess(source, dict.fromkeys(COMMON_EXTENSIONS, "1")).text
    called = set(re.findall(r"\b(\w+)\s*\(", code))
    return sorted((called & defined_somewhere()) - defined(code) - {"if", "for", "while", "switch"})


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
@pytest.mark.parametrize(
    "name",
    thorough_but(
        {"kernels/economy/device_trading.cl"},
        [name for name in FILES if name.startswith("kernels/economy/")],
    ),
)
def test_every_file_includes_what_it_calls(name, kind):
    """Built alone, with every switch of the economy on, no file misses a function of another."""
    p = parameters(config_from_dict(EVERY_SWITCH))
    facts = {"DEVICE_IS_CPU": kind == "CPU", "DEVICE_ROUNDS_SINGLES": True}
    text = amalgamate([ROOT / name], {**facts, **source.macros(p)}, source.header(p))
    assert missing(text) == []


OF_THE_GAME = {f"games/ngtsg/{name}.cl": [name] for name in ("branch", "evaluate", "make")}
"""Files of the search of trees of any game, and the function that each game has for them."""


def with_includes(names):
    """Return kernel files and what they include, from the kernels folder on."""
    found, left = set(), set(names)
    while left:
        name = left.pop()
        found.add(name)
        left |= set(re.findall(r'^#include "(.+)"', TEXTS[f"kernels/{name}"], re.M)) - found
    return sorted(found)


def alone(name, settings, kind):
    """Return what each file of a workload misses if it is built alone, by file."""
    one, facts = workload(name), {"DEVICE_IS_CPU": kind == "CPU", "DEVICE_ROUNDS_SINGLES": True}
    config = small(name, **settings)
    p = one.parameters(config)
    given, files = one.source(p), kernel_files(one.phases(p, one.count(config)))
    texts = {
        file: amalgamate([ROOT / "kernels" / file], {**given.macros, **facts}, given.header)
        for file in with_includes(files)
    }
    found = {file: missing(text) for file, text in texts.items()}
    return {
        file: names for file, names in found.items() if names not in ([], OF_THE_GAME.get(file))
    }


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
@pytest.mark.parametrize(
    ("name", "number"),
    thorough_but(
        {("kalah", 0), ("laplace", 0)},
        [(name, n) for name in names() if name != "economy" for n in range(len(forms(name)))],
        2,
    ),
)
def test_every_file_of_a_workload_includes_what_it_calls(name, number, kind):
    assert alone(name, forms(name)[number], kind) == {}


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
@pytest.mark.parametrize("name", _PRIMITIVES)
def test_every_primitive_includes_what_it_calls(name, kind):
    facts = {"DEVICE_IS_CPU": kind == "CPU", "DEVICE_ROUNDS_SINGLES": True}
    assert missing(amalgamate([ROOT / name], facts)) == []


def test_a_planted_call_without_its_include_is_found():
    found = Source()
    found.append("planted.cl", "__kernel void k(__global int *x)\n{\n    link_sale(x);\n}\n")
    assert missing(found) == ["link_sale"]


@pytest.mark.parametrize("name", FILES)
def test_contraction_is_off(name):
    assert contraction(shipped_text(name)) == []
    assert switched_on(name, TEXTS[name]) == []


@pytest.mark.parametrize("name", FILES)
def test_only_exact_functions_are_called(name):
    # half_recip is refined there, to a result that does not depend on it
    allowed = {"fma", "half_recip"} if name == FUSED else set()
    assert calls(TEXTS[name], own_names() | allowed) == []


@pytest.mark.parametrize("name", FILES)
def test_every_barrier_says_what_it_orders(name):
    assert comments(TEXTS[name]) == []


@pytest.mark.parametrize("name", FILES)
def test_what_is_handed_local_memory_is_inlined(name):
    assert local_pointers(TEXTS[name]) == []


@pytest.mark.parametrize("name", FILES)
def test_no_barrier_is_conditional(name):
    assert barriers(TEXTS[name], collective(), ALWAYS_RUN.get(name, ())) == []


LONG = ("economy without devices on a CPU", "large economy without devices on a GPU")
"""Texts whose kernels are in `economy on a GPU` too, in another form."""


@pytest.mark.parametrize("name", thorough_but(COMPILED.keys() - set(LONG), COMPILED))
def test_no_work_item_misses_a_barrier(name):
    assert missed_barriers(compiled(name)) == []


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


@pytest.mark.parametrize("name", WITH_TWIN)
def test_every_kernel_and_public_function_has_a_twin(name):
    path = twin_path(TEXTS[name])
    assert path, "the header names no twin: `Twin: reference_py/...`"
    assert (ROOT / path).is_file(), f"{path} does not exist"
    defined = python_names((ROOT / path).read_text())
    public = public_functions(name, TEXTS)
    missing = [
        one for one in public if one not in TWINS_ELSEWHERE and not twin_names(one, name) & defined
    ]
    assert missing == []


TWINS_OF_ANOTHER_NAME = {
    "kernels/economy/menu.cl": "a part of trading.py",
    "kernels/economy/bargaining.cl": "a part of trading.py",
    "kernels/economy/order.cl": "a part of statistics.py",
    "kernels/economy/practice.cl": "a part of extraction.py",
    "kernels/economy/own_day.cl": "extraction.py by many work-items, and what follows it",
    "kernels/economy/society_at_once.cl": "statistics.py by many work-items",
    "kernels/games/ngtsg/select_by_groups.cl": "select.py by many workgroups",
    "kernels/games/ngtsg/close_by_groups.cl": "close.py by many workgroups",
    "kernels/games/connect6/together.cl": "moves.py by many work-items",
    "kernels/games/connect6/weigh.cl": "evaluate.py by many work-items",
}


@pytest.mark.parametrize("name", WITH_TWIN)
def test_a_twin_has_the_same_name_and_names_its_kernel(name):
    path = twin_path(TEXTS[name])
    same = "reference_py" + name.removeprefix("kernels").replace(".cl", ".py")
    assert (path == same) == (name not in TWINS_OF_ANOTHER_NAME)
    assert name in ast.get_docstring(ast.parse((ROOT / path).read_text()))


@pytest.mark.parametrize("name", [name for name in WITH_TWIN if "/primitives/" in name])
def test_every_public_primitive_is_named_by_a_test(name):
    folder = ROOT / "tests" / "primitives"
    texts = "\n".join(path.read_text() for path in folder.iterdir() if path.is_file())
    assert [one for one in public_functions(name, TEXTS) if not is_named(one, texts)] == []


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
        for phase, declared in table.items():
            joined = [] if declared.joined is None else [declared.joined.launch]
            found.append((phase, (*declared.launches, *joined)))
    return found


def folders(name):
    """Return the folders of the kernels of a workload."""
    files = {one.file for _, found in launches(name) for one in found}
    return {f"kernels/{file.rpartition('/')[0]}/" for file in files}


@pytest.mark.parametrize("name", names())
def test_every_kernel_of_a_workload_is_launched_by_a_phase(name):
    """Workloads of one game share its folder, and searches that of the search."""
    own = folders(name)
    sharing = [one for one in names() if folders(one) & own]
    launched = {
        other: {one.kernel or phase for phase, several in launches(other) for one in several}
        for other in sharing
    }
    kernels = {
        kernel
        for file, text in TEXTS.items()
        if file.startswith(tuple(own))
        for kernel in re.findall(
            r"\b__kernel\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?void\s+(\w+)", blanked(text)
        )
    }
    assert kernels <= set().union(*launched.values())
    assert launched[name] <= kernels


def test_the_parity_tests_compare_every_phase_of_the_economy():
    parity = (ROOT / "tests" / "parity" / "test_economy.py").read_text()
    assert "verify(" in parity and "fresh_values" in parity and "SHOCKS" in parity


@pytest.mark.parametrize("folder", ["societies", "reference_py", "experiments", "benchmarks"])
def test_no_kernel_text_is_in_python_strings(folder):
    problems = {
        path.relative_to(ROOT).as_posix(): found
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (found := kernel_text(path.read_text()))
    }
    assert problems.keys() - GENERATED.keys() == set(), problems


def test_exceptions_are_still_needed():
    excepted = (*GENERATED, *WITHOUT_TWIN, *ALWAYS_RUN, *TWINS_OF_ANOTHER_NAME)
    assert all((ROOT / name).is_file() for name in excepted)
    for name in GENERATED:
        assert kernel_text((ROOT / name).read_text())
    for name in ALWAYS_RUN:
        assert barriers(TEXTS[name], collective())
    public = {one for name in FILES for one in public_functions(name, TEXTS)}
    assert set(TWINS_ELSEWHERE) <= public


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
    assert calls(TEXTS[FUSED], own_names())  # the names alone do not allow it there


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
    source = Source()
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
