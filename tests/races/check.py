"""Is there a data race or a memory error in any kernel? Runs all of them under Oclgrind.

    python tests/races/check.py [--quick] [--long] [--only PART] [--jobs N]

Every kernel of ``kernels/economy`` through small odd societies, every other workload in its small
configuration (tests/small.py), every function of ``kernels/primitives`` through small odd arrays;
all in the variants for CPUs and for GPUs and at odd workgroup sizes. The results are compared with
the reference, bit by bit. Parts run side by side, each in one of N processes (by default one a
core), as Oclgrind interprets kernels in one thread. Ends with 1 if anything is found or differs, or
if a kernel was never launched. See docs/checking-kernels.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
sys.path[:0] = [
    str(ROOT),
    str(TESTS),
    *(str(TESTS / one) for one in ("primitives", "kernels", "races")),
]
MEASURED = {"measures": True, "network": [1]}
os.environ["SOCIETIES_DEBUG"] = "race"  # before anything loads the OpenCL library
os.environ.setdefault("OCLGRIND_MAX_ERRORS", "1000000")  # mutants make many, and they are not read

import contracts  # noqa: E402
import numpy as np  # noqa: E402
import small  # noqa: E402
from engines import DeviceEngine, ReferenceEngine  # noqa: E402
from source_rules import kernel_names  # noqa: E402
from wide_rows import Wide  # noqa: E402

from reference_py.economy import tables  # noqa: E402
from reference_py.primitives import fixed, softmath, tree, wide  # noqa: E402
from reference_py.primitives.rng import Rng  # noqa: E402
from societies import config_from_dict  # noqa: E402
from societies.economy import curves_on_device, memory  # noqa: E402
from societies.economy.parameters import parameters  # noqa: E402
from societies.economy.schedule import DayStep, day_schedule  # noqa: E402
from societies.economy.series import columns  # noqa: E402
from societies.economy.workload import WORKLOAD as ECONOMY  # noqa: E402
from societies.errors import SocietiesError  # noqa: E402
from societies.kerneltext import source as kernel_source  # noqa: E402
from societies.kerneltext.source import without_comments  # noqa: E402
from societies.opencl import Local, Program, choose_device, fused, race  # noqa: E402
from societies.workload.declare import phases as declared  # noqa: E402
from societies.workload.declare.phases import kernel_files  # noqa: E402
from societies.workload.running import engines  # noqa: E402
from societies.workload.running.registry import workload  # noqa: E402

SERIES = columns(devices=False, groups=1)

KERNELS = ROOT / "kernels"
CASES = ROOT / "tests" / "primitives"
KINDS = ("cpu", "gpu")
WORKGROUPS = (1, 3, 5, 8, 31)

OF_KIND = {"cpu": (1, 8), "gpu": (3, 31)}
"""Sizes of workgroups that a workload is run with: alone, and smaller and larger than its arrays,
a power of two and not. Primitives are tried with all sizes in both variants."""

FEW = {"chess": {"cpu": (8,), "gpu": (3,)}, "havannah": {"cpu": (3,), "gpu": (3, 8)}}
"""Those of workloads where a case takes half a minute."""

TICKS = {"chess_match": 1, "connect6_match": 1, "havannah_match": 2, "molecular_dynamics": 1}
"""How many ticks of a workload are simulated, at one size of workgroup, where all take minutes.
The workload of a game runs the kernels of its matches in every variant."""

CRASHES = {("molecular_dynamics", "cpu")}
"""Variants that Oclgrind 21.10 cannot simulate: it ends with a segmentation fault where an atom's
neighbours are taken in vectors (lanes.cl)."""

QUICK_TICKS = {"schelling": 3, "sugarscape": 3, "zero_intelligence": 3}
"""Ticks of workloads with `--quick`: all of their kernels have been launched by then."""

QUICK_SETTINGS = {
    ("laplace", 3): {"steps": 12},
    ("molecular_dynamics", 2): {"cells": 4, "density": 0.1},
    ("schelling", 0): {"side": 11},
}
"""Smaller settings of forms that take long otherwise, for `--quick`."""

NOT_QUICK = {("molecular_dynamics", 1)}
"""Forms that `--quick` leaves out, however small: other forms launch all of their kernels."""

ONE_KIND = {
    ("tictactoe", 4): ("gpu",),
    **{("molecular_dynamics", form): ("gpu",) for form in (2, 3)},
    **{(name, 0): ("gpu",) for name in ("schelling", "sugarscape")},
    ("economy", "all devices"): ("cpu",),
    ("economy", "many agents, all devices"): ("gpu",),
}
"""Kinds of devices that cases which take long are tried with by `--quick`.

