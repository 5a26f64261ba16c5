"""Do `const`, `restrict` and `reqd_work_group_size` on the economy's kernels save time?

    python benchmarks/qualifiers.py [--device auto] [--societies 1 64] [--append FILE]

The kernels are built as they are and with qualifiers added to the planned text, in which macros are
expanded: `const` on every pointer to global memory through which no function writes, `restrict` on
every pointer of a kernel to global memory and on the same pointers where functions pass them on
(what the macros of the state and the tables would do), and `reqd_work_group_size` of the size that
each kernel is launched with. One engine advances to the day before the first timed one; all
variants continue from its state, and take turns at each day, so that whatever else the machine does
meets all of them. The script stops if two variants end in different states.

Each row gives the seconds to build (with the first launches, because PoCL compiles then; a text
that an earlier row built is cached), the median seconds of a day, on a CPU also of processor time
over all threads, and the median and quartiles over the days of a variant's time divided by that of
the kernels as they are on the same day. On a CPU this is processor time, because other programs may
use the machine.
"""

import argparse
import csv
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

CACHES = tempfile.TemporaryDirectory(prefix="qualifiers-")
os.environ |= {"POCL_CACHE_DIR": CACHES.name, "SOCIETIES_CACHE_DIR": CACHES.name}
os.environ["CUDA_CACHE_PATH"] = CACHES.name

from appending import append  # noqa: E402

import societies  # noqa: E402 (the caches are chosen before anything is imported)
from societies.economy.parameters import parameters  # noqa: E402
from societies.economy.phases import phases  # noqa: E402
from societies.economy.workload import WORKLOAD  # noqa: E402
from societies.localmem.clang import Kind, TranslationUnit, is_pointer  # noqa: E402
from societies.localmem.preprocess import preprocess  # noqa: E402
from societies.opencl import program as programs  # noqa: E402
from societies.workload.running.engines import LOG_TICKS, DeviceEngine  # noqa: E402

ROOT = Path(__file__).parents[1]
FIELDS = (
    "device",
    "scenario",
    "societies",
    "work_items",
    "days",
    "variant",
    "build_seconds",
    "day_seconds",
    "day_processor_seconds",
    "ratio",
    "ratio_low",
    "ratio_high",
)
VARIANTS = {
    "as they are": frozenset(),
    "const": frozenset({"const"}),
    "restrict": frozenset({"restrict"}),
    "const restrict": frozenset({"const", "restrict"}),
    "reqd_work_group_size": frozenset({"size"}),
    "all three": frozenset({"const", "restrict", "size"}),
}
GLOBAL_SPACE = 1  # of clang_getAddressSpace


def qualified(source, qualifiers, work_items):
    """Return a planned source with qualifiers added; `work_items`: those of a group, by kernel."""
    unit = TranslationUnit(preprocess(source, {}))
    functions = [f for f in unit.functions.values() if f.definition is not None]
    of_kernels = {p.name for f in functions if f.is_kernel for p in global_pointers(f)}
    written = written_parameters(unit, functions)
    edits = []
    for function in functions:
        for position, parameter in enumerate(function.parameters):
            if not is_global(parameter):
                continue
            star = parameter.start + unit.data[parameter.start : parameter.end].index(b"*")
            is_const = b"const" in unit.data[parameter.start : star]
            if "const" in qualifiers and not is_const and (function.usr, position) not in written:
                edits.append((parameter.start, b"const "))
            if "restrict" in qualifiers and parameter.name in of_kernels:
                edits.append((star + 1, b"restrict "))
        if "size" in qualifiers and function.is_kernel:
            size = work_items[function.name]
            attribute = f"__attribute__((reqd_work_group_size({size}, 1, 1))) "
            edits.append((function.start, attribute.encode()))
    data = unit.data
    for place, text in sorted(edits, reverse=True):
        data = data[:place] + text + data[place:]
    result = source.copy()
    result.text = data.decode()
    return result


def is_global(parameter):
    kind = parameter.type
    return is_pointer(kind) and kind.get_pointee().get_address_space() == GLOBAL_SPACE


def global_pointers(function):
    return [parameter for parameter in function.parameters if is_global(parameter)]


def written_parameters(unit, functions):
    """Return (function, position) of the parameters through which something may be written.

    A built-in function is taken to write through every pointer that it is given.
    """
    written = set()
    while True:
        before = len(written)
        for function in functions:
            position_of = {p.variable: i for i, p in enumerate(function.parameters)}
            aliases = {variable: {variable} for variable in position_of}
            for node in function.body.walk():
                if node.kind is Kind.VAR_DECL and is_pointer(node.type):
                    aliases[node.variable] = named(node, aliases)
            for target in targets(function, unit, written):
                for variable in named(target, aliases) & position_of.keys():
                    written.add((function.usr, position_of[variable]))
        if len(written) == before:
            return written


