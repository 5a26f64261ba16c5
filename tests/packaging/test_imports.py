"""Does every module import only what stands below it, and is no module too long without a reason?

Modules do not import each other, begin with their question, and share no name of a class.

All imports count: at the top of a module, inside of functions, and those for types alone. A module
that needs a type from above knows what is above it, whenever the import is carried out.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FLOORS = (
    {"__main__"},
    {"cli"},
    {"commands", "command_options"},
    {"options"},
    {"completion", "members"},
    {"societies"},  # the public names: societies/__init__.py
    {"api"},
    {"progress", "timings", "catalogue", "reproduce"},
    {"study"},
    {"sweep", "analysis", "view", "scaffold"},
    {"economy", "games", "models", "physics"},
    {"model"},
    {"workload"},
    {"output", "translate"},
    {"config"},
    {"opencl"},
    {"localmem"},
    {"kerneltext"},
    {"memory"},
    {"inputs", "numbers", "terminal"},
    {"citation"},
    {"background", "errors", "lazily", "paths", "rule", "signals", "version", "words"},
)
"""Rooms of the package from the top down. None imports from its own floor or from one above."""

HOUSES = {"games", "models", "physics"}
"""Rooms of several workloads, which do not know each other."""

SHARED = {"ngtsg"}
"""Parts of the room of games that games may know; they know no game themselves."""

MOST_LINES = 400
"""Of a module, a script or a kernel file that is not in `LONGER`."""

LONGER = {
    # a sweep from its first check to its last batch
    "societies/sweep/conduct.py",
    # one class or one engine whose methods are read together
    "societies/output/resultfile.py",
    "societies/workload/running/engines.py",
    "societies/opencl/function.py",
    "societies/opencl/kernel.py",
    # one command line, one format, one table, one vocabulary
    "societies/cli.py",
    "societies/output/layout.py",
    "societies/study/statistics.py",
    "societies/workload/drawing/figure.py",
    "reference_py/economy/state.py",
    # one language: of kernels, of their preprocessor, of CUDA
    "societies/localmem/divergence.py",
    "societies/localmem/preprocess.py",
    "societies/opencl/cuda/opencl.cuh",
    # one experiment
    "benchmarks/physics.py",
    "experiments/games/havannah/run.py",
    "experiments/games/ngtsg/run.py",
    "experiments/physics/opencl_cuda/report.py",
    "experiments/physics/opencl_cuda/run.py",
    # one phase of a day in its forms for CPUs and GPUs
    "kernels/economy/bargaining.cl",
    "kernels/economy/device_trading.cl",
    "kernels/economy/extraction.cl",
    "kernels/economy/trading.cl",
}
"""Files that would be harder to read in parts."""


parsed = cache(ast.parse)


def modules(package: str) -> dict[str, str]:
    """Return the text of every module by its name; templates of other packages are none."""
    found, scaffold = {}, ROOT / "societies" / "scaffold"
    for path in sorted((ROOT / package).rglob("*.py")):
        if path.parent == scaffold or scaffold not in path.parents:
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text()
    return found


def imported(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """Return what each module imports: a module of `texts`, or whatever the statement names."""
    found: dict[str, set[str]] = {name: set() for name in texts}
    for name, text in texts.items():
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.Import):
                found[name].update(one.name for one in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.module and not node.level, f"{name}: write imports out in full"
                for one in node.names:
                    full = f"{node.module}.{one.name}"
                    found[name].add(full if full in texts else node.module)
    return found


def room(module: str) -> str:
    """Return the room that a module of the package stands in."""
    return module.split(".")[1] if "." in module else module


def upwards(imports: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the imports of another room that does not stand on a lower floor."""
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    return {
        f"{module} -> {other}"
        for module, others in imports.items()
        for other in others
        if other in imports
        and room(module) != room(other)
        and floor[room(module)] >= floor[room(other)]
    }


