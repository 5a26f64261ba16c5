"""Do the tests notice mistakes in the model and in what device and reference share?

    python tests/mutation/run.py                          all of it: some hours of processor time
    python tests/mutation/run.py trading --list           only names, of one file
    python tests/mutation/run.py societies/sweep --processes 8
    python tests/mutation/run.py --sample 300 --seed 1    as many, drawn at random
    python tests/mutation/run.py --again                  only what survived the last time
    python tests/mutation/run.py --rest                   only what earlier runs did not try
    python tests/mutation/run.py --summary                what is known, and what is alive
    python tests/mutation/run.py --summary --write        the same; the committed list and table
    python tests/mutation/run.py analysis/pairs:225 --by-name   a statement, without finding out
                                                                first which tests reach it
    python tests/mutation/run.py --from FILE --by-name    those that a file names, as --list does
    python tests/mutation/run.py explain/life:98 --devices --tests tests/cli/test_life.py
                                                        with tests that open devices, one after
                                                        the other: some ten seconds for each mutant

Plants mistakes one at a time and runs quick tests until one fails. Fails if a mutant survives that
survivors.yaml does not explain, or if that explains one which is killed or is none. Earlier runs
are those of the committed list (`listed`) and, newer, those that `--folder` keeps.

Why this and no tool: cosmic-ray starts pytest again for every mutant, two seconds each; mutmut runs
fast, but leaves tables on the level of the module and decorated functions alone, and no statement
out. Here pytest collects once; every mutant is a fork in which the code of one function is another,
and runs the tests that reach its statement, first those that killed its neighbours, then the short
ones, until one fails. A mistake in what is executed when a module is imported is a fork from
before that, which imports and collects again, seconds each. In which modules, and with which tests:
`mutated`; what of a module changes no result: `planting`.
"""

import argparse
import gc
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from functools import lru_cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a fork of several threads could hang
os.environ["OMP_NUM_THREADS"] = "1"

import pytest
import yaml
from _pytest.runner import runtestprotocol
from covering import (
    ALL_IMPORTED,
    QUIET,
    alone,
    covered,
    find_functions,
    forget,
    in_processes,
    swap,
)
from listed import NOT_RUN, listed, write
from mutated import OF_ALL, TESTS, is_named, on_a_device, planted
from naming import by_name
from planting import ROOT, file_of, mutants, plain, planted_code

SURVIVORS = Path(__file__).parent / "survivors.yaml"
TABLE = Path(__file__).parent / "verdicts.csv"
FOLDER = Path(tempfile.gettempdir()) / "societies-mutants"

NAMED = re.compile(r"(?:[a-z ,]+: )?([^: ]+)(?::(\d*))?(?: (.*  ->  .*))?")
"""How reports name a mutant: after what they say of it, its module, line, function and change."""

ALIVE = "survived", "not reached"
OTHER_VARIABLES = 77
"""Exit status of a mutant whose function needs other variables of what is around it."""
NO_VERDICT = "to be imported"
PATIENCE = 1.5, 5.0
"""A test counts as hung, that is failed, after a number of seconds and times its usual seconds."""
HUNG, WALL = 60.0, 180.0
"""The same for seconds of processor and of the clock of a mutant that is imported and collected."""

WARM = 3
"""Number of short tests of each file that are run before the first mistake is planted."""

LIBRARIES = (
    *("numpy", "scipy.stats", "scipy.special", "scipy.signal", "pandas", "xarray", "h5py"),
    *("h5netcdf", "pydantic", "typer", "rich", "PIL.Image", "networkx", "statsmodels.api"),
    *("SALib.sample.morris", "SALib.sample.sobol", "SALib.analyze.sobol", "SALib.analyze.morris"),
    *("sklearn.gaussian_process", "matplotlib.pyplot", "pyopencl", "pcpp", "clang.cindex"),
    *("jsonschema", "pyarrow.parquet", "distributed"),
)
"""Imported before anything is forked, those that are installed."""


