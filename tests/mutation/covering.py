"""Which tests reach which statements, without a mistake? And how is one put where it is imported?

Every file of tests is run once, in a process of its own, in which modules note the statements that
they execute. Left out are tests that open a device or start a process, fail, are skipped or take
long. What is found is cached until a test or a source changes.
"""

import gc
import hashlib
import json
import multiprocessing.process
import os
import signal
import struct
import subprocess
import sys
import time
from collections import Counter, defaultdict
from functools import _lru_cache_wrapper as CachedFunction
from importlib import import_module
from types import FunctionType

import pytest
from _pytest.runner import runtestprotocol
from mutated import ROOMS
from planting import ROOT, instrumented, label

QUIET = ("-q", "-n0", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "--tb=no")
ALL_IMPORTED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")

PATIENCE = {True: (60.0, 240.0), False: (15.0, 90.0)}
"""Seconds of the clock after which a test is left out, and what else is in a file: where statements
are noted, and where they are not."""


class Needs(BaseException):
    """Raised where a test opens a device or starts a process of Python."""


def alone():
    """Let nothing of this process open a device or start a process that would have no mistake."""
    import pyopencl

    from societies.opencl.device import Device

    def refuse(*_, **__):
        Needs.asked = True
        raise Needs

    def popen(self, args, *rest, **named):
        if "python" in str(args) or sys.executable in str(args):
            refuse()
        start(self, args, *rest, **named)

    start, subprocess.Popen.__init__ = subprocess.Popen.__init__, popen
    Device.context = property(refuse)
    pyopencl.get_platforms = refuse  # loading a driver among all that is imported here may crash
    multiprocessing.process.BaseProcess.start = refuse
    Needs.asked = False


class Covering:
    """Runs instead of pytest's own loop: every test once, noting which statements it reaches."""

    def __init__(self, sources, longest):
        self.sources, self.longest = sources, longest
        self.found = {"seconds": {}, "reached": [], "left_out": {}}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        hits, reached = set(), defaultdict(list)
        of_a_test, of_a_file = PATIENCE[bool(self.sources)]
        alone()
        for path in self.sources:
            name = label(path)
            swap(path, instrumented(path))
            module = module_of(path)
            module._covered = lambda line, name=name: hits.add((name, line))
        # What the first test sets up for all of its file belongs to each that shares it.
        shared, set_up, needy = defaultdict(set), defaultdict(float), set()
        began_all = time.monotonic()
        signal.signal(signal.SIGALRM, _too_long)
        for item, following in zip(session.items, [*session.items, None][1:], strict=True):
            hits.clear()
            forget()
            Needs.asked = False
            if time.monotonic() - began_all > of_a_file:
                self.found["left_out"][item.nodeid] = "comes late in a file that takes long"
                continue
            began = time.process_time()
            signal.setitimer(signal.ITIMER_REAL, of_a_test)
            try:
                reports = runtestprotocol(item, log=False, nextitem=following)
            except BaseException as error:
                reports = []
                Needs.asked = Needs.asked or isinstance(error, Needs)
            signal.setitimer(signal.ITIMER_REAL, 0)
            took = time.process_time() - began
            if _shares(item) and reports and reports[0].duration > 0.3:
                shared[item.path] |= hits
                set_up[item.path], took = took, 0.0
            if _shares(item):
                hits |= shared[item.path]
                took += set_up[item.path]
                needy |= {item.path} if Needs.asked else set()
            why = ""
            if Needs.asked or (_shares(item) and item.path in needy):
                why = "needs a device or a process"
            elif any(one.failed for one in reports) or not reports:
                why = "fails without any mistake planted"
                print(why, item.nodeid, *(one.longreprtext[-900:] for one in reports if one.failed))
            elif any(one.skipped for one in reports):
                why = "is skipped"
            elif took > self.longest:
                why = f"takes long: {took:.1f} s"
            if why:
                self.found["left_out"][item.nodeid] = why
                continue
            self.found["seconds"][item.nodeid] = took
            for place in hits:
                reached[place].append(item.nodeid)
        self.found["reached"] = [[*place, names] for place, names in sorted(reached.items())]
        return True


def _too_long(*_):
    raise TimeoutError


def _shares(item):
    """Return whether a test uses a fixture of its module."""
    return any(
        definition.scope in ("module", "session") and "/" in definition.baseid
        for definitions in item._fixtureinfo.name2fixturedefs.values()
        for definition in definitions
    )


