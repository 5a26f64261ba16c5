"""Verify random programs: python tests/translate/random_rules.py --programs 5000 --out FILE.

Each round writes some programs (`random_programs`) into one file, and verifies its phases for
some days, in the plain build and in the checked one; Python itself is the reference.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Literal

sys.path.insert(0, str(Path(__file__).parent))

from random_programs import AGENTS, COLUMNS, HEAD, ROWS, program

from societies.model import DailyConfig, Field, Model, key
from societies.translate import TranslationError
from societies.workload import Setup
from societies.workload.checking.verify import verify

DAYS, SOCIETIES = 4, 5


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
            "own": Field(("agent",), "uint64", "1", "streams"),
            "stream": Field((), "uint64", "1", "stream"),
        }


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


def outcome(texts: list[str], folder: Path) -> tuple[str, int]:
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
    report = verify(Setup(model, config), ticks=DAYS)
    return "" if report.identical else str(report), len(names)


def programs(random: Random, count: int) -> list[str]:
    """Return the texts of some programs, run0 and so on."""
    return [program(random, f"run{i}") for i in range(count)]


def main() -> int:
    """Verify programs until the number is reached, and write a summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=20, help="programs in a file")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    done, seed, bad, began = 0, options.seed, [], time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        while done < options.programs:
            texts = programs(Random(seed), options.each)
            for mode in ("", "checked"):
                os.environ["SOCIETIES_DEBUG"] = mode
                try:
                    differs, _ = outcome(texts, Path(folder))
                except TranslationError as error:
                    differs = f"refused: {error}"
                except Exception as error:
                    differs = f"{type(error).__name__}: {error}"
                if differs:
                    bad.append(f"seed {seed} {mode or 'plain'}: {differs}")
                    print(bad[-1], flush=True)
            done, seed = done + len(texts), seed + 1
            if seed % 2 == 0:
                print(f"{done} programs, {len(bad)} rounds differ", flush=True)
    lines = [f"{done} programs of seeds {options.seed} to {seed - 1}, {SOCIETIES} societies, "
             f"{DAYS} days, plain and checked: {len(bad)} rounds differ",
             f"{time.process_time() - began:.0f} s of processor time", *bad]  # fmt: skip
    print("\n".join(lines[:2]))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