class Campaign:
    """Which tests are run on which mutant, and what was found."""

    def __init__(self, chosen, coverage, options, verdicts):
        self.mutants, self.options, self.verdicts = chosen, options, verdicts
        self.seconds, self.near = coverage["seconds"], {}
        self.reached, self.of_module = {}, defaultdict(set)
        for module, line, names in coverage["reached"]:
            self.reached[module, line] = names
            self.of_module[module].update(names)
        if options.by_name:
            self.near = by_name({one.module for one in chosen}, self.seconds)
            self.of_module.update({module: set(near) for module, near in self.near.items()})
        self.killers = defaultdict(Counter)  # (module, function), module: node ids of tests
        self.read = 0

    def learn(self):
        """Read which tests killed what, in other processes too, since this was called last."""
        with self.verdicts.open("rb") as log:
            log.seek(self.read)
            text = log.read()
        whole = text[: text.rfind(b"\n") + 1]
        self.read += len(whole)
        for line in whole.splitlines():
            row = json.loads(line)
            if row["by"] is not None:
                module, function = row["name"][:2]
                self.killers[module, function][row["by"]] += 1
                self.killers[module][row["by"]] += 1

    def choose(self, mutant):
        """Return the tests that reach a mutant, those first that are likely to notice it soon."""
        near = self.near.get(mutant.module, {})
        reach = near or self.reached.get((mutant.module, mutant.line), ())
        if mutant.at_import:
            reach = self.of_module[mutant.module]
            if not reach:  # of a module without functions
                reach = [name for name in self.seconds if name.startswith("tests/config/")]
            reach = {*reach, *(name for name in self.seconds if name in OF_ALL)}
        killers, seconds = self.killers[mutant.module, mutant.function], self.seconds
        nearby = self.killers[mutant.module]
        first = OF_ALL if mutant.at_import else ()
        order = sorted(
            reach,
            key=lambda n: (
                n not in first,
                -(killers[n] + 0.1 * nearby[n]) / (0.02 + seconds[n]),
                -near.get(n, 0.0),
                seconds[n],
            ),
        )
        total, chosen = 0.0, []
        for name in order:
            total += seconds[name]
            if chosen and total > self.options.budget:
                total -= seconds[name]
                continue
            chosen.append(name)
        return chosen

    def drop(self, name):
        """Try a test no longer."""
        self.seconds.pop(name, None)
        for names in (*self.of_module.values(), *self.near.values(), *self.reached.values()):
            if isinstance(names, dict):
                names.pop(name, None)
            elif name in names:
                names.remove(name)

    def carry_out(self, chosen, attempt):
        """Try mutants out, several at a time."""
        in_processes(self.options.processes, len(chosen), lambda i: self.one(chosen[i], attempt))

    def one(self, mutant, attempt):
        """Try a mutant out and note the verdict."""
        began, verdict, by, cpu = time.monotonic(), "not reached", None, 0.0
        self.learn()
        names = self.options.tests if self.options.devices else self.choose(mutant)
        if names:
            verdict, by, cpu = _attempted(lambda pipe: attempt(mutant, names, pipe))
        seconds = round(time.monotonic() - began, 2)
        row = {"name": mutant.name, "verdict": verdict, "by": by, "seconds": seconds}
        with self.verdicts.open("ab", buffering=0) as log:
            log.write((json.dumps({**row, "cpu": round(cpu, 2)}) + "\n").encode())

    def swapped(self, session):
        """Try out the mutants of functions, whose code is replaced where it is imported."""
        items = {item.nodeid: item for item in session.items}

        def attempt(mutant, names, pipe):
            if not swap(file_of(mutant.module), _code(mutant)):
                return OTHER_VARIABLES
            chosen = [items[name] for name in names]
            for item, following in zip(chosen, [*chosen, None][1:], strict=True):
                self.begin(item.nodeid, pipe)
                item.repr_failure = str  # a traceback, which is not shown, takes a second
                if any(one.failed for one in runtestprotocol(item, log=False, nextitem=following)):
                    return 1
            return 0

        self.carry_out([one for one in self.mutants if not one.at_import], attempt)

    def imported(self, mutant, names, pipe):
        """Try out a mutant of what is executed when its module is imported."""
        path, code, original = str(file_of(mutant.module)), _code(mutant), SourceFileLoader.get_code

        def get_code(self, fullname):
            return code if self.path == path else original(self, fullname)

        for name in [name for name in sys.modules if _ours(name)]:
            del sys.modules[name]
        SourceFileLoader.get_code = get_code
        signal.setitimer(signal.ITIMER_PROF, HUNG)
        campaign = self

        class Plugin:
            def pytest_runtest_logstart(self, nodeid, location):
                campaign.begin(nodeid, pipe)

            def pytest_runtest_logfinish(self, nodeid, location):
                signal.setitimer(signal.ITIMER_PROF, HUNG)

            def pytest_collection_finish(self, session):
                if not campaign.options.devices:
                    alone()

        of_these = (*QUIET, "-m", self.options.marks, *ALL_IMPORTED, "-x", *names)
        return int(pytest.main([*of_these], plugins=[Plugin()]) != 0)

    def begin(self, name, pipe):
        """Note which test is run, and allow it its time."""
        os.write(pipe, f"{name}\n".encode())
        allowed = PATIENCE[0] + PATIENCE[1] * self.seconds.get(name, HUNG)
        signal.setitimer(signal.ITIMER_PROF, allowed)