Further forms of other workloads take turns: their kernels are the same on both kinds.
"""

OTHER_KERNELS = ("chess", "tictactoe")
"""Workloads of which a form may launch other kernels on a CPU than on a GPU."""


def quick_kinds(name: str, case: int | str) -> tuple[str, ...]:
    """Return the kinds of devices that a form or an economy is tried with by `--quick`."""
    if isinstance(case, str) or case == 0 or name in OTHER_KERNELS:
        return ONE_KIND.get((name, case), KINDS)
    return ONE_KIND.get((name, case), (KINDS[case % 2],))


LONG = ("connect6", "connect6_match")
"""Workloads that are simulated with ``--long`` only: their table of classes, of a million entries,
takes minutes in every case. Each entry of it is one work-item's, without local memory and barriers;
the kernels of the search are those of chess."""

CLASSES = ("all_threats", "best_more", "build_classes")
"""Kernels that ``--long`` alone launches."""

NOT_UNDER_OCLGRIND: dict[str, str] = {}
"""Kernels that Oclgrind cannot run, with the reason. None: with ``-cl-opt-disable`` it runs all of
ours. (Optimised, 64-bit shifts become ``llvm.fshl``, which version 21.10 does not know.) A kernel
named here must be checked by `repeatable` instead."""

ENDLESS = 120.0
"""Seconds after which a kernel without one of its barriers is taken to run for ever."""

NEEDLESS = {
    "// the root, before its children take it": "the work-item that writes the root reads it",
    "// the last edges are read, before the next tile's": "launches have a workgroup for each tile",
    "// numbers of moves, before they are added up": "wide.cl reads each by who wrote it",
}
"""Barriers that can be left out, by their comment: no case can miss them."""

GROUPS = [
    {"name": "able", "share": 0.5, "extraction": {"max_effort": 7.0, "min_effort": 2.5}},
    {
        "name": "strong",
        "share": 0.5,
        "trade_power": 2.5,
        "utility": {"scale": 700.0, "exponent": 2.2},
        "consumption": {"resource_lifetime": 4.0},
    },
]
SHOCKS = [
    {"day": 0, "remove": "agent", "index": 1},
    {"day": 1, "remove": "resource", "index": 2, "holdings": "lose"},
    {"day": 2, "remove": "resource", "index": "random", "holdings": "keep"},
    {"day": 2, "remove": "agent", "index": "random"},
]
CHANGES = [
    {"day": 1, "set": {"trading.min_surplus": 0.0, "extraction.near_best_band": 1.0}},
    {"day": 2, "set": {"utility.exponent": 2.2}, "societies": [1]},
]
"""Values then come from tables with a row for each society."""
ALL_DEVICES = {
    "agents": 3,
    "resources": 5,
    "seed": 7,
    "devices": "all",
    "trading": {"menu_size": 1, "rounds": 1},
    "devices_market": {"rounds": 2},
    "device": {"resources_in_tool": 2, "components": 2},
    "invention": {"tool_probability": 0.05, "device_probability": 1.0},
}
# name: settings, days, workgroup sizes (the first one only with --quick)
SMALL_MENU = {"menu_size": 1, "rounds": 3}  # then one has what the other has not: trade
SOCIETIES: dict[str, tuple[dict[str, Any], int, tuple[int, ...]]] = {
    "no trade": (
        {"agents": 3, "resources": 5, "trade": False, "groups": GROUPS, "shocks": SHOCKS[:3]},
        3,
        (5, 1, 3, 8, 31),
    ),
    "3 agents, 5 resources": (
        {"agents": 3, "resources": 5, "trading": SMALL_MENU},
        3,
        (5, 1, 3, 8, 31),
    ),
    "2 agents, 3 resources, 3 societies": (
        {"agents": 2, "resources": 3, "replicates": 3},
        2,
        (3, 8),
    ),
    "2 agents, futures of a fan": (
        {"agents": 2, "resources": 3, "replicates": 4, "fan": {"day": 1, "futures": 2}},
        2,
        (3,),
    ),
    "1 agent": ({"agents": 1, "resources": 2}, 2, (3,)),
    "groups, unequal powers": (
        {"agents": 5, "resources": 7, "groups": GROUPS, "trading": SMALL_MENU},
        3,
        (3, 8),
    ),
    "values that change and differ": (
        {
            "agents": 3,
            "resources": 5,
            "trading": SMALL_MENU,
            "replicates": 2,
            "groups": [GROUPS[0] | {"share": 1.0}],
        }
        | {"interventions": CHANGES},
        3,
        (5, 8),
    ),
    "inverse price": (
        {
            "agents": 4,
            "resources": 5,
            "groups": GROUPS,
            "trading": {"price": "inverse_geometric", **SMALL_MENU},
        },
        3,
        (5,),
    ),
    "unit price": (
        {
            "agents": 4,
            "resources": 5,
            "trading": {"price": "unit", **SMALL_MENU},
            "record": MEASURED,
        },
        3,
        (3,),
    ),
    "shocks, fresh values": (
        {
            "agents": 5,
            "resources": 6,
            "seed": 7,
            "shocks": SHOCKS,
            "trading": {"fresh_values": True, **SMALL_MENU},
        },
        3,
        (5, 8),
    ),
    "near-best band": (
        {"agents": 3, "resources": 5, "extraction": {"near_best_band": 2.0}, "trade": False},
        2,
        (3, 8),
    ),
    "policies": (
        {
            "agents": 5,
            "resources": 6,
            "trading": SMALL_MENU,
            "groups": [
                {"name": "helped", "count": 2, "transfer_share": 0.2},
                {"name": "others", "count": 3},
            ],
            "policies": {
                "holdings_tax": {"rate": 0.1, "middle_from": 20, "middle_rate": 0.3},
                "income_tax": {"rate": 0.2},
                "sales_tax": {"rate": 0.5},
                "transfer": {"equal": 0.3, "poorest": 0.3, "least_extracting": 0.2},
                "quota_of": 1,
                "quota": 2,
                "price_of": 2,
                "price_floor": 0.6,
                "price_cap": 1.5,
            },
            "draws": {"synchronized": True},
            "endowment": {"units": 2},
            "record": MEASURED,
        },
        4,
        (8, 3),
    ),
    "tree selection": ({"agents": 2, "resources": 67, "trading": {"rounds": 2}}, 1, (31,)),
    "scores in global memory": (
        {"agents": 2, "resources": 26, "trading": {"menu_size": 16, "attempts": 20, "rounds": 1}},
        2,
        (8,),
    ),
    "rows in global memory": ({"agents": 2, "resources": 515, "trade": False}, 1, (31,)),
    "many agents": (
        {"agents": 6, "resources": 5, "trading": SMALL_MENU, "record": MEASURED},
        3,
        (8, 2),
    ),
    "many agents, all devices": (ALL_DEVICES | {"agents": 4, "seed": 10}, 5, (5,)),
    "all devices": (ALL_DEVICES, 6, (5,)),
    "all devices, measured": (ALL_DEVICES | {"agents": 2, "record": MEASURED}, 2, (3,)),
}
SIZES = (0, 1, 2, 5, 37, 70)
QUICK_SIZES = (1, 5, 37)


class Checks:
    """What was checked so far, and what was wrong with it."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.deals = 0.0

    @contextmanager
    def case(self, name: str) -> Iterator[None]:
        """Run one case; print a line with its time and number of findings."""
        start = time.monotonic()
        before = len(self.failures)
        try:
            with race.recording() as found:
                yield
        except SocietiesError as error:
            self.failures.append(f"{name}: {error}")
        self.failures += [f"{name}: {finding}" for finding in found]
        wrong = len(self.failures) - before
        said = f"{wrong} WRONG" if wrong else "clean"
        print(f"{time.monotonic() - start:6.1f} s  {said:9} {name}", flush=True)

    def same(self, what: str, found: Any, wanted: Any) -> None:
        """Note a result that is not the reference's, bit by bit."""
        a, b = np.asarray(found), np.asarray(wanted)
        if a.shape != b.shape or a.astype(b.dtype).tobytes() != b.astype(b.dtype).tobytes():
            if a.dtype.kind == "f" and np.array_equal(a, b, equal_nan=True):
                return  # bits of NaN and signs of zeros are the parity tests' business
            self.failures.append(f"{what}: {a.tolist()}, the reference says {b.tolist()}")