def neighbours(imports: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the imports of a workload by another one of its room, or by what the room shares."""
    found = set()
    for module, others in imports.items():
        for other in others:
            if module.split(".")[:2] != other.split(".")[:2] or room(module) not in HOUSES:
                continue
            of, known = part(module, imports), part(other, imports)
            if known and of != known and known not in SHARED:
                found.add(f"{module} -> {other}")
    return found


def part(module: str, among: Iterable[str]) -> str:
    """Return the workload that a module of a room belongs to; "" if the room shares it."""
    parts = module.split(".")
    package = ".".join(parts[:3])
    inside = any(one.startswith(f"{package}.") for one in among)
    return parts[2] if len(parts) > 3 or (len(parts) == 3 and inside) else ""


def circles(imports: Mapping[str, Iterable[str]]) -> set[frozenset[str]]:
    """Return the sets of modules that reach each other: strongly connected components."""
    reached = {module: _reached(module, imports) for module in imports}
    return {
        frozenset({module, *(one for one in reached[module] if module in reached[one])})
        for module in imports
        if module in reached[module]
    }


def _reached(module: str, imports: Mapping[str, Iterable[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [module]
    while todo:
        new = {one for one in imports[todo.pop()] if one in imports} - seen
        seen |= new
        todo += new
    return seen


def too_long(texts: Mapping[str, str]) -> set[str]:
    """Return the files of more than `MOST_LINES` lines."""
    return {name for name, text in texts.items() if text.count("\n") > MOST_LINES}


@cache
def ours() -> dict[str, set[str]]:
    return imported(modules("societies"))


def test_every_module_has_a_floor():
    known = {name for names in FLOORS for name in names}
    assert {module for module in ours() if room(module) not in known} == set()


def test_imports_point_downwards():
    assert upwards(ours()) == set()


def test_no_modules_import_each_other():
    assert circles(ours()) == set()


def test_workloads_do_not_know_each_other():
    assert neighbours(ours()) == set()
    assert neighbours(imported(modules("reference_py"))) == set()


def test_rooms_of_the_reference_know_the_primitives_alone():
    found = {
        f"{module} -> {other}"
        for module, others in imported(modules("reference_py")).items()
        for other in others
        if other.startswith("reference_py.")
        and room(other) not in (room(module), "primitives", "copies")
    }
    assert found == set()


def test_kernels_include_what_their_twins_may_import():
    assert sideways(included()) == set()


def included() -> dict[str, list[str]]:
    """Return the files that each kernel file includes, relative to kernels/."""
    folder = ROOT / "kernels"
    return {
        str(path.relative_to(folder)): re.findall(r'#include "([^"]+)"', path.read_text())
        for path in sorted(folder.rglob("*.cl"))
    }


def sideways(includes: Mapping[str, Iterable[str]]) -> set[str]:
    """Return includes of another room than the primitives, or of another workload of a room."""

    def house(file: str) -> tuple[str, str]:
        parts = file.split("/")
        return parts[0], parts[1] if len(parts) > 2 else ""

    return {
        f"{file} -> {other}"
        for file, others in includes.items()
        for other in others
        if house(other)[0] != "primitives"
        and house(other) != house(file)
        and not (house(other)[0] == house(file)[0] and house(other)[1] in SHARED)
    }


def repeated_classes(texts: Mapping[str, str]) -> set[str]:
    """Return the names of classes that stand in several modules."""
    found = Counter(
        node.name
        for text in texts.values()
        for node in parsed(text).body
        if isinstance(node, ast.ClassDef)
    )
    return {name for name, count in found.items() if count > 1}


def test_a_class_has_a_name_of_its_own():
    assert repeated_classes(modules("societies")) == set()


def questionless(texts: Mapping[str, str]) -> set[str]:
    """Return the modules whose docstring does not begin with a question."""
    first = {name: (ast.get_docstring(parsed(text)) or "") for name, text in texts.items()}
    return {name for name, text in first.items() if "?" not in text.partition("\n\n")[0]}


def test_every_module_begins_with_its_question():
    texts = modules("societies") | modules("reference_py")
    models = {name for name in texts if name.startswith("societies.models.")}
    # A model of one file begins with its name: it is read as a model, not as a part of a program.
    assert questionless(texts) <= models | {"societies"}


def test_no_file_is_longer_than_those_known():
    folders = ("societies", "reference_py", "kernels", "benchmarks", "experiments")
    texts = {
        str(path.relative_to(ROOT)): path.read_text()
        for folder in folders
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".cl", ".cuh") and "template" not in path.parts
    }
    found = too_long(texts)
    assert found == LONGER, "divide it, or add it to LONGER; remove what has become shorter"


def taken_at_once(text: str, packages: Iterable[str]) -> set[str]:
    """Return what a module imports from some packages when it is imported itself."""
    lines = [node for node in parsed(text).body if isinstance(node, ast.ImportFrom)]
    return {str(node.module) for node in lines if str(node.module).startswith(tuple(packages))}


def test_what_an_author_declares_is_imported_without_what_runs_it():
    above = [f"societies.workload.{name}" for name in ("running", "checking", "drawing")]
    texts = modules("societies")
    declare = [name for name in texts if name.startswith("societies.workload.declare")]
    assert {name: found for name in declare if (found := taken_at_once(texts[name], above))} == {}
    planted = "from societies.workload.running.run import run\n\ndef f():\n    from a import b\n"
    assert taken_at_once(planted, above) == {"societies.workload.running.run"}


MOST_OF_AN_AUTHOR = 1900
"""Lines of what an author of a workload reads: `societies.workload.declare`."""


def test_an_author_reads_few_lines():
    texts = modules("societies")
    declare = [name for name in texts if name.startswith("societies.workload.declare")]
    assert sum(len(texts[name].splitlines()) for name in declare) <= MOST_OF_AN_AUTHOR


def with_parts_of_a_setup(text: str) -> list[str]:
    """Return the functions of a module that take a workload, its configuration and a device."""
    found = []
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.FunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if {"workload", "config", "device"} <= {one.arg for one in every}:
                found.append(node.name)
    return found


def test_functions_take_a_setup_instead_of_its_parts():
    texts = modules("societies")
    assert {name: found for name in texts if (found := with_parts_of_a_setup(texts[name]))} == {}
    planted = "def f(workload, config, *, device=None): ...\ndef g(workload, config): ...\n"
    assert with_parts_of_a_setup(planted) == ["f"]


def test_the_reference_stands_alone():
    for module, others in imported(modules("reference_py")).items():
        assert not [one for one in others if one.split(".")[0] == "societies"], module


def taken(text: str, packages: Iterable[str]) -> set[str]:
    """Return what a module takes from some packages that is no type and no constant."""
    found = set()
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names if one.name.split(".")[0] in packages}
        elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in packages:
            found |= {f"{node.module}.{one.name}" for one in node.names if one.name[0].islower()}
    return found


def test_an_explanation_calls_no_rule_of_the_model():
    """Only the day is run, by the engine; between its steps the reference reports a statistic."""
    found = {
        name: rules
        for name, text in modules("societies").items()
        if name.startswith("societies.economy.explain")
        and (rules := taken(text, ("reference_py", "importlib")))
    }
    assert found == {
        "societies.economy.explain.replay": {"reference_py.economy.statistics.report_utility"}
    }


def test_the_package_needs_nothing_of_the_checkout():
    shipped = {"societies", "reference_py"}
    for module, others in ours().items():
        unshipped = {path.name for path in ROOT.iterdir() if path.is_dir()} - shipped
        assert not [one for one in others if one.split(".")[0] in unshipped], module


# ---------------------------------------------------------------- each rule finds what it is for


@pytest.mark.parametrize(
    "text",
    [
        "import societies.economy.run",
        "from societies.economy import run",
        "from societies.economy.run import plan",
        "def f():\n    from societies.economy import run",
        "if TYPE_CHECKING:\n    from societies.economy.run import plan",
    ],
)
def test_planted_imports_from_above_are_found(text):
    texts = {
        "societies.output.files": text,
        "societies.economy.run": "from societies import output",
    }
    texts["societies.output"] = ""
    assert upwards(imported(texts)) == {"societies.output.files -> societies.economy.run"}


def test_planted_imports_between_rooms_of_a_floor_are_found():
    texts = {"societies.games.chess": "import societies.physics", "societies.physics": ""}
    assert upwards(imported(texts)) == {"societies.games.chess -> societies.physics"}


def test_planted_imports_between_workloads_are_found():
    texts = {
        "societies.games.kalah": "from societies.games import matches",
        "societies.games.kalah.play": "from societies.games.chess.board import Board",
        "societies.games.chess": "from societies.games.ngtsg import search",
        "societies.games.chess.board": "",
        "societies.games.ngtsg": "",
        "societies.games.ngtsg.search": "import societies.games.chess.board",
        "societies.games.matches": "import societies.games.kalah",
    }
    assert neighbours(imported(texts)) == {
        "societies.games.kalah.play -> societies.games.chess.board",
        "societies.games.ngtsg.search -> societies.games.chess.board",
        "societies.games.matches -> societies.games.kalah",
    }


def test_planted_includes_between_workloads_are_found():
    includes = {
        "games/chess/search.cl": ["games/ngtsg/select.cl", "primitives/rng.cl"],
        "games/ngtsg/select.cl": ["games/chess/rules.cl", "games/ngtsg/node.cl"],
        "physics/blur/box.cl": ["physics/laplace/rule.cl"],
        "primitives/rng.cl": ["economy/streams.cl"],
    }
    assert sideways(includes) == {
        "games/ngtsg/select.cl -> games/chess/rules.cl",
        "physics/blur/box.cl -> physics/laplace/rule.cl",
        "primitives/rng.cl -> economy/streams.cl",
    }


def test_planted_circles_are_found():
    imports = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"numpy"}}
    assert circles(imports) == {frozenset("abc")}


def test_repeated_classes_are_found():
    texts = {"a": "class Step: pass\nclass Own: pass", "b": "class Step: pass"}
    assert repeated_classes(texts) == {"Step"}


def test_a_module_without_a_question_is_found():
    texts = {"a": '"""What is asked?\n\nThis."""', "b": '"""Things.\n\nWhy?"""', "c": "x = 1"}
    assert questionless(texts) == {"b", "c"}


def test_planted_long_modules_are_found():
    assert too_long({"a": "x = 1\n" * (MOST_LINES + 1), "b": "x = 1\n" * MOST_LINES}) == {"a"}


def test_planted_rules_are_found():
    text = "from reference_py.economy.devices import TYPES, levels\nimport reference_py.economy"
    found = taken(text, ("reference_py",))
    assert found == {"reference_py.economy.devices.levels", "reference_py.economy"}


def test_files_of_tests_have_names_of_their_own():
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, "pytest imports them by their names, wherever they are"
