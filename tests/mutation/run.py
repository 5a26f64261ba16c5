"""Do the model's tests notice mistakes in the model? Plants them one at a time and runs the tests.

    python tests/mutation/run.py                  all of it, some 20 minutes on one core
    python tests/mutation/run.py trading --list   only names, of one file
    python tests/mutation/run.py --again          only what survived the last time

Fails if a mutant survives that survivors.yaml does not explain, or if that explains one which is
killed or is none.

Why this and no tool: cosmic-ray starts pytest anew for every mutant, two seconds each; mutmut runs
fast, but leaves tables on the level of the module and decorated functions alone, and no statement
out. Here pytest collects once; every mutant is a fork in which the code of one function is another,
and runs the tests that reach its statement, first those that killed its neighbours, then the short
ones, until one fails. One process, no OpenCL: tests of the reference only.
"""

import argparse
import gc
import inspect
import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a fork of several threads could hang

import pytest
import yaml
from _pytest.runner import runtestprotocol
from planting import MODEL, ROOT, instrumented, mutants

SURVIVORS = Path(__file__).parent / "survivors.yaml"
FOLDER = Path(tempfile.gettempdir()) / "societies-mutants"
RULES = (
    *("start_and_end_of_day", "working", "bartering", "device_market", "device_payment"),
    *("making", "valuing", "inventing", "statistics_rules", "curves"),
)
TRADING_RULES = (
    "test_equal_powers_settle_at_the_geometric_mean_whatever_their_size",
    "test_the_inverse_rule_is_the_price_upside_down",
    "test_an_offer_is_on_the_ladder_and_the_best_before_its_end",
    "test_of_equal_offers_the_smallest_is_made",
)
USES = (
    "test_units_are_those_of_the_exact_loop",
    "test_whole_numbers_of_units_are_whole",
    "test_a_use_takes_few_steps",
)
TESTS = [
    *(f"tests/reference/test_{name}.py" for name in RULES),
    *(f"tests/invariants/test_trading_rules.py::{name}" for name in TRADING_RULES),
    *(f"tests/reference/test_device_benefit.py::{name}" for name in USES),
    "tests/statistics/test_gini_hhi.py::test_gini_at_its_ends",
]
"""The quick tests of the reference, rule by rule. Recorded vectors and whole runs notice many of
the same mistakes, seconds later. Parity and golden hashes would notice nearly all, and say nothing
about which rule is wrong."""

SPARED = "listener", "parameters", "schedule", "state", "tables"
"""Modules in which no mistakes are planted. All but the last have no rule of their own: whole days
notice. Tables of curves are kept from the run without mistakes, so none would be noticed."""

ALIVE = "survived", "not reached"

PATIENCE = 1.5, 5.0
"""A test counts as hung, that is failed, after so many seconds and times its usual seconds."""