def _ours(name):
    return name.partition(".")[0] in (
        "societies",
        "reference_py",
        "conftest",
        "small",
        "marks",
        "tallies",
    )


@lru_cache(maxsize=8)
def _code(mutant):
    return planted_code(mutant)


def _attempted(attempt):
    """Return the verdict on a mutant, the test that killed it and the processor time."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            for one in (signal.SIGPROF, signal.SIGALRM):
                signal.signal(one, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, WALL)
            code = attempt(write)
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as pipe:
        reported = pipe.read().splitlines()
    _, status, usage = os.wait4(child, 0)
    cpu = usage.ru_utime + usage.ru_stime
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        return "survived", None, cpu
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == OTHER_VARIABLES:
        return NO_VERDICT, None, cpu
    by = reported[-1] if reported else None
    return ("killed" if os.WIFEXITED(status) else "hung"), by, cpu


class Planting:
    """Runs instead of pytest's own loop: the mutants of functions."""

    def __init__(self, campaign):
        self.campaign = campaign

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        alone()
        # What a first call imports and compiles is loaded in every fork if a test did it before.
        seconds, of_file = self.campaign.seconds, Counter()
        short = []
        for item in sorted(session.items, key=lambda one: seconds.get(one.nodeid, 9)):
            of_file[item.path] += 1
            if of_file[item.path] <= WARM and seconds.get(item.nodeid, 9) < 1:
                short.append(item)
        short.sort(key=session.items.index)
        for item, following in zip(short, [*short, None][1:], strict=False):
            if any(one.failed for one in runtestprotocol(item, log=False, nextitem=following)):
                print("fails without any mistake planted", item.nodeid)
                self.campaign.drop(item.nodeid)
        forget()
        gc.collect()
        gc.freeze()
        self.campaign.swapped(session)
        return True


# --------------------------------------------------------------------------------------- report


def explained():
    """Return the names of the survivors that are explained, with the reason.

    Those of whole statements, or functions, are returned by module, function and statement (or
    None): such an entry has no ``before`` and ``after``, and says why what survives in it may.
    """
    table = yaml.safe_load(SURVIVORS.read_text())
    single, whole = {}, {}
    for module, rows in table["survivors"].items():
        for one in rows:
            if "before" in one:
                name = module, one["function"], one["before"], one["after"], one.get("nth", 0)
                single[name] = one["reason"]
            else:
                whole[module, one["function"], one.get("statement")] = one["reason"]
    return single, whole


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("modules", nargs="*", help="files, folders, last parts of files, FILE:LINE")
    parser.add_argument("--from", dest="source", type=Path, help="file that names mutants")
    parser.add_argument("--by-name", action="store_true", help="tests that mention the module")
    parser.add_argument("--devices", action="store_true", help="tests may open devices")
    parser.add_argument("--list", action="store_true", help="names only")
    parser.add_argument("--again", action="store_true", help="only survivors of earlier runs")
    parser.add_argument("--rest", action="store_true", help="only what earlier runs did not try")
    parser.add_argument("--unexplained", action="store_true", help="only what is not listed")
    parser.add_argument("--summary", action="store_true", help="only count what earlier runs found")
    parser.add_argument("--write", action="store_true", help="write the committed list and table")
    parser.add_argument("--function", default="", help="only mutants of this function")
    parser.add_argument("--sample", type=int, default=0, help="number of mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--processes", type=int, default=1, help="mutants at a time")
    parser.add_argument("--budget", type=float, default=8.0, help="seconds of tests for a mutant")
    parser.add_argument("--longest", type=float, default=10.0, help="seconds of the longest test")
    parser.add_argument("--tests", nargs="*", default=list(TESTS), help="instead of the quick ones")
    parser.add_argument("--marks", default="", help="of tests that are tried, default: all")
    parser.add_argument(
        "--folder",
        type=Path,
        default=FOLDER,
        help="folder of verdicts and of what is cached between runs",
    )
    return parser.parse_args()