# ---------------------------------------------------------------- the economy


def one_society(checks: Checks, name: str, kinds: tuple[str, ...], *, quick: bool) -> None:
    """Run one society in the variants of some kinds of devices, at its workgroup sizes."""
    many = {"PAIRS_BEFORE_STEP": 0, "AGENTS_AT_ONCE": 0, "GROUPS_BEFORE_TOGETHER": 1}
    with ExitStack() as stack:
        if name.startswith("many agents"):  # in the forms of GPUs that have many
            stack.enter_context(mock.patch.multiple(memory, **many))
            stack.enter_context(mock.patch.object(declared, "GROUPS_A_UNIT", 0))
        compare_society(checks, name, kinds, quick=quick)


def compare_society(checks: Checks, name: str, kinds: tuple[str, ...], *, quick: bool) -> None:
    """Compare it with the reference, day by day."""
    settings, days, workgroups = SOCIETIES[name]
    asked = {"workload": "economy", "days": days, "seed": 10, **settings}
    p = ECONOMY.parameters(config_from_dict(asked))
    reference = ReferenceEngine(p)
    reference.start()
    series = reference.run_days(1, days)
    checks.deals += float(series[:, :, SERIES.index("deals")].sum())
    for kind in kinds:
        # on a CPU every workgroup has one work-item
        for workgroup in (1,) if kind == "cpu" else workgroups[:1] if quick else workgroups:
            title = f"economy, {kind}, {name}, workgroup {workgroup}"
            with checks.case(title), mock.patch.object(memory, "ITEMS_AT_ONCE", workgroup):
                engine = DeviceEngine(choose_device(kind), p, workgroup)
                engine.start()
                checks.same(title, engine.run_days(1, days), series)
                if engine.hash() != reference.hash():
                    checks.failures.append(f"{title}: another state than the reference")
        if kind == "cpu" and p.agents // 2 > 1:
            # Oclgrind runs workgroups in turn, so the first does a whole market of a CPU (crew.cl).
            # By single steps, meetings of a round are in workgroups of their own.
            with checks.case(f"economy, cpu, {name}, single steps"):
                engine = DeviceEngine(choose_device(kind), p, 1)
                engine.start()
                for day in range(1, days + 1):
                    for step in day_schedule(p, day):
                        engine.step(step, day)
                if engine.hash() != reference.hash():
                    checks.failures.append(f"{title}, single steps: another state")


