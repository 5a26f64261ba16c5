"""Does a profile say what was launched, of which bytes, and leave results alone?"""

import json
import subprocess
import sys

import pytest

import societies
from societies.kerneltext.source import AmalgamatedText
from societies.localmem.reached import arrays_used
from societies.workload.running.registry import workload

PLATE = {"workload": "laplace", "rows": 8, "columns": 12, "steps": 40}
SOCIETY = {"workload": "economy", "agents": 4, "resources": 5, "days": 6, "seed": 3}


def ran(path, settings, device, **more):
    return societies.run(societies.config_from_dict(settings), device=device, out=path, **more)


def phases(report):
    return {one.phase: one for one in report.profile.phases}


@pytest.mark.ci
def test_a_profile_counts_launches_and_bytes(tmp_path):
    plate = workload("laplace")
    p = plate.parameters(societies.config_from_dict(PLATE))
    plain = ran(tmp_path / "plain.h5", PLATE, "auto")
    report = ran(tmp_path / "run.h5", PLATE, "auto", profile=True)
    assert plain.profile is None and plain.state_sha256 == report.state_sha256
    sweep, advance = phases(report)["sweep"], phases(report)["advance"]
    fields, sizes = plate.arrays(p), plate.lengths(p)
    used = sum(fields[name].nbytes(sizes) for name in ("phi", "next", "free", "ended"))
    assert (sweep.launches, sweep.bytes_moved) == (40, 40 * used)
    assert sweep.bytes_per_second == sweep.bytes_moved / sweep.seconds
    assert (advance.launches, advance.bytes_moved) == (0, None)  # arrays exchange their names
    assert sweep.host_seconds > 0.0 and advance.host_seconds > 0.0
    assert 0.0 < report.profile.kernel_seconds < report.profile.seconds
    assert 0.0 < report.profile.host_share < 1.0


def test_the_reference_has_a_profile_too(tmp_path):
    found = phases(ran(tmp_path / "run.h5", SOCIETY, "reference", profile=True))
    assert found["trading"].launches == 6 * 2 * 12
    assert found["trading"].bytes_moved is None and found["trading"].seconds > 0.0


def test_what_is_only_handed_on_is_not_used():
    text = """
    static int last(__global const int *a, __global const int *unused, uint n) { return a[n - 1]; }
    static void put(__global int *b, int x) { *b = x; }
    __kernel void copy(__global const int *a, __global int *b, __global int *c, const uint n)
    {
        put(b, last(a, c, n));
    }
    __kernel void other(__global int *a, __global int *b) { b[0] = 1; }
    """
    source = AmalgamatedText()
    source.append("<test>", text)
    used = arrays_used(source, {}, {"copy", "other"})
    assert used == {"copy": {"a", "b", "n"}, "other": {"b"}}


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "societies", *map(str, words)], capture_output=True, text=True
    )


@pytest.mark.ci
def test_the_command_prints_a_table_or_json(tmp_path):
    file, out = tmp_path / "small.yaml", tmp_path / "run.h5"
    file.write_text(societies.config.to_yaml(societies.config_from_dict(SOCIETY)))
    run = ("run", file, "--profile", "--device", "reference", "--out", out)
    done = command(*run)
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0] for line in done.stdout.splitlines()}
    assert {"phase", "trading", "consumption", "all,"} <= rows
    found = json.loads(command(*run, "--json", "--overwrite").stdout)
    assert found["ticks"] == [1, 6] and found["path"] == str(out)
    assert sum(one["share"] for one in found["phases"]) == pytest.approx(1.0)
    done = command("run", file, "--json", "--out", out)
    assert done.returncode == 2 and "--profile" in done.stderr