def targets(function, unit, written):
    """Yield the expressions whose pointers a function's body writes through."""
    for node in function.body.walk():
        children = node.children
        if (
            node.kind is Kind.COMPOUND_ASSIGNMENT_OPERATOR
            or (node.kind is Kind.BINARY_OPERATOR and node.between(*children) == "=")
            or (node.kind is Kind.UNARY_OPERATOR and ("++" in node.text or "--" in node.text))
        ):
            yield children[0]
        elif node.kind is Kind.CALL_EXPR:
            called = unit.function(node)
            for position, argument in enumerate(children[1:]):  # the first is the function
                if not is_pointer(argument.type):
                    continue
                if called is None or (called.usr, position) in written:
                    yield argument


def named(node, aliases):
    """Return the parameters to which an expression may lead, through pointers made of them."""
    found = set()
    for part in node.walk():
        if part.kind is Kind.DECL_REF_EXPR:
            found |= aliases.get(part.variable, set())
    return found


def work_items_of_a_group(device, p):
    return WORKLOAD.work_items(p, p.societies, device)


def variant_engine(device, p, qualifiers):
    """Return an engine whose kernels have the qualifiers, and the seconds that building took."""
    lanes = work_items_of_a_group(device, p)
    launches = [
        (name, one) for name, phase in phases(p, p.societies).items() for one in phase.launches
    ]
    work_items = {
        launch.kernel or name: 1 if launch.alone_on_cpu and device.kind == "cpu" else lanes
        for name, launch in launches
    }
    compiled = programs.compile_program

    def compile_qualified(device, source, options):
        nonlocal began
        text = qualified(source, qualifiers, work_items) if qualifiers else source
        began = time.perf_counter()  # neither the planning nor the change of the text counts
        return compiled(device, text, options)

    began = time.perf_counter()
    with mock.patch.object(programs, "compile_program", compile_qualified):
        engine = DeviceEngine(WORKLOAD, p, device, first=p.first_society, copies=p.societies)
    engine.start()
    engine.run_ticks(1, 1)
    return engine, time.perf_counter() - began


def timed_day(engine, day):
    engine.device.finish()
    began, busy = time.perf_counter(), time.process_time()
    engine.run_ticks(day, day)
    engine.logs()
    return time.perf_counter() - began, time.process_time() - busy


def measure(scenario, count, first, days, device):
    """Yield a row for each variant."""
    config = societies.load_config(
        ROOT / "configs" / "economy" / f"{scenario}.yaml",
        [f"replicates={count}", f"days={first + days}"],
    )
    p = parameters(config)
    engines, builds = {}, {}
    for variant, qualifiers in VARIANTS.items():
        engines[variant], builds[variant] = variant_engine(device, p, qualifiers)
    leader = engines["as they are"]
    for day in range(2, first, LOG_TICKS):
        leader.run_ticks(day, min(day + LOG_TICKS, first) - 1)
    state = leader.state()
    for engine in engines.values():
        engine.load(state)
    times = {variant: [] for variant in VARIANTS}
    names = list(VARIANTS)
    for day in range(first, first + days):
        for variant in names:
            times[variant].append(timed_day(engines[variant], day))
        names.append(names.pop(0))  # another goes first on the next day
    hashes = {variant: engine.hash() for variant, engine in engines.items()}
    different = [variant for variant in VARIANTS if hashes[variant] != hashes["as they are"]]
    if different:
        sys.exit(f"{scenario}, {count} societies: other results with {', '.join(different)}")
    which = 1 if device.kind == "cpu" else 0
    for variant in VARIANTS:
        pairs = zip(times[variant], times["as they are"], strict=True)
        ratios = [mine[which] / plain[which] for mine, plain in pairs]
        low, middle, high = statistics.quantiles(ratios, n=4)
        yield {
            "device": device.name,
            "scenario": scenario,
            "societies": count,
            "work_items": work_items_of_a_group(device, p),
            "days": f"{first}-{first + days - 1}",
            "variant": variant,
            "build_seconds": f"{builds[variant]:.1f}",
            "day_seconds": f"{statistics.median(t for t, _ in times[variant]):.5f}",
            "day_processor_seconds": f"{statistics.median(t for _, t in times[variant]):.5f}",
            "ratio": f"{middle:.3f}",
            "ratio_low": f"{low:.3f}",
            "ratio_high": f"{high:.3f}",
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--societies", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--scenarios", nargs="+", default=["trade", "devices"])
    parser.add_argument("--first", type=int, default=101, help="first day that is timed")
    parser.add_argument("--days", type=int, default=24, help="days that are timed")
    parser.add_argument("--append", type=Path)
    options = parser.parse_args()
    device = societies.choose_device(options.device, profiling=False)
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    for scenario in options.scenarios:
        for count in options.societies:
            rows = list(measure(scenario, count, options.first, options.days, device))
            writer.writerows(rows)
            sys.stdout.flush()
            if options.append:
                append(options.append, FIELDS, rows)


if __name__ == "__main__":
    main()
