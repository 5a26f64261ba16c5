"""Verify random programs: python tests/translate/random_rules.py --programs 5000 --processes 16.

With --together the programs sort between their statements, and are carried out in the form for
GPUs, on any device: a day in one launch, a society in each workgroup, whose work-items sort
together (societies/translate/kernels.py). There is no checked build of that.

Each round writes the programs of a seed (`random_programs`) into one file, and verifies its phases
for some days, in the plain build and in the checked one; Python itself is the reference. The files
in random_rules/ are summaries of such runs (option --out).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).parent))

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from gpu_form import form
from random_programs import AGENTS, COLUMNS, HEAD, NEWS, ROWS, program, with_sorts

from societies.model import DailyConfig, Events, Field, Model, key
from societies.opencl import choose_device
from societies.translate import TranslationError
from societies.workload import Setup, Source
from societies.workload.checking.verify import verify
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

DAYS, SOCIETIES = 4, 5

BUILDS, TOGETHER = ("plain", "checked"), ("together",)

GRACE = 40.0
"""Seconds after the end of the time that a round may take to end."""


class RandomConfig(DailyConfig):
    """Nothing but the size."""

    workload: Literal["random_rules"]
    agents: int = key(AGENTS, "Number of agents", "agents", ge=1, le=100)


class RandomRules(Model):
    """A model whose phases are the functions of a module."""

    name, summary, config = "random_rules", "random programs", RandomConfig

    def __init__(self, module: ModuleType, names: tuple[str, ...]) -> None:
        self.module, self.start, self.day = module, ("begin",), names

    def rules(self):
        return {name: getattr(self.module, name) for name in (*self.start, *self.day)}

    def sizes(self, p):
        return {"agent": p.agents, "row": ROWS, "column": COLUMNS}

    def fields(self, p):
        return {
            "xi": Field(("agent",), "int32", "1", "whole numbers", initial=2),
            "xr": Field(("agent",), "float64", "1", "real numbers", initial=0.5),
            "small": Field(("agent",), "uint8", "1", "small numbers", initial=1),
            "other": Field(("agent",), "int64", "1", "more whole numbers", initial=3),
            "grid": Field(("row", "column"), "int32", "1", "a grid", initial=1),
            "left": Field((), "int16", "1", "events that may follow"),
            "own": Field(("agent",), "uint64", "1", "streams"),
            "stream": Field((), "uint64", "1", "stream"),
        }

    def events(self, p):
        return {"news": Events(3, NEWS * len(self.day))}


class RulesOnGpus(RandomRules):
    """The same in the form for GPUs, on any device."""

    def source(self, p):
        return Source(form(0), arguments=super().source(p).arguments)


def module_of(text: str, folder: Path) -> ModuleType:
    """Return a module with a text, written into a folder."""
    name = f"rules_{abs(hash(text)) % 10**12}"
    path = folder / f"{name}.py"
    path.write_text(text)
    compile(text, str(path), "exec")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def outcome(texts: list[str], folder: Path, device: str = "auto") -> tuple[str, int]:
    """Verify some programs: what differs, or ""; and how many were compared.

    Raises
    ------
    TranslationError
        If one is refused: programs consist of what can be translated.
    """
    names = tuple(f"run{i}" for i in range(len(texts)))
    model = RandomRules(module_of(HEAD + "".join(texts), folder), names)
    config = RandomConfig(workload="random_rules", replicates=SOCIETIES, days=DAYS)
    if refused := model.untranslated(config):
        raise next(iter(refused.values()))
    report = verify(Setup(model, config), device=device, ticks=DAYS)
    return "" if report.identical else str(report), len(names)


def together(texts: list[str], random: Random, folder: Path, device: str) -> str:
    """Carry out programs whose work-items sort together: what differs, or ""."""
    texts = [with_sorts(random, text) for text in texts]
    names = tuple(f"run{i}" for i in range(len(texts)))
    model = RulesOnGpus(module_of(HEAD + "".join(texts), folder), names)
    p = model.parameters(RandomConfig(workload="random_rules", replicates=SOCIETIES, days=DAYS))
    reference = ReferenceEngine(model, p, copies=SOCIETIES)
    engine = DeviceEngine(model, p, choose_device(device), copies=SOCIETIES)
    for one in (reference, engine):
        one.start()
        before = engine.device.counters.launches
        one.run_ticks(1, DAYS)
    # One launch for all phases of a day, and one that empties the list of events.
    assert engine.device.counters.launches - before <= DAYS + 1
    found = {**engine.state(), **engine.events()}
    expected = {**reference.state(), **reference.events()}
    return ", ".join(name for name in expected if not np.array_equal(found[name], expected[name]))


def programs(random: Random, count: int) -> list[str]:
    """Return the texts of some programs, run0 and so on."""
    return [program(random, f"run{i}") for i in range(count)]


def round_of(seed: int, each: int, device: str, modes: tuple[str, ...]) -> list[dict[str, str]]:
    """Verify the programs of a seed in some builds, and return what differs."""
    random = Random(seed)
    texts, found = programs(random, each), []
    with tempfile.TemporaryDirectory() as folder:
        for mode in modes:
            if mode != "together":  # which SOCIETIES_DEBUG=race may run on Oclgrind
                os.environ["SOCIETIES_DEBUG"] = mode if mode == "checked" else ""
            try:
                if mode == "together":
                    differs = together(texts, random, Path(folder), device)
                else:
                    differs, _ = outcome(texts, Path(folder), device)
            except TranslationError as error:
                differs = f"refused: {error}"
            except Exception as error:
                differs = f"{type(error).__name__}: {error}"
            if differs:
                of = re.search(r"\brun(\d+)\b", differs)
                text = texts[int(of[1])] if of else ""
                found.append({"seed": str(seed), "mode": mode, "said": differs, "program": text})
    return found


def work(each: int, device: str, modes: tuple[str, ...]) -> None:
    """Answer each seed of the standard input by a line of JSON: a process that may crash."""
    chosen = choose_device(device)
    print(json.dumps(f"{chosen.name}, {chosen.platform_version}, {chosen.driver}"), flush=True)
    for line in sys.stdin:
        print(json.dumps(round_of(int(line), each, device, modes)), flush=True)


class Campaign:
    """Processes that verify rounds of programs, and what they found.

    A process that dies in a round, as by an access out of bounds, is replaced by another.
    """

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.began = time.monotonic()
        self.end = options.seed - (-options.programs // options.each)
        self.seeds = iter(range(options.seed, self.end))
        self.done, self.found, self.unfinished, self.device = 0, [], [], ""
        self.lock = threading.Lock()

    def run(self) -> None:
        """Verify all rounds, or as many as the time allows."""
        count = self.options.processes
        threads = [threading.Thread(target=self._supply, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _late(self) -> bool:
        return time.monotonic() - self.began > self.options.seconds

    def _supply(self, number: int) -> None:
        process = None
        while not self._late():
            with self.lock:
                seed = next(self.seeds, None)
            if seed is None:
                break
            if process is None:
                process = self._process(number)
                self.device = json.loads(process.stdout.readline() or '"no device"')
            # The last rounds may end late by a grace; one that has not ended then does not count.
            grace = self.options.seconds + GRACE - (time.monotonic() - self.began)
            timer = threading.Timer(grace, process.kill)
            timer.start()
            try:
                process.stdin.write(f"{seed}\n")
                process.stdin.flush()
                answer = process.stdout.readline()
            except BrokenPipeError:
                answer = ""
            if not answer and not timer.is_alive() and self._late():
                with self.lock:
                    self.unfinished.append(seed)
                break
            timer.cancel()
            if answer:
                found = json.loads(answer)
            else:
                said = f"the process ended in this round with status {process.wait()}"
                found, process = [{"seed": str(seed), "mode": "", "said": said}], None
            with self.lock:
                self.done += self.options.each
                self.found += found
                for one in found:
                    print(f"seed {one['seed']} {one['mode']}: {one['said']}", flush=True)
                if self.done // self.options.each % 10 == 0:
                    spent = time.monotonic() - self.began
                    print(f"{spent:.0f} s: {self.done} programs, {len(self.found)} found")
        if process is not None:
            process.stdin.close()
            process.wait()

    def _process(self, number: int) -> subprocess.Popen[str]:
        """Start a process with caches of its own, and one thread."""
        caches = self.folder / str(number)
        caches.mkdir(exist_ok=True)
        own = {"POCL_CACHE_DIR": str(caches), "SOCIETIES_CACHE_DIR": str(caches)}
        own |= {"CUDA_CACHE_DISABLE": "1", "PYOPENCL_NO_CACHE": "1"}
        if self.options.processes > 1:
            own |= {"POCL_MAX_PTHREAD_COUNT": "1", "CL_CONFIG_CPU_TBB_NUM_WORKERS": "1"}
        options = ("--each", str(self.options.each), "--device", self.options.device)
        words = [sys.executable, __file__, "--work", *options]
        words += ["--together"] * (self.options.modes == TOGETHER)
        pipe = subprocess.PIPE
        return subprocess.Popen(
            words, env=os.environ | own, stdin=pipe, stdout=pipe, text=True, bufsize=1
        )

    def summary(self) -> dict[str, Any]:
        """Return what was verified, where, and what was found."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "date": time.strftime("%Y-%m-%d"),
            "device": self.device,
            "python": platform.python_version(),
            "programs": self.done,
            "seeds": [self.options.seed, next(self.seeds, self.end) - 1],
            "programs of a seed": self.options.each,
            "societies": SOCIETIES,
            "days": DAYS,
            "builds": list(self.options.modes),
            "processes": self.options.processes,
            "processor seconds": round(used.ru_utime + used.ru_stime),
            "seconds": round(time.monotonic() - self.began),
            "seeds not finished in time": self.unfinished,
            "found": self.found,
        }


def main() -> int:
    """Verify programs until the number is reached or the time is over; write a summary."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("--each", type=int, default=20, help="programs of a round")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no round later")
    parser.add_argument(
        "--together", dest="modes", action="store_const", const=TOGETHER, default=BUILDS
    )
    parser.add_argument("--out", type=Path, help="JSON file of the summary")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.each, options.device, options.modes)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(options, Path(folder))
        campaign.run()
    summary = campaign.summary()
    print(json.dumps({**summary, "found": len(campaign.found)}))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(summary, indent=1) + "\n")
    return bool(campaign.found)


if __name__ == "__main__":
    sys.exit(main())