def chosen_of(asked):
    """Return the mutants of modules, statements or mutants that are named as reports name them."""
    single, lines = defaultdict(set), defaultdict(set)
    for one in asked:
        module, line, text = NAMED.fullmatch(one).groups()
        if text:
            single[module].add(plain(text))
        elif line:
            lines[module].add(int(line))
    modules = [NAMED.fullmatch(one)[1] for one in asked]
    whole = {NAMED.fullmatch(one)[1] for one in asked if not any(NAMED.fullmatch(one).groups()[1:])}
    chosen = []
    for path in planted([*dict.fromkeys(modules)]):
        named = {module for module in dict.fromkeys(modules) if is_named(path, module)}
        texts = set().union(*(single[module] for module in named))
        places = set().union(*(lines[module] for module in named))
        chosen += [
            one
            for one in mutants(path)
            if not on_a_device(one.module, one.function)
            and (not named or named & whole or one.line in places or _text(one.name) in texts)
        ]
    return chosen


def _text(name):
    return f"{name[1]}: {name[2]}  ->  {name[3]}"


def known(chosen, verdicts):
    """Return, by name, the newest row of each mutant that was tried: of the list or a later run."""
    rows = [*listed(chosen), *map(json.loads, verdicts.read_text().splitlines())]
    return {
        tuple(plain(part) if isinstance(part, str) else part for part in one["name"]): one
        for one in rows
        if one["verdict"] != NO_VERDICT
    }


def reported(chosen, verdicts, *, all_of_it, table=None):
    """Print the verdicts on the chosen mutants; return whether there is anything to be done."""
    reasons, whole = explained()
    found = {
        mutant.name: verdicts[mutant.name]["verdict"] if mutant.name in verdicts else NOT_RUN
        for mutant in chosen
    }
    lines = {mutant.name: mutant.line for mutant in chosen}
    alive = {name for name, verdict in found.items() if verdict in ALIVE}
    singly, used = set(reasons), set()
    for one in chosen:
        for key in _places(one):
            if key in whole and found[one.name] in (*ALIVE, NOT_RUN):
                used.add(key)
                if one.name in alive:
                    reasons[one.name] = whole[key]
    by_module = defaultdict(Counter)
    for name, verdict in found.items():
        by_module[name[0]][verdict] += 1
        by_module[name[0]]["explained"] += verdict in ALIVE and name in reasons
    for module, count in by_module.items():
        print(f"{module}: {count.total() - count['explained']} mutants, {_counted(count)}")
    if table:
        columns = ("killed", "hung", "survived", "not reached", NOT_RUN, "explained")
        rows = [("module", "mutants", *columns)]
        for module, count in by_module.items():
            planted = count.total() - count["explained"]
            rows.append((module, str(planted), *(str(count[one]) for one in columns)))
        table.write_text("".join(f"{','.join(row)}\n" for row in rows))
    cpu = sum(verdicts[name].get("cpu", 0.0) for name in found if name in verdicts)
    print(
        f"{len(found)} mutants: {_counted(Counter(found.values()))}; {cpu:.0f} s of processor time"
    )
    print(f"of those alive {len(alive & set(reasons))} are explained")
    wrong = {
        "survives without a reason": alive - set(reasons),
        "explained, but killed": {n for n in singly if found.get(n) in ("killed", "hung")},
        "explained, but no mutant": {n for n in singly if all_of_it and n not in found},
        "explained, but nothing survives": {
            (*key[:2], str(key[2]), "") for key in whole if all_of_it and key not in used
        },
    }
    for what, names in wrong.items():
        for name in sorted(names, key=lambda one: (one[0], lines.get(one, 0), one)):
            print(f"{what}: {name[0]}:{lines.get(name, '')} {_text(name)}")
    return any(wrong.values()) or NOT_RUN in found.values()