def many_agents(checks: Checks) -> None:
    """Matching, where the agents do not fit local memory: this phase alone."""
    settings = {"agents": 4099, "resources": 2, "trading": {"rounds": 1}}
    p = parameters(config_from_dict({"workload": "economy", "days": 1, **settings}))
    name = "economy, matching of 4099 agents, workgroup 8"
    with checks.case(name):
        engine, reference = DeviceEngine(choose_device("gpu"), p, 8), ReferenceEngine(p)
        state = reference.state()
        state["stream"][:] = np.arange(1, state["stream"].size + 1).reshape(state["stream"].shape)
        for one in (engine, reference):
            one.load(state)
            one.step(DayStep("matching"), 1)
        checks.same(name, engine.state()["partners"], reference.state()["partners"])


# ---------------------------------------------------------------- the other workloads


def one_workload(
    checks: Checks,
    name: str,
    settings: dict[str, Any],
    kinds: tuple[str, ...],
    *,
    quick: bool,
    form: int = 0,
) -> None:
    """Run one configuration in the variants of some kinds of devices, at odd workgroup sizes.

    The forms of a workload after the first take turns: each has one of the sizes of a kind.
    """
    config, chosen = small.small(name, **settings), workload(name)
    p, numbers = chosen.parameters(config), {"first": chosen.first(config), "copies": 2}
    few = TICKS | QUICK_TICKS if quick else TICKS
    last = few.get(name, chosen.ticks(config))
    reference = engines.ReferenceEngine(chosen, p, **numbers)
    to_the_end(reference, last)
    expected = reference.state()
    shown = ", ".join([name, *(f"{key} {value}" for key, value in settings.items())])
    for kind in kinds:
        if (name, kind) in CRASHES:
            print(f"{shown}, {kind} is left out: Oclgrind crashes")
            continue
        sizes = FEW.get(name, OF_KIND)[kind]
        if quick or name in TICKS:
            sizes = WORKGROUPS[1:2]
        elif form:
            sizes = (sizes[form % len(sizes)],)
        for workgroup in sizes:
            title = f"{shown}, {kind}, workgroup {workgroup}"
            with checks.case(title):
                device = choose_device(kind)
                engine = engines.DeviceEngine(chosen, p, device, work_items=workgroup, **numbers)
                to_the_end(engine, last)
                found = engine.state()
                for array in reference.checkpointed_state():
                    checks.same(f"{title}, {array}", found[array], expected[array])


def to_the_end(engine: Any, last: int) -> None:
    """Run all ticks, or those until every copy has ended, and what follows them."""
    engine.start()
    for first in range(1, last + 1, engines.LOG_TICKS):
        engine.run_ticks(first, min(last, first + engines.LOG_TICKS - 1))
        if engine.ended() is not None:
            break
    engine.finish()


# ---------------------------------------------------------------- primitives


def collective(checks: Checks, *, kind: str, quick: bool) -> set[str]:
    """Run every collective function as a careless caller may; return the files they are in."""
    by_file: dict[str, list[contracts.Function]] = {}
    for function in contracts.functions(KERNELS / "primitives", on_cpu=kind == "cpu"):
        by_file.setdefault(function.file, []).append(function)
    for file, members in by_file.items():
        with tempfile.TemporaryDirectory(prefix="societies-races-") as folder:
            path = Path(folder) / f"contracts_{file}"
            path.write_text(contracts.program_text(members, f"primitives/{file}"))
            program = Program(choose_device(kind), path)
        for function in members:
            with checks.case(f"{file}, {kind}, {function.name}"):
                for n in QUICK_SIZES if quick else SIZES:
                    contract(checks, program, function, n)
    return set(by_file)


def contract(
    checks: Checks,
    program: Program,
    function: contracts.Function,
    n: int,
    workgroups: tuple[int, ...] = WORKGROUPS,
) -> None:
    """Compare one function with its twin, and every workgroup size with the first."""
    first: Mapping[str, Any] | None = None
    wanted = contracts.expected(function, n)
    for workgroup in workgroups:
        results = contracts.launch(program, function, n, workgroup)
        what = f"{function.name}, n = {n}, workgroup {workgroup}"
        if "result" in results:
            if len({value.tobytes() for value in results["result"]}) > 1:
                checks.failures.append(f"{what}: work-items got different results")
            results["result"] = results["result"][0]
        first = first or results
        for name, value in results.items():
            checks.same(f"{what}, {name}, against another workgroup", value, first[name])
        for name, value in vars(wanted).items() if wanted else ():
            if name in results:
                checks.same(f"{what}, {name}", results[name], value)