class Planting:
    """Runs instead of pytest's own loop: all tests once for coverage, then every mutant."""

    def __init__(self, chosen, budget, report):
        self.mutants, self.budget, self.report = chosen, budget, report
        self.reached = defaultdict(set)  # (module, statement): node ids of tests
        self.seconds = {}  # node id: processor time
        self.killers = defaultdict(Counter)  # (module, function), module: node ids of tests

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        if not self.cover(session.items):
            return True
        gc.collect()
        gc.freeze()
        for mutant in self.mutants:
            began, verdict, by = time.monotonic(), "survived", None
            chosen = self.choose(mutant)
            if not chosen:
                verdict = "not reached"
            else:
                verdict, by = self.try_out(mutant, [items[name] for name in chosen])
            if by is not None:
                self.killers[mutant.module, mutant.function][by] += 1
                self.killers[mutant.module][by] += 1
            self.report(mutant, verdict, by, time.monotonic() - began)
        return True

    def cover(self, items):
        """Run every test once and note which statements it reaches; False if one fails."""
        hits = set()
        sources = planted()
        restore = [_swap(path.stem, instrumented(path), None) for path in sources]
        for path in sources:
            module = sys.modules.get(_module(path.stem))
            if module is not None:
                module._covered = lambda line, stem=path.stem: hits.add((stem, line))
        # What the first test sets up for all of its file belongs to each that shares it.
        shared, set_up = defaultdict(set), defaultdict(float)
        for item, following in zip(items, [*items[1:], None], strict=True):
            hits.clear()
            began = time.process_time()
            reports = runtestprotocol(item, log=False, nextitem=following)
            took = time.process_time() - began
            if any(one.failed for one in reports):
                print(f"fails without any mistake planted: {item.nodeid}")
                print(*(one.longreprtext for one in reports if one.failed), sep="\n")
                return False
            if _shares(item) and reports[0].duration > 0.3:
                shared[item.path] |= hits
                set_up[item.path], took = took, 0.0
            if _shares(item):
                hits |= shared[item.path]
                took += set_up[item.path]
            self.seconds[item.nodeid] = took
            for place in hits:
                self.reached[place].add(item.nodeid)
        for undo in restore:
            undo()
        return True

    def choose(self, mutant):
        """Return the tests that reach a mutant, those first that are likely to notice it soon."""
        if mutant.function:
            reach = self.reached[mutant.module, mutant.statement]
        else:  # a table, which whoever reaches the module may use
            places = [place for place in self.reached if place[0] == mutant.module]
            reach = set().union(*(self.reached[place] for place in places))
        killers, seconds = self.killers[mutant.module, mutant.function], self.seconds
        nearby = self.killers[mutant.module]
        order = sorted(
            reach, key=lambda n: (-(killers[n] + 0.1 * nearby[n]) / (0.02 + seconds[n]), seconds[n])
        )
        total, chosen = 0.0, []
        for nodeid in order:
            total += seconds[nodeid]
            if chosen and total > self.budget:
                total -= seconds[nodeid]
                continue
            chosen.append(nodeid)
        return chosen

    def try_out(self, mutant, items):
        """Return the verdict on a mutant and the test that killed it."""
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os.close(read)
            self.be_mutant(mutant, items, write)
        os.close(write)
        with os.fdopen(read) as pipe:
            reported = pipe.read().splitlines()
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return "survived", None
        by = reported[-1] if reported else None
        return ("killed" if os.WIFEXITED(status) else "hung"), by

    def be_mutant(self, mutant, items, pipe):
        """Run tests with the mistake until one fails; never returns."""
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            _swap(mutant.module, mutant.code, mutant.function)
            code = 0
            for item, following in zip(items, [*items[1:], None], strict=True):
                os.write(pipe, f"{item.nodeid}\n".encode())
                allowed = PATIENCE[0] + PATIENCE[1] * self.seconds[item.nodeid]
                signal.setitimer(signal.ITIMER_PROF, allowed)
                if any(one.failed for one in runtestprotocol(item, log=False, nextitem=following)):
                    code = 1
                    break
        except BaseException:
            code = 1
        finally:
            os._exit(code)


def _shares(item):
    """Return whether a test uses a fixture of its module."""
    return any(
        definition.scope == "module"
        for definitions in item._fixtureinfo.name2fixturedefs.values()
        for definition in definitions
    )


def planted():
    """Return the files in which mistakes are planted."""
    return [path for path in sorted(MODEL.glob("*.py")) if path.stem not in SPARED]


def _module(stem):
    return "reference_py.economy" + ("" if stem == "__init__" else f".{stem}")


def _swap(stem, code, only):
    """Give the functions of an imported module (or ``only`` one) other code; return the undoing.

    On the level of the module, what is not a function is replaced wherever it was imported.
    """
    module = sys.modules.get(_module(stem))
    if module is None:
        return lambda: None
    if only == "":
        fresh = {"__name__": module.__name__, "__file__": module.__file__}
        exec(code, fresh)
        for name, value in list(vars(module).items()):
            new = fresh.get(name)
            if name.startswith("__") or inspect.isfunction(value) or inspect.ismodule(value):
                continue
            if inspect.isclass(value) or inspect.isbuiltin(value):
                continue
            for other in list(sys.modules.values()):
                if vars(other).get(name) is value and _uses(other, module):
                    setattr(other, name, new)
        return lambda: None
    undo = []
    for name, new in _codes(code).items():
        if only is None or name == only:
            function = module
            for part in name.split("."):
                function = inspect.unwrap(getattr(function, part))
            undo.append((function, function.__code__))
            function.__code__ = new
    assert undo or only is None, (stem, only)

    def restore():
        for function, old in undo:
            function.__code__ = old

    return restore


def _uses(other, module):
    return getattr(other, "__name__", "").startswith(("reference_py", "test_", "recorded"))