def _places(mutant):
    """Return by what an entry of `survivors.yaml` for more than one mutant names this one."""
    return [(mutant.module, mutant.function, place) for place in (mutant.statement, None)]


def _counted(count):
    return ", ".join(f"{n} {what}" for what, n in count.most_common() if n)


def main():
    options = parsed()
    options.folder.mkdir(parents=True, exist_ok=True)
    verdicts = options.folder / "verdicts.jsonl"
    os.chdir(ROOT)
    os.environ.setdefault("SOCIETIES_CACHE_DIR", str(options.folder / "builds"))
    verdicts.touch()
    asked = [*options.modules]
    if options.source:
        asked += [line for line in options.source.read_text().splitlines() if line]
    chosen = chosen_of(asked)
    if options.function:
        chosen = [mutant for mutant in chosen if mutant.function == options.function]
    if options.sample:
        some = random.Random(options.seed).sample(
            range(len(chosen)), min(options.sample, len(chosen))
        )
        chosen = [chosen[i] for i in sorted(some)]
    all_of_it = not (asked or options.function or options.sample)
    if options.summary:
        return finish(chosen, verdicts, options, all_of_it=all_of_it)
    tried = chosen
    if options.again or options.rest:
        wanted = (*(ALIVE if options.again else ()), *([NOT_RUN] if options.rest else ()))
        past = {name: row["verdict"] for name, row in known(chosen, verdicts).items()}
        tried = [one for one in tried if past.get(one.name, NOT_RUN) in wanted]
    if options.unexplained:
        single, whole = explained()
        with_reason = {*single, *whole}
        tried = [one for one in tried if not with_reason & {one.name, *_places(one)}]
    if options.list:
        for mutant in tried:
            print(f"{mutant.module}:{mutant.line} {_text(mutant.name)}")
        return 0
    for name in LIBRARIES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import_module(name)
        except ImportError:
            print(f"without {name}")
    of_all = asked and options.tests == list(TESTS)  # what is covered serves others too
    every = planted(["reference_py", "societies"] if of_all else [])
    how = options.folder, options.longest, options.processes, options.marks
    coverage = {"seconds": {}, "reached": []}
    if not options.devices:
        coverage = covered(every, options.tests, *how, statements=not options.by_name)
    campaign = Campaign(tried, coverage, options, verdicts)
    if not options.devices and any(not one.at_import for one in tried):
        if os.fork() == 0:
            find_functions({file_of(one.module) for one in tried})
            tests = sorted({name for one in tried for name in campaign.choose(one)})
            files = [*dict.fromkeys(name.partition("::")[0] for name in tests)]
            of_these = (*QUIET, "-m", options.marks, *ALL_IMPORTED, *files)
            pytest.main([*of_these], plugins=[Planting(campaign)])
            os._exit(0)
        os.wait()
    tried_now = [json.loads(line) for line in verdicts.read_text().splitlines()]
    newest = {tuple(one["name"]): one["verdict"] for one in tried_now}
    rest = [
        one
        for one in tried
        if options.devices or one.at_import or newest.get(one.name) == NO_VERDICT
    ]
    campaign.carry_out(rest, campaign.imported)
    return finish(chosen, verdicts, options, all_of_it=all_of_it)


def finish(chosen, verdicts, options, *, all_of_it):
    """Report, and write the committed list and table of all mutants if that is asked for."""
    if options.write:
        every = chosen_of([])
        newest = {name: row["verdict"] for name, row in known(every, verdicts).items()}
        write(every, newest)
        chosen, all_of_it = every, True
    table = TABLE if options.write else None
    return int(reported(chosen, known(chosen, verdicts), all_of_it=all_of_it, table=table))


if __name__ == "__main__":
    sys.exit(main())