def mutants(names: list[str]) -> int:
    """Take out every barrier of some files in turn; return how many were not missed.

    This checks the check: a barrier that can be left out unseen is not needed, or not tested.
    """
    left = 0
    paths = sorted(KERNELS.rglob("*.cl"))
    unknown = sorted(set(names) - {path.name for path in paths})
    if unknown:
        sys.exit(f"--mutants: no kernel file is called {', '.join(unknown)}; give 'scan.cl', say")
    with tempfile.TemporaryDirectory(prefix="societies-races-") as folder:
        for path in paths:
            if not names or path.name in names:
                left += mutants_of(path, Path(folder))
    return left


def mutants_of(path: Path, folder: Path) -> int:
    """Take out every barrier of one file in turn."""
    text = path.read_text()
    barriers = list(re.finditer(r"\b(?:group_)?barrier\([\w |]*\)", without_comments(text)))
    left = 0
    for number, barrier in enumerate(barriers):
        mutant = folder / f"mutant_{number}_{path.name}"
        gap = " " * (barrier.end() - barrier.start())
        mutant.write_text(text[: barrier.start()] + gap + text[barrier.end() :])
        if is_found(mutant, path):
            continue
        line = text.count("\n", 0, barrier.start()) + 1
        row = text.splitlines()[line - 1]
        reason = next((NEEDLESS[says] for says in NEEDLESS if says in row), None)
        left += reason is None
        said = f"as expected: {reason}" if reason else row.strip()
        print(f"{path.name}:{line}: not missed: {said}")
    print(f"{path.name}: {len(barriers) - left} of {len(barriers)} accounted for", flush=True)
    return left


def is_found(mutant: Path, path: Path) -> bool:
    """Return whether a case fails or never ends with a changed file, in a process of its own."""
    case = in_primitive if path.parent.name == "primitives" else in_workload

    def tried() -> None:
        os.environ["OCLGRIND_LOG"] = str(mutant.with_suffix(".log"))
        found = case(mutant, path)
        os._exit(int(found))

    process = multiprocessing.get_context("fork").Process(target=tried)
    process.start()
    process.join(ENDLESS)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode != 0


def in_workload(mutant: Path, path: Path) -> bool:
    """Return whether any case fails with a changed file of a workload."""
    place = path.relative_to(KERNELS)
    tree = mutant.with_suffix(".kernels")  # all kernels: the others include the changed file
    shutil.copytree(KERNELS, tree, dirs_exist_ok=True)
    shutil.copy(mutant, tree / place)
    with mock.patch.object(kernel_source, "data_directory", lambda _: tree):
        for kind in reversed(KINDS):
            for case in cases_of(place.parent.as_posix()):
                checks = Checks()
                case(checks, kinds=(kind,), quick=True)
                if checks.failures:
                    return True
    return False


def cases_of(folder: str) -> Iterator[Any]:
    """Yield the cases of the workloads whose kernels are in a folder of kernels/."""
    if folder == "economy":
        for society in SOCIETIES:
            yield partial(one_society, name=society)
        return
    if folder == "translate":  # work-items of a society of this model sort together
        yield partial(one_workload, name="boltzmann", settings={})
        return
    for name in small.names():
        chosen = workload(name)
        for settings in small.forms(name):
            p = chosen.parameters(small.small(name, **settings))
            if any(file.startswith(f"{folder}/") for file in kernel_files(chosen.phases(p, 1))):
                yield partial(one_workload, name=name, settings=settings)


def in_primitive(mutant: Path, path: Path) -> bool:
    """Return whether any case fails with a changed file of kernels/primitives."""
    name = path.name
    driver = mutant.with_name(f"contracts_{mutant.name}")
    if name == "varray.cl":
        lists_driver = mutant.with_name(f"lists_{mutant.name}")
        lists_driver.write_text(f'#include "{mutant}"\n#include "{CASES}/varray_cases.cl"\n')
        program = Program(choose_device("gpu"), lists_driver)
        with race.recording() as found:
            chosen = choices(program, 5)
        if found or chosen != CHOSEN:
            return True
    for kind in reversed(KINDS):
        declared = contracts.functions(KERNELS / "primitives", on_cpu=kind == "cpu")
        members = [function for function in declared if function.file == name]
        driver.write_text(contracts.program_text(members, mutant))
        program = Program(choose_device(kind), driver)
        for function in members:
            checks = Checks()
            for n in (5, 37, 70):
                with race.recording() as found:
                    contract(checks, program, function, n, (3, 8))
                if found or checks.failures:
                    return True
    return False


