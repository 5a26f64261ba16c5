"""Does the race check find what it is for, in the process and by its exit code, and no more?"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
FOUND = {
    "missing_barrier": ("race", "local", "x[(lid + 1u) % lanes]"),
    "uniform_write": ("race", "local", "x = 1;"),
    "race_of_groups": ("race", "global", "out[0] = (int)get_group_id(0);"),
    "wrong_fence": ("race", "global", "out[get_global_id(0) + 1] = 2;"),
    "divergent_barrier": ("divergence", "", "barrier(CLK_LOCAL_MEM_FENCE);  // some get here"),
    "global_overrun": ("bounds", "global", "out[get_global_id(0) + 1] = 1;"),
    "global_overread": ("bounds", "global", "out[get_global_id(0) + 64]"),
    "local_overrun": ("bounds", "local", "x[get_local_id(0) + 1u] = 1;"),
    "uninitialised_local": ("uninitialised", "global", "out[get_global_id(0)] = x[lid];"),
    "uninitialised_private": ("uninitialised", "", "if (x > 0)"),
}
CLEAN = ("clean", "clean_atomics", "clean_filled")

pytestmark = pytest.mark.oclgrind


def under_oclgrind(*command, **environment):
    variables = {
        **os.environ,
        "SOCIETIES_DEBUG": "race",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        **environment,
    }
    variables.pop("SOCIETIES_DEVICE", None)
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        env=variables,
        timeout=300,
    )


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Return the findings of every kernel of planted.cl, and the finished process."""
    log = tmp_path_factory.mktemp("log") / "oclgrind.log"
    process = under_oclgrind(HERE / "planted.py", OCLGRIND_LOG=str(log))
    assert process.stdout, process.stderr
    return json.loads(process.stdout), process, log


def test_every_planted_kernel_is_expected_to_do_something(planted):
    assert planted[0].keys() == FOUND.keys() | set(CLEAN)


@pytest.mark.parametrize("kernel", FOUND)
def test_a_planted_mistake_is_found_with_its_kernel_and_line(planted, kernel):
    kind, space, text = FOUND[kernel]
    found = [f for f in planted[0][kernel] if (f["kind"], f["space"]) == (kind, space)]
    assert found, planted[0][kernel]
    assert {f["kernel"] for f in planted[0][kernel]} == {kernel}
    assert any(text in place["text"] for f in found for place in f["places"])
    rows = (HERE / "planted.cl").read_text().split("\n")
    for place in (place for f in found for place in f["places"]):
        assert place["file"].endswith("planted.cl")
        assert rows[place["line"] - 1].strip() == place["text"]


@pytest.mark.parametrize("kernel", CLEAN)
def test_nothing_is_found_where_nothing_is_wrong(planted, kernel):
    assert planted[0][kernel] == []


def test_findings_end_the_process_with_code_3_and_name_kernel_line_and_log(planted):
    _, process, log = planted
    assert process.returncode == 3
    first, *rows = process.stderr.strip().split("\n")
    assert first.startswith("SOCIETIES_DEBUG=race:") and str(log) in first
    assert "missing_barrier" in first and "planted.cl:" in rows[0]
    assert "data race" in log.read_text()
    assert "Traceback" not in process.stderr


def test_a_clean_process_ends_with_code_0_and_reports_it():
    process = under_oclgrind(HERE / "planted.py", *CLEAN)
    assert process.returncode == 0, process.stderr
    assert process.stderr == "SOCIETIES_DEBUG=race: Oclgrind found nothing in 3 kernels\n"


def test_a_full_log_is_no_clean_one(tmp_path):
    code = (HERE / "planted.py").read_text().replace("__file__", repr(str(HERE / "planted.py")))
    script = tmp_path / "planted.py"
    script.write_text(code.replace("if not sys.argv[1:]:", "if True:"))
    process = under_oclgrind(script, "uniform_write", "clean", OCLGRIND_MAX_ERRORS="2")
    (finding,) = json.loads(process.stdout)["clean"]
    assert finding["kind"] == "other" and "log was full" in finding["message"]


@pytest.mark.thorough
def test_any_command_runs_on_the_simulator():
    process = under_oclgrind(
        "-m", "societies", "verify", "economy/quickstart", "--days", "1",
        "--set", "agents=3", "--set", "resources=4",
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("identical: 1 day, ")
    assert "Oclgrind found nothing in" in process.stderr


@pytest.mark.ci
def test_a_barrier_taken_out_of_a_primitive_is_found():
    """The check's own cases, on a copy of a primitive without one of its barriers."""
    process = under_oclgrind(HERE / "check.py", "--mutants", "scan.cl")
    assert process.returncode == 0, process.stdout + process.stderr
    assert "accounted for" in process.stdout


@pytest.mark.ci
def test_a_missing_file_has_no_mutants():
    process = under_oclgrind(HERE / "check.py", "--mutants", "kernels/scan.cl")
    assert process.returncode == 1
    assert process.stderr.startswith("--mutants: no kernel file is called kernels/scan.cl;")


@pytest.mark.ci
def test_kernels_that_were_not_run_are_named():
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import check; "
    process = under_oclgrind("-c", code + "print(*check.uncovered({'real.cl'}, set()), sep='\\n')")
    assert process.returncode == 0, process.stderr
    missed = process.stdout.split("\n")
    assert "kernel trading was never launched" in missed
    assert "primitives/scan.cl has no race case" in missed
    assert not any("real.cl" in row for row in missed)


@pytest.mark.ci
def test_what_a_primitive_gives_is_compared_with_its_twin(tmp_path):
    """A wrong result without any race is noticed too."""
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import check, contracts; "
        "contracts.TWINS['scan_up'] = lambda a: contracts.SimpleNamespace(result=-1); "
        "f = next(f for f in contracts.functions(check.KERNELS / 'primitives', on_cpu=False) "
        "if f.name == 'scan_up'); "
        "from pathlib import Path; path = Path(sys.argv[1]); "
        "path.write_text(contracts.program_text([f], 'primitives/scan.cl')); "
        "program = check.Program(check.choose_device('gpu'), path); "
        "checks = check.Checks(); check.contract(checks, program, f, 5, (3,)); "
        "print(checks.failures)"
    )
    process = under_oclgrind("-c", code, tmp_path / "scan_up.cl")
    assert "scan_up, n = 5, workgroup 3, result" in process.stdout, process.stderr
