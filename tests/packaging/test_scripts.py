"""Does every script of the repository start, and say what it takes?"""

import argparse
import ast
import importlib
import re
import runpy
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest
import typer

from societies.cli import app
from societies.workload.running.registry import load_config

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [
    path.relative_to(ROOT).as_posix()
    for folder in ("benchmarks", "docs", "experiments", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "argparse" in (text := path.read_text()) and '\nif __name__ == "__main__":' in text
]


def test_there_are_scripts():
    assert {"benchmarks/economy.py", "tests/races/check.py"} <= set(SCRIPTS)


IN_TURN = """
import os, runpy, sys, traceback
import distributed, h5py, matplotlib.pyplot, scipy.stats, societies, xarray  # once for all scripts
from societies.workload.running.registry import workloads
workloads()
for script in sys.argv[1:]:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        sys.argv, sys.path[0], code = [script, "--help"], os.path.dirname(script), 1
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    print(f"{script} ended with {os.waitstatus_to_exitcode(status)}")
"""
"""Runs each script in a process of its own, in which the libraries that most of them use are."""


def is_module(name):
    """Return whether a module of this name can be imported."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.ci
def test_what_scripts_import_of_this_repository_exists():
    """Two scripts of Havannah imported a class that had been renamed."""
    missing = []
    for script in SCRIPTS:
        for node in ast.walk(ast.parse((ROOT / script).read_text())):
            of = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and of.split(".")[0] in (
                "societies",
                "reference_py",
            ):
                module = importlib.import_module(of)
                missing += [
                    f"{script}: {of}.{one.name}"
                    for one in node.names
                    if not hasattr(module, one.name) and not is_module(f"{of}.{one.name}")
                ]
    assert not missing


@pytest.mark.thorough
def test_scripts_import_what_there_is(tmp_path):
    """Nothing but their own imports runs: what a rename leaves behind shows here."""
    words = [sys.executable, "-c", IN_TURN, *(str(ROOT / script) for script in SCRIPTS)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    for script in SCRIPTS:
        assert f"{script} ended with 0\n" in done.stdout, done.stderr
    assert done.stdout.count("usage: ") == len(SCRIPTS) == done.stdout.count("ended with 0\n")


class Accepted(Exception):
    """A script has read its options."""


def test_commands_for_a_gpu_are_those_of_the_scripts(tmp_path, monkeypatch):
    """What benchmarks/on_device.py runs exists, and takes the words that it gives."""
    script = runpy.run_path(str(ROOT / "benchmarks/on_device.py"))
    jobs = [job for part in (script["CHECKED"] | script["TIMED"]).values() for job in part()]
    assert len({job.name for job in jobs}) == len(jobs) > 20
    table = (ROOT / "benchmarks/README.md").read_text().partition("## What users wait for")[2]
    waits = re.findall(r"\| `(\w+)` \| `(societies (?:bench|sweep) [^`]*)`", table)
    assert len(waits) == 10 and {part for part, _ in waits} <= {*script["TIMED"]}
    golden = "".join(job.command for job in jobs if "golden.py" in job.command)
    for name in script["LONG"]:
        assert name in golden

    plain = argparse.ArgumentParser.parse_args

    def accepted(*given):
        plain(*given)
        raise Accepted

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", accepted)
    monkeypatch.setattr(sys, "path", [*sys.path])
    top = typer.main.get_command(app)
    context = top.make_context("societies", ["list"])
    for command in [job.command for job in jobs] + [f"-m {command}" for _, command in waits]:
        program, *words = shlex.split(command.format(device="cpu", out=tmp_path))
        if program == "-m" and words[0] == "pytest":
            assert all((ROOT / word).exists() for word in words if word.startswith("tests/"))
        elif program == "-m":
            assert words[0] == "societies"
            of = top.get_command(context, words[1]).make_context(words[1], words[2:], context)
            if words[1] != "sweep":
                load_config(of.params["config"], of.params["override"] or ())
        else:
            monkeypatch.setattr(sys, "argv", [program, *words])
            sys.path.insert(0, str((ROOT / program).parent))
            with pytest.raises(Accepted):
                runpy.run_path(str(ROOT / program), run_name="__main__")


@pytest.mark.parametrize("name", ["kalah", "raytracer"])
def test_a_measurement_is_in_the_table_at_once(name, tmp_path, monkeypatch):
    """A benchmark that is stopped keeps what it has measured, under one header."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")  # as a script that is run has it
    script = runpy.run_path(str(ROOT / f"benchmarks/{name}.py"))
    for number in (1, 2):
        rows = [dict.fromkeys(script["COLUMNS"], number)]
        script["append"](tmp_path / "a.csv", script["COLUMNS"], rows)
        rows = (tmp_path / "a.csv").read_text().splitlines()
        assert rows[0] == ",".join(script["COLUMNS"]) and len(rows) == 1 + number


def test_what_kalah_measured_stays_in_the_folder_that_is_given(tmp_path, monkeypatch):
    """Tables and figures were written next to the folder, over files of others."""
    folders = []
    stub = types.SimpleNamespace(write=lambda rows, *published: folders.append(published[-1]))
    monkeypatch.setitem(sys.modules, "report", stub)
    monkeypatch.setattr(sys, "path", [*sys.path])
    script = ROOT / "experiments" / "games" / "kalah" / "run.py"
    main = runpy.run_path(str(script))["main"]
    for given in (["--out", str(tmp_path / "results")], []):
        monkeypatch.setattr(sys, "argv", [str(script), "--tables", *given])
        main()
    assert folders == [tmp_path / "results", script.parent]


def test_what_several_gpus_measures_of_engines_exists():
    """It replaces methods by their names, of which one was another by then."""
    code = (
        f"import runpy; script = runpy.run_path({str(ROOT / 'benchmarks/several_gpus.py')!r}); "
        "assert script['engine_seconds']() == [0.0]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