def single(checks: Checks) -> set[str]:
    """Run what one work-item does alone: bounds and uninitialised values; the twin's bits."""
    device = choose_device("cpu")
    with checks.case("softmath.cl"):
        program = Program(device, "primitives/softmath.cl")
        x = np.array([0.0, 5e-324, 0.3, 1.0, 2.5, 700.0, 1e308, np.inf, -1.0, np.nan])
        for name in ("soft_log", "soft_exp"):
            twin = [getattr(softmath, name)(v) for v in x.tolist()]
            checks.same(name, program.function(name)(x), twin)
        y = np.repeat([-2.0, 0.0, 0.5, 3.0, np.inf], len(x))
        both = np.tile(x, 5)
        twin = [softmath.soft_pow(a, b) for a, b in zip(both.tolist(), y.tolist(), strict=True)]
        checks.same("soft_pow", program.function("soft_pow")(both, y), twin)
    with checks.case("tree.cl, index functions"):
        program = Program(device, "primitives/tree.cl")
        i = np.arange(1, 9, dtype=np.uint32)
        for k in (1, 2, 3):
            same_k = np.full(8, k, np.uint32)
            for name, method in (
                ("tree_parent", tree.parent),
                ("tree_level", tree.level),
                ("tree_nodes", tree.nodes),
                ("tree_level_start", tree.level_start),
            ):
                twin = [method(k, int(node)) for node in i]
                checks.same(f"{name}({k})", program.function(name)(same_k, i), twin)
            for j in range(k):
                children = program.function("tree_child")(same_k, i, np.full(8, j, np.uint32))
                checks.same(f"tree_child({k})", children, [tree.child(k, int(n), j) for n in i])
        depth = program.function("tree_depth")(np.full(8, 2, np.uint32), i)
        checks.same("tree_depth", depth, [tree.depth(2, int(n)) for n in i])
    with checks.case("rng.cl"):
        program = Program(device, CASES / "rng_cases.cl")
        for n, threshold in ((5, 1 << 31), (40, 0x55555555), (300, 3), (7, 1 << 32)):
            successes = device.empty(5, np.uint32)
            program.binomials(
                base=n, n=n, threshold=threshold, cases=5, successes=successes,
                global_size=5, local_size=3,
            )  # fmt: skip
            twin = [Rng.seed(n, 1 << 32, i).binomial(n, threshold) for i in range(5)]
            checks.same(f"rng_binomial({n}, {threshold})", successes.get(), twin)
        for n in (1, 6, 3000000000):
            values = device.empty(5, np.uint32)
            program.integers_below(base=1, n=n, cases=5, values=values, global_size=5, local_size=5)
            twin = [Rng.seed(1, 1 << 32, i).below(n) for i in range(5)]
            checks.same(f"rng_below({n})", values.get(), twin)
    with checks.case("num.cl"):
        a, b = np.array([1.0, 2.0, 0.1], np.float32), np.array([3.0, 7.0, 0.7], np.float32)
        for detour in (True, False):
            macros = {"CONSTANT": 0.1, "DEVICE_ROUNDS_SINGLES": not detour}
            program = Program(device, CASES / "num_cases.cl", macros)
            sizes = {"n": 3, "global_size": 4, "local_size": 2}
            result = device.empty(3, np.float32)
            arrays = {"a": device.array(a), "b": device.array(b), "result": result}
            program.quotients(**arrays, **sizes)
            checks.same("NUM_DIV", result.get(), a / b)
            del arrays["b"]
            program.roots(**arrays, **sizes)
            checks.same("NUM_SQRT", result.get(), np.sqrt(a))
    with checks.case("fused.cl"):
        program = Program(device, "primitives/fused.cl", {"FUSED_PROBE": True, fused.MACRO: False})
        rows = [row[:64] for row in fused.triples(np.float32)]
        given = {name: device.array(row) for name, row in zip("abc", rows, strict=True)}
        different = device.empty(4, np.uint32)
        program.probe_muladd(**given, different=different, global_size=4, local_size=2)
        checks.same("probe_muladd", different.get(), np.zeros(4, np.uint32))
    with checks.case("curve_tables.cl"):
        keys = [(600.0, 2.5, 100.0), (50.0, 7.3, 0.5)]
        curves_on_device.LEAST_ENTRIES = 1
        for key, made in zip(keys, curves_on_device.made_on(device, keys, [70, 9]), strict=True):
            assert made is not None
            twin = tables.utility_curve(*key, 69)
            checks.same("marginal_utility", made[0][:9], twin.marginal[:9])
            checks.same("total_utility_tables", made[1][:9], twin.total[1:10])
    return {"softmath.cl", "rng.cl", "tree.cl", "num.cl", "fused.cl"}