def _codes(code, inside=""):
    """Return the code objects of functions on the level of a module and of its classes, by name."""
    result = {}
    for constant in code.co_consts:
        if not inspect.iscode(constant) or constant.co_name.startswith("<"):
            continue
        name = f"{inside}{constant.co_name}"
        if constant.co_flags & inspect.CO_OPTIMIZED:
            result[name] = constant
        else:  # the body of a class
            result |= _codes(constant, f"{name}.")
    return result


def explained():
    """Return the names of the survivors that are explained, with the reason."""
    table = yaml.safe_load(SURVIVORS.read_text()) if SURVIVORS.exists() else {}
    return {
        (module, one["function"], one["before"], one["after"], one.get("nth", 0)): one["reason"]
        for module, listed in (table.get("survivors") or {}).items()
        for one in listed
    }


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("modules", nargs="*", help="files of reference_py/economy, without .py")
    parser.add_argument("--list", action="store_true", help="names only")
    parser.add_argument("--again", action="store_true", help="only survivors of earlier runs")
    parser.add_argument("--rest", action="store_true", help="only what earlier runs did not try")
    parser.add_argument("--unexplained", action="store_true", help="only what is not listed")
    parser.add_argument("--summary", action="store_true", help="only count what earlier runs found")
    parser.add_argument("--function", default="", help="only mutants of this function")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds of tests for a mutant")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="instead of the quick ones")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="what is kept between runs")
    return parser.parse_args()


def reported(chosen, verdicts, reasons, *, all_of_it):
    """Print the verdicts on the chosen mutants; return whether there is anything to be done."""
    found = {mutant.name: verdicts.get(mutant.name, "not run") for mutant in chosen}
    count = Counter(found.values())
    alive = {name for name, verdict in found.items() if verdict in ALIVE}
    print(f"{len(chosen)} mutants:", ", ".join(f"{n} {what}" for what, n in count.most_common()))
    print(f"of those alive {len(alive & set(reasons))} are explained")
    wrong = {
        "survives without a reason": alive - set(reasons),
        "explained, but killed": {n for n in reasons if n in found and n not in alive},
        "explained, but no mutant": {n for n in reasons if all_of_it and n not in found},
    }
    for what, names in wrong.items():
        for name in sorted(names):
            print(f"{what}:", *name)
    return any(wrong.values()) or bool(count["not run"])


def main():
    options = parsed()
    options.folder.mkdir(parents=True, exist_ok=True)
    kept = options.folder / "verdicts.jsonl"
    sources = planted()
    if options.modules:
        sources = [path for path in sources if path.stem in options.modules]
    chosen = [mutant for path in sources for mutant in mutants(path)]
    if options.function:
        chosen = [mutant for mutant in chosen if mutant.function == options.function]
    past = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    verdicts = {tuple(one["name"]): one["verdict"] for one in past}
    reasons, all_of_it = explained(), not (options.modules or options.function)
    if options.summary:
        return int(reported(chosen, verdicts, reasons, all_of_it=all_of_it))
    if options.again or options.rest:
        wanted = (*(ALIVE if options.again else ()), *(["not run"] if options.rest else ()))
        chosen = [m for m in chosen if verdicts.get(m.name, "not run") in wanted]
    if options.unexplained:
        chosen = [mutant for mutant in chosen if mutant.name not in reasons]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.module}.py:{mutant.line} {mutant.before}  ->  {mutant.after}")
        return 0
    verdicts.clear()

    def report(mutant, verdict, by, seconds):
        verdicts[mutant.name] = verdict
        one = {"name": mutant.name, "verdict": verdict, "by": by, "seconds": round(seconds, 2)}
        with kept.open("a") as log:
            print(json.dumps(one), file=log)
        if verdict in ALIVE and mutant.name not in reasons:
            place = f"{mutant.module}.py:{mutant.line}"
            text = f"{place} {verdict}: {mutant.before}  ->  {mutant.after}"
            print(text, file=sys.__stderr__, flush=True)

    os.chdir(ROOT)
    plugin = Planting(chosen, options.budget, report)
    pytest.main(["-q", "-n0", "-p", "no:cacheprovider", *options.tests], plugins=[plugin])
    all_of_it = all_of_it and not (options.again or options.rest)
    return int(reported(chosen, verdicts, reasons, all_of_it=all_of_it))


if __name__ == "__main__":
    sys.exit(main())