def module_of(path):
    """Return the imported module of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def swap(path, code, only=None):
    """Give the functions of an imported module, or ``only`` one, the code of another compilation.

    Return whether every one has it: not where the code needs other variables of what is around.
    """
    new, file = {}, str(path)
    _gather(code, new)
    whole = True
    for key, functions in FUNCTIONS.get(file, {}).items():
        if key in new and (only is None or key[0] == only):
            for function in functions:
                whole &= function.__code__.co_freevars == new[key].co_freevars
                if function.__code__.co_freevars == new[key].co_freevars:
                    function.__code__ = new[key]
    forget()
    return whole


FUNCTIONS: dict[str, dict[tuple[str, int], list[FunctionType]]] = {}
"""Functions that exist, by file, and by qualified name and first line."""

CACHED: list = []
"""Functions of the modules in which mistakes are planted that remember what they returned."""


def forget():
    """Let cached functions compute again what they returned before, that is without a mistake."""
    for one in CACHED:
        one.cache_clear()


def find_functions(sources):
    """Import all modules and note their functions, however they are decorated."""
    for path in sources:
        module_of(path)
    files, rooms = {str(path) for path in sources}, tuple(f"{ROOT / room}/" for room in ROOMS)
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            code = one.__code__
            of = FUNCTIONS.setdefault(code.co_filename, {})
            of.setdefault((code.co_qualname, code.co_firstlineno), []).append(one)
        elif isinstance(one, CachedFunction) and _file(one).startswith(rooms):
            CACHED.append(one)


def _file(function):
    return getattr(getattr(function.__wrapped__, "__code__", None), "co_filename", "")


def _gather(code, found):
    for constant in code.co_consts:
        if hasattr(constant, "co_qualname"):
            found[constant.co_qualname, constant.co_firstlineno] = constant
            _gather(constant, found)


def covered(sources, tests, folder, longest, processes, marks, *, statements=True):
    """Return what every test reaches, from the folder if neither its file nor a source changed.

    Without ``statements`` only how long each takes is found out, which is quicker.
    """
    found = {"seconds": {}, "left_out": {}, "reached": defaultdict(list)}
    shared = hashlib.sha256(str((longest, marks, statements)).encode())
    for path in sources:
        shared.update(path.read_bytes())
    parts = {}
    for name in dict.fromkeys(one for test in tests for one in _each(test)):
        digest = shared.copy()
        digest.update(name.encode() + (ROOT / name.partition("::")[0]).read_bytes())
        parts[name] = folder / f"coverage-{digest.hexdigest()[:16]}.json"
    noted = sources if statements else []
    new = [name for name, part in parts.items() if not part.exists()]
    in_processes(
        processes, len(new), lambda i: _cover(noted, new[i], parts[new[i]], longest, marks)
    )
    for name, part in parts.items():
        if not part.exists():
            found["left_out"][name] = f"its process ended without any mistake planted: {name}"
            print(found["left_out"][name], flush=True)
            continue
        own = json.loads(part.read_text())
        found["seconds"] |= own["seconds"]
        found["left_out"] |= own["left_out"]
        for module, line, names in own["reached"]:
            found["reached"][module, line] += names
    found["reached"] = [[*place, names] for place, names in found["reached"].items()]
    for why, count in Counter(why.split(":")[0] for why in found["left_out"].values()).items():
        print(f"{count} tests are left out: {why}", flush=True)
    return found


def _cover(sources, test, part, longest, marks):
    """Write what each test of a file reaches; in a process of its own."""
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        find_functions(sources)
        plugin = Covering(sources, longest)
        pytest.main([*QUIET, "-m", marks, *ALL_IMPORTED, test], plugins=[plugin])
        part.write_text(json.dumps(plugin.found))
        os._exit(0)
    os.wait()


def in_processes(processes, count, work):
    """Call the function with 0, 1, ... in several processes, each of which takes the next one."""
    read, write = os.pipe()
    workers = []
    for _ in range(min(processes, count)):
        child = os.fork()
        if child == 0:
            os.close(write)
            while token := os.read(read, 4):
                work(struct.unpack("i", token)[0])
            os._exit(0)
        workers.append(child)
    for number in range(count):
        os.write(write, struct.pack("i", number))
    os.close(write)
    os.close(read)
    for child in workers:
        os.waitpid(child, 0)


def _each(test):
    """Return what is covered as one: a test, or a file."""
    return [test] if "::" in test else [str(path.relative_to(ROOT)) for path in _files(test)]


def _files(test):
    path = ROOT / test.partition("::")[0]
    return sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