def whole_numbers(checks: Checks) -> set[str]:
    """Turn reals into whole numbers of 2^-36 and back, in the forms for both kinds of devices."""
    x = np.array([0.0, -0.5, 1.5 * 2.0**-36, 2.5 * 2.0**-36, -40000.25, 1e6, 2e6, np.nan])
    good = fixed.fits(x)
    for kind in KINDS:
        with checks.case(f"fixed.cl, {kind}"):
            device = choose_device(kind)
            program = Program(device, CASES / "fixed_cases.cl", {"NUM_IS_DOUBLE": True})
            whole, fits = device.empty(len(x), np.int64), device.empty(len(x), np.uint8)
            sizes = {"n": len(x), "global_size": 9, "local_size": 3}
            program.to_fixed(x=device.array(x), whole=whole, fits=fits, **sizes)
            checks.same("fixed_fits", fits.get(), good)
            checks.same("fixed_of", whole.get()[good], fixed.fixed_of(x[good]))
            back = device.empty(len(x), np.float64)
            program.from_fixed(whole=whole, x=back, **sizes)
            checks.same("fixed_value", back.get(), fixed.fixed_value(whole.get(), np.float64))
    return {"fixed.cl"}


def lists(checks: Checks) -> set[str]:
    """Append to lists, in every order of the entries."""
    for order in (None, 1, 2, 3):
        macros = {} if order is None else {"VARRAY_TEST_ORDER": order}
        with checks.case(f"varray.cl, order {order}"):
            device = choose_device("gpu")
            program = Program(device, CASES / "varray_cases.cl", macros=macros)
            for workgroup in WORKGROUPS:
                chosen = choices(program, workgroup)
                checks.same(f"varray.cl, order {order}, workgroup {workgroup}", chosen, CHOSEN)
    return {"varray.cl"}


def wide_arrays(checks: Checks) -> set[str]:
    """Run the kernels of wide.cl over rows of several blocks, some shorter than others."""
    values = np.arange(3 * 4500, dtype=np.uint32).reshape(3, -1)
    lengths = [4500, 2049, 0]
    alive: list[Any] = []  # Oclgrind may take an array in the place of a freed one for freed
    for kind, items in (("cpu", 1), ("gpu", 3), ("gpu", 8)):
        with checks.case(f"wide.cl, {kind}, workgroup {items}"):
            device = choose_device(kind)
            chosen, n = Wide(device, items), device.array(np.array(lengths, np.uint32))

            def made(dtype: Any, device: Any = device) -> list[Any]:
                scratch = np.uint32 if dtype == np.uint8 else dtype
                given = device.array((values % 251).astype(dtype))
                alive.extend([given, device.empty(3, scratch), device.empty((3, 3), scratch)])
                return alive[-3:]

            for name, dtype in (
                ("scan_exclusive", np.uint32),
                ("reduce_sum", np.float64),
                ("reduce_sum_long", np.int64),
                ("reduce_max_uint", np.uint32),
            ):
                x, result, scratch = made(dtype)
                getattr(chosen, name)(x, result, scratch, n)
                twin = getattr(wide, name)((values % 251).astype(dtype).tolist(), lengths)
                checks.same(name, result.get(), twin[1] if name == "scan_exclusive" else twin)
            flags, counts, scratch = made(np.uint8)
            out = device.empty(values.shape, np.uint32)
            chosen.compact(flags, out, counts, scratch, n)
            twin = wide.compact((values % 251).tolist(), lengths)
            checks.same("compact", counts.get(), [len(row) for row in twin])
            for row, expected in zip(out.get(), twin, strict=True):
                checks.same("compact", row[: len(expected)], expected)
    return {"wide.cl"}


FLAGS = (np.random.default_rng(3).random((3, 12)) < 0.5).astype(np.uint8)
CHOSEN = [
    [i for i in range(12) if row[i]][Rng(g + 1, 7).below(int(row.sum()))]
    for g, row in enumerate(FLAGS)
]


def choices(program: Program, workgroup: int) -> list[int]:
    """Return what the three workgroups of varray_cases.cl choose."""
    device = program.device
    chosen = device.empty((3, workgroup), np.uint32)
    program.choices(
        flags=device.array(FLAGS),
        sizes=device.array(np.full(3, 12, np.uint32)),
        stride=12,
        capacity=12,
        states=device.array(np.array([g + 1 | 7 << 32 for g in range(3)], np.uint64)),
        chosen=chosen,
        items=device.empty((3, 12), np.uint32),
        facts=device.empty((3, 2), np.uint32),
        list=Local(np.uint32, 12),
        global_size=3 * workgroup,
        local_size=workgroup,
    ).wait()
    return [int(row[0]) for row in chosen.get()]


def repeatable(run: Any, times: int = 5) -> bool:
    """Return whether a launch gives the same bytes every time: for what Oclgrind cannot run.

    ``run(workgroup)`` returns bytes.
    """
    return len({run(workgroup) for workgroup in WORKGROUPS for _ in range(times)}) == 1


# ---------------------------------------------------------------- what was not checked


def shipped_kernels() -> set[str]:
    """Return the names of all kernels of kernels/."""
    return kernel_names(without_comments(path.read_text()) for path in KERNELS.rglob("*.cl"))


def uncovered(files: set[str], launched: set[str]) -> list[str]:
    """Return what nothing was run of: kernels, and files of primitives (group.cl: only names)."""
    missed = shipped_kernels() - launched - set(NOT_UNDER_OCLGRIND) - set(CLASSES)
    unseen = {path.name for path in (KERNELS / "primitives").glob("*.cl")} - files - {"group.cl"}
    return [
        *(f"kernel {name} was never launched" for name in sorted(missed)),
        *(f"primitives/{name} has no race case" for name in sorted(unseen)),
    ]


# ---------------------------------------------------------------- all of it

Part = Callable[[Checks], set[str] | None]
"""Some cases; what is returned are the files of kernels/primitives that they cover."""


def parts(*, only: str | None, quick: bool, long: bool) -> list[Part]:
    """Return all that is to be run, what takes longest first."""
    chosen: list[Part] = []
    if only in (None, "others"):
        for name in small.names():
            if name in LONG and not long:
                print(f"{name} is left out: it takes minutes; --long simulates it")
            elif name != "economy":
                for form, settings in enumerate(small.forms(name)):
                    if quick and (name, form) in NOT_QUICK:
                        continue
                    kinds = quick_kinds(name, form) if quick else KINDS
                    less = QUICK_SETTINGS.get((name, form), {}) if quick else {}
                    given = {"settings": settings | less, "form": form, "kinds": kinds}
                    given["quick"] = quick
                    chosen.append(partial(one_workload, name=name, **given))
        chosen.sort(key=lambda part: part.keywords["name"] not in TICKS)  # type: ignore[attr-defined]
    if only in (None, "economy"):
        chosen += [
            partial(
                one_society,
                name=name,
                kinds=quick_kinds("economy", name) if quick else KINDS,
                quick=quick,
            )
            for name in reversed(SOCIETIES)
        ]
        if not quick:
            chosen.append(many_agents)
    if only in (None, "primitives"):
        chosen += [partial(collective, kind=kind, quick=quick) for kind in KINDS]
        chosen += [single, whole_numbers, lists, wide_arrays]
    return chosen


def in_a_process(part: Part, folder: Path, number: int) -> None:
    """Run a part in this process, with a log of its own, and keep in a file what it found."""
    os.environ["OCLGRIND_LOG"] = str(folder / f"{number}.log")
    checks = Checks()
    files = part(checks) or set()
    if not checks.failures:
        checks.failures += [f"outside all cases: {finding}" for finding in race.findings()]
    (folder / str(number)).write_bytes(pickle.dumps((checks, files, set(race.launched()))))


def run_parts(chosen: list[Part], jobs: int) -> tuple[Checks, set[str], set[str]]:
    """Run parts, each in a process; return what was wrong, the files covered, kernels launched.

    A process for each: Oclgrind may take an array in the place of a freed one for uninitialised.
    """
    checks, files, launched = Checks(), {"real.cl"}, set()  # real.cl has no functions
    fork = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory(prefix="societies-races-") as name:
        folder, waiting = Path(name), list(enumerate(chosen))
        running: dict[Any, tuple[int, Part, BaseProcess]] = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                number, part = waiting.pop(0)
                process = fork.Process(target=in_a_process, args=(part, folder, number))
                process.start()
                running[process.sentinel] = number, part, process
            for ended in wait(list(running)):
                number, part, process = running.pop(ended)
                process.join()
                if process.exitcode:
                    checks.failures.append(f"{part}: ended with code {process.exitcode}")
                    continue
                found, read, kernels = pickle.loads((folder / str(number)).read_bytes())
                checks.failures += found.failures
                checks.deals += found.deals
                files |= read
                launched |= kernels
    return checks, files, launched


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes, ticks and forms")
    parser.add_argument("--long", action="store_true", help=f"{' and '.join(LONG)} as well")
    parser.add_argument(
        "--only", choices=("economy", "others", "primitives"), help="one part, no coverage"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--mutants",
        nargs="*",
        metavar="FILE",
        help="instead: take out every barrier of these files (default: all) in turn, and tell "
        "which ones the check does not miss; minutes",
    )
    options = parser.parse_args()
    if options.mutants is not None:
        return 1 if mutants(options.mutants) else 0
    if race.runtime() is None:
        print(race.NOT_INSTALLED, file=sys.stderr)
        return SocietiesError.exit_code
    start = time.monotonic()
    chosen = parts(only=options.only, quick=options.quick, long=options.long)
    checks, files, launched = run_parts(chosen, options.jobs)
    if options.only in (None, "economy") and not checks.deals:
        checks.failures.append("economy: no agent traded, so half of trading.cl was not run")
    if options.only is None:
        checks.failures += uncovered(files, launched)
    print(f"\nkernels of kernels/ launched: {', '.join(sorted(shipped_kernels() & launched))}")
    for failure in checks.failures:
        print(failure, file=sys.stderr)
    wrong = f"{len(checks.failures)} failures" if checks.failures else "nothing found"
    print(f"{wrong} in {time.monotonic() - start:.0f} s")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
